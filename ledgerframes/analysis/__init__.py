"""Pure functions from ``Frames`` to tidy DataFrames.

Each package or module has the figures of one subject. Modules that several of them share start with an underscore.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ledgerframes.analysis.figures import SHARE, Figure, ResultColumn

# Imported on first use, because most callers need only one or two.
NOUNS = (
    "activity",
    "contracts",
    "cost",
    "economy",
    "eras",
    "findings",
    "grant",
    "labels",
    "reconcile",
    "state",
    "trees",
    "verdict",
    "votes",
)

if TYPE_CHECKING:
    from ledgerframes.analysis import (
        activity,
        contracts,
        cost,
        economy,
        eras,
        findings,
        grant,
        labels,
        reconcile,
        state,
        trees,
        verdict,
        votes,
    )
    from ledgerframes.analysis.figures import CALLS, FIGURES
else:

    def __getattr__(name: str) -> Any:
        if name in NOUNS:
            return import_module(f"{__name__}.{name}")
        if name in ("CALLS", "FIGURES"):  # all figures, which declare themselves when they are imported
            for noun in NOUNS:
                import_module(f"{__name__}.{noun}")
            declared = getattr(import_module(f"{__name__}.figures"), name)
            return dict(sorted(declared.items()))  # imports differ in their order
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CALLS",
    "FIGURES",
    "SHARE",
    "Figure",
    "ResultColumn",
    "activity",
    "contracts",
    "cost",
    "economy",
    "eras",
    "findings",
    "grant",
    "labels",
    "reconcile",
    "state",
    "trees",
    "verdict",
    "votes",
]
