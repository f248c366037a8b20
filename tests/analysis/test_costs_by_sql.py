"""Figures of cost of the sandbox, computed again by DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.frames import Frames

TABLES = ("verdicts", "updates", "traffic", "tree_events", "envelopes", "views", "quorums", "activity_records")
VIEWS = """
CREATE VIEW ids AS SELECT update_id, min(record_time) AS record_time FROM (
    SELECT update_id, record_time FROM verdicts UNION ALL SELECT update_id, record_time FROM updates
    UNION ALL SELECT update_id, record_time FROM traffic) GROUP BY ALL;
CREATE VIEW roots AS SELECT update_id, arg_min(package_name, node_index) AS package_name,
    arg_min(template_name, node_index) AS template_name, arg_min(coalesce(choice, '-'), node_index) AS choice
    FROM tree_events WHERE depth = 0 GROUP BY update_id;
CREATE VIEW requests AS SELECT ids.update_id, ids.record_time, v.verdict_result AS result, v.submitting_participant_uid AS payer,
    v.submitting_parties AS parties, epoch_us(v.finalization_time) - epoch_us(v.record_time) AS latency, v.view_count,
    CASE WHEN t.total_traffic_cost >= 0 THEN t.total_traffic_cost END AS cost, coalesce(u.kind, 'not visible') AS kind,
    roots.package_name, roots.template_name, roots.choice
    FROM ids LEFT JOIN verdicts v USING (update_id) LEFT JOIN updates u USING (update_id)
    LEFT JOIN traffic t USING (update_id) LEFT JOIN roots USING (update_id);
"""
COSTS = "count(*), count(cost), sum(cost), list_sort(list(cost))[(count(cost) + 1) // 2], max(cost)"
COST_COLUMNS = ["requests", "requests_with_cost", "total_traffic_cost", "median", "max"]
REJECTED = "result = 'VERDICT_RESULT_REJECTED'"

PARTS = {"node": "tree_events", "view": "views", "envelope": "envelopes", "activity": "activity_records"}

Sql = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def sql(sandbox_history: Frames) -> Iterator[Sql]:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for name in TABLES:
            connection.register(name, sandbox_history.scan(name).to_table())
        connection.register("estimates", estimates_of(sandbox_history))
        connection.execute(VIEWS)
        yield lambda query: connection.execute(query).fetchall()


def estimates_of(frames: Frames) -> pd.DataFrame:
    """An estimate for two of three requests with a cost."""
    traffic = frames.traffic.reset_index(drop=True)
    sizes = traffic["total_traffic_cost"].abs() * 9 // 10 + traffic.index
    return traffic[["update_id"]].assign(request_bytes=sizes.astype("int64"))[traffic.index % 3 > 0].reset_index(drop=True)


def rows_of(frame: pd.DataFrame, columns: list[str]) -> list[tuple[Any, ...]]:
    """The rows in any order, durations as microseconds and a missing choice as a dash."""
    columns_of_rows = []
    for name in columns:
        values = frame[name]
        if str(values.dtype).startswith("timedelta"):
            values = pd.Series([None if pd.isna(each) else each // pd.Timedelta(1, "us") for each in values], dtype="object")
        columns_of_rows.append([None if pd.isna(each) else each for each in values])
    return sorted(zip(*columns_of_rows, strict=True), key=str)


def ordered(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=str)


# -- cost -----------------------------------------------------------------------------------------------------------------


def test_spend(sandbox_history: Frames, sql: Sql) -> None:
    by_payer = lf.cost.spend(sandbox_history, by="participant", min_requests=1)
    expected = sql(f"SELECT payer, {COSTS} FROM requests GROUP BY payer")
    assert rows_of(by_payer, ["submitting_participant_uid", *COST_COLUMNS]) == ordered(expected)
    kinds = lf.cost.spend(sandbox_history, by="template", min_requests=1)
    kinds["choice"] = kinds["choice"].fillna("-").where(kinds["template_name"].notna())
    expected = sql(f"SELECT kind, package_name, template_name, choice, {COSTS} FROM requests GROUP BY ALL")
    assert rows_of(kinds, ["kind", "package_name", "template_name", "choice", *COST_COLUMNS]) == ordered(expected)
    parties = lf.cost.spend(sandbox_history, by="party")
    expected = sql("""
        SELECT party, count(*), sum(cost)
        FROM (SELECT DISTINCT update_id, cost, unnest(parties) AS party FROM requests) GROUP BY party""")
    assert rows_of(parties.dropna(subset="party"), ["party", "requests", "total_traffic_cost"]) == ordered(expected)


def test_overhead(sandbox_history: Frames, sql: Sql) -> None:
    expected = sql("""
        SELECT count(*) FILTER (len(view_ids) > 0), sum(traffic_cost) FILTER (len(view_ids) > 0),
            count(*) FILTER (len(view_ids) = 0), sum(traffic_cost) FILTER (len(view_ids) = 0)
        FROM envelopes JOIN requests USING (update_id) WHERE cost IS NOT NULL AND traffic_cost >= 0""")
    kinds = lf.cost.overhead(sandbox_history)
    numbers = [int(kinds[name].iloc[row]) for row in (0, 1) for name in ("envelopes", "traffic_cost")]
    assert numbers == list(expected[0])
    total = sql("SELECT sum(cost) FROM requests")[0][0]
    assert kinds["traffic_cost"].iloc[2] == total - numbers[1] - numbers[3]


def test_wasted(sandbox_history: Frames, sql: Sql) -> None:
    hours = lf.cost.wasted(sandbox_history, every="1h").query("requests > 0")
    expected = sql(f"""
        SELECT epoch_us(date_trunc('hour', record_time)), count(*), count(*) FILTER ({REJECTED}),
            sum(cost) FILTER ({REJECTED}), sum(cost) FILTER (NOT {REJECTED} OR result IS NULL)
        FROM requests GROUP BY 1""")
    shown = hours.assign(start=hours["period_start"].astype("int64"))
    for name in ("wasted_traffic_cost", "useful_traffic_cost"):
        shown[name] = shown[name].fillna(0)
    columns = ["start", "requests", "rejected", "wasted_traffic_cost", "useful_traffic_cost"]
    assert rows_of(shown, columns) == ordered([tuple(each or 0 for each in row) for row in expected])


def test_concentration(sandbox_history: Frames, sql: Sql) -> None:
    costs = [cost for (cost,) in sql("SELECT sum(cost) FROM requests WHERE payer IS NOT NULL GROUP BY payer") if cost]
    row, total = lf.cost.concentration(sandbox_history).iloc[0], sum(costs)
    assert (row["members"], row["total_traffic_cost"]) == (len(costs), total)
    assert row["hhi"] == float(sum(Fraction(cost, total) ** 2 for cost in costs))
    assert row["gini"] == float(Fraction(sum(abs(a - b) for a in costs for b in costs), 2 * len(costs) * total))
    for number in (1, 3, 10):
        least = sorted(costs, reverse=True)[number - 1]
        assert row[f"top_{number}"] == float(Fraction(sum(cost for cost in costs if cost >= least), total))


def test_estimate(sandbox_history: Frames, sql: Sql) -> None:
    expected = sql(f"""
        SELECT CASE WHEN request_bytes IS NULL THEN 'no estimate' WHEN {REJECTED} THEN 'rejected'
            WHEN cost IS NOT NULL THEN 'matched' ELSE 'no actual' END, count(*), sum(request_bytes), sum(cost),
            sum(cost - request_bytes), count(*) FILTER (10 * cost > 11 * request_bytes)
        FROM requests LEFT JOIN estimates USING (update_id) GROUP BY 1""")
    shown = lf.cost.estimate(sandbox_history, estimates_of(sandbox_history), by=None)
    columns = ["outcome", "requests", "estimated", "actual", "difference", "over_10_percent"]
    assert rows_of(shown, columns) == ordered(expected)


def test_anatomy(sandbox_history: Frames, sql: Sql) -> None:
    """Of requests with and without a tree, the parts add up to what the tables have."""
    ids = [name for (name,) in sql("SELECT update_id FROM requests ORDER BY md5(update_id) LIMIT 6")]
    for update_id in ids:
        parts = lf.cost.anatomy(sandbox_history, update_id).groupby("part", observed=True)
        counts = parts.size()
        for part, name in PARTS.items():
            assert counts.get(part, 0) == sql(f"SELECT count(*) FROM {name} WHERE update_id = '{update_id}'")[0][0]
        total = sql(f"SELECT total_traffic_cost FROM traffic WHERE update_id = '{update_id}'")
        costs = parts["traffic_cost"].sum()
        assert not total or costs.get("envelope", 0) + costs.get("unassigned", 0) == total[0][0]
