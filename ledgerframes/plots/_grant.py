"""Plot of an app's use by outside parties."""

from __future__ import annotations

import numpy as np

from ledgerframes.analysis.groups import ONE_DAY
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.plots.direct_labels import label_ends
from ledgerframes.texts.representation import pluralize


@draws("grant.evidence", "Use of the app by outside parties")
def grant_evidence(chart: Chart, *, milestone: int | None = None) -> None:
    """Draw the bytes and the parties that an app's use adds up to.

    Cumulated cost [bytes] of outside requests over time [UTC], and on a second axis the number of outside parties. The bytes that
    the grant requires are a line, with ``milestone=``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> options = {"since": "2026-11-08T01:00:00Z", "until": "2026-11-09", "min_coverage": 0.8}
    >>> evidence = lf.grant.evidence(frames, app={"packages": ["meadow-token"]}, exclude=[], **options)
    >>> ax = lf.plot(evidence, milestone=5_000_000)
    """
    ax, frame, request_count = chart.ax, chart.frame, int(chart.frame["requests"].sum())
    if request_count == 0:
        return chart.show_message("No outside party used the app in this window.")
    times = np.append(c.time_numbers(frame["day"].head(1)), c.time_numbers(frame["day"] + ONE_DAY))
    total = np.append(0, np.cumsum(np.nan_to_num(chart.numbers("bytes"))))
    largest = float(max(total[-1], milestone or 0, 1))
    ax.plot(times, total, color=c.color(0), label="bytes")
    ax.fill_between(times, total, color=c.color(0), alpha=0.12, linewidth=0)
    if milestone is not None:
        ax.axhline(milestone, color=c.color(3), linestyle="--", linewidth=1.2, label=f"milestone, {c.size(milestone)}")
    ax.set_ylim(0, largest * 1.1)
    c.bytes_axis(ax.yaxis, largest, "Bytes of outside parties")
    below, counts = chart.panel_below(), np.append(0, chart.numbers("parties_cumulative"))
    below.step(times, counts, where="pre", color=c.color(1))
    below.set_ylim(0, max(counts[-1], 1) * 1.25)
    c.count_axis(below.yaxis, chart.axis_title("parties_cumulative"))
    chart.show_times(times[0], times[-1], below=below)
    if milestone is not None:
        label_ends(ax)
    note = f"{pluralize(request_count, 'request')}, {c.size(total[-1])}, {pluralize(int(counts[-1]), 'party')}"
    return chart.show_titles(note, r.coverage_note(frame, "Party and cost"))
