"""Chains of pages make progress, or end with an error that names the operation."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.api.paging import MAX_EMPTY_PAGES, PageChain
from ledgerframes.api.update_format import update_format
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import DecodeError
from ledgerframes.loaders.bulk_listing import _list_updates
from ledgerframes.loaders.ledger_filter import LedgerFilter
from ledgerframes.loaders.ledger_pages import OffsetReader, follow
from ledgerframes.values.extents import OffsetRange
from ledgerframes.values.windows import Window, instant

Page = dict[str, Any]
TIME = "2026-11-01T00:00:00.000001Z"


def party(number: int) -> Page:
    return {"party": f"p{number}", "isLocal": True}


def net_of(handler: Callable[[Page], Page], tmp_path: Path) -> lf.Network:
    """A network whose every operation answers what the handler makes of the body, or of the query."""

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("participant-id"):
            return httpx.Response(200, json={"participantId": "p"})
        sent = json.loads(request.content) if request.content else dict(request.url.params)
        return httpx.Response(200, json=handler(sent))

    return lf.connect(
        "sandbox", history_url="http://one.invalid", ledger_url="http://one.invalid",
        transport=httpx.MockTransport(respond), store=tmp_path, requests_per_second=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ([{"partyDetails": [party(0)], "nextPageToken": "t"}] * 3, "the same page twice|the token of an earlier page"),
        ([{"partyDetails": [party(n)], "nextPageToken": "t"} for n in range(3)], "the token of an earlier page"),
        ([{"partyDetails": [party(n)], "nextPageToken": "ab"[n % 2]} for n in range(5)], "the token of an earlier page"),
        ([{"partyDetails": [party(n % 2)], "nextPageToken": f"t{n}"} for n in range(5)], "the same page twice"),
        ([{"partyDetails": [], "nextPageToken": f"t{n}"} for n in range(50)], "empty pages in a row"),
    ],
)
def test_a_listing_that_never_ends_is_an_error(pages: list[Page], reason: str, tmp_path: Path) -> None:
    answers = iter(pages)
    with pytest.raises(DecodeError, match=reason) as caught:
        lf.load_parties(net_of(lambda _: next(answers), tmp_path))
    assert caught.value.endpoint == "GET /v2/parties"


def test_some_empty_pages_are_no_error(tmp_path: Path) -> None:
    pages = [{"partyDetails": [party(n)] if n % 10 == 0 else [], "nextPageToken": f"t{n}" if n < 30 else ""} for n in range(31)]
    answers = iter(pages)
    assert lf.load_parties(net_of(lambda _: next(answers), tmp_path))["party"].tolist() == ["p0", "p10", "p20", "p30"]


def test_empty_pages_are_counted_in_a_row() -> None:
    chain = PageChain("GET /x")
    for number in range(MAX_EMPTY_PAGES):
        assert chain.next_token(f"t{number}", b"[]") == f"t{number}"
    assert chain.next_token("full", b"[1]") == "full"
    assert chain.next_token("", b"") is None


def update(offset: int) -> Page:
    value = {
        "updateId": f"u{offset}", "offset": offset, "recordTime": TIME, "effectiveAt": TIME, "synchronizerId": "s", "events": [],
    }  # fmt: skip
    return {"update": {"Transaction": {"value": value}}}


def updates_page(start: int, stop: int, *offsets: int, token: str | None = None) -> Page:
    bounds = {"lowestPageOffsetExclusive": start, "highestPageOffsetInclusive": stop}
    return {"updates": [update(offset) for offset in offsets], **bounds, "nextPageToken": token}


def ledger_filter() -> LedgerFilter:
    return LedgerFilter("p", update_format(parties=["a"]))


def test_pages_of_updates_without_progress_end(tmp_path: Path) -> None:
    tokens = count()
    net = net_of(lambda _: updates_page(0, 0, token=f"t{next(tokens)}"), tmp_path)
    with pytest.raises(DecodeError, match="empty pages in a row"):
        list(OffsetReader(net, ledger_filter(), 10, False).iter_pages(OffsetRange("x", 0, 9), 10))


@pytest.mark.parametrize(
    ("after", "pages"),
    [
        (0, [updates_page(0, 4, 1, 2, token="a"), updates_page(6, 9, 7, token="b")]),  # offsets 5 and 6 are left out
        (0, [updates_page(0, 4, 1, 2, token="a"), updates_page(0, 4, 1, 2, token="b")]),  # the same page again
        (0, [updates_page(0, 4, 1, 2, token="a"), updates_page(4, 4, 5, token="b")]),  # an update outside the page
        (1, [updates_page(2, 4, 3, token="a")]),  # does not start where the store ends
    ],
)
def test_followed_pages_must_join(after: int, pages: list[Page], tmp_path: Path) -> None:
    answers = iter(pages)
    reader = OffsetReader(net_of(lambda _: next(answers), tmp_path), ledger_filter(), 500, False)
    with pytest.raises(DecodeError):
        follow(reader, after, 0.01, threading.Event())


def test_a_followed_ledger_resumes_after_a_token_has_expired(tmp_path: Path) -> None:
    stop, begins = threading.Event(), []

    def respond(sent: Page) -> Page:
        begins.append((sent["beginOffsetExclusive"], sent.get("pageToken")))
        if len(begins) == 1:
            return updates_page(0, 4, 1, 2, token="a")
        if len(begins) == 2:
            return updates_page(4, 7, token="")
        stop.set()
        return updates_page(7, 9, 8, token="b")

    net = net_of(respond, tmp_path)
    assert follow(OffsetReader(net, ledger_filter(), 500, False), 0, 0.01, stop) == 9
    assert begins == [(0, None), (0, "a"), (7, None)]
    assert net.store.missing_parts(LEDGER, ledger_filter().offset_range(0, 9)) == []


@pytest.mark.parametrize("order", [[3, 5, 4], [5, 5], [0, 3]])
def test_completions_that_repeat_are_refused(order: list[int], tmp_path: Path) -> None:
    item = {"commandId": "c", "status": {"code": 0}}
    listed = [{"completionResponse": {"Completion": {"value": {**item, "offset": offset}}}} for offset in order]
    with pytest.raises(DecodeError, match="returned offset"):
        lf.load_completions(net_of(lambda _: listed, tmp_path))  # type: ignore[arg-type, return-value]


def bulk_page(number: int, token: str | None) -> Page:
    url = f"http://one.invalid/v0/history/bulk/download/2026-01-01T00%3A00%3A00Z~2026-01-02T00%3A00%3A00Z/updates_{number}.zstd"
    return {"object_refs": [{"url": url, "digest": None}] if number >= 0 else [], "next_page_token": token}


@pytest.mark.parametrize(
    ("pages", "objects"),
    [
        ([bulk_page(0, "a"), bulk_page(-1, "a")], 1),  # a window that ends in the future
        ([bulk_page(0, "a"), bulk_page(-1, "b"), bulk_page(1, None)], 2),  # an empty page is not the end
        ([bulk_page(-1, None)], 0),
    ],
)
def test_bulk_listings_end(pages: list[Page], objects: int, tmp_path: Path) -> None:
    answers, window = iter(pages), Window(instant("2026-01-01"), instant("2026-01-02"))
    assert len(list(_list_updates(net_of(lambda _: next(answers), tmp_path), window))) == objects


@pytest.mark.parametrize(
    "pages",
    [
        [bulk_page(0, "a"), bulk_page(1, "a")],
        [bulk_page(0, "a"), bulk_page(1, "b"), bulk_page(2, "a")],
        [bulk_page(0, "a"), bulk_page(0, "b")],
        [bulk_page(-1, f"t{number}") for number in range(50)],
    ],
)
def test_bulk_listings_without_progress_are_refused(pages: list[Page], tmp_path: Path) -> None:
    answers, window = iter(pages), Window(instant("2026-01-01"), instant("2026-01-02"))
    with pytest.raises(DecodeError, match="never end"):
        list(_list_updates(net_of(lambda _: next(answers), tmp_path), window))
