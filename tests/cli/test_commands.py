"""Each command as text and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.api.tokens import token_source
from ledgerframes.cli import lab
from ledgerframes.cli.app import app
from ledgerframes.cli.exit_codes import EXIT_CODES
from ledgerframes.cli.options import COMMON
from ledgerframes.cli.sync_reference import OBSERVATIONS
from ledgerframes.datasets import EVENT_TABLES, TABLES
from ledgerframes.datasets.bookkeeping import PLAN
from ledgerframes.report import REPORTS
from ledgerframes.sandbox import Faults
from ledgerframes.settings import SandboxShape, load_settings
from ledgerframes.values.windows import parse_duration

Run = Callable[..., Any]

DAY = ("--since", "2026-11-08", "--until", "2026-11-09")
COMMANDS = (
    ["sync", "events"],
    ["state"],
    ["verify"],
    ["tables"],
    ["store", "info"],
    ["report", "list"],
    ["report", "run"],
    ["sandbox"],
    ["doctor"],
    ["lab"],
)


# -- help ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_shows_the_common_options(run: Run, command: list[str]) -> None:
    shown = run(*command, "--help").out
    assert shown.startswith(f"Usage: ledgerframes {' '.join(command)} [OPTIONS]")
    for option in ("--profile", "--store", "--offline", "--json", "--quiet", "--verbose", "--log-json"):
        assert option in shown


def test_help_lists_commands_and_exit_codes(run: Run) -> None:
    shown = run("--help").out
    assert run().out == run("-h").out == shown
    assert all(f" {command.name} " in shown for command in app.registered_commands if command.name)
    assert all(meaning in shown for meaning in EXIT_CODES.values())


def test_help_names_every_fault(run: Run) -> None:
    shown = "".join(run("sandbox", "--help").out.split())
    assert all(name in shown for name in Faults.__dataclass_fields__)


def test_help_fits_into_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("--help").out
    assert max(map(len, shown.splitlines())) <= 80
    assert "..." not in shown.partition("Commands:")[2]


def test_shell_completion(run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--install-completion" in run("--help").out
    for name, value in {"COMPLETE": "complete_bash", "COMP_WORDS": "ledgerframes sync ", "COMP_CWORD": "2"}.items():
        monkeypatch.setenv(f"_LEDGERFRAMES_{name}" if name == "COMPLETE" else name, value)
    with pytest.raises(SystemExit):
        run()
    assert capsys.readouterr().out.split() == ["events", "updates", "bulk", *OBSERVATIONS]


def test_version(run: Run) -> None:
    assert run("--version").out.startswith("ledgerframes 0.")


# -- common options -----------------------------------------------------------------------------------------------


def test_common_options_before_and_after_the_command(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ledgerframes.toml").write_text('[one]\nnetwork = "first"\n[two]\nnetwork = "second"\n')
    named = [
        run("--profile", "one", "--json", "store", "info"),
        run("store", "info", "--profile", "one", "--json"),
        run("--json", "--profile", "two", "store", "info", "--profile", "one"),
    ]
    assert [result.document["network"] for result in named] == ["first"] * 3
    assert len(COMMON) == 7


@pytest.mark.usefixtures("copied_first_loads")
def test_quiet_hides_summaries_but_not_results(run: Run) -> None:
    assert run("sync", "events", *DAY, "--quiet").out == ""
    assert run("store", "info", "--quiet").out != ""
    assert run("sync", "events", *DAY, "--quiet", "--json").document["requests"] == 0


def test_nothing_but_the_document_is_on_stdout(run: Run) -> None:
    result = run("--json", "--verbose", "sync", "events", *DAY)
    assert json.loads(result.out)["requests"] > 0


# -- sync and store -----------------------------------------------------------------------------------------------


def test_sync_by_range(run: Run) -> None:
    plan = run("sync", "events", *DAY, "--dry-run", "--json").document
    missing = dict.fromkeys(PLAN.column_names)
    expected = {"dataset": "events", "since": "2026-11-08T00:00:00Z", "until": "2026-11-09T00:00:00Z"}
    assert plan["plan"] == [{**missing, **expected}]
    assert "unknown" in run("sync", "events", *DAY, "--dry-run").out
    first, again = run("sync", "events", *DAY, "--json").document, run("sync", "events", *DAY, "--json").document
    assert set(first["rows"]) == {table.name for table in EVENT_TABLES}
    assert first["rows"] == again["rows"]
    assert (first["requests"] > 0, again["requests"]) == (True, 0)
    assert "0 (already in the store)" in run("sync", "events", *DAY).out
    assert run("sync", "events", *DAY, "--dry-run").out.startswith("Nothing to fetch")
    assert run("sync", "events", *DAY, "--offline", "--json").document["rows"] == first["rows"]


def test_sync_counts_provisional_rows(run: Run) -> None:
    assert "(the next sync fetches them again)" in run("sync", "events", "--during", "today").out


def test_sync_by_id(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from ledgerframes import Frames
    from ledgerframes.loaders.events import load_events
    from ledgerframes.network import connect

    frames = load_events(connect(events=400, days=1, store=tmp_path / "other"), during="2026-11-08")
    assert isinstance(frames, Frames)
    ids = frames.verdicts["update_id"].head(3).tolist()
    (tmp_path / "ids").write_text("\n".join(ids))
    assert run("sync", "events", "--update-ids", "ids", "--dry-run", "--json").document["plan"] == [
        {**dict.fromkeys(PLAN.column_names), "dataset": "events_by_id", "update_id": each} for each in ids
    ]
    assert run("sync", "events", "--update-ids", "ids", "--json").document["rows"]["verdicts"] == 3
    assert "update ids" in run("store", "info").out
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(ids)))
    assert run("sync", "events", "--update-ids", "-", "--json").document["requests"] == 0


@pytest.mark.usefixtures("copied_first_loads")
def test_ids_of_a_csv_of_our_own(run: Run, tmp_path: Path) -> None:
    run("sync", "events", "--during", "2026-11-08")
    columns = "update_id", "record_time, update_id"
    for number, names in enumerate(columns):
        text = run("sql", f"SELECT {names} FROM verdicts ORDER BY record_time LIMIT 3", "--csv").out
        (tmp_path / f"{number}.csv").write_text(text)
        document = run("sync", "events", "--update-ids", tmp_path / f"{number}.csv", "--json").document
        assert document["rows"]["verdicts"] == 3
    (tmp_path / "quoted").write_text("\n".join(line for line in text.replace(",", "\n").split("\n") if line.startswith('"1220')))
    assert run("sync", "events", "--update-ids", tmp_path / "quoted", "--json").document["rows"]["verdicts"] == 3


@pytest.mark.parametrize("command", ["price-votes", "name-rules"])
def test_sync_of_reference_data(run: Run, command: str) -> None:
    document = run("sync", command, "--json").document
    assert document["observations"] == 1
    assert document["rows"] > 0
    assert "observations" in run("sync", command).out


def test_sync_of_updates_has_a_dry_run_and_workers(run: Run) -> None:
    (planned,) = run("sync", "updates", "--through", "300", "--dry-run", "--json").document["plan"]
    assert (planned["dataset"], planned["after"], planned["through"]) == ("ledger", 0, 300)
    assert "through offset" in run("sync", "updates", "--through", "1200", "--dry-run").out
    rows = run("sync", "updates", "--through", "300", "--workers", "1", "--json").document["rows"]
    assert run("sync", "updates", "--through", "300", "--json").document["rows"] == rows
    assert run("sync", "updates", "--through", "300", "--dry-run").out.startswith("Nothing to fetch")


@pytest.mark.usefixtures("copied_first_loads")
def test_store_info(run: Run) -> None:
    empty = run("store", "info", "--json").document
    assert (empty["exists"], empty["segments"], empty["coverage"]) == (False, 0, [])
    assert "The store has no data" in run("store", "info").out
    rows = run("sync", "events", *DAY, "--json").document["rows"]
    for problem in lf.load_events(lf.connect(offline=True), since="2026-11-08", until="2026-11-09").problems.itertuples():
        rows[problem.table] += problem.rows  # stored, because another window can begin between two verdicts
    info = run("store", "info", "--json").document
    stored = {name: table["rows"] for name, table in info["tables"].items()}
    assert stored == {f"events.{name}": n for name, n in rows.items() if n}
    assert sum(each["rows"] for each in info["coverage"]) == sum(rows.values())
    assert {each["status"] for each in info["coverage"]} == {"final"}
    assert "final" in run("store", "info").out
    ids = lf.load_events(lf.connect(offline=True), since="2026-11-08", until="2026-11-09").verdicts["update_id"].head(3)
    lf.load_events(lf.connect(), update_ids=ids)
    again = run("store", "info", "--json").document["tables"]
    assert again["events.verdicts"] == info["tables"]["events.verdicts"]
    assert again["events_by_id.verdicts"]["rows"] == 3
    assert "events_by_id.verdicts" in run("store", "info").out


# -- tables -------------------------------------------------------------------------------------------------------


def test_tables(run: Run) -> None:
    listed = run("tables").out
    assert all(f"{table.name} " in listed and table.row_description in listed for table in TABLES.values())
    assert [table["name"] for table in run("tables", "--json").document] == list(TABLES)


def test_one_table(run: Run) -> None:
    traffic = TABLES["traffic"]
    shown = run("tables", "traffic").out
    for column in traffic.columns:
        assert column.description in shown
        assert f"({column.reference})" in shown
        assert f"[{column.unit}]" in shown or not column.unit
    assert [column["name"] for column in run("tables", "traffic", "--json").document["columns"]] == list(traffic.column_names)


# -- report -------------------------------------------------------------------------------------------------------


def test_reports_are_listed(run: Run) -> None:
    assert [each["name"] for each in run("report", "list", "--json").document] == list(REPORTS)
    assert all(each.purpose in run("report", "list").out for each in REPORTS.values())


def test_report_run_passes_its_options(run: Run, reported: Callable[..., dict[str, Any]]) -> None:
    passed = reported()
    arguments = [
        "report",
        "run",
        "verdicts",
        "--during",
        "2026-11-08",
        "--out",
        "r",
        "--min-coverage",
        "0.95",
        "--max-age",
        "36h",
    ]
    assert run(*arguments, "--param", "top=3", "--quiet").out == "r/key/index.html\n"
    assert (passed["name"], passed["out"]) == ("verdicts", Path("r"))
    assert (passed["during"], passed["min_coverage"]) == ("2026-11-08", 0.95)
    assert (passed["max_age"], passed["parameters"], passed["progress"]) == ("36h", {"top": "3"}, False)
    document = run(*arguments, "--json").document
    assert (document["report"], document["page_path"], document["run"]["network"]) == ("verdicts", "r/key/index.html", "devnet")
    lines = [line.split(maxsplit=1) for line in run(*arguments).out.splitlines()]
    assert lines[1:4] == [["network", "devnet"], ["final", "24.3 % of the window"], ["status", "published"]]


@pytest.mark.parametrize(("text", "hours"), [("90m", 1.5), ("36h", 36), ("1.5d", 36), ("1W", 168)])
def test_durations(text: str, hours: float) -> None:
    assert parse_duration("--max-age", text) == timedelta(hours=hours)


# -- sandbox ------------------------------------------------------------------------------------------------------


def test_sandbox_options(run: Run, servings: list[Any]) -> None:
    options = [
        "--seed",
        "7",
        "--events",
        "500",
        "--days",
        "2",
        "--vocabulary",
        "canton",
        "--fault",
        "old-service=1e-3",
        "--fault",
        "seed=3",
    ]
    document = run("sandbox", "--port", "8765", *options, "--json").document
    [(box, port, host)] = servings
    assert (document["name"], document["history_url"]) == (box.name, "http://127.0.0.1:8765/api/scan")
    assert "seed7-events500-days2-canton" in box.name
    assert (port, host, box.faults) == (8765, "127.0.0.1", Faults(old_service=0.001, seed=3))


@pytest.mark.usefixtures("servings")
def test_the_day_that_a_sandbox_proposes_is_one_of_its_history(run: Run) -> None:
    for speed in ((), ("--speed", "60")):
        shown = run("sandbox", "--port", "8765", "--events", "400", "--days", "1", *speed).out
        assert "record times  2026-11-08" in shown and "sync events --during 2026-11-08" in shown


@pytest.mark.usefixtures("servings")
def test_sandbox_prints_a_valid_profile(run: Run, tmp_path: Path) -> None:
    shown = run("sandbox", "--port", "8765").out
    section = [line.strip() for line in shown.splitlines() if (line.startswith("    ") and "=" in line) or "[local]" in line]
    (tmp_path / "ledgerframes.toml").write_text("\n".join(section))
    document = run("store", "info", "--profile", "local", "--json").document
    assert document["network"].endswith("-served")
    assert token_source(load_settings("local"))() == "sandbox-token"


@pytest.mark.usefixtures("servings")
@pytest.mark.parametrize("vocabulary", ["neutral", "canton", {"coin": "gem", "lang": "pidgin"}])
def test_sandbox_prints_the_vocabulary_of_the_settings(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vocabulary: str | dict[str, str]
) -> None:
    if isinstance(vocabulary, str):
        monkeypatch.setenv("LEDGERFRAMES_VOCABULARY", vocabulary)
    else:
        (tmp_path / "ledgerframes.toml").write_text('[sandbox]\nvocabulary = { coin = "gem", lang = "pidgin" }\n')
    assert run("sandbox", "--port", "8765", "--json").document["vocabulary"] == vocabulary
    (line,) = (line for line in run("sandbox", "--port", "8765").out.splitlines() if "vocabulary" in line)
    assert tomllib.loads(line.strip()) == {"vocabulary": vocabulary}


def test_sandbox_names_the_defaults_of_the_settings(run: Run) -> None:
    shown = run("sandbox", "--help").out
    defaults = SandboxShape()
    assert f"events (default: {defaults.events})" in shown
    assert f"history (default: {defaults.days})" in shown


def test_sandbox_that_is_too_small_says_so_once(run: Run) -> None:
    shown = run("sandbox", "--port", "8765", "--events", "10", "--days", "9").err
    assert "fewer days. Run" in shown


# -- lab ----------------------------------------------------------------------------------------------------------


def test_notebooks_are_copied_and_never_overwritten(tmp_path: Path) -> None:
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    shipped.mkdir()
    (shipped / "01.ipynb").write_text("one")
    (shipped / "02.ipynb").write_text("two")
    assert lab.copy_notebooks(shipped, own) == (["01.ipynb", "02.ipynb"], [])
    (own / "01.ipynb").write_text("mine")
    (own / "02.ipynb").unlink()
    assert lab.copy_notebooks(shipped, own) == (["02.ipynb"], ["01.ipynb"])
    assert (own / "01.ipynb").read_text() == "mine"


class Ended(nullcontext[Any]):
    """JupyterLab, which has ended."""

    def __init__(self, exit_code: int = 0) -> None:
        super().__init__()
        self.exit_code = exit_code

    def wait(self) -> int:
        return self.exit_code

    terminate = wait

    def __enter__(self) -> Ended:
        return self


def test_lab(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(
        subprocess, "Popen", lambda *arguments, **options: started.append((*arguments, options["env"])) or Ended()
    )
    directory = tmp_path / "own"
    assert run("lab", "--dir", directory, "--print-dir").out == f"{directory}\n"
    assert started == []
    assert "01_first_frames.ipynb" in run("lab", "--dir", directory, "--no-browser", "--profile", "live", "--", "--port=8899").out
    [(arguments, environment)] = started
    assert arguments[1:] == ["-m", "jupyterlab", f"--ServerApp.root_dir={directory}", "--no-browser", "--port=8899"]
    assert environment["LEDGERFRAMES_PROFILE"] == "live"
    assert "LEDGERFRAMES_CONFIG" not in environment


def test_notebooks_of_lab_have_the_settings_of_the_directory_in_which_it_starts(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[dict[str, str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **options: started.append(options["env"]) or Ended())
    monkeypatch.setenv("LEDGERFRAMES_STORE", "data")
    (tmp_path / "ledgerframes.toml").write_text('[live]\nhistory_url = "https://live.invalid"\ntoken_file = "token"\n')
    run("lab")
    for name, value in started[0].items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path / "ledgerframes-notebooks")
    net = lf.connect("live")
    assert (net.settings.token_file, str(net.store.location)) == (tmp_path / "token", f"{tmp_path}/data/live")


@pytest.mark.parametrize(("user", "options", "code"), [(0, (), 2), (0, ("--", "--allow-root"), 1), (1000, (), 1)])
def test_lab_tells_root_of_the_option_that_it_needs(
    user: int, options: tuple[str, ...], code: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: Ended(exit_code=1))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    result = run("lab", "--dir", tmp_path / "own", *options)
    assert (result.code, "Run `ledgerframes lab -- --allow-root`." in result.err) == (code, code == 2)


def test_lab_in_a_directory_that_cannot_be_created(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("lab", "--print-dir", "--dir", tmp_path / "file" / "own")
    assert (result.code, "another --dir" in result.err) == (1, True)
