from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from campaign import examples
from cases import every_nth
from equality import assert_equal, every_table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.datasets import EVENT_TABLES, TABLES
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError, DecodeError, ServiceUnavailableError, UsageError
from ledgerframes.sandbox import Faults, Sandbox

DAY = {"since": "2026-11-08", "until": "2026-11-09"}
WHOLE = {"since": "2026-11-06", "until": "2026-11-09T06:00:00Z"}


def connect(store: Path, **overrides: Any) -> lf.Network:
    return lf.connect("sandbox", **{"events": 900, "days": 3, "store": store, **overrides})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """Every table of the whole world, read in the plainest way."""
    net = connect(tmp_path_factory.mktemp("whole"), page_size=1000, max_concurrency=1)
    return every_table(lf.load_events(net, **WHOLE))


def json_events(box: Sandbox) -> list[dict[str, Any]]:
    """Everything the sandbox lists, as plain JSON: the library's decoders have no part in it."""
    client = httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.history_url)
    events: list[dict[str, Any]] = []
    request: dict[str, Any] = {"page_size": 1000}
    while page := client.post("/v0/events", json=request).json()["events"]:
        events += page
        part = page[-1]["update"] or page[-1]["verdict"]
        migration_id = part["event"]["migration_id"] if "event" in part else part["migration_id"]
        request["after"] = {"after_migration_id": migration_id, "after_record_time": part["record_time"]}
    return events


def test_counts_costs_and_weights_equal_the_sandbox_s_own_json(whole: dict[str, pd.DataFrame]) -> None:
    listed = json_events(Sandbox(seed=1, events=900, days=3))
    # The later verdict on a request is dropped (docs/facts.md#second-verdicts).
    first = {(event["verdict"] or event["update"])["update_id"]: event for event in reversed(listed)}
    assert len(listed) - len(first) == 3
    events = [*first.values()]
    updates = [event["update"] for event in events if event["update"]]
    verdicts = [event["verdict"] for event in events if event["verdict"]]
    views = [view for verdict in verdicts for view in verdict["transaction_views"]["views"]]
    summaries = [event["traffic_summary"] for event in events if event["traffic_summary"]]
    envelopes = [envelope for summary in summaries for envelope in summary["envelope_traffic_summaries"]]
    records = [record for event in events if event["app_activity_records"] for record in event["app_activity_records"]["records"]]
    counted = {
        "updates": len(updates),
        "tree_events": sum(len(update["events_by_id"]) for update in updates if "events_by_id" in update),
        "reassignments": sum("event" in update for update in updates),
        "verdicts": len(verdicts),
        "views": len(views),
        "quorums": sum(len(view["confirming_parties"]) for view in views),
        "traffic": len(summaries),
        "envelopes": len(envelopes),
        "activity_records": len(records),
    }
    assert {name: len(frame) for name, frame in whole.items()} == counted
    assert all(counted.values()), "a table without rows proves nothing"
    assert whole["traffic"]["total_traffic_cost"].sum() == sum(summary["total_traffic_cost"] for summary in summaries)
    assert whole["envelopes"]["traffic_cost"].sum() == sum(envelope["traffic_cost"] for envelope in envelopes)
    assert whole["activity_records"]["weight"].sum() == sum(record["weight"] for record in records)
    rejected = sum(verdict["verdict_result"] == "VERDICT_RESULT_REJECTED" for verdict in verdicts)
    assert (whole["verdicts"]["verdict_result"] == "VERDICT_RESULT_REJECTED").sum() == rejected


@pytest.mark.parametrize("name", [table.name for table in EVENT_TABLES])
def test_rows_are_sorted_and_keys_unique(whole: dict[str, pd.DataFrame], name: str) -> None:
    spec, frame = TABLES[name], whole[name]
    by = list(spec.sort)
    pd.testing.assert_frame_equal(frame[by], frame[by].sort_values(by, ignore_index=True))
    assert not frame.duplicated(list(spec.key)).any()
    assert frame.dtypes.map(str).to_dict() == {column.name: column.pandas_dtype for column in spec.columns}


@pytest.mark.exhaustive
@settings(max_examples=examples(3), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    page_size=st.integers(1, 1000).map(lambda size: max(size, 20)),
    parallel=st.integers(1, 6),
    segment_bytes=st.sampled_from([1, 50_000, 10**9]),
    cuts=st.lists(st.integers(1, 77), max_size=3, unique=True),
    shuffled=st.randoms(),
)
def test_any_page_size_any_split_any_order_gives_the_same_frames(
    whole: dict[str, pd.DataFrame],
    page_size: int,
    parallel: int,
    segment_bytes: int,
    cuts: list[int],
    shuffled: Any,
) -> None:
    import tempfile

    start = pd.Timestamp(WHOLE["since"], tz="UTC")
    edges = [start, *(start + pd.Timedelta(hours=hour) for hour in sorted(cuts)), pd.Timestamp(WHOLE["until"])]
    parts = list(pairwise(edges))
    shuffled.shuffle(parts)
    with tempfile.TemporaryDirectory() as folder:
        net = connect(Path(folder), page_size=page_size, max_concurrency=parallel, segment_bytes=segment_bytes)
        for since, until in parts:
            lf.load_events(net, since=since.to_pydatetime(), until=until.to_pydatetime())
        assert_equal(every_table(lf.load_events(net, **WHOLE)), whole)


def test_a_second_load_makes_no_request(tmp_path: Path) -> None:
    lf.load_events(connect(tmp_path), **DAY)
    again = connect(tmp_path)
    assert len(lf.load_events(again, **DAY).verdicts)
    assert again.request_count == 0


def test_a_wider_load_asks_only_for_the_new_part(tmp_path: Path) -> None:
    net = connect(tmp_path)
    lf.load_events(net, since="2026-11-08T12:00:00Z", until="2026-11-09")
    plan = lf.plan(lf.load_events, net, **DAY)
    assert set(plan["since"]) == {pd.Timestamp("2026-11-08T00:00:00Z")}
    assert set(plan["until"]) == {pd.Timestamp("2026-11-08T12:00:00Z")}


def test_plan_before_anything_is_known_asks_nothing(tmp_path: Path) -> None:
    net = connect(tmp_path)
    plan = lf.plan(lf.load_events, net, **DAY)
    assert net.request_count == 0
    assert len(plan) == 1
    assert not (tmp_path / net.name).exists()


def test_both_migrations_are_read_where_their_times_overlap(tmp_path: Path) -> None:
    net = connect(tmp_path, events=2500)
    updates = lf.load_events(net, **WHOLE).updates
    spans = updates.groupby("migration_id")["record_time"].agg(["min", "max"])
    assert spans.loc[3, "max"] > spans.loc[4, "min"]
    inside = {"since": spans.loc[4, "min"].to_pydatetime(), "until": spans.loc[3, "max"].to_pydatetime()}
    assert set(lf.load_events(net, **inside).updates["migration_id"]) == {3, 4}


def test_an_empty_range_gives_every_table_empty(tmp_path: Path) -> None:
    frames = lf.load_events(connect(tmp_path), since="2026-11-01", until="2026-11-02")
    for name in frames.tables:
        pd.testing.assert_frame_equal(frames.read(name), TABLES[name].empty())


def test_the_tail_is_provisional_and_asked_again(tmp_path: Path) -> None:
    net = connect(tmp_path)
    tail = {"since": "2026-11-09", "until": "2026-11-09T06:00:00Z"}
    first = every_table(lf.load_events(net, **tail))
    coverage = lf.load_events(net, **tail).coverage
    assert set(coverage["status"]) == {"final", "provisional"}
    settled = coverage.loc[coverage["status"] == "provisional", "since"].min()
    assert settled == pd.Timestamp(net.now()) - pd.Timedelta(hours=1)
    again = connect(tmp_path)
    assert_equal(every_table(lf.load_events(again, **tail)), first)
    assert again.request_count > 0
    assert "provisional" in repr(lf.load_events(net, **tail))


def test_offline_serves_what_is_there_and_names_what_is_not(tmp_path: Path) -> None:
    with pytest.raises(CoverageError, match="not in the store"):
        lf.load_events(connect(tmp_path, offline=True), **DAY)
    stored = every_table(lf.load_events(connect(tmp_path), **DAY))
    offline = connect(tmp_path, offline=True)
    assert_equal(every_table(lf.load_events(offline, **DAY)), stored)
    with pytest.raises(CoverageError, match="2026-11-09T00:00:00Z") as caught:
        lf.load_events(offline, since="2026-11-08", until="2026-11-09T01:00:00Z")
    assert caught.value.missing == ("migration 4, 2026-11-09T00:00:00Z … 2026-11-09T01:00:00Z",)
    with pytest.raises(CoverageError, match="no request is sent"):
        offline.history  # noqa: B018


@pytest.mark.parametrize("fault", every_nth(["unknown_members", "string_integers", "old_service"], 3))
def test_other_shapes_of_the_same_facts_give_the_same_frames(whole: dict[str, pd.DataFrame], tmp_path: Path, fault: str) -> None:
    frames = every_table(lf.load_events(connect(tmp_path, faults=Faults(**{fault: True})), **WHOLE))
    plain = {name: frame.drop(columns="extra") for name, frame in frames.items()}
    assert_equal(plain, {name: frame.drop(columns="extra") for name, frame in whole.items()})
    found = sum(int(frame["extra"].notna().sum()) for frame in frames.values())
    assert (found > 0) == (fault == "unknown_members")


def test_a_flaky_service_gives_the_same_frames(whole: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    faults = Faults(too_many_requests=0.1, unavailable_html=0.1, dropped_connections=0.1, truncated_bodies=0.1)
    net = connect(tmp_path, faults=faults, page_size=50, retries=20, max_concurrency=4)
    assert_equal(every_table(lf.load_events(net, **WHOLE)), whole)


def test_what_was_committed_before_a_failure_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: dict[str, pd.DataFrame]
) -> None:
    broken = connect(tmp_path, max_concurrency=1, page_size=50, segment_bytes=1)
    request, calls = broken.history.transport.request, 0

    def failing(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 8:
            raise ServiceUnavailableError("down", status=503)
        return request(*arguments, **options)

    monkeypatch.setattr(broken.history.transport, "request", failing)
    with pytest.raises(ServiceUnavailableError):
        lf.load_events(broken, **WHOLE)
    kept = sum(segment.rows for segment in broken.store.segments(EVENTS))
    assert kept > 0
    resumed = connect(tmp_path)
    assert_equal(every_table(lf.load_events(resumed, **WHOLE)), whole)


def test_an_event_that_is_no_event_is_named_and_loses_nothing(tmp_path: Path) -> None:
    lf.load_events(connect(tmp_path), **DAY)
    with pytest.raises(DecodeError, match=r"\$\.events\[\d+\]\.update"):
        lf.load_events(connect(tmp_path, faults=Faults(not_an_event=True)), **WHOLE)
    assert len(lf.load_events(connect(tmp_path, offline=True), **DAY).verdicts)


def test_a_service_that_is_not_ready_stores_nothing(tmp_path: Path) -> None:
    with pytest.raises(ServiceUnavailableError, match="not been replicated"):
        lf.load_events(connect(tmp_path, faults=Faults(not_ready=True)), **DAY)
    with pytest.raises(CoverageError):
        lf.load_events(connect(tmp_path, offline=True), **DAY)


def test_a_network_that_does_not_list_names_the_way(tmp_path: Path) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/version":
            return httpx.Response(200, json={"version": "0.4.0"})
        return httpx.Response(404, text="The requested resource could not be found.")

    net = lf.connect("sandbox", history_url="http://old.invalid", transport=httpx.MockTransport(handler), store=tmp_path)
    with pytest.raises(UsageError, match="update_ids="):
        lf.load_events(net, **DAY)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({}, "Pass since="),
        ({"since": "2026-11-08", "until": "2026-11-01"}, "must be before"),
        ({"since": "2026-11-08T00:00:00"}, "no time zone"),
        ({"since": "then"}, "must be a time such as"),
        ({"during": "sometime"}, "Unknown during="),
        ({"during": "today", "update_ids": []}, "cannot be combined"),
        ({"update_ids": "1220aa"}, "list of ids"),
        ({"update_ids": ["1220aa", " "]}, "got ' '"),
    ],
)
def test_calls_that_make_no_sense_are_refused_before_anything_is_asked(
    tmp_path: Path, asked: dict[str, Any], reason: str
) -> None:
    net = connect(tmp_path)
    with pytest.raises(UsageError, match=reason):
        lf.load_events(net, **asked)
    assert net.request_count == 0


def test_single_tables_take_what_load_events_takes(tmp_path: Path, whole: dict[str, pd.DataFrame]) -> None:
    net = connect(tmp_path)
    pd.testing.assert_frame_equal(lf.load_verdicts(net, **WHOLE), whole["verdicts"])
    pd.testing.assert_frame_equal(lf.load_activity(net, **WHOLE), whole["activity_records"])
    two = lf.load_traffic(net, columns=["update_id", "total_traffic_cost"], **WHOLE)
    pd.testing.assert_frame_equal(two, whole["traffic"][["update_id", "total_traffic_cost"]])


def test_recorded_json_is_not_what_the_sandbox_sends(fixtures: Path) -> None:
    """The sandbox invents its own ids and shares none with tests/data."""
    recorded = json.loads((fixtures / "v0_event_accepted_with_subviews.json").read_text())["update"]["update_id"]
    assert recorded not in json.dumps(json_events(Sandbox(seed=1, events=400, days=1)))
