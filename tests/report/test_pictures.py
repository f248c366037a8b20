"""Plots of a report: sharp, legible on a phone, and in the reader's light or dark colors."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

import ledgerframes as lf
from ledgerframes.plots._canvas import STYLE
from ledgerframes.plots._time_axis import time_axis
from ledgerframes.report.picture_html import figure_caption
from ledgerframes.report.pictures import (
    COLORS,
    INKS,
    MAX_LABEL,
    NARROW_SVG,
    NO_METADATA,
    SVG,
    SVG_SETTINGS,
    draw_pictures,
    laid_out,
)
from ledgerframes.texts.short_names import display_width

from .conftest import EVIL

POINTS_PER_INCH = 72


@pytest.fixture(scope="module")
def spend() -> pd.DataFrame:
    frames = lf.load_events(lf.connect("sandbox", events=400, days=1), during="2026-11-08")
    return lf.cost.spend(frames, by="participant")


Drawn = tuple[dict[str, str], dict[str, str]]  # pictures with their texts


@pytest.fixture(scope="module")
def drawn(spend: pd.DataFrame) -> Drawn:
    return draw_pictures(lf.plot(spend).figure)


@pytest.fixture
def pictures(drawn: Drawn) -> dict[str, str]:
    return drawn[0]


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def width(svg: str) -> float:
    return float(re.search(r'<svg [^>]*width="([0-9.]+)pt"', svg)[1])  # type: ignore[index]


def test_one_picture_is_for_a_phone(pictures: dict[str, str]) -> None:
    assert width(pictures[SVG]) * 96 / POINTS_PER_INCH == pytest.approx(1120), "the column of a page"
    assert width(pictures[NARROW_SVG]) * 96 / POINTS_PER_INCH < 400  # pixels


def test_text_is_text_and_fits_a_phone(pictures: dict[str, str]) -> None:
    assert "Traffic cost (kB)" in texts(pictures[SVG]) + texts(pictures[NARROW_SVG])
    assert max(len(text) for text in texts(pictures[SVG])) > MAX_LABEL
    labels = [text for text in texts(pictures[NARROW_SVG]) if "validator" in text]
    assert labels and all(len(label) <= MAX_LABEL for label in labels)


def test_the_label_of_an_axis_is_inside_a_narrow_picture() -> None:
    with rc_context(fname=STYLE):
        figure, ax = plt.subplots(layout="constrained")
        ax.barh(["MEADOW.SETTLEMENT_ALLOCATE", "MEADOW.SETTLEMENT_BATCH"], [1, 2])
        ax.set_xlabel("Change of the median traffic cost (kB)")
    draw_pictures(figure)
    figure.draw_without_rendering()
    label = ax.xaxis.label.get_window_extent()
    assert label.x0 >= 0 and label.x1 <= figure.bbox.width
    plt.close(figure)


def test_rows_of_a_narrow_picture_have_room_for_all_lines_and_differ(spend: pd.DataFrame) -> None:
    uids = [f"a-name-that-is-cut-in-its-middle-{number % 3}-of-them::1220{'ab' * 32}" for number in range(len(spend))]
    frame = lf.economy.purchases(lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01"), every=None)
    rows = frame.loc[frame.index.repeat(15)].head(12).reset_index(drop=True)
    members = pd.Series([f"PAR::{uid}-{row}" for row, uid in enumerate(uids[:12])], dtype="str")
    ax = lf.plot(rows.assign(buyer=pd.Series(uids[:12], dtype="str"), member_id=members), picture="economy.purchases")
    draw_pictures(ax.figure)
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]
    labels = ax.get_yticklabels()
    names = [label.get_text() for label in labels]
    assert max(name.count("\n") for name in names) == 3 and len(set(names)) == len(names)
    boxes = [label.get_window_extent() for label in labels]
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))


@pytest.mark.parametrize("name", ["مرحبا بالعالم", "בנק ישראל"])
def test_a_fingerprint_is_to_the_right_of_a_name_from_right_to_left(spend: pd.DataFrame, name: str) -> None:
    frame = spend.assign(submitting_participant_uid=f"{name}::1220{'ab' * 32}").head(1)
    svg = draw_pictures(lf.plot(frame).figure)[0][SVG]
    assert f"{name}\N{LEFT-TO-RIGHT MARK}::1220ab…abab" in texts(svg)
    assert f"{name}&lrm;::1220ab…abab" in figure_caption(f"Coin of {name}::1220ab…abab", "")


def test_wide_letters_count_twice_in_labels(spend: pd.DataFrame) -> None:
    frame = spend.assign(submitting_participant_uid=f"{'銀行' * 9}::1220{'ab' * 32}").head(1)
    (label,) = [text for text in texts(draw_pictures(lf.plot(frame).figure)[0][SVG]) if "::" in text]
    assert display_width(label) <= 38


@pytest.mark.parametrize("label", ["Record time (UTC)", "Time of the observation (UTC)"])
def test_the_label_of_times_is_below_the_date_of_a_narrow_picture(label: str) -> None:
    figure, ax = plt.subplots(layout="constrained")
    ax.plot(pd.date_range("2026-11-08", periods=24, freq="h"), range(24))
    time_axis(ax.xaxis, label)
    draw_pictures(figure)
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    below, date = (text.get_window_extent(renderer) for text in (ax.xaxis.label, ax.xaxis.get_offset_text()))
    assert ax.xaxis.get_offset_text().get_text() and below.y1 <= date.y0 and below.y0 >= 0
    plt.close(figure)


@pytest.mark.parametrize("changes", [(5.3, 1.0, 0.1), (-2.0, -3.0, 0.3), (-5.0, -0.1, -4.9)])
def test_texts_at_bars_are_inside_a_narrow_picture(changes: tuple[float, ...]) -> None:
    with rc_context(fname=STYLE):
        figure, ax = plt.subplots(layout="constrained")
        bars = ax.barh([f"brightwater-exchange-{number}::1220ab…abab" for number in range(3)], changes)
        ax.bar_label(bars, labels=["4.8 weighted MB (22.2 %)"] * 3, padding=4, fontsize=8)
    draw_pictures(figure)
    figure.draw_without_rendering()
    for text in ax.texts:
        box = text.get_window_extent()
        assert ax.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.width
    plt.close(figure)


def test_inks_follow_the_page_and_data_do_not(pictures: dict[str, str]) -> None:
    for svg in pictures.values():
        style, _, drawing = svg.partition("</style>")
        assert "prefers-color-scheme:dark" in style
        assert not [ink for ink in INKS if ink in drawing]
        assert "var(--text)" in drawing and "var(--axis)" in drawing
        assert "#4f86b0" in drawing  # the first color of data


def test_the_background_is_the_page(pictures: dict[str, str]) -> None:
    for svg in pictures.values():
        backgrounds = re.findall(r'<g id="patch_[12]">\s*<path [^>]*style="([^"]*)"', svg)  # of the figure and of the axes
        assert len(backgrounds) == 2 and all("fill: none" in style or "opacity: 0" in style for style in backgrounds)


def test_every_ink_of_the_style_is_known() -> None:
    style = STYLE.read_text(encoding="utf-8")
    inks = {
        f"#{ink}" for ink in re.findall(r"^(?:axes|text|[xy]tick|grid|legend)\.\w*color: ([0-9a-f]{6})$", style, re.MULTILINE)
    }
    assert inks == set(INKS)


def luminance(color: str) -> float:
    """The relative luminance of a color, as WCAG defines it."""
    values = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in values]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_every_color_of_data_is_visible_on_a_dark_page() -> None:
    cycle = re.search(r"^axes.prop_cycle: .*\[(.*)\]", STYLE.read_text(encoding="utf-8"), re.MULTILINE)
    assert cycle
    page = luminance(INKS["#ffffff"][1])
    for color in [f"#{name}" for name in re.findall(r"[0-9a-f]{6}", cycle[1])]:
        _, dark = COLORS.get(color, ("", color))
        assert (luminance(dark) + 0.05) / (page + 0.05) >= 3, f"{color} as {dark}"


def test_the_page_shows_the_title_as_text(drawn: Drawn) -> None:
    data, metadata = drawn
    assert metadata["title"] == "Traffic cost by submitting participant"
    assert metadata["note"].startswith("Cost known for ")
    assert metadata["alt"].startswith(metadata["title"])
    assert metadata["title"] not in texts(data[SVG])


def test_the_page_breaks_the_lines_of_title_and_note() -> None:
    _, ax = plt.subplots()
    ax.set_title("Cost by\nparticipant", loc="left")
    ax.annotate("Of some\nrequests", (0, 1), xycoords="axes fraction")
    _, texts_of_page = draw_pictures(ax.figure)
    assert (texts_of_page["title"], texts_of_page["note"]) == ("Cost by participant", "Of some requests.")


def test_equal_plots_are_equal_files(spend: pd.DataFrame, drawn: Drawn) -> None:
    assert draw_pictures(lf.plot(spend).figure) == drawn


def test_a_figure_is_drawn_and_laid_out_once_for_each_page(spend: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = lf.plot(spend).figure
    draws: list[object] = []
    draw = type(figure).draw
    monkeypatch.setattr(type(figure), "draw", lambda self, renderer: (draws.append(renderer), draw(self, renderer)))
    draw_pictures(figure)
    assert len(draws) == 2


def plot_of_bars(spend: pd.DataFrame) -> Figure:
    return lf.plot(spend).figure


def plot_of_cells(_: pd.DataFrame) -> Figure:
    """A picture with a legend, and with pixels, whose number depends on the resolution."""
    figure, ax = plt.subplots(layout="constrained")
    ax.imshow([[1, 2], [3, 4]])
    ax.plot([0, 1], [0, 1], label="line")
    figure.legend(loc="outside lower left")
    return figure


def saved_svg(figure: Figure) -> str:
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=dict.fromkeys(NO_METADATA))
    return file.getvalue()


@pytest.mark.parametrize("draw", [plot_of_bars, plot_of_cells])
def test_one_drawing_is_as_matplotlib_saves_a_figure(draw: Callable[[pd.DataFrame], Figure], spend: pd.DataFrame) -> None:
    ours, theirs = draw(spend), draw(spend)
    layout, dpi, canvas = ours.get_layout_engine(), ours.dpi, ours.canvas
    with rc_context(SVG_SETTINGS), laid_out(ours):
        saved = [saved_svg(ours)]
    assert (ours.get_layout_engine(), ours.dpi, ours.canvas) == (layout, dpi, canvas)
    with rc_context(SVG_SETTINGS):
        saved.append(saved_svg(theirs))
    assert saved[0] == saved[1]


def test_the_search_for_fonts_is_that_of_matplotlib_again(spend: pd.DataFrame) -> None:
    draw_pictures(lf.plot(spend).figure)
    assert vars(fontManager).keys().isdisjoint({"findfont", "_find_fonts_by_props"})


def test_a_hostile_label_is_text() -> None:
    _, ax = plt.subplots()
    ax.barh([0], [1])
    ax.set_yticks([0], labels=[EVIL])
    (wide, narrow) = draw_pictures(ax.figure)[0].values()
    assert EVIL in texts(wide)
    assert "<script" not in wide + narrow


def test_plots_without_axes_are_pictures_too() -> None:
    data, metadata = draw_pictures(plt.figure())
    assert set(data) == {SVG, NARROW_SVG} and metadata["title"] == ""


def test_an_empty_plot_is_its_title_and_a_sentence(spend: pd.DataFrame) -> None:
    data, metadata = draw_pictures(lf.plot(spend.head(0)).figure)
    (html,) = data.values()
    assert set(data) == {"text/html"} and metadata == {}
    assert re.fullmatch(r'<p class="note"><strong>Traffic cost by submitting participant\.</strong> No [^<]+\.</p>', html)


def test_short_labels_stay_different() -> None:
    names = [f"Splice.DsoRules:DsoRules.DsoRules_{name}Action (few)" for name in ("Confirm", "ExecuteConfirmed", "Execute")]
    _, ax = plt.subplots()
    ax.barh(range(3), [3, 2, 1])
    ax.set_yticks(range(3), labels=names)
    lines = [text for text in texts(draw_pictures(ax.figure)[0][NARROW_SVG]) if text.endswith(("Action", "(few)"))]
    assert lines.count("(few)") == 3 and len(set(lines)) == 4 and max(map(len, lines)) <= MAX_LABEL


def test_what_stands_in_brackets_after_a_name_is_whole_on_a_phone() -> None:
    _, ax = plt.subplots()
    ax.barh(range(3), [3, 2, 1])
    names = [
        "mulberry-notes::1220e1…3190  (× 0.57 to 3)",
        "not visible (rejected or private)",
        "0: no views (mediator or root hash)",
    ]
    ax.set_yticks(range(3), labels=names)
    lines = texts(draw_pictures(ax.figure)[0][NARROW_SVG])
    assert {"(× 0.57 to 3)", "1220e1…3190", "(rejected or private)", "not visible", "(mediator or root hash)"} <= set(lines)


def test_a_plot_of_ones_own_has_its_legend_below_and_no_numbers_in_cells_on_a_phone() -> None:
    figure, (ax, image) = plt.subplots(2, constrained_layout=True)
    ax.plot([1, 2], label="cost of a day")
    ax.legend()
    image.imshow([[1, 2], [3, 4]])
    image.text(0, 0, "cell 1")
    pictures, _ = draw_pictures(figure)
    wide, narrow = pictures[SVG], pictures[NARROW_SVG]
    assert ("cell 1" in wide, "cell 1" in narrow) == (True, False)
    assert "cost of a day" in narrow
