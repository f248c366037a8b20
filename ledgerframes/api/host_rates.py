"""Request rates of hosts, which fall when a host pushes back and recover slowly."""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Protocol, TypeVar

from ledgerframes.errors import BusyError, ServiceError, TransportError

__all__ = ["Clock", "HostRate", "HostRates", "RateRecord", "RateState", "Waits", "is_pushback", "retried", "retry_delay"]

T = TypeVar("T")

logger = logging.getLogger("ledgerframes.retries")

FIRST_DELAY = 0.4  # seconds; doubles at each attempt, as in the clients of the public network (docs/facts.md#rate-limits)
MAX_DELAY = 30.0  # where the service does not say how long to wait
MIN_INTERVAL, MAX_INTERVAL = 0.05, 10.0  # seconds between requests after a refusal
RECOVERY = 0.98  # of the interval after each success, so that a rate doubles within 35 requests
SLICE = 0.5  # seconds after which a wait looks for Ctrl-C and tells what it waits for
FORGET_AFTER = 600.0  # seconds without a request, after which refusals say nothing about a host any more
MIN_TOLD_WAIT = 2.0  # seconds; shorter waits are not worth a word
MAX_IDLE = 10.0  # seconds after its turn in which nobody sent a request, so that the time is not the host's
MIN_INTERVALS, MAX_INTERVALS = 20, 300  # of a mean, so that it has the pauses of a limiter


class Clock:
    """The time, and waiting for it. Tests replace `clock` by one that skips waits.

    The time is that of the machine, so that its processes can share it.
    """

    def now(self) -> float:
        """Return the seconds of a monotonic clock."""
        return time.monotonic()

    def sleep_until(self, until: float) -> None:
        """Return at a time of this clock."""
        time.sleep(max(0.0, until - self.now()))


clock = Clock()


class Waits:
    """The waits of the requests of one network, which progress bars show and Ctrl-C ends."""

    def __init__(self) -> None:
        self._sessions: dict[threading.Event, Callable[[str], None]] = {}

    @contextmanager
    def session(self, show: Callable[[str], None], stop: threading.Event) -> Iterator[None]:
        """Show what requests wait for, and end their waits once an event is set."""
        self._sessions[stop] = show
        try:
            yield
        finally:
            del self._sessions[stop]

    @property
    def is_stopped(self) -> bool:
        """Whether requests should not wait any more."""
        return any(stop.is_set() for stop in list(self._sessions))

    def sleep_until(self, until: float, reason: str) -> None:
        """Wait until a time of the clock, and show for how long and why."""
        is_told = until - clock.now() > MIN_TOLD_WAIT
        while (now := clock.now()) < until and not self.is_stopped:
            if is_told:
                self._show(_wait_text(until - now, reason))
            clock.sleep_until(min(until, now + SLICE))
        if is_told:
            self._show("")

    def _show(self, text: str) -> None:
        for show in list(self._sessions.values()):
            show(text)


@dataclass
class RateState:
    """The refusals and the next turn at a host, for everybody who sends it requests.

    Attributes
    ----------
    interval : float
        Seconds between requests after refusals, or 0.
    next_at, open_at : float
        Times of the next request by the rate, and at which the host may accept one.
    refusals : int
        Refusals without a request that was accepted between them.
    last_refusal, refused_since : float
        Times of the last and the first of them.
    reason : str
        What the host returned.
    used_at : float
        Time of the last change.
    sent_at : float
        Time of the last request.
    interval_count : int
        Number of intervals in the mean.
    mean_interval : float
        Mean seconds from a request to the next, with waits and without idle time.
    """

    interval: float = 0.0
    next_at: float = 0.0
    open_at: float = 0.0
    refusals: int = 0
    last_refusal: float = 0.0
    refused_since: float = 0.0
    reason: str = ""
    used_at: float = 0.0
    sent_at: float = 0.0
    interval_count: int = 0
    mean_interval: float = 0.0


class RateRecord(Protocol):
    """The place of the state of a host, which one thread or process changes at a time."""

    def update(self, change: Callable[[RateState], T]) -> T:
        """Call a function that changes the state, and return what it returns."""


class MemoryRecord:
    """The state of a host in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = RateState()

    def update(self, change: Callable[[RateState], T]) -> T:
        """Call a function that changes the state, and return what it returns."""
        with self._lock:
            return change(self._state)


class HostRate:
    """The request rate of one host.

    All threads and APIs share it, and through its record also processes.

    Parameters
    ----------
    per_second : float
        Maximum requests per second; 0 for no limit.
    record : RateRecord, optional
        By default in the memory of this process.
    """

    def __init__(self, per_second: float, record: RateRecord | None = None) -> None:
        self._record = record or MemoryRecord()
        self.limit(per_second)

    def limit(self, per_second: float) -> None:
        """Set the maximum requests per second, or 0 for no limit."""
        self._base = 1 / per_second if per_second else 0.0

    @property
    def open_at(self) -> float:
        """Time of the next request that the host may accept."""
        return self._record.update(lambda state: _current(state).open_at)

    @property
    def refused_since(self) -> float:
        """Time since which the host has refused every request."""
        return self._record.update(lambda state: _current(state).refused_since)

    @property
    def wait_text(self) -> str:
        """Length and reason of the wait for the host, or ""."""
        open_at, reason = self._record.update(lambda state: (_current(state).open_at, state.reason))
        seconds = open_at - clock.now()
        return _wait_text(seconds, reason) if seconds > MIN_TOLD_WAIT else ""

    @property
    def mean_interval(self) -> float:
        """Mean seconds from a request to the next, or 0 after too few requests."""
        return self._record.update(lambda state: state.mean_interval if state.interval_count >= MIN_INTERVALS else 0.0)

    def acquire(self, waits: Waits, max_wait: float = math.inf) -> None:
        """Wait until the next request is allowed.

        Parameters
        ----------
        waits : Waits
            Shows the wait.
        max_wait : float, optional
            Seconds. If the host has set a longer pause, the request is sent at once, and the response counts.
        """

        def take(state: RateState) -> tuple[float, str] | None:
            """Take the next turn if it is due, or return when and why not earlier."""
            now = clock.now()
            _current(state)
            open_at = state.open_at if state.open_at - now <= max_wait else now
            due = max(state.next_at, open_at)
            if due > now:
                return due, state.reason or "the request rate of the host"
            _add_interval(state, now)
            state.next_at = now + max(self._base, state.interval)
            state.used_at = now
            return None

        while not waits.is_stopped and (turn := self._record.update(take)):
            waits.sleep_until(*turn)

    def refuse(self, sent_at: float, delay: float | None, reason: str) -> None:
        """Slow down after a refusal.

        Parameters
        ----------
        sent_at : float
            When the refused request was sent. Requests that were under way at the refusal before it are not a new one.
        delay : float or None
            Seconds to wait, if the host says so.
        reason : str
            What the host returned.
        """

        def slow_down(state: RateState) -> None:
            now = clock.now()
            _current(state)
            is_first = not state.refusals
            if is_first:
                interval = max(state.interval, self._base)
                state.interval = min(max(2 * interval, MIN_INTERVAL), max(MAX_INTERVAL, self._base))
                state.refused_since = now
            if is_first or sent_at > state.last_refusal:
                state.refusals, state.last_refusal = state.refusals + 1, now
                if delay is None:
                    state.open_at = max(state.open_at, now + backoff(state.refusals))
            if delay is not None:
                state.open_at = max(state.open_at, now + delay)
            state.reason, state.used_at = reason, now

        self._record.update(slow_down)

    def accept(self) -> None:
        """Recover a little after a request that the host has accepted."""

        def recover(state: RateState) -> None:
            state.refusals, state.reason = 0, ""
            state.interval *= RECOVERY
            if state.interval <= max(self._base, MIN_INTERVAL / 10):
                state.interval = 0.0

        self._record.update(recover)


def _current(state: RateState) -> RateState:
    """Return the state, cleared if it is old.

    Nobody has used it for long, or it is of the time before this machine was started.
    """
    now = clock.now()
    if state.used_at > now or now > max(state.used_at, state.open_at) + FORGET_AFTER:
        for field in fields(state):  # the mean is no time of a clock, so it is true for ever
            if field.name not in (
                "interval_count",
                "mean_interval",
            ):
                setattr(state, field.name, field.default)
    return state


def _add_interval(state: RateState, now: float) -> None:
    """Add the time since the last request to the mean, unless nobody wanted to send one."""
    if state.sent_at and now - max(state.sent_at, state.next_at, state.open_at) <= MAX_IDLE:
        state.interval_count += 1
        state.mean_interval += (now - state.sent_at - state.mean_interval) / min(state.interval_count, MAX_INTERVALS)
    state.sent_at = now


def _wait_text(seconds: float, reason: str) -> str:
    return f"waits {seconds:,.0f} s: {reason}"


class HostRates:
    """The request rates of all hosts.

    Parameters
    ----------
    record : callable, optional
        Returns the record of a host. By default, it is in the memory of this process.
    """

    def __init__(self, record: Callable[[str], RateRecord] | None = None) -> None:
        self._lock = threading.Lock()
        self._record = record or (lambda host: MemoryRecord())
        self._rates: dict[str, HostRate] = {}

    def of(self, host: str, per_second: float) -> HostRate:
        """Return the rate of a host, with the maximum that was set last."""
        with self._lock:
            rate = self._rates.get(host)
            if rate is None:
                rate = self._rates[host] = HostRate(per_second, self._record(host))
        rate.limit(per_second)
        return rate


def backoff(count: int) -> float:
    """Return the seconds to wait after a number of failures in a row, which double and vary."""
    return min(MAX_DELAY, FIRST_DELAY * 2.0 ** (count - 1)) + random.uniform(0, FIRST_DELAY)  # noqa: S311  (no secret)


def is_pushback(error: Exception) -> bool:
    """Return whether a host accepts fewer requests now, instead of failing at one.

    See docs/facts.md#rate-limits.
    """
    return isinstance(error, BusyError) or (isinstance(error, ServiceError) and error.retryable and error.status == 503)


def retry_delay(error: Exception) -> bool | float:
    """Return whether an error is retried, or after how many seconds if the service sets them."""
    if isinstance(error, ServiceError):
        return error.retry_after if error.retryable and error.retry_after is not None else error.retryable
    return isinstance(error, TransportError) and error.retryable


def retried(call: Callable[[], T], attempts: int, on: Callable[[Exception], bool | float], waits: Waits) -> T:
    """Return what a function returns, at the latest after some attempts.

    Parameters
    ----------
    call : callable
    attempts : int
        Maximum number of attempts.
    on : callable
        Returns whether an error is retried, or after how many seconds.
    waits : Waits
        Shows the pauses between the attempts.
    """
    for failures in range(1, attempts):
        try:
            return call()
        except Exception as error:
            delay = on(error)
            if delay is False or waits.is_stopped:
                raise
            pause(backoff(failures) if delay is True else delay, error, waits)
    return call()


def pause(seconds: float, error: Exception, waits: Waits) -> None:
    """Wait before another attempt, and log why."""
    cause = str(error).partition(". ")[0]  # without the advice that follows, which counts if all attempts fail
    logger.info("request_retried wait_seconds=%s cause=%s", round(seconds, 1), cause)
    waits.sleep_until(clock.now() + seconds, cause)
