from __future__ import annotations

import json
import logging
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from campaign import examples
from equality import assert_equal, every_table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.api.ledger_errors import ledger_error_factory
from ledgerframes.api.response import Response
from ledgerframes.api.transport import in_process
from ledgerframes.datasets import LEDGER_TABLES, TABLES
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import (
    AuthenticationError,
    BadRequestError,
    CoverageError,
    DecodeError,
    NotFoundError,
    PermissionDeniedError,
    PrunedOffsetError,
    StoreError,
    UsageError,
)
from ledgerframes.sandbox import Faults, Sandbox

WORLD = {"events": 700, "days": 1}
EVERY_FORMAT = {
    "includeTransactions": {
        "transactionShape": "TRANSACTION_SHAPE_LEDGER_EFFECTS",
        "eventFormat": {"filtersForAnyParty": {"cumulative": []}, "verbose": True},
    },
    "includeReassignments": {"filtersForAnyParty": {"cumulative": []}, "verbose": True},
    "includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": []}},
}


def connect(store: Path, box: Sandbox | None = None, **overrides: Any) -> lf.Network:
    """The embedded network, or one whose sandbox the test holds in its hands."""
    if box is None:
        return lf.connect("sandbox", **{**WORLD, "store": store, **overrides})
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    limits = {"requests_per_second": 0, "store": store}
    return lf.connect("sandbox", transport=in_process(box.app), **{**urls, **limits, **overrides})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """Every table of the whole ledger with its trees, read in the plainest way."""
    net = connect(tmp_path_factory.mktemp("whole"), page_size=1000, max_concurrency=1)
    return every_table(lf.load_updates(net, shape="ledger_effects"))


def json_updates(box: Sandbox) -> list[tuple[str, dict[str, Any]]]:
    """Everything the ledger pages show, as plain JSON: the library's decoders have no part in it."""
    client = httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.ledger_url)
    end = client.get("/v2/state/ledger-end").json()["offset"]
    request: dict[str, Any] = {"updateFormat": EVERY_FORMAT, "endOffsetInclusive": end, "maxPageSize": 500}
    found: list[tuple[str, dict[str, Any]]] = []
    while True:
        page = client.post("/v2/updates/get-updates-page", json=request).json()
        found += [(kind, wrapped["value"]) for item in page["updates"] for kind, wrapped in item["update"].items()]
        if not page["nextPageToken"]:
            return found
        request["pageToken"] = page["nextPageToken"]


def test_rows_equal_the_sandbox_s_own_json(whole: dict[str, pd.DataFrame]) -> None:
    updates = json_updates(Sandbox(**WORLD))
    counted = {
        "ledger_updates": len(updates),
        "ledger_events": sum(len(update["events"]) for kind, update in updates if kind == "Transaction"),
        "ledger_reassignments": sum(len(update["events"]) for kind, update in updates if kind == "Reassignment"),
        "ledger_topology": sum(len(update["events"]) for kind, update in updates if kind == "TopologyTransaction"),
    }
    assert {name: len(frame) for name, frame in whole.items()} == counted
    assert all(counted.values()), "a table without rows proves nothing: give the world more events"
    paid = [update["paidTrafficCost"] for kind, update in updates if update.get("paidTrafficCost") is not None]
    assert whole["ledger_updates"]["paid_traffic_cost"].sum() == sum(paid)
    assert whole["ledger_updates"]["offset"].tolist() == [update["offset"] for _, update in updates]


@pytest.mark.parametrize("name", [table.name for table in LEDGER_TABLES])
def test_rows_are_sorted_and_keys_unique(whole: dict[str, pd.DataFrame], name: str) -> None:
    spec, frame = TABLES[name], whole[name]
    by = list(spec.sort)
    pd.testing.assert_frame_equal(frame[by], frame[by].sort_values(by, ignore_index=True))
    assert not frame.duplicated(list(spec.key)).any()
    assert frame.dtypes.map(str).to_dict() == {column.name: column.pandas_dtype for column in spec.columns}


def test_trees_hang_together(whole: dict[str, pd.DataFrame]) -> None:
    events = whole["ledger_events"]
    assert events["depth"].max() >= 2
    below = events[events["parent_node_id"].notna()]
    parents = below.merge(events, left_on=["offset", "parent_node_id"], right_on=["offset", "node_id"], suffixes=("", "_above"))
    assert len(parents) == len(below)
    assert (parents["event_type_above"] == "exercised_event").all()
    assert (parents["depth"] == parents["depth_above"] + 1).all()


@pytest.mark.exhaustive
@settings(max_examples=examples(3), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    page_size=st.integers(10, 1000),
    parallel=st.integers(1, 5),
    segment_bytes=st.sampled_from([1, 50_000, 10**9]),
    cuts=st.lists(st.integers(1, 99), max_size=3, unique=True),
    descending=st.booleans(),
    shuffled=st.randoms(),
)
def test_any_page_size_any_direction_any_split_gives_the_same_frames(
    whole: dict[str, pd.DataFrame],
    page_size: int,
    parallel: int,
    segment_bytes: int,
    cuts: list[int],
    descending: bool,
    shuffled: Any,
) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        net = connect(Path(folder), page_size=page_size, max_concurrency=parallel, segment_bytes=segment_bytes)
        end = net.ledger.ledger_end()
        parts = list(pairwise([0, *(end * cut // 100 for cut in sorted(cuts)), end]))
        shuffled.shuffle(parts)
        for after, through in parts:
            lf.load_updates(net, after=after, through=through, shape="ledger_effects", descending=descending)
        assert_equal(every_table(lf.load_updates(net, shape="ledger_effects")), whole)


def test_a_second_load_asks_for_no_page(tmp_path: Path) -> None:
    lf.load_updates(connect(tmp_path))
    again = connect(tmp_path)
    assert len(lf.load_updates(again).ledger_updates)
    assert again.request_count <= 3  # participant, end: nothing else


def test_a_grown_ledger_is_asked_only_for_the_new_part(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    end = box.now
    net = connect(tmp_path, box.at(pd.Timestamp("2026-11-08T12:00:00Z").to_pydatetime()))
    first = lf.load_updates(net)
    asked: list[dict[str, Any]] = []
    page = net.ledger.get_updates_page

    def watched(request: dict[str, Any]) -> Any:
        asked.append(request)
        return page(request)

    box.at(end)
    net.ledger.get_updates_page = watched  # type: ignore[method-assign]
    second = lf.load_updates(net)
    assert first.offset_range is not None
    assert min(request["beginOffsetExclusive"] for request in asked) == first.offset_range[1]
    assert_equal(every_table(second), every_table(lf.load_updates(connect(tmp_path / "other", Sandbox(**WORLD)))))


def test_pages_are_chained_exactly_as_ordered(tmp_path: Path) -> None:
    net = connect(tmp_path, page_size=50, max_concurrency=1)
    requests: list[dict[str, Any]] = []
    page = net.ledger.get_updates_page

    def watched(request: dict[str, Any]) -> Any:
        requests.append(json.loads(json.dumps(request)))
        return page(request)

    net.ledger.get_updates_page = watched  # type: ignore[method-assign]
    lf.load_updates(net)
    assert len(requests) > 2
    assert "pageToken" not in requests[0]
    for request in requests[1:]:
        assert request.pop("pageToken")
        assert request == requests[0]


def test_a_refused_page_size_is_reduced_with_a_log_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    net = connect(tmp_path, Sandbox(**WORLD, max_page_size=100), page_size=1000)
    with caplog.at_level(logging.WARNING):
        assert len(lf.load_updates(net).ledger_updates)
    assert "page_size_reduced" in caplog.text


@pytest.mark.parametrize("code", ["JSON_API_PACKAGE_SELECTION_FAILED", "OFFSET_AFTER_LEDGER_END"])
def test_a_refusal_in_this_state_of_the_ledger_is_not_taken_for_one_of_the_page_size(tmp_path: Path, code: str) -> None:
    body = {"code": code, "cause": "the size of the set", "context": {}, "errorCategory": 9}
    answer = Response(json.dumps(body).encode(), "one.invalid", "POST /v2/updates/get-updates-page", 400, {})
    net, sizes = connect(tmp_path, page_size=100, max_concurrency=1), []

    def refuse(request: dict[str, Any]) -> Any:
        sizes.append(request["maxPageSize"])
        raise ledger_error_factory(lambda: None)(answer)

    net.ledger.get_updates_page = refuse  # type: ignore[method-assign]
    with pytest.raises(BadRequestError, match="the size of the set"):
        lf.load_updates(net)
    assert sizes == [100]


def test_flaky_ledgers_give_the_same_frames(tmp_path: Path, whole: dict[str, pd.DataFrame]) -> None:
    faults = Faults(too_many_requests=0.1, unavailable_html=0.05, dropped_connections=0.05, overload_409=0.1, string_integers=0.2)
    net = connect(tmp_path, Sandbox(**WORLD, faults=faults), page_size=60, retries=20)
    assert_equal(every_table(lf.load_updates(net, shape="ledger_effects")), whole)


def test_what_is_pruned_is_a_gap_and_not_empty(
    tmp_path: Path, whole: dict[str, pd.DataFrame], caplog: pytest.LogCaptureFixture
) -> None:
    net = connect(tmp_path, Sandbox(**WORLD, pruned_through=0.5))
    pruned = net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    with pytest.raises(PrunedOffsetError, match=f"Pass after={pruned} or a later offset, or leave out after=") as caught:
        lf.load_updates(net, after=1, shape="ledger_effects")
    assert caught.value.earliest_offset == pruned
    frames = lf.load_updates(net, shape="ledger_effects")
    gap = frames.coverage[frames.coverage["status"] == "gap"]
    assert gap[["after", "through"]].to_numpy().tolist() == [[0, pruned]]
    assert "pruned" in caplog.text
    updates = whole["ledger_updates"]
    expected = updates[updates["offset"] > pruned].reset_index(drop=True)
    pd.testing.assert_frame_equal(frames.ledger_updates, expected)


def test_pruning_that_overtakes_a_pager_leaves_a_gap(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    net = connect(tmp_path, box, page_size=50, max_concurrency=1)
    page, calls = net.ledger.get_updates_page, 0

    def overtaken(request: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            box.prune(0.7)
        return page(request)

    net.ledger.get_updates_page = overtaken  # type: ignore[method-assign]
    frames = lf.load_updates(net, after=1)
    coverage = frames.coverage.sort_values("after")
    assert set(coverage["status"]) == {"final", "gap"}
    assert coverage["after"].tolist()[1:] == coverage["through"].tolist()[:-1], "the parts do not tile"
    assert coverage["through"].max() == net.ledger.ledger_end()


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("call", [1, 3])
def test_pruning_before_the_first_page_leaves_a_gap(
    call: int, descending: bool, tmp_path: Path, whole: dict[str, pd.DataFrame]
) -> None:
    """A page from the start of the ledger is not refused as pruned, but begins later."""
    box = Sandbox(**WORLD)
    net = connect(tmp_path, box, page_size=50, max_concurrency=1)
    page, calls = net.ledger.get_updates_page, 0

    def overtaken(request: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            box.prune(0.7)
        return page(request)

    net.ledger.get_updates_page = overtaken  # type: ignore[method-assign]
    frames = lf.load_updates(net, shape="ledger_effects", descending=descending)
    pruned = net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    coverage = frames.coverage.sort_values("after")
    assert coverage["after"].tolist()[1:] == coverage["through"].tolist()[:-1], "the parts do not tile"
    assert (coverage["after"].min(), coverage["through"].max()) == (0, net.ledger.ledger_end())
    [gap_end] = coverage.loc[coverage["status"] == "gap", "through"]
    assert gap_end == pruned if call == 1 else gap_end <= pruned, "what was read before the pruning is kept"
    expected = whole["ledger_updates"][lambda updates: updates["offset"] > gap_end].reset_index(drop=True)
    later = frames.ledger_updates[frames.ledger_updates["offset"] > gap_end].reset_index(drop=True)
    pd.testing.assert_frame_equal(later, expected)


def test_a_page_that_cannot_be_decoded_is_not_taken_for_known(tmp_path: Path) -> None:
    net = connect(tmp_path, page_size=50, max_concurrency=1)
    page, calls = net.ledger.get_updates_page, 0

    def spoiled(request: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        answer = page(request)
        if calls != 3:
            return answer
        content = json.loads(answer.body)
        next(iter(content["updates"][0]["update"].values()))["value"]["recordTime"] = "soon"
        # As the service writes it, because the other updates of the page are committed.
        return replace(answer, body=json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode())

    net.ledger.get_updates_page = spoiled  # type: ignore[method-assign]
    with pytest.raises(DecodeError, match="not a time"):
        lf.load_updates(net)
    assert sum(segment.rows for segment in net.store.segments(LEDGER)) > 0, "the pages before are lost"
    resumed = every_table(lf.load_updates(connect(tmp_path)))
    assert_equal(resumed, every_table(lf.load_updates(connect(tmp_path / "other"))))


@pytest.mark.parametrize("updates", [{}, {"updates": None}, {"updates": []}])
def test_a_page_may_omit_the_list_of_updates(tmp_path: Path, updates: dict[str, Any]) -> None:
    bodies: dict[str, Any] = {
        "/v2/version": {"version": "3.5.14"},
        "/v2/parties/participant-id": {"participantId": "p::1"},
        "/v2/state/ledger-end": {"offset": 9},
        "/v2/state/latest-pruned-offsets": {"participantPrunedUpToInclusive": 0},
        "/v2/updates/get-updates-page": {**updates, "lowestPageOffsetExclusive": 0, "highestPageOffsetInclusive": 9},
    }
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=bodies[request.url.path]))
    net = lf.connect("sandbox", ledger_url="http://one.invalid", transport=transport, store=tmp_path)
    assert len(lf.load_updates(net).ledger_updates) == 0


def test_two_participants_are_never_mixed(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    lf.load_updates(connect(tmp_path, box, network="one"))
    stranger = Sandbox(seed=2, **WORLD)
    with pytest.raises(StoreError, match="cannot be mixed"):
        lf.load_updates(connect(tmp_path, stranger, network="one"))


def test_a_reset_ledger_is_noticed(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    lf.load_updates(connect(tmp_path, box, network="one"))
    with pytest.raises(StoreError, match="if the ledger was reset"):
        lf.load_updates(connect(tmp_path, box.at(pd.Timestamp("2026-11-08T03:00:00Z").to_pydatetime()), network="one"))


def test_filters_narrow_what_is_asked_for_and_are_kept_apart(tmp_path: Path, whole: dict[str, pd.DataFrame]) -> None:
    net = connect(tmp_path)
    events = whole["ledger_events"]
    name = events["package_name"].iloc[0] + ":" + events["template_name"].iloc[0]
    narrowed = lf.load_updates(net, templates=[name])
    assert set(narrowed.ledger_events["template_name"]) == {events["template_name"].iloc[0]}
    assert len(lf.load_updates(net).ledger_events) > len(narrowed.ledger_events)
    pd.testing.assert_frame_equal(lf.load_updates(net, templates=[name]).ledger_events, narrowed.ledger_events)


def test_unknown_templates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="that the package is uploaded"):
        lf.load_updates(connect(tmp_path), templates=["no-such-package:Main:Nothing"])


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"after": -1}, "at least 0"),
        ({"after": 9, "through": 3}, "must be at most 3"),
        ({"through": 10**12}, "at most the ledger's end"),
        ({"shape": "round"}, "shape"),
        ({"after": "5"}, "whole number"),
        ({"after": True}, "whole number"),
        ({"page_size": 0}, "page_size= must be a whole number of at least 1, got 0"),
        ({"page_size": True}, "page_size= must be a whole number of at least 1, got True"),
        ({"page_size": 2**31}, "page_size= must be a whole number of at most 2,147,483,647"),
        ({"follow": True, "poll_seconds": 0}, "poll_seconds= must be a number above 0, got 0"),
        ({"follow": True, "poll_seconds": "5"}, "poll_seconds= must be a number above 0, got '5'"),
        ({"follow": True, "through": 5}, "cannot be combined"),
        ({"follow": True, "descending": True}, "cannot be combined"),
        ({"templates": ["nonsense"]}, "nonsense"),
        ({"parties": [""]}, "part"),
    ],
)
def test_calls_that_make_no_sense_are_refused(tmp_path: Path, asked: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        lf.load_updates(connect(tmp_path), **asked)


def test_offsets_of_a_frame_are_offsets(tmp_path: Path) -> None:
    frames = lf.load_updates(connect(tmp_path), through=100_000)
    offsets = frames.ledger_updates["offset"]
    between = lf.load_updates(connect(tmp_path), after=offsets.min(), through=offsets.max(), page_size=offsets.min())
    assert between.ledger_updates["offset"].tolist() == offsets.tolist()[1:]


def test_tokens(tmp_path: Path) -> None:
    box = Sandbox(**WORLD, require_token=True)
    assert len(lf.load_updates(connect(tmp_path, box, token=box.token)).ledger_updates)
    for token, error in (
        (box.expired_token, AuthenticationError),
        (None, AuthenticationError),
        (box.limited_token, PermissionDeniedError),
    ):
        with pytest.raises(error) as caught:
            lf.load_updates(connect(tmp_path / "other", box, **({"token": token} if token else {})))
        assert token is None or token not in str(caught.value)


def test_offline_serves_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(CoverageError):
        lf.load_updates(connect(tmp_path, offline=True))
    stored = every_table(lf.load_updates(connect(tmp_path)))
    assert_equal(every_table(lf.load_updates(connect(tmp_path, offline=True))), stored)
    with pytest.raises(CoverageError, match="offsets"):
        lf.load_updates(connect(tmp_path, offline=True), shape="ledger_effects")


def test_paid_traffic_agrees_with_the_history_but_for_what_was_planted(tmp_path: Path) -> None:
    box = Sandbox(events=900, days=2)
    net = connect(tmp_path, box)
    compared = lf.reconcile.paid_traffic(
        lf.load_updates(net), lf.load_events(net, since="2026-11-07", until="2026-11-09T06:00:00Z")
    )
    different = compared[compared["outcome"] == "different"]
    planted = box.planted_traffic_mismatches()
    assert len(planted) > 0
    assert set(different["update_id"]) <= {mismatch.update_id for mismatch in planted}
    assert (compared["outcome"] == "equal").sum() > 10 * len(different)
    assert len(different) == len(planted)


def test_a_refused_page_token_continues_after_the_last_page(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    box = Sandbox(1, WORLD["events"], WORLD["days"], faults=Faults(token_mismatch=0.3))
    with caplog.at_level("INFO", "ledgerframes"):
        loaded = lf.load_updates(connect(tmp_path, box, page_size=10, max_concurrency=1))
    assert "page_token_rejected network=" in caplog.text
    whole = lf.load_updates(connect(tmp_path / "whole"))
    assert_equal(every_table(loaded), every_table(whole))
