"""How much of a window the data cover, how fresh they are, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow.compute as pc

from ledgerframes.analysis import cost
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.extents import MigrationWindow, plan_missing
from ledgerframes.frames import Frames
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.windows import Window, iso


@dataclass(frozen=True)
class Coverage:
    """What is known about one window.

    Attributes
    ----------
    final, provisional, missing : float
        Shares of the window's time, together 1. Time counts as final where every migration that can have rows in it is.
    rows, provisional_rows : int
        Rows of all tables inside the window, and those of them that may still change.
    requests, requests_with_cost : int
        Confirmation requests, and those of them whose traffic is known.
    reached : datetime or None
        The later of the newest row and the end of the final range; None if there is neither.
    sources : tuple of str
        Hosts that answered.
    """

    final: float
    provisional: float
    missing: float
    rows: int
    provisional_rows: int
    requests: int
    requests_with_cost: int
    reached: datetime | None
    sources: tuple[str, ...]

    @property
    def cost_known(self) -> float | None:
        """Share of the requests whose traffic is known; None without requests."""
        return self.requests_with_cost / self.requests if self.requests else None

    def as_dict(self) -> dict[str, object]:
        """The same as JSON can hold it."""
        reached = iso(self.reached) if self.reached else None
        return {**self.__dict__, "cost_known": self.cost_known, "reached": reached, "sources": list(self.sources)}


@dataclass(frozen=True)
class Requirements:
    """What the data must be good for.

    Attributes
    ----------
    min_coverage : float or None
        Least share, 0 to 1, of the window that must be final; for reports on costs also of the requests whose traffic is known.
    max_age : timedelta or None
        Greatest age of the data against ``net.now()``.
    """

    min_coverage: float | None
    max_age: timedelta | None

    def __post_init__(self) -> None:
        if self.min_coverage is not None and not 0 <= self.min_coverage <= 1:
            raise UsageError(f"min_coverage={self.min_coverage} is not a share. Write it as a number from 0 to 1, such as 0.99.")
        if self.max_age is not None and self.max_age <= timedelta(0):
            raise UsageError(f"max_age={self.max_age} is not an age. Give a time above 0, such as one day.")

    def check(self, coverage: Coverage, needs_cost: bool, now: datetime) -> None:
        """Refuse data that are not good enough.

        Raises
        ------
        CoverageError
            Saying what is lacking, and what would do.
        """
        if self.min_coverage is not None:
            if not coverage.requests:
                raise CoverageError(
                    "The window holds no request at all, so there is nothing to report. "
                    "Choose another window, or ask whether the network stands still."
                )
            _require_share("of the window is final", coverage.final, self.min_coverage, "Run again when the range has settled")
            if needs_cost and coverage.cost_known is not None:
                share = "of the requests have known traffic"
                _require_share(share, coverage.cost_known, self.min_coverage, "Choose a later window")
        if self.max_age is not None:
            _require_age(coverage.reached, now, self.max_age)


def measure(net: Network, frames: Frames, asked: Window) -> Coverage:
    """Measure what is stored for a window.

    Parameters
    ----------
    net : Network
        The frozen network.
    frames : Frames
        Loaded from it for the window.
    asked : Window

    Returns
    -------
    Coverage
    """
    segments = net.store.segments(EVENTS, asked)
    migrations = net.store.migrations()
    unsettled = plan_missing(asked, migrations, [segment.extent for segment in segments if segment.final])
    missing = plan_missing(asked, migrations, [segment.extent for segment in segments])
    final, known = _share_outside(asked, unsettled), _share_outside(asked, missing)
    requests = cost.over_time(frames, "1d")
    return Coverage(
        final=final,
        provisional=known - final,
        missing=1 - known,
        rows=sum(frames.count_rows(table) for table in frames.tables),
        provisional_rows=_provisional_rows(frames, segments),
        requests=int(requests["requests"].sum()),
        requests_with_cost=int(requests["requests_with_cost"].sum()),
        reached=_reached(frames, segments, min(asked.until, net.now())),
        sources=tuple(sorted({segment.source for segment in segments})),
    )


def _share_outside(asked: Window, spans: list[MigrationWindow]) -> float:
    """The share of a window's time that none of the spans touches; migrations overlap, so times are joined."""
    outside = asked.difference([span.window for span in spans])
    return sum((part.until - part.since for part in outside), timedelta()) / (asked.until - asked.since)


def _provisional_rows(frames: Frames, segments: list[Segment]) -> int:
    parts = [segment.extent.filter() for segment in segments if not segment.final]
    return sum(frames.scan(table).filter(part).count_rows() for part in parts for table in frames.tables)


def _reached(frames: Frames, segments: list[Segment], latest: datetime) -> datetime | None:
    times = [segment.extent.window.until for segment in segments if segment.final and isinstance(segment.extent, MigrationWindow)]
    for table in ("verdicts", "updates"):
        newest = pc.max(frames.scan(table).to_table(columns=["record_time"])["record_time"]).as_py()
        times += [newest] if newest else []
    return min(max(times), latest) if times else None


def _require_share(what: str, found: float, wanted: float, advice: str) -> None:
    if found < wanted:
        asked = f"min_coverage asks for {percent(wanted)}"
        raise CoverageError(f"Only {percent(found)} {what}, and {asked}. {advice}, or lower min_coverage.")


def _require_age(reached: datetime | None, now: datetime, wanted: timedelta) -> None:
    if reached is None:
        raise CoverageError(f"There are no data in this window, and max_age asks for some not older than {words(wanted)}.")
    age = now - reached
    if age > wanted:
        raise CoverageError(
            f"The data reach to {reached:%Y-%m-%d %H:%M} UTC and are {words(age)} old; max_age allows {words(wanted)}. "
            "Choose a later window, or raise max_age."
        )


def percent(share: float) -> str:
    """A share as percent; never rounded to 0 or 100 where it is neither.

    >>> percent(0.99999), percent(1), percent(0.5)
    ('99.9 %', '100 %', '50.0 %')
    """
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    return f"{min(max(share * 100, 0.1), 99.9):.1f} %"


def words(age: timedelta) -> str:
    """A length of time as people say it.

    >>> words(timedelta(hours=49)), words(timedelta(minutes=5))
    ('2.0 days', '5 minutes')
    """
    minutes = age.total_seconds() / 60
    if minutes < 2:
        return f"{age.total_seconds():.0f} seconds"
    if minutes < 90:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 2880 else f"{minutes / 1440:.1f} days"
