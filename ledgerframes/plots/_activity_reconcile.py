"""Plots of where published activity weights differ from the rules."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis.empty_results import NO_RECORD
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws


@draws("activity.reconcile", "Published and computed activity weights", empty=NO_RECORD)
def activity_reconcile(chart: Chart) -> None:
    """Draw the number of records for each reason of a mismatch.

    A bar per outcome and reason, and the parties with the most mismatches in the note.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.activity.reconcile(frames))
    """
    frame = chart.frame
    counts = frame.groupby(["outcome", "reason"], dropna=False, observed=True).size().reset_index(name="records")
    parties = frame.loc[frame["outcome"] != "equal", "party"].value_counts().head(2)
    most = ", ".join(f"{r.label(party, 30)} ({count:,})" for party, count in parties.items())
    return _draw_reasons(chart, counts, f"Most mismatches: {most}" if most else "")


@draws("activity.reconcile_totals", "Published and computed activity weights", empty=NO_RECORD)
def activity_reconcile_totals(chart: Chart) -> None:
    """Draw the number of records for each reason of a mismatch.

    A bar per outcome and reason.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.activity.reconcile_totals(frames))
    """
    return _draw_reasons(chart, chart.frame, "")


def _draw_reasons(chart: Chart, counts: pd.DataFrame, note: str) -> None:
    """Draw a bar per outcome and reason, the equal records first."""
    is_equal = (counts["outcome"] == "equal").to_numpy(dtype=bool)
    visible = counts.iloc[np.lexsort((-counts["records"].to_numpy(), ~is_equal))[: r.MAX_ROWS]]
    labels = [
        "equal" if outcome == "equal" else f"{outcome}: {reason if isinstance(reason, str) else 'unknown'}"
        for outcome, reason in zip(visible["outcome"], visible["reason"], strict=True)
    ]
    values, total = r.numbers(visible["records"]), counts["records"].sum() or 1
    texts = [f"{value:,.0f}  ({r.percent(value / total)})" for value in values]
    s.bars(chart, labels, values, texts, colors=[c.color(0 if outcome == "equal" else 1) for outcome in visible["outcome"]])
    c.counts_of_bars(chart.ax, values.max(), "Records")
    return chart.show_titles(note, r.omitted_note(len(counts) - r.MAX_ROWS))
