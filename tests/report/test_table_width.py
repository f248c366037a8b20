"""Tables of a page in a real browser: no digit is behind an edge where there is room to break texts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from browser import needs_browser, picture_of
from cases import every_nth

from ledgerframes.errors import UsageError
from ledgerframes.report import show_table
from ledgerframes.report.page import TEMPLATES
from ledgerframes.report.pdf import find_chromium

MEASURE = (
    "addEventListener('load', () => {document.title = [...document.querySelectorAll('.table')]"
    ".map(table => table.scrollWidth - table.clientWidth).join(' ')})"
)
LONG = "SubscriptionIdleStateWithOneMoreWord_MakePayment"


PARTS = (
    "addEventListener('load', () => {const range = document.createRange(); const counts = [];"
    "const texts = document.createNodeIterator(document.querySelector('tbody'), NodeFilter.SHOW_TEXT);"
    "while (texts.nextNode()) {range.selectNode(texts.referenceNode); counts.push(range.getClientRects().length)}"
    "document.title = String(Math.max(...counts))})"
)


@pytest.mark.parametrize(
    ("font", "width"), every_nth([("monospace", 900), ("sans-serif", 900), ("DejaVu Sans", 900), ("DejaVu Sans", 1280)], 4)
)
def test_wide_tables_fit_without_a_scroll_bar(tmp_path: Path, font: str, width: int) -> None:
    texts = {name: [LONG] for name in ("kind", "template_name", "choice", "outcome")}
    table = pd.DataFrame({**texts, "requests": [123_456], "change": [805_456]})
    assert measured(tmp_path, table, MEASURE, width, f"body {{ font-family: '{font}' }}") == "0"


def test_no_word_of_a_name_breaks(tmp_path: Path) -> None:
    names = [
        "TransferOffer_Accept",
        "WalletAppInstall_CreateTransferOffer",
        "SubscriptionIdleState_MakePayment",
        "CoinRules_DevNet_Tap",
    ]
    texts = dict.fromkeys(("kind", "template_name", "choice", "judgment"), names)
    numbers = {f"number_{count}": [123_456] * len(names) for count in range(10)}
    assert measured(tmp_path, pd.DataFrame({**texts, **numbers}), PARTS, 1280) == "1"


# The width of the narrowest cell of a class, and the most lines of one.
CELLS = (
    "addEventListener('load', () => {const cells = [...document.querySelectorAll('td.CLASS')];"
    "const widths = cells.map(cell => cell.clientWidth);"
    "const lines = cells.map(cell => Math.round(cell.clientHeight / parseFloat(getComputedStyle(cell).lineHeight)));"
    "document.title = `${Math.min(...widths)} ${Math.max(...lines)}`})"
)


def test_a_sentence_is_readable_on_a_phone(tmp_path: Path) -> None:
    sentence = "Wednesday 2026-11-04: 28.3 % of the decided requests were rejected, usually 11.1 % to 15.7 %."
    table = pd.DataFrame({"subject": ["day"], "what": ["rejection rate"], "effect_bytes": [918_933], "sentence": [sentence]})
    width, lines = map(int, measured(tmp_path, table, CELLS.replace("CLASS", "sentence"), 500).split())
    assert width >= 220 and lines <= 6


def test_a_party_has_two_lines_on_a_phone(tmp_path: Path) -> None:
    party = "alder-validator-1::1220" + "ab" * 32
    table = pd.DataFrame({"party": [party], "top_cause": ["contention"], **{f"number_{n}": [1_234_567] for n in range(6)}})
    _, lines = map(int, measured(tmp_path, table, CELLS.replace("CLASS", "party"), 500).split())
    assert lines == 2


def test_the_button_that_copies_a_party_needs_no_line_on_a_phone(tmp_path: Path) -> None:
    frame = pd.DataFrame({"party": ["alder-validator-1::1220" + "ab" * 32], **{f"number_{n}": [1_234_567] for n in range(6)}})
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    after_script = "document.title += ` ${document.querySelector('.copy').clientHeight > 0}`"
    events = [f"addEventListener('load', () => {{ {code} }})" for code in (script, after_script)]
    title = measured(tmp_path, frame, ";".join([events[0], CELLS.replace("CLASS", "party"), events[1]]), 500)
    assert title.endswith(" 2 true")


def test_no_short_id_breaks(tmp_path: Path) -> None:
    parties = ", ".join(f"{name}::1220" + "ab" * 32 for name in ("DSO", "Halcyon-Trust"))
    html = show_table("quorums", pd.DataFrame({"parties": [parties]}))._repr_html_()
    assert 'DSO::<wbr><span class="unbroken">1220ab…abab</span>, ' in html and "…<wbr>" not in html


@needs_browser
@pytest.mark.parametrize(
    ("columns", "scroll", "is_dark", "whole_edges"),
    [
        (3, 0, False, {"left", "right"}),
        (40, 0, False, {"left"}),
        (40, 0, True, {"left"}),
        (40, 700, False, set()),
        (40, 100_000, False, {"right"}),
    ],
    ids=["fits", "start", "dark", "middle", "end"],
)
def test_digits_fade_at_an_edge_behind_which_a_table_goes_on(
    tmp_path: Path, columns: int, scroll: int, is_dark: bool, whole_edges: set[str]
) -> None:
    frame = pd.DataFrame({f"n{number}": [88_888_888] * 15 for number in range(columns)})
    page = tmp_path / "page.html"
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    page.write_text(
        '<!doctype html><meta name="color-scheme" content="light dark">'
        f"<style>{style} main {{ width: 800px }} td:first-child {{ text-align: left }} td:last-child {{ padding: 0 }}</style>"
        f'<main><div class="table">{show_table("t", frame)._repr_html_()}</div></main>'
        f"<script>document.querySelector('.table').scrollLeft = {scroll}</script>",
        encoding="utf-8",
    )
    digits = np.asarray(picture_of(tmp_path, page, is_dark=is_dark), dtype=int)[120:400]
    contrast = np.abs(digits - digits[0, 0]).max(axis=0)
    edges = {"left": contrast[:24].max(), "right": contrast[-24:].max()}
    assert {edge for edge, ink in edges.items() if ink > 0.8 * contrast.max()} == whole_edges, edges


def measured(tmp_path: Path, frame: pd.DataFrame, script: str, width: int, more_style: str = "") -> str:
    """The title that a script gives to a page with a table."""
    try:
        chromium = find_chromium()
    except UsageError:
        pytest.skip("Chromium is not installed")
    table = show_table("t", frame)._repr_html_()
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8") + more_style
    path = tmp_path / "page.html"
    path.write_text(
        f"<!doctype html><style>{style}</style><script>{script}</script><main><div class=table>{table}</div></main>",
        encoding="utf-8",
    )
    words = [
        chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}",
        f"--window-size={width},800", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    document = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout
    found = re.search("<title>(.*?)</title>", document)
    return found[1] if found else ""
