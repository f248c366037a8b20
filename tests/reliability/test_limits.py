"""A week of a network that lets 120 requests in 60 seconds pass, with the log of its waits."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

import pytest
from campaign import tell
from equality import assert_equal, every_table
from virtual_clock import VirtualClock

import ledgerframes as lf
from ledgerframes.sandbox import Faults

WEEK = {"since": "2026-11-02", "until": "2026-11-09"}
SHAPE = {"events": 1750, "days": 8, "max_concurrency": 4}


class Log(logging.Handler):
    """The waits of requests, with the time of the clock."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._clock, self._begin = clock, clock.now()

    def emit(self, record: logging.LogRecord) -> None:
        passed = timedelta(seconds=round(self._clock.now() - self._begin))
        self.lines.append(f"{passed} {record.getMessage()}")


@pytest.mark.exhaustive
def test_a_week_through_a_limiter_costs_time_and_no_row(
    tmp_path: Path, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    quiet = lf.load_events(lf.connect("sandbox", store=tmp_path / "quiet", **SHAPE), **WEEK)
    limiter = Faults(limit_requests=120, limit_seconds=60, retry_after=0.5)
    net = lf.connect("sandbox", store=tmp_path / "limited", page_size=4, faults=limiter, **SHAPE)
    begin, log = clock.time, Log(clock)
    with caplog.at_level(logging.INFO, "ledgerframes.retries"):
        logging.getLogger("ledgerframes.retries").addHandler(log)
        limited = lf.load_events(net, **WEEK)
        logging.getLogger("ledgerframes.retries").removeHandler(log)
    expected = every_table(quiet)
    assert_equal(every_table(limited), expected)
    minutes = (clock.time - begin) / 60
    assert net.request_count > 360 and log.lines and all("429" in line or "Busy" in line for line in log.lines)
    # Not faster than the limiter lets pass, and not idle for most of the time.
    assert net.request_count / 120 - 1 <= minutes <= 4 * net.request_count / 120 + 2
    tell(
        "limiter",
        requests=net.request_count,
        minutes=round(minutes, 1),
        waits=len(log.lines),
        rows=sum(map(len, expected.values())),
        log=log.lines[:30],
    )
