"""Reports, from parameters to a published HTML page.

A run freezes its inputs, executes a notebook on them, and publishes one self-contained page.

:func:`run_report` runs all steps, each of them a module here. :func:`list_runs` and :func:`compare_runs` read the published
runs. :func:`show_table` and :func:`show_text` are for notebooks.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

# Imported on first use, because no command and no notebook needs all of them.
_MODULES = {
    "Answer": "answers",
    "HEADLINE": "headline",
    "REPORTS": "registry",
    "Prices": "prices",
    "Report": "registry",
    "ReportResult": "run",
    "check_rewards": "reward_links",
    "compare_runs": "run_changes",
    "describe_forecast": "forecast",
    "describe_runway": "summary.balance",
    "describe_waste": "history",
    "forecast_runway": "forecast",
    "list_runs": "runs",
    "load_before": "loads",
    "load_history": "loads",
    "load_state": "loads",
    "notebooks_dir": "registry",
    "order_by_cost": "order",
    "read_budgets": "budgets",
    "read_prices": "prices",
    "run_report": "run",
    "shorten": "cells",
    "show": "answers",
    "show_table": "tables",
    "show_text": "answers",
    "usual_budgets": "budgets",
    "write_overview": "overview",
}

if TYPE_CHECKING:
    from ledgerframes.report.answers import Answer, show, show_text
    from ledgerframes.report.budgets import read_budgets, usual_budgets
    from ledgerframes.report.cells import shorten
    from ledgerframes.report.forecast import describe_forecast, forecast_runway
    from ledgerframes.report.headline import HEADLINE
    from ledgerframes.report.history import describe_waste
    from ledgerframes.report.loads import load_before, load_history, load_state
    from ledgerframes.report.order import order_by_cost
    from ledgerframes.report.overview import write_overview
    from ledgerframes.report.prices import Prices, read_prices
    from ledgerframes.report.registry import REPORTS, Report, notebooks_dir
    from ledgerframes.report.reward_links import check_rewards
    from ledgerframes.report.run import ReportResult, run_report
    from ledgerframes.report.run_changes import compare_runs
    from ledgerframes.report.runs import list_runs
    from ledgerframes.report.summary.balance import describe_runway
    from ledgerframes.report.tables import show_table
else:

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            globals()[name] = value = resolve_name(f"{__name__}.{_MODULES[name]}:{name}")
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "HEADLINE",
    "REPORTS",
    "Answer",
    "Prices",
    "Report",
    "ReportResult",
    "check_rewards",
    "compare_runs",
    "describe_forecast",
    "describe_runway",
    "describe_waste",
    "forecast_runway",
    "list_runs",
    "load_before",
    "load_history",
    "load_state",
    "notebooks_dir",
    "order_by_cost",
    "read_budgets",
    "read_prices",
    "run_report",
    "shorten",
    "show",
    "show_table",
    "show_text",
    "usual_budgets",
    "write_overview",
]


def __dir__() -> list[str]:
    return __all__
