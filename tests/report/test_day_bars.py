"""Bars of the days of each row stand in its table, and the caption says in which order the rows are."""

from __future__ import annotations

import html
import re

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.report import order_by_cost
from ledgerframes.report.page import sanitize
from ledgerframes.report.tables import TableOutput

from .test_heads import WEEK, decided

ENDS = ("period_start", "period_end")
HOSTILE = "<script>alert(1)</script>::1220" + "ab" * 32
BYTES = {"ours": [3_000, 0, 1_000, 0, 0, 0, 500], HOSTILE: [0, 0, 100, 200, 0, 0, 0]}


@pytest.fixture(scope="module")
def week() -> lf.Frames:
    counts = {
        (day, name): (cost // 1_000, cost // 100) for name, costs in BYTES.items() for day, cost in enumerate(costs) if cost
    }
    return decided(counts)


def table_of(result: pd.DataFrame, days: pd.DataFrame | None = None) -> TableOutput:
    table = lf.show(result, picture=False, days=days).table
    assert table is not None
    return table


def bars_of(cell: str) -> list[tuple[str, int]]:
    """The title of each day, and the height of its bar."""
    return [
        (html.unescape(title), int(height)) for title, height in re.findall(r'title="([^"]*)"><span style="height:(\d+)%', cell)
    ]


def test_each_row_has_its_days_on_its_own_scale(week: lf.Frames) -> None:
    spent, by_day = lf.cost.spend(week, by="participant"), lf.cost.spend(week, by="participant", every="1d")
    page = sanitize(table_of(spent, by_day)._repr_html_())
    assert page.count(">by day<br><small>own scale</small></th>") == 1
    for row, (name, costs) in zip(re.findall(r"<tr>(<td.*?)</tr>", page, re.DOTALL), BYTES.items(), strict=True):
        highest = max(costs)
        texts = [f"{cost:,} bytes" if cost else "–" for cost in costs]
        heights = [round(100 * cost / highest) for cost in costs]
        titles = [f"2026-11-0{2 + day}: {text}" for day, text in enumerate(texts)]
        assert bars_of(row) == list(zip(titles, heights, strict=True))
        assert html.escape(name.partition("::")[0]) in row
        least = min(cost for cost in costs if cost)
        assert f'aria-label="By day, from {least:,} bytes to {highest:,} bytes"' in row
    assert "<script" not in page and "alert(1)" in page


def test_a_column_that_is_a_note_has_no_bars_of_days(week: lf.Frames) -> None:
    outcomes, by_day = lf.verdict.outcomes(week, by="participant"), lf.verdict.outcomes(week, by="participant", every="1d")
    assert outcomes["coverage"].nunique() == 1
    page = lf.show(outcomes, columns=["coverage"], days=by_day, picture=False)._repr_html_()
    assert "by day" not in page
    assert "Coverage: 100 %" in page


def test_the_bars_stand_beside_the_column_that_they_divide(week: lf.Frames) -> None:
    spent, by_day = lf.cost.spend(week, by="participant"), lf.cost.spend(week, by="participant", every="1d")
    heads = re.findall(r"<th [^>]*>(.*?)</th>", table_of(spent, by_day)._repr_html_())
    names = [re.sub("<[^>]*>", "", head) for head in heads]
    assert names[:3] == ["submitting participant uid", "total traffic cost bytes", "by dayown scale"]
    assert "by day" not in repr(table_of(spent, by_day)), "a terminal shows the sums"


def test_a_share_of_few_requests_has_no_bar(week: lf.Frames) -> None:
    outcomes, by_day = (lf.verdict.outcomes(week, by="participant", every=every) for every in (None, "1d"))
    rows = table_of(outcomes, by_day)._repr_html_().split("<tr>")[2:]
    bars = {re.findall("<td[^>]*>([^<]*)", row)[0].partition("::")[0]: bars_of(row) for row in rows}
    assert [text for text, _ in bars["ours"]][:3] == ["2026-11-02: 10.0 %", "2026-11-03: –", "2026-11-04: –"]
    assert bars[html.escape("<script>alert(1)</script>")] == [], "no day has 20 requests"


def test_one_day_and_too_many_have_no_bars(week: lf.Frames) -> None:
    day = week.between(WEEK.since, WEEK.since + pd.Timedelta(days=1).to_pytimedelta())
    spent, one = lf.cost.spend(day, by="participant"), lf.cost.spend(day, by="participant", every="1d")
    assert "by day" not in table_of(spent, one)._repr_html_()
    spent, by_day = lf.cost.spend(week, by="participant"), lf.cost.spend(week, by="participant", every="1d")
    later = [by_day.assign(**{name: by_day[name] + pd.Timedelta(weeks=n) for name in ENDS}) for n in range(5)]
    assert "by day" in table_of(spent, pd.concat(later[:4]))._repr_html_()
    assert "by day" not in table_of(spent, pd.concat(later))._repr_html_()


def test_days_of_another_analysis_are_refused(week: lf.Frames) -> None:
    spent = lf.cost.spend(week, by="participant")
    hours = lf.cost.spend(week, by="participant", every="1h")
    for days in (spent, hours, lf.cost.spend(week, every="1d"), lf.cost.wasted(week, by="participant", every="1d")):
        with pytest.raises(UsageError, match=r'days= must be the result of the same analysis and groups with every="1d"\.'):
            lf.show(spent, days=days)


def test_the_caption_says_the_order(week: lf.Frames) -> None:
    spent, outcomes = lf.cost.spend(week, by="participant"), lf.verdict.outcomes(week, by="participant")
    assert table_of(spent).caption == "Traffic cost by participant, highest first"
    assert table_of(spent.sort_values("requests", ignore_index=True)).caption == "Traffic cost by participant"
    assert table_of(lf.cost.spend(week, every="1d")).caption == "Traffic cost over time", "time has an order of its own"
    assert outcomes["submitting_participant_uid"].tolist() == [HOSTILE, "ours"]
    ordered = order_by_cost(outcomes, spent)
    assert ordered["submitting_participant_uid"].tolist() == ["ours", HOSTILE]
    assert table_of(ordered).caption == "Verdicts and rejection rate by participant, highest cost first"
    assert lf.show(ordered).statement == lf.show(outcomes).statement


def test_those_that_differ_come_before_the_order_by_cost() -> None:
    counts = {(day, f"p{number}"): (10, 100 + number) for day in range(7) for number in range(4)}
    frames = decided(counts | {(day, "odd"): (12, 40) for day in range(7)})
    outcomes, spent = lf.verdict.outcomes(frames, by="participant"), lf.cost.spend(frames, by="participant")
    table = table_of(order_by_cost(outcomes, spent))
    assert table.caption.endswith("by participant, those that differ first, then the highest cost first")
    assert table.frame["submitting_participant_uid"].tolist() == ["odd", "p3", "p2", "p1", "p0"]


def test_a_participant_without_a_cost_comes_last(week: lf.Frames) -> None:
    outcomes, spent = lf.verdict.outcomes(week, by="participant"), lf.cost.spend(week, by="participant").tail(1)
    assert order_by_cost(outcomes, spent)["submitting_participant_uid"].tolist() == [HOSTILE, "ours"]
