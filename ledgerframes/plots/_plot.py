"""The call that draws any result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pandas as pd

from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.figures import NAME
from ledgerframes.errors import UsageError
from ledgerframes.plots._chart import PICTURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ADVICE = "Pass the result of an analysis to lf.plot, such as that of lf.cost.spend(frames)"
WITH_MILESTONE = "grant.evidence"


class Plot:
    """Draws the result of an analysis, as ``lf.plot(result)``. Earlier names, such as ``lf.plot.cost_spend``, say so."""

    def __call__(
        self, result: pd.DataFrame, ax: Axes | None = None, *, picture: str | None = None, milestone: int | None = None
    ) -> Axes:
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
            a merge). ``verdict.rejection_rates`` draws a result of :func:`ledgerframes.verdict.outcomes` per hour of the day,
            and ``verdict.latency_distribution`` draws ``frames.verdicts``.
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
        if name not in PICTURES:
            raise UsageError(f"There is no picture {name!r}. Choose from {', '.join(sorted(PICTURES))}.")
        if milestone is None:
            return PICTURES[name](result, ax)
        if name != WITH_MILESTONE:
            raise UsageError(f"milestone= is for a result of lf.{WITH_MILESTONE}, got one of {name}.")
        return PICTURES[name](result, ax, milestone=milestone)

    def __getattr__(self, name: str) -> NoReturn:
        picture = name.replace("_", ".", 1)
        if picture in PICTURES:
            option = f', picture="{picture}"'
            instead = f"Write lf.plot(result), or lf.plot(result{option}) for a result that lost its figure in a file or a merge"
            if picture not in FIGURES:
                instead = f"Write lf.plot(result{option})"
            raise AttributeError(f"lf.plot.{name} is now lf.plot. {instead}.")
        raise AttributeError(f"lf.plot has no attribute {name!r}")

    def __repr__(self) -> str:
        return "lf.plot(result, ax=None)"


def _figure_name(result: object) -> str:
    """Return the name of the figure that a result belongs to."""
    if not isinstance(result, pd.DataFrame):
        raise UsageError(f"{ADVICE}, got {type(result).__name__}.")
    name = result.attrs.get(NAME)
    if name is None:
        raise UsageError(f'{ADVICE}, got a DataFrame of another origin. Name its picture, such as picture="cost.spend".')
    if name not in PICTURES:
        raise UsageError(f"lf.{name} has no picture. lf.show(result) shows its table.")
    return str(name)


plot = Plot()
plot.__doc__ = Plot.__call__.__doc__  # what help(lf.plot) shows
