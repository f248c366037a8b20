"""Take pictures of every report and notebook, to look at: light and dark, 1280 and 400 pixels wide, and in print.

`python tools/screenshots.py` runs the reports and the notebooks on the sandbox. It needs Chromium, and for print pdftoppm.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from PIL import Image, ImageChops

from ledgerframes.errors import UsageError
from ledgerframes.report.pdf import find_chromium

ROOT = Path(__file__).parents[1]
OUT = ROOT / ".ledgerframes" / "screenshots"
REPORTS = ("traffic-cost", "verdicts", "activity", "operations", "weekly")
WIDTHS = (1280, 400)
MAX_HEIGHT = 16_000  # pixels; what is empty at the end is cut off
OPTIONS = (
    *("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--hide-scrollbars", "--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
DARK = "--blink-settings=preferredColorScheme=0"
MAX_SECONDS = 180


def main() -> int:
    """Make the pages, and a picture of each in each way."""
    try:
        chromium = find_chromium()
    except UsageError:
        print("Chromium is not installed: no screenshots.")
        return 0
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    os.environ.setdefault("LEDGERFRAMES_STORE", str(ROOT / ".ledgerframes" / "store"))
    for name, page in [*report_pages(), *notebook_pages()]:
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                take(chromium, page, OUT / f"{name}-{width}-{scheme}.png", width, scheme)
        print_pages(chromium, page, OUT / f"{name}-print")
    print(f"{len(list(OUT.glob('*.png')))} pictures in {OUT.relative_to(ROOT)}")
    return 0


def report_pages() -> list[tuple[str, Path]]:
    """Publish every report over last week, and return their pages and the overview."""
    reports = OUT / "reports"
    for name in REPORTS:
        command = [sys.executable, "-m", "ledgerframes", "report", "run", name, "--profile", "sandbox"]
        subprocess.run([*command, "--during", "last-week", "--out", str(reports)], check=True, cwd=ROOT)
    pages = [(name, reports / "latest" / name / "index.html") for name in REPORTS]
    return [*pages, ("overview", reports / "index.html")]


def notebook_pages() -> list[tuple[str, Path]]:
    """Run every notebook, and return it as HTML."""
    pages = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        book = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as working_dir:
            NotebookClient(book, timeout=900, resources={"metadata": {"path": working_dir}}).execute()
        html, _ = HTMLExporter().from_notebook_node(book)
        page = OUT / "notebooks" / f"{path.stem}.html"
        page.parent.mkdir(exist_ok=True)
        page.write_text(html, encoding="utf-8")
        pages.append((path.stem, page))
    return pages


def take(chromium: str, page: Path, picture: Path, width: int, scheme: str) -> None:
    """Take a picture of a whole page."""
    size = (f"--window-size={width},{MAX_HEIGHT}", f"--screenshot={picture}", *([DARK] if scheme == "dark" else []))
    run_chromium(chromium, *size, page.as_uri())
    with Image.open(picture) as image:
        pixels = image.convert("RGB")
    background = Image.new("RGB", pixels.size, pixels.getpixel((0, pixels.height - 1)))
    box = ImageChops.difference(pixels, background).getbbox()
    pixels.crop((0, 0, width, box[3] if box else 1)).save(picture)


def print_pages(chromium: str, page: Path, picture: Path) -> None:
    """Print a page, and make pictures of the sheets."""
    pdf = picture.with_suffix(".pdf")
    run_chromium(chromium, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri())
    if pdftoppm := shutil.which("pdftoppm"):
        subprocess.run([pdftoppm, "-r", "60", "-png", str(pdf), str(picture)], check=True)


def run_chromium(chromium: str, *arguments: str) -> None:
    """Run Chromium with a profile of its own."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, *OPTIONS, f"--user-data-dir={profile}", *arguments]
        subprocess.run(command, check=True, capture_output=True, timeout=MAX_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
