"""Plots of where two sources agree."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws

OUTCOMES: s.Styles = {  # from worst to best
    "only in one source": {"color": s.BAD},
    "only at one node": {"color": s.BAD},
    "only in the history": {"color": s.BAD},
    "only in the snapshot": s.LESS_BAD,
    "different": {"color": s.ODD},
    "equal value": s.LESS_FINE,
    "equal": {"color": s.FINE},
    "none": s.NOTHING,
}


@draws("reconcile.bulk_totals", "Updates in the listing and in bulk objects")
def reconcile_bulk_totals(chart: Chart) -> None:
    """Draw whether the listing and the bulk objects have the same updates.

    One row per kind of update, a cell per period in the color of its worst outcome. Without periods, the number of updates
    of each outcome.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> window = {"since": "2026-11-08", "until": "2026-11-09"}
    >>> totals = lf.reconcile.bulk_totals(lf.load_events(net, **window), lf.load_bulk(net, **window), every=None)
    >>> ax = lf.plot(totals)
    """
    columns = {
        "only in one source": ["only_listing", "only_bulk"],
        "different": ["different"],
        "equal value": ["equal_value"],
        "equal": ["equal"],
    }
    return _draw_outcomes(chart, columns, "kind")


@draws("reconcile.nodes", "History at two nodes")
def reconcile_nodes(chart: Chart) -> None:
    """Draw where two nodes return the same history.

    The picture is easiest to read with ``every="1h"``.

    One row per aspect, a cell per period in the color of its worst outcome. Without periods, the number of updates of each
    outcome.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.reconcile.nodes(day, day, every="1h"))
    """
    columns = {"only at one node": ["only_a", "only_b"], "different": ["different"], "equal": ["equal"]}
    return _draw_outcomes(chart, columns, "aspect")


def _draw_outcomes(chart: Chart, columns: Mapping[str, list[str]], row: str) -> None:
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
        return chart.show_titles(equal)
    worst = np.select([values > 0 for values in counts.values()], [*counts], "none").tolist()
    s.cells(chart, labels, s.cell_spans(frame), codes, worst, OUTCOMES)
    chart.show_times(*s.time_limits(frame))
    return chart.show_titles(equal, "The worst outcome of each period is shown")


@draws(
    "reconcile.contracts",
    "Contracts from the history and in a snapshot",
    empty="No contract is active at the time of the snapshot.",
)
def reconcile_contracts(chart: Chart) -> None:
    """Draw whether the history leads to the contracts of a snapshot.

    One row per template, the 15 with the most contracts that are not equal, and the number of contracts of each outcome.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> frames, snapshot = lf.load_events(net, since="0001-01-01"), lf.load_bulk(net, kind="acs", at="2026-11-09")
    >>> ax = lf.plot(lf.reconcile.contracts(frames, snapshot))
    """
    frame = chart.frame
    columns = {
        "only in the history": "only_replay",
        "only in the snapshot": "only_snapshot",
        "different": "different",
        "equal": "equal",
    }
    unequal = frame["only_replay"] + frame["only_snapshot"] + frame["different"]
    order = np.lexsort((-frame["equal"], -unequal))
    visible = frame.iloc[order[: r.MAX_ROWS]]
    labels = [r.template_label("transaction", name, "") for name in visible["template_name"]]
    s.count_bars(chart, labels, {name: r.numbers(visible[each]) for name, each in columns.items()}, OUTCOMES, "Contracts")
    total = int(unequal.sum() + frame["equal"].sum())
    equal = f"{frame['equal'].sum():,} of {total:,} equal"
    return chart.show_titles(equal, r.omitted_note(len(frame) - r.MAX_ROWS, noun="templates"))


@draws("reconcile.supply", "Coin from mint and burn, and coin at the end")
def reconcile_supply(chart: Chart) -> None:
    """Draw how mint and burn lead from the coin at the start to the coin at the end.

    A waterfall of coin: opening, minted, burned and fees, then the closing that is expected and the one that is there.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.reconcile.supply(frames, base=None, until="2026-11-09"))
    """
    names = ["opening", "minted", "burned", "fees", "closing_expected", "closing_found"]
    if chart.frame[[*names, "unexplained", "locked", "owned_by_dso"]].isna().any(axis=None) or chart.frame.empty:
        return chart.show_message("An amount is unknown, so the coin cannot be added up.")
    row = chart.frame.iloc[0]
    amounts = [row[name] for name in names]
    lengths = np.array(amounts, "float64")
    opening, minted, burned, _, expected, _ = lengths
    left = np.array([0, opening, opening + minted - burned, expected, 0, 0])
    labels = ["at the start", "minted", "burned", "fees", "expected at the end", "at the end"]
    signs = ("", "+", "−", "−", "", "")
    texts = [f"{sign if amount else ''}{r.amount(amount)}" for sign, amount in zip(signs, amounts, strict=True)]
    s.bars(chart, labels, lengths, texts, left, colors=[c.color(number) for number in (0, 4, 1, 1, 0, 0)])
    c.amount_axis(chart.ax.xaxis, "Amount")
    difference = "No unexplained difference" if row["unexplained"] == 0 else f"Unexplained: {_exact(row['unexplained'])} coin"
    parts = f"Locked: {r.amount(row['locked'])}, owned by the network's own party: {r.amount(row['owned_by_dso'])}"
    return chart.show_titles(difference, parts)


def _exact(amount: Decimal) -> str:
    """Return an amount with all its decimals, and no zeros after the last one.

    >>> _exact(Decimal("9000.0000000000")), _exact(Decimal("-0.5000000001"))
    ('9,000', '−0.5000000001')
    """
    text = f"{amount:,f}".replace("-", c.MINUS)
    return text.rstrip("0").rstrip(".") if "." in text else text


@draws(
    "reconcile.paid_traffic_totals",
    "Costs in the ledger and in the history",
    empty="Neither the ledger nor the history has an update.",
)
def reconcile_paid_traffic_totals(chart: Chart) -> None:
    """Draw how many updates of a ledger and a history agree, per outcome.

    One bar per outcome and reason.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> ledger, history = lf.load_updates(net), lf.load_events(net, since="2026-11-08")
    >>> ax = lf.plot(lf.reconcile.paid_traffic_totals(ledger, history))
    """
    frame, counts = chart.frame, chart.numbers("updates")
    pairs: Any = zip(frame["outcome"], frame["why"], strict=True)
    labels = [f"{outcome}\n{why}" if isinstance(why, str) else str(outcome) for outcome, why in pairs]
    colors = [c.color(1 if outcome in ("different", "only in ledger") else 0) for outcome in frame["outcome"]]
    s.bars(chart, labels, counts, [f"{count:,.0f}" for count in counts], colors=colors)
    c.counts_of_bars(chart.ax, counts.max(), "Updates and requests")
    return chart.show_titles("Costs are compared in the time that both sources have")
