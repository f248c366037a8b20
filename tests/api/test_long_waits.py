"""A wait of more than five seconds is told once: on the terminal, in the notebook and in the log."""

from __future__ import annotations

import io
import logging
import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from virtual_clock import VirtualClock

import ledgerframes as lf
from ledgerframes import long_waits
from ledgerframes.api.host_rates import HostRate, HostRates, Waits
from ledgerframes.errors import BusyError, ServiceError
from ledgerframes.long_waits import shown_by, tell
from ledgerframes.store.rate_file import RateFile

ONE = "http://one.invalid/api"


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """The lines that people get, which are those of the log."""
    lines: list[str] = []
    with shown_by(lines.append), caplog.at_level(logging.WARNING):
        yield lines
    logged = [record.getMessage() for record in caplog.get_records("call") if record.getMessage().startswith("long_wait ")]
    assert len(logged) >= len(lines)


def history(answer: Callable[[], httpx.Response], **limits: float) -> lf.Network:
    transport = httpx.MockTransport(lambda _: answer())
    return lf.connect("sandbox", history_url=ONE, transport=transport, **{"requests_per_second": 0, **limits})


def answers(*responses: httpx.Response) -> Callable[[], httpx.Response]:
    """The responses in turn, then an empty page."""
    left = list(responses)
    return lambda: left.pop(0) if left else httpx.Response(200, json={"events": []})


@pytest.mark.parametrize("status", [429, 503])
def test_a_single_call_on_a_host_that_refuses_everything(status: int, clock: VirtualClock, told: list[str]) -> None:
    net = history(lambda: httpx.Response(status), max_wait_minutes=7)
    with pytest.raises(ServiceError):
        net.history.events()
    assert clock.time - 1000 > 300
    (line,) = told
    assert line.startswith("ledgerframes waits ")
    assert f" s, at most 7 minutes in all: one.invalid returned {status} for POST /v0/events" in line


def test_short_pauses_that_follow_each_other_are_one_long_wait(clock: VirtualClock, told: list[str]) -> None:
    refusals = [httpx.Response(429, headers={"Retry-After": "3"}) for _ in range(60)]
    history(answers(*refusals)).history.events()
    assert len(told) == 1


def test_a_host_that_fails_again_and_again(clock: VirtualClock, told: list[str]) -> None:
    with pytest.raises(ServiceError):
        history(lambda: httpx.Response(500), retries=12).history.events()
    assert clock.time - 1000 > 100 and len(told) == 1


def test_a_short_wait_is_not_worth_a_word(clock: VirtualClock, told: list[str]) -> None:
    history(answers(httpx.Response(429), httpx.Response(503, headers={"Retry-After": "4"}))).history.events()
    assert told == []


def test_a_pause_of_the_host_is_told_beside_the_rate(clock: VirtualClock, told: list[str]) -> None:
    refusal = httpx.Response(429, headers={"Retry-After": "1000"})
    net = history(answers(*[httpx.Response(200, json={"events": []})] * 2, refusal), requests_per_second=0.05)
    for _ in range(3):
        net.history.events()
    assert [line.partition(":")[0] for line in told] == [
        "ledgerframes waits 20 s",
        "ledgerframes waits 1,000 s, at most 30 minutes in all",
    ]


def test_a_slow_rate_of_one_s_own_is_told_once(clock: VirtualClock, told: list[str]) -> None:
    net = history(answers(), requests_per_second=0.05)
    for _ in range(20):
        net.history.events()
    assert clock.time - 1000 == 19 * 20
    assert told == ["ledgerframes waits 20 s: the request rate of one.invalid."]


def test_a_host_that_was_slowed_down_by_refusals_is_told_once(clock: VirtualClock, told: list[str]) -> None:
    refusals = [httpx.Response(429, headers={"Retry-After": "1"}) for _ in range(8)]
    net = history(answers(*(each for refusal in refusals for each in (refusal, httpx.Response(200, json={"events": []})))))
    for _ in range(30):
        net.history.events()
    slow = [line for line in told if "refused requests before, so it gets one every " in line]
    assert len(slow) == 1 and slow[0].endswith(" s at first.")


def test_threads_that_wait_for_the_same_tell_it_once(clock: VirtualClock, told: list[str]) -> None:
    rate, waits = HostRate(0, host="one.invalid"), Waits()
    rate.refuse(clock.time, 300.0, "one.invalid returned 429")
    threads = [threading.Thread(target=rate.acquire, args=(waits,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 1


def test_what_a_progress_bar_shows_is_only_logged(clock: VirtualClock, told: list[str], caplog: pytest.LogCaptureFixture) -> None:
    net = history(answers(httpx.Response(429, headers={"Retry-After": "60"})))
    shown: list[str] = []
    with net.waits.session(lambda text: not shown.append(text), threading.Event()):  # type: ignore[func-returns-value]
        net.history.events()
    assert shown[0].startswith("waits 60 s: one.invalid returned 429")
    assert told == [] and caplog.text.count("long_wait seconds=60 reason=one.invalid returned 429") == 1


def test_a_bar_that_nobody_sees_leaves_it_to_the_line(clock: VirtualClock, told: list[str]) -> None:
    net = history(answers(httpx.Response(429, headers={"Retry-After": "60"})))
    with net.waits.session(lambda text: False, threading.Event()):
        net.history.events()
    assert len(told) == 1


# -- where it is told --------------------------------------------------------------------------------------------------------


def test_a_terminal_gets_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    tell(12.3, "one.invalid returned \x1b[31m")
    assert terminal.getvalue() == "ledgerframes waits 12 s: one.invalid returned \\x1b[31m.\n"
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: 1)
    tell(12.3, "a worker leaves it to the process that started it")
    assert terminal.getvalue().count("\n") == 1


def test_a_log_gets_no_line_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    tell(12.3, "one.invalid returned 429")
    assert capsys.readouterr().err == ""


def test_a_notebook_gets_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        shown.append(data["text/plain"])

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None)))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    long_waits.tell(34, "one.invalid returned 429")
    assert shown == ["ledgerframes waits 34 s: one.invalid returned 429."]


# -- rates of several senders ------------------------------------------------------------------------------------------------


def rate(path: Path, per_second: float) -> HostRate:
    """The rate of a host as another process gets it."""
    return HostRates(RateFile(path).record).of("one.invalid", per_second)


def test_a_slow_process_delays_nobody_else(tmp_path: Path, clock: VirtualClock, told: list[str]) -> None:
    slow, quick = rate(tmp_path / "rates.sqlite", 0.01), rate(tmp_path / "rates.sqlite", 5)
    slow.acquire(Waits())
    for _ in range(11):
        quick.acquire(Waits())
    assert clock.time == pytest.approx(1000 + 11 * 0.2)
    slow.acquire(Waits())
    assert clock.time == pytest.approx(1100), "its own rate"
    quick.acquire(Waits())
    assert clock.time == pytest.approx(1100.2), "and no more of both together than the quicker one may send"
    assert len(told) == 1


def test_a_slow_network_of_one_process_delays_no_other(clock: VirtualClock) -> None:
    rates = HostRates()
    slow, quick = rates.of("one.invalid", 0.01), rates.of("one.invalid", 5)
    slow.acquire(Waits())
    quick.acquire(Waits())
    quick.acquire(Waits())
    assert clock.time == pytest.approx(1000.4)
    assert rates.of("one.invalid", 5) is quick


def test_a_refusal_slows_all_senders(tmp_path: Path, clock: VirtualClock) -> None:
    slow, quick = rate(tmp_path / "rates.sqlite", 2), rate(tmp_path / "rates.sqlite", 100)
    slow.refuse(clock.time, 30.0, "one.invalid returned 429")
    for _ in range(4):
        quick.acquire(Waits())
    assert clock.time == pytest.approx(1030 + 3 * 1.0), "half the rate of the sender that was refused"


@pytest.mark.parametrize("per_second", [1e-300, 0.0099, -1, float("nan"), float("inf"), "5/s"])
def test_a_rate_that_would_never_send_is_refused(per_second: Any) -> None:
    with pytest.raises(lf.UsageError, match=r"requests_per_second= must be"):
        lf.connect(history_url=ONE, requests_per_second=per_second)


@pytest.mark.parametrize("setting", ["timeout", "max_wait_minutes", "max_response_minutes", "max_download_minutes"])
@pytest.mark.parametrize("value", [1e300, float("inf")])
def test_a_time_that_no_clock_has_is_refused(setting: str, value: float) -> None:
    with pytest.raises(lf.UsageError, match=f"{setting}= must be"):
        lf.connect(history_url=ONE, **{setting: value})


def test_a_host_without_this_operation_is_not_asked_again(clock: VirtualClock) -> None:
    for status in (501, 505, 511):
        net = history(lambda status=status: httpx.Response(status))  # type: ignore[misc]
        with pytest.raises(ServiceError) as caught:
            net.history.events()
        assert net.request_count == 1 and not caught.value.retryable
    assert not isinstance(caught.value, BusyError)
