"""Classes of outcomes and latency figures, worked by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from ledgerframes.analysis import verdict
from ledgerframes.engine import DEFAULT_SETTINGS, Query, run
from ledgerframes.engine.requests import DECISIONS

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "statistics_vectors.json").read_text())["cases"]
CLASS_CASES = [case for case in VECTORS if case["function"] == "outcome_class"]
START = pd.Timestamp("2026-11-08", tz="UTC")
SECOND = 1_000_000

Requests = list[tuple[str | None, int | None]]
Figures = Callable[..., pd.DataFrame]


@pytest.fixture
def figures(build, event) -> Figures:
    """The latency figures of requests with a result and a latency in microseconds, by the hours of `codes`."""

    def figures_of(requests: Requests, codes: list[int] | None = None, min_requests: int | None = None) -> pd.DataFrame:
        events = [
            event(f"e{number}", (codes or [0] * len(requests))[number], result=result, seconds=(latency or 0) / SECOND)
            for number, (result, latency) in enumerate(requests)
        ]
        return verdict.latency(build(events), by=codes and "hour", min_requests=min_requests)

    return figures_of


class OneVerdict:
    """Tables whose only row has a result and a latency, which can be missing here."""

    engine = DEFAULT_SETTINGS

    def __init__(self, result: str, latency: int | None) -> None:
        end = None if latency is None else START + pd.Timedelta(latency, "us")
        times = {
            name: pa.array([time], pa.timestamp("us", "UTC"))
            for name, time in (("record_time", START), ("finalization_time", end))
        }
        self.rows = pa.table({**times, "verdict_result": [result]})

    def scan(self, table: str, *, with_dictionaries: bool = False) -> ds.Dataset:
        return ds.dataset(self.rows)

    def _file_scan(self, table: str) -> None:
        return None

    def count_rows(self, table: str, *, at_most: bool = False) -> int:
        return 1


@pytest.mark.parametrize("case", CLASS_CASES, ids=lambda case: case["id"])
def test_vector(case: dict[str, Any]) -> None:
    inputs = case["input"]
    tables = OneVerdict(inputs["verdict_result"], inputs["latency_us"])
    assert run(tables, Query("SELECT outcome FROM decisions", (DECISIONS,)))["outcome"].tolist() == [case["expected"]]


def test_there_are_vectors() -> None:
    assert len(CLASS_CASES) == 8


MIXED: Requests = [
    ("ACCEPTED", 700_000),
    ("ACCEPTED", 6 * SECOND),
    ("ACCEPTED", 31 * SECOND),
    ("REJECTED", 200_000),
    ("REJECTED", 30 * SECOND),
    ("UNSPECIFIED", 5),
    ("ACCEPTED", -5),
    (None, None),
]


def test_each_request_counts_once(figures: Figures) -> None:
    row = figures(MIXED).iloc[0]
    counts = ("accepted", "rejected", "timeouts", "unspecified", "impossible")
    assert [row[name] for name in counts] == [3, 1, 1, 1, 1]
    assert row["requests"] == sum(row[name] for name in counts) + 1  # one has no verdict
    assert (row["accepted_after_limit"], row["slow_accepted"]) == (1, 2)
    assert row["timeout_rate"] == 0.2
    assert row["timeout_low"] < 0.2 < row["timeout_high"]
    assert row["max"] == pd.Timedelta(31, "s")
    assert row["rejected_max"] == pd.Timedelta(200, "ms")
    assert row["coverage"] == 6 / 8  # one has no verdict, and one an impossible latency


def test_a_verdict_before_its_request_is_in_no_percentile(figures: Figures) -> None:
    requests = [("ACCEPTED", number * SECOND) for number in range(1, 42)]
    early = [("ACCEPTED", -SECOND)] * 20
    assert figures(requests + early).iloc[0]["p50"] == figures(requests).iloc[0]["p50"] == pd.Timedelta(21, "s")


def test_percentiles_have_intervals_and_reasons(figures: Figures) -> None:
    requests = [("ACCEPTED", number * SECOND // 100) for number in range(1, 41)] + [("REJECTED", 9)] * 6
    requests += [("REJECTED", 30 * SECOND)]  # which is in no percentile
    row = figures(requests).iloc[0]
    assert row["p50"] == pd.Timedelta(200, "ms")
    assert (row["p50_low"], row["p50_high"]) == (pd.Timedelta(140, "ms"), pd.Timedelta(270, "ms"))
    assert row["p90"] == pd.Timedelta(360, "ms")
    assert pd.isna(row["p95"])
    assert (row["rejected_p50"], row["rejected_p50_high"]) == (pd.Timedelta(9, "us"),) * 2
    reasons = ("accepted requests for p95, p99", "rejected requests for p90, p95, p99")
    assert row["reason"] == ", ".join(f"too few {each}" for each in reasons) + " (min_requests= shows them)"


def test_no_argument_shows_percentiles_of_no_requests(figures: Figures) -> None:
    row = figures([("ACCEPTED", number * SECOND // 100) for number in range(1, 400)]).iloc[0]
    assert row["reason"] == "no latency of rejected requests"
    few = figures([("ACCEPTED", SECOND)]).iloc[0]["reason"]
    assert few == "too few accepted requests for p50, p90, p95, p99 (min_requests= shows them), no latency of rejected requests"
    assert figures([("REJECTED", 31 * SECOND)]).iloc[0]["reason"] == "no latency of accepted and rejected requests"


def test_percentiles_of_few_requests_have_a_mark_and_no_interval(figures: Figures) -> None:
    requests = [("ACCEPTED", SECOND * number) for number in range(1, 21)]
    row = figures(requests, min_requests=20).iloc[0]
    assert [row[name] / pd.Timedelta(1, "s") for name in ("p50", "p90", "p95", "p99")] == [10, 18, 19, 20]
    assert row["p50_low"] < row["p50"] and pd.isna(row["p95_high"])
    assert row["few_requests_for"] == "p90, p95, p99"
    assert row["reason"] == "no latency of rejected requests"
    fewer = figures(requests[1:], min_requests=20).iloc[0]
    assert pd.isna(fewer["p50"]) and pd.isna(fewer["few_requests_for"])
    assert "too few accepted requests for p50, p90, p95, p99" in fewer["reason"]


def test_groups_and_the_order_of_rows(figures: Figures) -> None:
    requests = [("ACCEPTED", number) for number in (5, 3, 9, 1, 7, 2, 8)]
    codes = [0, 0, 0, 0, 0, 0, 2]
    found, turned = figures(requests, codes).head(3), figures(requests[::-1], codes[::-1]).head(3)
    pd.testing.assert_frame_equal(found, turned)
    assert found["requests"].tolist() == [6, 0, 1]
    assert found["p50"].isna().tolist() == [False, True, True]
    assert found["max"].isna().tolist() == [False, True, False]
    assert found["timeout_rate"].isna().tolist() == [False, True, False]


def test_a_doubtful_limit_names_no_timeouts(figures: Figures) -> None:
    requests = [("REJECTED", 25 * SECOND)] * 2 + [("REJECTED", 30 * SECOND), ("ACCEPTED", SECOND)]
    row = figures(requests).iloc[0]
    assert pd.isna(row["timeouts"])
    assert pd.isna(row["timeout_rate"])
    assert pd.isna(row["timeout_high"])
    assert row["reason"].startswith("the limit of this network may not be 30 s, ")
    assert figures(requests[1:]).iloc[0]["timeouts"] == 1


def test_no_rows(figures: Figures) -> None:
    found = figures([])
    assert found["requests"].tolist() == [0]
    assert found["max"].isna().all()
