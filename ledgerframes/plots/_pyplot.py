"""Import of matplotlib, an extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerframes.installation import extra_for

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["pyplot"]


def pyplot() -> ModuleType:
    """Import pyplot late, because the import takes a second and matplotlib is an extra."""
    with extra_for("lf.plot"):
        from matplotlib import pyplot
    return pyplot
