"""Evidence of an app's use by others, which an auditor can verify."""

from __future__ import annotations

from ledgerframes.analysis.grant._directory import verify
from ledgerframes.analysis.grant._evidence import evidence, evidence_totals

__all__ = ["evidence", "evidence_totals", "verify"]


def __dir__() -> list[str]:
    return __all__
