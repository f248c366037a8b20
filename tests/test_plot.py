"""Every picture draws for no rows, one row and many, says its units, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from ledgerframes import plot
from ledgerframes.errors import UsageError

START = pd.Timestamp("2026-11-08", tz="UTC")
NAMESPACE = "1220" + "ab34" * 16
SIZES = [0, 1, 200]


def periods(rows):
    starts = pd.Series(pd.date_range(START, periods=rows, freq="h", unit="us"))
    return {"period_start": starts, "period_end": starts + pd.Timedelta(hours=1)}


def costs(rows, scale=50_000):
    return pd.Series([scale * (rows - number) for number in range(rows)], dtype="Int64")


def parties(rows):
    return pd.Series([f"party-{number}::{NAMESPACE}{number:02d}" for number in range(rows)], dtype="str")


def over_time(rows):
    parts = {
        f"{part}_traffic_cost": costs(rows, scale) for part, scale in (("total", 9000), ("rejected", 1000), ("overhead", 2500))
    }
    return pd.DataFrame({**periods(rows), "requests": 3, **parts, "coverage": 0.9}, index=range(rows))


def by_participant(rows):
    shown = {"submitting_participant_uid": parties(rows), "requests": 3, "total_traffic_cost": costs(rows), "coverage": 1.0}
    return pd.DataFrame(shown, index=range(rows))


def by_template(rows):
    names = pd.Series([f"Some.Long.Module.Name:Template{number}" for number in range(rows)], dtype="str")
    shown = {"kind": "transaction", "template_name": names, "choice": "Template_Choose$one$", "requests": 3}
    return pd.DataFrame({**shown, "total_traffic_cost": costs(rows), "coverage": 1.0}, index=range(rows))


def by_view(rows):
    return by_template(rows).rename(columns={"total_traffic_cost": "traffic_cost"}).assign(view_id=range(rows))


def overhead(rows):
    shown = {"kind": ["with views", "without views"], "envelopes": [rows, rows], "traffic_cost": [pd.NA, pd.NA], "coverage": 1.0}
    frame = pd.DataFrame(shown).astype({"traffic_cost": "Int64"})
    return frame if rows == 0 else frame.assign(traffic_cost=costs(2))


def wasted(rows):
    shares = np.linspace(0.1, 0.5, rows)
    limits = {"center": 0.2, "lower": 0.1, "upper": 0.3} if rows > 7 else dict.fromkeys(("center", "lower", "upper"), np.nan)
    outside = pd.Series(shares > 0.3, dtype="boolean") if rows > 7 else pd.Series([pd.NA] * rows, dtype="boolean")
    return pd.DataFrame(
        {**periods(rows), "requests": 3, "share": shares, **limits, "outside": outside, "coverage": 1.0}, index=range(rows)
    )


def anatomy(rows):
    label = ["no views (mediator or root hash)", *[f"views: {number}" for number in range(1, rows)]][:rows]
    part = pd.Categorical(["envelope"] * rows, categories=["node", "view", "envelope", "activity"])
    shown = {"part": part, "position": range(rows), "label": label, "traffic_cost": costs(rows, 100), "coverage": 1.0}
    return pd.DataFrame(shown, index=range(rows))


def outcomes(rows):
    rates = {"rejection_rate": 0.14, "low": 0.08, "high": 0.22}
    return pd.DataFrame({"party": parties(rows), "requests": range(rows), **rates, "coverage": 1.0}, index=range(rows))


def outcomes_by(name):
    def frame(rows):
        keys = {"hour": range(rows), "day": pd.date_range(START, periods=rows, freq="D", unit="us")}
        renamed = outcomes(rows).drop(columns="party")
        renamed.insert(0, name, keys[name])
        return renamed

    return frame


def latency(rows):
    micros = {"p50": 400_000, "p90": 900_000, "p95": 1_200_000, "p99": 30_000_001, "max": 30_000_001}
    columns = {
        name: pd.Series([value] * rows, dtype="int64").to_numpy().view("timedelta64[us]") for name, value in micros.items()
    }
    return pd.DataFrame({"party": parties(rows), "requests": 5, **columns, "coverage": 0.5}, index=range(rows))


def verdicts(rows):
    starts = periods(rows)["period_start"]
    waited = pd.Series((np.arange(rows) * 100_000).view("timedelta64[us]"))
    results = pd.Categorical(["VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED"] * rows)[:rows]
    return pd.DataFrame({"record_time": starts, "finalization_time": starts + waited, "verdict_result": results})


def rejections(rows):
    kinds = pd.Categorical((["contention", "timeout"] * rows)[:rows], categories=["contention", "timeout"])
    times = periods(rows)["period_start"]
    return pd.DataFrame({"record_time": times, "submitting_participant_uid": parties(rows), "reject_kind_heuristic": kinds})


def quorums(rows):
    members = pd.Series([f"a::{NAMESPACE}, b::{NAMESPACE}, c-{number}" for number in range(rows)], dtype="str")
    shown = {"parties": members, "threshold": 2, "party_count": 3, "quorums": range(rows, 0, -1), "requests": 5, "coverage": 1.0}
    return pd.DataFrame(shown, index=range(rows))


PICTURES = {
    "cost_over_time": (plot.cost_over_time, over_time, "[UTC]", "traffic cost ["),
    "cost_by_participant": (plot.cost_by_participant, by_participant, "traffic cost [", ""),
    "cost_by_template": (plot.cost_by_template, by_template, "traffic cost [", ""),
    "cost_by_view": (plot.cost_by_view, by_view, "traffic cost [", ""),
    "overhead": (plot.overhead, overhead, "traffic cost [", ""),
    "wasted": (plot.wasted, wasted, "[UTC]", "[%]"),
    "anatomy": (plot.anatomy, anatomy, "B]", "envelope"),
    "outcomes": (plot.outcomes, outcomes, "[%]", ""),
    "outcomes by hour": (plot.outcomes, lambda rows: outcomes_by("hour")(min(rows, 24)), "[UTC]", "[%]"),
    "outcomes by day": (plot.outcomes, outcomes_by("day"), "[UTC]", "[%]"),
    "latency": (plot.latency, latency, "[s]", ""),
    "latency_distribution": (plot.latency_distribution, verdicts, "[s]", "[%]"),
    "rejections": (plot.rejections, rejections, "[UTC]", ""),
    "rejections by participant": (lambda frame, ax=None: plot.rejections(frame, "participant", ax), rejections, "[UTC]", ""),
    "quorums": (plot.quorums, quorums, "quorums", ""),
}
each_picture = pytest.mark.parametrize("name", PICTURES)


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    assert plt.get_fignums() == []
    yield
    plt.close("all")


@pytest.mark.parametrize("rows", SIZES)
@each_picture
def test_draws_on_one_new_figure(name, rows):
    draw, frame, x, y = PICTURES[name]
    ax = draw(frame(rows))
    ax.figure.canvas.draw()
    assert len(plt.get_fignums()) == 1
    if rows:
        assert x in ax.get_xlabel()
        assert y in ax.get_ylabel()
        assert ax.get_title(loc="left")
    else:
        assert any(text.get_text().endswith(".") for text in ax.texts)


@pytest.mark.parametrize("rows", SIZES)
@each_picture
def test_draws_on_given_axes_and_opens_no_figure(name, rows):
    draw, frame, _, _ = PICTURES[name]
    figure = mpl.figure.Figure()
    given = figure.subplots()
    assert draw(frame(rows), ax=given) is given
    figure.canvas.draw()
    assert plt.get_fignums() == []


@each_picture
def test_style_does_not_leak(name):
    draw, frame, _, _ = PICTURES[name]
    before = mpl.rcParams.copy()
    draw(frame(20))
    assert mpl.rcParams == before


@each_picture
def test_a_frame_is_not_changed(name):
    draw, frame, _, _ = PICTURES[name]
    given, same = frame(20), frame(20)
    draw(given)
    pd.testing.assert_frame_equal(given, same)


@each_picture
def test_labels_stay_inside_the_figure_and_do_not_overlap(name):
    draw, frame, _, _ = PICTURES[name]
    ax = draw(frame(200))
    ax.figure.canvas.draw()
    renderer, whole = ax.figure.canvas.get_renderer(), ax.figure.bbox
    for axis, low, high in ((ax.xaxis, "x0", "x1"), (ax.yaxis, "y0", "y1")):
        start, end = sorted(axis.get_view_interval())
        drawn = [tick.label1 for tick in axis.get_major_ticks() if start <= tick.get_loc() <= end]
        boxes = [text.get_window_extent(renderer) for text in drawn if text.get_text()]
        assert all(box.x0 >= whole.x0 - 1 and box.x1 <= whole.x1 + 1 for box in boxes)
        boxes = sorted(boxes, key=lambda box, low=low: getattr(box, low))
        assert all(getattr(a, high) <= getattr(b, low) + 1 for a, b in pairwise(boxes))


def test_missing_costs_are_said_not_drawn_as_zero():
    frame = over_time(24).assign(total_traffic_cost=pd.Series([pd.NA] * 24, dtype="Int64"))
    assert "known cost" in plot.cost_over_time(frame).texts[0].get_text()


def test_coverage_is_said():
    ax = plot.cost_over_time(over_time(24))
    assert "cost known for 90 % of requests" in [text.get_text() for text in ax.texts]


def test_long_tails_are_summed_as_other():
    ax = plot.cost_by_participant(by_participant(200))
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert len(labels) == 16
    assert labels[-1] == "other (185)"
    assert labels[0] == "party-0::1220ab…00"
    assert sum(bar.get_width() for bar in ax.patches) == costs(200).sum()


def test_text_of_the_network_is_never_mathematics():
    names = pd.Series([r"$\frac{1}{0}$::" + NAMESPACE, "$x^2$", "bad\x00\n\u202etext", "$"], dtype="str")
    frame = by_participant(4).assign(submitting_participant_uid=names)
    ax = plot.cost_by_participant(frame)
    with plt.rc_context({"text.usetex": False}):
        ax.figure.canvas.draw()
    shown = ax.get_yticklabels()
    assert shown[1].get_text() == r"\$x^2\$"
    assert not any(text._preprocess_math(text.get_text())[1] for text in shown)
    assert shown[2].get_text() == "bad???text"


def test_rejections_by_something_else_is_refused():
    with pytest.raises(UsageError, match="'kind', 'participant'"):
        plot.rejections(rejections(3), by="party")


def test_importing_needs_no_matplotlib():
    code = "from ledgerframes import plot; from ledgerframes.analysis import cost, verdict"
    subprocess.run([sys.executable, "-c", f"import sys; {code}; assert 'matplotlib' not in sys.modules"], check=True)
