"""What an export takes from the store: what a loader gives, and never less than was asked without saying so."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import export
from ledgerframes.datasets import EVENT_TABLES
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.values.extents import MigrationWindow, from_microseconds

DAY = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.mark.parametrize("table", [table.name for table in EVENT_TABLES])
def test_stored_is_what_the_loader_gives(net: lf.Network, frames: lf.Frames, table: str) -> None:
    before = net.request_count
    pd.testing.assert_frame_equal(export.from_store(net, table, **DAY).read(table), frames.read(table))
    pd.testing.assert_frame_equal(export.from_store(net, table).read(table), frames.read(table))
    assert net.request_count == before


def test_a_partial_window_is_refused_unless_allowed(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    morning = {"since": "2026-11-08", "until": "2026-11-08T12:00:00Z"}
    held = lf.load_events(net, **morning)
    with pytest.raises(CoverageError, match="Not in the store") as refused:
        export.from_store(net, "traffic", **DAY)
    assert "2026-11-08T12:00:00" in refused.value.missing[0]
    pd.testing.assert_frame_equal(export.from_store(net, "traffic", **DAY, allow_partial=True).traffic, held.traffic)
    pd.testing.assert_frame_equal(export.from_store(net, "traffic", **morning).traffic, held.traffic)


def test_a_window_is_refused_without_known_migrations(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    net.store.commit(EVENTS, MigrationWindow(4, 0, 10), {}, final=True, source="test")
    with pytest.raises(CoverageError, match="Not in the store"):
        export.from_store(net, "traffic", since=from_microseconds(0), until=from_microseconds(10) + timedelta(days=1))


def test_an_empty_store_is_not_an_empty_table(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "nothing")
    for asked in ({}, DAY):
        with pytest.raises(CoverageError, match=r"Table traffic of .* is not in the store"):
            export.from_store(net, "traffic", **asked)
        assert export.from_store(net, "traffic", **asked, allow_partial=True).traffic.empty
    assert not (tmp_path / "nothing").exists(), "reading creates nothing"


def test_what_was_not_read_by_record_time_has_no_complete_range(net: lf.Network, frames: lf.Frames, tmp_path: Path) -> None:
    whole = export.from_store(net, "ledger_updates")
    assert len(whole.ledger_updates) > 0
    with pytest.raises(CoverageError, match="does not record whether"):
        export.from_store(net, "ledger_updates", **DAY)
    part = export.from_store(net, "ledger_updates", **DAY, allow_partial=True).ledger_updates
    since, until = (pd.Timestamp(time, tz="UTC") for time in DAY.values())
    inside = whole.ledger_updates["record_time"].between(since, until, inclusive="left")
    assert len(part) == inside.sum() > 0
    by_id = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    lf.load_events(by_id, update_ids=frames.verdicts["update_id"].head(2))
    assert len(export.from_store(by_id, "verdicts").verdicts) == 2
    with pytest.raises(CoverageError, match="was read from events_by_id"):
        export.from_store(by_id, "verdicts", **DAY)


def test_a_dataset_can_be_named_and_one_that_covers_the_window_is_suggested(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    lf.load_events(net, since="2026-11-08", until="2026-11-08T12:00:00Z")
    bulk = lf.load_bulk(net, **DAY)
    with pytest.raises(CoverageError, match=r"Read bulk\.updates, which covers it"):
        export.from_store(net, "updates", **DAY)
    pd.testing.assert_frame_equal(export.from_store(net, "bulk.updates", **DAY).updates, bulk.updates)
    with pytest.raises(CoverageError, match=r"Not in the store: 2026-11-09T.*sync bulk`") as refused:
        export.from_store(net, "bulk.updates", since="2026-11-08", until="2027-02-01")
    assert "which covers it" not in str(refused.value)
    with pytest.raises(CoverageError, match=r"Table bulk_by_key\.updates of .* is not in the store"):
        export.from_store(net, "bulk_by_key.updates")


def test_objects_loaded_by_key_do_not_cover_a_window(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    keys = lf.plan(lf.load_bulk, net, **DAY)["object_key"].head(1)
    lf.load_bulk(net, object_keys=keys)
    with pytest.raises(CoverageError, match="does not record whether"):
        export.from_store(net, "updates", **DAY)
    assert len(export.from_store(net, "bulk_by_key.updates").updates) > 0


@pytest.mark.parametrize(
    ("table", "asked", "reason"),
    [
        ("events.ledger_updates", {}, "Choose from ledger.ledger_updates"),
        ("nothing.traffic", {}, "Unknown table 'nothing.traffic'"),
        ("bulk.trafic", {}, "Unknown table 'trafic'"),
        ("trafic", {}, "Unknown table 'trafic'"),
        ("completions", {}, "Unknown table 'completions'"),
        ("price_votes", DAY, "no record_time"),
        ("traffic", {"since": "2026-11-09", "until": "2026-11-08"}, "must be before"),
        ("traffic", {"during": "tomorow"}, "Unknown during="),
    ],
)
def test_invalid_arguments_are_refused(net: lf.Network, table: str, asked: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=re.escape(reason)):
        export.from_store(net, table, **asked)  # type: ignore[arg-type]
