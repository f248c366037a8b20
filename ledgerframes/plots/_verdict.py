"""Plots of outcomes, rejections and quorums of requests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis.empty_results import NO_QUORUM
from ledgerframes.analysis.groups import is_true
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots import panels as p
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.plots.direct_labels import label_ends

MIN_REQUESTS = 20  # of a group in a period, whose rate would be mostly chance
HOURS = range(24)
TOO_FEW = f"No group has a period with {MIN_REQUESTS} decided requests."


@draws("verdict.outcomes", "Rejection rate", empty="No decided request in this window.", column="rejection_rate")
def verdict_outcomes(chart: Chart) -> None:
    """Draw rejection rates with their 95 % intervals.

    Rates [%] over time for hours, days and periods. Otherwise: one row per group, the 15 with the most requests, the highest
    rate first.

    Groups over time: a panel for each of the 12 groups with the most decided requests, all on one scale, with the rate of
    all groups in gray and without intervals. Periods with fewer than 20 decided requests of a group have no point, because
    their rate is mostly chance. Diamonds differ from all other rows by more than chance, crosses have too few requests to
    be judged, and a line is the rate of all.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.verdict.outcomes(day, by="participant"))
    """
    ax, frame = chart.ax, chart.frame
    if chart.has_periods and chart.by:
        return _draw_group_rates(chart)
    is_vertical = chart.has_periods or chart.by in ("hour", "day")
    known = frame[frame["rejection_rate"].notna()]
    visible = known if is_vertical else chart.largest(known).sort_values("rejection_rate", ascending=False, kind="stable")
    _draw_intervals(chart, visible.reset_index(drop=True), is_vertical=is_vertical)
    set_limits = ax.set_ylim if is_vertical else ax.set_xlim
    highest = max(float(visible[name].max()) for name in ("rejection_rate", "high"))
    set_limits(0, highest * (1.15 if is_vertical else 1.1) or 1)
    _draw_rate_of_all(chart, known, is_vertical=is_vertical)
    if is_vertical:
        _label_rates_that_differ(chart, visible)
    c.percent_axis(ax.yaxis if is_vertical else ax.xaxis, chart.axis_title("rejection_rate"))
    return chart.show_titles(r.coverage_note(frame, "Verdict"), title=f"{chart.title} with 95 % intervals")


def _draw_intervals(chart: Chart, rows: pd.DataFrame, *, is_vertical: bool) -> None:
    ax, marker_of_others = chart.ax, "x" if rows["differs"].notna().any() else "o"
    positions = _show_positions(chart, rows, is_vertical=is_vertical)
    judgments = list(s.judgments(rows["differs"], (marker_of_others, 0, "not judged")))
    for is_of_kind, marker, number, text in judgments:
        part, at = rows[is_of_kind], positions[is_of_kind]
        rate = part["rejection_rate"].to_numpy()
        # Floats can put the end of an interval a hair inside the rate, and matplotlib refuses a length below 0.
        spread = np.clip([rate - part["low"], part["high"] - rate], 0, None)
        point: dict[str, Any] = {"color": c.color(number), "label": text}
        style: dict[str, Any] = {"fmt": "none", "ecolor": c.color(2), "elinewidth": 2, "capsize": 3}
        if is_vertical:
            ax.errorbar(at, rate, yerr=spread, **style)
            ax.plot(at, rate, marker, **point)
        else:
            ax.errorbar(rate, at, xerr=spread, **style)
            ax.plot(rate, at, marker, **point)
    chart.notes.append(s.marker_note(judgments))


def _show_positions(chart: Chart, rows: pd.DataFrame, *, is_vertical: bool) -> r.Numbers:
    """Label the axis of the groups, and return the position of each row on it."""
    if not is_vertical:
        chart.show_rows(chart.labels_with_counts(rows))
        return np.arange(len(rows), dtype=float)
    if chart.has_periods:
        chart.draw_time_axis()
    elif chart.by == "hour":
        c.hour_axis(chart.ax)
    else:
        days = c.time_numbers(chart.frame["day"])
        chart.show_times(days[0] - 0.7, days[-1] + 0.7)
    return _positions(chart, rows)


def _positions(chart: Chart, rows: pd.DataFrame) -> r.Numbers:
    """Return the time of each period or day, or the hour of the day."""
    if chart.has_periods:
        return chart.positions(rows)
    return r.numbers(rows["hour"]) if chart.by == "hour" else c.time_numbers(rows["day"])


def _label_rates_that_differ(chart: Chart, rows: pd.DataFrame) -> None:
    """Write the rates of diamonds above all together above their intervals."""
    rows = rows[is_true(rows["differs"]) & (rows["difference"] > 0).fillna(False)]
    texts = [r.percent(rate, 1) for rate in rows["rejection_rate"]]
    c.label_points(chart.ax, _positions(chart, rows), r.numbers(rows["high"]), texts)


def _draw_rate_of_all(chart: Chart, rows: pd.DataFrame, *, is_vertical: bool) -> None:
    """Draw the rate of all groups together, where no request is in two of them."""
    if chart.by == "party" or len(rows) < 2:
        return
    rejected = int(rows["rejected"].sum())
    rate = rejected / max(int(rows["accepted"].sum()) + rejected, 1)
    text, draw = f"all together, {r.percent(rate, 1)}", chart.ax.axhline if is_vertical else chart.ax.axvline
    line = draw(rate, color=c.text_color(chart.ax), linewidth=1, linestyle="--", zorder=0, label=text)
    if is_vertical:
        label_ends(chart.ax, [line])
    else:
        chart.label_vertical_line(text, rate)


@draws("verdict.rejections", "Rejected requests by kind and hour of the day", empty="No rejected request in this window.")
def verdict_rejections(chart: Chart) -> None:
    """Draw the number of rejected requests per hour of the day, by kind.

    A number says nothing about a participant, because those with more requests have more rejections. The picture of
    :func:`ledgerframes.verdict.outcomes` has rates.

    Stacked bars of rejected requests by hour of the day [UTC], one color for each kind, which is a heuristic.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.verdict.rejections(day))
    """
    ax, frame = chart.ax, chart.frame
    kinds = frame["reject_kind_heuristic"].astype("str").fillna("unknown")
    counts = pd.crosstab(kinds, frame["record_time"].dt.hour).reindex(columns=HOURS, fill_value=0)
    parts: list[s.Part] = [
        (f"{r.label(kind)} ({values.sum():,})", values.to_numpy("float64"), {"color": c.color(number)})
        for number, (kind, values) in enumerate(counts.iterrows())
    ]
    ax.set_ylim(0, s.areas(ax, np.arange(25) - 0.5, parts).max() * 1.1)
    label_ends(ax)
    c.hour_axis(ax)
    c.count_axis(ax.yaxis, "Rejected requests")
    return chart.show_titles("Kinds are inferred from the latency")


def _draw_group_rates(chart: Chart) -> None:
    frame, rejected = chart.frame, chart.numbers("rejected")
    decided = chart.numbers("accepted") + rejected
    if decided.max() < MIN_REQUESTS:
        return chart.show_message(TOO_FEW)
    rates = chart.group_table(_rates(rejected, decided), decided)
    marks = chart.group_table(is_true(frame["differs"]).astype("float64"), decided) == 1
    sums = pd.DataFrame({"rejected": rejected, "decided": decided}).groupby(chart.positions()).sum()
    of_all = pd.Series(_rates(sums["rejected"].to_numpy(), sums["decided"].to_numpy()), sums.index)
    quantity = chart.axis_title("rejection_rate")
    p.panels(chart, rates, lambda axis, _: c.percent_axis(axis, quantity), r.percent, marks=marks & rates.notna(), around=of_all)
    notes = (
        "Gray: all groups",
        "Diamond: more than chance explains" if marks.to_numpy().any() else "",
        f"No point for fewer than {MIN_REQUESTS} decided requests",
        r.coverage_note(frame, "Verdict"),
    )
    return chart.show_titles(*notes)


def _rates(rejected: r.Numbers, decided: r.Numbers) -> r.Numbers:
    """Return rejection rates, NaN for few decided requests."""
    return np.where(decided >= MIN_REQUESTS, rejected / np.maximum(decided, 1), np.nan)


@draws("verdict.quorums", "Quorums by confirmations needed and parties", is_ranking=True)
def verdict_quorums(chart: Chart) -> None:
    """Draw the parties that confirm together most often.

    One bar per quorum, the 15 most frequent. Over time: a panel for each of the 12 most frequent, all on one scale.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.verdict.quorums(day))
    """
    ax, frame, counts = chart.ax, chart.frame, chart.numbers("quorums")
    if counts.sum() == 0:
        return chart.show_message(NO_QUORUM)
    columns = (_known(frame["threshold"]), _known(frame["party_count"]), frame["parties"])
    labels = [f"{threshold} of {count}:  {r.join_parties(parties)}" for threshold, count, parties in zip(*columns, strict=True)]
    if chart.by:
        separator = ", " if chart.has_periods else "\n"
        labels = [f"{group}{separator}{label}" for group, label in zip(chart.labels(), labels, strict=True)]
    if chart.has_periods:
        keys = [*chart.keys, "parties", "threshold", "party_count"]
        table = chart.group_table(counts, counts, keys=keys, labels=labels)
        p.panels(chart, table, lambda axis, _: c.count_axis(axis, chart.axis_title("quorums")), lambda count: f"{count:,.0f}")
    else:
        visible, total, omitted = counts[: r.MAX_ROWS], counts.sum(), len(frame) - r.MAX_ROWS
        s.bars(chart, labels[: r.MAX_ROWS], visible, [f"{count:,.0f}  ({r.percent(count / total)})" for count in visible])
        c.count_axis(ax.xaxis, chart.axis_title("quorums"))
        chart.notes += [
            f"Percent of {total:,.0f} quorums, {len(frame):,} of them different",
            f"Not shown: {omitted:,} others with {r.percent(1 - visible.sum() / total)}" if omitted > 0 else "",
        ]
    return chart.show_titles(r.coverage_note(frame, "Verdict"))


def _known(counts: pd.Series) -> list[object]:
    return ["unknown" if pd.isna(count) else count for count in counts]
