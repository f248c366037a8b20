from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from equality import assert_equal, every_table

import ledgerframes as lf
from ledgerframes.datasets import TABLES
from ledgerframes.errors import CoverageError, DecodeError, NotFoundError, ServiceUnavailableError, UsageError
from ledgerframes.loaders import event_ids
from ledgerframes.sandbox import Faults

WHOLE = {"since": "2026-11-08", "until": "2026-11-09T06:00:00Z"}


def connect(store: Path, **overrides: Any) -> lf.Network:
    return lf.connect("sandbox", **{"events": 400, "days": 1, "store": store, **overrides})


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> lf.Frames:
    return lf.load_events(connect(tmp_path_factory.mktemp("listed")), **WHOLE)


@pytest.fixture(scope="module")
def some_ids(listed: lf.Frames) -> list[str]:
    """IdSet of accepted and rejected requests and of updates without a verdict, in no order."""
    ids = [*listed.verdicts["update_id"][::9], *listed.updates["update_id"][:5]]
    return list(dict.fromkeys(reversed(ids)))


@pytest.fixture(scope="module")
def whole_ids(listed: lf.Frames) -> list[str]:
    """IdSet of old requests whose verdict and traffic are known: nothing more can come."""
    return listed.traffic["update_id"].tolist()[:5]


def test_an_old_event_that_lacks_a_part_is_asked_again(tmp_path: Path, listed: lf.Frames) -> None:
    lacking = sorted(set(listed.verdicts["update_id"][:100]) - set(listed.traffic["update_id"]))[:1]
    net = connect(tmp_path)
    assert set(lf.load_events(net, update_ids=lacking).coverage["status"]) == {"provisional"}
    assert lf.plan(lf.load_events, net, update_ids=lacking)["update_id"].tolist() == lacking


def test_by_id_and_by_listing_give_the_same_rows(tmp_path: Path, listed: lf.Frames, some_ids: list[str]) -> None:
    by_id = lf.load_events(connect(tmp_path), update_ids=some_ids)
    narrowed = listed.where("updates", lambda rows: rows["update_id"].isin(some_ids))
    assert set(by_id.verdicts["id_source"]) == {"user"}
    for name in by_id.tables:
        rows = listed.read(name)
        expected = rows[rows["update_id"].isin(some_ids)].reset_index(drop=True)
        got = by_id.read(name)
        if name == "verdicts":
            got, expected = got.drop(columns="id_source"), expected.drop(columns="id_source")
        pd.testing.assert_frame_equal(got, expected, obj=name)
    assert len(narrowed.updates) == len(by_id.updates)


def test_unknown_ids_are_reported_and_never_stored(tmp_path: Path, whole_ids: list[str]) -> None:
    net = connect(tmp_path)
    strange = ["1220" + "ab" * 32, "a/b", "no such id"]
    frames = lf.load_events(net, update_ids=[*whole_ids[:3], *strange])
    assert frames.unknown_ids == tuple(strange)
    assert len(frames.updates) + len(frames.verdicts) > 0
    assert lf.plan(lf.load_events, net, update_ids=[*whole_ids[:3], *strange])["update_id"].tolist() == strange
    assert "unknown ids" in repr(frames)


def test_known_ids_are_not_asked_again(tmp_path: Path, whole_ids: list[str]) -> None:
    old = whole_ids
    lf.load_events(connect(tmp_path), update_ids=old)
    again = connect(tmp_path)
    lf.load_events(again, update_ids=old)
    assert again.request_count == 0


def test_young_ids_are_asked_again(tmp_path: Path, listed: lf.Frames) -> None:
    young = listed.verdicts["update_id"].tolist()[-2:]
    net = connect(tmp_path)
    first = lf.load_events(net, update_ids=young)
    assert set(first.coverage["status"]) == {"provisional"}
    again = connect(tmp_path)
    assert len(lf.load_events(again, update_ids=young).verdicts) == 2
    assert again.request_count == 3, "one for each id, and one for the completeness of the host"


def test_no_ids_give_every_table_empty(tmp_path: Path) -> None:
    frames = lf.load_events(connect(tmp_path), update_ids=[])
    for name in frames.tables:
        pd.testing.assert_frame_equal(frames.read(name), TABLES[name].empty())


def test_offline_by_id(tmp_path: Path, some_ids: list[str]) -> None:
    lf.load_events(connect(tmp_path), update_ids=some_ids[:4])
    offline = connect(tmp_path, offline=True)
    assert len(lf.load_events(offline, update_ids=some_ids[:4]).coverage)
    with pytest.raises(CoverageError, match="1 of 2 update ids are not in the store"):
        lf.load_events(offline, update_ids=[some_ids[0], some_ids[6]])


def test_a_flaky_service_gives_the_same_rows(tmp_path: Path, some_ids: list[str]) -> None:
    calm = lf.load_events(connect(tmp_path / "calm"), update_ids=some_ids)
    faults = Faults(too_many_requests=0.2, unavailable_html=0.2, dropped_connections=0.1)
    flaky = lf.load_events(connect(tmp_path / "flaky", faults=faults, retries=20, max_concurrency=4), update_ids=some_ids)
    assert_equal(every_table(calm), every_table(flaky))


def test_ids_from_a_ledger_can_show_no_rejection(tmp_path: Path) -> None:
    net = connect(tmp_path)
    ids = lf.load_updates(net).ledger_updates["update_id"].head(50)
    frames = lf.load_events(net, update_ids=ids, id_source="ledger")
    assert set(frames.verdicts["id_source"]) == {"ledger"}
    with pytest.raises(CoverageError):
        lf.verdict.outcomes(frames)
    with pytest.raises(UsageError, match="user, ledger, bulk"):
        lf.load_events(net, update_ids=ids, id_source="guess")  # type: ignore[arg-type]


def test_one_id_that_fails_does_not_lose_the_others(
    tmp_path: Path, whole_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    net = connect(tmp_path)
    answer = net.history.event_response

    def failing(update_id: str, **options: Any) -> Any:
        if update_id == whole_ids[2]:
            raise ServiceUnavailableError("down", status=503)
        return answer(update_id, **options)

    monkeypatch.setattr(net.history, "event_response", failing)
    with pytest.raises(ServiceUnavailableError):
        lf.load_events(net, update_ids=whole_ids)
    assert lf.plan(lf.load_events, net, update_ids=whole_ids)["update_id"].tolist() == [whole_ids[2]]


def test_the_client_is_created_before_the_threads_that_use_it(
    tmp_path: Path, whole_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    net, threads = connect(tmp_path), list[threading.Thread]()
    history = net.history
    monkeypatch.setattr(lf.Network, "history", property(lambda _: threads.append(threading.current_thread()) or history))
    lf.load_events(net, update_ids=whole_ids)
    assert set(threads) == {threading.main_thread()}


def served(tmp_path: Path, answer: httpx.Response) -> lf.Network:
    return lf.connect(
        "sandbox", history_url="http://one.invalid", transport=httpx.MockTransport(lambda _: answer), store=tmp_path, retries=0
    )


@pytest.mark.parametrize(
    "body",
    [
        "The requested resource could not be found.",
        "<html>no such page</html>",
        "",
        "404 page not found",
        '{"message": "no Route matched with those values"}',
        '{"status": 404, "error": "Not Found"}',
        '{"error": {"code": 404}}',
        '{"error": null}',
        '["error"]',
    ],
)
def test_a_service_without_the_operation_is_not_a_service_without_the_id(tmp_path: Path, body: str) -> None:
    net = served(tmp_path, httpx.Response(404, text=body))
    with pytest.raises(UsageError, match=r"http://one\.invalid is not the base URL of a history API"):
        lf.load_events(net, update_ids=["1220aa"])

    def handler(request: httpx.Request) -> httpx.Response:
        is_version = request.url.path == "/version"
        return httpx.Response(200, json={"version": "0.4.0"}) if is_version else httpx.Response(404, text=body)

    old = lf.connect("sandbox", history_url="http://one.invalid", transport=httpx.MockTransport(handler), store=tmp_path)
    with pytest.raises(NotFoundError):
        lf.load_events(old, update_ids=["1220aa"])


def test_the_answer_must_be_about_the_id_asked_for(tmp_path: Path, fixtures: Path) -> None:
    net = served(tmp_path, httpx.Response(200, content=(fixtures / "v0_event_rejected_verdict_only.json").read_bytes()))
    with pytest.raises(DecodeError, match="for 1220aa"):
        lf.load_events(net, update_ids=["1220aa"])


# -- hosts that are still loading their history -----------------------------------------------------------------------

BACKFILLING = "/v0/backfilling/status"
COMPLETE, INCOMPLETE = httpx.Response(200, json={"complete": True}), httpx.Response(200, json={"complete": False})
TRAFFIC = {"total_traffic_cost": 5, "envelope_traffic_summaries": []}


def event(fixtures: Path, name: str, **parts: Any) -> dict[str, Any]:
    """An event of years ago whose traffic is known."""
    content = json.loads((fixtures / f"v0_event_{name}.json").read_text())
    return {**content, "traffic_summary": TRAFFIC, **parts}


def backfilling(
    store: Path,
    events: list[dict[str, Any]],
    status: httpx.Response,
    seen: list[httpx.Request],
    hosts: tuple[str, ...] = ("one",),
) -> lf.Network:
    """A network of hosts that serve these events, and return this status of their history."""
    contents = {f"/v0/events/{each['verdict']['update_id']}": each for each in events}

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if request.url.path == BACKFILLING:
            return status
        if request.url.host == "one.invalid" and len(hosts) > 1:
            return httpx.Response(503)
        content = contents.get(request.url.path)
        return httpx.Response(404, json={"error": "not found"}) if content is None else httpx.Response(200, json=content)

    urls = [f"http://{host}.invalid" for host in hosts]
    transport = httpx.MockTransport(handler)
    return lf.connect("sandbox", history_url=urls, transport=transport, store=store, retries=0, requests_per_second=0)


def statuses(frames: lf.Frames) -> set[str]:
    return set(frames.coverage["status"])


@pytest.mark.parametrize(
    "status",
    [
        INCOMPLETE,
        httpx.Response(403, json={"error": "internal to the network"}),
        httpx.Response(404, text="The requested resource could not be found."),
        httpx.Response(404, json={"error": "unknown"}),
        httpx.Response(500, json={"error": "internal"}),
        httpx.Response(200, json={}),
        httpx.Response(200, json={"complete": None}),
        httpx.Response(200, text="<html>not here</html>"),
    ],
)
def test_an_update_that_arrives_later_is_found(tmp_path: Path, fixtures: Path, status: httpx.Response) -> None:
    whole = event(fixtures, "accepted_with_subviews")
    ids, seen = [whole["verdict"]["update_id"]], list[httpx.Request]()
    first = lf.load_events(backfilling(tmp_path, [{**whole, "update": None}], status, seen), update_ids=ids)
    assert (len(first.verdicts), len(first.updates), statuses(first)) == (1, 0, {"provisional"})
    then = lf.load_events(backfilling(tmp_path, [whole], status, seen), update_ids=ids)
    assert (len(then.updates), statuses(then)) == (1, {"final"})
    seen.clear()
    lf.load_events(backfilling(tmp_path, [whole], status, seen), update_ids=ids)
    assert not seen


def test_a_private_event_is_final_on_a_host_with_all_of_the_history(
    tmp_path: Path, fixtures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_ids, "IDS_PER_CHUNK", 1)
    whole = event(fixtures, "accepted_with_subviews", update=None)
    private = event(fixtures, "accepted_private_verdict_only")
    ids, seen = [each["verdict"]["update_id"] for each in (whole, private)], list[httpx.Request]()
    net = backfilling(tmp_path, [whole, private], COMPLETE, seen)
    assert statuses(lf.load_events(net, update_ids=ids)) == {"final"}
    assert [request.url.path for request in seen].count(BACKFILLING) == 1, "once, and not for each chunk"
    seen.clear()
    assert statuses(lf.load_events(net, update_ids=ids)) == {"final"}
    assert not seen


@pytest.mark.parametrize(
    ("result", "expected"),
    [("VERDICT_RESULT_REJECTED", "final"), ("VERDICT_RESULT_UNSPECIFIED", "provisional"), ("NEW", "provisional")],
)
def test_only_a_rejected_request_certainly_has_no_update(tmp_path: Path, fixtures: Path, result: str, expected: str) -> None:
    rejected = event(fixtures, "rejected_verdict_only")
    rejected["verdict"]["verdict_result"] = result
    net = backfilling(tmp_path, [rejected], INCOMPLETE, [])
    assert statuses(lf.load_events(net, update_ids=[rejected["verdict"]["update_id"]])) == {expected}


def test_the_completeness_of_one_host_says_nothing_about_another(tmp_path: Path, fixtures: Path) -> None:
    private = event(fixtures, "accepted_private_verdict_only")
    ids, seen = [private["verdict"]["update_id"]], list[httpx.Request]()
    net = backfilling(tmp_path, [private], COMPLETE, seen, hosts=("one", "two"))
    frames = lf.load_events(net, update_ids=ids)
    assert [request.url.host for request in seen] == ["one.invalid", "one.invalid", "two.invalid"]
    assert statuses(frames) == {"provisional"}


def test_a_host_with_all_of_the_history_may_still_not_know_the_traffic(tmp_path: Path, fixtures: Path) -> None:
    whole = event(fixtures, "accepted_with_subviews", traffic_summary=None)
    net = backfilling(tmp_path, [whole], COMPLETE, [])
    assert statuses(lf.load_events(net, update_ids=[whole["verdict"]["update_id"]])) == {"provisional"}


def test_without_ids_to_look_up_nothing_is_sent(tmp_path: Path) -> None:
    seen: list[httpx.Request] = []
    assert lf.load_events(backfilling(tmp_path, [], COMPLETE, seen), update_ids=[]).verdicts.empty
    assert not seen
