"""Plots of what the store has, and of what nodes list."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis.groups import ONE_DAY, is_true
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.texts.representation import pluralize

NOT_YET = {**s.NOTHING, "facecolor": "white"}
STATUSES: s.Styles = {
    "ok": {"color": s.FINE},
    "provisional": s.LESS_FINE,
    "degraded": {"color": s.ODD},
    "gap": {"color": s.BAD},
    "missing": s.MISSING,
    "before history": s.NOTHING,
    "future": NOT_YET,
}
RANGES: s.Styles = {
    "final": {"color": s.FINE},
    "provisional": s.LESS_FINE,
    "pruned": {"facecolor": s.BAD, "edgecolor": s.BAD, "linewidth": 0.5},
    "not in the store": s.MISSING,
    "covered twice": {"facecolor": s.ODD, "edgecolor": s.ODD, "linewidth": 0.5},
}
DIGESTS: s.Styles = {
    "equal": {"color": s.FINE},
    "different": {"color": s.BAD},
    "empty digest": {"color": s.ODD},
    "missing": s.MISSING,
    "unknown": s.NOTHING,
    "not settled": NOT_YET,
}


@draws("reconcile.coverage", "Coverage of the store", empty="No period in this window.")
def reconcile_coverage(chart: Chart) -> None:
    """Draw which periods the store has, and which differ from those before.

    The frame can have several datasets together (``pandas.concat``). It needs ``every=``: without it, the status is a sentence.

    One row per dataset, a cell per period in the color of its status.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-07", until="2026-11-09")
    >>> ax = lf.plot(lf.reconcile.coverage(frames))
    """
    frame = chart.frame
    names, status = frame["dataset"].astype("str"), frame["status"].astype("str")
    if not chart.has_periods:
        texts = ", ".join(f"{name}: {text}" for name, text in zip(names, status, strict=True))
        return chart.show_message(f"{texts.capitalize()}.")
    codes, labels = pd.factorize(names)
    s.cells(chart, [*labels], s.cell_spans(frame), codes, status.tolist(), STATUSES)
    chart.show_times(*s.time_limits(frame))
    reasons = frame.loc[status == "degraded", "reason"].dropna().astype("str").unique()
    ok = f"{(status == 'ok').sum():,} of {len(frame):,} ok"
    return chart.show_titles(ok, ", ".join(reasons).capitalize())


@draws("reconcile.bounds", "Offset ranges of the ledger", empty="The store has no offset of this ledger.")
def reconcile_bounds(chart: Chart) -> None:
    """Draw the offset ranges of a ledger, with gaps and overlaps.

    Offsets from the first to the last: the ranges by status, those that were pruned, those that are not in the store, and
    in a second row those that are covered twice.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> ax = lf.plot(lf.reconcile.bounds(lf.load_updates(net)))
    """
    frame = chart.frame
    after, through, gap, overlap = (chart.numbers(name) for name in ("after", "through", "gap_before", "overlap_before"))
    status = np.where(is_true(frame["is_pruned"]), "pruned", frame["status"].astype("str"))
    has_gap, has_overlap = gap > 0, overlap > 0
    starts = np.concatenate([after, (after - gap)[has_gap], after[has_overlap]])
    ends = np.concatenate([through, after[has_gap], (after + overlap)[has_overlap]])
    kinds = [*status, *["not in the store"] * has_gap.sum(), *["covered twice"] * has_overlap.sum()]
    labels = ["offsets", "covered twice"] if has_overlap.any() else ["offsets"]
    s.cells(chart, labels, (starts, ends), np.array([kind == "covered twice" for kind in kinds], dtype=int), kinds, RANGES)
    chart.set_height(2.0 + 0.35 * len(labels))
    c.count_axis(chart.ax.xaxis, "Offset")
    chart.ax.set_xlim(after.min(), max(through.max(), after.min() + 1))
    pruned = (through - after)[status == "pruned"].sum()
    missing = f"{pluralize(int(gap.sum()), 'offset')} not in the store"
    notes = [missing, f"{overlap.sum():,.0f} covered twice", f"{pruned:,.0f} pruned"]
    return chart.show_titles(f"{pluralize(len(frame), 'range')}: {', '.join(notes)}")


@draws("reconcile.digests", "Digests of bulk objects", empty="No node lists a bulk object.")
def reconcile_digests(chart: Chart) -> None:
    """Draw on which bulk objects the nodes agree.

    A row for all nodes, then one for each node that dissents or misses an object. The cells of a day are its objects, side by
    side in the order of their keys.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> import pandas as pd
    >>> until = pd.Timestamp("2026-11-02", tz="UTC")
    >>> objects = pd.DataFrame({"object_key": ["k"], "sha256": ["x"], "until": [until]})
    >>> ax = lf.plot(lf.reconcile.digests({"a": objects, "b": objects}))
    """
    frame = chart.frame
    every = pd.DataFrame({**_parts_of_days(frame["until"]), "node": None, "outcome": frame["outcome"].astype("str")})
    parts = [
        every.assign(node=frame[column].str.split(", "), outcome=outcome).explode("node").dropna(subset="node")
        for outcome, column in (("different", "dissenters"), ("missing", "missing_at"))
    ]
    nodes = pd.concat(parts)["node"].value_counts().index
    rows = pd.concat([every, *parts])
    rows = rows.assign(row=nodes.get_indexer(pd.Index(rows["node"])) + 1)
    rows = rows[rows["row"] <= r.MAX_ROWS]
    labels = ["all nodes", *(r.label(name) for name in nodes[: r.MAX_ROWS])]
    s.cells(chart, labels, s.cell_spans(rows), rows["row"].to_numpy(), rows["outcome"].tolist(), DIGESTS)
    chart.show_times(*s.time_limits(every))
    equal = f"Equal at all nodes: {frame['outcome'].eq('equal').sum():,} of {pluralize(len(frame), 'object')}"
    omitted = r.omitted_note(len(nodes) - r.MAX_ROWS, noun="nodes")
    order = "The objects of a day stand side by side, in the order of their keys" if every["until"].duplicated().any() else ""
    return chart.show_titles(equal, order, omitted, suffix=", per day")


def _parts_of_days(until: pd.Series) -> dict[str, pd.Series]:
    """Return when each object's part of its day starts and ends, and the day's end.

    A listing does not tell the time of an object within its day, and objects drawn over the whole day would hide each other.
    """
    objects = until.groupby(until)
    length = ONE_DAY / objects.transform("size")
    start = until - ONE_DAY + length * objects.cumcount()
    return {"until": until, "period_start": start, "period_end": start + length}
