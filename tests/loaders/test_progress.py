"""Progress is one line that updates and ends as a sentence, and nothing at all in a log."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.engine import waiting
from ledgerframes.loaders.progress import Progress

WINDOW = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Be in a notebook, with the texts that its one output has in turn."""
    texts: list[str] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw and display_id
        assert not texts, "a second output"
        texts.append(data["text/plain"])
        return SimpleNamespace(update=lambda data, raw: texts.append(data["text/plain"]))

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None)))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return texts


def test_a_line_has_its_counts(shown_at_once: None, capsys: pytest.CaptureFixture[str]) -> None:
    for total in (24, None):
        with Progress("events (mainnet)", total, "h", True) as bar:
            bar.advance(12)
            bar._bar.refresh()
    shown = capsys.readouterr().err
    assert "Fetching events (mainnet): 12 of 24 h |" in shown
    assert "Fetching events (mainnet): 12 h 00:00" in shown


@pytest.mark.parametrize(("rows", "text"), [(0, "0 rows"), (1, "1 row"), (2_000, "2,000 rows")])
def test_a_load_ends_with_the_number_of_its_rows(shown_at_once: None, cell: list[str], rows: int, text: str) -> None:
    with Progress("events (mainnet)", 1.0, "h", None) as bar:
        bar.count(rows=rows, chunks=1)
    assert cell[-1] == f"Fetched events (mainnet): {text} in 1 chunk, 0 s."


def test_a_query_leaves_no_bar_below_its_cell(cell: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "DELAY", 0)
    connection: Any = SimpleNamespace(query_progress=lambda: 50.0)
    waiting.run_with_progress(connection, lambda: sleep(0.5))
    assert cell[0].startswith("Query: ")
    assert cell[-1] == ""


@pytest.mark.filterwarnings("error")
def test_parts_that_add_up_to_a_little_more_than_the_whole_are_no_warning(shown_at_once: None, cell: list[str]) -> None:
    with Progress("events (mainnet)", 1.0, "h", None) as bar:
        bar.advance(math.nextafter(1.0, 2.0))
        bar._bar.refresh()
    assert "1 of 1 h" in cell[-2]


def test_a_terminal_keeps_one_sentence(
    shown_at_once: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("events (mainnet)", 24, "h", None) as bar:
        bar.advance(24)
        bar.count(rows=52_012, chunks=1)
        bar._bar.refresh()
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert shown.rstrip("\n").split("\r")[-1] == "Fetched events (mainnet): 52,012 rows in 1 chunk, 0 s."


def test_a_cell_has_one_output_with_the_rows_of_the_load(shown_at_once: None, cell: list[str], tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    frames = lf.load_events(net, **WINDOW)
    rows = sum(frames.count_rows(name) for name in frames.tables) + sum(frames.problems["rows"])
    assert all(text.startswith("Fetching events (sandbox") for text in cell[:-1])
    assert re.fullmatch(re.escape(f"Fetched events ({net.name}): {rows:,} rows in ") + r"\d+ chunks, 0 s\.", cell[-1])


def test_a_state_counts_the_rows_of_its_table(shown_at_once: None, cell: list[str], tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    packages = lf.load_packages(net)
    assert packages["package_id"].duplicated().any(), "a package can have a row for each synchronizer"
    assert cell[-1] == f"Fetched packages ({net.name}): {len(packages):,} rows, 0 s."


def test_a_load_of_less_than_a_second_shows_nothing(cell: list[str], tmp_path: Path) -> None:
    with Progress("events (mainnet)", 24, "h", None) as bar:
        bar.advance(24)
    assert cell == []


def test_a_failure_says_what_was_fetched(shown_at_once: None, cell: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt), Progress("events (mainnet)", 24, "h", None) as bar:
        bar.count(rows=7, chunks=2)
        raise KeyboardInterrupt
    assert cell[-1] == "Stopped fetching events (mainnet): 7 rows in 2 chunks, 0 s."


def test_a_log_has_nothing(shown_at_once: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lf.load_events(lf.connect("sandbox", events=400, days=1, store=tmp_path), **WINDOW)
    assert capsys.readouterr() == ("", "")
