"""Pictures of how requests are decided, and how fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.plot import _canvas as c

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 25
MOST_CURVE_POINTS = 2_000
TIMEOUT_SECONDS = 30.0
SHORTEST_SECONDS = 0.001
NO_VERDICT = "No verdict in this range."
PERCENTILES = (("p50", "o", 0), ("p95", "s", 1), ("p99", "^", 3))
RESULTS = {
    "VERDICT_RESULT_ACCEPTED": ("accepted", "-", 0),
    "VERDICT_RESULT_REJECTED": ("rejected", "--", 1),
    "VERDICT_RESULT_UNSPECIFIED": ("unspecified", ":", 2),
}


def outcomes(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Rejection rates with their 95 % intervals.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.outcomes`, in any grouping.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Rates [%] over time for hours and days, otherwise one row per group: the 25 with most requests.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.outcomes(lf.verdict.outcomes(frames, by="participant"))
    >>> ax.get_xlabel()
    'rejection rate [%]'
    """
    rated = frame[frame["rejection_rate"].notna()]
    is_time = "hour" in frame or "day" in frame
    shown, omitted = (rated, 0) if is_time else _largest(rated)
    with c.canvas(ax, 4.0 if is_time else c.rows_high(len(shown))) as ax:
        if shown.empty:
            return c.sentence(ax, NO_VERDICT)
        rate = shown["rejection_rate"].to_numpy()
        # Floats may put the end of an interval a hair inside the rate, and a length below 0 is refused.
        spread = np.clip([rate - shown["low"], shown["high"] - rate], 0, None)
        drawing: dict[str, Any] = {"fmt": "o", "color": c.color(0), "ecolor": c.color(2), "elinewidth": 2, "capsize": 3}
        if is_time:
            ax.errorbar(_time_positions(shown), rate, yerr=spread, **drawing)
            _finish_over_time(ax, frame)
        else:
            ax.errorbar(rate, range(len(shown)), xerr=spread, **drawing)
            c.row_labels(ax, [f"{name}  ({n:,})" for name, n in zip(_group_labels(shown), shown["requests"], strict=True)])
            ax.set_xlim(0, min(float(shown["high"].max()) * 1.1, 1.02) or 1)
            c.percent_axis(ax.xaxis, "rejection rate")
        c.titles(ax, "Rejection rate, 95 % intervals", _notes(omitted, c.coverage_note(frame, "verdict")))
        return ax


def latency(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Median, 95th and 99th percentile of the latency of each group.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.latency`, in any grouping.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Latency [s] on a logarithmic axis, one row per group, with a line at the time-out of 30 s.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.latency(lf.verdict.latency(frames, by="hour"))
    >>> ax.get_xlabel()
    'latency [s]'
    """
    shown, omitted = _largest(frame[frame["p50"].notna()])
    with c.canvas(ax, c.rows_high(len(shown)) + 0.3) as ax:
        if shown.empty:
            return c.sentence(ax, NO_VERDICT)
        rows = np.arange(len(shown))
        seconds = {name: _seconds(shown[name]) for name, _, _ in PERCENTILES}
        ax.hlines(rows, seconds["p50"], seconds["p99"], color=c.color(2), linewidth=1.5, alpha=0.6)
        for name, marker, number in PERCENTILES:
            ax.plot(seconds[name], rows, marker, color=c.color(number), label=name)
        c.row_labels(ax, [f"{name}  ({n:,})" for name, n in zip(_group_labels(shown), shown["requests"], strict=True)])
        c.latency_axis(ax.xaxis)
        ax.set_xlim(seconds["p50"].min() / 1.6, max(seconds["p99"].max(), TIMEOUT_SECONDS) * 1.6)
        _timeout_line(ax)
        note = _notes(omitted, c.coverage_note(frame, "latency"))
        # Beside the title, because every place inside the axes may hold points.
        above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 2.1 if note else 0.6}
        ax.legend(ncols=3, frameon=False, labelcolor=c.ink(ax), **above)
        c.titles(ax, "Latency until finalization", note)
        return ax


def latency_distribution(verdicts: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Which share of requests is decided within which time.

    Parameters
    ----------
    verdicts : DataFrame
        ``frames.verdicts``, or its columns ``record_time``, ``finalization_time`` and ``verdict_result``.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Share of requests [%] over latency [s] on a logarithmic axis, one curve per result, with a line at 30 s. Long curves
        are drawn through 2,000 of their points.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.latency_distribution(frames.verdicts)
    >>> ax.get_xlabel()
    'latency [s]'
    """
    with c.canvas(ax) as ax:
        if verdicts.empty:
            return c.sentence(ax, NO_VERDICT)
        latencies = _seconds(verdicts["finalization_time"] - verdicts["record_time"])
        for result, (words, line, number) in RESULTS.items():
            ordered = np.sort(latencies[(verdicts["verdict_result"] == result).to_numpy(dtype=bool)])
            if len(ordered):
                x, y = _curve(ordered)
                ax.step(x, y, line, where="post", color=c.color(number), label=f"{words} ({len(ordered):,})")
        c.latency_axis(ax.xaxis)
        c.percent_axis(ax.yaxis, "share decided within")
        ax.set_ylim(0, 1.02)
        ax.set_xlim(latencies.min() / 1.6, max(latencies.max(), TIMEOUT_SECONDS) * 1.6)
        _timeout_line(ax)
        ax.legend(loc="lower right", bbox_to_anchor=(0.9, 0.02))
        c.titles(ax, "Latency until finalization")
        return ax


def rejections(frame: pd.DataFrame, by: str = "kind", ax: Axes | None = None) -> Axes:
    """When requests are rejected: a heat map of the hours of the day.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.rejections`.
    by : {"kind", "participant"}
        Rows: the guessed kind of rejection (a heuristic), or the 25 validators with most rejections.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Rejected requests by hour of the day [UTC].

    Raises
    ------
    UsageError
        If `by` is neither.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.rejections(lf.verdict.rejections(frames))
    >>> ax.get_xlabel()
    'hour of day [UTC]'
    """
    columns = {"kind": "reject_kind_heuristic", "participant": "submitting_participant_uid"}
    if by not in columns:
        raise UsageError(f"by={by!r} is not a way to group. Choose one of: {', '.join(map(repr, columns))}.")
    counts = pd.crosstab(frame[columns[by]].astype("str"), frame["record_time"].dt.hour).reindex(columns=range(24), fill_value=0)
    busiest = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index[:MOST_ROWS]
    shown = counts.loc[busiest]
    with c.canvas(ax, c.rows_high(len(shown)) + 0.3) as ax:
        if frame.empty:
            return c.sentence(ax, "No rejected request in this range.")
        _heat_map(ax, shown.to_numpy())
        c.row_labels(ax, [f"{c.label(name)}  ({n:,})" for name, n in zip(shown.index, shown.sum(axis=1), strict=True)])
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.grid(visible=False)
        ax.set_xticks(range(0, 24, 2))
        ax.set_xlabel("hour of day [UTC]")
        title = "Rejected requests by " + ("kind (guessed from latency)" if by == "kind" else "submitting validator")
        c.titles(ax, title, _notes(len(counts) - len(shown)))
        return ax


def quorums(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Which parties confirm together most often.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.quorums`.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Bars of quorums, the 15 most frequent; the others are summed in one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.quorums(lf.verdict.quorums(frames))
    >>> ax.get_xlabel()
    'quorums'
    """
    words = [
        f"{threshold} of {count}:  {c.several(parties)}"
        for threshold, count, parties in zip(frame["threshold"], frame["party_count"], frame["parties"], strict=True)
    ]
    labels, values = c.with_other(words, frame["quorums"].to_numpy("float64"), 15)
    with c.canvas(ax, c.rows_high(len(labels))) as ax:
        if len(values) == 0:
            return c.sentence(ax, "No quorum in this range.")
        c.bars(ax, labels, list(values), [f"{value:,.0f}  ({value / values.sum():.0%})" for value in values])
        ax.set_xlabel("quorums")
        c.titles(ax, "Quorums: confirmations needed, of which parties", c.coverage_note(frame, "verdict"))
        return ax


# -- helpers ----------------------------------------------------------------------------------------------------------


def _largest(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The groups with most requests in their given order, and how many are left out."""
    keep = frame["requests"].sort_values(ascending=False, kind="stable").index[:MOST_ROWS]
    return frame.loc[frame.index.isin(keep)], max(len(frame) - MOST_ROWS, 0)


def _group_labels(frame: pd.DataFrame) -> list[str]:
    """The groups in words; their columns stand before `requests`."""
    keys = list(frame.columns[: frame.columns.get_loc("requests")])
    if keys == ["template_name", "choice"]:
        return [c.template(name, choice) for name, choice in zip(frame["template_name"], frame["choice"], strict=True)]
    if keys == ["hour"]:
        return [f"{hour:02d}:00" for hour in frame["hour"]]
    if keys == ["verdict_result"]:
        return [RESULTS[result][0] if result in RESULTS else c.label(result) for result in frame["verdict_result"]]
    if keys == ["confirmers"]:
        return ["not known" if pd.isna(count) else f"{count} confirming" for count in frame["confirmers"]]
    return [c.label(value) for value in frame[keys[0]]] if keys else ["all requests"] * len(frame)


def _notes(omitted: int, note: str = "") -> str:
    shown = f"the {MOST_ROWS} largest, {omitted:,} more not shown" if omitted > 0 else ""
    return "; ".join(part for part in (shown, note) if part)


def _time_positions(frame: pd.DataFrame) -> c.Numbers:
    return frame["hour"].to_numpy("float64") if "hour" in frame else c.time_numbers(frame["day"])


def _finish_over_time(ax: Axes, frame: pd.DataFrame) -> None:
    if "hour" in frame:
        ax.set_xticks(range(0, 24, 2))
        ax.set_xlim(-0.7, 23.7)
        ax.set_xlabel("hour of day [UTC]")
    else:
        days = c.time_numbers(frame["day"])
        c.time_axis(ax.xaxis)
        ax.set_xlim(days[0] - 0.7, days[-1] + 0.7)
    ax.set_ylim(0, min(float(frame["high"].max()) * 1.1, 1.02) or 1)
    c.percent_axis(ax.yaxis, "rejection rate")


def _seconds(durations: pd.Series) -> c.Numbers:
    """Seconds, at least a millisecond, so that a logarithmic axis can show them."""
    return np.maximum(durations.astype("int64").to_numpy() / 1e6, SHORTEST_SECONDS)


def _curve(ordered: c.Numbers) -> tuple[c.Numbers, c.Numbers]:
    """Latency and share decided within it, beginning at 0."""
    picked = np.unique(np.linspace(0, len(ordered) - 1, MOST_CURVE_POINTS).astype(int))
    x, y = ordered[picked], (picked + 1) / len(ordered)
    return np.append(x[0], x), np.append(0.0, y)


def _timeout_line(ax: Axes) -> None:
    ax.axvline(TIMEOUT_SECONDS, color=c.ink(ax), linestyle=":", linewidth=1.2)
    ax.annotate(
        "30 s", (TIMEOUT_SECONDS, 1), xycoords=("data", "axes fraction"), xytext=(-3, -9), textcoords="offset points",
        ha="right", fontsize=8, color=c.ink(ax),
    )  # fmt: skip


def _heat_map(ax: Axes, counts: Any) -> None:
    """Cells shaded by count, with the count written in those that have any."""
    ax.imshow(counts, aspect="auto", cmap="Blues", vmin=0, vmax=max(counts.max() * 1.3, 1))
    for row, column in np.argwhere(counts > 0):
        is_dark = counts[row, column] > counts.max() * 0.75
        shown = f"{counts[row, column]:,}" if counts[row, column] < 10_000 else f"{counts[row, column] / 1000:.0f}k"
        ax.text(column, row, shown, ha="center", va="center", fontsize=7, color="#ffffff" if is_dark else "#23272d")
