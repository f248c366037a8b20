"""Request rates of hosts, which fall when a host pushes back and recover slowly."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ledgerframes.errors import BusyError, ServiceError, TransportError

__all__ = ["SHARED_RATES", "Clock", "HostRate", "HostRates", "Waits", "is_pushback", "retried", "retry_delay"]

T = TypeVar("T")

logger = logging.getLogger("ledgerframes.retries")

FIRST_DELAY = 0.4  # seconds; doubles at each attempt, as in the clients of the public network (docs/facts.md#rate-limits)
MAX_DELAY = 30.0  # where the service does not say how long to wait
MIN_INTERVAL, MAX_INTERVAL = 0.05, 10.0  # seconds between requests after a refusal
RECOVERY = 0.98  # of the interval after each success, so that a rate doubles within 35 requests
SLICE = 0.5  # seconds after which a wait looks for Ctrl-C and tells what it waits for
MIN_TOLD_WAIT = 2.0  # seconds; shorter waits are not worth a word


class Clock:
    """The time, and waiting for it. Tests replace `clock` by one that skips waits."""

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
                self._show(f"waits {until - now:,.0f} s: {reason}")
            clock.sleep_until(min(until, now + SLICE))
        if is_told:
            self._show("")

    def _show(self, text: str) -> None:
        for show in list(self._sessions.values()):
            show(text)


class HostRate:
    """The request rate of one host, shared by all threads and APIs of a process.

    Parameters
    ----------
    per_second : float
        Maximum requests per second; 0 for no limit.
    """

    def __init__(self, per_second: float) -> None:
        self._lock = threading.Lock()
        self._interval = self._base = 0.0
        self._next = self._open_at = 0.0
        self._refusals, self._last_refusal, self._refused_since = 0, -1.0, -1.0
        self._reason = ""
        self.limit(per_second)

    def limit(self, per_second: float) -> None:
        """Set the maximum requests per second, or 0 for no limit."""
        with self._lock:
            self._base = 1 / per_second if per_second else 0.0
            self._interval = max(self._interval, self._base) if self._refusals else self._base

    @property
    def open_at(self) -> float:
        """Time of the next request that the host may accept."""
        return self._open_at

    @property
    def refused_since(self) -> float:
        """Time since which the host has refused every request."""
        return self._refused_since

    def acquire(self, waits: Waits) -> None:
        """Wait until the next request is allowed."""
        while not waits.is_stopped:
            with self._lock:
                start = max(clock.now(), self._next, self._open_at)
                self._next = start + self._interval
            waits.sleep_until(start, self._reason or "the request rate of the host")
            if start >= self._open_at:  # otherwise the host has refused another request
                return

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
        with self._lock:
            now = clock.now()
            if not self._refusals:
                self._refused_since = now
                self._interval = min(max(2 * self._interval, MIN_INTERVAL), max(MAX_INTERVAL, self._base))
            if not self._refusals or sent_at > self._last_refusal:
                self._refusals, self._last_refusal = self._refusals + 1, now
                if delay is None:
                    self._open_at = max(self._open_at, now + backoff(self._refusals))
            if delay is not None:
                self._open_at = max(self._open_at, now + delay)
            self._reason = reason

    def accept(self) -> None:
        """Recover a little after a request that the host has accepted."""
        with self._lock:
            self._refusals, self._reason = 0, ""
            self._interval = max(self._base, self._interval * RECOVERY)
            if self._interval < MIN_INTERVAL / 10:
                self._interval = self._base


class HostRates:
    """The request rates of all hosts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rates: dict[str, HostRate] = {}

    def of(self, host: str, per_second: float) -> HostRate:
        """Return the rate of a host, with the maximum that was set last."""
        with self._lock:
            rate = self._rates.get(host)
            if rate is None:
                rate = self._rates[host] = HostRate(per_second)
        rate.limit(per_second)
        return rate


SHARED_RATES = HostRates()  # of this process


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
