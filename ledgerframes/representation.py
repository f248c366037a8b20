"""Counts and lengths of time as text, and frames and networks as they show themselves."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from ledgerframes.control_characters import escape_html as escape
from ledgerframes.population import POPULATION_DESCRIPTIONS

if TYPE_CHECKING:
    from ledgerframes.frames import Frames

UNITS = {noun: timedelta(**{f"{noun}s": 1}) for noun in ("day", "hour", "minute", "second")}


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> pluralize(1, "row"), pluralize(2000, "row"), pluralize(2, "party"), pluralize(2, "day")
    ('1 row', '2,000 rows', '2 parties', '2 days')
    """
    return f"{count:,} {noun if count == 1 else re.sub('(?<=[^aeiou])y$', 'ie', noun) + 's'}"


def describe_length(length: timedelta | None) -> str:
    """Return the length of a window in the longest unit that divides it.

    >>> describe_length(timedelta(days=7)), describe_length(timedelta(hours=36)), describe_length(None)
    ('7 days', '36 hours', 'unknown length')
    """
    if length is None:
        return "unknown length"
    noun, unit = next((noun, unit) for noun, unit in UNITS.items() if length % unit == timedelta(0) or noun == "second")
    return pluralize(round(length / unit), noun)


def as_text(title: str, facts: list[tuple[str, str]], width: int) -> str:
    """Return facts as lines, with names of this width."""
    return f"{title}\n" + "\n".join(f"  {name:<{width}} {value}" for name, value in facts)


def as_html(title: str, facts: list[tuple[str, str]]) -> str:
    """Return facts as an HTML table."""
    cells = [(escape(name), escape(value)) for name, value in facts]
    rows = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>" for name, value in cells)
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def frame_facts(frames: Frames, bytes_on_disk: int) -> list[tuple[str, str]]:
    """Return the facts that frames show."""
    covered = frames.coverage
    provisional = int(covered.loc[covered["status"] == "provisional", "rows"].sum())
    facts = [("network", frames.network), ("range", _extent(frames)), ("population", POPULATION_DESCRIPTIONS[frames.population])]
    facts += [(table, pluralize(frames.count_rows(table), "row")) for table in frames.tables]
    if provisional:
        pronoun = "it" if provisional == 1 else "them"
        facts.append(("provisional", f"{pluralize(provisional, 'row')} (the next load fetches {pronoun} again)"))
    for problem, table, rows, update_id in frames.problems.itertuples(index=False, name=None):
        verb = "is" if rows == 1 else "are"
        facts.append((f"{problem}s", f"{pluralize(rows, 'row')} of {table} {verb} excluded, such as {update_id}"))
    if earlier := frames.missing_before:
        more = f", and {pluralize(len(earlier) - 1, 'window')} before it" if len(earlier) > 1 else ""
        facts.append(("not in the store", f"{earlier[-1]}{more}, when a request can have had its first verdict"))
    facts.append(("on disk", f"{bytes_on_disk / 1e6:,.1f} MB"))
    if frames.unknown_ids:
        facts.append(("unknown ids", f"{len(frames.unknown_ids):,}"))
    if frames.unreadable:
        facts.append(("unreadable", f"{pluralize(len(frames.unreadable), 'segment')} of another version"))
    if frames.failed_objects:
        facts.append(("not read", pluralize(len(frames.failed_objects), "bulk object")))
    return facts


def _extent(frames: Frames) -> str:
    if frames.offset_range:
        return f"offsets after {frames.offset_range[0]} through {frames.offset_range[1]}"
    return str(frames.window) if frames.window else "by id"
