from __future__ import annotations

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
    assert again.request_count == 2


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


@pytest.mark.parametrize("body", ["The requested resource could not be found.", "<html>no such page</html>", ""])
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
