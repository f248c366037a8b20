"""Check published reports, the site of the docs, or other pages, by axe in Chromium.

Each is checked 1280 and 400 pixels wide, light and dark, with all details open.
`make screenshots` publishes the reports and installs axe first, and the site is checked if `make docs` has built it.
`python tools/accessibility.py PAGE …` checks other pages, and all pages of a directory.
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

from screenshots import DARK, OPTIONS, REPORTS, SCHEMES, SITE, WIDTHS

from ledgerframes.errors import UsageError
from ledgerframes.report.pdf import find_chromium

GROUP = 6  # pages that one browser shows, one after the other
MAX_SECONDS = 600  # of a group in one size and scheme
PAGE_SECONDS = 120  # of virtual time
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
RUN = """
for (const each of document.querySelectorAll("details")) each.open = true;
addEventListener("load", () => axe.run(document, {resultTypes: ["violations"]})
  .then((result) => parent.postMessage(JSON.stringify(result.violations), "*")));
"""
# A window of Chromium is at least 500 pixels wide, and a frame in it has any width. It shows one page after the other.
FRAME = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><pre id="result"></pre>
<iframe style="border: 0; height: 2000px; width: WIDTHpx"></iframe>
<script>
const results = [], frame = document.querySelector("iframe"), show = () => { frame.src = `page-${results.length}.html`; };
addEventListener("message", (event) => {
  results.push(JSON.parse(event.data));
  if (results.length < COUNT) show(); else document.getElementById("result").textContent = JSON.stringify(results);
});
show();
</script>
"""


def main(names: list[str]) -> int:
    """Print the violations of pages, by default of reports and site, and return whether there are any."""
    axe = find_axe()
    try:
        chromium = find_chromium()
    except UsageError:
        chromium = ""
    if axe is None or not chromium:
        print("Chromium or axe is not installed: accessibility is not checked.")
        return 0
    pages = find_pages(names)
    count = 0
    groups = [pages[start : start + GROUP] for start in range(0, len(pages), GROUP)]
    for group, width, scheme in itertools.product(groups, WIDTHS, SCHEMES):
        for path, violations in zip(group, check(chromium, axe, group, width, scheme), strict=True):
            count += len(violations)
            print(f"{name_of(path):34} {width:5} {scheme:5} {len(violations)} violations", flush=True)
            for violation in violations:
                print(f"    {violation['id']}: {violation['help']}, {len(violation['nodes'])} times")
                print(f"        {' '.join(violation['nodes'][0]['html'].split())[:120]}")
    return int(count > 0)


def find_pages(names: list[str]) -> list[Path]:
    """Return the pages of these files and directories, by default of published reports and of the site."""
    paths = [Path(name) for name in names] or [*sorted(REPORTS.glob("latest/*/index.html")), REPORTS / "index.html", SITE]
    return [page for path in paths for page in (site_pages(path) if path.is_dir() else [path]) if page.is_file()]


def site_pages(directory: Path) -> list[Path]:
    """Return the pages of a site, without the reports beside them, which are checked by themselves."""
    return [path for path in sorted(directory.rglob("*.html")) if path.relative_to(directory).parts[0] != "sample"]


def name_of(path: Path) -> str:
    """Return a short name of a page."""
    return path.parent.name if path.name == "index.html" else f"{path.parent.name}/{path.stem}"[-34:]


def find_axe() -> str | None:
    """Return the script of axe, None if its package is not installed."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or not package.submodule_search_locations:
        return None
    return (Path(package.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")


def check(chromium: str, axe: str, pages: list[Path], width: int, scheme: str) -> list[list[dict[str, Any]]]:
    """Return the violations of each page, whose policy would not let axe run."""
    with tempfile.TemporaryDirectory() as directory:
        frame = Path(directory) / "frame.html"
        frame.write_text(FRAME.replace("WIDTH", str(width)).replace("COUNT", str(len(pages))), encoding="utf-8")
        for number, path in enumerate(pages):
            frame.with_name(f"page-{number}.html").write_text(with_axe(path, axe), encoding="utf-8")
        budget = f"--virtual-time-budget={1_000 * PAGE_SECONDS * len(pages)}"
        words = [*OPTIONS, budget, "--window-size=1400,2200", f"--user-data-dir={directory}/profile"]
        words += [DARK] if scheme == "dark" else []
        command = [chromium, *words, "--dump-dom", frame.as_uri()]
        document = subprocess.run(command, capture_output=True, text=True, check=True, timeout=MAX_SECONDS).stdout
    result = re.search(r'<pre id="result">(.+?)</pre>', document, re.DOTALL)
    if result is None:
        raise SystemExit(f"axe did not finish on {len(pages)} pages, {width} pixels wide, {scheme}.")
    violations: list[list[dict[str, Any]]] = json.loads(html.unescape(result[1]))
    return violations


def with_axe(path: Path, axe: str) -> str:
    """Return a page that runs axe, and finds its style sheets and scripts where they are."""
    page = POLICY.sub("", path.read_text(encoding="utf-8"))
    head, start, rest = page.partition("<head>")
    page = f'{head}{start}<base href="{path.resolve().as_uri()}">{rest}' if start else page
    body, end, _ = page.rpartition("</body>")
    return f"{body}<script>{axe}</script><script>{RUN}</script>{end}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
