"""A ledger that is followed meets what the load before it has overcome."""

from __future__ import annotations

import json
import threading
import weakref
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from equality import assert_equal, every_table
from ledger_items import update
from virtual_clock import VirtualClock

import ledgerframes as lf
from ledgerframes.api.response import Response
from ledgerframes.api.transport import in_process
from ledgerframes.api.update_format import update_format
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import BadRequestError
from ledgerframes.loaders import ledger
from ledgerframes.loaders.bad_updates import decode_updates
from ledgerframes.loaders.ledger_filter import LedgerFilter, open_ledger
from ledgerframes.loaders.ledger_pages import COMMIT_SECONDS, OffsetReader, _UpdateBuffer, follow
from ledgerframes.sandbox import Sandbox

WORLD = {"events": 400, "days": 1}


def connect(box: Sandbox, store: Path) -> lf.Network:
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url}
    return lf.connect("sandbox", transport=in_process(box.app), requests_per_second=0, store=store, **urls)


def follow_to_end(net: lf.Network, page_size: int, before_page: Any = lambda number: None) -> int:
    """Follow the ledger from its start, until a page reaches its end."""
    stop, end, number = threading.Event(), net.ledger.ledger_end(), 0
    get_page = net.ledger.get_updates_page

    def count_pages(request: dict[str, Any]) -> Response:
        nonlocal number
        number += 1
        before_page(number)
        response = get_page(request)
        if f'"highestPageOffsetInclusive":{end},'.encode() in response.body.replace(b" ", b""):
            stop.set()
        return response

    net.ledger.get_updates_page = count_pages  # type: ignore[method-assign]
    ledger_filter = open_ledger(net, update_format(topology=True), bind=True)
    assert follow(OffsetReader(net, ledger_filter, page_size, False), 0, 0.01, stop) == end
    return end


def test_a_refused_page_size_is_reduced(tmp_path: Path) -> None:
    box = Sandbox(**WORLD, max_page_size=100)
    net = connect(box, tmp_path / "followed")
    follow_to_end(net, page_size=1000)
    at_once = lf.load_updates(connect(box, tmp_path / "loaded"), page_size=50)
    assert_equal(every_table(lf.load_updates(net)), every_table(at_once))


def test_what_is_pruned_before_it_was_followed_is_a_gap(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    net = connect(box, tmp_path / "followed")
    whole = lf.load_updates(connect(box, tmp_path / "whole")).ledger_updates
    end = follow_to_end(net, 20, lambda number: box.prune(0.7) if number == 2 else None)
    coverage = net.store.snapshot(LEDGER).coverage().sort_values("after")  # before the next load looks for gaps
    (gap,) = coverage[coverage["status"] == "gap"].itertuples()
    assert gap.after > 0
    assert gap.through == net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    assert [0, *coverage["through"]] == [*coverage["after"], end], "the parts do not tile"
    kept = whole[(whole["offset"] <= gap.after) | (whole["offset"] > gap.through)]
    assert lf.load_updates(net).ledger_updates["offset"].tolist() == kept["offset"].tolist()


def test_a_start_that_is_pruned_before_the_first_page_is_a_gap(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    pruned = box.prune(0.5)
    net = connect(box, tmp_path / "followed")
    follow_to_end(net, 20)
    coverage = net.store.snapshot(LEDGER).coverage().sort_values("after")  # before the next load looks for gaps
    assert coverage.iloc[0][["after", "through", "status"]].tolist() == [0, pruned, "gap"]
    assert_equal(every_table(lf.load_updates(net)), every_table(lf.load_updates(connect(box, tmp_path / "loaded"))))


def test_a_token_that_was_not_sent_cannot_have_expired(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bodies: list[dict[str, Any]] = []

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/v2/updates/get-updates-page":
            return httpx.Response(404, text="The requested resource could not be found.")
        bodies.append(json.loads(request.content))
        refusal = {"code": "INVALID_UPDATES_PAGE_TOKEN", "cause": "the token is of another version", "errorCategory": 8}
        if len(bodies) > 9:  # without an end, it would follow forever
            stop.set()
        return httpx.Response(400, json=refusal) if len(bodies) > 1 else httpx.Response(200, json=page(0, 4, 1))

    stop = threading.Event()
    net = lf.connect(
        "sandbox", history_url="http://one.invalid", ledger_url="http://one.invalid",
        transport=httpx.MockTransport(respond), store=tmp_path, requests_per_second=0,
    )  # fmt: skip
    with caplog.at_level("INFO", "ledgerframes"), pytest.raises(BadRequestError, match="another version"):
        follow(OffsetReader(net, FILTER, 500, False), 0, 0.001, stop)
    assert [body.get("pageToken") for body in bodies] == [None, "token 4", None]
    assert "page_token_rejected network=" in caplog.text


def test_the_page_size_is_that_of_the_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def end_at_once(reader: OffsetReader, after: int, *_: object) -> int:
        sizes.append(reader.page_size)
        return after

    monkeypatch.setattr(ledger, "follow", end_at_once)
    lf.load_updates(lf.connect("sandbox", **WORLD, store=tmp_path), page_size=70, follow=True)
    assert sizes == [70]


# -- an idle ledger -----------------------------------------------------------------------------------------------------

FILTER = LedgerFilter("p", update_format(parties=["a"]))


def page(start: int, stop: int, *offsets: int) -> dict[str, Any]:
    bounds = {"lowestPageOffsetExclusive": start, "highestPageOffsetInclusive": stop}
    return {"updates": [update(offset) for offset in offsets], **bounds, "nextPageToken": f"token {stop}"}


def add(buffer: _UpdateBuffer, content: dict[str, Any]) -> list[weakref.ref[Any]]:
    """Add a page to a buffer, and return references to its tables that do not keep them."""
    response = Response(json.dumps(content).encode(), "one.invalid")
    decoded, tables, bad_items = decode_updates(response, FILTER)
    buffer.add(response, decoded, tables, bad_items)
    return [weakref.ref(table) for table in tables.values()]


@pytest.mark.parametrize("gained", [0, 1])
def test_pages_without_updates_are_not_kept(gained: int) -> None:
    buffer = _UpdateBuffer(FILTER.offset_range(100, 9999))
    starts = [100 + number * gained for number in range(300)]
    references = [reference for start in starts for reference in add(buffer, page(start, start + gained))]
    assert all(reference() is None for reference in references)
    batches = [(batch.extent.start, batch.extent.stop, batch.final) for batch in buffer.flush()]
    assert batches == ([(100, 400, True)] if gained else [])


@pytest.mark.parametrize("descending", [False, True])
def test_updates_between_pages_without_any_are_kept(descending: bool) -> None:
    buffer = _UpdateBuffer(FILTER.offset_range(0, 9), descending)
    pages = [page(0, 2), page(2, 5, 3, 5), page(5, 7), page(7, 9, 8)]
    for each in reversed(pages) if descending else pages:
        add(buffer, each)
    (batch,) = buffer.flush()
    assert (batch.extent.start, batch.extent.stop) == (0, 9)
    assert batch.tables["ledger_updates"]["offset"].to_pylist() == [3, 5, 8]


def follow_idle(seconds: float, gained: int, clock: VirtualClock, store: Path) -> tuple[lf.Network, list[int]]:
    """Follow a ledger whose pages without updates take that long, and return how many segments each page finds."""
    stop, numbers, segment_counts = threading.Event(), count(), []

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/v2/updates/get-updates-page":
            return httpx.Response(404, text="The requested resource could not be found.")
        number = next(numbers)
        start = number * gained
        clock.time += seconds
        segment_counts.append(len(net.store.all_segments()))
        if number == 5:
            stop.set()
        return httpx.Response(200, json=page(start, start + gained))

    net = lf.connect(
        "sandbox", history_url="http://one.invalid", ledger_url="http://one.invalid",
        transport=httpx.MockTransport(respond), store=store, requests_per_second=0,
    )  # fmt: skip
    assert follow(OffsetReader(net, FILTER, 500, False), 0, 0.001, stop) == 6 * gained
    return net, segment_counts


def test_offsets_without_updates_are_committed_from_time_to_time(clock: VirtualClock, tmp_path: Path) -> None:
    net, segment_counts = follow_idle(COMMIT_SECONDS / 2, 10, clock, tmp_path)
    assert segment_counts == [0, 0, 1, 1, 2, 2]
    assert net.store.missing_parts(LEDGER, FILTER.offset_range(0, 60)) == []
    assert all(segment.final and not segment.files for segment in net.store.all_segments()), "offsets alone take no file"


def test_offsets_that_pass_quickly_are_committed_at_the_end(clock: VirtualClock, tmp_path: Path) -> None:
    net, segment_counts = follow_idle(1, 10, clock, tmp_path)
    assert segment_counts == [0] * 6
    assert [segment.extent for segment in net.store.all_segments()] == [FILTER.offset_range(0, 60)]


def test_a_ledger_that_stands_still_commits_nothing(clock: VirtualClock, tmp_path: Path) -> None:
    net, segment_counts = follow_idle(COMMIT_SECONDS / 2, 0, clock, tmp_path)
    assert segment_counts == [0] * 6
    assert net.store.all_segments() == []
