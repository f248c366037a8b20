"""Figures, problems and sentences of a window, from frozen inputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.cost.traffic_balance import TrafficBalance
from ledgerframes.analysis.findings import findings as find
from ledgerframes.analysis.findings.facts import CURRENCY
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.additions import additions_of
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.attention import describe_attention
from ledgerframes.report.coverage import Coverage, measure_coverage
from ledgerframes.report.freeze import FrozenInputs
from ledgerframes.report.headline import measure_headline
from ledgerframes.report.history import daily_integers
from ledgerframes.report.key_figure import KeyFigure
from ledgerframes.report.key_figures import measure_key_figures
from ledgerframes.report.loads import State, history_window, load_before, load_state
from ledgerframes.report.prices import read_prices
from ledgerframes.report.quality import describe_quality
from ledgerframes.report.reward_links import check_rewards, write_reward_links
from ledgerframes.report.run_content import Problem, SegmentContent, WindowDigests, WindowFacts
from ledgerframes.report.sentences import Statement
from ledgerframes.report.summary import summarize
from ledgerframes.report.summary.balance import largest_payer
from ledgerframes.report.summary.periods import Periods
from ledgerframes.store import Segment
from ledgerframes.store.location import digest_of
from ledgerframes.values.windows import Window


@dataclass(frozen=True)
class Measurement:
    """Figures of the window of a report."""

    coverage: Coverage
    periods: Periods
    facts: WindowFacts
    digests: WindowDigests

    def measure_key_figures(self, inputs: FrozenInputs) -> list[KeyFigure]:
        """Return the figures that the page of a report opens with."""
        prices = read_prices(inputs.parameters, self.periods.after)
        headline, days = self.facts["headline"], self.facts["days"]
        return measure_key_figures(self.periods, prices, headline, days, inputs.report.subjects)

    def summarize(self, inputs: FrozenInputs) -> list[Statement]:
        """Return the sentences that the page of a report opens with."""
        return summarize(inputs.report.subjects, self.periods, read_prices(inputs.parameters, self.periods.after))


def measure_inputs(inputs: FrozenInputs) -> Measurement:
    """Measure the window of a report through the copied catalog."""
    report, window, offline, history = inputs.report, inputs.window, inputs.net, inputs.history
    frames = load_events(offline, since=window.since, until=window.until)
    weeks = _load_weeks(offline, window) if report.needs_history else None
    state = load_state(offline, frames) if report.needs_state else None
    links = None if weeks is None or state is None else _check_rewards(frames, inputs, state)
    findings = None if weeks is None else find_for_report(frames, weeks, inputs, links)
    headline = measure_headline(frames, findings)
    additions, snapshot = additions_of(frames), offline.store.snapshot(EVENTS, window)
    before = load_before(offline, frames) if report.subjects else None
    facts: WindowFacts = {
        "headline": headline,
        "quality": describe_quality(frames),
        "attention": None if findings is None else describe_attention(findings, report.headings),
        "days": daily_integers(frames),
        "problems": _problems(frames),
        "missing_before": [str(window) for window in frames.missing_before],
        "extra_members": sorted(additions.members),
        "new_kinds": sorted(additions.kinds),
    }
    digests: WindowDigests = {
        "snapshot": snapshot.digest,
        "history": _history_digest(offline, window, history) if report.needs_history else "",
        "segments": [_describe(segment) for segment in snapshot.segments],
    }
    coverage = measure_coverage(offline, frames, window, headline)
    owner: dict[str, Any] = {}
    if "balance" in report.subjects:
        owner = {"participant": inputs.parameters["participant"], "balance": inputs.parameters["balance"]}
    return Measurement(coverage, Periods(frames, before, state, weeks, **owner), facts, digests)


def find_for_report(frames: Frames, weeks: Frames, inputs: FrozenInputs, links: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the findings at the list price, with balance and rewards of the report.

    Only a price in dollars counts.
    """
    price = read_prices(inputs.parameters, frames).price
    # Without requests, no participant is known, and the run fails for want of them.
    balance = inputs.parameters.get("balance") if frames.count_rows("verdicts") else None
    payer = "" if balance is None else inputs.parameters.get("participant") or largest_payer(frames)
    return find(
        frames,
        history=weeks,
        price=price if price is not None and price.currency == CURRENCY else None,
        participant=payer,
        balance=TrafficBalance(balance, inputs.window.until) if balance is not None and payer else None,
        rewards=links,
        accept_survivorship=True,
    )


def _check_rewards(frames: Frames, inputs: FrozenInputs, state: State) -> pd.DataFrame | None:
    """Return the links of the rewards, and write them for the notebook.

    They are None if the frames cover no time. They take as long as everything else together, so only a report that shows them
    has them checked.
    """
    if not inputs.report.has_rewards:
        return None
    try:
        links = check_rewards(inputs.net, frames, state)
    except CoverageError:
        return None
    write_reward_links(links, inputs.reward_links)
    return links


def _load_weeks(offline: Network, window: Window) -> Frames | None:
    """Return the window with the weeks before it, None if the store does not have them."""
    weeks = history_window(window)
    try:
        return load_events(offline, since=weeks.since, until=window.until) if weeks else None
    except CoverageError:
        return None


def _describe(segment: Segment) -> SegmentContent:
    """Return a segment with the digests of its files, which prove the origin later."""
    return {
        "extent": str(segment.extent),
        "final": segment.final,
        "source": segment.source,
        "rows": segment.rows,
        "sha256": {table: file.sha256 for table, file in sorted(segment.files.items())},
    }


def _problems(frames: Frames) -> list[Problem]:
    """Return the rows and values that the figures of frames leave out."""
    values = cost.invalid_values(frames).rename(columns={"first_update_id": "update_id"})
    values = values[values["rows"] > 0]
    unusable = values.assign(problem=values["column"] + " " + values["problem"].astype("str"))
    rows = (row for excluded in (frames.problems, unusable) for row in iter_rows(excluded))
    return [Problem(problem=row.problem, table=row.table, rows=row.rows, update_id=row.update_id) for row in rows]


def _history_digest(net: Network, window: Window, history: Path | None) -> str:
    if history is not None:
        return digest_of(history)
    weeks = history_window(window)
    return net.store.snapshot(EVENTS, weeks).digest if weeks else ""
