"""Sentences at the top of a report, about its window and the period before.

:func:`summarize` returns the statements of a report. Each module here has those on one subject.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ledgerframes.report.prices import Prices
from ledgerframes.report.sentences import Statement
from ledgerframes.report.summary.activity import describe_activity
from ledgerframes.report.summary.balance import describe_balance
from ledgerframes.report.summary.periods import Periods
from ledgerframes.report.summary.traffic import describe_traffic
from ledgerframes.report.summary.verdicts import describe_verdicts

SUBJECTS: dict[str, Callable[[Periods, Prices], list[Statement]]] = {
    "traffic": describe_traffic,
    "verdicts": describe_verdicts,
    "activity": describe_activity,
    "balance": describe_balance,
}


def summarize(subjects: Sequence[str], periods: Periods, prices: Prices) -> list[Statement]:
    """Return statements on names in :data:`SUBJECTS`."""
    return [statement for subject in subjects for statement in SUBJECTS[subject](periods, prices)]
