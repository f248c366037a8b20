"""Reports, from parameters to a published HTML page.

A run freezes its inputs, executes a notebook on them, and publishes one self-contained page.

:func:`run_report` runs all steps, each of them a module here. :func:`list_runs` and :func:`compare_runs` read what was
published. :func:`show_table` and :func:`show_text` are for notebooks.
"""

from __future__ import annotations

from ledgerframes.report.budgets import read_budgets
from ledgerframes.report.headline import HEADLINE
from ledgerframes.report.history import describe_waste
from ledgerframes.report.loads import load_before, load_history, load_state
from ledgerframes.report.overview import write_overview
from ledgerframes.report.prices import Prices, read_prices
from ledgerframes.report.registry import REPORTS, Report, notebooks_dir
from ledgerframes.report.run import ReportResult, run_report
from ledgerframes.report.run_changes import compare_runs
from ledgerframes.report.runs import list_runs
from ledgerframes.report.summary.balance import describe_runway
from ledgerframes.report.tables import shorten, show_table, show_text

__all__ = [
    "HEADLINE",
    "REPORTS",
    "Prices",
    "Report",
    "ReportResult",
    "compare_runs",
    "describe_runway",
    "describe_waste",
    "list_runs",
    "load_before",
    "load_history",
    "load_state",
    "notebooks_dir",
    "read_budgets",
    "read_prices",
    "run_report",
    "shorten",
    "show_table",
    "show_text",
    "write_overview",
]


def __dir__() -> list[str]:
    return __all__
