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
    label, value, note : str
        Its name, its value with the unit, and a remark.
    change : str
        Change against the period before. Empty if the two are not comparable.
    is_clear : bool
        Whether the change was tested, and is more than chance or the weeks before explain.
    unit : str
        Of the values by day.
    before, days : list
        The value of each day before the window and of the window, None if unknown. The days before are those of the weeks of
        its usual ranges, or of the period before where the report has none.
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
