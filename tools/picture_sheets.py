"""Draw every plot of the tests on hard cases, one contact sheet per case, theme and width of page, to look at.

`python tools/picture_sheets.py names huge` draws the sheets of these cases. It needs Chromium for pictures of the sheets.
"""

from __future__ import annotations

import itertools
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from screenshots import OUT, SCHEMES, take

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.report.pdf import find_chromium
from ledgerframes.report.picture_html import NARROW_SVG, SVG
from ledgerframes.report.pictures import draw_pictures
from ledgerframes.texts.control_characters import escape_html

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

SHEETS = OUT / "sheets"
WIDTH = 1_280
COLUMNS = {"wide": 2, "narrow": 3}  # of a sheet. A narrow picture has its size on a phone.
ERROR = "<p style='color:red'>"
STYLE = """<style>
body { margin: 8px; background: #fff; color: #23272d; font: 12px sans-serif; display: grid;
grid-template-columns: repeat(COLUMNS, 1fr); gap: 12px; align-items: start; }
figure { margin: 0; border: 1px solid #8884; padding: 6px; }
img { width: 100%; } figcaption small { color: #888; }
@media (prefers-color-scheme: dark) { body { background: #16191d; color: #e4e6ea; } }</style>"""
NAMES = [
    *("<script>alert('x')</script>", "$x_1^2$ & $y$", "a" * 200, "line\nbreak\ttab", "%s {0} \\frac", "", "plain"),
    *(f"{name}::1220{'ab' * 32}" for name in ("مرحبا بالعالم", "日本語の名前", "🙂 emoji", "Ünïcödé-Ñame", "Плательщик")),
]
Frame = pd.DataFrame


def numbers_of(frame: Frame) -> list[str]:
    """Return the columns of counts, costs and amounts, not of positions and hours."""
    others = (
        "round_number",
        "hour",
        "weekday",
        "view_id",
        "part",
        "offset",
        "begin",
        "end",
        "number",
        "confirmations",
        "threshold",
    )
    names = [str(name) for name in frame if not str(name).endswith(others)]
    return [name for name in names if pd.api.types.is_integer_dtype(frame[name]) or "decimal" in str(frame[name].dtype)]


def fallen(frame: Frame) -> Frame:
    """Return a frame whose changes, differences and nets are negative, as no cost or count can be."""
    names = [name for name in numbers_of(frame) if any(word in name for word in ("change", "difference", "net", "added"))]
    return frame.assign(**{name: (-frame[name].astype(object)).astype(frame[name].dtype) for name in names})


def with_numbers(frame: Frame, change: Callable[[Any], Any]) -> Frame:
    """Return a frame whose numbers are changed."""
    # Of decimals as objects, because a product of two has more digits than their type.
    return frame.assign(**{name: change(frame[name].astype(object)).astype(frame[name].dtype) for name in numbers_of(frame)})


def huge(frame: Frame) -> Frame:
    """Return a frame whose first row is a million times larger."""
    factors = [1_000_000 if row == 0 else 1 for row in range(len(frame))]
    return with_numbers(frame, lambda column: column * pd.Series(factors, dtype=object, index=column.index))


def hostile(frame: Frame) -> Frame:
    """Return a frame with names of any script, length and markup."""
    names = [str(name) for name, dtype in frame.dtypes.items() if str(dtype) == "str" and name != "network"]
    texts = [NAMES[at % len(NAMES)] + (str(at) if at >= len(NAMES) else "") for at in range(len(frame))]
    return frame.assign(**{name: pd.Series(texts, dtype="str", index=frame.index) for name in names})


def sparse(frame: Frame) -> Frame:
    """Return a frame in which every second value is missing."""
    keep = pd.Series(np.arange(len(frame)) % 2 == 0, index=frame.index)
    kept = ("round_number",)
    names = [
        name
        for name in frame
        if pd.api.types.is_numeric_dtype(frame[name]) and name not in kept and str(frame[name].dtype) != "int64"
    ]
    return frame.assign(**{str(name): frame[name].where(keep) for name in names})


CASES: dict[str, tuple[int, Callable[[Frame], Frame]]] = {
    "empty": (0, lambda frame: frame),
    "one": (1, lambda frame: frame),
    "forty": (40, lambda frame: frame),
    "huge": (40, huge),
    "zeros": (24, lambda frame: with_numbers(frame, lambda column: column * 0)),
    "negative": (24, fallen),
    "sparse": (24, sparse),
    "names": (24, hostile),
}


def main(names: list[str]) -> int:
    """Write the sheets of all cases or of some, and take pictures of them.

    The result is 1 if a picture cannot be drawn.
    """
    SHEETS.mkdir(parents=True, exist_ok=True)
    has_errors = False
    for case in names or CASES:
        pages = sheets(case)
        has_errors |= any(ERROR in page for page in pages.values())
        for size, page in pages.items():
            (SHEETS / f"{case}-{size}.html").write_text(page, encoding="utf-8")
        try:
            chromium = find_chromium()
        except UsageError:
            print("Chromium is not installed: no pictures of the sheets.")
            return int(has_errors)
        for size, scheme in itertools.product(pages, SCHEMES):
            take(chromium, SHEETS / f"{case}-{size}.html", SHEETS / f"{case}-{size}-{scheme}", WIDTH, scheme)
        print(f"{case}: {SHEETS}{': a picture cannot be drawn' if has_errors else ''}", flush=True)
    return int(has_errors)


def sheets(case: str) -> dict[str, str]:
    """Return a page with every plot on a case, for each width of page."""
    from test_plot import PICTURES

    cells = {name: cells_of(*PICTURES[name][:2], case) for name in PICTURES}
    return {size: sheet(size, {name: each[size] for name, each in cells.items()}) for size in COLUMNS}


def sheet(size: str, cells: dict[str, str]) -> str:
    """Return a page with these pictures."""
    figures = "".join(f"<figure><b>{escape_html(name)}</b>{cell}</figure>" for name, cell in cells.items())
    style = STYLE.replace("COLUMNS", str(COLUMNS[size]))
    return f'<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">{style}{figures}'


def cells_of(picture: str, make: Callable[[int], Frame], case: str) -> dict[str, str]:
    """Return one plot on a case as HTML for each width of page, or why it cannot be drawn."""
    rows, change = CASES[case]
    try:
        data, metadata = draw_pictures(lf.plot(change(make(rows)), picture=picture).figure)
    except UsageError as error:
        return dict.fromkeys(COLUMNS, f"<p>Refused: {escape_html(str(error))}</p>")
    except Exception as error:
        return dict.fromkeys(COLUMNS, f"{ERROR}{type(error).__name__}: {escape_html(str(error))}</p>")
    finally:
        plt.close("all")
    if "text/html" in data:
        return dict.fromkeys(COLUMNS, data["text/html"])
    caption = f"<figcaption>{escape_html(metadata['title'])} <small>{escape_html(metadata['note'])}</small></figcaption>"
    svgs = {"wide": data[SVG], "narrow": data[NARROW_SVG]}
    return {size: f'{caption}<img src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}" alt="">'
            for size, svg in svgs.items()}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
