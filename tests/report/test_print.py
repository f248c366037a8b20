"""Pages on paper, printed by a real browser: they show what the screen shows, and each sheet has the names of its columns."""

from __future__ import annotations

import re
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from cases import every_nth

from ledgerframes.errors import UsageError
from ledgerframes.report import show_table
from ledgerframes.report.answers import STYLE as ANSWER_STYLE
from ledgerframes.report.page import TEMPLATES, _readable
from ledgerframes.report.pdf import find_chromium, print_pdf

ROWS = 80
FINDING = "Wednesday 2026-11-04: 28.3 % of the decided requests were rejected, usual are 11.1 % to 15.7 %. That is 919 kB more. "
SCRIPT = (TEMPLATES / "page.js").read_text(encoding="utf-8")
STYLE = (TEMPLATES / "report.css").read_text(encoding="utf-8")
OPEN = "document.querySelector('.rest').open = true"  # without the script
CLICK = f"{SCRIPT}; document.querySelector('.tools button').click()"
FILTER = f"{SCRIPT}; const box = document.querySelector('input'); box.value = '79'; box.dispatchEvent(new Event('input'));"


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


def measured(chromium: str, page: Path, expression: str, width: int = 1280) -> str:
    """The value of an expression on a page."""
    script = f"<script>document.title = {expression};</script>"
    page.write_text(page.read_text(encoding="utf-8") + script, encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent / 'profile'}", "--dump-dom")
    words = [chromium, *options, f"--window-size={width},900", page.as_uri()]
    document = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout
    return re.findall("<title>(.*?)</title>", document)[0]


def attention_page(directory: Path, text: str, *counts: int) -> Path:
    """A page with lists of findings, which the screen shows as paper does."""
    lists = "".join(f'<section class="attention"><ul>{f"<li>{text}</li>" * count}</ul></section>' for count in counts)
    style = STYLE.replace("@media print", "@media all")
    page = directory / "page.html"
    page.write_text(f"<!doctype html><style>{style}</style><main>{lists}</main>")
    return page


def test_each_sheet_has_the_names_of_its_columns(chromium: str, tmp_path: Path) -> None:
    plain = glyph_counts(table_page(tmp_path, OPEN))
    assert len(plain) > 1
    assert glyph_counts(table_page(tmp_path, CLICK)) == plain, "the script adds and hides nothing on paper"


@pytest.mark.parametrize(
    ("script", "expected"),
    every_nth(
        [
            ("", "15: 15 of 168 rows"),
            (OPEN, "80: 80 of 168 rows"),
            (SCRIPT, "15: 15 of 168 rows"),
            (f"{SCRIPT}; dispatchEvent(new Event('beforeprint'));", "15: 15 of 168 rows"),
            (CLICK, "80: 80 of 168 rows"),
            (FILTER, "1: 1 of 168 rows"),
        ],
        3,
    ),
    ids=["plain", "plain and open", "script", "script on paper", "script and open", "filter"],
)
def test_the_note_counts_the_visible_rows(chromium: str, tmp_path: Path, script: str, expected: str) -> None:
    visible = "[...document.querySelectorAll('tbody tr')].filter(row => row.offsetHeight).length"
    count = f"`${{{visible}}}: ${{document.querySelector('.note').innerText}}`"
    assert measured(chromium, table_page(tmp_path, script), count) == expected


def test_a_finding_stays_in_its_column(chromium: str, tmp_path: Path) -> None:
    page = attention_page(tmp_path, FINDING, 1, 3, 4)
    parts = "[...document.querySelectorAll('.attention li')].map(item => item.getClientRects().length).join(' ')"
    boxes = "[...list.querySelectorAll('li')].map(item => item.getBoundingClientRect())"
    gaps = f"{boxes}.map((box, at, all) => box.left - all[0].left && box.left - all[0].right)"
    all_gaps = f"[...document.querySelectorAll('.attention')].map(list => {gaps}).flat().join(' ')"
    rectangles, distances = measured(chromium, page, f"{parts} + '|' + {all_gaps}", 688).split("|")
    assert rectangles == " ".join("1" * (1 + 3 + 4))
    assert all(gap == 0 or gap >= 30 for gap in map(float, distances.split())), "a bullet is not at the end of a text"


def test_a_shortened_id_has_the_size_of_its_sentence(chromium: str, tmp_path: Path) -> None:
    text = str(_readable(f"Request 1220{'ab' * 32} costs 600 kB."))
    sizes = "getComputedStyle(document.querySelector('.id span + span'), '::before').fontSize + ' ' +"
    sizes += "getComputedStyle(document.querySelector('li')).fontSize"
    first, second = measured(chromium, attention_page(tmp_path, text, 1), sizes).split()
    assert first == second


@pytest.mark.usefixtures("chromium")
def test_neither_a_head_nor_a_row_stands_alone(tmp_path: Path) -> None:
    table = show_table("t", pd.DataFrame({"party": ["x"] * 12, "requests": range(10, 22)}))._repr_html_()
    starts = range(150, 252, 3)
    boxes = "".join(
        f'<div style="break-before: page; height: {start}mm"></div><div class="table">{table}</div>' for start in starts
    )
    page = tmp_path / "page.html"
    style = f"{STYLE} @page {{ size: A4; @bottom-right {{ content: none }} }}"
    page.write_text(f"<!doctype html><style>{style}</style><main>{boxes}</main>", encoding="utf-8")
    counts = [count for count in glyph_counts(page) if count]
    whole, head, row = 57, len("partyrequests"), len("x10")
    pairs = [count for count in counts if count != whole]
    firsts, seconds = pairs[::2], pairs[1::2]
    assert {first + second for first, second in zip(firsts, seconds, strict=True)} == {whole + head}
    assert {(first - head - len("T")) / row for first in firsts} == set(range(2, 11)), "2 to 10 of 12 rows on the first sheet"


@pytest.mark.usefixtures("chromium")
def test_a_heading_stays_with_its_first_sentences(tmp_path: Path) -> None:
    parts = '<h2>head</h2><div class="prose"><p>intro</p></div><div class="table"><p class="statement">answer</p></div>'
    heights = range(210, 255, 3)
    boxes = "".join(f'<div style="break-before: page; height: {height}mm"></div><section>{parts}</section>' for height in heights)
    page = tmp_path / "page.html"
    style = f"{STYLE} @page {{ size: A4; @bottom-right {{ content: none }} }}"
    page.write_text(f"<!doctype html><style>{style}</style><main>{boxes}</main>", encoding="utf-8")
    assert [count for count in glyph_counts(page) if count] == [len("headintroanswer")] * len(heights)


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize(("summary", "sheets"), [("", 1), ('<dl class="summary"></dl>', 2)], ids=["overview", "report"])
def test_only_a_summary_has_a_sheet_of_its_own(tmp_path: Path, summary: str, sheets: int) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><style>{STYLE}</style><main><header><h1>Title</h1>{summary}</header><p>Text</p></main>")
    assert len(glyph_counts(page)) == sheets


def picture_of(height: int) -> str:
    """A picture as wide as a page."""
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='1120' height='{height}'/>"
    return f'<figure><div class="plot"><picture><img src="data:image/svg+xml,{svg}"></picture></div></figure>'


def test_a_wide_and_a_high_picture_fit_the_width_and_half_of_the_sheet(chromium: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    style = STYLE.replace("@media print", "@media all")
    page.write_text(
        f"<!doctype html><style>{style}</style><main>{picture_of(400)}{picture_of(874)}</main>"
        "<script>addEventListener('load', () => {const boxes = [...document.querySelectorAll('img')];"
        "document.title = boxes.map(box => `${box.width} ${box.height}`).join()})</script>"
    )
    assert measured(chromium, page, "document.title", 688) == "688 246,455 355"


@pytest.mark.usefixtures("chromium")
def test_two_high_pictures_share_a_sheet_with_their_sentences(tmp_path: Path) -> None:
    texts = '<div class="prose"><p>intro</p></div><p class="statement">answer</p>'
    sections = f"<section><h2>head</h2>{texts}{picture_of(874)}</section>" * 2
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><style>{STYLE}</style><main>{sections}</main>", encoding="utf-8")
    assert glyph_counts(page) == [2 * len("headintroanswer")]


@pytest.mark.usefixtures("chromium")
def test_sentences_fill_a_sheet_whose_rest_is_too_small_for_their_picture(tmp_path: Path) -> None:
    texts = '<h2>head</h2><div class="prose"><p>intro</p></div><p class="statement">answer</p>'
    caption = picture_of(874).replace("<figure>", "<figure><figcaption>title</figcaption>")
    page = tmp_path / "page.html"
    style = f"{STYLE} @page {{ size: A4; @bottom-right {{ content: none }} }}"
    box = '<div style="height: 160mm"></div>'
    page.write_text(f"<!doctype html><style>{style}</style><main>{box}{texts}{caption}</main>", encoding="utf-8")
    assert glyph_counts(page) == [len("headintroanswer"), len("title")]


@pytest.mark.parametrize(
    ("media", "width", "visible"),
    every_nth([("all", 1280, ""), ("print", 1280, "marks wide,tooltip"), ("print", 600, "marks narrow,tooltip")], 2),
)
def test_a_screen_has_the_marks_of_its_picture_and_a_tooltip_and_paper_has_neither(
    chromium: str, tmp_path: Path, media: str, width: int, visible: str
) -> None:
    page = tmp_path / "page.html"
    marks = '<svg class="marks wide"></svg><svg class="marks narrow"></svg><div class="tooltip">5 MB</div>'
    page.write_text(f"<!doctype html><style>{STYLE.replace('@media print', f'@media {media}')}</style>{marks}")
    shown = "[...document.querySelectorAll('svg, .tooltip')].filter((mark) => getComputedStyle(mark).display !== 'none')"
    assert measured(chromium, page, f"{shown}.map((mark) => mark.getAttribute('class')).join()", width) == visible


def test_a_notebook_on_paper_loses_no_column_and_no_code(chromium: str, tmp_path: Path) -> None:
    exporter = pytest.importorskip("nbconvert").HTMLExporter()
    texts = {name: ["Splice.DsoRules.DsoRules_ExecuteConfirmedAction"] * 3 for name in ("kind", "template_name", "choice")}
    numbers = {
        name: range(100_000, 100_003) for name in ("requests", "rejected", "envelopes", "informees", "confirmers", "parties")
    }
    table = show_table("t", pd.DataFrame({**texts, **numbers}))._repr_html_()
    output = nbformat.v4.new_output(
        "display_data",
        {"text/html": f'<div class="lf-answer"><style>{ANSWER_STYLE}</style><div class="table">{table}</div></div>'},
    )
    cell = nbformat.v4.new_code_cell("call(" + "argument, " * 40 + ")", outputs=[output])
    html, _ = exporter.from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    page = tmp_path / "page.html"
    page.write_text(
        re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL).replace("@media print", "@media all"), encoding="utf-8"
    )
    boxes = "[...document.querySelectorAll('pre, .jp-OutputArea-output, .table')]"
    assert measured(chromium, page, f"{boxes}.map(box => box.scrollWidth - box.clientWidth).join(' ')", 718) == "0 0 0"
