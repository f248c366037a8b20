"""The weeks before a report, from the store or from the days that published runs kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.network import Network
from ledgerframes.report import REPORTS, Report, run_report
from ledgerframes.report.history import DAY_DTYPES, days_of_runs
from ledgerframes.report.loads import history_window
from ledgerframes.sandbox.sandbox import WORLD_VERSION
from ledgerframes.values.windows import Window, iso

from .conftest import SINCE, UNTIL, NoParameters, Small, connect, without_kernel

START = datetime(2026, 11, 8, tzinfo=UTC)
WINDOW = Window(START - timedelta(weeks=6), START)


def day(number: int, **values: object) -> dict[str, object]:
    """A day that a run keeps, counted back from the report."""
    integers = dict.fromkeys(("requests", "requests_with_cost"), 1000) | {"rejected": 100}
    costs = {"wasted_traffic_cost": 400_000, "total_traffic_cost": 5_000_000}
    return {"since": iso(START - timedelta(days=number)), **integers, **costs, "is_whole": True, **values}


def run_of(*days: dict[str, object], network: str = "n") -> dict[str, Any]:
    return {"network": network, "days": list(days)}


def test_days_of_this_network_in_the_weeks_before_count_once() -> None:
    runs = [
        run_of(day(2), day(1, rejected=7), day(0)),  # the last is the report's own
        run_of(day(43), day(42), day(3, is_whole=False)),
        run_of(day(5), network="other"),
        {"network": "n"},  # of an earlier version
        run_of(day(1, rejected=8)),
    ]
    days = days_of_runs(runs, "n", WINDOW)
    assert [(START - time).days for time in days["period_start"]] == [42, 2, 1]
    assert days["rejected"].tolist() == [100, 100, 8]
    assert days.dtypes.astype(str).to_dict() == {
        name: "datetime64[us, UTC]" if "time" in dtype else dtype for name, dtype in DAY_DTYPES.items()
    }
    assert days_of_runs([], "n", WINDOW).empty


def test_the_first_year_has_no_weeks_before() -> None:
    assert history_window(Window(START, START + timedelta(days=1))) == WINDOW
    assert history_window(Window(datetime(1, 1, 1, tzinfo=UTC), START)) is None


NOTEBOOK = """
import ledgerframes as lf
from ledgerframes.report import describe_waste, load_history, show_text
net = lf.connect()
frames = lf.load_events(net, since=since, until=until)
history = load_history(net, frames)
(row,) = lf.cost.wasted(frames, history=history).itertuples()
assert abs(row.center - 0.08) < 1e-12 and 0.08 < row.upper < 1, row
show_text(describe_waste(frames, history))
"""


def publish(out: Path, name: str, days: list[dict[str, object]], created_at: datetime = START) -> None:
    """Publish a run by hand."""
    directory = out / name / "run"
    directory.mkdir(parents=True)
    (directory / "index.html").write_text("", encoding="utf-8")
    window = {"since": iso(WINDOW.since), "until": iso(WINDOW.until)}
    facts = {"created_at": iso(created_at), "window": window, "coverage": {"final": 1.0}, "days": days}
    run = {"network": f"sandbox-v{WORLD_VERSION}-seed1-events600-days2", **facts, "headline": {"requests": 1}}
    (directory / "run.json").write_text(json.dumps(run), encoding="utf-8")


@pytest.mark.loopback
def test_a_run_without_the_weeks_in_its_store_reads_the_days_of_earlier_runs(
    tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REPORTS, "small", Report("small", "", "small.ipynb", NoParameters, needs_cost=False, needs_history=True))
    small(NOTEBOOK)
    net = connect(tmp_path / "store")
    lf.load_events(net, since=SINCE, until=UNTIL)
    publish(tmp_path / "out", "older", [day(number) for number in range(1, 43)])
    result = run_report("small", net=net, out=tmp_path / "out", since=SINCE, until=UNTIL)
    assert result.run["request_count"] == 0
    assert "above its usual range" in result.page_path.read_text(encoding="utf-8")
    assert len(result.run["inputs"]["history"]) == 64
    publish(tmp_path / "out", "newer", [day(1, rejected=101)], START + timedelta(hours=1))
    with without_kernel():
        assert run_report("small", net=net, out=tmp_path / "out", since=SINCE, until=UNTIL).key != result.key


@pytest.mark.usefixtures("no_kernel")
def test_an_online_run_fetches_again_what_is_provisional_in_the_weeks_before(
    tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REPORTS, "small", Report("small", "", "small.ipynb", NoParameters, needs_cost=False, needs_history=True))
    small("x = 1")
    net = lf.connect("sandbox", events=600, days=2, store=tmp_path / "store")
    early = Network(net.settings, transport=net._transport, clock=lambda: START + timedelta(hours=6, minutes=5))
    lf.load_events(early, since="2026-09-27", until="2026-11-08T06:00Z")  # provisional at its end
    run_report("small", net=net, out=tmp_path / "out", since="2026-11-08T06:00Z", until="2026-11-08T12:00Z")
    offline = Network(net.settings, clock=net.now, offline=True)
    weeks = lf.load_events(offline, since="2026-09-27T06:00Z", until="2026-11-08T06:00Z")
    assert weeks.coverage["status"].unique().tolist() == ["final"]
