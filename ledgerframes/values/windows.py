"""Times and half-open windows in UTC, parsed from text, dates and date words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Self, TypedDict, TypeVar

from ledgerframes.errors import UsageError

Time = str | date | datetime

DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)
DURATION_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
MAX_DURATION = timedelta(days=36_525)  # a century, which can be subtracted from any current time
DATE_WORD_EXAMPLES = (
    "today, yesterday, this-week, last-week, this-month, last-month, or a day, month or year such as 2026-11-03, 2026-10, 2026"
)


class Bounds(TypedDict):
    """Window of record times.

    Attributes
    ----------
    since : str
        Start, inclusive.
    until : str
        End, exclusive.
    """

    since: str
    until: str


@dataclass(frozen=True, order=True)
class Window:
    """A half-open interval of UTC time, ``since <= time < until``."""

    since: datetime
    until: datetime

    def __post_init__(self) -> None:
        if self.since >= self.until:
            raise UsageError(f"since= must be before until={iso(self.until)}, got {iso(self.since)}.")

    def __str__(self) -> str:
        return f"{iso(self.since)} … {iso(self.until)}"

    @classmethod
    def from_dict(cls, bounds: Bounds) -> Self:
        """Return the window that :meth:`as_dict` wrote."""
        return cls(instant(bounds["since"]), instant(bounds["until"]))

    def as_dict(self) -> Bounds:
        """Return start and end in ISO 8601, as JSON files have them."""
        return {"since": iso(self.since), "until": iso(self.until)}

    def intersect(self, other: Window) -> Window | None:
        """Return the part that both windows share, or None."""
        since, until = max(self.since, other.since), min(self.until, other.until)
        return Window(since, until) if since < until else None

    def difference(self, others: list[Window]) -> list[Window]:
        """Return the parts of this window that none of the others covers, in order."""
        return [Window(*part) for part in uncovered(self.since, self.until, [(other.since, other.until) for other in others])]

    def before(self, length: timedelta) -> Window | None:
        """Return the window of this length before this one, None before the first year."""
        try:
            return Window(self.since - length, self.since)
        except OverflowError:
            return None


Position = TypeVar("Position", int, datetime)


def uncovered(
    start: Position, stop: Position, others: Iterable[tuple[Position, Position]]
) -> Iterator[tuple[Position, Position]]:
    """Yield the parts of a half-open interval that none of the others covers, in order."""
    for other_start, other_stop in sorted(others):
        if start < min(other_start, stop):
            yield start, min(other_start, stop)
        start = max(start, other_stop)
    if start < stop:
        yield start, stop


def iso(time: datetime) -> str:
    """Return a time in ISO 8601, without a fraction if it is zero.

    >>> iso(datetime(2026, 11, 1, tzinfo=UTC))
    '2026-11-01T00:00:00Z'
    """
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def instant(time: Time, argument: str = "time") -> datetime:
    """Parse the time that an argument is set to, where a date is midnight UTC.

    >>> instant("2026-11-01")
    datetime.datetime(2026, 11, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if isinstance(time, str):
        time = _parse(time, argument)
    if isinstance(time, datetime) and time == time:  # NaT is a datetime that does not equal itself
        if time.tzinfo is None:
            raise UsageError(f"{argument}={time.isoformat()} has no time zone. Write {time.isoformat()}Z for UTC.")
        try:
            return _with_microseconds(time.astimezone(UTC), argument)
        except OverflowError:
            raise UsageError(f"{argument}= must be in the years 1 to 9999, got {time.isoformat()}.") from None
    if isinstance(time, date) and not isinstance(time, datetime):
        return datetime(time.year, time.month, time.day, tzinfo=UTC)
    raise UsageError(f"{argument}= must be a time such as 2026-11-01 or 2026-11-01T12:00:00Z, got {time!r}.")


def _with_microseconds(time: datetime, argument: str) -> datetime:
    """Return a time as a plain datetime, which a pandas Timestamp is not."""
    if getattr(time, "nanosecond", 0):
        raise UsageError(f"{argument}={time.isoformat()} has nanoseconds. Pass a time in microseconds, as all times here are.")
    return time.to_pydatetime() if hasattr(time, "to_pydatetime") else time


def _parse(text: str, argument: str) -> date | datetime:
    try:
        return (date if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) else datetime).fromisoformat(text)
    except ValueError:
        raise UsageError(f"{argument}= must be a time such as 2026-11-01 or 2026-11-01T12:00:00Z, got {text!r}.") from None


def window(now: datetime, since: Time | None, until: Time | None, during: str | None) -> Window:
    """Return the window of a loader's arguments, which ends now by default."""
    if during is not None:
        if since is not None or until is not None:
            raise UsageError("during= cannot be combined with since= or until=.")
        return date_word(during, now)
    if since is None:
        raise UsageError(f"Pass since= and until=, or during= ({DATE_WORD_EXAMPLES}).")
    return Window(instant(since, "since"), now if until is None else instant(until, "until"))


def date_word(word: str, now: datetime) -> Window:
    """Return the window of a date word, in UTC.

    Weeks start on Monday.

    Examples
    --------
    >>> str(date_word("last-week", datetime(2026, 11, 20, 9, tzinfo=UTC)))
    '2026-11-09T00:00:00Z … 2026-11-16T00:00:00Z'
    >>> str(date_word("2026-02", datetime(2026, 11, 20, 9, tzinfo=UTC)))
    '2026-02-01T00:00:00Z … 2026-03-01T00:00:00Z'
    """
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    monday = today - today.weekday() * DAY
    first = today.replace(day=1)
    windows = {
        "today": (today, today + DAY),
        "yesterday": (today - DAY, today),
        "this-week": (monday, monday + 7 * DAY),
        "last-week": (monday - 7 * DAY, monday),
        "this-month": (first, _next_month(first)),
        "last-month": ((first - DAY).replace(day=1), first),
    }
    if isinstance(word, str):
        return Window(*windows[word]) if word in windows else _calendar(word)
    raise UsageError(f"during= must be text, got {word!r}. Choose from {DATE_WORD_EXAMPLES}.")


def _calendar(word: str) -> Window:
    try:
        if re.fullmatch(r"\d{4}", word):
            return Window(datetime(int(word), 1, 1, tzinfo=UTC), datetime(int(word) + 1, 1, 1, tzinfo=UTC))
        if re.fullmatch(r"\d{4}-\d{2}", word):
            first = datetime(int(word[:4]), int(word[5:]), 1, tzinfo=UTC)
            return Window(first, _next_month(first))
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", word):
            day = instant(word, "during")
            return Window(day, day + DAY)
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"Unknown during={word!r}. Choose from {DATE_WORD_EXAMPLES}.")


def _next_month(first: datetime) -> datetime:
    return (first + 32 * DAY).replace(day=1)


def parse_duration(name: str, text: str) -> timedelta:
    """Return the duration that an argument or an option is set to.

    >>> parse_duration("--max-age", "36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([mhdw])", text.strip().lower())
    if not match:
        raise UsageError(f"{name} must be a duration such as 90m, 36h, 2d or 1w, got {text!r}.")
    try:
        duration = timedelta(**{DURATION_UNITS[match[2]]: float(match[1])})
    except OverflowError:
        duration = timedelta.max
    if duration > MAX_DURATION:
        raise UsageError(f"{name} must be at most {MAX_DURATION.days:,} days, got {text!r}.")
    return duration
