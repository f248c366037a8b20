"""A host that pushes back costs time, never the load."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest
from cases import every_nth
from virtual_clock import VirtualClock

import ledgerframes as lf
from ledgerframes.api import host_rates
from ledgerframes.api.host_rates import HostRate, HostRates, Waits, backoff
from ledgerframes.api.status_errors import retry_after
from ledgerframes.api.transport import Transport
from ledgerframes.errors import BusyError, InternalServerError, ServiceUnavailableError
from ledgerframes.loaders.progress import Progress
from ledgerframes.sandbox import Faults
from ledgerframes.settings import Limits
from ledgerframes.store.rate_file import RateFile

Handler = Callable[[httpx.Request], httpx.Response]
ONE, TWO = "http://one.invalid/api", "http://two.invalid/api"


def transport(handler: Handler, *urls: str, **limits: float) -> Transport:
    return Transport(urls or (ONE,), Limits(**{"requests_per_second": 0, **limits}), httpx.MockTransport(handler))  # type: ignore[arg-type]


def busy(count: int, status: int = 429, **headers: str) -> Handler:
    left = [count]

    def handler(_: httpx.Request) -> httpx.Response:
        left[0] -= 1
        if left[0] < 0:
            return httpx.Response(200, json={})
        return httpx.Response(status, headers={name.replace("_", "-"): value for name, value in headers.items()})

    return handler


def test_requests_are_spaced_evenly(clock: VirtualClock) -> None:
    one = HostRate(4)
    for _ in range(9):
        one.acquire(Waits())
    assert clock.time == 1002.0


@pytest.mark.parametrize("status", [429, 503])
def test_refusals_are_waited_for_beyond_the_number_of_retries(status: int, clock: VirtualClock) -> None:
    sender = transport(busy(12, status), retries=1)
    assert sender.request("GET", "/thing").body == b"{}"
    assert sender.request_count == 13
    assert 0.4 * (2**7 - 1) + 5 * 30 - 30 <= clock.time - 1000 <= 400


@pytest.mark.parametrize("seconds", [7, 45, 600])
def test_retry_after_is_obeyed_whatever_its_length(seconds: int, clock: VirtualClock) -> None:
    assert transport(busy(1, Retry_After=str(seconds))).request("GET", "/thing").body == b"{}"
    assert clock.time - 1000 == seconds


@pytest.mark.parametrize("status", [429, 500, 502])
def test_a_retry_after_of_0_is_retried_at_once(status: int, clock: VirtualClock) -> None:
    assert transport(busy(1, status, Retry_After="0"), retries=1).request("GET", "/thing").body == b"{}"
    assert clock.time == 1000


def test_retry_after_may_be_a_date() -> None:
    now = datetime(2026, 11, 1, 12, tzinfo=UTC)
    later = format_datetime(now + timedelta(seconds=90), usegmt=True)
    assert retry_after({"Retry-After": later, "Date": format_datetime(now, usegmt=True)}) == 90
    assert retry_after({"Retry-After": format_datetime(now - timedelta(days=1), usegmt=True)}) == 0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({"Retry-After": "9" * 400}) is None
    assert retry_after({}) is None


def test_a_host_that_refuses_everything_is_given_up_after_the_minutes_of_the_user(clock: VirtualClock) -> None:
    with pytest.raises(BusyError, match="raise max_wait_minutes="):
        transport(lambda _: httpx.Response(429), max_wait_minutes=5).request("GET", "/thing")
    assert 240 <= clock.time - 1000 <= 300


def test_a_pause_beyond_the_minutes_of_the_user_is_not_waited_for(clock: VirtualClock) -> None:
    with pytest.raises(BusyError):
        transport(busy(1, Retry_After="7200"), max_wait_minutes=30).request("GET", "/thing")
    assert clock.time == 1000


@pytest.mark.parametrize("status", [408, 499, 500, 502, 504])
def test_a_long_retry_after_of_any_status_leaves_it_to_the_next_host(status: int, clock: VirtualClock) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.host == "two.invalid":
            return httpx.Response(200, json={})
        return httpx.Response(status, headers={"Retry-After": "11"})

    assert transport(handler, ONE, TWO).request("GET", "/thing").host == "two.invalid"
    assert clock.time == 1000


@pytest.mark.parametrize(("seconds", "waited"), [("30", 60), ("61", 0)])
def test_the_minutes_of_the_user_limit_the_retry_after_of_any_status(seconds: str, waited: int, clock: VirtualClock) -> None:
    with pytest.raises(InternalServerError):
        transport(busy(9, 500, Retry_After=seconds), max_wait_minutes=1).request("GET", "/thing")
    assert clock.time - 1000 == waited


def test_without_retries_nothing_is_waited_for(clock: VirtualClock) -> None:
    with pytest.raises(ServiceUnavailableError):
        transport(busy(1, 503), retries=0).request("GET", "/thing")
    assert clock.time == 1000


def test_another_host_is_used_while_one_refuses_for_long(clock: VirtualClock) -> None:
    hosts: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host.partition(".")[0])
        refuse = request.url.host == "one.invalid" and clock.time < 1060
        return httpx.Response(429, headers={"Retry-After": "60"}) if refuse else httpx.Response(200, json={})

    sender = transport(handler, ONE, TWO)
    assert sender.request("GET", "/thing").host == "two.invalid"
    assert sender.request("GET", "/thing").host == "two.invalid"
    clock.time = 1061
    assert sender.request("GET", "/thing").host == "one.invalid"
    assert hosts == ["one", "two", "two", "one"]


def test_hosts_that_all_refuse_for_a_while_are_waited_for(clock: VirtualClock) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        is_open = clock.time > (1200 if request.url.host == "one.invalid" else 1300)
        return httpx.Response(200, json={}) if is_open else httpx.Response(429)

    sender = transport(handler, ONE, TWO, retries=2)
    assert sender.request("GET", "/thing").host == "two.invalid"
    assert clock.time > 1300


def test_the_pace_slows_once_for_requests_under_way_and_recovers_slowly(clock: VirtualClock) -> None:
    one = HostRate(5)
    for _ in range(4):  # four requests that were sent together
        one.refuse(clock.time, None, "429")
    assert one.open_at - clock.time <= backoff(1) + 0.4
    clock.time = one.open_at
    spacing = []
    for _ in range(60):
        one.acquire(Waits())
        spacing.append(clock.time)
        one.accept()
    gaps = [later - earlier for earlier, later in pairwise(spacing)]
    assert gaps[0] == pytest.approx(0.4, abs=0.01)
    assert gaps[-1] == pytest.approx(0.2, abs=0.001)
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(gaps))


def test_apis_of_one_host_share_its_pace(clock: VirtualClock) -> None:
    rates, limits = HostRates(), Limits(requests_per_second=2)
    senders = [Transport((url,), limits, httpx.MockTransport(busy(0)), rates=rates) for url in (ONE, "http://one.invalid/other")]
    for number in range(8):
        senders[number % 2].request("GET", "/thing")
    assert clock.time == 1003.5


SHAPE: dict[str, Any] = {"events": 2000, "days": 2, "page_size": 10, "max_concurrency": 3}
WHOLE = {"since": "2026-11-07", "until": "2026-11-09"}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """What a load without a limiter gives."""
    return lf.load_verdicts(lf.connect("sandbox", store=tmp_path_factory.mktemp("quiet"), **SHAPE), **WHOLE)


@pytest.mark.parametrize(("requests", "seconds", "hint"), every_nth([(120, 60, 0), (20, 10, 1)], 2))
def test_a_limiter_costs_time_and_never_the_load(
    requests: int, seconds: int, hint: int, tmp_path: Path, clock: VirtualClock, quiet: pd.DataFrame
) -> None:
    limiter = Faults(limit_requests=requests, limit_seconds=seconds, retry_after=hint)
    net = lf.connect("sandbox", store=tmp_path, faults=limiter, retries=1, **SHAPE)
    pd.testing.assert_frame_equal(lf.load_verdicts(net, **WHOLE), quiet)
    assert net.request_count > 200
    assert clock.time - 1000 >= (net.request_count // (2 * requests) - 1) * seconds * 0.5


def test_the_progress_bar_says_what_it_waits_for(clock: VirtualClock, capsys: pytest.CaptureFixture[str]) -> None:
    shown: list[str] = []
    sender = transport(busy(1, Retry_After="34"))
    with sender.waits.session(lambda text: bool(shown.append(text)), threading.Event()):
        sender.request("GET", "/thing")
    assert shown[0].startswith("waits 34 s: one.invalid returned 429")
    assert shown[-1] == ""
    with Progress("events (x)", 10, "h", visible=True) as bar:
        bar.show_wait(shown[0])
        assert bar._bar.desc == "Fetching events (x) waits 34 s: one.invalid returned 429 for GET /thing"
    capsys.readouterr()


def test_ctrl_c_ends_a_wait(clock: VirtualClock) -> None:
    stop, sender = threading.Event(), transport(lambda _: httpx.Response(429))

    with sender.waits.session(lambda _: bool(stop.set()), stop), pytest.raises(BusyError):
        sender.request("GET", "/thing")
    assert clock.time - 1000 < 60


def test_nothing_of_retries_is_printed_without_a_logger(clock: VirtualClock, capfd: pytest.CaptureFixture[str]) -> None:
    transport(busy(3)).request("GET", "/thing")
    assert capfd.readouterr().err == ""
    assert logging.getLogger("ledgerframes.retries").level == logging.NOTSET


# -- the mean rate -----------------------------------------------------------------------------------------------------------


def test_the_minutes_of_a_plan_are_those_of_the_limiter(clock: VirtualClock, tmp_path: Path) -> None:
    """A limiter of 20 requests in 10 s, at a maximum of 50 in a second."""
    limiter = Faults(limit_requests=20, limit_seconds=10)
    net = lf.connect(
        "sandbox", events=2000, days=1, store=tmp_path, page_size=5, faults=limiter, requests_per_second=50, max_concurrency=1
    )
    start = clock.now()
    lf.load_events(net, since="2026-11-08", until="2026-11-08T12:00:00Z")
    lasted = clock.now() - start
    sent = net.request_count
    plan = lf.plan(lf.load_events, net, since="2026-11-08T12:00:00Z", until="2026-11-08T20:00:00Z").iloc[0]
    assert plan["request_rate"].endswith("requests per second of sandbox.invalid so far")
    assert sent > 200 and plan["requests"] * lasted / sent / 60 == pytest.approx(plan["minutes"], abs=1.5)
    assert plan["minutes"] > 3 * plan["requests"] / 50 / 60, "the maximum rate would promise far less"
    clock.time += 40_000
    assert net.mean_interval(net.settings.history_url[0]) == pytest.approx(lasted / sent, rel=0.2), "a night later"


def test_the_mean_interval_has_no_idle_time_and_needs_some_requests(clock: VirtualClock) -> None:
    rate, waits = HostRate(2), Waits()
    for _ in range(host_rates.MIN_INTERVALS):
        rate.acquire(waits)
    assert rate.mean_interval == 0.0
    clock.time += 3600
    for _ in range(5):
        rate.acquire(waits)
    assert rate.mean_interval == pytest.approx(0.5)


def test_a_file_of_rates_of_an_earlier_version_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "rates.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE rates (host TEXT PRIMARY KEY, interval); PRAGMA user_version = 1;")
    file = RateFile(path)
    rate = HostRate(0, file.record("one"))
    rate.refuse(0.0, 5.0, "busy")
    assert file.is_usable and HostRate(0, RateFile(path).record("one")).open_at
