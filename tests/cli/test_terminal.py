"""What people see on a terminal of 80 columns, and what a pipe gets."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledgerframes import long_waits
from ledgerframes.loaders import progress
from ledgerframes.loaders.progress import Progress
from ledgerframes.report import timer
from ledgerframes.report.timer import Timer
from ledgerframes.sandbox.sandbox import WORLD_VERSION

Run = Callable[..., Any]
NETWORK = f"sandbox-v{WORLD_VERSION}-seed1-events52000-days52"
SMALL_WORLD = {"LEDGERFRAMES_EVENTS": "400", "LEDGERFRAMES_DAYS": "1"}
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(arguments: list[str], folder: Path, columns: int = 80, **variables: str) -> str:
    """Return what a command writes on a terminal."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, **SMALL_WORLD, "COLUMNS": str(columns), **variables}
    command = [sys.executable, "-m", "ledgerframes", *arguments]
    with subprocess.Popen(command, stdout=follower, stderr=follower, cwd=folder, env=environment) as process:
        os.close(follower)
        parts = []
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:  # the command has ended
                break
            if not part:
                break
            parts.append(part)
        process.wait()
    os.close(leader)
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_the_doctor_wraps_at_words_and_has_colors_unless_no_color_is_set(tmp_path: Path) -> None:
    shown = on_terminal(["doctor"], tmp_path)
    assert "\x1b[32mok" in shown
    plain = ANSI.sub("", shown)
    checks = plain.partition("\n\n")[2].splitlines()
    assert all(len(line) <= 80 or max(map(len, line.split())) > 50 for line in checks)
    wide = on_terminal(["doctor"], tmp_path, columns=1000, NO_COLOR="1")
    assert "\x1b[" not in wide
    words, wide_words = (set(re.findall(r"[^\s\d]+", text)) for text in (plain, wide))  # the free space may differ
    assert words <= wide_words, "no word is cut"


def test_an_error_has_color_on_a_terminal_and_none_in_a_pipe(run: Run, tmp_path: Path) -> None:
    piped = run("sql", "select")
    assert piped.code and piped.err and "\x1b" not in piped.out + piped.err
    assert "\x1b[31mledgerframes: " in on_terminal(["sql", "select"], tmp_path)


@pytest.mark.usefixtures("shown_at_once")
@pytest.mark.parametrize("subject", [f"events ({NETWORK})", "events (mainnet)"])
def test_a_bar_has_room_in_80_columns(subject: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with Progress(subject, 1_176, "hours", True) as bar:
        bar._bar.ncols = 80
        bar.show_wait("and waits for example.com, which asks to wait for half a minute")
        wait = capsys.readouterr().err.split("\r")[-1]
        assert len(wait.rstrip()) <= 80 and wait.rstrip().endswith("a minute"), wait
        bar.show_wait("")
        bar.advance(588)
        bar._bar.refresh()
    line = [line for line in capsys.readouterr().err.split("\r") if "588 of" in line][-1]
    assert len(line.rstrip()) <= 80
    assert len(line.split("|")[1]) >= 10, line


def test_a_bar_that_nobody_sees_writes_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    now = iter(range(0, 1000, 3))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    with long_waits.shown_by(lines.append), Progress("events (mainnet)", 24, "h", None) as bar:
        for _ in range(6):
            bar.advance(2)
    assert 1 <= len(lines) <= 6 and re.fullmatch(r"Fetching events \(mainnet\): \d+ of 24 h, \d+ s\.", lines[0])
    lines.clear()
    with long_waits.shown_by(lines.append), Progress("events (mainnet)", 24, "h", False) as bar:
        for _ in range(6):
            bar.advance(2)
    assert lines == [], "a quiet command has none"


def test_a_step_of_a_report_that_takes_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timer, "SECONDS_UNTIL_FIRST_LINE", 0.05)
    monkeypatch.setattr(timer, "SECONDS_BETWEEN_LINES", 0.05)
    lines: list[str] = []
    run = Timer("weekly", None, None)
    with long_waits.shown_by(lines.append), run.lines(), run.step("notebook"):
        time.sleep(0.3)
    assert len(lines) >= 2 and lines[0] == "Report weekly runs its notebook: 0 s."
    count = len(lines)
    run = Timer("weekly", None, progress=False)
    with long_waits.shown_by(lines.append), run.lines(), run.step("notebook"):
        time.sleep(0.2)
    assert len(lines) == count, "a quiet command has none"


def test_lines_come_more_often_than_every_five_seconds() -> None:
    assert timer.SECONDS_BETWEEN_LINES < 5
    assert progress.SECONDS_BETWEEN_LINES < 5
