"""A ledger that is followed meets what the load before it has overcome."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from equality import assert_equal, every_table

import ledgerframes as lf
from ledgerframes.api.response import Response
from ledgerframes.api.transport import in_process
from ledgerframes.api.update_format import update_format
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.loaders import ledger
from ledgerframes.loaders.ledger_filter import open_ledger
from ledgerframes.loaders.ledger_pages import OffsetReader, follow
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


def test_the_page_size_is_that_of_the_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def end_at_once(reader: OffsetReader, after: int, *_: object) -> int:
        sizes.append(reader.page_size)
        return after

    monkeypatch.setattr(ledger, "follow", end_at_once)
    lf.load_updates(lf.connect("sandbox", **WORLD, store=tmp_path), page_size=70, follow=True)
    assert sizes == [70]
