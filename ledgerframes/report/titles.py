"""Titles of pages that suit their windows."""

from __future__ import annotations

from datetime import datetime, timedelta

from ledgerframes.values.windows import Bounds

WEEK = "The week"  # title of the weekly report, which can have any window
OF_LENGTHS = {timedelta(days=7): WEEK, timedelta(days=1): "The day", timedelta(hours=1): "The hour"}


def title_of_window(title: str, window: Bounds) -> str:
    """Return the title of a page, without a week if its window is none.

    >>> title_of_window("The week", {"since": "2026-11-05T00:00:00Z", "until": "2026-11-06T00:00:00Z"})
    'The day'
    >>> title_of_window("The week", {"since": "2026-11-05T00:00:00Z", "until": "2026-11-05T00:10:00Z"})
    'The period'
    """
    if title != WEEK:
        return title
    since, until = (datetime.fromisoformat(end) for end in (window["since"], window["until"]))
    return OF_LENGTHS.get(until - since, "The period")
