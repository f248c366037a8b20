"""What is unusual in a window, and what it costs: :func:`ledgerframes.findings`."""

from __future__ import annotations

from ledgerframes.analysis.findings._findings import findings

__all__ = ["findings"]


def __dir__() -> list[str]:
    return __all__
