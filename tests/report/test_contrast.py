"""Texts and marks of a page stand out from its paper, in both themes and in print."""

from __future__ import annotations

import re

import pytest

from ledgerframes.plots._canvas import STYLE as STYLE_FILE
from ledgerframes.report.page import TEMPLATES
from ledgerframes.report.pictures import COLORS, DARK_DATA, DARK_STYLE, INKS, LIGHT_STYLE

STYLE = (TEMPLATES / "report.css").read_text(encoding="utf-8")
THEMES = ("light", "dark", "print")
TEXTS = ("ink", "soft", "accent")
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


def test_data_of_pictures_can_be_seen_on_both_papers() -> None:
    cycle = re.findall(r'cycler\("color", \[(.*?)\]\)', STYLE_FILE.read_text(encoding="utf-8"))[0]
    for color in (f"#{each}" for each in re.findall(r"[0-9a-f]{6}", cycle)):
        assert contrast(color, "#ffffff") >= 3, color
        assert contrast(DARK_DATA.get(color, ("", color))[1], INKS["#ffffff"][1]) >= 3, color
