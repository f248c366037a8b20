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

from ledgerframes import long_waits
from ledgerframes.errors import BusyError, ServiceError, TransportError

T = TypeVar("T")

logger = logging.getLogger("ledgerframes.retries")

FIRST_DELAY = 0.4  # seconds; doubles at each attempt, as in the clients of the public network (docs/facts.md#rate-limits)
MAX_DELAY = 30.0  # where the service does not say how long to wait
MIN_INTERVAL, MAX_INTERVAL = 0.05, 10.0  # seconds between requests after a refusal
RECOVERY = 0.98  # of the interval after each success, so that a rate doubles within 35 requests
SLICE = 0.5  # seconds after which a wait checks for Ctrl-C and shows what it waits for
FORGET_AFTER = 600.0  # seconds without a request, after which earlier refusals no longer say anything about a host
MIN_SLOW_INTERVAL = 1.0  # seconds between requests after refusals that are worth a line
MIN_TOLD_WAIT = 2.0  # seconds; shorter waits are not worth showing in a progress bar
SILENCE = 60.0  # seconds after a wait was shown, in which another one is not worth a line
MAX_IDLE = 10.0  # seconds after its turn in which nobody sent a request, so that the time is not the host's
MIN_INTERVALS, MAX_INTERVALS = 20, 300  # of a mean, so that it has the pauses of a limiter
MEAN = ("interval_count", "mean_interval")  # these are not times of a clock, so a cleared state keeps them


class Clock:
    """The time, and waits. Tests replace `clock` by one that skips waits.

    The time is that of the machine, so that all its processes share it.
    """

    def now(self) -> float:
        """Return the seconds of a monotonic clock."""
        return time.monotonic()

    def sleep_until(self, until: float) -> None:
        """Wait until a time of this clock."""
        time.sleep(max(0.0, until - self.now()))


clock = Clock()


@dataclass(frozen=True)
class Wait:
    """A wait for a host. All times are of `clock`."""

    until: float
    reason: str
    subject: str = ""  # which the user is told once
    since: float = math.inf  # the start of the first of the waits that this one continues
    last_until: float = 0.0  # the end of the last of the waits that may follow

    @property
    def text(self) -> str:
        """The remaining length of the wait and its reason."""
        return f"waits {self.until - clock.now():,.0f} s: {self.reason}"


class Waits:
    """The waits of one network's requests. Progress bars show them, and Ctrl-C ends them."""

    def __init__(self) -> None:
        self._sessions: dict[threading.Event, Callable[[str], bool]] = {}
        self._told_until: dict[str, float] = {}  # by subject
        self._lock = threading.Lock()

    @contextmanager
    def session(self, show: Callable[[str], bool], stop: threading.Event) -> Iterator[None]:
        """Show what requests wait for, and end their waits once an event is set.

        The function returns whether anybody sees what it shows.
        """
        self._sessions[stop] = show
        try:
            yield
        finally:
            del self._sessions[stop]

    @property
    def is_stopped(self) -> bool:
        """Whether requests should not wait any more."""
        return any(stop.is_set() for stop in list(self._sessions))

    def sleep(self, wait: Wait) -> None:
        """Wait, and show for how long and why."""
        while (now := clock.now()) < wait.until and not self.is_stopped:
            self.show(wait)
            clock.sleep_until(min(wait.until, now + SLICE))
        self.show(None)

    def show(self, wait: Wait | None) -> None:
        """Show a wait, or none, in the progress bars, and report a long one."""
        if wait is None:
            self._show("")
            return
        now = clock.now()
        is_shown = wait.until - now > MIN_TOLD_WAIT and self._show(wait.text)
        if wait.until - min(wait.since, now) > long_waits.MIN_SECONDS and self._is_news(wait):
            at_most = wait.last_until - now if wait.until < wait.last_until < math.inf else 0.0
            long_waits.tell(wait.until - now, wait.reason, at_most=at_most, is_shown=is_shown)

    def _is_news(self, wait: Wait) -> bool:
        """Return whether a wait is news to the user, and remember that the user knows it."""
        with self._lock:
            if wait.until <= self._told_until.get(wait.subject, -math.inf):
                return False
            self._told_until[wait.subject] = max(wait.until, wait.last_until) + SILENCE
            return True

    def _show(self, text: str) -> bool:
        seen = [show(text) for show in list(self._sessions.values())]
        return any(seen)


@dataclass
class RateState:
    """The refusals of a host and the time of its next request, shared by all senders."""

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
    """The state of a host in this process. One thread at a time changes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = RateState()

    def update(self, change: Callable[[RateState], T]) -> T:
        """Call a function that changes the state, and return what it returns."""
        with self._lock:
            return change(self._state)


class HostRate:
    """The request rate of one host, at most `per_second`, or unlimited if that is 0.

    All threads and APIs share its record, and processes may share it, too. A request follows the last one of any sender after an
    interval. If senders have different rates, the shorter interval counts, so that a slow sender delays nobody.
    """

    def __init__(self, per_second: float, record: MemoryRecord | None = None, host: str = "the host") -> None:
        self._record = record or MemoryRecord()
        self._base = 1 / per_second if per_second else 0.0
        self._host = host
        self._sent_at = -math.inf  # by a sender with this rate

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
    def wait(self) -> Wait | None:
        """The wait for the host, or None if it accepts requests soon."""
        wait = self._update(lambda state: Wait(state.open_at, state.reason, self._host))
        return wait if wait.until - clock.now() > MIN_TOLD_WAIT else None

    @property
    def mean_interval(self) -> float:
        """Mean seconds from a request to the next, or 0 after too few requests."""
        return self._update(lambda state: state.mean_interval if state.interval_count >= MIN_INTERVALS else 0.0)

    def acquire(self, waits: Waits, max_wait: float = math.inf) -> None:
        """Wait until the next request is allowed.

        If the host has set a pause of more than `max_wait` seconds, the request is sent at once, and the response counts.
        """

        def take(state: RateState) -> Wait | None:
            """Take the next turn if it is due, or return the wait for it."""
            now = clock.now()
            open_at = state.open_at if state.open_at - now <= max_wait else now
            turn = max(self._sent_at + self._base, min(state.next_at, state.sent_at + max(self._base, state.interval)))
            if open_at > max(turn, now):
                return Wait(open_at, state.reason, self._host)
            if turn > now:
                return self._turn(turn, state)
            _add_interval(state, now)
            state.next_at = now + max(self._base, state.interval)
            state.used_at = self._sent_at = now
            return None

        while not waits.is_stopped and (wait := self._update(take)):
            waits.sleep(wait)

    def _turn(self, turn: float, state: RateState) -> Wait:
        """Return the wait for a turn.

        It is told once if earlier refusals of the host make requests wait for long.
        """
        rate = f"the request rate of {self._host}"
        if max(self._base, MIN_SLOW_INTERVAL) > state.interval:
            return Wait(turn, rate, rate, last_until=math.inf)
        reason = f"{self._host} refused requests before, so it gets one every {state.interval:.1f} s at first"
        return Wait(turn, reason, rate, since=state.last_refusal, last_until=math.inf)

    def refuse(self, sent_at: float, delay: float | None, reason: str) -> None:
        """Slow down after a refusal, by the seconds that the host says, or more with each refusal.

        Refusals of requests that were under way at the previous refusal do not count.
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

    A state is old if nobody has used it for long, or if it is from before the machine was started.
    """
    now = clock.now()
    if state.used_at > now or now > max(state.used_at, state.open_at) + FORGET_AFTER:
        for field in fields(state):
            if field.name not in MEAN:
                setattr(state, field.name, field.default)
    return state


def _add_interval(state: RateState, now: float) -> None:
    """Add the time since the last request to the mean, unless the host was idle."""
    if state.sent_at and now - max(state.sent_at, state.next_at, state.open_at) <= MAX_IDLE:
        state.interval_count += 1
        state.mean_interval += (now - state.sent_at - state.mean_interval) / min(state.interval_count, MAX_INTERVALS)
    state.sent_at = now


class HostRates:
    """The request rates of all hosts. `record` returns where that of a host is kept."""

    def __init__(self, record: Callable[[str], MemoryRecord] | None = None) -> None:
        self._record = record or (lambda host: MemoryRecord())
        self._records: dict[str, MemoryRecord] = {}
        self._rates: dict[tuple[str, float], HostRate] = {}

    def of(self, host: str, per_second: float) -> HostRate:
        """Return the rate of a host for senders with the same maximum."""
        if rate := self._rates.get((host, per_second)):
            return rate
        record = self._records.get(host) or self._records.setdefault(host, self._record(host))
        return self._rates.setdefault((host, per_second), HostRate(per_second, record, host))


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


def retry(call: Callable[[], T], attempts: int, on: Callable[[Exception], bool], waits: Waits, max_wait: float) -> T:
    """Call a function, and retry it after errors for which `on` is true.

    If the service says to wait until more than `max_wait` seconds after the first error, the last one is raised.
    """
    failed_since = math.inf
    for failures in range(1, attempts):
        try:
            return call()
        except Exception as error:
            if not on(error) or waits.is_stopped:
                raise
            failed_since = min(failed_since, clock.now())
            delay = retry_delay(error, failures, failed_since + max_wait - clock.now())
            if delay is None:
                raise
            pause(delay, error, waits, failed_since, end_of_retries(attempts - 1 - failures))
    return call()


def retry_delay(error: Exception, failures: int, max_delay: float) -> float | None:
    """Return the seconds to wait after a failure, set by the service or growing.

    They are None if the service sets more than `max_delay`.
    """
    delay = error.retry_after if isinstance(error, ServiceError) and error.retryable else None
    if delay is None:
        return backoff(failures)
    return delay if delay <= max(0.0, max_delay) else None


def end_of_retries(count: int) -> float:
    """Return the time at which the waits before further attempts end.

    The service may set longer ones.
    """
    return clock.now() + count * (MAX_DELAY + FIRST_DELAY)


def pause(seconds: float, error: Exception, waits: Waits, since: float = math.inf, last_until: float = 0.0) -> None:
    """Wait before another attempt, and log why. The times are those of a :class:`Wait`."""
    cause = str(error).partition(". ")[0]  # without the advice after it, which matters only if all attempts fail
    logger.info("request_retried wait_seconds=%s cause=%s", round(seconds, 1), cause)
    waits.sleep(Wait(clock.now() + seconds, cause, getattr(error, "host", ""), since, last_until))
