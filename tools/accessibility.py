"""Check published reports, or other pages, by axe in Chromium.

Each is checked 1280 and 400 pixels wide, light and dark, with all details open.
`make screenshots` publishes the reports and installs axe first. `python tools/accessibility.py PAGE …` checks other pages.
It needs Chromium, and axe.min.js as the package axe-playwright-python has it.
"""

from __future__ import annotations

import html
import importlib.util
import itertools
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from screenshots import DARK, OPTIONS, REPORTS, SCHEMES, WIDTHS

from ledgerframes.errors import UsageError
from ledgerframes.report.pdf import find_chromium

MAX_SECONDS = 300
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
RUN = """
for (const each of document.querySelectorAll("details")) each.open = true;
axe.run(document, {resultTypes: ["violations"]}).then((result) => parent.postMessage(JSON.stringify(result.violations), "*"));
"""
# A window of Chromium is at least 500 pixels wide, and a frame in it has any width.
FRAME = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><pre id="result"></pre>
<script>addEventListener("message", (event) => { document.getElementById("result").textContent = event.data; });</script>
<iframe src="page.html" style="border: 0; height: 2000px; width: WIDTHpx"></iframe>
"""


def main(pages: list[str]) -> int:
    """Print the violations of pages, by default of the published reports, and return whether there are any."""
    axe = find_axe()
    try:
        chromium = find_chromium()
    except UsageError:
        chromium = ""
    if axe is None or not chromium:
        print("Chromium or axe is not installed: accessibility is not checked.")
        return 0
    paths = [Path(page) for page in pages] or [*sorted(REPORTS.glob("latest/*/index.html")), REPORTS / "index.html"]
    count = 0
    for path, width, scheme in itertools.product(paths, WIDTHS, SCHEMES):
        violations = check(chromium, axe, path, width, scheme)
        count += len(violations)
        print(f"{path.parent.name:14} {width:5} {scheme:5} {len(violations)} violations", flush=True)
        for violation in violations:
            print(f"    {violation['id']}: {violation['help']}, {len(violation['nodes'])} times")
            print(f"        {' '.join(violation['nodes'][0]['html'].split())[:120]}")
    return int(count > 0)


def find_axe() -> str | None:
    """Return the script of axe, None if its package is not installed."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or not package.submodule_search_locations:
        return None
    return (Path(package.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")


def check(chromium: str, axe: str, path: Path, width: int, scheme: str) -> list[dict[str, Any]]:
    """Return the violations of one page, whose policy would not let axe run."""
    page = POLICY.sub("", path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as directory:
        frame = Path(directory) / "frame.html"
        frame.write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
        scripts = f"<script>{axe}</script><script>{RUN}</script>"
        frame.with_name("page.html").write_text(page.replace("</body>", f"{scripts}</body>"), encoding="utf-8")
        words = [*OPTIONS, "--virtual-time-budget=60000", "--window-size=1400,2200", f"--user-data-dir={directory}/profile"]
        words += [DARK] if scheme == "dark" else []
        command = [chromium, *words, "--dump-dom", frame.as_uri()]
        document = subprocess.run(command, capture_output=True, text=True, check=True, timeout=MAX_SECONDS).stdout
    result = re.search(r'<pre id="result">(.+?)</pre>', document, re.DOTALL)
    if result is None:
        raise SystemExit(f"axe returned nothing for {path}.")
    violations: list[dict[str, Any]] = json.loads(html.unescape(result[1]))
    return violations


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
