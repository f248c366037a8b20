"""Checks of a page that hold for every report, against the files of the store and of the run."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal

import pyarrow.parquet as pq

from ledgerframes.network import Network
from ledgerframes.report import ReportResult

from .head_by_hand import length_in_words, quality_of, statements_of
from .key_figures_by_hand import has_clear_change, has_clear_median, key_figures_of
from .stored import Stored, elements, latency_of, percent, root_of, stored_of, text_of, window_of
from .traffic_by_hand import Sides

# Numbers of the prose are settings of the analyses, not figures.
PROSE = {
    "traffic-cost": ("in the 4 to 6 whole weeks before", "which is not 0"),
    "verdicts": ("gives up after 30 s", "above the 90th percentile", "a timeout from 29.9 s", "fewer than 20 decided requests"),
    "activity": ("the factor of every featured right were 1",),
    "operations": (
        "the last 4 to 6",
        "above the 90th percentile",
        "about 4 of 5 cases",
        "the 95th percentile of its cost",
        "which needs 72 requests",
        "The 95th percentile",
    ),
    "weekly": ("excludes 0", "one chance of 5 % for a false finding"),
}
OPEN_ROUND = "Splice.Round:OpenMiningRound"
CHIP = re.compile(r'<details class="quality( partial)?"><summary>(.*?)</summary><ul>(.*?)</ul></details>', re.DOTALL)
HEAD = re.compile(r"<dt>(.*?)</dt><dd>(.*?)</dd>", re.DOTALL)


def page_of(result: ReportResult) -> str:
    return result.page_path.read_text(encoding="utf-8")


def sides_of(result: ReportResult, net: Network, *, has_before: bool, whole: Stored | None = None) -> Sides:
    """The window of a report, and the one before unless the history begins after it."""
    since, until = window_of(result)
    before = Stored(root_of(net), since - (until - since), since) if has_before else None
    stored, parameters = stored_of(result, net), dict(result.run["parameters"])
    if not parameters.get("price"):
        prices = prices_of_rounds(stored)
        parameters["price"] = "".join(prices) if len(prices) == 1 else ""
        if len(prices) > 1:
            parameters["obstacle"] = "no amount, because the price of traffic changes in this window"
    return Sides(stored, before, length_in_words(since, until), parameters, whole)


def prices_of_rounds(stored: Stored) -> set[str]:
    """The prices of traffic in all rounds that are created in a window."""
    rounds = [row["create_arguments"] for row in stored.rows("tree_events") if row["template_name"] == OPEN_ROUND]
    prices = {Decimal(json.loads(payload)["trafficPrice"]) for payload in rounds if payload is not None}
    return {f"{price.normalize():f} USD/MB" for price in prices}


IN_KEY_FIGURES = {"Traffic cost", "Cost of the rejections", "Latency"}  # which say no more than these figures
OF_ACTIVITY, OF_WEEK = {"Rewards"}, {"Traffic cost", "Latency", "Rewards"}


def assert_statements(result: ReportResult, sides: Sides) -> None:
    """Each statement of the head is made again, and no other is there."""
    head = page_of(result).partition("</dl>")[0]
    assert_quality(head, sides.after)
    assert_key_figures(result, head, sides)
    shown = []
    for term, definition in HEAD.findall(head):
        text, _, details = definition.partition("<ul>")
        shown.append(
            (text_of(term), text_of(text), [text_of(each) for each in re.findall(r"<li>(.*?)</li>", details, re.DOTALL)])
        )
    statements = statements_of(result.report, sides)
    in_figures = {"activity": OF_ACTIVITY, "weekly": OF_WEEK}.get(result.report, IN_KEY_FIGURES)
    assert shown == [each for each in statements if each[0] not in in_figures]
    assert [each["term"] for each in result.run["summary"]] == [term for term, *_ in statements], "run.json has all"


def assert_quality(head: str, stored: Stored) -> None:
    """The chip below the title is made again, with all that a click on it opens."""
    (chip,) = CHIP.findall(head)
    kind, text, details = chip
    shown = [text_of(each) for each in re.findall(r"<li>(.*?)</li>", details, re.DOTALL)]
    assert (text_of(text), shown, kind != " partial") == quality_of(stored)


def assert_key_figures(result: ReportResult, head: str, sides: Sides) -> None:
    """Each figure above the statements is made again, with its change, and stands on the page."""
    figures = result.run["key_figures"]
    expected = list(key_figures_of(result.report, sides))
    assert [(each["label"], each["value"], each["note"], each["change"]) for each in figures] == expected
    # The weeks before are too few for a usual range of a sum.
    clear = {"Rejected": has_clear_change(sides), "Latency, median": has_clear_median(sides)}
    assert [each["is_clear"] for each in figures] == [clear.get(label, False) for label, *_ in expected]
    head = re.sub(r"<svg class=\"spark\" .*?</svg>", "", head, flags=re.DOTALL)
    texts = [text_of(item) for item in re.findall(r"<li><span class=\"label\">.*?</li>", head, re.DOTALL)]
    for text, each in zip(texts, expected, strict=True):
        shown = " ".join(text.split())
        assert shown == " ".join(filter(None, [each[0], each[1], each[3], each[2]])), (shown, each)


def assert_prose(result: ReportResult) -> None:
    """Numbers of the prose are settings."""
    prose = " ".join(" ".join(elements(page_of(result), "prose")).split())
    for phrase in PROSE.get(result.report, ()):
        assert phrase in prose
        prose = prose.replace(phrase, "")
    assert re.findall(r"\d[\d.,]*", prose) == []


def assert_notes(result: ReportResult, least: int) -> None:
    """Notes count the rows of the tables."""
    note = r'class="note"><span class="rows(?: few)?">(?:[\d,]+ of )?([\d,]+) rows?\b.*?tables/(\w+)\.csv'
    notes = re.findall(note, page_of(result), re.DOTALL)
    assert len(notes) >= least
    for count, name in notes:
        assert int(count.replace(",", "")) == pq.read_metadata(result.directory / "tables" / f"{name}.parquet").num_rows, name


def assert_head(result: ReportResult, stored: Stored) -> None:
    """The foot counts the requests, and the run those whose latency is left out."""
    facts = {name: text_of(text) for name, text in HEAD.findall(page_of(result))}
    known = sum(update_id in stored.costs for update_id in stored.ids)
    assert facts["Requests"] == f"{len(stored.ids):,} cost known for {percent(known, len(stored.ids))}"
    early = sum(latency_of(verdict) < timedelta(0) for verdict in stored.verdicts.values())
    unusable = sum(row["rows"] for row in result.run["problems"] if row["problem"] == "finalization_time before the record time")
    assert unusable == early
