"""Segments in a schema that this version cannot read stay, and are named until their rows were fetched again."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from handmade import rows

import ledgerframes as lf
from ledgerframes import doctor
from ledgerframes.cli import main
from ledgerframes.datasets.registry import DATASETS, EVENTS, LEDGER, PRICE_VOTES, Dataset
from ledgerframes.datasets.schema import INTEGER, Column
from ledgerframes.errors import CoverageError
from ledgerframes.loaders.repair import repair
from ledgerframes.network import Network
from ledgerframes.store import Store
from ledgerframes.store.compact import compact
from ledgerframes.store.prune import prune
from ledgerframes.store.verify import verify
from ledgerframes.values.extents import Extent, Migration, MigrationWindow, Observation, microseconds

WINDOW = {"since": "2026-11-08T06:00:00Z", "until": "2026-11-08T09:00:00Z"}
TOTAL = Column("total", INTEGER, "A column of a later version.")
REASON = "column total of table {} is unknown to this version"


def later(dataset: Dataset) -> Dataset:
    """A dataset as a later version declares it."""
    tables = [replace(table, columns=(*table.columns, TOTAL)) for table in dataset.tables]
    return replace(dataset, tables=tuple(tables))


def put_later(store: Store, dataset: Dataset, extent: Extent, numbers: Sequence[int], table: str) -> None:
    """Commit a segment as a later version does."""
    spec = next(each for each in dataset.tables if each.name == table)
    old = rows(spec, list(numbers))
    other = later(dataset)
    new = next(each for each in other.tables if each.name == table)
    whole = pa.table([*old.columns, pa.array(numbers, INTEGER)], schema=new.schema)
    writer = Store(store.root.uri, store.network, {**DATASETS, dataset.name: other})
    writer.commit(other, extent, {table: whole}, final=True, source="a later version")


@pytest.fixture
def net(tmp_path: Path) -> Network:
    return lf.connect("sandbox", events=400, days=1, store=tmp_path)


def put_votes(net: Network) -> Observation:
    observation = Observation.at(net.now() - timedelta(days=3))
    put_later(net.store, PRICE_VOTES, observation, [observation.start], "price_votes")
    return observation


def put_events(net: Network) -> MigrationWindow:
    since, until = (microseconds(lf.connect("sandbox").now().replace(day=8, hour=hour)) for hour in (6, 9))
    window = MigrationWindow(3, since, until)
    net.store.save_migrations([Migration(3, since)])
    put_later(net.store, EVENTS, window, range(since, since + 5), "updates")
    return window


def test_a_load_names_what_it_lacks(net: Network, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    observation = put_votes(net)
    with caplog.at_level(logging.WARNING, "ledgerframes"):
        votes = lf.load_price_votes(net)
    assert votes["observed_at"].nunique() == 1
    (line,) = [record.getMessage() for record in caplog.records if "segment_unreadable" in record.getMessage()]
    assert f"segment=price_votes {observation} reason={REASON.format('price_votes')}" in line
    frames = lf.Frames(net.store.snapshot(PRICE_VOTES), ["price_votes"])
    assert frames.unreadable == {f"price_votes {observation}": REASON.format("price_votes")}
    assert "1 segment of another version" in repr(frames)
    lf.save_frames(frames, tmp_path / "saved")
    assert lf.open_frames(tmp_path / "saved").unreadable == frames.unreadable


def test_verify_doctor_and_info_name_it(
    net: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    observation, reason = put_votes(net), REASON.format("price_votes")
    (damaged,) = verify(net.store)
    assert (damaged.table, damaged.problem) == ("price_votes", f"other schema: {reason}")
    (catalog,) = [check for check in doctor.check_store(net) if check.subject == "catalog"]
    assert catalog.status == "warning" and str(observation) in catalog.message and reason in catalog.message
    for name, value in {"LEDGERFRAMES_EVENTS": "400", "LEDGERFRAMES_DAYS": "1", "LEDGERFRAMES_STORE": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    assert main(["store", "info", "--json"]) == 0
    (segment,) = json.loads(capsys.readouterr().out)["unreadable"]
    assert segment["dataset"] == "price_votes" and segment["rows"] == 1 and segment["reason"] == reason
    assert main(["store", "info"]) == 0
    shown = capsys.readouterr().out
    assert "no data of this network" not in shown and reason in shown and "Their rows are in no result" in shown
    assert main(["store", "verify"]) == 1
    assert "other schema" in capsys.readouterr().err


def test_it_stays_where_no_service_has_it(net: Network) -> None:
    observation = put_votes(net)
    assert [each.outcome for each in repair(net, verify(net.store))] == ["cannot be fetched again"]
    compact(net.store)
    prune(net.store, min_age=timedelta(0))
    (unreadable,) = net.store.unreadable(PRICE_VOTES)
    assert unreadable.segment.extent == observation
    path = Path(str(net.store.location)) / unreadable.segment.files["price_votes"].path
    assert path.exists()
    assert [each.outcome for each in repair(net, verify(net.store), drop_unrecoverable=True)] == ["dropped"]
    assert verify(net.store) == []


def test_offline_it_is_named_as_missing(net: Network) -> None:
    put_events(net)
    offline = lf.connect("sandbox", events=400, days=1, store=net.store.root.uri, offline=True)
    with pytest.raises(CoverageError, match="offline and a window is not in the store"):
        lf.load_events(offline, **WINDOW)


def test_what_a_service_has_is_fetched_again_and_replaces_it(net: Network, tmp_path_factory: pytest.TempPathFactory) -> None:
    window = put_events(net)
    assert [each.segment.extent for each in net.store.unreadable(EVENTS)] == [window]
    frames = lf.load_events(net, **WINDOW)
    assert frames.unreadable == {} and net.store.unreadable(EVENTS) == [] and verify(net.store) == []
    other = lf.connect("sandbox", events=400, days=1, store=tmp_path_factory.mktemp("other"))
    assert frames.updates.equals(lf.load_events(other, **WINDOW).updates)


def test_a_gap_does_not_replace_rows(net: Network) -> None:
    ledger = lf.load_updates(net, through=10)
    (extent,) = {segment.extent.partition for segment in net.store.segments(LEDGER)}  # type: ignore[union-attr]
    assert len(ledger.ledger_updates)
    offsets = replace(net.store.segments(LEDGER)[-1].extent, start=1000, stop=1010)  # type: ignore[type-var]
    assert offsets.partition == extent  # type: ignore[union-attr]
    put_later(net.store, LEDGER, offsets, range(1001, 1004), "ledger_updates")
    net.store.commit(LEDGER, offsets, {}, final=True, source="", gap=True)
    assert [each.segment.extent for each in net.store.unreadable(LEDGER)] == [offsets]


def test_a_table_that_did_not_exist_is_no_empty_table(net: Network) -> None:
    fewer = replace(EVENTS, tables=EVENTS.tables[:-1])
    window = MigrationWindow(4, 0, 10)
    writer = Store(net.store.root.uri, net.store.network, {**DATASETS, EVENTS.name: fewer})
    writer.commit(fewer, window, {"updates": rows(EVENTS.tables[0], [1, 2])}, final=True, source="an earlier version")
    (unreadable,) = net.store.unreadable(EVENTS)
    assert unreadable.reason == "dataset events had 8 tables, and has 9"
