"""Checks of citations: pages, anchors, and names of directories outside the repository."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

DIRECTORIES = (".ci", ".github", "benchmarks", "data", "docs", "ledgerframes", "notebooks", "tests", "tools")
SUFFIXES = ("", ".cff", ".css", ".html", ".ipynb", ".j2", ".json", ".md", ".mplstyle", ".py", ".sh", ".toml", ".yaml", ".yml")
SKIPPED = (".git", "ledgerframes.toml", "__pycache__", ".ipynb_checkpoints")  # local, and not part of the repository
CITATION = re.compile(r"(?<![\w/.-])docs/([\w-]+\.md)(?:#([\w-]+))?")
LINK = re.compile(r"\]\(([^()\s]+)\)")
REMOTE = re.compile(r"^(?:https?|mailto):")
HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)
ANCHOR = re.compile(r'<a id="([\w-]+)">')
FENCE = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)
OUTDATED = re.compile(
    r"\b[Ww]ire[ -]facts?\b"
    r"|\bquestions(?:\.md)?,? T\d"
    r"|(?:\b[Ss]ource: |[\"'])order(?:\.md)?[:,]? [A-Z\"]"
    r"|[\"'(]design: [A-Z]"
    r"|\b(?:order|answers|words|statistics|network-today|activity-weights)\.md\b"
    r"|(?<![(/\"])\bquestions\.md\b"  # as a link or a path it is a page of docs/
)
OUTSIDE = re.compile(r"\.\./shared\b|parents?(?:\[\d\])?\s*/\s*[\"']shared\b|[\"']shared/|(?<![\w.])/(?:work|home|root|Users)/\w")
# Each step leaves one directory: .parents[2] leaves three.
STEPS = re.compile(r"Path\(__file__\)(?:\.(?:resolve|absolute)\(\))?((?:\.parents\[\d+\]|\.parent\b)+)")


def files_of(root: Path) -> list[Path]:
    """Return the text files of a repository that are written by hand or generated from code."""
    paths = [path for path in root.iterdir() if path.is_file()]
    for name in DIRECTORIES:
        paths += [path for path in (root / name).rglob("*") if path.is_file()]
    return sorted(path for path in paths if path.suffix in SUFFIXES and not set(path.relative_to(root).parts) & set(SKIPPED))


def slug_of(heading: str) -> str:
    """Return the anchor that a heading gets on the usual hosts of repositories."""
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """Return the anchors of a Markdown page: its headings and explicit ones."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return frozenset({slug_of(heading) for heading in HEADING.findall(text)} | set(ANCHOR.findall(text)))


def _prose_of(path: Path, text: str) -> str:
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return FENCE.sub("", text) if path.suffix == ".md" else ""


def citation_problems(root: Path, path: Path) -> Iterator[str]:
    """Iterate over the citations and relative links of a file that do not resolve, and over outdated citations."""
    text = path.read_text(encoding="utf-8")
    for page, anchor in CITATION.findall(text):
        yield from _problems_of(root, root / "docs" / page, anchor)
    for target in LINK.findall(_prose_of(path, text)):
        if not REMOTE.match(target):
            name, _, anchor = target.partition("#")
            yield from _problems_of(root, (path.parent / name).resolve() if name else path, anchor)
    yield from (f"outdated citation {match[0]!r}" for match in OUTDATED.finditer(text))


def _problems_of(root: Path, target: Path, anchor: str) -> Iterator[str]:
    if not target.is_relative_to(root):
        yield f"{target} is outside the repository"
    elif not target.exists():
        yield f"{target.relative_to(root)} does not exist"
    elif anchor and anchor not in anchors_of(target):
        yield f"{target.relative_to(root)} has no anchor {anchor!r}"


def outside_problems(root: Path, path: Path) -> Iterator[str]:
    """Iterate over the names of directories outside the repository in a file."""
    text = path.read_text(encoding="utf-8")
    yield from (f"names {match[0]!r}" for match in OUTSIDE.finditer(text))
    for match in STEPS.finditer(text):
        steps = [int(number) + 1 if number else 1 for number in re.findall(r"\.parent(?:s\[(\d+)\])?", match[1])]
        if sum(steps) > len(path.relative_to(root).parts):
            yield f"{match[0]} leaves the repository"
