"""Plots of what the store has, and of where two sources agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis._groups import is_true
from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r
from ledgerframes.plot import _shapes as s
from ledgerframes.plot._chart import Chart, draws
from ledgerframes.texts.representation import pluralize

__all__ = [
    "reconcile_bounds",
    "reconcile_bulk_totals",
    "reconcile_contracts",
    "reconcile_coverage",
    "reconcile_digests",
    "reconcile_nodes",
    "reconcile_paid_traffic_totals",
    "reconcile_supply",
]

STATUSES: s.Styles = {
    "ok": {"color": s.FINE},
    "provisional": {"color": s.PALE},
    "degraded": {"color": s.ODD},
    "gap": {"color": s.BAD},
    "missing": s.MISSING,
    "before history": {"color": s.NOTHING},
    "future": {"facecolor": "white", "edgecolor": "#c5c9ce"},
}
RANGES: s.Styles = {
    "final": {"color": s.FINE},
    "provisional": {"color": s.PALE},
    "pruned": {"facecolor": s.BAD, "edgecolor": s.BAD},
    "not in the store": s.MISSING,
    "covered twice": {"facecolor": s.ODD, "edgecolor": s.ODD},
}
DIGESTS: s.Styles = {
    "equal": {"color": s.FINE},
    "different": {"color": s.BAD},
    "empty digest": {"color": s.ODD},
    "missing": s.MISSING,
    "not settled": {"color": s.NOTHING},
}
OUTCOMES: s.Styles = {  # from worst to best
    "only in one source": {"color": s.BAD},
    "only at one node": {"color": s.BAD},
    "only from the history": {"color": s.BAD},
    "only in the snapshot": s.MISSING,
    "different": {"color": s.ODD},
    "equal value": {"color": s.PALE},
    "equal": {"color": s.FINE},
    "none": {"color": s.NOTHING},
}
MAX_GAP = 0.06  # between cells, of a cell
MAX_GAP_OF_ALL = 0.003  # a wider one could be read as a time without data
DAY = pd.Timedelta(1, "D")


# -- coverage -----------------------------------------------------------------------------------------------------------


@draws("reconcile.coverage", empty="No period in this window.")
def reconcile_coverage(chart: Chart) -> None:
    """Draw which periods the store has, and which differ from those before.

    The frame can have several datasets together (``pandas.concat``). It needs ``every=``: without it, the status is a sentence.

    One row per dataset, a cell per period in the color of its status.

    >>> frames = lf.load_events(net, since="2026-11-07", until="2026-11-09")
    >>> ax = lf.plot.reconcile_coverage(lf.reconcile.coverage(frames))
    """
    frame = chart.frame
    names, status = frame["dataset"].astype("str"), frame["status"].astype("str")
    if not chart.has_periods:
        chart.ax.set_xlabel("Record time (UTC)")
        chart.show_titles("Coverage of the store")
        return chart.show_message(f"{', '.join(f'{name}: {text}' for name, text in zip(names, status, strict=True))}.")
    codes, labels = pd.factorize(names)
    s.cells(chart, [*labels], _cell_spans(frame), codes, status.tolist(), STATUSES)
    chart.show_times(*_limits(frame))
    reasons = frame.loc[status == "degraded", "reason"].dropna().astype("str").unique()
    ok = f"{(status == 'ok').sum():,} of {len(frame):,} ok"
    return chart.show_titles("Coverage of the store", ok, ", ".join(reasons).capitalize())


def _cell_spans(periods: pd.DataFrame) -> tuple[r.Numbers, r.Numbers]:
    starts, ends = (c.time_numbers(periods[name]) for name in ("period_start", "period_end"))
    gaps = np.minimum((ends - starts) * MAX_GAP, (ends.max() - starts.min()) * MAX_GAP_OF_ALL)
    return starts, ends - gaps


def _limits(periods: pd.DataFrame) -> tuple[float, float]:
    return c.time_numbers(periods["period_start"]).min(), c.time_numbers(periods["period_end"]).max()


@draws("reconcile.bounds", empty="The store has no offset of this ledger.")
def reconcile_bounds(chart: Chart) -> None:
    """Draw the offset ranges of a ledger, with gaps and overlaps.

    Offsets from the first to the last: the ranges by status, those that were pruned, those that are not in the store, and in a
    second row those that are covered twice.

    >>> ax = lf.plot.reconcile_bounds(lf.reconcile.bounds(lf.load_updates(net)))
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
    return chart.show_titles("Offset ranges of the ledger", f"{pluralize(len(frame), 'range')}: {', '.join(notes)}")


@draws("reconcile.digests", empty="No node lists a bulk object.")
def reconcile_digests(chart: Chart) -> None:
    """Draw on which days the nodes agree on the digests of bulk objects.

    A row for all nodes, then one for each node that dissents or misses an object, with a cell per day.

    >>> import pandas as pd
    >>> until = pd.Timestamp("2026-11-02", tz="UTC")
    >>> objects = pd.DataFrame({"object_key": ["k"], "sha256": ["x"], "until": [until]})
    >>> ax = lf.plot.reconcile_digests(lf.reconcile.digests({"a": objects, "b": objects}))
    """
    frame = chart.frame
    every = pd.DataFrame({"until": frame["until"], "node": None, "outcome": frame["outcome"].astype("str")})
    parts = [
        every.assign(node=frame[column].str.split(", "), outcome=outcome).explode("node").dropna(subset="node")
        for outcome, column in (("different", "dissenters"), ("missing", "missing_at"))
    ]
    nodes = pd.concat(parts)["node"].value_counts().index
    rows = pd.concat([every, *parts])
    rows = rows.assign(row=nodes.get_indexer(pd.Index(rows["node"])) + 1)
    rows = rows[rows["row"] <= r.MAX_ROWS]
    periods = pd.DataFrame({"period_start": rows["until"] - DAY, "period_end": rows["until"]})
    labels = ["all nodes", *(r.label(name) for name in nodes[: r.MAX_ROWS])]
    s.cells(chart, labels, _cell_spans(periods), rows["row"].to_numpy(), rows["outcome"].tolist(), DIGESTS)
    chart.show_times(*_limits(periods))
    equal = f"Equal at all nodes: {frame['outcome'].eq('equal').sum():,} of {len(frame):,} objects"
    omitted = r.omitted_note(len(nodes) - r.MAX_ROWS, noun="nodes")
    return chart.show_titles("Digests of bulk objects, per day", equal, omitted)


# -- outcomes -----------------------------------------------------------------------------------------------------------


@draws("reconcile.bulk_totals")
def reconcile_bulk_totals(chart: Chart) -> None:
    """Draw whether the listing and the bulk objects have the same updates.

    One row per kind of update, a cell per period in the color of its worst outcome. Without periods, the number of updates of
    each outcome.

    >>> window = {"since": "2026-11-08", "until": "2026-11-09"}
    >>> totals = lf.reconcile.bulk_totals(lf.load_events(net, **window), lf.load_bulk(net, **window), every=None)
    >>> ax = lf.plot.reconcile_bulk_totals(totals)
    """
    columns = {
        "only in one source": ["only_listing", "only_bulk"],
        "different": ["different"],
        "equal value": ["equal_value"],
        "equal": ["equal"],
    }
    return _draw_outcomes(chart, columns, "kind", "Updates in the listing and in bulk objects")


@draws("reconcile.nodes")
def reconcile_nodes(chart: Chart) -> None:
    """Draw where two nodes return the same history.

    The picture is easiest to read with ``every="1h"``.

    One row per aspect, a cell per period in the color of its worst outcome. Without periods, the number of updates of each
    outcome.

    >>> ax = lf.plot.reconcile_nodes(lf.reconcile.nodes(day, day, every="1h"))
    """
    columns = {"only at one node": ["only_a", "only_b"], "different": ["different"], "equal": ["equal"]}
    return _draw_outcomes(chart, columns, "aspect", "History at two nodes")


def _draw_outcomes(chart: Chart, columns: Mapping[str, list[str]], row: str, title: str) -> None:
    """Draw the worst outcome of each period and row, or the counts without periods."""
    frame = chart.frame
    counts = {name: frame[each].sum(axis=1).to_numpy("float64") for name, each in columns.items()}
    total = sum(values.sum() for values in counts.values())
    if total == 0:
        return chart.show_message("No update in this window.")
    codes, names = pd.factorize(frame[row].astype("str"))
    labels = [r.label(name) for name in names]
    equal = f"{r.percent(float(counts['equal'].sum() / total), 2)} equal"
    if not chart.has_periods:
        totals = {name: np.bincount(codes, values) for name, values in counts.items()}
        s.count_bars(chart, labels, totals, OUTCOMES, "Updates")
        return chart.show_titles(title, equal)
    worst = np.select([values > 0 for values in counts.values()], [*counts], "none").tolist()
    s.cells(chart, labels, _cell_spans(frame), codes, worst, OUTCOMES)
    chart.show_times(*_limits(frame))
    return chart.show_titles(title, equal, "The worst outcome of each period is shown")


@draws("reconcile.contracts", empty="No contract is active at the time of the snapshot.")
def reconcile_contracts(chart: Chart) -> None:
    """Draw whether the history leads to the contracts of a snapshot.

    One row per template, the 25 with the most contracts that are not equal, and the number of contracts of each outcome.

    >>> frames, snapshot = lf.load_events(net, since="0001-01-01"), lf.load_bulk(net, kind="acs", at="2026-11-09")
    >>> ax = lf.plot.reconcile_contracts(lf.reconcile.contracts(frames, snapshot))
    """
    frame = chart.frame
    columns = {
        "only from the history": "only_replay",
        "only in the snapshot": "only_snapshot",
        "different": "different",
        "equal": "equal",
    }
    unequal = frame["only_replay"] + frame["only_snapshot"] + frame["different"]
    order = np.lexsort((-frame["equal"], -unequal))
    visible = frame.iloc[order[: r.MAX_ROWS]]
    labels = [r.template_label("transaction", name, "").rstrip(".") for name in visible["template_name"]]
    s.count_bars(chart, labels, {name: r.numbers(visible[each]) for name, each in columns.items()}, OUTCOMES, "Contracts")
    total = int(unequal.sum() + frame["equal"].sum())
    equal = f"{frame['equal'].sum():,} of {total:,} equal"
    return chart.show_titles(
        "Contracts from the history and in a snapshot", equal, r.omitted_note(len(frame) - r.MAX_ROWS, noun="templates")
    )


@draws("reconcile.supply")
def reconcile_supply(chart: Chart) -> None:
    """Draw how mint and burn lead from the coin at the start to the coin at the end.

    A waterfall of coin: opening, minted, burned and fees, then the closing that is expected and the one that is there.

    >>> ax = lf.plot.reconcile_supply(lf.reconcile.supply(frames, base=None, until="2026-11-09"))
    """
    names = ["opening", "minted", "burned", "fees", "closing_expected", "closing_found"]
    if chart.frame[names].isna().any(axis=None) or chart.frame.empty:
        return chart.show_message("An amount is unknown, so the coin cannot be added up.")
    row = chart.frame.iloc[0]
    opening, minted, burned, fees, expected, actual = (float(row[name]) for name in names)
    lengths = np.array([opening, minted, burned, fees, expected, actual])
    left = np.array([0, opening, opening + minted - burned, expected, 0, 0])
    labels = ["at the start", "minted", "burned", "fees", "expected at the end", "at the end"]
    signs = ("", "+", "−", "−", "", "")
    texts = [f"{sign if length else ''}{length:,.2f}" for sign, length in zip(signs, lengths, strict=True)]
    s.bars(chart, labels, lengths, texts, left, colors=[c.color(number) for number in (0, 4, 1, 1, 0, 0)])
    c.amount_axis(chart.ax.xaxis, "Amount")
    difference = "No unexplained difference" if row["unexplained"] == 0 else f"Unexplained: {row['unexplained']:,f} coin"
    parts = f"Locked: {float(row['locked']):,.2f}, owned by the network's own party: {float(row['owned_by_dso']):,.2f}"
    return chart.show_titles("Coin from mint and burn, and coin at the end", difference, parts)


@draws("reconcile.paid_traffic_totals", empty="Neither the ledger nor the history has an update.")
def reconcile_paid_traffic_totals(chart: Chart) -> None:
    """Draw how many updates of a ledger and a history agree, per outcome.

    One bar per outcome and reason.

    >>> ledger, history = lf.load_updates(net), lf.load_events(net, since="2026-11-08")
    >>> ax = lf.plot.reconcile_paid_traffic_totals(lf.reconcile.paid_traffic_totals(ledger, history))
    """
    frame, counts = chart.frame, chart.numbers("updates")
    pairs: Any = zip(frame["outcome"], frame["why"], strict=True)
    labels = [f"{outcome}\n{why}" if isinstance(why, str) else str(outcome) for outcome, why in pairs]
    colors = [c.color(1 if outcome in ("different", "only in ledger") else 0) for outcome in frame["outcome"]]
    s.bars(chart, labels, counts, [f"{count:,.0f}" for count in counts], colors=colors)
    c.counts_of_bars(chart.ax, counts.max(), "Updates and requests")
    return chart.show_titles("Costs in the ledger and in the history", "Costs are compared in the time that both sources have")
