"""Participants before ledger API 3.5, which have lists of updates and no pages: the same frames by the same call."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from cases import every_nth
from equality import assert_equal, every_table
from ledger_items import update

import ledgerframes as lf
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.transport import in_process
from ledgerframes.api.update_format import update_format
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import BadRequestError, DecodeError, UnsupportedOperationError
from ledgerframes.loaders.ledger_filter import open_ledger
from ledgerframes.loaders.ledger_pages import OffsetReader, follow
from ledgerframes.loaders.update_lists import UpdateLists
from ledgerframes.sandbox import Sandbox

WORLD = {"events": 560, "days": 1}
# Members that came with 3.4 and 3.5 (docs/facts.md#versions).
LATER = ["representative_package_id", "acs_delta", "external_transaction_hash", "contract_key_hash", "paid_traffic_cost"]
BAD: dict[str, Any] = {"update": {"Transaction": {"value": {"updateId": "bad"}}}}  # without an offset
CHECKPOINT = {"update": {"OffsetCheckpoint": {"value": {"offset": 7}}}}


def connect(store: Path, version: str, **overrides: Any) -> lf.Network:
    box = Sandbox(ledger_version=version, **WORLD)
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    return lf.connect("sandbox", transport=in_process(box.app), requests_per_second=0, store=store, **urls, **overrides)


def known_in_all(frames: lf.Frames) -> dict[str, pd.DataFrame]:
    """Every table, without the columns of later members."""
    return {name: frame.drop(columns=LATER, errors="ignore") for name, frame in every_table(frames).items()}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, pd.DataFrame]]:
    net = connect(tmp_path_factory.mktemp("pages"), "3.5.14")
    return {shape: known_in_all(lf.load_updates(net, shape=shape)) for shape in ("acs_delta", "ledger_effects")}


@pytest.mark.parametrize(
    ("version", "shape", "options"),
    every_nth(
        [  # each two of them meet
            ("3.3.0", "acs_delta", {"page_size": 7}),
            ("3.4.11", "ledger_effects", {"page_size": 7}),
            ("3.3.0", "ledger_effects", {}),
            ("3.4.11", "acs_delta", {}),
            ("3.3.0", "acs_delta", {"descending": True, "page_size": 60}),
            ("3.4.11", "ledger_effects", {"descending": True, "page_size": 60}),
        ],
        5,
    ),
    ids=str,
)
def test_lists_give_the_frames_of_pages(
    version: str, shape: str, options: dict[str, Any], tmp_path: Path, pages: dict[str, dict[str, pd.DataFrame]]
) -> None:
    net = connect(tmp_path, version)
    frames = lf.load_updates(net, shape=shape, **options)
    assert_equal(known_in_all(frames), pages[shape])
    assert frames.coverage["status"].eq("final").all()
    sent = net.request_count
    again = lf.load_updates(net, shape=shape, **options)
    assert net.request_count - sent <= 3, "participant, end and pruned offsets, but no update twice"
    assert_equal(known_in_all(again), pages[shape])


def test_a_ledger_is_loaded_in_parts(tmp_path: Path, pages: dict[str, dict[str, pd.DataFrame]]) -> None:
    net = connect(tmp_path, "3.4.11")
    end = net.ledger.ledger_end()
    for through in (1, end // 3, end // 2, end):
        lf.load_updates(net, through=through)
    assert_equal(known_in_all(lf.load_updates(net)), pages["acs_delta"])


def test_a_list_is_bounded_whatever_the_ledger_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment is written as soon as it is full, and a list never has more than a page."""
    sizes: list[int] = []

    def seen(self: UpdateLists, *args: Any) -> Any:
        result = listed(self, *args)
        sizes.append(len(result[1]))
        return result

    listed = UpdateLists._list
    monkeypatch.setattr(UpdateLists, "_list", seen)
    net = connect(tmp_path, "3.4.11", max_concurrency=1, segment_bytes=50_000, min_merged_segments=1_000)
    lf.load_updates(net, shape="ledger_effects", page_size=40)
    assert max(sizes) <= 40
    assert len(net.store.segments(LEDGER)) > 3


def test_effects_that_were_not_requested_are_refused(tmp_path: Path) -> None:
    """A participant that ignores the shape would fill the frames of the active contracts' changes with exercises."""
    body = {"contractId": "00", "templateId": "p:M:E", "offset": 3, "nodeId": 0, "choice": "Go", "consuming": True}
    item = update(3, events=[{"ExercisedEvent": body}])

    def handler(request: httpx.Request) -> httpx.Response:
        answers = {"version": {"version": "3.3.0"}, "ledger-end": {"offset": 3}, "participant-id": {"participantId": "p"}}
        name = request.url.path.rpartition("/")[2]
        if name == "get-updates-page":
            return httpx.Response(404, text="The requested resource could not be found.")
        return httpx.Response(200, json=answers.get(name, [item] if name == "updates" else {}))

    options = {"ledger_url": "http://one.invalid", "transport": httpx.MockTransport(handler), "requests_per_second": 0}
    net = lf.connect("sandbox", store=tmp_path, **options)
    with pytest.raises(DecodeError, match=r"an exercise in update u3, .* Pass shape='ledger_effects'\."):
        lf.load_updates(net)
    assert lf.load_updates(net, shape="ledger_effects").ledger_events["event_type"].tolist() == ["exercised_event"]


def silent_from(store: Path, calls: range, **overrides: Any) -> lf.Network:
    """A participant of which some of the lists end without an element, as after an idle time."""
    box = Sandbox(ledger_version="3.4.11", **WORLD)
    inner = in_process(box.app)
    count = itertools.count(1)

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/v2/updates") and next(count) in calls:
            return httpx.Response(200, json=[])
        return inner.handle_request(request)

    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url}
    return lf.connect("sandbox", transport=httpx.MockTransport(handler), requests_per_second=0, store=store, **urls, **overrides)


def test_a_list_that_ended_early_loses_no_update(tmp_path: Path, pages: dict[str, dict[str, pd.DataFrame]]) -> None:
    frames = lf.load_updates(silent_from(tmp_path, range(2, 3), max_concurrency=1, page_size=20))
    assert_equal(known_in_all(frames), pages["acs_delta"])
    assert frames.coverage["status"].eq("final").all()


def test_what_no_list_confirms_is_loaded_again(tmp_path: Path, pages: dict[str, dict[str, pd.DataFrame]]) -> None:
    net = silent_from(tmp_path, range(2, 4), max_concurrency=1, page_size=20)
    part = lf.load_updates(net)
    assert part.coverage["status"].tolist() == ["final", "provisional"]
    assert len(part.ledger_updates) < len(pages["acs_delta"]["ledger_updates"])
    assert part.coverage["through"].max() == net.ledger.ledger_end()
    frames = lf.load_updates(net)
    assert_equal(known_in_all(frames), pages["acs_delta"])
    assert frames.coverage["status"].eq("final").all()


# -- one list ---------------------------------------------------------------------------------------------------------


def ledger(tmp_path: Path, answer: Callable[[dict[str, Any], httpx.QueryParams], Any]) -> Ledger:
    """A participant of 3.4 whose list is what a test says."""

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/v2/version"):
            return httpx.Response(200, json={"version": "3.4.9"})
        if request.url.path.endswith("/v2/state/ledger-end"):
            return httpx.Response(200, json={"offset": 9})
        answered = answer(json.loads(request.content), request.url.params)
        return answered if isinstance(answered, httpx.Response) else httpx.Response(200, json=answered)

    transport = httpx.MockTransport(handler)
    return lf.connect(
        "sandbox", ledger_url="http://one.invalid", transport=transport, store=tmp_path, requests_per_second=0
    ).ledger


def request(after: int = 0, through: int | None = 9, size: int = 100, token: str | None = None) -> dict[str, Any]:
    end = {} if through is None else {"endOffsetInclusive": through}
    members = {"updateFormat": {}, "beginOffsetExclusive": after, "maxPageSize": size, **end}
    return {**members, "pageToken": token} if token else members


def page_of(lists: UpdateLists, asked: dict[str, Any]) -> tuple[list[int], int, int, str | None]:
    """Offsets of the updates of a page, its bounds and its token."""
    page = json.loads(lists(asked).body)
    offsets = [item["update"]["Transaction"]["value"].get("offset") for item in page["updates"]]
    return offsets, page["lowestPageOffsetExclusive"], page["highestPageOffsetInclusive"], page["nextPageToken"]


@pytest.mark.parametrize(
    ("items", "page"),
    [
        ([], ([], 0, 0, None)),  # which confirms nothing
        ([update(3), update(9)], ([3, 9], 0, 9, None)),
        ([update(3), CHECKPOINT], ([3], 0, 7, "7")),
        ([CHECKPOINT], ([], 0, 7, "7")),
        ([update(3), update(5)], ([3, 5], 0, 5, "5")),  # a short list need not be the last
        ([update(3), BAD], ([3], 0, 3, "3")),  # which comes again
        ([BAD], ([None], 0, 9, None)),  # and then is the last
        ([{**update(3), "update": {**update(3)["update"], "beside": 1}}], ([3], 0, 3, "3")),
    ],
)
def test_a_list_as_a_page(items: list[Any], page: tuple[Any, ...], tmp_path: Path) -> None:
    lists = UpdateLists(ledger(tmp_path, lambda body, query: items))
    if any("beside" in item["update"] for item in items):
        assert json.loads(lists(request()).body)["highestPageOffsetInclusive"] == page[2]
    else:
        assert page_of(lists, request()) == page


def test_a_list_as_it_is_sent(tmp_path: Path) -> None:
    bodies: list[tuple[dict[str, Any], dict[str, str]]] = []

    def answer(body: dict[str, Any], query: httpx.QueryParams) -> list[Any]:
        bodies.append((body, dict(query)))
        return [update(9)]

    UpdateLists(ledger(tmp_path, answer))(request(2, 9, 500, token="4"))
    body = {"beginExclusive": 4, "endInclusive": 9, "updateFormat": {}}
    assert bodies == [(body, {"limit": "200", "stream_idle_timeout_ms": "20000"})]


def test_an_open_end_is_that_of_the_ledger(tmp_path: Path) -> None:
    lists = UpdateLists(ledger(tmp_path, lambda body, query: [update(body["endInclusive"])]))
    assert page_of(lists, request(2, None)) == ([9], 2, 9, None)
    assert page_of(lists, request(9, None)) == ([], 9, 9, None), "nothing new, and nothing to ask"
    assert page_of(lists, request(12, None)) == ([], 12, 12, None)
    silent = UpdateLists(ledger(tmp_path, lambda body, query: []))
    assert page_of(silent, request(2, None)) == ([], 2, 2, None), "asked again later"


@pytest.mark.parametrize(
    ("following", "page"),
    [
        ([update(3)], ([3], 0, 3, "3")),  # the list had ended early
        ([CHECKPOINT], ([], 0, 5, None)),  # at 7, so that there is nothing through 5
        ([update(9)], ([], 0, 5, None)),
        ([BAD], ([], 0, 0, None)),  # anywhere
        ([], ([], 0, 0, None)),
    ],
    ids=str,
)
def test_a_later_element_completes_an_empty_list(following: list[Any], page: tuple[Any, ...], tmp_path: Path) -> None:
    def answer(body: dict[str, Any], query: httpx.QueryParams) -> list[Any]:
        bounds.append((body["beginExclusive"], body["endInclusive"], int(query["limit"])))
        return following if len(bounds) > 1 else []

    bounds: list[tuple[int, int, int]] = []
    assert page_of(UpdateLists(ledger(tmp_path, answer)), request(through=5)) == page
    assert bounds == [(0, 5, 100), (0, 9, 1)]


def test_a_smaller_list_limit_is_found(tmp_path: Path) -> None:
    refusal = {"code": "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", "cause": "too many", "context": {}, "errorCategory": 2}

    def answer(body: dict[str, Any], query: httpx.QueryParams) -> Any:
        sizes.append(int(query["limit"]))
        return [update(9)] if sizes[-1] <= 60 else httpx.Response(413, json=refusal)

    sizes: list[int] = []
    lists = UpdateLists(ledger(tmp_path, answer))
    lists(request())
    lists(request())
    assert sizes == [100, 50, 50]
    with pytest.raises(BadRequestError) as caught:
        UpdateLists(ledger(tmp_path, lambda body, query: httpx.Response(413, json=refusal)))(request())
    assert caught.value.code == refusal["code"]


@pytest.mark.parametrize("items", [[update(12)], [update(0)], [BAD] * 3], ids=["after the end", "before the begin", "unreadable"])
def test_a_list_that_leads_nowhere_is_an_error(items: list[Any], tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match="no offset after 0 and through 9 to continue from"):
        UpdateLists(ledger(tmp_path, lambda body, query: items))(request(size=3))


def test_a_participant_that_should_have_pages_is_not_read_by_lists(tmp_path: Path) -> None:
    """Its route may be blocked, and lists are slower."""

    def handler(request: httpx.Request) -> httpx.Response:
        answers = {"version": {"version": "3.5.14"}, "ledger-end": {"offset": 3}, "participant-id": {"participantId": "p"}}
        name = request.url.path.rpartition("/")[2]
        assert name != "updates"
        if name == "get-updates-page":
            return httpx.Response(404, text="The requested resource could not be found.")
        return httpx.Response(200, json=answers.get(name, {}))

    options = {"ledger_url": "http://one.invalid", "transport": httpx.MockTransport(handler), "requests_per_second": 0}
    with pytest.raises(UnsupportedOperationError, match="a proxy blocks it"):
        lf.load_updates(lf.connect("sandbox", store=tmp_path, **options))


def test_a_participant_without_pages_is_followed(tmp_path: Path, pages: dict[str, dict[str, pd.DataFrame]]) -> None:
    net = connect(tmp_path, "3.4.11")
    ledger_filter = open_ledger(net, update_format(), bind=True)
    stop, end = threading.Event(), net.ledger.ledger_end()
    net.store.create()
    reader = OffsetReader(net, ledger_filter, 50, descending=False)
    with ThreadPoolExecutor(1) as pool:
        reached = pool.submit(follow, reader, 0, 0.01, stop)
        while net.store.max_position(LEDGER, ledger_filter.partition) < end - 1:
            assert not reached.done()
        stop.set()
        assert reached.result() == end
    assert_equal(known_in_all(lf.load_updates(net)), pages["acs_delta"])


@pytest.mark.parametrize(
    "bad", [BAD, {"update": {"Transaction": {"value": {"updateId": "one", "offset": 9, "events": 5}}}}], ids=str
)
def test_errors_of_lists_name_the_list(bad: dict[str, Any], tmp_path: Path) -> None:
    inner = in_process(Sandbox(ledger_version="3.4.11", **WORLD).app)

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/v2/updates"):
            return httpx.Response(200, json=[bad, {**CHECKPOINT}])
        return inner.handle_request(request)

    box = Sandbox(ledger_version="3.4.11", **WORLD)
    net = lf.connect(
        "sandbox", ledger_url=box.ledger_url, history_url=box.history_url, transport=httpx.MockTransport(handler),
        requests_per_second=0, store=tmp_path,
    )  # fmt: skip
    with pytest.raises(DecodeError) as caught:
        lf.load_updates(net)
    assert caught.value.endpoint == "POST /v2/updates"
    assert "get-updates-page" not in str(caught.value)
