"""A report is made once for the same inputs, and what it is reused for needs no figure."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import ledgerframes as lf
from ledgerframes.errors import CoverageError
from ledgerframes.installation import code_digest
from ledgerframes.network import Network
from ledgerframes.report import ReportResult, run_report
from ledgerframes.report.coverage import Coverage
from ledgerframes.report.freeze import freeze_inputs
from ledgerframes.report.registry import REPORTS
from ledgerframes.values.windows import Window, instant

from .conftest import SINCE, UNTIL, Small, connect

AGAIN = """\
import json, sys
from pathlib import Path
import ledgerframes as lf
from ledgerframes.report import run_report
notebook, store, out, since, until = sys.argv[1:]
net = lf.connect("sandbox", events=600, days=2, store=store, provisional_minutes=0)
result = run_report(notebook, net=net, out=Path(out), since=since, until=until)
print(json.dumps([result.reused, list(sys.modules)]))
"""
NOT_NEEDED = ("matplotlib", "duckdb", "scipy", "nbformat", "nbclient", "IPython", "ledgerframes.plots")


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    parameters = new_code_cell("since = until = during = None", metadata={"tags": ["parameters"]}, id="parameters")
    path = tmp_path / "own.ipynb"
    nbformat.write(new_notebook(cells=[parameters]), path)
    return path


def run_again(small: Small, net: Network, out: Path) -> ReportResult:
    small("x = 1")
    return run_report("small", net=net, out=out, since=SINCE, until=UNTIL)


@pytest.mark.usefixtures("no_kernel")
def test_a_reused_report_imports_neither_engine_nor_pictures(net: Network, notebook: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert not run_report(str(notebook), net=net, out=out, since=SINCE, until=UNTIL).reused
    arguments = [str(notebook), str(net.settings.store), str(out), SINCE, UNTIL]
    done = subprocess.run([sys.executable, "-c", AGAIN, *arguments], capture_output=True, text=True, check=True)
    is_reused, modules = json.loads(done.stdout)
    assert is_reused
    assert not set(modules) & set(NOT_NEEDED)
    assert not [name for name in modules if name.startswith("ledgerframes.analysis.cost")]


def test_a_report_of_this_package_is_found_without_a_reader_of_notebooks() -> None:
    code = "from ledgerframes.report import run_report; import json, sys; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(json.loads(done.stdout)) & set(NOT_NEEDED)


@pytest.mark.usefixtures("no_kernel")
def test_a_reused_report_measures_nothing(net: Network, tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_again(small, net, tmp_path / "out")
    monkeypatch.setattr("ledgerframes.report.measurement.measure_inputs", None)
    again = run_again(small, net, tmp_path / "out")
    assert again.reused and again.key == first.key and again.run == first.run


@pytest.mark.usefixtures("no_kernel")
def test_a_run_of_a_release_without_digests_is_reused_too(net: Network, tmp_path: Path, small: Small) -> None:
    first = run_again(small, net, tmp_path / "out")
    path = first.directory / "run.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    del run["digest"]
    path.write_text(json.dumps(run), encoding="utf-8")
    again = run_again(small, net, tmp_path / "out")
    assert again.reused and again.key == first.key


@pytest.mark.usefixtures("no_kernel")
def test_a_report_is_made_again_after_a_change_of_the_code(
    net: Network, tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_again(small, net, tmp_path / "out")
    for module in ("freeze", "run"):
        monkeypatch.setattr(f"ledgerframes.report.{module}.code_digest", lambda: "changed")
    again = run_again(small, net, tmp_path / "out")
    assert not again.reused and again.key != first.key
    assert (first.run["inputs"]["code"], again.run["inputs"]["code"]) == (code_digest(), "changed")


def test_all_files_but_compiled_modules_are_the_code(tmp_path: Path) -> None:
    digests = []
    for name in ("module.py", "templates/page.html.j2", "module.py", "__pycache__/module.pyc"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{name} {len(digests)}", encoding="utf-8")
        code_digest.cache_clear()
        digests.append(code_digest(tmp_path))
    assert len(set(digests[:3])) == 3 and digests[2] == digests[3]


@pytest.mark.usefixtures("no_kernel")
def test_a_reused_report_must_meet_the_requirements_of_its_run(net: Network, tmp_path: Path, small: Small) -> None:
    run_again(small, net, tmp_path / "out")
    with pytest.raises(CoverageError, match="max_age"):
        run_report("small", net=net, out=tmp_path / "out", since=SINCE, until=UNTIL, max_age="1h")


@pytest.mark.usefixtures("no_kernel")
def test_the_coverage_of_a_run_is_read_back(net: Network, tmp_path: Path, small: Small) -> None:
    written = run_again(small, net, tmp_path / "out").run["coverage"]
    assert Coverage.from_dict(written).as_dict() == written


def test_contracts_that_a_report_reads_are_of_its_digest(net: Network, tmp_path: Path) -> None:
    def digest(name: str) -> str:
        window = Window(instant(SINCE, "since"), instant(UNTIL, "until"))
        return freeze_inputs(net, window, tmp_path / f"{name}.sqlite", REPORTS["activity"], {}, None).digest()

    lf.load_events(net, since=SINCE, until=UNTIL)
    before = digest("before")
    assert before == digest("again")
    lf.load_contracts(net)
    assert digest("after") != before


def test_rewards_that_a_node_has_answered_are_of_the_digest_of_their_report(tmp_path: Path) -> None:
    net = connect(tmp_path / "store")
    rounds = lf.activity.rewards(lf.load_events(net, since="0001-01-01"))["round_number"].tail(2)
    digests = []
    for number in range(2):
        window = Window(instant(SINCE, "since"), instant(UNTIL, "until"))
        catalogs = {name: tmp_path / f"{name}-{number}.sqlite" for name in ("activity", "verdicts")}
        inputs = {name: freeze_inputs(net, window, path, REPORTS[name], {}, None) for name, path in catalogs.items()}
        digests.append({name: each.digest() for name, each in inputs.items()})
        lf.load_reward_accounting(net, rounds=rounds)
    assert digests[0]["activity"] != digests[1]["activity"] and digests[0]["verdicts"] == digests[1]["verdicts"]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("no_kernel")
def test_a_notebook_of_ones_own_runs_again_after_any_change_of_the_store(notebook: Path, tmp_path: Path) -> None:
    """It can read all that the store has."""
    net, runs = connect(tmp_path / "store"), []
    for _ in range(2):
        runs.append(run_report(str(notebook), net=net, out=tmp_path / "out", since=SINCE, until=UNTIL))
        lf.load_price_votes(net)
    assert not any(run.reused for run in runs) and runs[0].key != runs[1].key
