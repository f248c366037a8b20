"""One page that loads nothing, runs one script of the package, and shows foreign text as text."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from ledgerframes.report import ReportResult
from ledgerframes.report.page import ALLOWED_ELEMENTS, TEMPLATES, _output_block, render, sanitize
from ledgerframes.report.picture_html import NARROW_SVG

from .conftest import EVIL, TOKEN

RUN: dict[str, Any] = {
    "report": "small",
    "network": "net <b>",
    "key": "k",
    "window": {"since": "2026-11-08T00:00:00Z", "until": "2026-11-09T00:00:00Z"},
    "parameters": {},
    "key_figures": [
        {
            "label": "<i>a",
            "value": "<b>1",
            "note": "<u>n",
            "change": "<s>+1",
            "is_clear": True,
            "unit": "bytes",
            "before": [None],
            "days": [1.0, 2.0],
        }
    ],
    "attention": {
        "summary": "1 <u>finding",
        "findings": [{"text": "<b>A day.", "heading": "<i>Absent", "next_step": "<i>Ask."}],
        "others": 2,
        "elsewhere": "<u>Latency",
    },
    "quality": {"text": "9 % of <b>costs", "details": ["1 <i>row."], "is_whole": False},
    "summary": [{"term": "Total", "text": "5 <b> bytes", "details": ["of <i>one</i>"]}],
    "coverage": {
        "final": 0.999999, "provisional": 0.000001, "missing": 0.0, "rows": 5, "provisional_rows": 1, "requests": 0,
        "requests_with_cost": 0, "known_cost_share": None, "sources": [],
    },
    "versions": {"python": "3"},
    "created_at": "2026-11-20T00:00:00Z",
    "inputs": {"snapshot": "s", "notebook": "n"},
    "problems": [],
    "tables": [],
}  # fmt: skip


LINK = re.compile(r"#[a-z0-9-]+|tables/[a-z][a-z0-9_]*\.(csv|parquet)|\.\./\.\./([\w-]+/\w+/)?index\.html")
SCRIPT = (TEMPLATES / "page.js").read_text(encoding="utf-8")
OWN_DRAWING = re.compile(r'<svg class="(?:spark|marks wide|marks narrow)" .*?</svg>', re.DOTALL)


class Loads(HTMLParser):
    """Collects the elements of a page that would run, and its references to anything but its own anchors and tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.outside: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attributes:
            if name.startswith("on"):
                self.handlers.append(name)
            if tag == "a" and name == "href" and LINK.fullmatch(value or ""):
                continue
            if name in ("src", "href", "srcset", "action", "data", "poster", "background") and not is_inline(value or ""):
                self.outside.append(f"{tag} {name}={value}")


def is_inline(value: str) -> bool:
    """Whether a reference is a picture in the page itself, or a place in it."""
    return value.startswith("data:image/png;base64,") or is_plain_svg(value)


def is_plain_svg(value: str) -> bool:
    start = "data:image/svg+xml;base64,"
    if not value.startswith(start):
        return False
    root = ElementTree.fromstring(base64.b64decode(value.removeprefix(start)))
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    links = [text for element in root.iter() for name, text in element.items() if name.rpartition("}")[2] == "href"]
    return not names & {"script", "foreignObject", "a"} and all(
        link.startswith(("#", "data:image/png;base64,")) for link in links
    )


def assert_self_contained(page: str) -> None:
    assert_only_the_script_of_the_package_runs(page)
    loads = Loads(without_own_parts(page))
    assert loads.outside == [] and loads.handlers == []
    assert not loads.tags & {"script", "link", "iframe", "object", "embed", "form", "base", "svg", "audio", "video"}
    style = "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    assert "@import" not in style and "url(" not in style and "@font-face" not in style
    assert "default-src 'none'" in page


def assert_only_the_script_of_the_package_runs(page: str) -> None:
    """The policy allows one digest, which is that of the only script, and that is the file of the package."""
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert scripts == [SCRIPT] and page.count("<script") == 1
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert re.findall(r"script-src ([^;\"]*)", page) == [f"'sha256-{digest}'"]


def without_own_parts(page: str) -> str:
    """The page without its script, sparklines, and marks of pictures, which are rectangles and paths with a text each."""
    for picture in OWN_DRAWING.findall(page):
        loads = Loads(picture)
        assert loads.tags <= {"svg", "rect", "path", "title"} and loads.outside == loads.handlers == []
    return OWN_DRAWING.sub("", page.replace(f"<script>{SCRIPT}</script>", ""))


def test_the_script_makes_no_markup_and_no_code() -> None:
    for words in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval", "Function(", "import(", "fetch", "http"):
        assert words not in SCRIPT


def page_with_marks(marks: Any) -> str:
    """A page with a plot whose marks are these."""
    data = {"image/svg+xml": "<svg/>", NARROW_SVG: "<svg/>"}
    output = new_output("display_data", data, metadata={"alt": "a", "title": "t", "note": "", "marks": marks})
    return render(new_notebook(cells=[new_code_cell("x", outputs=[output])]), RUN)


def test_a_picture_has_its_marks_for_wide_and_narrow_pages() -> None:
    page = page_with_marks({"image/svg+xml": [[1, 2, 3, 4, EVIL]], NARROW_SVG: [[5, 6, 7, 8, "Monday\n5 MB"]]})
    evil = EVIL.replace("<", "&lt;").replace(">", "&gt;")
    assert f'<rect x="1" y="2" width="3" height="4"><title>{evil}</title></rect>' in page
    assert '<rect x="5" y="6" width="7" height="8"><title>Monday\n5 MB</title></rect>' in page
    assert [re.search(r'class="([^"]*)"', each)[1] for each in OWN_DRAWING.findall(page)][-2:] == ["marks wide", "marks narrow"]  # type: ignore[index]
    assert_self_contained(page)


@pytest.mark.parametrize("marks", [{}, {"image/svg+xml": []}])
def test_a_picture_without_marks_is_an_image_alone(marks: Any) -> None:
    assert 'class="marks' not in page_with_marks(marks)


def test_a_mark_has_a_place_and_no_attribute_of_an_output() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        page_with_marks({"image/svg+xml": [['1" onclick="bad()', 2, 3, 4, "text"]]})


@pytest.mark.loopback
def test_a_page_of_one_day_explains_no_lines_by_day(traffic_run: ReportResult) -> None:
    assert [len(figure["days"]) for figure in traffic_run.run["key_figures"]] == [1] * 4
    assert 'class="legend"' not in traffic_run.page_path.read_text(encoding="utf-8")


def test_every_picture_of_a_report_has_values_for_a_pointer(traffic_run: ReportResult) -> None:
    page = traffic_run.page_path.read_text(encoding="utf-8")
    pictures = page.count("<picture>")
    assert pictures == page.count('<svg class="marks wide"') == page.count('<svg class="marks narrow"') > 0
    assert re.search(r"<title>2026-11-08 00:00\nnot rejected: [\d.,]+ kB\nrejected: [\d.,]+ kB", page)


@pytest.mark.loopback
def test_a_page_names_the_parameters_that_are_given(traffic_run: ReportResult) -> None:
    assert "<dt>Parameters</dt><dd>every = 6h, top = 5</dd>" in traffic_run.page_path.read_text(encoding="utf-8")


def test_the_page_is_self_contained(traffic_run: ReportResult) -> None:
    page = traffic_run.page_path.read_text(encoding="utf-8")
    assert_self_contained(page)
    assert page.count("<img ") >= 2
    assert "<details" in page and "prefers-color-scheme: dark" in page and "@media print" in page


@pytest.mark.loopback
def test_the_page_says_at_its_foot_what_it_is_made_of(traffic_run: ReportResult) -> None:
    page = traffic_run.page_path.read_text(encoding="utf-8")
    head, foot = page.partition("</header>")[0], page.partition("<footer>")[2]
    for words in ("Traffic cost", "evil", "2026-11-08 UTC"):
        assert words in head
    for words in ("evil", "2026-11-08 00:00 to 2026-11-09 00:00", "100 % final", "evil.invalid", "pandas", "every = 6h"):
        assert words in foot


@pytest.mark.loopback
def test_a_party_named_like_a_script_is_text(traffic_run: ReportResult) -> None:
    page = traffic_run.page_path.read_text(encoding="utf-8")
    assert EVIL not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert EVIL in (traffic_run.directory / "tables" / "cost_spend_by_party.csv").read_text(encoding="utf-8")


@pytest.mark.exhaustive
@pytest.mark.loopback
def test_the_report_on_verdicts_holds_to_the_same(verdicts_run: ReportResult) -> None:
    page = verdicts_run.page_path.read_text(encoding="utf-8")
    assert_self_contained(page)
    assert EVIL not in page and "&lt;script&gt;" in page
    names = {"verdict_outcomes", "verdict_latency_by_size", "verdict_rejections", "verdict_quorums"}
    assert names <= set(verdicts_run.run["tables"])


@pytest.mark.loopback
def test_no_token_is_anywhere(traffic_run: ReportResult) -> None:
    files = [path for path in traffic_run.directory.rglob("*") if path.is_file()]
    assert files and not any(TOKEN.encode() in path.read_bytes() for path in files)


def test_outputs_are_sanitized() -> None:
    html = (
        "<table onclick='x()'><tr><td>kept</td></tr></table><script>bad()</script><img src='https://elsewhere.invalid/p.png'>"
        "<a href='javascript:bad()'>link</a><style>@import 'https://elsewhere.invalid/s.css'</style><iframe src='x'></iframe>"
    )
    outputs = [
        new_output("display_data", {"text/html": html}),
        new_output("stream", name="stdout", text="<script>printed</script>"),
        new_output("stream", name="stderr", text="a warning of a library"),
        new_output("execute_result", {"text/plain": "<script>plain</script>"}),
        new_output("display_data", {"image/svg+xml": "<svg onload='bad()'/>", "application/javascript": "bad()"}),
    ]
    cells = [new_markdown_cell("# Title\n\nwords <script>bad()</script>"), new_code_cell("secret <b>", outputs=outputs)]
    page = render(new_notebook(cells=cells), RUN)
    assert_self_contained(page)
    assert "<td>kept</td>" in page and "a warning" not in page
    assert "bad()" not in page.replace("bad()&lt;/script&gt;", "") and "elsewhere.invalid" not in page
    assert "<title>Title · net &lt;b&gt;</title>" in page


@pytest.mark.parametrize(
    "html",
    [
        "<svg><a xlink:href='javascript:bad()'><text>x</text></a></svg>",
        "<math><mtext><table><mglyph><style><img src=x onerror=bad()>",
        "<td title='\"><script>bad()</script>'>x</td>",
        "<p style='background:url(https://elsewhere.invalid)'>x</p>",
        "<base href='https://elsewhere.invalid'><meta http-equiv=refresh content='0;url=https://elsewhere.invalid'>",
        "<form action='https://elsewhere.invalid'><input autofocus onfocus=bad()></form>",
        "<!--<img src=x onerror=bad()>--><noscript><p title='</noscript><img src=x onerror=bad()>'>",
        "<div class=ok id=x data-x=y srcdoc='<script>bad()</script>'>x</div>",
    ],
)
def test_nothing_in_an_output_can_load_or_run(html: str) -> None:
    loads = Loads(sanitize(html))
    assert loads.tags <= ALLOWED_ELEMENTS
    assert loads.outside == [] and loads.handlers == []
    assert "style=" not in sanitize(html) and "id=" not in sanitize(html)


def test_tables_keep_their_classes_and_titles() -> None:
    html = '<table class="result"><tbody><tr><td class="text" title="a b" colspan="2">x<wbr>y</td></tr></tbody>'
    html += '<tfoot><tr><th scope="row">All 2 rows</th></tr></tfoot></table>'
    assert sanitize(html) == html


def test_shares_near_one_are_not_rounded_to_it() -> None:
    page = render(new_notebook(cells=[]), RUN)
    assert "&gt; 99.9 % final · &lt; 0.1 % provisional · 0 % not in the store" in page


def test_cells_for_notebook_users_are_left_out() -> None:
    cells = [
        new_markdown_cell("open me by hand", metadata={"tags": ["notebook-only"]}),
        new_code_cell("during = 'last-week'", metadata={"tags": ["parameters"]}),
        new_code_cell("first()"),
        new_code_cell("second()"),
    ]
    page = render(new_notebook(cells=cells), RUN)
    assert "by hand" not in page and "last-week" not in page
    assert page.count('<details class="code"') == 1 and "first()\n\nsecond()" in page


def book_of(*outputs: dict[str, Any]) -> dict[str, Any]:
    """A notebook whose only cell has these outputs."""
    cell = {"cell_type": "code", "source": "1", "metadata": {}, "outputs": list(outputs)}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def output_of(**data: str) -> dict[str, Any]:
    kinds = {"html": "text/html", "svg": "image/svg+xml"}
    return {"output_type": "display_data", "data": {kinds[kind]: text for kind, text in data.items()}, "metadata": {}}


STATEMENT = output_of(html='<p class="statement">All of it.</p>')
PICTURE = output_of(svg='<svg xmlns="http://www.w3.org/2000/svg"/>')


def table_of(rows: int) -> dict[str, Any]:
    body = "<tr><td>1</td></tr>" * rows
    return output_of(html=f"<table><caption>Costs</caption><thead><tr><th>a</th></tr></thead><tbody>{body}</tbody></table>")


@pytest.mark.parametrize(
    ("outputs", "is_folded"),
    [
        ((STATEMENT, PICTURE, table_of(3)), True),
        ((STATEMENT, table_of(1)), True),
        ((STATEMENT, table_of(3)), False),
        ((table_of(1),), False),
    ],
    ids=["picture", "one row", "rows", "no sentence"],
)
def test_a_table_is_folded_if_a_picture_or_a_sentence_gives_its_numbers(outputs: Any, is_folded: bool) -> None:
    page = render(book_of(*outputs), RUN)
    assert page.count("<caption>Costs</caption>") == 1
    assert ("<summary>Table: Costs</summary>" in page) == is_folded
    assert page.count('aria-label="Costs"') == 1, "the keyboard reaches it"


def test_findings_of_one_day_are_one_item() -> None:
    texts = ["Monday: many were <b>.", "A request.", "Monday: a tenth was wasted.", "Party a: b: 1.", "Party a: c: 2."]
    steps = ["Ask them.", "Look at it.", "Ask them.", "Ask b.", "Ask c."]
    findings = [{"text": text, "heading": "", "next_step": step} for text, step in zip(texts, steps, strict=True)]
    attention = {"summary": "", "findings": findings, "others": 0, "elsewhere": ""}
    page = render(book_of(), {**RUN, "attention": attention})
    shown = page.partition("needs-attention")[2].partition("</ul>")[0]
    items = re.findall(r'<li><b>([^<]*)</b>([^<]*) <span class="next"><b>Next step</b> ([^<]*)</span></li>', shown)
    assert items == [
        ("Monday: many were &lt;b&gt;", ". A tenth was wasted.", "Ask them."),
        ("A request", ".", "Look at it."),
        ("Party a: b: 1", ". C: 2.", "Ask b. Ask c."),
    ]
    assert [finding["text"] for finding in findings] == texts, "run.json keeps each"
    note = "Findings on one subject share a paragraph."
    assert note in page
    assert note not in render(book_of(), {**RUN, "attention": {**attention, "findings": findings[:2]}})


REJECTIONS = "Monday: many were rejected. The additional rejections cost 9 kB."
WASTE = "Monday: much was wasted. That is 8 kB more than usual."


@pytest.mark.parametrize(
    ("whats", "texts", "shown"),
    [
        (("rejection rate", "wasted share"), (REJECTIONS, WASTE), f"{REJECTIONS} Much was wasted. <"),
        (("wasted share", "rejection rate"), (WASTE, REJECTIONS), f"{WASTE} Many were rejected. <"),
        (("requests", "cost per request"), (REJECTIONS, WASTE), f"{REJECTIONS} Much was wasted. That is 8 kB more than usual. <"),
    ],
)
def test_the_bytes_of_wasted_and_rejected_requests_are_given_once(
    whats: tuple[str, ...], texts: tuple[str, ...], shown: str
) -> None:
    pairs = zip(whats, texts, strict=True)
    common = {"heading": "", "next_step": "Ask them."}
    findings = [{"text": text, "what": what, "effect": text[text.index(". ") + 1 :], **common} for what, text in pairs]
    attention = {"summary": "", "findings": findings, "others": 0, "elsewhere": ""}
    page = render(book_of(), {**RUN, "attention": attention}).replace("\xa0", " ")
    assert shown in re.sub(r"</?b>", "", page)


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("Monday: 9.5 % of 1,200 were rejected, usually 1 %. That is more.", "Monday: 9.5 % of 1,200 were rejected"),
        ("Participant a::b is new: 3 requests, and none before.", "Participant a::b is new: 3 requests"),
        ("Round 7: no total.", "Round 7: no total"),
        ("Round 7", "Round 7"),
        ("<i>, a name.\nOf two lines.", "&lt;i&gt;"),
    ],
)
def test_what_is_unusual_is_bold(text: str, lead: str) -> None:
    findings = [{"text": text, "what": "", "effect": "", "heading": "", "next_step": "Ask them."}]
    page = render(book_of(), {**RUN, "attention": {"summary": "", "findings": findings, "others": 0, "elsewhere": ""}})
    assert f"<li><b>{lead}</b>" in page.replace("\xa0", " ")


def test_the_head_says_only_what_the_key_figures_do_not() -> None:
    terms = ["Traffic cost", "Latency", "Rejections"]
    summary = [
        {"term": "Traffic cost", "text": "About Traffic cost.", "details": [], "key_figure": "Traffic cost"},
        {"term": "Latency", "text": "About Latency.", "details": [], "key_figure": "Latency, median"},
        {"term": "Rejections", "text": "About Rejections.", "details": []},
    ]
    figures = [{**RUN["key_figures"][0], "label": label} for label in ("Traffic cost", "Rejected")]
    page = render(book_of(), {**RUN, "summary": summary, "key_figures": figures})
    assert [term for term in terms if f"About {term}." in page] == ["Latency", "Rejections"]


def test_what_to_do_begins_the_sentences_at_the_head() -> None:
    summary = [
        {"term": "Total", "text": "About all.", "details": []},
        {"term": "Balance", "text": "It ends. Buy <now>.", "details": [], "next_step": "Buy <now>."},
    ]
    page = render(book_of(), {**RUN, "summary": summary})
    assert '<dd>It ends. <span class="next"><b>Next step</b> Buy &lt;now&gt;.</span></dd>' in page
    assert page.index("It ends.") < page.index("About all.")


def test_pictures_of_other_libraries_are_shown_and_unknown_outputs_left_out() -> None:
    png = {"output_type": "display_data", "data": {"image/png": "aGk=\n"}, "metadata": {"image/png": {"width": 40}}}
    blocks = [_output_block(each) for each in (png, {**png, "metadata": {}}, {**png, "data": {"application/x": "secret"}})]
    assert [each.html if each else None for each in blocks] == [
        '<img src="data:image/png;base64,aGk=" alt="A plot without a description" width="40">',
        '<img src="data:image/png;base64,aGk=" alt="A plot without a description">',
        None,
    ]
