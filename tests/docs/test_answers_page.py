"""The page of answers has each call that the benchmark measures, and marks what misses a limit."""

from __future__ import annotations

import re
from pathlib import Path

from ledgerframes.analysis import FIGURES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "live-week.md"
CALL = re.compile(r'^    "([a-z_.]+(?: [\w ]+)?)": lambda', re.MULTILINE)


def rows() -> dict[str, list[str]]:
    lines = [line.strip("|").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {cells[0].strip().replace("`", ""): [cell.strip() for cell in cells[1:]] for cells in lines}


def test_every_call_has_its_row_or_is_named() -> None:
    calls = CALL.findall((ROOT / "benchmarks" / "live_week.py").read_text(encoding="utf-8"))
    absent = PAGE.read_text(encoding="utf-8").partition("Not measured this time: ")[2].partition(".\n")[0]
    assert len(rows()) > 30
    unnamed = [call for call in calls if call not in rows() and f"`{call}`" not in absent]
    assert unnamed == [], "name it in docs/live-week.md, after 'Not measured this time: '"
    assert rows().keys() <= set(calls)


def test_every_figure_has_a_call_or_the_page_says_what_it_needs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    sentences = [
        text.partition(start)[2].partition(".\n")[0] for start in ("Figures without a call ", "Not measured this time: ")
    ]
    named = set(re.findall(r"`([a-z_.]+)[ \w]*`", " ".join(sentences)))
    measured = {call.partition(" ")[0] for call in rows()}
    assert measured | named == set(FIGURES), (
        "a new figure needs a call in benchmarks/live_week.py, and its name in docs/live-week.md"
    )
    assert not measured & named


def test_what_misses_a_limit_says_so() -> None:
    for call, (seconds, gigabytes, ratio, exponent, note) in rows().items():
        if not seconds:
            assert note, call  # what the call raised
            continue
        assert (float(seconds) > 60) == ("over 60 s" in note) or float(seconds) == 60, call
        assert (float(gigabytes) > 4) == ("over 4 GB" in note) or float(gigabytes) == 4, call
        assert not ratio or (float(ratio) > 3) == ("over 3 times" in note) or float(ratio) == 3, call
        assert (float(exponent) > 1.1) == ("grows faster" in note) or float(exponent) == 1.1, call
