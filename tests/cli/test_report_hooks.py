"""What runs after a report, and what it gets."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledgerframes.cli.report import _run_hook
from ledgerframes.errors import CoverageError

Run = Callable[..., Any]

FACTS = """
import json, os, sys
facts = {name: value for name, value in os.environ.items() if name.startswith("LEDGERFRAMES_REPORT")}
open("facts", "w").write(json.dumps([sys.argv[1:], facts]))
"""


def hook(*arguments: str) -> str:
    return shlex.join([sys.executable, "-c", FACTS, *arguments])


def facts(directory: Path) -> Any:
    return json.loads((directory / "facts").read_text())


def test_the_command_of_a_success_gets_the_page(run: Run, reported: Callable[..., None], tmp_path: Path) -> None:
    reported()
    result = run("report", "run", "verdicts", "--on-success", hook("a b", "$HOME"), "--on-failure", "false", "--quiet")
    assert (result.code, result.err) == (0, "")
    page = {"LEDGERFRAMES_REPORT": "verdicts", "LEDGERFRAMES_REPORT_PAGE": "r/key/index.html", "LEDGERFRAMES_REPORT_ERROR": ""}
    assert facts(tmp_path) == [["a b", "$HOME"], page], "no shell interprets it"


def test_the_command_of_a_failure_runs_for_a_profile_that_does_not_exist(run: Run, tmp_path: Path) -> None:
    failed = run("--profile", "mainet", "report", "run", "verdicts", "--on-failure", hook())
    assert failed.code == 2 and "mainet" in failed.err
    assert "mainet" in facts(tmp_path)[1]["LEDGERFRAMES_REPORT_ERROR"]


def test_the_output_of_a_command_is_not_in_the_document(capfd: pytest.CaptureFixture[str]) -> None:
    _run_hook([sys.executable, "-c", "print('sent')"], "verdicts")
    assert tuple(capfd.readouterr()) == ("", "sent\n")


def test_the_command_of_a_failure_gets_the_error(run: Run, reported: Callable[..., None], tmp_path: Path) -> None:
    reported(error=CoverageError("Nothing to report. Lower min_coverage=."))
    result = run("report", "run", "verdicts", "--on-success", "false", "--on-failure", hook())
    assert (result.code, result.err) == (3, "ledgerframes: Nothing to report. Lower --min-coverage.\n")
    assert facts(tmp_path)[1]["LEDGERFRAMES_REPORT_ERROR"] == "Nothing to report. Lower --min-coverage."
    assert facts(tmp_path)[1]["LEDGERFRAMES_REPORT_PAGE"] == ""


def test_the_command_of_a_failure_runs_after_an_interruption(run: Run, reported: Callable[..., None], tmp_path: Path) -> None:
    reported(error=KeyboardInterrupt())
    run("report", "run", "verdicts", "--on-failure", hook())
    assert facts(tmp_path)[1]["LEDGERFRAMES_REPORT_ERROR"] == "The run was interrupted."


def test_a_broken_rule_is_a_failure_with_a_page(run: Run, reported: Callable[..., None], tmp_path: Path) -> None:
    reported("wasted_share is 0.3, above 0.2")
    result = run("report", "run", "verdicts", "--on-success", "false", "--on-failure", hook())
    assert (result.code, result.err) == (6, "")
    assert "wasted_share is 0.3" in result.out
    quiet = run("report", "run", "verdicts", "--quiet")
    assert (quiet.code, quiet.out) == (6, "r/key/index.html\n"), "the page alone, and the reason where errors are"
    assert quiet.err == "ledgerframes: wasted_share is 0.3, above 0.2.\n"
    assert run("report", "run", "verdicts", "--quiet", "--json").err == ""
    assert facts(tmp_path)[1]["LEDGERFRAMES_REPORT_ERROR"] == "wasted_share is 0.3, above 0.2"
    assert facts(tmp_path)[1]["LEDGERFRAMES_REPORT_PAGE"] == "r/key/index.html"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("false", "ledgerframes: false ended with exit code 1.\n"),
        ("no-such-program", "ledgerframes: Cannot run no-such-program: No such file or directory.\n"),
    ],
)
def test_a_command_that_fails_is_told_and_the_report_stays(
    command: str, message: str, run: Run, reported: Callable[..., None]
) -> None:
    reported()
    result = run("report", "run", "verdicts", "--on-success", command, "--quiet")
    assert (result.code, result.out, result.err) == (0, "r/key/index.html\n", message)


def test_a_command_that_cannot_be_split_is_refused_before_the_run(run: Run, reported: Callable[..., None]) -> None:
    reported(error=AssertionError("the report was run"))
    result = run("report", "run", "verdicts", "--on-success", "mail 'me")
    assert (result.code, '--on-success must be a command, got "mail \'me"' in result.err) == (2, True)
