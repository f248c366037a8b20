"""Coverage and age of the data of a window, and the requirements of a report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow.compute as pc

from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.event_bounds import history_start, require_overlap
from ledgerframes.network import Network
from ledgerframes.report.headline import Headline
from ledgerframes.report.run_content import CoverageContent, RequirementsContent
from ledgerframes.statistics import printing
from ledgerframes.store import Segment
from ledgerframes.store.scan import count_rows, read_rows
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.checks import require_min_coverage
from ledgerframes.values.extents import MigrationWindow
from ledgerframes.values.windows import Window, iso


@dataclass(frozen=True)
class Coverage:
    """Coverage of one window, with shares of its time that add up to 1.

    Time is final if it is final in every migration that can have rows in it. Time before the first event of the network is
    missing.
    """

    final: float
    provisional: float
    missing: float
    rows: int  # of all tables
    provisional_rows: int  # those that can change
    requests: int
    requests_with_cost: int  # those whose cost is known
    data_until: datetime | None  # the later of the newest row and the end of the final window, or None without both
    sources: tuple[str, ...]  # hosts of the rows

    @property
    def known_cost_share(self) -> float | None:
        """Share of the requests with a known cost, or None without requests."""
        return self.requests_with_cost / self.requests if self.requests else None

    @classmethod
    def from_dict(cls, values: CoverageContent) -> Coverage:
        """Return the coverage that these JSON values describe."""
        return cls(
            final=values["final"],
            provisional=values["provisional"],
            missing=values["missing"],
            rows=values["rows"],
            provisional_rows=values["provisional_rows"],
            requests=values["requests"],
            requests_with_cost=values["requests_with_cost"],
            data_until=datetime.fromisoformat(text) if (text := values["data_until"]) else None,
            sources=tuple(values["sources"]),
        )

    def as_dict(self) -> CoverageContent:
        """Return the attributes as JSON values."""
        return {
            "final": self.final,
            "provisional": self.provisional,
            "missing": self.missing,
            "rows": self.rows,
            "provisional_rows": self.provisional_rows,
            "requests": self.requests,
            "requests_with_cost": self.requests_with_cost,
            "data_until": iso(self.data_until) if self.data_until else None,
            "sources": list(self.sources),
            "known_cost_share": self.known_cost_share,
        }


@dataclass(frozen=True)
class Requirements:
    """Requirements on the data, as :func:`ledgerframes.report.run_report` takes them."""

    min_coverage: float | None
    max_age: timedelta | None

    def __post_init__(self) -> None:
        if self.min_coverage is not None:
            require_min_coverage(self.min_coverage)

    def as_dict(self) -> RequirementsContent:
        """Return the requirements as JSON values."""
        seconds = self.max_age.total_seconds() if self.max_age else None
        return {"min_coverage": self.min_coverage, "max_age_seconds": seconds}

    def check(self, coverage: Coverage, needs_cost: bool, now: datetime) -> None:
        """Raise a CoverageError unless the data meet the requirements."""
        least, known_share = self.min_coverage, coverage.known_cost_share
        if least is not None:
            step = "Choose a window that the history holds, run the report again later if the window has just ended"
            _require_share("of the window is final", coverage.final, least, step)
        if least is not None and needs_cost and known_share is not None:
            _require_share("of the requests have a known cost", known_share, least, "Choose a later window")
        if self.max_age is not None:
            _require_age(coverage.data_until, now, self.max_age)


def require_past(net: Network, window: Window) -> None:
    """Raise a CoverageError if a window has not begun."""
    if window.since >= net.now():
        raise CoverageError(
            f"The window begins at {iso(window.since)}, but it is {iso(net.now())} now. Choose an earlier window.",
            missing=(str(window),),
        )


def require_requests(net: Network, coverage: Coverage, window: Window) -> None:
    """Raise a CoverageError if a window has no confirmation requests.

    The error says in which time the network has events.
    """
    if coverage.requests:
        return
    begin = history_start(net)
    if begin and window.until <= begin:
        reason = f"The window ends at {iso(window.until)}, before the history of {net.name} begins at {iso(begin)}"
        raise CoverageError(f"{reason}. Choose a later window.", missing=(str(window),))
    if not net.offline:
        require_overlap(net, window)
    advice = "Choose another window, or check the network with `ledgerframes doctor`."
    raise CoverageError(f"{net.name} has no confirmation requests in {window}. {advice}", missing=(str(window),))


def measure_coverage(net: Network, frames: Frames, window: Window, headline: Headline) -> Coverage:
    """Measure the coverage of a window by its frames and their headline figures."""
    from ledgerframes.analysis.coverage import period_share  # late: a report that is reused needs no analysis

    segments = net.store.segments(EVENTS, window)
    final = period_share(frames)
    provisional = period_share(frames, accept_provisional=True) - final
    return Coverage(
        final=final,
        provisional=provisional,
        missing=1 - final - provisional,
        rows=sum(frames.count_rows(table) for table in frames.tables),
        provisional_rows=_count_provisional_rows(frames, segments),
        requests=int(headline["requests"] or 0),
        requests_with_cost=int(headline["requests_with_cost"] or 0),
        data_until=_data_until(frames, segments, min(window.until, net.now())),
        sources=tuple(sorted({segment.source for segment in segments})),
    )


def _count_provisional_rows(frames: Frames, segments: list[Segment]) -> int:
    filters = [segment.extent.filter() for segment in segments if not segment.final]
    count = 0
    for table in frames.tables:
        with frames._scanning(table) as rows:
            count += sum(count_rows(rows, each) for each in filters)
    return count


def _data_until(frames: Frames, segments: list[Segment], latest: datetime) -> datetime | None:
    times = [segment.extent.window.until for segment in segments if segment.final and isinstance(segment.extent, MigrationWindow)]
    for table in ("verdicts", "updates"):
        with frames._scanning(table) as rows:
            newest = pc.max(read_rows(rows, ["record_time"], None)["record_time"]).as_py()
        times += [newest] if newest else []
    return min(max(times), latest) if times else None


def _require_share(subject: str, share: float, min_coverage: float, advice: str) -> None:
    if share < min_coverage:
        required = f"the {printing.share(min_coverage)} of min_coverage="
        raise CoverageError(f"Only {printing.share(share)} {subject}, less than {required}. {advice}, or lower min_coverage=.")


def _require_age(data_until: datetime | None, now: datetime, max_age: timedelta) -> None:
    limit = f"{format_duration(max_age)} of max_age=. Choose a later window or raise max_age=."
    if data_until is None:
        raise CoverageError(f"No data in this window are newer than the {limit}")
    if now - data_until > max_age:
        end, age = f"{data_until:%Y-%m-%d %H:%M} UTC", format_duration(now - data_until)
        raise CoverageError(f"The data end at {end} and are {age} old, older than the {limit}")


def format_duration(duration: timedelta) -> str:
    """Return a duration as text.

    >>> format_duration(timedelta(hours=49)), format_duration(timedelta(minutes=5)), format_duration(timedelta(seconds=1))
    ('2.0 days', '5 minutes', '1 second')
    """
    minutes = duration.total_seconds() / 60
    if minutes < 2:
        return pluralize(round(duration.total_seconds()), "second")
    if minutes < 90:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 2880 else f"{minutes / 1440:.1f} days"
