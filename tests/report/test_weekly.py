"""The report that a manager reads, over a moving window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from ledgerframes.cli import main
from ledgerframes.network import Network
from ledgerframes.report import ReportResult, run_report

from .activity_by_hand import sentences_on_activity
from .conftest import without_kernel
from .page_checks import assert_head, assert_notes, assert_prose, assert_statements, page_of, sides_of
from .stored import Stored, elements, least_size_of, root_of, window_of
from .test_page import assert_self_contained
from .traffic_by_hand import Sides, signed_size
from .week_by_hand import sentences_on_operations, sentences_on_the_week

pytestmark = pytest.mark.loopback
MORNING = {"since": "2026-11-08T00:00Z", "until": "2026-11-08T12:00Z"}
EVENING = {"since": "2026-11-08T12:00Z", "until": "2026-11-09T00:00Z"}
DAYS = {"since": "2026-11-07T22:00Z", "until": "2026-11-08T18:00Z"}  # of two days
PRICES = {"price": "50 USD/MB", "rate": "0.16 USD/coin", "market": "0.15 USD/coin"}


def texts(result: ReportResult) -> dict[str, str]:
    """The statements of a page's head, each with its details."""
    return {each["term"]: " ".join([each["text"], *each["details"]]) for each in result.run["summary"]}


def test_a_second_run_shows_the_change_and_its_cause(
    net: Network, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with without_kernel():  # the first page is of no interest
        first = run_report("weekly", net=net, out=tmp_path, **MORNING)
    second = run_report("weekly", net=net, out=tmp_path, parameters=PRICES, **EVENING)
    assert second.latest.resolve() == second.directory

    before, after = (result.run["headline"]["total_traffic_cost"] for result in (first, second))
    change = texts(second)["Change of the known cost"]
    assert change.startswith(signed_size(after - before))
    assert "against the 12 hours before." in change
    assert " requests with a known cost (" in change and "Participant " in change
    assert (
        f"At least {least_size_of(after)}, which is " in texts(second)["Traffic cost"]
        and " USD or " in texts(second)["Traffic cost"]
    )

    sides = sides_of(second, net, has_before=True, whole=whole_history(second, net))
    assert_made_again(second, sides, sentences_on_the_week(sides), least=4)
    page = second.page_path.read_text(encoding="utf-8")
    assert_self_contained(page)
    for part in (
        '<summary><h2 id="who-paid">Who paid?</h2></summary>',
        "<caption>Traffic cost by participant, highest first</caption>",
    ):
        assert part in page
    assert '<a href="tables/statement.csv">' in page and '<th scope="col"' in page
    assert 'alt="Change of the traffic cost' in page and "A plot without a description" not in page

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


def whole_history(result: ReportResult, net: Network) -> Stored:
    return Stored(root_of(net), datetime.min.replace(tzinfo=UTC), window_of(result)[1])


def assert_made_again(result: ReportResult, sides: Sides, sentences: list[str], least: int) -> None:
    """Each sentence, statement and number of a page follows from the files of the store."""
    assert elements(page_of(result), "statement") == sentences
    assert_statements(result, sides)
    assert_prose(result)
    assert_notes(result, least)
    assert_head(result, sides.after)


def test_the_report_on_activity_runs_on_frozen_data(net: Network, tmp_path: Path) -> None:
    result = run_report("activity", net=net, out=tmp_path, parameters={"market": "0.15 USD/coin"}, **DAYS)
    assert_whole(result, {"activity_weights_by_party", "activity_reconcile_totals", "rewards", "reward_links"})
    sides = sides_of(result, net, has_before=True, whole=whole_history(result, net))
    assert_made_again(result, sides, sentences_on_activity(sides), least=3)


@pytest.mark.exhaustive
def test_the_report_on_operations_runs_on_frozen_data(net: Network, tmp_path: Path) -> None:
    result = run_report("operations", net=net, out=tmp_path, parameters={"balance": 1_000_000}, **DAYS)
    assert_whole(result, {"wasted_by_participant", "head_of_line", "waited_for"})
    wasted = pd.read_parquet(result.directory / "tables" / "wasted_by_participant.parquet")["wasted_traffic_cost"].dropna()
    assert len(wasted) > 5 and wasted.is_monotonic_decreasing
    sides = sides_of(result, net, has_before=True)
    weeks = Stored(root_of(net), sides.after.since - timedelta(weeks=6), sides.after.since)
    assert_made_again(result, sides, sentences_on_operations(sides, weeks), least=3)


def assert_whole(result: ReportResult, tables: set[str]) -> None:
    page = page_of(result)
    assert_self_contained(page)
    assert tables <= set(result.run["tables"])
    assert "A plot without a description" not in page and "nan" not in page.partition("<footer>")[0].lower().split()
