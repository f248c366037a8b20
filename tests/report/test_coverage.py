"""How much is covered, how fresh it is, and whether that is enough."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report import run_report
from ledgerframes.report.coverage import Coverage, Requirements, measure_coverage, require_requests
from ledgerframes.report.headline import measure_headline
from ledgerframes.settings import Settings
from ledgerframes.values.extents import Migration, MigrationWindow, microseconds
from ledgerframes.values.windows import Window

DAY = datetime(2026, 11, 8, tzinfo=UTC)
NOW = DAY + timedelta(days=1)
WHOLE = Coverage(1.0, 0.0, 0.0, 10, 0, 4, 3, NOW, ("h",))


def hours(first: float, last: float) -> Window:
    return Window(DAY + timedelta(hours=first), DAY + timedelta(hours=last))


def stored(root: Path, *parts: tuple[int, Window, bool], migrations: Sequence[Migration] = ()) -> Network:
    """A network whose store holds these parts, without rows: (migration, range, final)."""
    net = Network(Settings(network="n", store=root), offline=True, clock=lambda: NOW)
    for migration_id, window, final in parts:
        net.store.commit(EVENTS, MigrationWindow.of(migration_id, window), {}, final=final, source=f"host{migration_id}")
    net.store.save_migrations(migrations or [Migration(number, microseconds(DAY)) for number in {part[0] for part in parts}])
    return net


def measured(net: Network, window: Window) -> Coverage:
    frames = load_events(net, since=window.since, until=window.until)
    return measure_coverage(net, frames, window, measure_headline(frames))


def test_final_and_provisional_shares(tmp_path: Path) -> None:
    coverage = measured(stored(tmp_path, (3, hours(0, 18), True), (3, hours(18, 24), False)), hours(0, 24))
    assert (coverage.final, coverage.provisional, coverage.missing) == (0.75, 0.25, 0.0)
    assert coverage.data_until == DAY + timedelta(hours=18)
    assert coverage.sources == ("host3",)
    assert coverage.known_cost_share is None


def test_time_is_final_only_where_all_migrations_are(tmp_path: Path) -> None:
    parts = [(3, hours(0, 24), True), (4, hours(0, 12), True), (4, hours(12, 24), False)]
    assert measured(stored(tmp_path, *parts), hours(0, 24)).final == 0.5


def test_time_before_the_first_row_of_a_network_is_not_covered(tmp_path: Path) -> None:
    net = stored(tmp_path, (3, hours(0, 24), True))
    coverage = measured(net, hours(-24, 24))
    assert (coverage.final, coverage.provisional, coverage.missing) == (0.5, 0.0, 0.5)


def test_the_pause_between_two_migrations_is_covered(tmp_path: Path) -> None:
    end, start = (microseconds(time) for time in (hours(0, 10).until, hours(12, 24).since))
    parts = [(3, hours(0, 10), True), (4, hours(12, 18), True), (4, hours(18, 24), False)]
    coverage = measured(
        stored(tmp_path, *parts, migrations=[Migration(3, microseconds(DAY), end), Migration(4, start)]), hours(0, 24)
    )
    assert (coverage.final, coverage.provisional, coverage.missing) == (0.75, 0.25, 0.0)


def test_a_window_after_all_events_names_them(net: Network) -> None:
    load_events(net, since=DAY, until=NOW)
    nothing = Coverage(0.0, 0.0, 1.0, 0, 0, 0, 0, None, ())
    with pytest.raises(CoverageError, match=r"has no events in .*: its events begin at 2026-.* and end at 2026-11-0"):
        require_requests(net, nothing, Window(NOW + timedelta(days=1), NOW + timedelta(days=2)))


def test_rows_of_the_sandbox_are_counted(net: Network) -> None:
    frames = load_events(net, since=DAY, until=NOW)
    coverage = measure_coverage(net, frames, Window(DAY, NOW), measure_headline(frames))
    assert coverage.rows == sum(len(frames.read(table)) for table in frames.tables)
    assert coverage.requests_with_cost == len(frames.traffic)
    assert coverage.provisional_rows == 0


def test_enough_is_enough() -> None:
    Requirements(1.0, timedelta(hours=1)).check(WHOLE, needs_cost=False, now=NOW)


def test_unknown_traffic_counts_where_costs_matter() -> None:
    with pytest.raises(
        CoverageError, match=r"Only 75\.0 % of the requests have a known cost, less than the 90\.0 % of min_coverage="
    ):
        Requirements(0.9, None).check(WHOLE, needs_cost=True, now=NOW)


def test_a_window_that_is_not_final_enough() -> None:
    coverage = Coverage(0.999, 0.001, 0.0, 10, 1, 4, 4, NOW, ())
    with pytest.raises(CoverageError, match=r"Only 99\.9 % of the window is final"):
        Requirements(1.0, None).check(coverage, needs_cost=False, now=NOW)


def test_data_that_are_too_old() -> None:
    with pytest.raises(CoverageError, match=r"are 3\.0 days old, older than the 48 minutes of max_age=\."):
        Requirements(None, timedelta(minutes=48)).check(WHOLE, needs_cost=False, now=NOW + timedelta(days=3))


def test_no_data_are_too_old() -> None:
    nothing = Coverage(0.0, 1.0, 0.0, 0, 0, 0, 0, None, ())
    with pytest.raises(CoverageError, match=r"No data in this window are newer than the 24 hours of max_age=\."):
        Requirements(None, timedelta(days=1)).check(nothing, needs_cost=False, now=NOW)


def test_a_window_before_the_history_is_not_covered_by_nothing(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store")
    with pytest.raises(CoverageError, match=r"before the history of .* begins at 2026-11-08"):
        run_report("traffic-cost", net=net, out=tmp_path, during="2026-10-01", min_coverage=0.5)
    assert not (tmp_path / "latest" / "traffic-cost").exists()
