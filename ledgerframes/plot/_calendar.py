"""Calendars of the periods that are held, and in which two sources agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["reconcile_bulk_totals", "reconcile_coverage", "reconcile_digests", "reconcile_nodes"]

FINE, PALE, ODD, BAD, NOTHING = "#5aa396", "#a8cfc8", "#e8a94b", "#8a3f6a", "#e6e8eb"  # they differ in lightness, too
HELD: dict[str, dict[str, Any]] = {
    "ok": {"color": FINE},
    "provisional": {"color": PALE},
    "degraded": {"color": ODD},
    "gap": {"color": BAD},
    "missing": {"facecolor": "#f3e3ec", "edgecolor": BAD},
    "before history": {"color": NOTHING},
    "future": {"facecolor": "white", "edgecolor": "#c5c9ce"},
}
DIGESTS: dict[str, dict[str, Any]] = {
    "equal": {"color": FINE},
    "different": {"color": BAD},
    "empty digest": {"color": ODD},
    "missing": {"facecolor": "#f3e3ec", "edgecolor": BAD},
    "not settled": {"color": NOTHING},
}
COUNTS = {  # of two sources, from worst to best
    "only in one source": (("only_listing", "only_bulk"), {"color": BAD}),
    "different": (("different",), {"color": ODD}),
    "equal value": (("equal_value",), {"color": PALE}),
    "equal": (("equal",), {"color": FINE}),
}
NODES = {
    "only at one node": (("only_a", "only_b"), {"color": BAD}),
    "different": (("different",), {"color": ODD}),
    "equal": (("equal",), {"color": FINE}),
}
NONE = "none"
DAY = pd.Timedelta(1, "D")


def reconcile_coverage(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw which periods are held, and which are not as those before.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.reconcile.coverage` with ``every=``, also of several datasets together (``pandas.concat``).
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        One row per dataset, a cell per period in the color of its status.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``reconcile.coverage``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-07", until="2026-11-09")
    >>> ax = lf.plot.reconcile_coverage(lf.reconcile.coverage(frames))
    >>> ax.get_xlabel()
    'Record time (UTC)'
    """
    shape = r.check_result(frame, "reconcile.coverage")
    names = frame["dataset"].astype("str")
    labels = list(dict.fromkeys(names))
    with c.canvas(ax, 1.6 + 0.5 * max(len(labels), 1)) as ax:
        if frame.empty:
            return c.draw_message(ax, "No period in this window.")
        if not shape.has_periods:
            text = ", ".join(f"{name}: {status}" for name, status in zip(names, frame["status"], strict=True))
            c.set_titles(ax, "What the store holds")
            ax.set_xlabel("Record time (UTC)")
            return c.draw_message(ax, f"{text}.")
        rows = names.map(labels.index).to_numpy()
        _draw_cells(ax, frame, rows, frame["status"].astype("str").tolist(), HELD)
        _finish(ax, frame, labels)
        is_ok = int((frame["status"] == "ok").sum())
        reasons = frame.loc[frame["status"] == "degraded", "reason"].dropna().astype("str").unique()
        period = r.period_length(frame)
        c.set_titles(
            ax, f"What the store holds, per {period}", f"{is_ok:,} of {len(frame):,} ok", ", ".join(reasons).capitalize()
        )
        return ax


def reconcile_digests(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw on which days the nodes agree on the digests of bulk objects.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.reconcile.digests`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        A row for all nodes, then one for each node that dissents or misses an object, with a cell per day.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``reconcile.digests``.

    Examples
    --------
    >>> import pandas as pd
    >>> import ledgerframes as lf
    >>> until = pd.Timestamp("2026-11-02", tz="UTC")
    >>> objects = pd.DataFrame({"object_key": ["k"], "sha256": ["x"], "until": [until]})
    >>> ax = lf.plot.reconcile_digests(lf.reconcile.digests({"a": objects, "b": objects}))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['all nodes']
    """
    r.check_result(frame, "reconcile.digests")
    nodes = {outcome: frame[name].str.split(", ") for outcome, name in (("different", "dissenters"), ("missing", "missing_at"))}
    counts = pd.concat(nodes.values()).explode().value_counts()
    names = list(counts.index[: r.MAX_ROWS])
    with c.canvas(ax, 1.8 + 0.35 * (len(names) + 1)) as ax:
        if frame.empty:
            return c.draw_message(ax, "No node lists a bulk object.")
        days = pd.DataFrame({"period_start": frame["until"] - DAY, "period_end": frame["until"], "is_partial": False})
        cells, rows, statuses = [days], [np.zeros(len(frame), dtype=int)], frame["outcome"].astype("str").tolist()
        for number, node in enumerate(names, start=1):
            for outcome, lists in nodes.items():
                has_node = np.array([isinstance(each, list) and node in each for each in lists], dtype=bool)
                cells.append(days[has_node])
                rows.append(np.full(int(has_node.sum()), number))
                statuses += [outcome] * int(has_node.sum())
        _draw_cells(ax, pd.concat(cells), np.concatenate(rows), statuses, DIGESTS)
        _finish(ax, days, ["all nodes", *(r.label(name) for name in names)])
        agreed = int(frame["outcome"].eq("equal").sum())
        c.set_titles(
            ax,
            "Digests of bulk objects, per day",
            f"Equal at all nodes: {agreed:,} of {len(frame):,} objects",
            r.omitted_note(len(counts) - len(names)),
        )
        return ax


def reconcile_bulk_totals(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw whether the listing and the bulk objects have the same updates.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.reconcile.bulk_totals`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        One row per kind of update, a cell per period in the color of its worst outcome. Without periods, the number of updates
        of each outcome on a logarithmic axis.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``reconcile.bulk_totals``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = {"since": "2026-11-08", "until": "2026-11-09"}
    >>> totals = lf.reconcile.bulk_totals(lf.load_events(net, **day), lf.load_bulk(net, **day), every=None)
    >>> lf.plot.reconcile_bulk_totals(totals).get_xlabel()
    'Updates'
    """
    shape = r.check_result(frame, "reconcile.bulk_totals")
    return _draw_outcomes(frame, shape, COUNTS, "kind", "Updates in the listing and in bulk objects", ax)


def reconcile_nodes(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw where two nodes tell the same history.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.reconcile.nodes`, best with ``every="1h"``.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        One row per aspect, a cell per period in the color of its worst outcome. Without periods, the number of updates of each
        outcome on a logarithmic axis.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``reconcile.nodes``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.reconcile_nodes(lf.reconcile.nodes(day, day, every="1h"))
    >>> ax.get_xlabel()
    'Record time (UTC)'
    """
    shape = r.check_result(frame, "reconcile.nodes")
    return _draw_outcomes(frame, shape, NODES, "aspect", "History at two nodes", ax)


# -- cells --------------------------------------------------------------------------------------------------------------


def _draw_outcomes(
    frame: pd.DataFrame, shape: r.ResultShape, outcomes: Mapping[str, Any], row: str, title: str, ax: Axes | None
) -> Axes:
    """Draw the worst outcome of each period and row, or the counts without periods."""
    names = frame[row].astype("str")
    labels = list(dict.fromkeys(names))
    counts = {name: sum(frame[column].to_numpy("int64") for column in columns) for name, (columns, _) in outcomes.items()}
    total = sum(int(count.sum()) for count in counts.values())
    with c.canvas(ax, 1.8 + 0.35 * max(len(labels), 4)) as ax:
        if total == 0:
            return c.draw_message(ax, "No update in this window.")
        equal = r.percent(int(counts["equal"].sum()) / total, 2)
        if not shape.has_periods:
            _draw_counts(ax, labels, names, outcomes, counts)
            c.set_titles(ax, title, f"{equal} equal")
            return ax
        worst = np.select([count > 0 for count in counts.values()], list(counts), NONE).tolist()
        styles = {name: style for name, (_, style) in outcomes.items()} | {NONE: {"color": NOTHING}}
        _draw_cells(ax, frame, names.map(labels.index).to_numpy(), worst, styles)
        _finish(ax, frame, [r.label(label) for label in labels])
        c.set_titles(ax, f"{title}, per {r.period_length(frame)}", f"{equal} equal. The worst of each period is shown")
        return ax


def _draw_counts(
    ax: Axes,
    labels: Sequence[str],
    names: pd.Series,
    outcomes: Mapping[str, Any],
    counts: Mapping[str, Any],
) -> None:
    """Draw a bar for each outcome of each row."""
    occurring = [outcome for outcome in reversed(list(outcomes)) if counts[outcome].any()]
    height = 0.8 / len(occurring)
    for number, outcome in enumerate(occurring):
        _, style = outcomes[outcome]
        values = pd.Series(counts[outcome]).groupby(names.to_numpy()).sum().reindex(list(labels))
        positions = np.arange(len(labels)) - 0.4 + height * (number + 0.5)
        drawn = ax.barh(positions, values, height=height, label=outcome, linewidth=0, **style)
        ax.bar_label(drawn, [f"{value:,}" for value in values], padding=3, fontsize=7, color=c.text_color(ax))
    ax.set_xscale("log")
    ax.set_xlim(0.5, max(max(int(count.max()) for count in counts.values()), 1) * 4)
    c.row_labels(ax, [r.label(label) for label in labels])
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ax.set_xlabel("Updates")


def _draw_cells(ax: Axes, periods: pd.DataFrame, rows: Any, statuses: Sequence[str], styles: Mapping[str, Any]) -> None:
    """Draw a cell for each period in the style of its status, and a legend."""
    from matplotlib.patches import Patch

    starts, ends = c.time_numbers(periods["period_start"]), c.time_numbers(periods["period_end"])
    status = np.array(statuses)
    for name, style in styles.items():
        for row in np.unique(rows):
            mask = (status == name) & (rows == row)
            cells = list(zip(starts[mask], (ends - starts)[mask] * 0.94, strict=True))
            ax.broken_barh(cells, (row - 0.36, 0.72), linewidth=0.5 if "edgecolor" in style else 0, **style)
    handles = [Patch(label=name, **style) for name, style in styles.items() if name in set(statuses)]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1))


def _finish(ax: Axes, periods: pd.DataFrame, labels: Sequence[str]) -> None:
    c.time_axis(ax.xaxis)
    ax.set_xlim(c.time_numbers(periods["period_start"]).min(), c.time_numbers(periods["period_end"]).max())
    c.row_labels(ax, labels)
    ax.grid(visible=False)
