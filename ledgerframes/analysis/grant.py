"""Evidence of an app's use by others, which an auditor can verify."""

from __future__ import annotations

from ledgerframes.analysis._grant_evidence import evidence, evidence_totals
from ledgerframes.analysis._grant_folder import verify

__all__ = ["evidence", "evidence_totals", "verify"]
