"""The facts that frames show of themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import pandas as pd

from ledgerframes.datasets.population import POPULATION_DESCRIPTIONS, Population
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.windows import Window


class DescribedFrames(Protocol):
    """The members of frames from which the facts are read."""

    @property
    def network(self) -> str:
        """Name of the network."""

    @property
    def window(self) -> Window | None:
        """Half-open window of record times."""

    @property
    def offset_range(self) -> tuple[int, int] | None:
        """Offsets ``after < offset <= through``."""

    @property
    def population(self) -> Population:
        """Population of the requests."""

    @property
    def coverage(self) -> pd.DataFrame:
        """Segments of the rows."""

    @property
    def problems(self) -> pd.DataFrame:
        """Excluded rows, counted by problem and table."""

    @property
    def missing_before(self) -> Sequence[Window]:
        """Time before the window that is not in the store."""

    @property
    def unknown_ids(self) -> Collection[str]:
        """Ids that the service does not know."""

    @property
    def unreadable(self) -> Collection[str]:
        """Segments of other versions."""

    @property
    def failed_objects(self) -> Collection[str]:
        """Bulk objects that could not be read."""

    @property
    def tables(self) -> Sequence[str]:
        """Names of the tables."""

    def count_rows(self, table: str) -> int:
        """Return the number of rows of a table."""


def frame_facts(frames: DescribedFrames, bytes_on_disk: int, has_chosen_ids: bool) -> list[tuple[str, str]]:
    """Return the facts that frames show."""
    covered = frames.coverage
    provisional = int(covered.loc[covered["status"] == "provisional", "rows"].sum())
    facts = [("network", frames.network), ("range", _extent(frames, has_chosen_ids))]
    facts.append(("population", POPULATION_DESCRIPTIONS[frames.population]))
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


def _extent(frames: DescribedFrames, has_chosen_ids: bool) -> str:
    if frames.offset_range:
        return f"offsets after {frames.offset_range[0]} through {frames.offset_range[1]}"
    if frames.window or has_chosen_ids:
        return str(frames.window or "by id")
    # The objects are a table of their load, and alone if they are read from the store.
    return "by object" if "bulk_objects" in frames.tables and len(frames.tables) > 1 else "all rows in the store"


def clip_coverage(covered: pd.DataFrame, window: Window) -> pd.DataFrame:
    """Return the segments that can have rows in a window, with times inside the window."""
    overlap = (covered["since"] < window.until) & (covered["until"] > window.since)
    # The times of offsets and ids are unknown, so all their segments can have rows in the window.
    clipped = covered[overlap | covered["since"].isna()].reset_index(drop=True)
    clipped["since"] = clipped["since"].mask(clipped["since"] < window.since, pd.Timestamp(window.since))
    clipped["until"] = clipped["until"].mask(clipped["until"] > window.until, pd.Timestamp(window.until))
    return clipped
