"""Reports: parameters -> frozen data -> executed notebook -> self-contained HTML -> published.

:func:`run_report` is the whole line; each step is a file of its own here. :func:`publish` and :func:`finding` are for notebooks.
"""

from __future__ import annotations

from ledgerframes.report.catalogue import REPORTS, Report, notebooks_folder
from ledgerframes.report.run import ReportResult, run_report
from ledgerframes.report.tables import finding, publish

__all__ = ["REPORTS", "Report", "ReportResult", "finding", "notebooks_folder", "publish", "run_report"]
