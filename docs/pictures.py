"""Draws the pictures of README and docs, and makes its sample report, as a page and on paper, from the embedded sandbox."""

from __future__ import annotations

import re
import shutil
import tempfile
import textwrap
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import ledgerframes as lf
from ledgerframes.network import Network
from ledgerframes.report import ReportResult, run_report
from ledgerframes.report.cells import keep_together
from ledgerframes.report.page import LINKS_END, LINKS_START, WEEKLY_LINK_END, WEEKLY_LINK_START
from ledgerframes.report.pdf import PDF
from ledgerframes.report.sparklines import usual_band

IMAGES = Path(__file__).parent / "images"
WEEK = {"since": "2026-11-02", "until": "2026-11-09"}
WEEKS_SHOWN = 4  # of those before, and the week itself
THEMES = {
    "light": {"paper": "#ffffff", "ink": "#23272d", "soft": "#5d646f", "line": "#dfe2e6", "accent": "#2f6690", "mark": "#b4471f"},
    "dark": {"paper": "#16191d", "ink": "#e4e6ea", "soft": "#9aa1ac", "line": "#343a42", "accent": "#86b7dd", "mark": "#f08a5d"},
}


def main() -> None:
    """Draw what README shows, and make the report of its week, for which Chromium is needed."""
    with tempfile.TemporaryDirectory() as directory:
        net = lf.connect("sandbox", store=Path(directory) / "store")
        axes = lf.plot(lf.cost.spend(lf.load_events(net, **WEEK), every="1h"))
        axes.figure.savefig(IMAGES / "cost_spend.png", dpi=110, metadata={"Software": None})
        week = run_week(net, Path(directory) / "reports", pdf=True)
        shutil.copyfile(week.directory / PDF, IMAGES / "week.pdf")
        page = week.page_path.read_text(encoding="utf-8")
        (IMAGES / "week.html").write_text(without_links(page), encoding="utf-8")
        for theme, colors in THEMES.items():
            draw_week(week.run, colors, IMAGES / f"week-{theme}.svg")


def run_week(net: Network, reports: Path, *, pdf: bool = False) -> ReportResult:
    """Publish the report that README shows."""
    return run_report("traffic-cost", net=net, out=reports, parameters={"price": "50 USD/MB"}, pdf=pdf, **WEEK)


def without_links(page: str) -> str:
    """Return a page without what leads to other reports and to its tables, which are not beside it."""
    for start, end in ((LINKS_START, LINKS_END), (WEEKLY_LINK_START, WEEKLY_LINK_END), ('<p class="files">', "</p>")):
        page = re.sub(f"{re.escape(start)}.*?{re.escape(end)}", "", page, flags=re.DOTALL)
    return page


def draw_week(run: Mapping[str, Any], colors: Mapping[str, str], path: Path) -> None:
    """Draw the key figures of a week, and its rejections by day with what is unusual."""
    settings = {"svg.fonttype": "none", "svg.hashsalt": "ledgerframes", "font.family": "sans-serif", "font.size": 10}
    with plt.rc_context(settings):
        figure = plt.figure(figsize=(10, 4.4), facecolor=colors["paper"])
        for number, key_figure in enumerate(run["key_figures"]):
            write_figure(figure, 0.03 + 0.245 * number, key_figure, colors)
        draw_days(figure.add_axes((0.05, 0.1, 0.93, 0.5)), run, colors)
        figure.savefig(path, format="svg", metadata={"Date": None})
        plt.close(figure)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE), encoding="utf-8")


def write_figure(figure: Any, left: float, key_figure: Mapping[str, Any], colors: Mapping[str, str]) -> None:
    """Write one key figure with its change and its remark."""
    figure.text(left, 0.93, key_figure["label"], color=colors["soft"], size=9)
    figure.text(left, 0.835, key_figure["value"], color=colors["ink"], size=19, weight="bold")
    is_clear = key_figure["is_clear"]
    change = f"{key_figure['change']}{'' if is_clear else ', within chance or not tested'}"
    figure.text(left, 0.78, change, color=colors["mark" if is_clear else "soft"], size=8)
    figure.text(left, 0.735, key_figure["note"].partition(" · ")[0], color=colors["soft"], size=8)


def draw_days(ax: Axes, run: Mapping[str, Any], colors: Mapping[str, str]) -> None:
    """Draw the wasted share of the cost by day over five weeks, with the usual band, and label the first finding of the week."""
    (wasted,) = (each for each in run["key_figures"] if each["label"] == "Wasted on rejections")
    before, days = wasted["before"][-7 * WEEKS_SHOWN :], wasted["days"]
    since = datetime.fromisoformat(run["window"]["since"])
    dates = [since + timedelta(days=number) for number in range(-len(before), len(days))]
    low, high = usual_band(wasted["before"]) or (0.0, 0.0)
    ax.axhspan(100 * low, 100 * high, color=colors["line"], alpha=0.6, linewidth=0)
    ax.plot(dates[: len(before) + 1], [100 * value for value in [*before, days[0]]], color=colors["soft"], linewidth=1.2)
    ax.plot(dates[len(before) :], [100 * value for value in days], color=colors["accent"], linewidth=2.2)
    worst = max(range(len(days)), key=lambda number: days[number])
    point = dates[len(before) + worst], 100 * days[worst]
    ax.plot(*point, "o", color=colors["mark"], markersize=8)
    sentence = "\n".join(textwrap.wrap(keep_together(run["attention"]["findings"][0]["text"]), 54))
    place = {"xytext": (-16, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
    ax.annotate(sentence, point, color=colors["ink"], size=9, **place)
    ax.text(dates[0], 100 * high, "8 of 10 days of the six weeks before", color=colors["soft"], size=8, va="bottom")
    ax.set_title("Cost wasted on rejected requests per day (%)", loc="left", color=colors["ink"], size=10, weight="bold")
    ax.set(ylim=(0, None), facecolor=colors["paper"])
    ax.tick_params(colors=colors["soft"], length=0)
    ax.xaxis.set_major_locator(mpl.dates.WeekdayLocator(mpl.dates.MO))
    ax.xaxis.set_major_formatter(mpl.dates.DateFormatter("%d %b"))
    for side, spine in ax.spines.items():
        spine.set(visible=side == "bottom", color=colors["line"])


if __name__ == "__main__":
    main()
