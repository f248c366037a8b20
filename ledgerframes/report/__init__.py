"""Reports: parameters, frozen inputs, an executed notebook, and a self-contained HTML page that is published.

:func:`run_report` runs all steps, each of them a module here. :func:`show_table` and :func:`show_text` are for notebooks.
"""

from __future__ import annotations

from ledgerframes.report.registry import REPORTS, Report, notebooks_dir
from ledgerframes.report.run import ReportResult, run_report
from ledgerframes.report.tables import show_table, show_text

__all__ = ["REPORTS", "Report", "ReportResult", "notebooks_dir", "run_report", "show_table", "show_text"]
