"""What needs attention stands below the key figures, as the findings say it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.analysis.finding_names import BALANCE, COMPARED, NOT_FINAL, NOT_IN_STORE, ONE_COST, REWARDS
from ledgerframes.analysis.findings._measures import NAMES
from ledgerframes.analysis.findings._weeks import SUBJECTS
from ledgerframes.report import REPORTS, Report, load_history, overview, run_report
from ledgerframes.report.attention import describe_attention
from ledgerframes.report.notebook import read_notebook
from ledgerframes.report.registry import ABOUT
from ledgerframes.report.sentences import Attention

from .conftest import without_kernel
from .declared import differences
from .stored import text_of

WEEK = {"since": "2026-11-02", "until": "2026-11-09"}


HEADINGS = {"latency": "How fast?", "confirming party": "Who is slow?"}


def found_of(*subjects: tuple[str, str]) -> pd.DataFrame:
    """Findings of these subjects and measures."""
    rows = [(subject, what, f"Finding {number}.", f"Step {number}.") for number, (subject, what) in enumerate(subjects)]
    found = pd.DataFrame(rows, columns=["subject", "what", "sentence", "next_step"]).assign(effect_bytes=0)
    found.attrs |= {"sentence": "1,200 figures were compared with the 6 weeks before.", "looked_at": 1_200}
    return found


@pytest.mark.parametrize(("count", "shown", "others"), [(0, 0, 0), (5, 5, 0), (7, 5, 2)])
def test_at_most_five_sentences_are_shown(count: int, shown: int, others: int) -> None:
    attention = describe_attention(found_of(*[("day", "latency")] * count), HEADINGS)
    assert [finding["text"] for finding in attention["findings"]] == [f"Finding {number}." for number in range(shown)]
    assert (attention["others"], attention["summary"]) == (others, found_of().attrs["sentence"])


def test_a_page_has_the_findings_that_it_shows_and_the_number_of_the_others() -> None:
    found = found_of(("hour", "requests"), ("party", "latency"), ("confirming party", "latency"), ("data", "not final yet"))
    attention = describe_attention(found, HEADINGS)
    assert attention["findings"] == [
        {"text": "Finding 1.", "what": "latency", "effect": "", "heading": "How fast?", "next_step": "Step 1."},
        {"text": "Finding 2.", "what": "latency", "effect": "", "heading": "Who is slow?", "next_step": "Step 2."},
        {"text": "Finding 3.", "what": "not final yet", "effect": "", "heading": ABOUT, "next_step": "Step 3."},
    ]
    assert attention["elsewhere"] == "1 of them is on requests, which other pages explain."
    none = describe_attention(found_of(("hour", "requests"), ("day", "unknown costs")), HEADINGS)
    assert none["findings"] == []
    assert none["elsewhere"] == "They are on requests and unknown costs, which other pages explain."
    one = describe_attention(found_of(("hour", "requests")), HEADINGS)
    assert one["elsewhere"] == "It is on requests, which other pages explain."
    nothing = describe_attention(found_of(), dict.fromkeys(COMPARED[1:], "Everything else"))
    assert nothing["elsewhere"] == ""


def test_nothing_is_called_usual_that_was_not_compared() -> None:
    found = found_of()
    found.attrs["looked_at"] = 0
    assert describe_attention(found, HEADINGS)["elsewhere"] == ""


def test_measures_are_those_of_findings_that_a_report_can_have() -> None:
    assert {*COMPARED} == {*NAMES, ONE_COST}
    assert {*REPORTS["weekly"].headings} == {*COMPARED, BALANCE}


@pytest.mark.parametrize("report", REPORTS.values(), ids=lambda report: report.name)
def test_each_report_compares_with_the_weeks_before_and_has_the_headings(report: Report) -> None:
    book = read_notebook(report.path)
    lines = [line for cell in book["cells"] if cell["cell_type"] == "markdown" for line in cell["source"].splitlines()]
    headings = {line.lstrip("# ") for line in lines if line.startswith("##")}
    assert report.needs_history, "a report of this package says what is unusual: declare needs_history=True"
    assert report.headings, "declare headings={measure: heading of the notebook}"
    assert {*report.headings} <= {*COMPARED, REWARDS, *SUBJECTS}
    assert {*report.headings.values()} <= headings


@pytest.mark.parametrize("name", [report.name for report in REPORTS.values() if ONE_COST in report.headings])
def test_a_costly_request_leads_to_the_table_of_the_largest(name: str) -> None:
    attention = describe_attention(found_of(("request", "cost of one request")), REPORTS[name].headings)
    (heading,) = [each["heading"] for each in attention["findings"]]
    cells = [cell["source"] for cell in read_notebook(REPORTS[name].path)["cells"]]
    (number,) = [number for number, source in enumerate(cells) if source.lstrip("# ").startswith(f"{heading}\n")]
    assert "lf.cost.requests(frames, top=top)" in cells[number + 1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["verdicts", "traffic-cost", "activity"])
def test_a_page_says_what_the_findings_say(net_of_weeks: lf.Network, tmp_path: Path, name: str) -> None:
    with without_kernel():
        result = run_report(name, net=net_of_weeks, out=tmp_path, **WEEK)
    frames = lf.load_events(net_of_weeks, **WEEK)
    weeks = load_history(net_of_weeks, frames)
    assert isinstance(weeks, lf.Frames)
    found = lf.findings(frames, history=weeks)
    assert found.attrs["weeks"] >= 4
    assert result.run["attention"] == describe_attention(found, REPORTS[name].headings)
    assert result.run["headline"]["findings"] == len(found)
    page = result.page_path.read_text(encoding="utf-8")
    (section,) = re.findall(r'<section class="attention(?: calm)?">.*?</section>', page, re.DOTALL)
    shown = found[found["what"].isin([*REPORTS[name].headings, NOT_IN_STORE, NOT_FINAL])]["sentence"].head(5).tolist()
    item = r"<li>(.*?)(?: <a href=\"#([^\"]*)\">.*?</a>)? <span class=\"next\"><b>Next step</b> (.*?)</span></li>"
    items = re.findall(item, section, re.DOTALL)
    assert [text_of(text) for text, *_ in items] == shown
    assert all(f'id="{anchor}"' in page for _, anchor, _ in items)
    steps = dict(zip(found["sentence"], found["next_step"], strict=True))
    assert [text_of(step) for *_, step in items] == [steps[text] for text in shown]
    assert found.attrs["sentence"] in text_of(section)
    heading = "Needs attention" if shown else "No findings on this page" if len(found) else "Findings"
    assert f">{heading}</h2>" in section and ('class="attention calm"' in section) == (not shown)


@pytest.mark.exhaustive
def test_a_balance_that_ends_soon_needs_attention(net_of_weeks: lf.Network, tmp_path: Path) -> None:
    parameters = {"price": "50 USD/MB", "balance": 100_000}
    with without_kernel():
        result = run_report("operations", net=net_of_weeks, out=tmp_path, parameters=parameters, **WEEK)
    frames = lf.load_events(net_of_weeks, **WEEK)
    payer = lf.cost.spend(frames, by="participant")["submitting_participant_uid"][0]
    price, balance = lf.TrafficPrice("50", "USD/MB"), lf.TrafficBalance(100_000, WEEK["until"])
    history = load_history(net_of_weeks, frames)
    assert isinstance(history, lf.Frames) and history.window is not None
    weeks = lf.load_events(net_of_weeks, since=history.window.since, until=WEEK["until"])
    found = lf.findings(frames, history=weeks, price=price, participant=payer, balance=balance)
    assert result.run["attention"] == describe_attention(found, REPORTS["operations"].headings)
    assert [*differences(result.run["attention"], Attention)] == []
    headings = {each["text"]: each["heading"] for each in result.run["attention"]["findings"]}
    (ends,) = [text for text in headings if text.startswith("The balance of participant")]
    assert headings[ends] == "How long does the traffic balance last?" and "can run out on 2026-11-09" in ends


def run_with(findings: list[str], *, others: int = 0) -> dict[str, Any]:
    """What an overview reads of a run, with findings of which that on C is of a version without next steps."""
    items = [{"text": each, "next_step": f"Ask {each}"} if each != "C." else {"text": each} for each in findings]
    attention = {"summary": "9 figures were compared.", "findings": items, "others": others}
    window = {"since": "2026-11-02T00:00:00Z", "until": "2026-11-09T00:00:00Z"}
    times = {"key": "k", "created_at": "2026-11-10T00:00:00+00:00", "network": "test", "window": window}
    return {**times, "key_figures": [], "attention": attention}


def test_the_overview_lists_each_finding_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runs = {"weekly": run_with(["A.", "B.", "<b>"], others=1), "verdicts": run_with(["B.", "C."]), "activity": run_with([])}
    for name, run in runs.items():
        (tmp_path / name / "k").mkdir(parents=True)
        (tmp_path / name / "k" / "run.json").write_text(json.dumps({**run, "report": name}))
        (tmp_path / "latest").mkdir(exist_ok=True)
    monkeypatch.setattr(overview, "report_names", lambda _: list(runs))
    monkeypatch.setattr(overview, "_latest", lambda report_dir: {**runs[report_dir.report], "report": report_dir.report})
    page = overview.render_overview(tmp_path, datetime(2026, 11, 11, tzinfo=UTC))
    (section,) = re.findall(r'<section class="attention">.*?</section>', page, re.DOTALL)
    items = re.findall(
        r'<li><b>(.*?)</b>[.]? <a href="([^"]*)">(.*?)</a>(?: <span class="next"><b>Next step</b> (.*?)</span>)?</li>', section
    )
    link = "/k/index.html#needs-attention"
    assert items == [
        *((text, f"weekly{link}", "weekly", f"Ask {text}{'' if ';' in text else '.'}") for text in ("A", "B", "&lt;b&gt;")),
        ("C", f"verdicts{link}", "verdicts", ""),
    ]
    assert re.findall(r'<p class="finding">(.*?)</p>', page) == ["4 findings", "2 findings", "No findings"]
