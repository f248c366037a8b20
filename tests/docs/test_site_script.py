"""The script of the site in a real browser: its buttons copy what is typed, and say so."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from browser import needs_browser, opened
from cases import every_nth

STATIC = Path(__file__).parents[2] / "docs" / "_static"
OPTIONS = "const DOCUMENTATION_OPTIONS = {SHOW_SEARCH_SUMMARY: true};"  # as Sphinx declares them
SESSION = """\
>>> frames = lf.load_events(
...     net,
...
... )
>>> frames.traffic
0    5721
...   ...
9    4295
"""
SHELL = """\
$ ledgerframes sync events \\
    --dry-run
> --quiet
Would fetch 1 window.
$ ledgerframes doctor
"""
PLAIN = "cost = spend['$']\nprint(cost)  # ...\n"
CLIPBOARD = "navigator.clipboard.writeText = async (text) => { document.title = JSON.stringify(text); };"
NO_CLIPBOARD = """
Object.defineProperty(navigator, "clipboard", {value: undefined});
document.execCommand = () => { document.title = JSON.stringify(document.activeElement.value); return ANSWER; };
"""
CLICK = "const button = document.querySelector('.copy'); button.focus(); button.click();"
# The confirmation is gone before Chromium writes the page.
KEEP = "window.setTimeout = () => {};"


def clicked(tmp_path: Path, code: str, clipboard: str = CLIPBOARD) -> tuple[str, str]:
    """Return what the button of a block of code copies, and the block after a click."""
    page = tmp_path / "page.html"
    style, script = ((STATIC / f"site.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><title>""</title><style>{style}</style><article><div class="highlight"><pre>'
        f"{html.escape(code)}</pre></div></article><script>{OPTIONS}{KEEP}{clipboard}</script><script>{script}</script>"
        f"<script>{CLICK}</script>",
        encoding="utf-8",
    )
    document, errors = opened(tmp_path, page.as_uri())
    assert errors == []
    copied, block = re.findall(r"<title>(.*?)</title>.*(<article>.*?</article>)", document, re.DOTALL)[0]
    return html.unescape(copied), block


@needs_browser
@pytest.mark.parametrize(
    ("code", "copied"),
    every_nth(
        [
            (SESSION, r'"frames = lf.load_events(\n    net,\n\n)\nframes.traffic"'),
            (SHELL, r'"ledgerframes sync events \\\n    --dry-run\n--quiet\nledgerframes doctor"'),
            (PLAIN, r'''"cost = spend['$']\nprint(cost)  # ..."'''),
        ],
        3,
    ),
)
def test_a_button_copies_what_is_typed(tmp_path: Path, code: str, copied: str) -> None:
    assert clicked(tmp_path, code)[0] == copied


@needs_browser
def test_a_button_has_a_name_and_says_that_it_copied(tmp_path: Path) -> None:
    _, block = clicked(tmp_path, SESSION)
    assert re.search(r'<button type="button" class="copy" aria-label="Copy the code: frames = [^"]+">Copied</button>', block)
    assert '<div class="copy-status" role="status">Copied</div>' in block


@needs_browser
@pytest.mark.parametrize(("answer", "said"), [("true", "Copied"), ("false", "Not copied")])
def test_a_browser_without_a_clipboard_copies_a_selection(tmp_path: Path, answer: str, said: str) -> None:
    copied, block = clicked(tmp_path, PLAIN, NO_CLIPBOARD.replace("ANSWER", answer))
    assert copied == r'''"cost = spend['$']\nprint(cost)  # ..."'''
    assert f">{said}</button>" in block and "<textarea" not in block


@needs_browser
def test_short_names_do_not_break_at_their_hyphens(tmp_path: Path) -> None:
    page, script = tmp_path / "page.html", (STATIC / "site.js").read_text(encoding="utf-8")
    codes = "".join(f'<code class="literal">{text}</code>' for text in ("--dry-run", "a-name-of-more-than-24-characters"))
    page.write_text(f"<!doctype html><article>{codes}</article><script>{script}</script>", encoding="utf-8")
    document, _ = opened(tmp_path, page.as_uri())
    assert '<code class="literal short">--dry-run</code>' in document
    assert 'class="literal">a-name-of-more-than-24-characters' in document
