"""Other engines read the same rows from the same files: each gives pandas' own sum."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes import export
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.events.schema import TRAFFIC
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.store import scan

MORNING = datetime(2026, 11, 8, 6, tzinfo=UTC), datetime(2026, 11, 8, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    """A day in several segments."""
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path_factory.mktemp("store"))
    for until in ("2026-11-08T05:00:00Z", "2026-11-08T09:00:00Z", "2026-11-09"):
        lf.load_events(net, since="2026-11-08", until=until)
    return net


@pytest.fixture(scope="module")
def frames(net: lf.Network) -> lf.Frames:
    frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    assert len(frames.coverage) > 2
    return frames


@pytest.fixture(params=["whole", "morning"])
def narrowed(request: pytest.FixtureRequest, frames: lf.Frames) -> lf.Frames:
    """All of it; and frames that end in the middle of files."""
    return frames if request.param == "whole" else frames.between(*MORNING)


def by_result(frames: lf.Frames) -> dict[str, int]:
    """pandas' own sum of traffic, by result of the verdict."""
    both = frames.verdicts.merge(frames.traffic, on="update_id")
    sums = both.groupby("verdict_result", observed=True)["total_traffic_cost"].sum()
    return {str(result): int(cost) for result, cost in sums.items()}


# -- the same sum -------------------------------------------------------------------------------------------------


def test_the_narrowed_frames_are_a_part(frames: lf.Frames) -> None:
    assert 0 < len(frames.between(*MORNING).traffic) < len(frames.traffic)


def test_polars(narrowed: lf.Frames) -> None:
    import polars as pl

    traffic = pl.scan_pyarrow_dataset(narrowed.scan("traffic"))
    assert traffic.select(pl.col("total_traffic_cost").sum()).collect().item() == narrowed.traffic["total_traffic_cost"].sum()
    verdicts = pl.scan_pyarrow_dataset(narrowed.scan("verdicts")).select("update_id", "verdict_result")
    sums = verdicts.join(traffic, on="update_id").group_by("verdict_result").agg(pl.col("total_traffic_cost").sum()).collect()
    assert dict(sums.rows()) == by_result(narrowed)


def test_duckdb(net: lf.Network, narrowed: lf.Frames) -> None:
    assert narrowed.window is not None
    window = {"since": narrowed.window.since, "until": narrowed.window.until}
    query = "select verdict_result, sum(total_traffic_cost) as cost from verdicts join traffic using (update_id) group by all"
    sums = lf.sql(net, query, **window)
    assert dict(zip(sums["verdict_result"], sums["cost"], strict=True)) == by_result(narrowed)


def test_duckdb_of_one_s_own(narrowed: lf.Frames) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("traffic", narrowed.scan("traffic"))
        everything = connection.sql("select sum(total_traffic_cost) from traffic").fetchall()
        some = connection.sql("select count(*) from traffic where envelope_count > 2").fetchall()
    assert everything == [(narrowed.traffic["total_traffic_cost"].sum(),)]
    assert some == [((narrowed.traffic["envelope_count"] > 2).sum(),)]


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_dask(narrowed: lf.Frames, scheduler: str) -> None:
    import dask
    import dask.dataframe as dd

    assert narrowed.window is not None
    edges = pd.date_range(narrowed.window.since, narrowed.window.until, periods=5)
    with dask.config.set({"scheduler": scheduler, "dataframe.convert-string": False}):
        traffic = dd.from_map(lambda since, until: narrowed.between(since, until).traffic, edges[:-1], edges[1:])
        assert traffic.npartitions == 4
        assert traffic["total_traffic_cost"].sum().compute() == narrowed.traffic["total_traffic_cost"].sum()
        rows = traffic.compute().sort_values(list(TRAFFIC.sort), ignore_index=True)  # two migrations overlap in time
    pd.testing.assert_frame_equal(rows, narrowed.traffic)


def test_frames_travel_to_workers(narrowed: lf.Frames) -> None:
    """What Dask and Spark send to their workers is the plan, not the rows."""
    import cloudpickle

    sent = cloudpickle.dumps(narrowed.between(*MORNING))
    assert narrowed.traffic["update_id"].iloc[0].encode() not in sent
    pd.testing.assert_frame_equal(cloudpickle.loads(sent).traffic, narrowed.between(*MORNING).traffic)


def test_batches(narrowed: lf.Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BATCH_ROWS", 10)
    for table in narrowed.tables:
        batches = list(narrowed.iter_batches(table))
        assert all(batch.num_rows <= 10 for batch in batches)
        rows = pa.Table.from_batches(batches, TABLES[table].schema)
        pd.testing.assert_frame_equal(TABLES[table].to_pandas(rows), narrowed.read(table), obj=table)
    columns = ["total_traffic_cost", "update_id"]
    assert {tuple(batch.schema.names) for batch in narrowed.iter_batches("traffic", columns)} == {tuple(columns)}


def test_batches_of_frames_in_a_folder_and_by_id(net: lf.Network, frames: lf.Frames, tmp_path: Path) -> None:
    lf.save_frames(frames, tmp_path)
    by_id = lf.load_events(net, update_ids=frames.verdicts["update_id"].head(5))
    for each in (lf.open_frames(tmp_path), by_id, frames.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED")):
        rows = pa.Table.from_batches(each.iter_batches("verdicts"))
        assert 0 < rows.num_rows == len(each.verdicts)
        assert set(rows["update_id"].to_pylist()) == set(each.verdicts["update_id"])


def test_batches_of_what_is_not_there(frames: lf.Frames) -> None:
    with pytest.raises(UsageError, match="no table 'trafic'"):
        next(frames.iter_batches("trafic"))
    with pytest.raises(UsageError, match="Unknown column 'cost'"):
        next(frames.iter_batches("traffic", ["cost"]))


def test_parquet_for_engines_that_read_files(narrowed: lf.Frames, tmp_path: Path) -> None:
    """What Spark is told to read in the docs; here read by what is installed."""
    export.write_table(narrowed, "traffic", tmp_path / "traffic.parquet")
    file = pq.ParquetFile(tmp_path / "traffic.parquet")
    kinds = {column.name: str(column.logical_type) for column in (file.schema.column(i) for i in range(len(file.schema.names)))}
    assert "isAdjustedToUTC=true, timeUnit=microseconds" in kinds["record_time"]
    assert kinds["update_id"] == "String"
    assert pc.sum(file.read()["total_traffic_cost"]).as_py() == narrowed.traffic["total_traffic_cost"].sum()


# -- pushed down --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    """A day whose early files cannot be read: who opens them fails."""
    store = tmp_path_factory.mktemp("damaged")
    settings = {"max_concurrency": 4, "min_merged_segments": 1_000}  # several files in five hours
    net = lf.connect("sandbox", events=400, days=1, store=store, **settings)
    for until in ("2026-11-08T05:00:00Z", "2026-11-09"):
        lf.load_events(net, since="2026-11-08", until=until)
    early = sorted(store.rglob("traffic/m3_20261108T0[1-3]*.parquet"))
    assert len(early) == 3
    for file in early:
        file.write_bytes(bytes(1000))
    return net


LATE = datetime(2026, 11, 8, 12, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def late(damaged: lf.Network, frames: lf.Frames) -> int:
    """What pandas sums of the late hours."""
    with pytest.raises(StoreError, match="damaged"):
        lf.load_traffic(damaged, since="2026-11-08", until="2026-11-09")
    return int(frames.between(*LATE).traffic["total_traffic_cost"].sum())


def test_polars_opens_only_what_it_needs(damaged: lf.Network, late: int) -> None:
    import polars as pl

    rows = pl.scan_pyarrow_dataset(lf.load_events(damaged, since="2026-11-08", until="2026-11-09").scan("traffic"))
    asked = rows.filter(pl.col("record_time") >= LATE[0]).select(pl.col("total_traffic_cost").sum())
    assert f"PROJECT 2/{len(lf.table('traffic').columns)} COLUMNS" in asked.explain()
    assert asked.collect().item() == late


def test_duckdb_opens_only_what_it_needs(damaged: lf.Network, late: int) -> None:
    total = "select sum(total_traffic_cost) as cost from traffic"
    assert lf.sql(damaged, total, since=LATE[0], until=LATE[1])["cost"][0] == late
    assert lf.sql(damaged, f"{total} where record_time >= '2026-11-08 12:00:00'")["cost"][0] == late


def test_dask_opens_only_what_it_needs(damaged: lf.Network, late: int) -> None:
    import dask.dataframe as dd

    frames = lf.load_events(damaged, since="2026-11-08", until="2026-11-09")
    edges = pd.date_range(*LATE, periods=3)
    traffic = dd.from_map(lambda since, until: frames.between(since, until).traffic, edges[:-1], edges[1:], meta=TRAFFIC.empty())
    assert traffic["total_traffic_cost"].sum().compute(scheduler="synchronous") == late


def test_batches_open_only_what_they_need(damaged: lf.Network, late: int) -> None:
    frames = lf.load_events(damaged, since="2026-11-08", until="2026-11-09")
    costs = [pc.sum(batch["total_traffic_cost"]).as_py() or 0 for batch in frames.between(*LATE).iter_batches("traffic")]
    assert sum(costs) == late
    with pytest.raises(StoreError, match=r"traffic of .* is damaged"):
        list(frames.iter_batches("traffic"))
