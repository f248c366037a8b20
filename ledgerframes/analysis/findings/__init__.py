"""Unusual figures of a window, and what they cost."""

from __future__ import annotations

from ledgerframes.analysis.findings._findings import findings

__all__ = ["findings"]


def __dir__() -> list[str]:
    return __all__
