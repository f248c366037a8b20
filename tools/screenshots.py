"""Take pictures of the published reports and of every notebook: light and dark, 1280 and 400 pixels wide, and in print.

`make screenshots` publishes the reports first. `python tools/screenshots.py weekly 06` takes those of pages whose names begin so.
Where `make docs` has built the site, `site-gallery` is its gallery, and `site-06` a notebook as the site shows it.
`weekly-open` is the page of the weekly report with its sections and tables open, as each report has one.
It needs Chromium, and for print pypdfium2. `all.png` of each page has all of its pictures.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from PIL import Image, ImageChops

from ledgerframes.errors import UsageError
from ledgerframes.report import notebooks_dir
from ledgerframes.report.pdf import find_chromium

ROOT = Path(__file__).parents[1]
OUT = ROOT / ".ledgerframes" / "screenshots"
REPORTS = OUT / "reports"
OPEN_PAGES = OUT / "open"
FOLDED = re.compile(r'<details class="(section|data)"')
NOTEBOOKS = OUT / "notebooks"
SITE = ROOT / "build" / "docs"
WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
MAX_HEIGHT = 16_000  # pixels of one picture, as high as Chromium draws
PIECE_HEIGHT = 2_000
THUMBNAIL, PER_ROW, MARGIN = 420, 6, 8  # pixels of a contact sheet, and pictures
OPTIONS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--hide-scrollbars", "--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
DARK = "--blink-settings=preferredColorScheme=0"
MAX_SECONDS = 180
# A window of Chromium is at least 500 pixels wide, and a frame in it has any width.
FRAME = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<style>body {{ margin: 0; overflow: hidden; }} iframe {{ border: 0; height: 64000px; }}</style>
<iframe src="{page}" style="width: {width}px; margin-top: -{top}px"></iframe>
"""


def main(names: list[str]) -> int:
    """Take the pictures of all pages, or of those whose names begin with one of these."""
    try:
        chromium = find_chromium()
    except UsageError:
        print("Chromium is not installed: no screenshots.")
        return 0
    os.environ.setdefault("LEDGERFRAMES_STORE", str(ROOT / ".ledgerframes" / "store"))
    for name, pages in itertools.chain(report_pages(names), notebook_pages(names), site_pages(names)):
        pictures = OUT / name
        shutil.rmtree(pictures, ignore_errors=True)
        pictures.mkdir(parents=True)
        for width, scheme in itertools.product(WIDTHS, SCHEMES):
            take(chromium, pages[scheme], pictures / f"{width}-{scheme}", width, scheme)
        print_page(chromium, pages["light"], pictures / "print")
        save_contact_sheet(pictures)
        print(f"{len(list(pictures.glob('*.png')))} pictures in {pictures.relative_to(ROOT)}")
    return 0


def is_chosen(name: str, names: list[str]) -> bool:
    """Return whether a page is to be taken."""
    return not names or name.startswith(tuple(names))


def report_pages(names: list[str]) -> Iterator[tuple[str, dict[str, Path]]]:
    """Yield the latest page of each published report, folded and open, and the overview."""
    pages = [(path.parent.name, path) for path in sorted(REPORTS.glob("latest/*/index.html"))]
    opened = [(f"{name}-open", open_page(path, OPEN_PAGES / f"{name}.html")) for name, path in pages]
    for name, page in [*pages, *opened, ("overview", REPORTS / "index.html")]:
        if is_chosen(name, names):
            yield name, dict.fromkeys(SCHEMES, page)


def open_page(page: Path, path: Path) -> Path:
    """Write a page whose sections and tables are open, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = FOLDED.sub(r'<details open class="\1"', page.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    return path


def notebook_pages(names: list[str]) -> Iterator[tuple[str, dict[str, Path]]]:
    """Run the notebooks, and yield each as HTML in both themes of JupyterLab."""
    NOTEBOOKS.mkdir(parents=True, exist_ok=True)
    for path in sorted(notebooks_dir().glob("*.ipynb")):
        if is_chosen(path.stem, names):
            book = nbformat.read(path, as_version=4)
            with tempfile.TemporaryDirectory() as working_dir:
                NotebookClient(book, kernel_name="python3", extra_arguments=["--log-level=ERROR"]).execute(cwd=working_dir)
            pages = {scheme: NOTEBOOKS / f"{path.stem}-{scheme}.html" for scheme in SCHEMES}
            for scheme, page in pages.items():
                html, _ = HTMLExporter(theme=scheme).from_notebook_node(book)
                page.write_text(html, encoding="utf-8")
            yield path.stem, pages


def site_pages(names: list[str]) -> Iterator[tuple[str, dict[str, Path]]]:
    """Yield the gallery and each notebook of the site, if it is built. They follow the theme of the browser."""
    for page in [*SITE.glob("gallery.html"), *sorted(SITE.glob("notebooks/*.html"))]:
        if is_chosen(f"site-{page.stem}", names):
            yield f"site-{page.stem}", dict.fromkeys(SCHEMES, page)


def take(chromium: str, page: Path, picture: Path, width: int, scheme: str) -> None:
    """Take a picture of a whole page, in numbered pieces that can be read."""
    number = 0
    for top in itertools.count(0, MAX_HEIGHT):
        pixels = take_part(chromium, page, width, top, scheme)
        background = Image.new("RGB", pixels.size, pixels.getpixel((0, pixels.height - 1)))
        box = ImageChops.difference(pixels, background).getbbox()
        bottom = box[3] if box else 0
        for piece in range(0, bottom, PIECE_HEIGHT):
            number += 1
            pixels.crop((0, piece, width, min(piece + PIECE_HEIGHT, bottom))).save(f"{picture}-{number:02}.png")
        if bottom < MAX_HEIGHT - PIECE_HEIGHT:  # a cut can be within blank paper
            return


def take_part(chromium: str, page: Path, width: int, top: int, scheme: str) -> Image.Image:
    """Return the part of a page from `top` on, as high as Chromium draws."""
    with tempfile.TemporaryDirectory() as directory:
        frame, picture = Path(directory) / "frame.html", Path(directory) / "picture.png"
        frame.write_text(FRAME.format(width=width, top=top, page=page.as_uri()), encoding="utf-8")
        size = (f"--window-size={max(width, 500)},{MAX_HEIGHT}", f"--screenshot={picture}")
        run_chromium(chromium, *size, *([DARK] if scheme == "dark" else []), frame.as_uri())
        with Image.open(picture) as image:
            return image.convert("RGB").crop((0, 0, width, MAX_HEIGHT))


def print_page(chromium: str, page: Path, picture: Path) -> None:
    """Print a page, and make pictures of the sheets."""
    pdf = picture.with_suffix(".pdf")
    run_chromium(chromium, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri())
    if importlib.util.find_spec("pypdfium2"):
        from pypdfium2 import PdfDocument

        sheets = [page.render(scale=80 / 72).to_pil() for page in PdfDocument(pdf)]
        for number, sheet in enumerate(sheets, start=1):
            sheet.save(f"{picture}-{number:02}.png")


def save_contact_sheet(pictures: Path) -> None:
    """Put all pictures of a page next to each other, to look at all of them at once."""
    parts = []
    for path in sorted(pictures.glob("*-*.png")):
        with Image.open(path) as image:
            part = image.convert("RGB")
        part.thumbnail((THUMBNAIL, 4 * THUMBNAIL))
        parts.append(part)
    rows = [parts[start : start + PER_ROW] for start in range(0, len(parts), PER_ROW)]
    heights = [max(part.height for part in row) + MARGIN for row in rows]
    sheet = Image.new("RGB", (PER_ROW * (THUMBNAIL + MARGIN), sum(heights)), "#888888")
    for number, row in enumerate(rows):
        for column, part in enumerate(row):
            sheet.paste(part, (column * (THUMBNAIL + MARGIN), sum(heights[:number])))
    sheet.save(pictures / "all.png")


def run_chromium(chromium: str, *arguments: str) -> None:
    """Run Chromium with a profile of its own."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, *OPTIONS, f"--user-data-dir={profile}", *arguments]
        subprocess.run(command, check=True, capture_output=True, timeout=MAX_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
