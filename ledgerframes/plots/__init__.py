"""Pictures of results. :func:`ledgerframes.plot` finds them by the figure of a result.

A picture draws on axes of the caller or on new ones; none of them calls ``show()``. matplotlib is imported when something is
drawn. The style applies only to these pictures.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ledgerframes.plots._chart import PICTURES, RANKINGS
from ledgerframes.plots._plot import plot

__all__ = ["PICTURES", "RANKINGS", "plot"]

for module in iter_modules(__path__):  # each registers its pictures
    import_module(f"{__name__}.{module.name}")
