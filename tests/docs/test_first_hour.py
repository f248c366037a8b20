"""The commands of the first hour run on a served network, and print what the page shows."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import served

from ledgerframes.cli import main
from ledgerframes.cli.exit_codes import RULE
from ledgerframes.sandbox import Sandbox

PAGE = (Path(__file__).parents[2] / "docs" / "first-hour.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(console|text|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?=\S)", re.MULTILINE)  # a line that is indented continues a command
REPORT = re.compile(r"^ledgerframes report run verdicts (--during \S+).*")
# Reports have their own test, JupyterLab has tests in tests/cli, and the sandbox is served by a fixture.
NOT_RUN = ("ledgerframes report run", "ledgerframes report diff", "ledgerframes sandbox", "ledgerframes lab")


def blocks() -> list[tuple[str, str]]:
    return [(language, text) for language, text in BLOCK.findall(PAGE)]


def commands() -> list[tuple[str, str]]:
    """Every command with the output that the page shows after it."""
    pairs = zip(blocks(), [*blocks()[1:], ("", "")], strict=True)
    return [
        (line, output if language == "text" else "")
        for (kind, lines), (language, output) in pairs
        if kind == "console"
        for line in map(str.strip, COMMAND.split(lines))
        if line.startswith("ledgerframes ")
    ]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of the sandbox that the page serves."""
    (line,) = (line for line, _ in commands() if line.startswith("ledgerframes sandbox"))
    words = shlex.split(line)
    box = Sandbox(events=int(words[words.index("--events") + 1]), days=int(words[words.index("--days") + 1]))
    with served(box) as port:
        yield port


@pytest.fixture
def profile(port: int, own_settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile of the page, which its commands use."""
    (text,) = (text for language, text in blocks() if language == "toml")
    (own_settings / "ledgerframes.toml").write_text(text.replace("…", str(port)), encoding="utf-8")
    monkeypatch.setenv("LEDGERFRAMES_PROFILE", "local")


@pytest.mark.loopback
@pytest.mark.usefixtures("profile")
def test_commands_print_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    loads = [(REPORT.sub(r"ledgerframes sync events \1", line), "") for line, _ in commands() if REPORT.match(line)]
    run = [(line, output) for line, output in commands() if not line.startswith(NOT_RUN)]
    queries = [each for each in run if each[0].startswith("ledgerframes sql")]
    run = [*(each for each in run if each not in queries), *loads, *queries]  # the page queries after its reports
    assert len(run) >= 5
    others = []
    for line, output in run:
        capsys.readouterr()
        assert main(shlex.split(line)[1:]) == 0, line
        shown = capsys.readouterr().out
        if output and not is_like(shown, output):
            others.append(f"{line}\n{shown}")
    assert not others, "\n".join(others)


@pytest.mark.exhaustive
@pytest.mark.loopback
@pytest.mark.usefixtures("profile")
def test_reports_print_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (reason,) = re.findall(r"exits with code 6 and says why: `([^`]+)`", PAGE)
    first, second, difference = (each for each in commands() if each[0].startswith(NOT_RUN[:2]))
    assert main(shlex.split(first[0])[1:]) == 0
    assert is_like(capsys.readouterr().out, first[1])
    assert main(shlex.split(second[0])[1:]) == RULE
    assert reason in capsys.readouterr().out
    assert main(shlex.split(difference[0])[1:]) == 0


def is_like(shown: str, output: str) -> bool:
    """Whether an output is that of the page, where … stands for anything."""
    return doctest.OutputChecker().check_output(output.replace("…", "..."), shown, doctest.ELLIPSIS)


def test_options_exist(capsys: pytest.CaptureFixture[str]) -> None:
    for line, _ in commands():
        words = shlex.split(line)[1:]
        options = [word for word in words if word.startswith("--")]
        command = words[:2] if words[0] in ("sync", "report") else words[:1]
        assert main([*command, "--help"]) == 0
        shown = capsys.readouterr().out
        assert all(option in shown for option in options), line
