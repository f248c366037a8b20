"""Traffic costs by period, payer and purpose.

All costs are integers, in bytes. Without a traffic summary, as in older history, a cost is missing, never 0. A sum with a
``coverage`` below 1 is therefore a lower bound. Percentiles are by nearest rank, so each is a cost that occurred.

A request has a verdict, an update or a traffic summary, or several of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ledgerframes.analysis.cost._compare import compare
from ledgerframes.analysis.cost._concentration import concentration
from ledgerframes.analysis.cost._control import control
from ledgerframes.analysis.cost._estimate import estimate
from ledgerframes.analysis.cost._invalid_values import invalid_values
from ledgerframes.analysis.cost._journal import journal
from ledgerframes.analysis.cost._overhead import overhead
from ledgerframes.analysis.cost._requests import requests
from ledgerframes.analysis.cost._spend import spend
from ledgerframes.analysis.cost._statement import statement
from ledgerframes.analysis.cost._wasted import wasted
from ledgerframes.analysis.cost.anatomy_rows import anatomy
from ledgerframes.analysis.cost.budgets import assert_budget, budget
from ledgerframes.analysis.cost.runways import runway, runway_end
from ledgerframes.texts.earlier_names import missing_name_error

__all__ = [
    "anatomy",
    "assert_budget",
    "budget",
    "compare",
    "concentration",
    "control",
    "estimate",
    "invalid_values",
    "journal",
    "overhead",
    "requests",
    "runway",
    "runway_end",
    "spend",
    "statement",
    "wasted",
]

EARLIER_NAMES = {"problems": "lf.cost.invalid_values", "runway_summary": "lf.cost.runway_end"}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # for which every name would exist

    def __getattr__(name: str) -> NoReturn:
        raise missing_name_error("lf.cost", name, EARLIER_NAMES)
