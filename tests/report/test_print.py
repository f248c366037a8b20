"""Pages on paper, printed by a real browser: they show what the screen shows, and each sheet has the names of its columns."""

from __future__ import annotations

import re
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from ledgerframes.errors import UsageError
from ledgerframes.report import show_table
from ledgerframes.report.page import TEMPLATES
from ledgerframes.report.pdf import find_chromium, print_pdf

ROWS = 80
SCRIPT = (TEMPLATES / "page.js").read_text(encoding="utf-8")
STYLE = (TEMPLATES / "report.css").read_text(encoding="utf-8")
OPEN = "document.querySelector('.rest').open = true"  # without the script
CLICK = f"{SCRIPT}; document.querySelector('.tools button').click()"


@pytest.fixture(scope="module")
def chromium() -> str:
    try:
        return find_chromium()
    except UsageError:
        pytest.skip("Chromium is not installed")


def table_page(directory: Path, script: str) -> Path:
    """A page with 80 of 168 rows, of which 15 are visible at first."""
    frame = pd.DataFrame({"party": ["x"] * ROWS, "requests": range(ROWS)})
    table = replace(show_table("t", frame, max_rows=15), row_count=168, has_rest=True)
    page = directory / "page.html"
    box = f'<div class="table">{table._repr_html_()}</div>'
    page.write_text(f"<!doctype html><style>{STYLE}</style><main>{box}</main><script>{script}</script>", encoding="utf-8")
    return page


def glyph_counts(page: Path) -> list[int]:
    """The number of glyphs on each sheet of a printed page."""
    pdf = print_pdf(page).read_bytes()
    streams = [zlib.decompressobj().decompress(each) for each in re.findall(rb"stream\r?\n(x.*?)endstream", pdf, re.DOTALL)]
    texts = [b"".join(re.findall(rb"<([0-9A-Fa-f]+)>(?=[^\[\]<>]*(?:T[jJ]|[\]<]))", each)) for each in streams if b"BT" in each]
    return [len(text) // 4 for text in texts]


def shown(chromium: str, page: Path) -> str:
    """The number of visible rows, and the note below them."""
    measure = (
        "<script>const rows = [...document.querySelectorAll('tbody tr')].filter(row => row.offsetHeight);"
        "document.title = `${rows.length}: ${document.querySelector('.note').innerText}`;</script>"
    )
    page.write_text(page.read_text(encoding="utf-8") + measure, encoding="utf-8")
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent / 'profile'}", "--dump-dom"]
    document = subprocess.run([*words, page.as_uri()], capture_output=True, text=True, timeout=120, check=True).stdout
    return re.findall("<title>(.*?)</title>", document)[0]


def test_each_sheet_has_the_names_of_its_columns(chromium: str, tmp_path: Path) -> None:
    plain = glyph_counts(table_page(tmp_path, OPEN))
    assert len(plain) > 1
    assert glyph_counts(table_page(tmp_path, CLICK)) == plain, "the script adds and hides nothing on paper"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", "15: 15 of 168 rows"),
        (OPEN, "80: 80 of 168 rows"),
        (SCRIPT, "15: 15 of 168 rows"),
        (f"{SCRIPT}; dispatchEvent(new Event('beforeprint'));", "15: 15 of 168 rows"),
        (CLICK, "80: 80 of 168 rows"),
        (
            f"{SCRIPT}; const box = document.querySelector('input'); box.value = '79'; box.dispatchEvent(new Event('input'));",
            "1: 1 of 168 rows",
        ),
    ],
    ids=["plain", "plain and open", "script", "script on paper", "script and open", "filter"],
)
def test_the_note_counts_the_visible_rows(chromium: str, tmp_path: Path, script: str, expected: str) -> None:
    assert shown(chromium, table_page(tmp_path, script)) == expected
