"""DuckDB reads the files of large tables by itself: the same rows as through Arrow, and no other file."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes.engine import DEFAULT_SETTINGS, Query, Relation, run, tables
from ledgerframes.engine.connection import connected
from ledgerframes.engine.file_scan import FileScan
from ledgerframes.engine.literals import quoted
from ledgerframes.errors import IntegrityError, StoreError
from ledgerframes.frames import Frames

pytestmark = pytest.mark.usefixtures("first_loads_copied_in_module")
DAYS = {"since": "2026-11-07", "until": "2026-11-09"}


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read every table as if it were large."""
    monkeypatch.setattr(tables, "MAX_ROWS", -1)


def network(store: Path) -> lf.Network:
    return lf.connect("sandbox", events=600, days=2, store=store)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    return network(tmp_path_factory.mktemp("it's a=b directory"))


@pytest.fixture(scope="module")
def sources(net: lf.Network, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Frames]:
    """Frames of all kinds."""
    frames, directory = lf.load_events(net, **DAYS), tmp_path_factory.mktemp("saved")
    lf.save_frames(frames, directory)
    return {
        "window": frames,
        "part of the window": frames.between("2026-11-07T05:00:00Z", "2026-11-08T17:30:00Z"),
        "ids": frames.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED"),
        "no ids": frames.where("traffic", lambda rows: rows["total_traffic_cost"] < 0, columns=["total_traffic_cost"]),
        "saved": lf.open_frames(directory),
        "by id": lf.load_events(net, update_ids=frames.updates["update_id"].head(5).tolist()),
        "ledger": lf.load_updates(net),
        "offsets": lf.load_updates(net, after=1_000, through=500_000),
    }


SOURCES = ("window", "part of the window", "ids", "no ids", "saved", "by id", "ledger", "offsets")


@pytest.mark.parametrize("name", SOURCES)
def test_the_rows_are_those_of_the_frames(name: str, sources: dict[str, Frames]) -> None:
    frames, scanned = sources[name], set()
    for table in frames.tables:
        scan = frames._file_scan(table)
        if scan is None:
            assert not frames.count_rows(table)
            continue
        scanned.add(table)
        with connected(DEFAULT_SETTINGS, frozenset({scan.directory})) as connection:
            scan.create_view(connection, table)
            rows = connection.sql(f"FROM {table}").to_arrow_table()
        expected = frames.scan(table).to_table()
        assert rows.column_names == expected.column_names
        assert sorted(map(str, rows.to_pylist())) == sorted(map(str, expected.to_pylist()))
    assert scanned


def test_second_verdicts_and_chosen_ids_are_left_out_or_in(sources: dict[str, Frames]) -> None:
    whole, ids = sources["window"]._file_scan("verdicts"), sources["ids"]._file_scan("verdicts")
    assert whole and whole.left_out is not None and whole.update_ids is None
    assert ids and ids.update_ids is not None and ids.update_ids.num_rows


@pytest.mark.usefixtures("all_large")
def test_a_figure_reads_files_of_several_stores(sources: dict[str, Frames], tmp_path: Path) -> None:
    other = lf.load_events(network(tmp_path), **DAYS)
    shown = lf.reconcile.nodes(sources["saved"], b=other)
    assert shown["equal"].sum() > 0
    assert shown["different"].sum() == 0


def test_a_query_reads_no_file_elsewhere(sources: dict[str, Frames], tmp_path: Path) -> None:
    path = tmp_path / "secret.parquet"
    pd.DataFrame({"secret": [1]}).to_parquet(path)
    scan = sources["window"]._file_scan("verdicts")
    assert scan
    with connected(DEFAULT_SETTINGS, frozenset({scan.directory})) as connection:
        for text in (f"FROM '{path}'", "FROM glob('/*')", "SET enable_external_access = true"):
            with pytest.raises(duckdb.Error, match=r"disabled by configuration|Cannot enable"):
                connection.sql(text).fetchall()
        assert connection.sql(f"SELECT count(*) FROM {quoted(scan.paths[0])}").fetchall()


def test_a_path_that_duckdb_takes_for_a_pattern_is_read_through_arrow(tmp_path: Path) -> None:
    frames = lf.load_events(network(tmp_path / "store [1]"), **DAYS)
    assert frames._file_scan("verdicts") is None
    assert lf.cost.spend(frames)["requests"].sum() > 0


def largest_file(net: lf.Network, table: str) -> Path:
    """Return the largest file of a table, which can then be changed."""
    assert net.store.location.local_path
    path = max((net.store.location.local_path / table).glob("*.parquet"), key=lambda each: each.stat().st_size)
    path.chmod(0o600)
    return path


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize(("table", "column"), every_nth([("traffic", "total_traffic_cost"), ("verdicts", "record_time")], 2))
def test_each_changed_byte_is_damage(table: str, column: str, tmp_path: Path) -> None:
    net = network(tmp_path)
    before = lf.cost.spend(lf.load_events(net, **DAYS))
    path = largest_file(net, table)
    content, group = path.read_bytes(), pq.ParquetFile(path).metadata.row_group(0)
    (start,) = (each.data_page_offset for each in map(group.column, range(group.num_columns)) if each.path_in_schema == column)
    for place in (start, start + 7, start + 60, len(content) // 2):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(StoreError, match=r"A file of table .* is damaged \(.*is not the file in the catalog\)\. Run"):
            lf.cost.spend(lf.load_events(net, **DAYS))
    path.write_bytes(content)
    pd.testing.assert_frame_equal(lf.cost.spend(lf.load_events(net, **DAYS)), before)


@pytest.mark.usefixtures("all_large")
def test_a_file_is_compared_once_and_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = network(tmp_path)
    frames = lf.load_events(net, **DAYS)
    lf.cost.spend(frames)
    path = largest_file(net, "traffic")
    content, times = path.read_bytes(), path.stat()
    with monkeypatch.context() as patch:
        patch.setattr("ledgerframes.store.whole_files.digest_of", lambda path: pytest.fail(f"{path} is compared again"))
        lf.cost.spend(lf.load_events(net, **DAYS))
    path.write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    with pytest.raises(StoreError, match="is not the file in the catalog"):
        lf.cost.spend(frames.between("2026-11-07", "2026-11-08"))


@pytest.mark.usefixtures("all_large")
def test_a_lost_file_says_what_to_do(tmp_path: Path) -> None:
    net = network(tmp_path)
    frames = lf.load_events(net, **DAYS)
    largest_file(net, "traffic").unlink()
    with pytest.raises(StoreError, match=r"was pruned or lost.*Load again"):
        lf.cost.spend(frames)


def test_a_file_that_is_lost_during_a_query_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = lf.load_events(network(tmp_path), **DAYS)
    scan = frames._file_scan("traffic")
    assert scan
    lost = FileScan(scan.directory, [f"{scan.directory}/traffic/lost.parquet"])
    monkeypatch.setattr("ledgerframes.engine.query.table_rows", lambda *_: lost)
    costs = Relation("costs", "One row per cost.", "FROM traffic", ("traffic",))
    with pytest.raises(StoreError, match=r"table traffic was pruned or lost: .*lost\.parquet.*Load again"):
        run(frames, Query("FROM costs", (costs,)))


@pytest.mark.usefixtures("all_large")
def test_saved_frames_that_are_replaced_are_refused(tmp_path: Path, sources: dict[str, Frames]) -> None:
    lf.save_frames(sources["window"], tmp_path)
    opened = lf.open_frames(tmp_path)
    lf.save_frames(sources["ids"], tmp_path)
    with pytest.raises(IntegrityError, match="was replaced after these frames were opened"):
        lf.cost.spend(opened)
