"""The pages of a directory link to each other: reports of one window, and windows before and after."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ledgerframes.report.overview import days_of, write_overview
from ledgerframes.report.page import LINKS_END, LINKS_START, WEEKLY_LINK_END, WEEKLY_LINK_START
from ledgerframes.report.publish import ReportDir
from ledgerframes.report.sparklines import sparkline

OLD_LINKS = f"{LINKS_START} none {LINKS_END}"
FIGURE = {"label": "Cost", "value": "1 B", "note": "", "change": "", "is_clear": False, "unit": "bytes"}
HEADLINE = {"requests": 5, "rejection_rate": 0.1, "cost_coverage": 1.0}


def publish(out: Path, report: str, key: str, since: str, until: str, **facts: Any) -> Path:
    """Publish a page without content."""
    run = {
        "report": report,
        "key": key,
        "network": "net",
        "created_at": f"{until}T00:00:00Z",
        "headline": HEADLINE,
        "window": {"since": f"{since}T00:00:00Z", "until": f"{until}T00:00:00Z"},
        "coverage": {"final": 1.0},
        **facts,
    }
    directory = ReportDir(out, report)
    directory.prepare()
    with directory.staging_dir() as staging_dir:
        staged = staging_dir / "report"
        staged.mkdir()
        (staged / "index.html").write_text(f"<html>{OLD_LINKS}<main>{key}</main>", encoding="utf-8")
        (staged / "run.json").write_text(json.dumps(run), encoding="utf-8")
        directory.publish(staged, key)
    return out / report / key / "index.html"


def links(page: Path) -> list[str]:
    """The links of a page, each of which leads to a file."""
    found = re.findall(r'href="([^"]*)"', page.read_text(encoding="utf-8"))
    assert all((page.parent / link).is_file() for link in found), found
    return found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    weeks = [("2026-10-19", "2026-10-26"), ("2026-10-26", "2026-11-02"), ("2026-11-02", "2026-11-09")]
    for number, (since, until) in enumerate(weeks):
        publish(tmp_path, "weekly", f"w{number}", since, until)
    publish(tmp_path, "verdicts", "v2", *weeks[2])
    write_overview(tmp_path)
    return tmp_path


def test_a_page_links_to_the_windows_before_and_after(out: Path) -> None:
    page = (out / "weekly" / "w1" / "index.html").read_text(encoding="utf-8")
    assert re.search(r'<a rel="prev" href="../../weekly/w0/index.html">← 2026-10-19 to 2026-10-25</a>', page)
    assert re.search(r'<a rel="next" href="../../weekly/w2/index.html">2026-11-02 to 2026-11-08 →</a>', page)


def test_a_neighbor_that_does_not_exist_has_no_link(out: Path) -> None:
    overview = "../../index.html"
    assert links(out / "weekly" / "w0" / "index.html") == [overview, "../../weekly/w1/index.html"]
    assert links(out / "verdicts" / "v2" / "index.html") == ["../../weekly/w2/index.html", overview]


def test_reports_of_one_window_are_tabs(out: Path) -> None:
    page = (out / "weekly" / "w2" / "index.html").read_text(encoding="utf-8")
    tabs = re.findall(r"<li>(.*?)</li>", page)
    assert tabs == ['<span aria-current="page">weekly</span>', '<a href="../../verdicts/v2/index.html">verdicts</a>']


def test_findings_on_other_pages_lead_to_the_weekly_report(out: Path) -> None:
    pages = [out / "verdicts" / "v2" / "index.html", out / "weekly" / "w1" / "index.html"]
    for page in pages:
        page.write_text(f"{page.read_text(encoding='utf-8')}<p>2 findings.{WEEKLY_LINK_START}{WEEKLY_LINK_END}</p>", "utf-8")
    write_overview(out)
    link = '<a href="../../weekly/w2/index.html#needs-attention">Needs attention in the weekly report</a>'
    ends = [page.read_text(encoding="utf-8").partition("<p>2 findings.")[2] for page in pages]
    assert ends == [f"{WEEKLY_LINK_START}{text}{WEEKLY_LINK_END}</p>" for text in (f" {link}", "")]


def test_a_link_leads_to_the_newest_run_of_its_window(out: Path) -> None:
    publish(out, "weekly", "again", "2026-10-26", "2026-11-02", created_at="2026-11-20T00:00:00Z")
    publish(out, "weekly", "day", "2026-11-08", "2026-11-09")  # another length, and no neighbor
    publish(out, "weekly", "other", "2026-11-09", "2026-11-16", network="another")
    write_overview(out)
    assert links(out / "weekly" / "w2" / "index.html")[1:] == ["../../weekly/again/index.html", "../../index.html"]


def test_links_follow_a_deleted_run_and_nothing_else_of_a_page_changes(out: Path) -> None:
    ReportDir(out, "weekly").delete_old(keep=2)
    write_overview(out)
    page = out / "weekly" / "w1" / "index.html"
    assert links(page) == ["../../index.html", "../../weekly/w2/index.html"]
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"<html>{LINKS_START}") and text.endswith(f"{LINKS_END}<main>w1</main>")


def test_a_page_whose_links_stay_is_not_written(out: Path) -> None:
    page = out / "weekly" / "w0" / "index.html"
    before = page.stat()
    write_overview(out)
    assert page.stat().st_ino == before.st_ino


def test_the_overview_has_the_days_of_eight_weeks(tmp_path: Path) -> None:
    for number in range(10):
        since, until = (f"2026-09-{1 + 2 * number + days:02}" for days in (0, 2))
        figures = [{**FIGURE, "before": [], "days": [float(number + 1), None]}]
        publish(tmp_path, "verdicts", f"v{number}", since, until, key_figures=figures)
    page = write_overview(tmp_path).read_text(encoding="utf-8")
    titles = re.findall(r"<title>(2026[^<]*)</title>", page)
    assert titles[0] == "2026-09-01: 1 byte" and titles[-2:] == ["2026-09-19: 10 bytes", "2026-09-20: –"]
    assert re.findall(r'<h3><a href="([^"]*)">', page) == ["verdicts/v9/index.html"]


def test_each_card_has_a_key_figure_of_its_own(tmp_path: Path) -> None:
    """Of the window before, only one report ran, whose days the card shows, too."""
    earlier, window = ("2026-10-26", "2026-11-02"), ("2026-11-02", "2026-11-09")
    cost, waste = (
        {**FIGURE, "label": label, "before": [], "days": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]} for label in ("Cost", "<b>")
    )
    publish(tmp_path, "weekly", "w1", *earlier, key_figures=[{**cost, "days": [70.0] * 7}])
    publish(tmp_path, "weekly", "w2", *window, key_figures=[{**cost, "change": "+5 %", "is_clear": True}, waste])
    publish(tmp_path, "traffic-cost", "t2", *window, key_figures=[cost, {**waste, "change": "+1 point"}])
    publish(tmp_path, "verdicts", "v2", *window, key_figures=[cost])
    publish(tmp_path, "activity", "a2", *window)
    page = write_overview(tmp_path).read_text(encoding="utf-8")
    cards = re.findall(r'<li><h3><a href="([^/]*).*?</h3>(.*?)</li>', page.partition('<ul class="cards">')[2], re.DOTALL)
    labels = {
        name: re.findall(r'<p class="figure"><span class="label">(.*?)</span> <strong>1 B</strong>', card) for name, card in cards
    }
    assert labels == {"weekly": ["Cost"], "traffic-cost": ["&lt;b&gt;"], "verdicts": ["Cost"], "activity": []}
    changes = {name: re.findall(r'<span class="(change[^"]*)".*?>(.*?)</span>', card) for name, card in cards}
    assert changes["weekly"] == [("change clear", "+5\N{NO-BREAK SPACE}%")] and changes["traffic-cost"][0][0] == "change"
    days = {name: re.findall(r"<title>2026-1([^<]*)</title>", card) for name, card in cards}
    assert len(days["weekly"]) == 14 and days["weekly"][0] == "0-26: 70 bytes" and len(days["traffic-cost"]) == 7


def test_of_two_runs_over_one_day_the_later_counts() -> None:
    window = {"since": "2026-09-01T00:00:00Z", "until": "2026-09-03T00:00:00Z"}
    runs = [{"window": window, "key_figures": [{**FIGURE, "before": [], "days": days}]} for days in ([1.0, 2.0], [3.0, None])]
    assert sorted(days_of(runs).values()) == [2.0, 3.0]


def test_the_days_of_all_history_begin_with_the_history(tmp_path: Path) -> None:
    days = [{"since": f"2026-11-0{number}T00:00:00Z"} for number in (7, 8)]
    figure = {**FIGURE, "before": [], "days": [1.0, 2.0]}
    publish(tmp_path, "verdicts", "v0", "0001-01-01", "2026-11-09", key_figures=[figure], days=days)
    page = write_overview(tmp_path).read_text(encoding="utf-8")
    assert re.findall(r"<title>(2026[^<]*)</title>", page) == ["2026-11-07: 1 byte", "2026-11-08: 2 bytes"] * 2


def test_the_first_days_of_the_calendar_have_none_before(tmp_path: Path) -> None:
    figure = {**FIGURE, "before": [], "days": [1.0, 2.0]}
    publish(tmp_path, "verdicts", "v0", "0001-01-01", "0001-01-03", key_figures=[figure])
    assert "<title>0001-01-01: 1 byte</title>" in write_overview(tmp_path).read_text(encoding="utf-8")


def test_the_days_of_another_participant_are_no_own_cost(tmp_path: Path) -> None:
    for name, since, until, value in (("ours", "02", "04", 1.0), ("theirs", "04", "06", 7.0), ("ours", "06", "08", 2.0)):
        figures = [{**FIGURE, "label": "Own traffic cost", "before": [], "days": [value] * 2}]
        window = f"2026-11-{since}", f"2026-11-{until}"
        publish(tmp_path, "weekly", f"w{since}", *window, key_figures=figures, parameters={"participant": name})
    page = write_overview(tmp_path).read_text(encoding="utf-8")
    card = re.findall(r"<title>2026-11-(0[^<]*)</title>", page.partition('<ul class="cards">')[2])
    assert card == ["02: 1 byte", "03: 1 byte", "04: –", "05: –", "06: 2 bytes", "07: 2 bytes"]


def test_a_sparkline_marks_days_beyond_all_days_before() -> None:
    line = sparkline({**FIGURE, "before": [10.0, 20.0] * 10, "days": [15.0, 25.0]}, date(2026, 11, 2))  # type: ignore[typeddict-item]
    assert line is not None and line.outside == "M215 4h0"
    assert line.label.endswith("8 of 10 days before lie between 10 bytes and 20 bytes")


def test_a_day_between_unknown_ones_is_a_dot() -> None:
    line = sparkline({**FIGURE, "before": [], "days": [None, 1.0, None, 2.0, 3.0]}, date(2026, 11, 2))  # type: ignore[typeddict-item]
    assert line is not None and line.days == "M15 36h0M35 20L45 4"
