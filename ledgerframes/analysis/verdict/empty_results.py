"""Sentences for results without verdicts."""

from __future__ import annotations

NO_VERDICT = "No verdict in this window."
NO_QUORUM = "No quorum in this window."
