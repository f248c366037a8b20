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
from typing import TypeVar

from ledgerframes.errors import BusyError, ServiceError, TransportError

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
MEAN = ("interval_count", "mean_interval")  # no times of a clock, so that a state that is cleared keeps them


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
    """The refusals and the next turn at a host, for everybody who sends it requests."""

    interval: float = 0.0  # seconds between requests after refusals
    next_at: float = 0.0  # time of the next request by the rate
    open_at: float = 0.0  # time at which the host may accept a request
    refusals: int = 0  # without a request that was accepted between them
    last_refusal: float = 0.0  # time of the last of them
    refused_since: float = 0.0  # time of the first of them
    reason: str = ""  # what the host returned
    used_at: float = 0.0  # time of the last change
    sent_at: float = 0.0  # time of the last request
    interval_count: int = 0  # of the mean
    mean_interval: float = 0.0  # seconds from a request to the next, with waits and without idle time


class MemoryRecord:
    """The state of a host in this process, which one thread changes at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = RateState()

    def update(self, change: Callable[[RateState], T]) -> T:
        """Call a function that changes the state, and return what it returns."""
        with self._lock:
            return change(self._state)


class HostRate:
    """The request rate of one host, at most `per_second`, or without a limit if that is 0.

    All threads and APIs share it, and through its record also processes.
    """

    def __init__(self, per_second: float, record: MemoryRecord | None = None) -> None:
        self._record = record or MemoryRecord()
        self.limit(per_second)

    def limit(self, per_second: float) -> None:
        """Set the maximum requests per second, or 0 for no limit."""
        self._base = 1 / per_second if per_second else 0.0

    def _update(self, change: Callable[[RateState], T]) -> T:
        return self._record.update(lambda state: change(_current(state)))

    @property
    def open_at(self) -> float:
        """Time of the next request that the host may accept."""
        return self._update(lambda state: state.open_at)

    @property
    def refused_since(self) -> float:
        """Time since which the host has refused every request."""
        return self._update(lambda state: state.refused_since)

    @property
    def wait_text(self) -> str:
        """Length and reason of the wait for the host, or ""."""
        open_at, reason = self._update(lambda state: (state.open_at, state.reason))
        seconds = open_at - clock.now()
        return _wait_text(seconds, reason) if seconds > MIN_TOLD_WAIT else ""

    @property
    def mean_interval(self) -> float:
        """Mean seconds from a request to the next, or 0 after too few requests."""
        return self._update(lambda state: state.mean_interval if state.interval_count >= MIN_INTERVALS else 0.0)

    def acquire(self, waits: Waits, max_wait: float = math.inf) -> None:
        """Wait until the next request is allowed.

        If the host has set a pause of more than `max_wait` seconds, the request is sent at once, and the response counts.
        """

        def take(state: RateState) -> tuple[float, str] | None:
            """Take the next turn if it is due, or return when and why not earlier."""
            now = clock.now()
            open_at = state.open_at if state.open_at - now <= max_wait else now
            due = max(state.next_at, open_at)
            if due > now:
                return due, state.reason or "the request rate of the host"
            _add_interval(state, now)
            state.next_at = now + max(self._base, state.interval)
            state.used_at = now
            return None

        while not waits.is_stopped and (turn := self._update(take)):
            waits.sleep_until(*turn)

    def refuse(self, sent_at: float, delay: float | None, reason: str) -> None:
        """Slow down after a refusal, by the seconds that the host says, or more with each refusal.

        Requests that were under way at the refusal before are not a new one.
        """

        def slow_down(state: RateState) -> None:
            now = clock.now()
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

        self._update(slow_down)

    def accept(self) -> None:
        """Recover a little after a request that the host has accepted."""

        def recover(state: RateState) -> None:
            state.refusals, state.reason = 0, ""
            state.interval *= RECOVERY
            if state.interval <= max(self._base, MIN_INTERVAL / 10):
                state.interval = 0.0

        self._update(recover)


def _current(state: RateState) -> RateState:
    """Return the state, cleared if it is old.

    Nobody has used it for long, or it is of the time before this machine was started.
    """
    now = clock.now()
    if state.used_at > now or now > max(state.used_at, state.open_at) + FORGET_AFTER:
        for field in fields(state):
            if field.name not in MEAN:
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
    """The request rates of all hosts, each kept in what `record` returns for its name."""

    def __init__(self, record: Callable[[str], MemoryRecord] | None = None) -> None:
        self._record = record or (lambda host: MemoryRecord())
        self._rates: dict[str, HostRate] = {}

    def of(self, host: str, per_second: float) -> HostRate:
        """Return the rate of a host, with the maximum that was set last."""
        rate = self._rates.get(host) or self._rates.setdefault(host, HostRate(per_second, self._record(host)))
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


def is_retryable(error: Exception) -> bool:
    """Return whether a failed request may succeed if it is sent again."""
    return isinstance(error, ServiceError | TransportError) and error.retryable


def retry(call: Callable[[], T], attempts: int, on: Callable[[Exception], bool], waits: Waits) -> T:
    """Return what a function returns, and retry it after errors of which `on` is true."""
    for failures in range(1, attempts):
        try:
            return call()
        except Exception as error:
            if not on(error) or waits.is_stopped:
                raise
            pause(retry_delay(error, failures), error, waits)
    return call()


def retry_delay(error: Exception, failures: int) -> float:
    """Return the seconds to wait after a failure, which the service sets, or which grow."""
    delay = error.retry_after if isinstance(error, ServiceError) and error.retryable else None
    return backoff(failures) if delay is None else delay


def pause(seconds: float, error: Exception, waits: Waits) -> None:
    """Wait before another attempt, and log why."""
    cause = str(error).partition(". ")[0]  # without the advice that follows, which counts if all attempts fail
    logger.info("request_retried wait_seconds=%s cause=%s", round(seconds, 1), cause)
    waits.sleep_until(clock.now() + seconds, cause)
