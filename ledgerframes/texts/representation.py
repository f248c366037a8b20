"""Counts and lengths of time as text, and facts as text and as HTML."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from ledgerframes.texts.control_characters import escape_html as escape

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
UNITS = {noun: timedelta(**{f"{noun}s": 1}) for noun in ("day", "hour", "minute", "second")}


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> pluralize(1, "row"), pluralize(2000, "row"), pluralize(2, "party"), pluralize(2, "day")
    ('1 row', '2,000 rows', '2 parties', '2 days')
    """
    return f"{count:,} {noun if count == 1 else re.sub('(?<=[^aeiou])y$', 'ie', noun) + 's'}"


def capitalize(text: str) -> str:
    """Return a text with a capital letter at its start, and the rest as it is.

    >>> capitalize("buy traffic before noon UTC")
    'Buy traffic before noon UTC'
    """
    return f"{text[0].upper()}{text[1:]}"


def describe_length(length: timedelta | None) -> str:
    """Return the length of a window in the longest unit that divides it.

    >>> describe_length(timedelta(days=7)), describe_length(timedelta(hours=36)), describe_length(None)
    ('7 days', '36 hours', 'unknown length')
    """
    if length is None:
        return "unknown length"
    noun, unit = next((noun, unit) for noun, unit in UNITS.items() if length % unit == timedelta(0) or noun == "second")
    return pluralize(round(length / unit), noun)


def describe_day(time: datetime) -> str:
    """Return the day of a time, with its weekday.

    >>> describe_day(datetime(2026, 11, 8, 12))
    'Sunday 2026-11-08'
    """
    return f"{time:%A %Y-%m-%d}"


def as_text(title: str, facts: list[tuple[str, str]], width: int) -> str:
    """Return facts as lines, with names of at least this width."""
    width = max([width, *(len(name) for name, _ in facts)])
    return f"{title}\n" + "\n".join(f"  {name:<{width}} {value}" for name, value in facts)


def as_html(title: str, facts: list[tuple[str, str]]) -> str:
    """Return facts as an HTML table."""
    cells = [(escape(name), escape(value)) for name, value in facts]
    rows = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>" for name, value in cells)
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"
