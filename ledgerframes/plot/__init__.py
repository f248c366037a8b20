"""Plots of results, each with the name of its figure.

For example, ``plot.cost_spend`` draws a result of ``cost.spend``.

A plot draws on `ax` or on new axes, and returns the axes; none of them calls ``show()``. matplotlib is imported when something
is drawn. The style applies only to these plots.
"""

from __future__ import annotations

from ledgerframes.plot import (
    _activity,
    _activity_reconcile,
    _cost,
    _cost_kinds,
    _coverage,
    _economy,
    _economy_parties,
    _grant,
    _latency,
    _reconcile,
    _rewards,
    _state,
    _transfers,
    _verdict,
    _votes,
)
from ledgerframes.plot._activity import *  # noqa: F403
from ledgerframes.plot._activity_reconcile import *  # noqa: F403
from ledgerframes.plot._cost import *  # noqa: F403
from ledgerframes.plot._cost_kinds import *  # noqa: F403
from ledgerframes.plot._coverage import *  # noqa: F403
from ledgerframes.plot._economy import *  # noqa: F403
from ledgerframes.plot._economy_parties import *  # noqa: F403
from ledgerframes.plot._grant import *  # noqa: F403
from ledgerframes.plot._latency import *  # noqa: F403
from ledgerframes.plot._reconcile import *  # noqa: F403
from ledgerframes.plot._rewards import *  # noqa: F403
from ledgerframes.plot._state import *  # noqa: F403
from ledgerframes.plot._transfers import *  # noqa: F403
from ledgerframes.plot._verdict import *  # noqa: F403
from ledgerframes.plot._votes import *  # noqa: F403

__all__: list[str] = []
__all__ += _activity.__all__
__all__ += _activity_reconcile.__all__
__all__ += _cost.__all__
__all__ += _cost_kinds.__all__
__all__ += _coverage.__all__
__all__ += _economy.__all__
__all__ += _economy_parties.__all__
__all__ += _grant.__all__
__all__ += _latency.__all__
__all__ += _reconcile.__all__
__all__ += _rewards.__all__
__all__ += _state.__all__
__all__ += _transfers.__all__
__all__ += _verdict.__all__
__all__ += _votes.__all__


def __dir__() -> list[str]:
    return __all__
