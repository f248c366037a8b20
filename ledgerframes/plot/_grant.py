"""Plot of an app's use by outside parties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["grant_evidence"]

DAY = pd.Timedelta(1, "D")


def grant_evidence(frame: pd.DataFrame, ax: Axes | None = None, *, milestone: int | None = None) -> Axes:
    """Draw the bytes and the parties that an app's use adds up to.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.grant.evidence`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).
    milestone : int, optional
        Bytes that the grant requires, drawn as a line.

    Returns
    -------
    Axes
        Cumulated cost [bytes] of outside requests over time [UTC], and on a second axis the number of outside parties.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``grant.evidence``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> options = {"since": "2026-11-08T01:00:00Z", "until": "2026-11-09", "min_coverage": 0.8}
    >>> ax = lf.plot.grant_evidence(lf.grant.evidence(frames, app={"packages": ["meadow-token"]}, exclude=[], **options))
    >>> ax.get_ylabel()
    'Bytes of outside parties (kB)'
    """
    shape = r.check_result(frame, "grant.evidence")
    with c.canvas(ax) as ax:
        if frame.empty or int(frame["requests"].sum()) == 0:
            return c.draw_message(ax, "No outside party used the app in this window.")
        ends = c.time_numbers(frame["day"] + DAY)
        times = np.append(c.time_numbers(frame["day"])[0], ends)
        total = np.append(0, np.cumsum(frame["bytes"].fillna(0).to_numpy("float64")))
        ax.plot(times, total, color=c.color(0), label="bytes")
        ax.fill_between(times, total, color=c.color(0), alpha=0.12, linewidth=0)
        if milestone is not None:
            ax.axhline(milestone, color=c.color(3), linestyle="--", linewidth=1.2, label=f"milestone, {c.size(milestone)}")
        largest = max(total[-1], milestone or 0, 1)
        ax.set_ylim(0, largest * 1.25)
        parties = ax.twinx()
        counts = np.append(0, frame["parties_cumulative"].to_numpy("float64"))
        parties.step(times, counts, where="pre", color=c.color(1), label="parties")
        parties.grid(visible=False)
        c.count_axis(parties.yaxis, shape.title("parties_cumulative"))
        parties.set_ylim(0, max(counts[-1], 1) * 1.25)
        handles = [*ax.get_legend_handles_labels()[0], *parties.get_legend_handles_labels()[0]]
        ax.legend(handles=handles, loc="upper left", ncols=3)
        c.bytes_axis(ax.yaxis, float(largest), "Bytes of outside parties")
        c.time_axis(ax.xaxis)
        ax.set_xlim(times[0], times[-1])
        note = f"{int(frame['requests'].sum()):,} requests, {c.size(total[-1])}, {int(counts[-1]):,} parties"
        c.set_titles(ax, "Use of the app by outside parties", note, r.coverage_note(frame, "Party and cost"))
        return ax
