"""Texts and marks of a page stand out from its paper, in both themes and in print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from cases import every_nth
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.patches import Patch
from matplotlib.text import Text

import ledgerframes as lf
from ledgerframes.plots import _activity, _coverage, _reconcile, _rewards, _state, _transfers
from ledgerframes.plots import _canvas as c
from ledgerframes.plots._canvas import STYLE as STYLE_FILE
from ledgerframes.report.page import TEMPLATES
from ledgerframes.report.pictures import COLORS, DARK_DATA, DARK_NAMES, DARK_STYLE, INKS, LIGHT_STYLE

STYLE = (TEMPLATES / "report.css").read_text(encoding="utf-8")
THEMES = ("light", "dark", "print")
TEXTS = ("ink", "soft", "accent")
PAPERS = ("#ffffff", INKS["#ffffff"][1])  # of pictures on a light and on a dark page
MARKS = ("accent", "final", "provisional", "missing", "earlier", "outside")


def themes() -> dict[str, dict[str, str]]:
    """The colors of each theme by name."""
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    return {name: dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block)) for name, block in zip(THEMES, blocks, strict=True)}


def contrast(first: str, second: str) -> float:
    """The ratio of two colors by WCAG 2.2."""
    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_ratio_is_that_of_the_standard() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_texts_can_be_read(theme: str) -> None:
    colors = themes()[theme]
    for name in TEXTS:
        assert contrast(colors[name], colors["paper"]) >= 4.5, name
    assert contrast(colors["soft"], colors["shade"]) >= 4.5, "a change that is not clear"
    assert contrast(colors["paper"], colors["accent"]) >= 4.5, "a change that is"


@pytest.mark.parametrize("theme", THEMES)
def test_marks_can_be_seen(theme: str) -> None:
    colors = themes()[theme]
    for name in MARKS:
        assert contrast(colors[name], colors["paper"]) >= 3, name


@pytest.mark.parametrize("style", [LIGHT_STYLE, DARK_STYLE])
def test_texts_and_axes_of_pictures_can_be_read(style: str) -> None:
    colors = dict(re.findall(r"--(\w+):(#[0-9a-f]{6});", style))
    assert colors.keys() == {name for name, _ in COLORS.values()}
    assert min(contrast(colors[name], colors["paper"]) for name in ("title", "text")) >= 4.5
    assert contrast(colors["axis"], colors["paper"]) >= 3


@pytest.mark.parametrize(("ink", "paper"), [("#000000", "#ffffff"), ("#cccccc", "#1f1f1f"), ("#e0e0e0", "#111111")])
def test_names_beside_series_can_be_read_in_notebooks(ink: str, paper: str) -> None:
    style = (TEMPLATES / "answer.css").read_text(encoding="utf-8")
    assert {name for name, _ in COLORS.values()} <= set(re.findall(r"--(\w+):", style)), "an unknown color is black"
    mixes = re.findall(r"--(\w+_text): color-mix\(in srgb, (#\w+) (\d+)%, currentColor\)", style)
    assert {name for name, *_ in mixes} == {name for name, _ in DARK_NAMES.values()}
    for name, color, percent in mixes:
        share = int(percent) / 100
        mixed = share * np.array(to_rgb(color)) + (1 - share) * np.array(to_rgb(ink))
        assert contrast(to_hex(mixed), paper) >= 4.5, name


def test_data_of_pictures_can_be_seen_on_both_papers() -> None:
    cycle = re.findall(r'cycler\("color", \[(.*?)\]\)', STYLE_FILE.read_text(encoding="utf-8"))[0]
    for color in (f"#{each}" for each in re.findall(r"[0-9a-f]{6}", cycle)):
        assert contrast(color, "#ffffff") >= 3, color
        assert contrast(DARK_DATA.get(color, ("", color))[1], INKS["#ffffff"][1]) >= 3, color


ALL_AREAS = _activity.MAX_AREAS + 1  # with that of all other parties


@pytest.fixture(scope="module")
def areas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Axes]]:
    """Pictures of areas, with as many of them as a picture has."""
    net = lf.connect("sandbox", events=1000, days=3, store=tmp_path_factory.mktemp("store"))
    frames = lf.load_events(net, since="2026-11-06", until="2026-11-09")
    results = {
        "shares": lf.activity.weights(frames, by="party", every="6h"),
        "costs of groups": lf.cost.spend(frames, by="participant", every="6h"),
        "costs": lf.cost.spend(frames, every="6h"),
    }
    yield {name: lf.plot(result) for name, result in results.items()}
    plt.close("all")


def as_drawn(mark: tuple[float, float, float, float], paper: str) -> str:
    """A color of a mark on a paper, which shows through as far as the mark is transparent."""
    opaque = to_hex(mark[:3])
    if paper != PAPERS[0]:
        opaque = COLORS.get(opaque, ("", opaque))[1]
    return to_hex(mark[3] * np.array(to_rgb(opaque)) + (1 - mark[3]) * np.array(to_rgb(paper)))


def visible_parts(mark: Patch, paper: str) -> list[str]:
    """The colors of the area and of the edge of a mark, as far as it has them."""
    face, edge = mark.get_facecolor(), mark.get_edgecolor()
    return [as_drawn(face, paper)] * mark.get_fill() + [as_drawn(edge, paper)] * (mark.get_linewidth() >= 0.8)


@pytest.mark.parametrize("paper", PAPERS)
def test_colors_are_measured_as_they_are_drawn(paper: str) -> None:
    strong, faint = Patch(facecolor="#4f86b0"), Patch(facecolor=("#4f86b0", 0.3))
    assert visible_parts(strong, paper)[0] == "#4f86b0"
    assert contrast(visible_parts(faint, paper)[0], paper) < 2


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", ["shares", "costs of groups", "costs"])
def test_areas_can_be_seen_as_they_are_drawn(areas: dict[str, Axes], name: str, paper: str) -> None:
    ax = areas[name]
    marks = [each for each in ax.patches if each.get_label() in names_of(ax)]
    assert len(marks) >= {"shares": ALL_AREAS, "costs of groups": 5, "costs": 2}[name]
    for mark in marks:
        assert max(contrast(part, paper) for part in visible_parts(mark, paper)) >= 3, mark.get_label()


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", ["shares", "costs of groups", "costs"])
def test_names_beside_areas_can_be_read_in_their_color(areas: dict[str, Axes], name: str, paper: str) -> None:
    (labels,) = areas[name].artists
    texts = [each for each in labels.get_children() if isinstance(each, Text)]
    colors = [as_drawn(to_rgba(text.get_color()), paper) for text in texts]
    assert min(contrast(color, paper) for color in colors) >= 4.5
    assert len(set(colors)) >= min(len(colors), 3), "not all in one color"


@pytest.mark.parametrize("paper", PAPERS)
def test_lines_on_a_band_can_be_seen(paper: str) -> None:
    with c.style():
        usual, line = Patch(**c.band(c.color(2))), to_rgba(c.color(0))
    area, edge = visible_parts(usual, paper)
    assert contrast(as_drawn(line, paper), area) >= 3 and contrast(edge, paper) >= 3


STYLES = {
    "periods": _coverage.STATUSES,
    "offsets": _coverage.RANGES,
    "digests": _coverage.DIGESTS,
    "rewards": _rewards.STATUSES,
    "outcomes": _reconcile.OUTCOMES,
    "transfers": _transfers.STYLES,
    "lifetimes": _state.LIFETIMES,
}


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("styles", STYLES.values(), ids=STYLES)
def test_cells_of_each_outcome_can_be_seen(styles: Mapping[str, Mapping[str, Any]], paper: str) -> None:
    for name, style in styles.items():
        cell = Patch(**{"linewidth": 0, **style})
        assert max(contrast(part, paper) for part in visible_parts(cell, paper)) >= 3, name


@pytest.mark.parametrize("paper", PAPERS)
def test_bars_of_contracts_can_be_seen_by_their_area(paper: str) -> None:
    net = lf.connect("sandbox", events=400, days=1)
    history, snapshot = lf.load_events(net, since="0001-01-01"), lf.load_bulk(net, kind="acs", at="2026-11-09")
    contracts = lf.reconcile.contracts(history, snapshot).assign(only_replay=3, only_snapshot=2, different=1)
    ax = lf.plot(contracts)
    areas = {each.get_label(): as_drawn(each.patches[0].get_facecolor(), paper) for each in ax.containers}
    assert len(areas) == 4
    assert {name: area for name, area in areas.items() if contrast(area, paper) < 3} == {}
    plt.close("all")


@pytest.mark.parametrize("paper", every_nth(PAPERS, 2))
def test_cells_can_be_seen_as_they_are_drawn(paper: str) -> None:
    net = lf.connect("sandbox", events=1000, days=3)
    frames = lf.load_events(net, since="2026-11-06", until="2026-11-09")
    history = lf.load_events(net, since="0001-01-01")
    for result in (lf.reconcile.coverage(frames, every="6h"), lf.state.featured(history), lf.state.super_validators(history)):
        ax = lf.plot(result)
        strips = [each for each in ax.collections if isinstance(each, PolyCollection)]
        assert strips
        for strip in strips:
            cell = Patch(
                facecolor=strip.get_facecolor()[0], edgecolor=strip.get_edgecolor()[0], linewidth=strip.get_linewidth()[0]
            )
            assert max(contrast(part, paper) for part in visible_parts(cell, paper)) >= 3
    plt.close("all")


def test_areas_of_one_color_differ_in_their_pattern(areas: dict[str, Axes]) -> None:
    styles = [(to_hex(each.get_facecolor()), each.get_hatch() or "") for each in areas["shares"].patches]
    assert len(set(styles)) == len(styles) == ALL_AREAS


def names_of(ax: Axes) -> list[str]:
    return [str(name) for name in ax.get_legend_handles_labels()[1]]
