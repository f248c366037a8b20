"""Chromium for tests: what a page is after its scripts have run, and how it looks."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium")
DARK = "--blink-settings=preferredColorScheme=0"


def run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Chromium with a profile of the test."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [str(BROWSER), *options, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def opened(tmp_path: Path, address: str, width: int = 1280) -> tuple[str, list[str]]:
    """Return a page after its scripts have run, and what they wrote to the console, as errors are."""
    words = ("--virtual-time-budget=10000", "--enable-logging=stderr", f"--window-size={width},900", "--dump-dom")
    done = run(tmp_path, *words, address)
    return done.stdout, re.findall(r':CONSOLE(?:\(\d+\)|:\d+)\] "(.*?)", source:', done.stderr, re.DOTALL)


def picture_of(tmp_path: Path, page: Path, *, is_dark: bool) -> Image.Image:
    """Return the first screen of a page in one of the two themes of a browser, in shades of gray."""
    picture = tmp_path / "picture.png"
    run(tmp_path, *([DARK] if is_dark else []), "--window-size=800,600", f"--screenshot={picture}", page.as_uri())
    with Image.open(picture) as image:
        return image.convert("L")
