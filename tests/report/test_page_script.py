"""The script of a page in a real browser: it sorts, filters, shows all rows and values, and leaves texts texts."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from browser import needs_browser, picture_of, run
from cases import every_nth

from ledgerframes.report.page import TEMPLATES
from ledgerframes.texts.control_characters import escape_html as escape

pytestmark = needs_browser
HOSTILE = "<img src=x onerror=document.title='pwned'>"
NUMBERS = ["–", "1,200", "−5", "< 0.1", "30"]


def opened(tmp_path: Path, numbers: list[str], driver: str = "", note: str = "") -> str:
    """Return a page with a table after its script and a driver have run."""
    rows = "".join(
        f'<tr><td class="text" title="id {number}">{escape(HOSTILE)}</td><td class="number">{escape(text)}</td></tr>'
        for number, text in enumerate(numbers)
    )
    head = '<tr><th scope="col">name</th><th scope="col" class="number">value</th></tr>'
    page = tmp_path / "page.html"
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><title>x</title><div class="table"><table><caption>Values</caption><thead>{head}'
        f"</thead><tbody>{rows}</tbody></table>{note}</div><script>{script}</script><script>{driver}</script>",
        encoding="utf-8",
    )
    return run(tmp_path, "--dump-dom", page.as_uri()).stdout


def column(document: str) -> list[str]:
    """The values of the rows that are visible, in their order."""
    return re.findall(r'<tr><td class="text".*?<td class="number">(.*?)</td>', document.replace("&lt;", "<"), re.DOTALL)


CLICK = "document.querySelectorAll('.sort')[1].click();"


ORDER = "[...document.querySelectorAll('tbody tr')].map(row => row.cells[1].innerText)"
SORTED_BY = "document.querySelectorAll('th')[1].getAttribute('aria-sort')"


def test_numbers_sort_as_numbers_and_missing_ones_stay_last(tmp_path: Path) -> None:
    clicks = f"[1, 2, 3].map(() => {{ {CLICK} return [{SORTED_BY}, {ORDER}]; }})"
    document = opened(tmp_path, NUMBERS, f"document.title = JSON.stringify({clicks});")
    (title,) = re.findall("<title>(.*?)</title>", document)
    first, second, third = json.loads(html.unescape(title))
    assert first[1] == ["1,200", "30", "< 0.1", "−5", "–"]
    assert second == ["ascending", ["−5", "< 0.1", "30", "1,200", "–"]]
    assert third[1] == NUMBERS, "the third click restores the order"


def test_a_filter_finds_full_ids_and_says_how_many_rows_fit(tmp_path: Path) -> None:
    driver = "const box = document.querySelector('input'); box.value = 'ID 7'; box.dispatchEvent(new Event('input'));"
    document = opened(tmp_path, [str(number) for number in range(10)], driver)
    assert column(document) == ["7"] and "1 of 10 rows" in document


def test_a_filter_finds_rows_that_are_folded(tmp_path: Path) -> None:
    driver = "const box = document.querySelector('input'); box.value = 'id 37'; box.dispatchEvent(new Event('input'));"
    numbers = [str(number) for number in range(100)]
    note = '<p class="note"><span class="rows few">15 of 168 rows</span><span class="rows more">100 of 168 rows</span></p>'
    document = opened(tmp_path, numbers, driver, note)
    assert column(document) == ["37"] and "1 of 100 rows" in document
    assert 'placeholder="Filter the first 100"' in document, "the files have the other 68"


def test_rounded_amounts_sort_by_their_titles_and_have_no_button(tmp_path: Path) -> None:
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    rows = "".join(f'<tr><td class="number" title="741.5{digit}">741.5</td></tr>' for digit in (1, 3, 2))
    page = tmp_path / "page.html"
    page.write_text(
        '<!doctype html><div class="table"><table><thead><tr><th class="number">amount</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div><script>{script}</script><script>document.querySelector('.sort').click()</script>"
    )
    document = run(tmp_path, "--dump-dom", page.as_uri()).stdout
    assert re.findall('<td class="number" title="(.*?)">741.5</td>', document) == ["741.53", "741.52", "741.51"]


def test_days_do_not_fit_a_filter_and_have_no_order(tmp_path: Path) -> None:
    """Otherwise each row would fit the date of any day."""
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    cell = '<td><span class="cell-days"><span title="2026-11-02: 5 bytes"></span></span></td>'
    rows = "".join(f"<tr><td>{number}</td>{cell}</tr>" for number in range(7))
    head = '<tr><th>name</th><th class="days">by day</th></tr>'
    driver = "const box = document.querySelector('input'); box.value = '2026'; box.dispatchEvent(new Event('input'));"
    page = tmp_path / "page.html"
    page.write_text(
        f"<!doctype html><div class='table'><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>"
        f"<script>{script}</script><script>{driver}</script>"
    )
    document = run(tmp_path, "--dump-dom", page.as_uri()).stdout
    assert "0 of 7 rows" in document and document.count('class="sort"') == 1


def test_a_long_table_shows_all_rows_on_a_click(tmp_path: Path) -> None:
    numbers = [str(number) for number in range(40)]
    document = opened(tmp_path, numbers)
    assert column(document) == numbers[:15]
    assert "25 more rows" in document
    assert column(opened(tmp_path, numbers, "document.querySelector('.tools button').click();")) == numbers
    note = '<p class="note"><span class="rows few">15 of 168 rows</span><span class="rows more">40 of 168 rows</span></p>'
    part = opened(tmp_path, numbers, note=note)
    assert "First 40 rows" in part, "the page does not have the others"
    assert 'placeholder="Filter the first 40"' in part and 'placeholder="Filter"' in document


@pytest.mark.parametrize(("anchor", "is_open"), [("who-paid", True), ("elsewhere", False)])
def test_a_link_opens_the_section_that_it_leads_to(tmp_path: Path, anchor: str, is_open: bool) -> None:
    section = '<details class="section"><summary><h2 id="who-paid">Who paid?</h2></summary>They.</details>'
    document = opened(tmp_path, [], f"location.hash = '{anchor}'; openTarget();", note=section)
    assert ('<details class="section" open="">' in document) == is_open


def test_texts_stay_texts(tmp_path: Path) -> None:
    document = opened(tmp_path, NUMBERS, CLICK)
    assert "<title>x</title>" in document and document.count(f"{escape(HOSTILE).replace('&#x27;', chr(39))}") == len(NUMBERS)
    assert 'aria-label="Copy id 3"' in document


# -- values of pictures -------------------------------------------------------------------------------------------------

MARKS = "".join(
    f'<rect x="{100 * number}" y="0" width="100" height="100"><title>{escape(text)}</title></rect>'
    for number, text in enumerate(["Monday\n5 MB", HOSTILE, "Sunday\n1 MB"])
)
PICTURE = (
    '<figure><figcaption><strong>Traffic cost</strong></figcaption><div class="plot">'
    f'<svg class="marks wide" viewBox="0 0 300 100" width="300" height="100" aria-hidden="true">{MARKS}</svg></div></figure>'
)
DRAWING = "const drawing = document.querySelector('.marks'), marks = drawing.querySelectorAll('rect');"


def point(mark: int, kind: str = "pointermove", pointer: str = "mouse") -> str:
    return f"marks[{mark}].dispatchEvent(new PointerEvent('{kind}', {{bubbles: true, pointerType: '{pointer}'}}));"


def leave(pointer: str = "mouse") -> str:
    return f"drawing.dispatchEvent(new PointerEvent('pointerleave', {{pointerType: '{pointer}'}}));"


def press(*keys: str) -> str:
    return "".join(f"drawing.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}));" for key in keys)


TAP_BESIDE = "document.body.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));"
POINTED = [
    ("", ""),
    (point(0), "Monday\n5 MB"),
    (point(0) + point(2), "Sunday\n1 MB"),
    (point(0) + leave(), ""),
    (point(2, "pointerdown", "touch") + leave("touch"), "Sunday\n1 MB"),
    (point(2, "pointerdown", "touch") + TAP_BESIDE, ""),
    (press("ArrowRight"), "Monday\n5 MB"),
    (press("End"), "Sunday\n1 MB"),
    (press("End", "ArrowRight"), "Sunday\n1 MB"),
    (press("End", "Home", "ArrowLeft"), "Monday\n5 MB"),
    (press("ArrowRight", "Escape"), ""),
    (point(0) + "drawing.dispatchEvent(new Event('blur'));", ""),
]


def test_a_pointer_a_tap_and_keys_show_a_value(tmp_path: Path) -> None:
    """Each case has a picture of its own, on one page."""
    drawings = [DRAWING.replace("querySelector('.marks')", f"querySelectorAll('.marks')[{n}]") for n in range(len(POINTED))]
    shown = "shown.push(document.querySelector('.tooltip').textContent);"
    drivers = [f"{{ {drawing} {driver} {shown} }}" for drawing, (driver, _) in zip(drawings, POINTED, strict=True)]
    script = f"const shown = []; {''.join(drivers)} document.title = JSON.stringify(shown);"
    (title,) = re.findall(r"<title>(\[.*?\])</title>", opened(tmp_path, [], script, PICTURE * len(POINTED)))
    assert json.loads(title) == [text for _, text in POINTED]


def test_a_value_is_shown_once_and_as_text(tmp_path: Path) -> None:
    document = opened(tmp_path, [], DRAWING + point(1), PICTURE)
    assert "<title>x</title>" in document and document.count("<title>") == 1, "the browser shows no second tooltip"
    assert f">{escape(HOSTILE).replace('&#x27;', chr(39))}</div>" in document and "<img" not in document
    assert document.count('class="marked"') == 1


def test_a_reader_without_a_pointer_reaches_the_values(tmp_path: Path) -> None:
    drawing = re.search(r'<svg class="marks[^>]*>', opened(tmp_path, [], "", PICTURE))[0]  # type: ignore[index]
    assert 'tabindex="0"' in drawing and 'aria-label="Values of Traffic cost"' in drawing and "aria-hidden" not in drawing


def test_the_text_of_a_sparkline_stays_its_name(tmp_path: Path) -> None:
    line = '<svg class="spark" role="img" aria-label="Cost by day"><rect class="tip"><title>Monday</title></rect></svg>'
    assert re.search(r'<svg class="spark"[^>]* aria-label="Cost by day"', opened(tmp_path, [], "", line))


@pytest.mark.parametrize("is_dark", every_nth([True, False], 2))
def test_the_mark_of_a_value_is_seen_on_both_papers(tmp_path: Path, is_dark: bool) -> None:
    page = tmp_path / "page.html"
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    mark = '<svg class="marks" viewBox="0 0 2 1"><rect width="1" height="1" class="marked"></rect></svg>'
    theme = '<meta name="color-scheme" content="light dark">'
    page.write_text(f"<!doctype html>{theme}<style>{style} .marks {{ width: 200px; height: 100px; }}</style>{mark}")
    picture = picture_of(tmp_path, page, is_dark=is_dark)
    marked, paper = (picture.getpixel((x, 50)) for x in (50, 150))
    assert isinstance(marked, int) and isinstance(paper, int) and abs(marked - paper) >= 25
