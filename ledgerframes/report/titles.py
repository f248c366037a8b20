"""Titles of pages that suit their windows, and windows as text."""

from __future__ import annotations

from datetime import time, timedelta

from ledgerframes.values.windows import Window, iso

WEEK = "The week"  # title of the weekly report, which can have any window
OF_LENGTHS = {timedelta(days=7): WEEK, timedelta(days=1): "The day", timedelta(hours=1): "The hour"}


def title_of_window(title: str, window: Window) -> str:
    """Return the title of a page, without a week if its window is none.

    >>> title_of_window("The week", Window.from_dict({"since": "2026-11-05T00:00:00Z", "until": "2026-11-06T00:00:00Z"}))
    'The day'
    >>> title_of_window("The week", Window.from_dict({"since": "2026-11-05T00:00:00Z", "until": "2026-11-05T00:10:00Z"}))
    'The period'
    """
    if title != WEEK:
        return title
    return OF_LENGTHS.get(window.until - window.since, "The period")


def describe_window(window: Window) -> str:
    """Return a window as text.

    Whole days are named by the first and the last of them, other windows by their start and end.

    >>> describe_window(Window.from_dict({"since": "2026-11-02T00:00:00Z", "until": "2026-11-09T00:00:00Z"}))
    '2026-11-02 to 2026-11-08'
    >>> describe_window(Window.from_dict({"since": "2026-11-05T00:00:00Z", "until": "2026-11-05T00:10:00Z"}))
    '2026-11-05 00:00 to 2026-11-05 00:10'
    """
    ends = (window.since, window.until)
    if all(end.time() == time.min for end in ends):
        days = (window.since, window.until - timedelta(days=1))
        return " to ".join(dict.fromkeys(f"{day:%Y-%m-%d}" for day in days))
    return " to ".join(format_time(iso(end)) for end in ends)


def format_time(text: str) -> str:
    """Return a time of ``run.json`` as pages show it.

    >>> format_time("2026-11-05T00:10:00Z")
    '2026-11-05 00:10'
    """
    return text.replace("T", " ").removesuffix("Z").removesuffix(":00")
