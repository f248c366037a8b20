"""Queries over the tables of several frames, and results in parts."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes.analysis.reconcile._paid_traffic import common_times
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.query import BATCH_ROWS, of_other, other_sources, run_batches
from ledgerframes.engine.relation import tables_of
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.errors import StoreError
from ledgerframes.frames import Frames
from ledgerframes.testing import frames_of
from ledgerframes.values.extents import microseconds

pytestmark = pytest.mark.usefixtures("first_loads_copied_in_module")
NOTHING = frames_of()
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


def frames_with(*ids: str) -> Frames:
    return frames_of(verdicts=[{"update_id": each} for each in ids])


def test_a_relation_reads_the_tables_of_either_frames() -> None:
    select = "SELECT a.update_id AS a, b.update_id AS b FROM requests a FULL JOIN other_requests b USING (update_id) ORDER BY ALL"
    query = Query(select, (REQUESTS, of_other(REQUESTS)), sources=other_sources(tables_of([REQUESTS]), frames_with("y", "z")))
    assert run(frames_with("x", "y"), query).fillna("").values.tolist() == [["x", ""], ["y", "y"], ["", "z"]]


def test_a_table_that_is_passed_hides_a_stored_one() -> None:
    rows = Relation("rows", "One row per verdict.", "FROM verdicts", ("verdicts",))
    query = Query("SELECT update_id FROM rows", (rows,), {"verdicts": pa.table({"update_id": ["passed"]})})
    assert run(frames_with("stored"), query)["update_id"].tolist() == ["passed"]


def test_a_large_result_comes_in_parts_and_an_empty_one_with_its_columns() -> None:
    first, *others = run_batches(NOTHING, Query(f"SELECT range AS number FROM range({2 * BATCH_ROWS})", ()))
    assert (first.num_rows, first.schema.names) == (0, ["number"])
    assert sum(each.num_rows for each in others) == 2 * BATCH_ROWS
    assert max(each.num_rows for each in others) < 2 * BATCH_ROWS
    assert [each.num_rows for each in run_batches(NOTHING, Query("SELECT 1 AS one WHERE false", ()))] == [0]


@pytest.mark.parametrize(("table", "column"), every_nth([("verdicts", "verdict_result"), ("traffic", "total_traffic_cost")], 2))
def test_a_damaged_page_is_an_error_of_the_store_in_one_line(table: str, column: str, tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    lf.load_events(net, **DAY)
    path = max((tmp_path / net.name / table).glob("*.parquet"), key=lambda each: each.stat().st_size)
    path.chmod(0o600)
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    (start,) = (each.data_page_offset for each in columns if each.path_in_schema == column)
    content, query = path.read_bytes(), f"select max({column}) as largest from {table}"
    messages = set()
    for place in range(start, start + 60, 3):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        for compute in (lambda: lf.cost.spend(lf.load_events(net, **DAY)), lambda: lf.sql(net, query)):
            try:
                compute()
            except StoreError as error:
                messages.add(str(error))
    assert len(messages) > 2
    assert [
        text for text in messages if not re.fullmatch(r"A file of table .* is damaged \(.*\)\. Run `.*--repair` .*", text)
    ] == []


def test_common_times_are_separate() -> None:
    times = common_times([(0, 9), (5, 14), (20, 30)], [(8, 10), (11, 22), (40, 50)])
    assert [(microseconds(each["first_time"]), microseconds(each["last_time"])) for each in times] == [(8, 14), (20, 22)]
