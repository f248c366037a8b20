"""What the benchmarks keep is made from nothing; calm alone decides what counts; `benchmarks/run.py --quick` runs all, small."""

from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from cases import every_nth

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
READS = "import rounds; rounds.WAIT = 0; from warm_reads import warm_reads; print(len(warm_reads(4_000, 1)))"  # calm or not


@pytest.mark.exhaustive
def test_a_store_is_made_and_read(tmp_path: Path) -> None:
    environment = {**os.environ, "BENCH_FOLDER": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", READS], cwd=BENCHMARKS, env=environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "3\n"), ran.stderr[-3000:]


@pytest.mark.exhaustive
def test_weeks_for_findings_are_made_in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    findings = importlib.import_module("findings")
    for name, value in {"KEPT": tmp_path / "new", "WEEKS": 1, "EVENTS_PER_DAY": 250}.items():
        monkeypatch.setattr(findings, name, value)
    weeks = findings.weeks_of(99)
    assert [len(week["verdicts"]) for week in weeks] == [pytest.approx(1_750, rel=0.1)]


# -- calm moments ---------------------------------------------------------------------------------------------------


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    module = importlib.import_module("rounds")
    monkeypatch.setattr(module.Pace, "fastest", 1.0)
    return module


def one_after_the_other(rounds: ModuleType, *runs: tuple[float, float]) -> Callable[[], object]:
    made = iter([rounds.Run(*run) for run in runs])
    return lambda: next(made)


def test_rounds_are_held_until_enough_were_calm(rounds: ModuleType) -> None:
    run = one_after_the_other(rounds, (0, 1.0), (1, 1.2), (2, 9.0), (3, 1.1))  # the first is to get warm
    assert rounds.contest(2, {"one": run}) == [{"one": rounds.Run(3, 1.1)}, {"one": rounds.Run(1, 1.2)}]


def test_the_calmest_rounds_count_whatever_was_measured_in_them(rounds: ModuleType) -> None:
    loops = [1.3, 1.9, 1.4, 1.8]
    run = one_after_the_other(rounds, *((value, loop) for value, loop in enumerate(loops)))
    held = rounds.contest(2, {"one": run, "other": lambda: rounds.Run(1, 1.0)}, warm=False)
    assert [runs["one"].value for runs in held] == [0, 2]
    assert rounds.ratio(held, "one", "other") == rounds.middle(held, "one") == 1
    assert rounds.busy(held) == "the loop took at most 1.40 times its fastest"


def test_a_round_is_as_busy_as_its_busiest_run(rounds: ModuleType) -> None:
    calm, busy = one_after_the_other(rounds, (1, 1.0), (2, 1.0)), one_after_the_other(rounds, (1, 1.9), (2, 1.5))
    assert [runs["one"].value for runs in rounds.contest(1, {"one": calm, "other": busy}, warm=False)] == [2]


def test_every_other_round_goes_the_other_way_round(rounds: ModuleType) -> None:
    order: list[str] = []

    def run(name: str) -> object:
        order.append(name)
        return rounds.Run(1, 1.0)

    rounds.contest(3, {name: functools.partial(run, name) for name in "ab"}, warm=False)
    assert order == ["a", "b", "b", "a", "a", "b"]


def test_a_faster_loop_of_a_worker_is_known_from_then_on(rounds: ModuleType) -> None:
    run = one_after_the_other(rounds, (1, 1.2), (2, 0.5), (3, 0.6))
    assert [runs["one"].value for runs in rounds.contest(2, {"one": run}, warm=False)] == [2, 3]


@pytest.mark.parametrize(("loops", "before"), every_nth([([2.0, 1.1], 1.1), ([1.2], 1.2), ([2.0, 1.9], 1.9)], 3))
def test_a_run_waits_for_a_calm_moment_but_not_for_long(
    rounds: ModuleType, monkeypatch: pytest.MonkeyPatch, loops: list[float], before: float
) -> None:
    clock = iter([0.0, rounds.WAIT / 2, rounds.WAIT])
    monkeypatch.setattr(rounds.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(rounds.time, "sleep", lambda _: None)
    looks = iter([*loops, 1.0])
    assert rounds.Pace(lambda: next(looks)).measured(lambda: 5) == rounds.Run(5, before)
    assert next(looks, None) is None


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no core can be chosen here")
def test_the_loop_runs_in_a_process_on_each_core(rounds: ModuleType) -> None:
    allowed = os.sched_getaffinity(0)
    with rounds.AllCores() as cores:
        assert cores() > 0
        assert [os.sched_getaffinity(process.pid) for process in cores._processes] == [{core} for core in allowed]
    assert all(process.returncode is not None for process in cores._processes)
