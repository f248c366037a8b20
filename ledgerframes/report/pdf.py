"""A page as a PDF, printed by Chromium where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from ledgerframes.errors import ReportError, UsageError
from ledgerframes.installation import is_root

PDF = "report.pdf"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
MAX_SECONDS = 120
OPTIONS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pdf-header-footer",
)


def find_chromium() -> str:
    """Return the path of Chromium or a browser that is built from it."""
    for name in CHROMIUM_NAMES:
        if path := shutil.which(name):
            return path
    raise UsageError(f"pdf= requires Chromium on the PATH, as one of {', '.join(CHROMIUM_NAMES)}. Install it, or omit pdf=.")


def print_pdf(page: Path, seconds: float | None = None) -> Path:
    """Print a page next to itself, and return the path of the PDF."""
    page = page.absolute()  # a relative path has no URI
    chromium, pdf = find_chromium(), page.with_name(PDF)
    limit = min(seconds or MAX_SECONDS, MAX_SECONDS)
    options = [*OPTIONS, "--no-sandbox"] if is_root() else OPTIONS  # Chromium refuses to run as root in its sandbox
    with tempfile.TemporaryDirectory(prefix="lf-") as profile:
        command = [chromium, *options, f"--user-data-dir={profile}", f"--print-to-pdf={pdf}", page.as_uri()]
        try:
            process = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise ReportError(f"{chromium} took longer than {limit:.0f} seconds for the PDF. Omit pdf=.") from None
        except OSError as error:
            raise ReportError(f"Cannot run {chromium}: {error.strerror}. Omit pdf=.") from None
    if process.returncode or not pdf.is_file():
        lines = process.stderr.strip().splitlines() or ["no reason"]
        raise ReportError(f"{chromium} printed no PDF: {lines[-1][:400]}. Omit pdf=.")
    return pdf
