"""The report that a manager reads, over a moving window."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ledgerframes.cli import main
from ledgerframes.network import Network
from ledgerframes.report import REPORTS, ReportResult, notebooks_dir, run_report
from ledgerframes.statistics import printing

from .conftest import NoParameters, Small
from .test_page import assert_self_contained

pytestmark = pytest.mark.loopback
MORNING = {"since": "2026-11-08T00:00Z", "until": "2026-11-08T12:00Z"}
EVENING = {"since": "2026-11-08T12:00Z", "until": "2026-11-09T00:00Z"}
PRICES = {"price": "60 USD/MB", "rate": "0.16 USD/coin", "market": "0.15 USD/coin"}


def texts(result: ReportResult) -> dict[str, str]:
    """The statements of a page's head, each with its details."""
    return {each["term"]: " ".join([each["text"], *each["details"]]) for each in result.run["summary"]}


def test_a_second_run_shows_the_change_and_its_cause(
    net: Network, store: Path, tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    small("x = 1")
    weekly = REPORTS["weekly"]
    # The first page is of no interest, and the notebook takes seconds.
    monkeypatch.setitem(REPORTS, "weekly", replace(weekly, notebook="small.ipynb", parameters=NoParameters))
    first = run_report("weekly", net=net, out=tmp_path, **MORNING)
    monkeypatch.setitem(REPORTS, "weekly", replace(weekly, notebook=str(notebooks_dir() / weekly.notebook)))
    second = run_report("weekly", net=net, out=tmp_path, parameters=PRICES, **EVENING)
    assert second.latest.resolve() == second.directory

    before, after = (result.run["headline"]["total_traffic_cost"] for result in (first, second))
    change = texts(second)["Change of the known cost"]
    assert change.startswith(f"{after - before:+,} bytes".replace("-", "−"))
    assert "against the 12 hours before." in change
    assert " requests (" in change and "Participant " in change
    total = printing.at_least(after)  # the cost of some requests is unknown
    assert f"At least {total:,} bytes, which is " in texts(second)["Traffic cost"] and " USD or " in texts(second)["Traffic cost"]

    page = second.page_path.read_text(encoding="utf-8")
    assert_self_contained(page)
    for part in ('<a href="#who-paid">Who paid?</a>', '<h2 id="who-paid">', "<caption>Traffic cost by participant</caption>"):
        assert part in page
    assert '<a href="tables/statement.csv">' in page and '<th scope="col"' in page
    assert 'alt="Traffic cost by submitting participant.' in page and "A plot without a description" not in page

    settings = {"EVENTS": "600", "DAYS": "2", "STORE": str(store), "PROVISIONAL_MINUTES": "0"}
    for name, value in settings.items():
        monkeypatch.setenv(f"LEDGERFRAMES_{name}", value)
    window = ["--since", "2026-11-08T18:00Z", "--until", "2026-11-09"]
    command = [
        "report",
        "run",
        "weekly",
        "--profile",
        "sandbox",
        *window,
        "--out",
        str(tmp_path),
        "--min-coverage",
        "1",
        "--quiet",
    ]
    assert main(command) == 3
    assert second.latest.resolve() == second.directory and second.page_path.read_text(encoding="utf-8") == page
    assert "min_coverage" in (tmp_path / "weekly" / "FAILED.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "parameters", "tables"),
    [
        ("activity", {"market": "0.15 USD/coin"}, {"activity_weights", "activity_reconcile_summary", "rewards"}),
        ("operations", {"balance": 1_000_000}, {"wasted_by_participant", "head_of_line", "waited_for"}),
    ],
)
def test_the_other_reports_run_on_frozen_data(
    net: Network, tmp_path: Path, name: str, parameters: dict[str, object], tables: set[str]
) -> None:
    result = run_report(name, net=net, out=tmp_path, parameters=parameters, **EVENING)
    page = result.page_path.read_text(encoding="utf-8")
    assert_self_contained(page)
    assert tables <= set(result.run["tables"])
    assert "A plot without a description" not in page and "nan" not in page.partition("<footer>")[0].lower().split()
