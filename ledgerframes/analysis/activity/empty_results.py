"""Sentences for results without activity."""

from __future__ import annotations

NO_RECORD = "No activity record in this window."
NO_PROVIDER = "No app provider has a weight in this window."
