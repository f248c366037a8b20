"""The style of the site in a real browser: what a page shows on a phone, and in dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import needs_browser, opened

STATIC = Path(__file__).parents[2] / "docs" / "_static"
NOTE = "no result by hand within 120 s and the memory"
BODY = f"""<article>
<p><img width="300" height="300"><img width="900" height="300"></p>
<div class="table-wrapper"><table class="docutils"><tr><td><code>{"figure_" * 20}</code></td><td class="text-right">1</td>
<td>{NOTE}</td></tr></table></div>
<div class="highlight"><pre>{"x" * 100} <span class="nn">lf</span></pre></div><div class="highlight"><pre>fits</pre></div>
</article>"""
THEME = """:root { --color-background-primary: #fff; }
body:not([data-theme='light']) .highlight .nn { text-decoration: underline; }"""  # as in its dark style
PENDING = """const pending = document.body.appendChild(document.createElement('iframe')).contentDocument;
pending.open();"""  # Chromium writes a page when it has loaded, drawn or not: a document without an end keeps it loading
MEASURES = {
    "small": "document.querySelectorAll('img')[0].offsetWidth",
    "large": "document.querySelectorAll('img')[1].offsetWidth",
    "em": "parseFloat(getComputedStyle(document.querySelector('p')).fontSize)",
    "note": "document.querySelector('td:last-child').offsetHeight",
    "line": "getComputedStyle(document.querySelector('.nn')).textDecorationLine",
    "hidden": "(() => { const box = document.querySelector('p'); return box.scrollWidth > box.clientWidth; })()",
    "shadow": "getComputedStyle(document.querySelector('p')).backgroundImage.includes('gradient')",
    "code": "getComputedStyle(document.querySelectorAll('pre')[0]).boxShadow",
    "short": "getComputedStyle(document.querySelectorAll('pre')[1]).boxShadow",
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a browser measures on a page that is as narrow as its window can be."""
    directory = tmp_path_factory.mktemp("style")
    style = "".join((STATIC / f"{name}.css").read_text(encoding="utf-8") for name in ("site", "code"))
    script = f"document.title = [{', '.join(MEASURES.values())}].join('|'); pending.close();"
    frames = f"requestAnimationFrame(() => requestAnimationFrame(() => {{ {script} }}));"  # the first one starts the animations
    page = directory / "page.html"
    head = f"<style>pre {{ overflow-x: auto; }}{THEME}{style}</style><title></title>"
    page.write_text(f"<!doctype html>{head}{BODY}<script>{PENDING}{frames}</script>", encoding="utf-8")
    document, errors = opened(directory, page.as_uri(), 500)
    assert errors == []
    (title,) = re.findall(r"<title>(.*?)</title>", document)
    return dict(zip(MEASURES, title.split("|"), strict=True))


@needs_browser
def test_a_phone_shows_a_picture_in_its_size_or_as_wide_as_its_labels_need(measured: dict[str, str]) -> None:
    assert float(measured["small"]) == 300
    assert float(measured["large"]) == 44 * float(measured["em"])


@needs_browser
def test_a_shadow_says_that_a_picture_goes_on(measured: dict[str, str]) -> None:
    assert (measured["hidden"], measured["shadow"]) == ("true", "true")


@needs_browser
def test_a_note_at_the_end_of_a_row_keeps_the_row_low(measured: dict[str, str]) -> None:
    assert float(measured["note"]) < 5 * float(measured["em"])


@needs_browser
def test_a_name_in_code_does_not_look_like_a_link(measured: dict[str, str]) -> None:
    assert measured["line"] == "none"


@needs_browser
def test_a_shadow_says_that_a_line_of_code_goes_on(measured: dict[str, str]) -> None:
    assert "inset" in measured["code"]
    assert measured["short"] == "none"
