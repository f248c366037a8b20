"""Hostile names of a network in a real browser and on terminals: text, and nothing else.

Those in CSV files are in tests/stored/test_export.py, and those in charts in tests/test_plot.py.
"""

from __future__ import annotations

import html
import json
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from ledgerframes.errors import TransportError
from ledgerframes.report.headline import HEADLINE
from ledgerframes.report.overview import write_overview
from ledgerframes.report.page import digest_of_script, render
from ledgerframes.report.picture_html import MARKS, NARROW_SVG, SVG
from ledgerframes.report.publish import FAILED, ReportDir
from ledgerframes.texts.control_characters import escape_control

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MARK = "pwned"
HOSTILE = [
    f"<script>document.title='{MARK}'</script>",
    f"<img src=x onerror=\"document.title='{MARK}'\">",
    "<img src='http://127.0.0.1:9/pixel.png'>",
    f"<svg onload=document.title='{MARK}'>",
    "<style>@import 'http://127.0.0.1:9/x.css'</style>",
    f"</td></table><iframe srcdoc=\"<script>parent.document.title='{MARK}'</script>\">",
    f"'\"><a href=\"javascript:document.title='{MARK}'\" autofocus onfocus=\"document.title='{MARK}'\">x</a>",
    "<link rel=stylesheet href=http://127.0.0.1:9/y.css><base href=http://127.0.0.1:9/>",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "\u202egnp.exe\u0000\u001b[31m",
]
RUN = {
    "report": "small",
    "network": HOSTILE[0],
    "key": "k",
    "window": {"since": "2026-11-08T00:00:00Z", "until": "2026-11-09T00:00:00Z"},
    "parameters": {"top": HOSTILE[1]},
    "versions": {"python": "3"},
    "created_at": "2026-11-20T00:00:00Z",
    "tables": [],
    "coverage": {
        "final": 1.0,
        "provisional": 0.0,
        "missing": 0.0,
        "rows": 5,
        "provisional_rows": 0,
        "requests": 5,
        "requests_with_cost": 5,
        "known_cost_share": 1.0,
        "sources": [HOSTILE[2]],
    },
    "inputs": {"snapshot": "s", "notebook": "n"},
    "headline": dict.fromkeys(HEADLINE, 1),
    "key_figures": [
        {
            "label": text,
            "value": text,
            "note": text,
            "change": text,
            "is_clear": False,
            "unit": text,
            "before": [],
            "days": [1.0, 2.0],
        }
        for text in HOSTILE
    ],
    "attention": {
        "summary": HOSTILE[0],
        "findings": [{"text": text, "what": text, "heading": text, "next_step": text} for text in HOSTILE],
        "others": 0,
        "elsewhere": HOSTILE[0],
    },
    "quality": {"text": HOSTILE[0], "details": list(HOSTILE), "is_whole": False},
    "summary": [{"term": HOSTILE[0], "text": HOSTILE[1], "details": list(HOSTILE)}],
}


def page() -> str:
    """A report whose every part has hostile names."""
    table = pd.DataFrame({"party": HOSTILE, HOSTILE[3]: range(len(HOSTILE))})
    outputs = [
        new_output("display_data", {"text/html": table.to_html(escape=False)}),
        new_output("display_data", {"text/html": table.to_html()}),
        new_output("stream", name="stdout", text="\n".join(HOSTILE)),
        new_output("execute_result", {"text/plain": repr(HOSTILE)}),
    ]
    marks = [[0, 0, 10, 10, text] for text in HOSTILE]
    plot = {"alt": HOSTILE[0], "title": HOSTILE[1], "note": HOSTILE[3], MARKS: {SVG: marks, NARROW_SVG: marks}}
    outputs.append(new_output("display_data", {SVG: "<svg/>", NARROW_SVG: "<svg/>"}, metadata=plot))
    cells = [new_markdown_cell("# Title\n\n" + "\n\n".join(HOSTILE)), new_code_cell("x", outputs=outputs)]
    return render(new_notebook(cells=cells), RUN)


def overview(folder: Path) -> Path:
    """The page of all runs, made of a published run and a failed one with hostile names."""
    for name in ("traffic-cost", "verdicts"):
        directory = ReportDir(folder, name)
        directory.prepare()
        with directory.staging_dir() as staging:
            (staging / "report").mkdir()
            (staging / "report" / "index.html").write_text(page(), encoding="utf-8")
            (staging / "report" / "run.json").write_text(json.dumps({**RUN, "report": name}), encoding="utf-8")
            directory.publish(staging / "report", "key")
        (folder / name / FAILED).write_text("\n".join(HOSTILE), encoding="utf-8")
    return write_overview(folder)


def opened(browser: str, path: Path, folder: Path) -> tuple[str, str, set[str]]:
    """Return the document after its scripts, what the console says, and the addresses that were requested."""
    log = folder / f"{path.stem}.json"
    words = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=3000",
        "--enable-logging=stderr", f"--log-net-log={log}", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    process = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    urls = {str(event["params"]["url"]) for event in events if "url" in event.get("params", {})}
    console = "\n".join(line for line in process.stderr.splitlines() if ":CONSOLE" in line)
    return process.stdout, console, {url for url in urls if "127.0.0.1:9" in url}


def test_a_browser_runs_nothing_and_requests_nothing(tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    control = tmp_path / "control.html"
    control.write_text(
        f"<title>x</title>{HOSTILE[0]}<img src='http://127.0.0.1:9/pixel.png'><script>console.error('said')</script>"
    )
    document, console, requests = opened(browser, control, tmp_path)
    assert f"<title>{MARK}</title>" in document and requests and "said" in console, "a page that does harm is noticed"
    start = overview(tmp_path / "reports")
    for path, text in ((start, "pwned"), (tmp_path / "reports" / "latest" / "verdicts" / "index.html", "Title")):
        document, console, requests = opened(browser, path, tmp_path)
        assert f"<title>{MARK}</title>" not in document and text in document
        assert (console, requests) == ("", set())


def test_a_browser_shows_hostile_names_of_marks_as_text(tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    keys = "drawing.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'})); shown.add(tooltip.textContent);"
    each = f"for (const drawing of document.querySelectorAll('.marks')) for (const text of Array({len(HOSTILE)})) {{ {keys} }}"
    script = f"const shown = new Set(); {each} document.body.dataset.count = shown.size;"
    path = tmp_path / "page.html"
    # The policy of the page, which allows this script, too.
    allowed = page().replace("script-src '", f"script-src '{digest_of_script(script)}' '", 1)
    path.write_text(allowed.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    document, console, requests = opened(browser, path, tmp_path)
    assert f'data-count="{len(HOSTILE)}"' in document and f"<title>{MARK}</title>" not in document
    assert (console, requests) == ("", set())


def test_the_page_has_hostile_names_as_text() -> None:
    text = page()
    assert html.escape(HOSTILE[0], quote=False) in text
    assert text.count("<script") == 1, "that of the package"
    assert 'onerror="' not in text.replace('&lt;img src=x onerror="', "")
    assert "\u202e" not in text and "\x1b" not in text


def test_terminals_show_escapes() -> None:
    error = TransportError("x".join(HOSTILE), endpoint="", host="")
    assert not {"\x1b", "\u202e", "\x00"} & set(str(error))
    assert "\\x1b[31m" in escape_control(HOSTILE[-1])
