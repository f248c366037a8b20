"""One key figure of a page, and the names of all."""

from __future__ import annotations

from typing import TypedDict

from ledgerframes.report.units import SHARE

TRAFFIC_COST, WASTED, REJECTED, LATENCY, WEIGHT, REWARDS, OWN_COST, BALANCE = (
    "Traffic cost",
    "Wasted on rejections",
    "Rejected",
    "Latency, median",
    "Activity weight",
    "Rewards",
    "Own traffic cost",
    "Traffic balance lasts",
)


class KeyFigure(TypedDict):
    """A figure of the window, with its change against the period before.

    Attributes
    ----------
    label : str
        Its name.
    value : str
        Its value with the unit, as text.
    note : str
        A remark, such as the amount in currency.
    change : str
        Change against the period before, in percent or percentage points. Empty if the two are not comparable.
    is_clear : bool
        Whether the change was tested, and is more than chance or the weeks before explain.
    unit : str
        Unit of the values by day: ``bytes``, ``weighted bytes``, ``share`` of 1, ``microseconds`` or ``coin``.
    before : list of (float or None)
        Value of each day of the weeks or the period before the window, None if unknown.
    days : list of (float or None)
        Value of each day of the window, None if unknown.
    """

    label: str
    value: str
    note: str
    change: str
    is_clear: bool
    unit: str
    before: list[float | None]
    days: list[float | None]


def new_figure(label: str, value: str, note: str, change: str = "", *, unit: str = SHARE, is_clear: bool = False) -> KeyFigure:
    """Return a figure without its days."""
    return KeyFigure(label=label, value=value, note=note, change=change, is_clear=is_clear, unit=unit, before=[], days=[])
