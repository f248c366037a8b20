"""Questions in SQL: the same values and dtypes as loaders, exact, over the committed segments only."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes import export, testing
from ledgerframes.datasets import EVENT_TABLES, LEDGER_TABLES, TABLES
from ledgerframes.datasets.registry import EVENTS, EVENTS_BY_ID, STORED_TABLES
from ledgerframes.engine.views import RELATIONS
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.store import Store, StoreSnapshot
from ledgerframes.values.extents import IdSet, MigrationWindow, from_microseconds

DAY = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.fixture(scope="module")
def net(net: lf.Network) -> lf.Network:
    """A network of which the store holds a day by range, some events by id, a ledger and a snapshot of votes."""
    lf.load_events(net, update_ids=lf.load_events(net, **DAY).verdicts["update_id"].head(5))
    return net


def ordered(table: str) -> str:
    columns = ", ".join(f'"{name}"' for name in TABLES[table.rpartition(".")[2]].sort)  # offset is a word of SQL
    return f"select * from {table} order by {columns}"


# -- the same as loaders ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [table.name for table in EVENT_TABLES])
def test_a_whole_table_is_what_the_loader_gives(net: lf.Network, frames: lf.Frames, table: str) -> None:
    assert len(frames.read(table)) or table in ("reassignments",)
    pd.testing.assert_frame_equal(lf.sql(net, ordered(table)), frames.read(table))
    pd.testing.assert_frame_equal(lf.sql(net, ordered(f"events.{table}")), frames.read(table))


@pytest.mark.parametrize("table", [table.name for table in LEDGER_TABLES])
def test_a_ledger_table_is_what_the_loader_gives(net: lf.Network, table: str) -> None:
    pd.testing.assert_frame_equal(lf.sql(net, ordered(table)), lf.load_updates(net).read(table))


def test_price_votes_are_what_the_loader_gives(net: lf.Network) -> None:
    votes = lf.sql(net, ordered("price_votes"))
    assert len(votes) > 0
    pd.testing.assert_frame_equal(votes, lf.load_price_votes(net).head(len(votes)))


def test_some_columns_are_what_the_loader_gives(net: lf.Network) -> None:
    loaded = lf.load_traffic(net, **DAY, columns=["update_id", "envelope_count"])
    asked = lf.sql(net, "select update_id, envelope_count from traffic order by migration_id, record_time, update_id")
    pd.testing.assert_frame_equal(asked, loaded)


def test_a_range_narrows_like_a_loader(net: lf.Network, frames: lf.Frames) -> None:
    hours = {"since": "2026-11-08T06:00:00Z", "until": "2026-11-08T12:00:00Z"}
    narrowed = frames.between(*hours.values())
    for table in ("updates", "traffic"):
        assert 0 < len(narrowed.read(table)) < len(frames.read(table))
        pd.testing.assert_frame_equal(lf.sql(net, ordered(table), **hours), narrowed.read(table))
    pd.testing.assert_frame_equal(lf.sql(net, ordered("traffic"), during="2026-11-08"), frames.traffic)


def test_a_range_leaves_tables_without_record_time_whole(net: lf.Network) -> None:
    count = "select count(*) as rows from price_votes"
    assert lf.sql(net, count, during="2020")["rows"][0] == lf.sql(net, count)["rows"][0] > 0


def test_no_request_is_made(net: lf.Network) -> None:
    before = net.request_count
    lf.sql(net, "select * from traffic", since="2020-01-01", until="2030-01-01")
    assert net.request_count == before


def test_an_empty_store_has_every_table(tmp_path: Path) -> None:
    empty = lf.connect("sandbox", events=400, days=1, store=tmp_path / "nothing")
    for table in (*EVENT_TABLES, *LEDGER_TABLES):
        pd.testing.assert_frame_equal(lf.sql(empty, ordered(table.name)), table.empty())
    assert not (tmp_path / "nothing").exists(), "reading creates nothing"


# -- exact --------------------------------------------------------------------------------------------------------


def traffic_rows(costs: list[int]) -> pa.Table:
    """Traffic with these costs, one a microsecond."""
    columns = {"record_time": from_microseconds, "update_id": lambda time: f"id{time}", "total_traffic_cost": costs}
    return testing.table("traffic").sample_arrow(len(costs), **columns, migration_id=0)


def store_with_costs(net: lf.Network, costs: list[int]) -> None:
    net.store.commit(EVENTS, MigrationWindow(0, 0, len(costs)), {"traffic": traffic_rows(costs)}, final=True, source="test")


def test_sums_stay_integers_and_exact(net: lf.Network, frames: lf.Frames) -> None:
    answer = lf.sql(net, "select sum(total_traffic_cost) as total, count(*) as rows, sum(envelope_count) as e from traffic")
    assert [str(dtype) for dtype in answer.dtypes] == ["Int64", "Int64", "Int64"]
    assert answer["total"][0] == frames.traffic["total_traffic_cost"].sum()


def test_a_sum_past_2_to_the_53_loses_nothing(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    store_with_costs(net, [2**53, 1])
    assert lf.sql(net, "select sum(total_traffic_cost) as total from traffic")["total"].tolist() == [2**53 + 1]


def test_a_sum_past_an_int64_is_an_exact_decimal(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    store_with_costs(net, [2**63 - 1, 2**63 - 1, 3])
    total = lf.sql(net, "select sum(total_traffic_cost) as total from traffic")["total"]
    assert str(total.dtype) == "decimal128(38, 0)[pyarrow]"
    assert total[0] == Decimal(2**64 + 1)


def test_amounts_stay_decimals(net: lf.Network) -> None:
    votes = lf.load_price_votes(net)["price"].dropna()
    answer = lf.sql(net, "select sum(price) as price, max(price) * 2 as twice from price_votes")
    assert str(answer["price"].dtype) == "decimal128(38, 10)[pyarrow]"
    assert answer["price"][0] == sum(votes, Decimal(0))
    assert answer["twice"][0] == 2 * max(votes)


def test_a_sum_over_nothing_is_missing(net: lf.Network) -> None:
    answer = lf.sql(net, "select sum(total_traffic_cost) as total_traffic_cost from traffic where false")
    assert str(answer["total_traffic_cost"].dtype) == "Int64"
    assert answer["total_traffic_cost"][0] is pd.NA


# -- dtypes -------------------------------------------------------------------------------------------------------


VALUES = [
    ("1::tinyint", "Int32", 1),
    ("1::usmallint", "Int32", 1),
    ("1::uinteger", "Int64", 1),
    ("18446744073709551615::ubigint", "decimal128(38, 0)[pyarrow]", Decimal(2**64 - 1)),
    ("170141183460469231731687303715884105727::hugeint", "decimal128(38, 0)[pyarrow]", Decimal(2**127 - 1)),
    ("1.5", "decimal128(2, 1)[pyarrow]", Decimal("1.5")),
    ("true", "boolean", True),
    ("'ü'", "str", "ü"),
    ("'a'::enum('a', 'b')", "str", "a"),
    ("timestamptz '2026-11-08 01:00:00.000001+01'", "datetime64[us, UTC]", pd.Timestamp("2026-11-08T00:00:00.000001Z")),
    ("timestamp '2026-11-08 01:00:00'", "datetime64[us]", pd.Timestamp("2026-11-08T01:00:00")),
    ("date '2026-11-08'", "date32[day][pyarrow]", datetime.date(2026, 11, 8)),
    ("0.5::double", "double[pyarrow]", 0.5),
    ("['a', 'b']", "list<l: string>[pyarrow]", ["a", "b"]),
]


def test_values_of_its_own(net: lf.Network) -> None:
    columns = ", ".join(f"{expression} as x{number}" for number, (expression, _, _) in enumerate(VALUES))
    answer = lf.sql(net, f"select {columns}")
    assert [(str(dtype), answer[name].tolist()) for name, dtype in answer.dtypes.items()] == [
        (dtype, [value]) for _, dtype, value in VALUES
    ]


def test_no_column_is_object(net: lf.Network) -> None:
    for table in (*EVENT_TABLES, *LEDGER_TABLES):
        assert not [dtype for dtype in lf.sql(net, f"select * from {table.name} limit 3").dtypes if dtype == np.dtype("O")]


def test_a_join_that_misses_makes_integers_nullable(net: lf.Network, frames: lf.Frames) -> None:
    query = "select update_id, total_traffic_cost from verdicts left join traffic using (update_id)"
    merge_with = lf.sql(net, query)["total_traffic_cost"]
    assert str(merge_with.dtype) == "Int64"
    assert merge_with.isna().sum() == len(frames.verdicts) - len(frames.traffic) > 0


def test_a_closed_set_keeps_its_categories(net: lf.Network) -> None:
    results = lf.sql(net, "select verdict_result, count(*) as n from verdicts where verdict_result like '%REJECTED' group by 1")
    assert list(results["verdict_result"].cat.categories) == list(TABLES["verdicts"]["verdict_result"].values)
    assert results["verdict_result"].tolist() == ["VERDICT_RESULT_REJECTED"]


@pytest.mark.parametrize(
    ("condition", "keeps"),
    [
        ("verdict_result = 'VERDICT_RESULT_REJECTED'", lambda rows: rows["verdict_result"] == "VERDICT_RESULT_REJECTED"),
        ("verdict_result in ('VERDICT_RESULT_REJECTED', 'x')", lambda rows: rows["verdict_result"] == "VERDICT_RESULT_REJECTED"),
        ("record_time < '2026-11-08 12:00:00'", lambda rows: rows["record_time"] < pd.Timestamp("2026-11-08T12:00Z")),
        ("update_visible", lambda rows: rows["update_visible"]),
        ("view_count > 1 and extra is null", lambda rows: (rows["view_count"] > 1) & rows["extra"].isna()),
        ("list_contains(root_views, 0)", lambda rows: rows["root_views"].map(lambda views: 0 in views)),
    ],
)
def test_conditions_keep_what_pandas_keeps(
    net: lf.Network, frames: lf.Frames, condition: str, keeps: Callable[[pd.DataFrame], pd.Series]
) -> None:
    kept = lf.sql(net, f"select update_id from verdicts where {condition} order by record_time, update_id")["update_id"]
    expected = frames.verdicts[keeps(frames.verdicts)].sort_values(["record_time", "update_id"])["update_id"]
    assert len(kept) > 0
    assert kept.tolist() == expected.tolist()


def test_a_closed_set_that_two_tables_declare_differently_is_text(net: lf.Network) -> None:
    kinds = lf.sql(net, "select kind from updates union all select kind from reassignments")
    assert str(kinds["kind"].dtype) == "str"


@pytest.mark.parametrize(
    "expression",
    every_nth(
        [
            "1::uhugeint",
            "1::bignum",
            "1::bit",
            "record_time - record_time",
            "'12:00:00'::time_ns",
            "'12:00:00'::timetz",
            "[1::uhugeint]",
            "union_value(a := 1)",
            "timestamp_ns '2026-11-08 00:00:00'",
        ],
        3,
    ),
)
def test_a_column_without_an_exact_dtype_is_refused(net: lf.Network, expression: str) -> None:
    with pytest.raises(UsageError, match=r"Column x has type .* no exact dtype") as refused:
        lf.sql(net, f"select {expression} as x from traffic")
    assert ("epoch_us" in str(refused.value)) == ("record_time" in expression), "the hint fits differences of times only"


def test_a_time_without_a_zone_is_no_time_in_utc(net: lf.Network) -> None:
    local = "record_time at time zone 'America/New_York'"
    rows = lf.sql(net, f"select {local} as here, record_time, date_trunc('hour', record_time) as hour from traffic limit 5")
    assert [str(dtype) for dtype in rows.dtypes] == ["datetime64[us]", "datetime64[us, UTC]", "datetime64[us, UTC]"]
    assert (rows["here"] == rows["record_time"].dt.tz_convert("America/New_York").dt.tz_localize(None)).all()
    assert lf.sql(net, "select null::timestamp as here")["here"].isna().all()


def test_an_unknown_name_may_be_near_a_relation(net: lf.Network) -> None:
    for query, step in {
        "select * from request": r"Did you mean requests\? Choose from .*, and the relations .*requests",
        "select * from events.requests": "Write FROM requests, without a schema",
        "select from where": r"\(DuckDB\)\. Change the query\.$",
        "select nothing from traffic": "Change the query, or run `describe TABLE`",
    }.items():
        with pytest.raises(UsageError, match=step):
            lf.sql(net, query)


def test_an_end_alone_is_a_window(net: lf.Network) -> None:
    noon = "2026-11-08T12:00:00Z"
    counts = [
        lf.sql(net, "select count(*) as n from traffic", **limits)["n"][0]
        for limits in ({"until": noon}, {"since": "0001-01-01", "until": noon}, {"since": noon, "until": None}, {})
    ]
    assert counts[0] == counts[1] == counts[3] - counts[2] > 0


def test_two_columns_of_one_name_are_refused(net: lf.Network) -> None:
    with pytest.raises(UsageError, match="The result has two columns named update_id"):
        lf.sql(net, "select v.update_id, t.update_id from verdicts v join traffic t on v.update_id = t.update_id")


# -- which rows ---------------------------------------------------------------------------------------------------


def test_datasets_are_schemas(net: lf.Network, frames: lf.Frames) -> None:
    counts = lf.sql(
        net,
        "select (select count(*) from verdicts) as plain, (select count(*) from events.verdicts) as by_range, "
        "(select count(*) from events_by_id.verdicts) as by_id",
    )
    assert counts.iloc[0].tolist() == [len(frames.verdicts), len(frames.verdicts), 5]


def test_ids_are_read_if_there_is_no_window(tmp_path: Path, frames: lf.Frames) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    by_id = lf.load_events(net, update_ids=frames.verdicts["update_id"].head(5))
    pd.testing.assert_frame_equal(lf.sql(net, ordered("verdicts")), by_id.verdicts)
    # A range without rows says nothing about tables.
    net.store.commit(EVENTS, MigrationWindow(0, 0, 10), {}, final=False, source="test")
    assert len(lf.sql(net, "select * from verdicts")) == 5
    assert len(lf.sql(net, "select * from events.verdicts")) == 0


def test_precedence_is_by_dataset_so_that_tables_stay_together(tmp_path: Path, frames: lf.Frames) -> None:
    """Ranges that hold traffic only: verdicts of the ids are not mixed in, they are asked for by name."""
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    lf.load_events(net, update_ids=frames.verdicts["update_id"].head(3))
    store_with_costs(net, [7])
    counts = "select (select count(*) from verdicts) as v, (select count(*) from traffic) as t"
    assert lf.sql(net, counts).iloc[0].tolist() == [0, 1]
    assert len(lf.sql(net, "select * from events_by_id.verdicts")) == 3


def test_a_ledger_seen_through_two_filters_is_not_counted_twice(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    one = lf.load_updates(net, through=400)
    count = "select count(*) as n from ledger_updates"
    assert lf.sql(net, count)["n"].tolist() == [len(one.ledger_updates)]
    lf.load_updates(net, through=400, shape="ledger_effects")
    for query in (
        count,
        "select count(*) as n from ledger.ledger_events",
        'from "ledger"."ledger_updates"',
        """select count(*) as "day's updates" from ledger_updates where kind = 'transaction'""",
        """select count(*) as "updates -- all" from ledger_updates""",
        """select count(*) as "the ""day's"" updates" from ledger_updates where kind = 'transaction'""",
        """select '"' as quote, count(*) as n from ledger_updates where kind <> '"'""",
    ):
        with pytest.raises(UsageError, match=r"through 2 filters.*load_updates\(\.\.\.\).*export\.write"):
            lf.sql(net, query)
    for query in (
        "from query_table('ledger_updates')",
        "from 'ledger_updates'",
        r"select e'\'' from ledger_updates where kind = ''",
    ):
        with pytest.raises(UsageError, match=r"ledger_updates does not exist.* Write FROM ledger_updates"):
            lf.sql(net, query)
    for name in ("ledger_updates", "ledger.ledger_events"):
        with pytest.raises(UsageError, match="through 2 filters"):
            export.from_store(net, name, allow_partial=True)
    assert len(lf.sql(net, "show tables")) > 0, "other questions are not concerned"


def test_one_moment_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is committed after one kind of reading was looked at is not seen in the next."""
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    store_with_costs(net, [1])
    look = Store.snapshot

    def look_and_commit(store: Store, *asked: Any) -> StoreSnapshot:
        seen = look(store, *asked)
        if not net.store.segments(EVENTS_BY_ID):
            rows = {"traffic": traffic_rows([2])}
            net.store.commit(EVENTS_BY_ID, IdSet(frozenset({"id0"})), rows, final=True, source="test")
        return seen

    monkeypatch.setattr(Store, "snapshot", look_and_commit)
    counts = "select (select count(*) from events.traffic) as a, (select count(*) from events_by_id.traffic) as b"
    assert lf.sql(net, counts).iloc[0].tolist() == [1, 0]
    assert lf.sql(net, counts).iloc[0].tolist() == [1, 1]


def test_a_frozen_snapshot_returns_its_own_rows(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store")
    store_with_costs(net, [1, 2])
    net.store.freeze(tmp_path / "frozen.sqlite")
    frozen = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store", snapshot=tmp_path / "frozen.sqlite")
    lf.load_events(net, update_ids=lf.load_events(net, **DAY).verdicts["update_id"].head(1))
    assert lf.sql(frozen, "select count(*) as n from traffic")["n"][0] == 2
    assert lf.sql(net, "select count(*) as n from traffic")["n"][0] > 2


def test_a_frozen_snapshot_that_is_not_there_is_no_empty_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"snapshot= must be .*lost\.sqlite"):
        lf.connect("sandbox", events=400, days=1, snapshot=tmp_path / "lost.sqlite")
    monkeypatch.setenv("LEDGERFRAMES_SNAPSHOT", str(tmp_path))
    with pytest.raises(UsageError, match="Check LEDGERFRAMES_SNAPSHOT"):
        lf.connect("sandbox", events=400, days=1)


# -- what is refused ----------------------------------------------------------------------------------------------


def test_frames_in_place_of_a_network_are_named(frames: lf.Frames) -> None:
    with pytest.raises(UsageError, match=r"got Frames.*during="):
        lf.sql(frames, "select 1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "reason"),
    every_nth(
        [
            ("selekt 1", "Parser Error: syntax error"),
            (
                "select * from trafic",
                r"trafic does not exist \(DuckDB\)\. Did you mean traffic\? Choose from .*traffic, traffic_status, tree_events",
            ),
            ("select * from event.trafic", r"Did you mean traffic\?"),
            ("select offset from ledger_events", r'in quotes: "offset"\.$'),
            ("select update_id from ledger_events where offset > 3", r'in quotes: "offset"\.$'),
            ('select "offset" frm ledger_events x y', r"Change the query"),
            ("from _0", "_0 does not exist"),
            ("select cost from traffic", '"cost" not found'),
            ("select * from completions", "Choose from "),
            ("select 1/'x'", "Conversion Error|Binder Error"),
            ("select 5 // 0", r"Use TRY\(\.\.\.\) to return NULL for this expression \(DuckDB\)\. Change the query\.$"),
            ("", "single read-only SELECT"),
            (None, "query= must be text that DuckDB can read, got None"),
            ("select '\ud800'", "query= must be text that DuckDB can read"),
            ("select 'a\0b'", "query= must be text that DuckDB can read"),
            ("select 1; select 2", "single read-only SELECT"),
            ("create table x as select 1", "single read-only SELECT"),
            ("drop view traffic", "single read-only SELECT"),
            ("set TimeZone = 'Europe/Berlin'", "single read-only SELECT"),
            ("copy traffic to 'x.csv'", "single read-only SELECT"),
            ("attach 'x.db'", "single read-only SELECT"),
            ("install httpfs", "single read-only SELECT"),
        ],
        2,
    ),
)
def test_an_invalid_query_is_explained(net: lf.Network, query: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        lf.sql(net, query)


@pytest.mark.parametrize(
    "source",
    every_nth(["read_csv('secret.csv')", "sniff_csv('secret.csv')", "read_text('secret.csv')", "frames", "net", "lf",
     "read_parquet('http://127.0.0.1:9/x.parquet')", "'secret.csv'", "np", "glob('*')"], 3),
)  # fmt: skip
def test_nothing_but_the_store_can_be_read(net: lf.Network, tmp_path: Path, source: str) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    frames = pd.DataFrame({"a": [1]})
    assert len(frames) == 1  # a variable that DuckDB would find
    with pytest.raises(UsageError):
        lf.sql(net, f"select * from {source}")


def test_nothing_is_left_behind(net: lf.Network, tmp_path: Path) -> None:
    lf.sql(net, "select * from traffic order by random()")
    assert list(tmp_path.iterdir()) == []


def test_a_range_that_makes_no_sense(net: lf.Network) -> None:
    with pytest.raises(UsageError, match="must be before"):
        lf.sql(net, "select 1 as x", since="2026-11-09", until="2026-11-08")
    with pytest.raises(UsageError, match="cannot be combined with"):
        lf.sql(net, "select 1 as x", since="2026-11-09", during="today")


def test_tables_are_listed(net: lf.Network) -> None:
    assert set(lf.sql(net, "show tables")["name"]) == {*STORED_TABLES, *RELATIONS}
    assert set(lf.sql(net, "show all tables")["name"]) == {*STORED_TABLES, *RELATIONS}
    assert "is_known" in lf.sql(net, "describe requests")["column_name"].tolist()
    assert {"traffic", "ledger_events", "active_contracts"} <= set(lf.sql(net, "show all tables")["name"])
    assert "total_traffic_cost" in lf.sql(net, "describe traffic")["column_name"].tolist()


# -- damage -------------------------------------------------------------------------------------------------------


def damaged(tmp_path: Path, change: Callable[[Path], None]) -> lf.Network:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    lf.load_events(net, **DAY)
    for file in tmp_path.rglob("traffic/*.parquet"):
        change(file)
    return net


@pytest.mark.parametrize("cut", ["middle", "end"])
def test_a_damaged_file_is_the_store_s_fault(tmp_path: Path, cut: str) -> None:
    def change(file: Path) -> None:
        content = bytearray(file.read_bytes())
        if cut == "middle":
            content[4:-1000] = bytes(len(content) - 1004)
        file.write_bytes(content if cut == "middle" else content[:-10])

    net = damaged(tmp_path, change)
    with pytest.raises(StoreError, match="table traffic is damaged"):
        lf.sql(net, "select sum(total_traffic_cost) as x, max(update_id) as y from traffic")
    assert len(lf.sql(net, "select * from verdicts")) > 0, "another table is none of its business"


def test_a_lost_file_is_the_store_s_fault(tmp_path: Path) -> None:
    net = damaged(tmp_path, Path.unlink)
    with pytest.raises(StoreError, match=r"was pruned or lost. Load again: another process may have pruned it"):
        lf.sql(net, "select * from traffic")
    assert len(lf.sql(net, "select * from verdicts")) > 0, "another table is none of its business"


# -- cost ---------------------------------------------------------------------------------------------------------


def test_filters_and_columns_reach_the_files(net: lf.Network) -> None:
    plan = lf.sql(net, "explain select max(update_id) from traffic", during="2026-11-08")["explain_value"][0]
    scan = plan.partition("Arrow Scan")[2].partition("╰")[0]
    assert "record_time" in scan.partition("Filters")[2]
    assert "update_id" in scan.partition("Projections")[2]
    assert "total_traffic_cost" not in scan
