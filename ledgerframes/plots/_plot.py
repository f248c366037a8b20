"""The call that draws any result."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pandas as pd

from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.arguments import is_choice
from ledgerframes.analysis.result_frame import NAME
from ledgerframes.errors import UsageError
from ledgerframes.plots._chart import PICTURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ADVICE = "Pass the result of an analysis to lf.plot, such as that of lf.cost.spend(frames)"
WITH_MILESTONE = "grant.evidence"
OTHER_NAMES = {  # of earlier versions
    "activity_rounds": "activity.rewards",
    "economy_rounds": "economy.flows",
    "verdict_rejection_rates": "verdict.outcomes",
}
Function = TypeVar("Function", bound=Callable[..., Any])


class WithEarlierNames:
    """A function that says what to write instead of the attributes that it once had.

    An example is ``lf.plot.cost_spend``.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, *_: object) -> WithEarlierNames:
        """Return itself. ``help()`` recognizes functions by this method."""
        return self

    def __reduce__(self) -> str:
        return self.__name__  # as functions, it is the same in another process

    def __getattr__(self, name: str) -> NoReturn:
        picture = OTHER_NAMES.get(name, name.replace("_", ".", 1))
        if picture not in PICTURES:
            raise AttributeError(f"lf.plot has no attribute {name!r}")
        instead = f'lf.plot(result, picture="{picture}")'
        if picture in FIGURES:
            instead = f"lf.plot(result), or {instead} for a result that lost its figure in a file or a merge"
        raise AttributeError(f"lf.plot.{name} is now lf.plot. Write {instead}.")


def tells_earlier_names(function: Function) -> Function:
    """Return the function, which says what to write instead of the names of its pictures."""
    return WithEarlierNames(function)  # type: ignore[return-value]  # as far as callers see


@tells_earlier_names
def plot(result: pd.DataFrame, ax: Axes | None = None, *, picture: str | None = None, milestone: int | None = None) -> Axes:
    """Draw the result of an analysis.

    The gallery of the documentation shows each picture with its call, and ``help(lf.cost.spend)`` says what the picture of
    its results has.

    Parameters
    ----------
    result : DataFrame
        The result of an analysis, with any ``by=`` and ``every=``, also some of its rows.
    ax : Axes, optional
        Axes to draw on (default: a new figure).
    picture : str, optional
        Name of the picture (default: the figure of the result, such as ``cost.spend``, which a result forgets in a file or
        a merge). ``verdict.latency_distribution`` draws ``frames.verdicts``, and ``cost.compare_medians`` the medians of
        :func:`ledgerframes.cost.compare`.
    milestone : int, optional
        Of :func:`ledgerframes.grant.evidence`: bytes that the grant requires, drawn as a line.

    Returns
    -------
    Axes
        With title, units, and the limitations of the result below the title. ``ax.figure.savefig("spend.png")`` writes a
        file.

    Raises
    ------
    UsageError
        If `result` is not the result of an analysis that has a picture, or not that of `picture`.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.cost.spend(day, every="1h"))
    >>> ax.get_title(loc="left")
    'Traffic cost, per hour'
    """
    name = _figure_name(result) if picture is None else picture
    if not is_choice(name, PICTURES):
        raise UsageError(f"There is no picture {name!r}. Choose from {', '.join(sorted(PICTURES))}.")
    if milestone is None:
        return PICTURES[name](result, ax)
    if name != WITH_MILESTONE:
        raise UsageError(f"milestone= is for a result of lf.{WITH_MILESTONE}, got one of {name}.")
    return PICTURES[name](result, ax, milestone=milestone)


def _figure_name(result: object) -> str:
    """Return the name of the figure that a result belongs to."""
    if not isinstance(result, pd.DataFrame):
        raise UsageError(f"{ADVICE}, got {type(result).__name__}.")
    name = result.attrs.get(NAME)
    if name is None:
        step = 'For a result from a file, name its picture, such as picture="cost.spend".'
        raise UsageError(f"{ADVICE}, got a DataFrame of another origin. {step}")
    if not is_choice(name, PICTURES):
        raise UsageError(f"lf.{name} has no picture. lf.show(result) shows its table.")
    return str(name)
