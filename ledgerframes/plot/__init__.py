"""Plots of results, each with the name of its figure.

For example, ``plot.cost_spend`` draws a result of ``cost.spend``.

A plot draws on `ax` or on new axes, and returns the axes; none of them calls ``show()``. matplotlib is imported when something
is drawn. The style applies only to these plots.
"""

from __future__ import annotations

from ledgerframes.plot import (
    _activity,
    _activity_checks,
    _calendar,
    _cost,
    _economy,
    _economy_parties,
    _grant,
    _money,
    _operations,
    _quorums,
    _reconcile,
    _rejections,
    _verdict,
)
from ledgerframes.plot._activity import *  # noqa: F403
from ledgerframes.plot._activity_checks import *  # noqa: F403
from ledgerframes.plot._calendar import *  # noqa: F403
from ledgerframes.plot._cost import *  # noqa: F403
from ledgerframes.plot._economy import *  # noqa: F403
from ledgerframes.plot._economy_parties import *  # noqa: F403
from ledgerframes.plot._grant import *  # noqa: F403
from ledgerframes.plot._money import *  # noqa: F403
from ledgerframes.plot._operations import *  # noqa: F403
from ledgerframes.plot._quorums import *  # noqa: F403
from ledgerframes.plot._reconcile import *  # noqa: F403
from ledgerframes.plot._rejections import *  # noqa: F403
from ledgerframes.plot._verdict import *  # noqa: F403

__all__: list[str] = []
__all__ += _activity.__all__
__all__ += _activity_checks.__all__
__all__ += _calendar.__all__
__all__ += _cost.__all__
__all__ += _economy.__all__
__all__ += _economy_parties.__all__
__all__ += _grant.__all__
__all__ += _money.__all__
__all__ += _operations.__all__
__all__ += _quorums.__all__
__all__ += _reconcile.__all__
__all__ += _rejections.__all__
__all__ += _verdict.__all__
