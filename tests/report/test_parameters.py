"""Wrong arguments are errors before anything is fetched or written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.errors import CoverageError, ReportError, UsageError
from ledgerframes.network import Network
from ledgerframes.report import REPORTS, load_history, notebooks_dir, run_report
from ledgerframes.report.loads import require_participant
from ledgerframes.report.registry import find_report

from .conftest import connect

WINDOW = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        (
            "traffic",
            WINDOW,
            f"Unknown report 'traffic'. Choose from {', '.join(REPORTS)}, or pass",
        ),
        (
            "traffic-cost",
            {**WINDOW, "parameters": {"tpo": 3}},
            "Unknown parameter 'tpo' of report traffic-cost. Choose from every, top, price, rate.",
        ),
        ("traffic-cost", {**WINDOW, "parameters": {"top": "many"}}, "top= of report traffic-cost must be a valid integer."),
        (
            "traffic-cost",
            {**WINDOW, "parameters": {"top": "0"}},
            "top= of report traffic-cost must be greater than or equal to 1.",
        ),
        ("traffic-cost", {**WINDOW, "parameters": {"every": "2 moons"}}, "every= of report traffic-cost must be '15min', '1h'"),
        ("weekly", {**WINDOW, "parameters": {"price": "60"}}, "price= must be an amount and a unit"),
        ("weekly", {**WINDOW, "parameters": {"price": "60 USD/coin"}}, "price= cannot be '60 USD/coin': the unit must be like"),
        ("weekly", {**WINDOW, "parameters": {"rate": "many USD/coin"}}, "rate= cannot be 'many USD/coin': the amount must be"),
        ("weekly", {**WINDOW, "parameters": {"rate": "0.16"}}, "rate= must be an amount and a unit, such as '0.16 USD/coin'"),
        ("weekly", {**WINDOW, "parameters": {"price": "none", "rate": "0.16 USD/coin"}}, "Pass price= too"),
        ("weekly", {**WINDOW, "parameters": {"price": "60 USD/MB", "rate": "0.16 EUR/coin"}}, "rate= must be in USD"),
        ("operations", {**WINDOW, "parameters": {"budgets": "x"}}, "budgets= must be pairs like"),
        ("operations", {**WINDOW, "parameters": {"budgets": "Coin=5"}}, "budgets= must have names like 'Module:Entity/Choice'"),
        ("operations", {**WINDOW, "parameters": {"budgets": "A:B=5, A:B=6"}}, "budgets= must have one budget for each kind"),
        ("verdicts", {"since": "2026-11-09", "until": "2026-11-08"}, "must be before"),
        ("verdicts", {"during": "last-weak"}, "Unknown during="),
        ("verdicts", {}, "Pass since="),
        (
            "verdicts",
            {"during": "last-month", "fail_if": ["wasted_share > 1", "findings > 0"]},
            "fail_if= 'findings > 0' would always fail, because a report finds nothing in windows of more than 7 days.",
        ),
        ("verdicts", {**WINDOW, "min_coverage": 99.0}, "min_coverage= must be"),
        ("verdicts", {**WINDOW, "max_age": timedelta(0)}, "max_age= must be"),
        ("verdicts", {**WINDOW, "max_age": 3600}, "max_age= must be a timedelta or a text such as 36h, got 3600."),
        ("verdicts", {**WINDOW, "keep": 0}, "keep= must be a whole number of at least 1, got 0."),
        ("verdicts", {**WINDOW, "keep": 2.5}, "keep= must be a whole number of at least 1, got 2.5."),
        ("verdicts", {**WINDOW, "keep": "2"}, "keep= must be a whole number of at least 1, got '2'."),
        ("verdicts", {**WINDOW, "timeout": "0h"}, "timeout= must be longer than 0, such as 1h, got '0h'."),
    ],
)
def test_a_wrong_call_does_nothing(net: Network, tmp_path: Path, name: str, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=r".") as caught:
        run_report(name, net=net, out=tmp_path / "out", **arguments)
    assert words in str(caught.value)
    assert net.request_count == 0
    assert not (tmp_path / "out").exists()


def test_an_unwritable_directory_is_reported_first(net: Network, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UsageError, match="Choose another directory"):
        run_report("verdicts", net=net, out=tmp_path / "out", **WINDOW)
    assert net.request_count == 0


def test_an_unknown_participant_is_refused_before_all_other_work(net: Network, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Unknown participant 'nobody'"):
        run_report("operations", net=net, out=tmp_path / "out", parameters={"participant": "nobody"}, **WINDOW)
    assert not [*(tmp_path / "out" / "operations").glob("*T*Z_*")]


def test_a_participant_of_the_weeks_before_can_have_a_quiet_day(tmp_path: Path) -> None:
    """Without these weeks, nobody can tell whether it is unknown."""
    net = connect(tmp_path)
    frames = lf.load_events(net, since="2026-11-08T22:00Z", until="2026-11-08T23:00Z")
    with pytest.raises(
        CoverageError, match=r"'nobody' submitted no request in 2026-11-08T22.*weeks before\. Load them, or check"
    ):
        require_participant(net, frames, "nobody")
    weeks = load_history(net, frames)
    assert isinstance(weeks, lf.Frames)
    quiet = set(weeks.verdicts["submitting_participant_uid"]) - set(frames.verdicts["submitting_participant_uid"])
    require_participant(net, frames, min(quiet))
    with pytest.raises(UsageError, match="Unknown participant 'nobody'"):
        require_participant(net, frames, "nobody")


@pytest.mark.parametrize("balance", [None, 0, 1_000])
def test_a_window_without_requests_is_no_unknown_participant(net: Network, tmp_path: Path, balance: int) -> None:
    parameters = {"participant": "nobody", "balance": balance}
    with pytest.raises(CoverageError, match="before the history"):
        run_report("operations", net=net, out=tmp_path, since="2020-01-01", until="2020-01-02", parameters=parameters)


def test_texts_become_typed_values() -> None:
    assert find_report("operations").parse_parameters({"balance": "0"})["balance"] == 0
    assert find_report("operations").parse_parameters({})["balance"] is None
    assert find_report("traffic-cost").parse_parameters({"top": "7"}) == {"every": "1h", "top": 7, "price": "", "rate": ""}


def test_every_report_has_its_notebook() -> None:
    assert all(report.path.parent == notebooks_dir() for report in REPORTS.values())


def test_a_report_whose_notebook_is_missing_says_what_to_do() -> None:
    with pytest.raises(ReportError, match=r"The notebook gone\.ipynb of report verdicts is missing\. Install"):
        _ = replace(REPORTS["verdicts"], notebook="gone.ipynb").path
