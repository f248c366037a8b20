"""The window of a report and the period before, and whether they are comparable."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from ledgerframes.analysis import activity, verdict
from ledgerframes.analysis.coverage import period_share
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.frames import Frames
from ledgerframes.report.loads import State
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import describe_length
from ledgerframes.values import decimals

MIN_FINAL_SHARE = 0.99  # A partial period is never compared with a whole one.


class Rewards(NamedTuple):
    """Rewards of the rounds that have all their records.

    Without such a round, the amount is None.
    """

    complete: int
    rounds: int
    amount: Decimal | None  # of coin


@dataclass(frozen=True)
class Periods:
    """The window of a report, the period before it, and what else its head needs.

    The period before has the same length. Parts that the store does not have or the report does not need are None. A
    balance is known only if a parameter of the report gives it.
    """

    after: Frames
    before: Frames | None
    state: State | None = None
    weeks: Frames | None = None  # the window and the weeks before it
    participant: str = ""  # whose balance it is, empty for the one with the highest cost
    balance: int | None = None  # at the end of the window, in bytes

    @cached_property
    def outcomes(self) -> Any:
        """Outcomes of the requests of the window, as one row."""
        return next(iter_rows(verdict.outcomes(self.after)))

    @cached_property
    def outcomes_before(self) -> Any:
        """Outcomes of the requests of the period before, which is there, as one row."""
        assert self.before is not None
        return next(iter_rows(verdict.outcomes(self.before)))

    @cached_property
    def latency(self) -> Any:
        """Latency of the accepted requests of the window, as one row."""
        return next(iter_rows(verdict.latency(self.after)))

    @cached_property
    def latency_before(self) -> Any:
        """Latency of the accepted requests of the period before, which is there, as one row."""
        assert self.before is not None
        return next(iter_rows(verdict.latency(self.before)))

    @cached_property
    def rounds(self) -> pd.DataFrame | None:
        """Rewards of the rounds of the window, None without the network's state."""
        return None if self.state is None else activity.rewards(self.after, rounds=self.state["rounds"])

    @cached_property
    def rounds_before(self) -> pd.DataFrame | None:
        """Rewards of the rounds of the period before, None if unknown."""
        if self.before is None or self.state is None or self.obstacle:
            return None
        return activity.rewards(self.before, rounds=self.state["rounds"])

    @cached_property
    def rewards(self) -> Rewards | None:
        """Rewards of app providers in the window, None without the network's state."""
        return None if self.rounds is None else _rewards_of(self.rounds)

    @cached_property
    def rewards_before(self) -> Rewards | None:
        """Rewards of app providers in the period before, None if unknown."""
        return None if self.rounds_before is None else _rewards_of(self.rounds_before)

    @property
    def name(self) -> str:
        """The period before in words, such as ``7 days before``."""
        assert self.after.window is not None
        return f"{describe_length(self.after.window.until - self.after.window.since).removeprefix('1 ')} before"

    @property
    def obstacle(self) -> str:
        """Why the two are not comparable. Empty if they are."""
        if self.before is None:
            return f"Not compared, because the store does not have the {self.name}."
        for frames, name in ((self.after, "this window"), (self.before, f"the {self.name}")):
            share = period_share(frames)
            if not share >= MIN_FINAL_SHARE:
                return f"Not compared, because only {printing.share(share)} of {name} is final and in the history."
        return ""


def _rewards_of(rounds: pd.DataFrame) -> Rewards:
    complete = rounds.dropna(subset="amount")
    amount = decimals.total(complete["amount"])
    return Rewards(len(complete), len(rounds), amount if isinstance(amount, Decimal) else None)
