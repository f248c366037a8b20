"""The ready-made schedules of the docs name commands that exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace

import jinja2
import pytest

from ledgerframes.cli import main
from ledgerframes.report import REPORTS

PAGE = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")
(DAG,) = re.findall(r"```py\n(from datetime.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r'ledgerframes report run (.*?)(?:",)?$', PAGE, re.MULTILINE)


def test_every_command_has_a_report_and_known_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "run", "--help"]) == 0
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    assert len(COMMANDS) >= 6
    for command in COMMANDS:
        name, *words = shlex.split(command)
        assert name in REPORTS or name.endswith(".ipynb"), command
        assert {word for word in words if word.startswith("--")} <= known, command


def test_the_cron_line_has_five_fields() -> None:
    (line,) = re.findall(r"^(\d.*) cd /srv", PAGE, re.MULTILINE)
    assert len(line.split()) == 5


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed.")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    service, timer = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)
    units = [tmp_path / "ledgerframes-report.service", tmp_path / "ledgerframes-report.timer"]
    there = service.replace("/srv/ledger/.venv/bin/ledgerframes", "/bin/true").replace("/srv/ledger", str(tmp_path))
    for unit, text in zip(units, (there, timer), strict=True):
        unit.write_text(text, encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def bash_command(monkeypatch: pytest.MonkeyPatch) -> str:
    """The command of the Airflow task, with its template."""
    tasks: list[str] = []
    operators = SimpleNamespace(
        DAG=lambda *_, **__: nullcontext(), BashOperator=lambda *, task_id, bash_command, cwd: tasks.append(bash_command)
    )
    for name in ("airflow.providers.standard.operators.bash", "airflow.sdk"):
        module = ModuleType(name)
        vars(module).update(vars(operators))
        monkeypatch.setitem(sys.modules, name, module)
    exec(compile(DAG, "docs/reports.md", "exec"), {})
    return tasks[0]


@pytest.mark.parametrize("interval", [timedelta(0), timedelta(days=1)], ids=["CronTriggerTimetable", "CronDataIntervalTimetable"])
def test_the_airflow_task_reports_on_the_day_before_its_run(bash_command: str, interval: timedelta) -> None:
    run = datetime(2026, 11, 9, 2, 30, tzinfo=UTC)
    environment = jinja2.Environment(autoescape=True)
    environment.filters["ds"] = lambda time: time.strftime("%Y-%m-%d")
    macros = SimpleNamespace(ds_add=lambda day, days: (datetime.fromisoformat(day) + timedelta(days=days)).strftime("%Y-%m-%d"))
    words = environment.from_string(bash_command).render(data_interval_start=run - interval, data_interval_end=run, macros=macros)
    assert "--during 2026-11-08 " in words
