"""Queries over few requests share the joined rows."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pyarrow.dataset as ds
import pytest

import ledgerframes as lf
from ledgerframes.engine import DEFAULT_SETTINGS, Query, query, run
from ledgerframes.engine import tables as stored
from ledgerframes.engine.relation import in_order, tables_of
from ledgerframes.engine.requests import DECISIONS, REQUESTS, REQUESTS_BY_PARTY, REQUESTS_BY_TEMPLATE

pytestmark = pytest.mark.usefixtures("first_loads_copied_in_module")
SELECTS = {
    REQUESTS: "SELECT outcome, count(*) AS requests, sum(total_traffic_cost) AS bytes FROM requests GROUP BY ALL ORDER BY ALL",
    REQUESTS_BY_PARTY: "SELECT party, count(*) AS requests, max(latency) FROM requests_by_party GROUP BY ALL ORDER BY ALL",
    REQUESTS_BY_TEMPLATE: "SELECT * EXCLUDE (submitting_parties) FROM requests_by_template ORDER BY update_id",
}


class Scans:
    """Tables of frames that count how often each is read."""

    engine = DEFAULT_SETTINGS

    def __init__(self, frames: lf.Frames) -> None:
        self.frames, self.count = frames, Counter[str]()

    def scan(self, table: str, *, with_dictionaries: bool = False) -> ds.Dataset:
        self.count[table] += 1
        return self.frames.scan(table, with_dictionaries=with_dictionaries)

    def _file_scan(self, table: str) -> None:
        return None

    def count_rows(self, table: str, *, at_most: bool = False) -> int:
        return self.frames.count_rows(table, at_most=at_most)


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> lf.Frames:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path_factory.mktemp("store"))
    return lf.load_events(net, since="2026-11-08", until="2026-11-09")


def results(tables: Scans) -> list[pd.DataFrame]:
    return [run(tables, Query(select, (relation,))) for relation, select in SELECTS.items()]


def test_the_stored_tables_are_read_once(frames: lf.Frames) -> None:
    tables = Scans(frames)
    for _ in range(3):
        results(tables)
    assert tables.count == {"verdicts": 1, "updates": 1, "traffic": 1, "tree_events": 1}


def test_other_frames_share_nothing(frames: lf.Frames) -> None:
    rejected = frames.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED")
    count = Query("SELECT count(*) AS requests FROM requests", (REQUESTS,))
    numbers = [int(run(each, count)["requests"][0]) for each in (frames, rejected, frames)]
    assert numbers[0] == numbers[2] > numbers[1] > 0


def test_many_rows_are_read_by_each_query_with_the_same_results(frames: lf.Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    few = results(Scans(frames))
    monkeypatch.setattr(query, "MAX_SHARED_ROWS", 10)
    monkeypatch.setattr(stored, "MAX_ROWS", 10)
    tables = Scans(frames)
    for one, another in zip(few, results(tables), strict=True):
        pd.testing.assert_frame_equal(one, another, check_exact=True)
    assert tables.count["verdicts"] == len(SELECTS)


def test_first_nodes_are_read_once_however_many_nodes_follow(frames: lf.Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "MAX_SHARED_ROWS", sum(map(frames.count_rows, ("verdicts", "updates", "traffic"))))
    assert frames.count_rows("tree_events") > query.MAX_SHARED_ROWS
    tables = Scans(frames)
    for _ in range(2):
        results(tables)
    assert tables.count == {"verdicts": 1, "updates": 1, "traffic": 1, "tree_events": 1}


def test_what_only_a_left_out_relation_needs_is_left_out() -> None:
    assert [each.name for each in in_order([REQUESTS_BY_PARTY], without=["requests"])] == [
        "requests_with_parties",
        "requests_by_party",
    ]
    assert tables_of([REQUESTS_BY_PARTY], without=["requests"]) == []
    assert in_order([REQUESTS]) == [DECISIONS, REQUESTS]
