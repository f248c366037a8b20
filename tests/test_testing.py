"""What `ledgerframes.testing` makes is valid, deterministic, and easy to change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.datasets import Table
from ledgerframes.errors import UsageError
from ledgerframes.values.windows import Window


@pytest.mark.parametrize("spec", lf.TABLES.values(), ids=lambda spec: spec.name)
@pytest.mark.parametrize("count", [0, 1, 50])
def test_samples_of_every_table_are_valid(spec: Table, count: int) -> None:
    rows = testing.table(spec.name).sample_arrow(count)
    rows.validate(full=True)
    assert rows.schema.equals(spec.schema, check_metadata=True)
    assert rows.num_rows == len(rows.select(list(spec.key)).group_by(list(spec.key)).aggregate([])) == count
    assert rows.equals(testing.table(spec.name).sample_arrow(count))
    pd.testing.assert_series_equal(testing.table(spec.name).sample(count).dtypes, spec.empty().dtypes)
    for column in spec.columns:
        if column.values:
            assert set(rows[column.name].to_pylist()) <= set(column.values)
        if column.name in ("record_time", "offset"):
            assert rows[column.name].to_pylist() == sorted(rows[column.name].to_pylist())


def test_columns_may_be_one_value_a_list_or_a_function() -> None:
    made = testing.table("verdicts").sample(
        3,
        verdict_result="VERDICT_RESULT_REJECTED",
        record_time=lambda row: testing.START + timedelta(hours=row),
        view_count=[5, 6, 7],
        submitting_parties=["alice", "bob"],
        root_views=[[0], [], [1, 2]],
        finalization_time=pd.Series(pd.date_range("2026-11-08", periods=3, tz="UTC", unit="us")),
    )
    assert made["verdict_result"].tolist() == ["VERDICT_RESULT_REJECTED"] * 3
    assert made["record_time"][2] == pd.Timestamp("2026-11-08T02:00Z")
    assert made["view_count"].tolist() == [5, 6, 7]
    assert [list(parties) for parties in made["submitting_parties"]] == [["alice", "bob"]] * 3
    assert [list(views) for views in made["root_views"]] == [[0], [], [1, 2]]
    assert made["finalization_time"][1] == pd.Timestamp("2026-11-09", tz="UTC")


def test_rows_follow_from_their_numbers() -> None:
    traffic = testing.table("traffic")
    assert traffic.sample_arrow([3, 1]).equals(traffic.sample_arrow(4).take(pa.array([3, 1])))


def test_numbers_of_rows_may_be_those_of_numpy() -> None:
    traffic = testing.table("traffic")
    assert traffic.sample_arrow(np.int64(2)).equals(traffic.sample_arrow(np.arange(2)))
    assert traffic.sample_arrow(2).equals(traffic.sample_arrow(np.arange(2)))


def test_rows_that_are_written_out_are_filled() -> None:
    rows = testing.table("verdicts").fill([{"update_id": "a", "view_count": 3}, {"update_id": "b", "submitting_parties": []}])
    assert rows["update_id"].to_pylist() == ["a", "b"]
    assert rows["view_count"].to_pylist() == [3, 1]
    assert rows["submitting_parties"].to_pylist() == [None, []]


def test_frames_of_any_kind_of_rows() -> None:
    traffic = testing.table("traffic").sample(4)
    window = Window(datetime(2026, 11, 8, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC))
    frames = testing.frames_of(
        traffic=traffic,
        verdicts=testing.table("verdicts").sample_arrow(4),
        updates=[{"update_id": "a"}],
        window=window,
        coverage=[{"status": "final", "rows": 9}],
    )
    pd.testing.assert_frame_equal(frames.traffic, traffic)
    pd.testing.assert_frame_equal(frames.verdicts, testing.table("verdicts").sample(4))
    assert (len(frames.updates), len(frames.views)) == (1, 0)
    assert (frames.window, frames.network) == (window, "test")
    assert frames.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED").count_rows("traffic") == 1
    assert testing.frames_of(coverage=[{"rows": 9}]).coverage["rows"].tolist() == [9]


@pytest.mark.parametrize("spec", lf.TABLES.values(), ids=lambda spec: spec.name)
def test_frames_give_back_the_data_frames_they_are_made_of(spec: Table) -> None:
    rows = testing.table(spec.name).sample(5)
    again = testing.frames_of(**{spec.name: rows}).read(spec.name)
    pd.testing.assert_frame_equal(
        again.sort_values(list(spec.key), ignore_index=True), rows.sort_values(list(spec.key), ignore_index=True)
    )


@pytest.mark.parametrize("name", ["traffic", "verdicts"])
def test_arrow_tables_have_any_order_and_may_lack_nullable_columns(name: str) -> None:
    rows = testing.table(name).sample_arrow(3)
    reordered = rows.select(rows.column_names[::-1])
    pd.testing.assert_frame_equal(testing.frames_of(**{name: reordered}).read(name), testing.table(name).sample(3))
    assert testing.frames_of(**{name: rows.drop_columns(["extra"])}).read(name)["extra"].isna().all()


def test_a_small_network_is_a_network(tmp_path: Path) -> None:
    with testing.small_network(tmp_path) as net:
        frames = lf.load_events(net, during="2026-11-08")
        assert len(frames.verdicts) > 300


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda: testing.table("trafic"), "Unknown table 'trafic'"),
        (lambda: testing.table("traffic").sample(1, cost=1), "Unknown column 'cost'"),
        (lambda: testing.table("traffic").fill([{"cost": 1}]), "Unknown column 'cost'"),
        (lambda: testing.table("traffic").sample(2, update_id=["a"]), "must have 2 values, got 1"),
        (lambda: testing.frames_of(trafic=[]), "Unknown table 'trafic'"),
        (lambda: testing.frames_of(traffic=pd.DataFrame({"cost": [1]})), "Unknown column 'cost'"),
        (lambda: testing.frames_of(traffic=pa.table({"cost": [1]})), "Unknown column 'cost'"),
    ],
)  # fmt: skip
def test_unknown_names_are_usage_errors(wrong, reason) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=reason):
        wrong()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: testing.table("traffic").sample(2, total_traffic_cost=1.5), "total_traffic_cost= must be values of type int64"),
        (lambda: testing.table("traffic").sample(1, total_traffic_cost=Decimal("-1.5")), "-1.5 is no integer"),
        (
            lambda: testing.table("traffic").sample(1, record_time=np.datetime64("2026-11-08T00:00")),
            "record_time= must be a time",
        ),
        (lambda: testing.table("traffic").sample(1, record_time=[5j]), "record_time= must be values of type timestamp"),
        (lambda: testing.frames_of(traffic=None), "rows of traffic must be a list of mappings, got None"),
        (lambda: testing.frames_of(traffic="abc"), "rows of traffic must be a list of mappings, got 'abc'"),
        (lambda: testing.frames_of(population="some"), "Unknown population 'some'. Choose from all, chosen, committed"),
        (lambda: testing.table("traffic").sample(2, total_traffic_cost="a"), "total_traffic_cost= must be values of type int64"),
        (
            lambda: testing.table("traffic").sample(1, total_traffic_cost=2**70),
            "total_traffic_cost= must be values of type int64",
        ),
        (lambda: testing.table("traffic").sample(1, update_id=5), "update_id= must be values of type string"),
        (
            lambda: testing.table("traffic").fill([{"total_traffic_cost": 0.5}]),
            "total_traffic_cost= must be values of type int64",
        ),
        (lambda: testing.table("traffic").fill({"update_id": "a"}), "rows of traffic must be a list of mappings"),
        (lambda: testing.frames_of(traffic=costs([1.5])), "total_traffic_cost= must be values of type int64"),
        (lambda: testing.frames_of(price_votes=prices([0.1])), "price= must be values of type decimal.*, got floats"),
        (lambda: testing.frames_of(traffic=traffic_at(LOCAL)), "record_time= has times without a time zone"),
        (lambda: testing.frames_of(traffic=traffic_at(NANOSECOND)), "record_time= must be values of type timestamp"),
        (lambda: testing.frames_of(traffic=[{"record_time": LOCAL}]), "record_time=2026-11-08T00:00:00 has no time zone"),
        (lambda: testing.table("traffic").sample(1, record_time=NANOSECOND), "has nanoseconds"),
        (lambda: testing.table("traffic").sample(2, total_traffic_cost=None), "total_traffic_cost= .* cannot be missing"),
        (lambda: testing.table("traffic").fill([{"total_traffic_cost": None}]), "total_traffic_cost= .* cannot be missing"),
        (lambda: testing.table("traffic").sample(2.0), "rows must be a number of rows, or a list of their numbers, got 2.0"),
        (lambda: testing.table("traffic").sample("ab"), "rows must be a number of rows"),
    ],
)
def test_a_value_of_another_type_is_refused(make: Callable[[], object], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        make()


LOCAL, NANOSECOND = pd.Timestamp("2026-11-08"), pd.Timestamp("2026-11-08T00:00:00.000000001Z")


def prices(values: list[float]) -> pd.DataFrame:
    return testing.table("price_votes").sample(len(values)).assign(price=values)


def traffic_at(time: pd.Timestamp) -> pd.DataFrame:
    return testing.table("traffic").sample(1).assign(record_time=pd.Series([time]))


def costs(values: list[float]) -> pd.DataFrame:
    return testing.table("traffic").sample(len(values)).assign(total_traffic_cost=values)
