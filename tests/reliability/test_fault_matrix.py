"""Every fault against every loader: the undisturbed frames or a named error, and afterwards an exact load."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from campaign import Effort, tell
from loads import LOADS, Frames, network
from spoiling import FAULTS, REPEATED, SCHEDULES, Spoiler

import ledgerframes as lf
from ledgerframes.errors import LedgerframesError
from ledgerframes.network import Network
from ledgerframes.sandbox import Faults

# Faults of the sandbox; those of offers are in tests/wallet, where each offer is counted.
OF_SANDBOX = (
    "retry_after", "truncated_bodies", "html_instead_of_json", "not_an_event", "unknown_members", "string_integers",
    "old_service",
    "not_ready", "overload_409", "late_status", "token_mismatch", "digest_of_nothing", "no_ranges", "dropped_download",
    "truncated_object", "corrupt_object", "foreign_object",
)  # fmt: skip
# Columns in which a frame itself says what was wrong, so that it may differ there and only there.
SAID = {
    "unknown_members": ("extra", "local_metadata", "deduplication_period"),
    "digest_of_nothing": ("digest_status",),
}
QUICK = 66  # cells of the default tests
Cell = tuple[str, str, str]


def cells() -> list[Cell]:
    """Every fault, schedule and loader."""
    ours = list(product([*FAULTS, REPEATED], SCHEDULES, LOADS))
    return ours + list(product(OF_SANDBOX, ["always", "now and then"], LOADS))


def spread(every: list[Cell], count: int) -> Iterator[Cell]:
    """Cells with a step that shares no divisor with the numbers of loaders and schedules, so that all of them occur."""
    step = len(every) // count | 1
    while any(step % divisor == 0 for divisor in (3, 17)):
        step += 2
    return (every[number * step % len(every)] for number in range(count))


class Attack:
    """One cell: a network with a fault, a loader on it, and the same store without the fault."""

    def __init__(self, cell: Cell, store: Path) -> None:
        self.fault, self.schedule, self.loader = cell
        self.store = store
        self.spoilers: list[Spoiler] = []

    def disturbed(self) -> Network:
        if self.fault in OF_SANDBOX:
            share = 1.0 if self.schedule == "always" else 0.3
            refusals = {"too_many_requests": share} if self.fault == "retry_after" else {}
            return network(self.store, faults=Faults(**{self.fault: share}, **refusals, seed=3))

        def around(app):  # type: ignore[no-untyped-def]
            self.spoilers.append(Spoiler(app, self.fault, SCHEDULES[self.schedule]))
            return self.spoilers[0]

        return network(self.store, around=around)

    def load(self, net: Network) -> Frames | LedgerframesError:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return LOADS[self.loader](net)
            except LedgerframesError as error:
                return error

    @property
    def struck(self) -> int:
        return self.spoilers[0].struck if self.spoilers else 1


def same(left: Frames, right: Frames, *, ignore: tuple[str, ...] = ()) -> bool:
    def plain(frames: Frames, name: str) -> pd.DataFrame:
        return frames[name].drop(columns=["fetched_at", *ignore], errors="ignore")

    return left.keys() == right.keys() and all(plain(left, name).equals(plain(right, name)) for name in left)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Frames]:
    """The frames of each loader in a store of its own."""
    return cache(lambda name: LOADS[name](network(tmp_path_factory.mktemp("undisturbed"))))


def outcome(attack: Attack, expected: Frames) -> tuple[str, str]:
    """Return what the load gave, and what is wrong with that, if anything."""
    ignore = SAID.get(attack.fault, ())
    try:
        first = attack.load(attack.disturbed())
    except Exception as error:
        return "foreign", f"{type(error).__name__}: {str(error)[:200]}"
    if attack.struck == 0:
        return "untouched", "" if isinstance(first, dict) and same(first, expected) else f"differs without a fault: {first!r}"
    told = "frame" if isinstance(first, dict) else type(first).__name__
    if isinstance(first, dict) and not same(first, expected, ignore=ignore):
        return told, "silent difference"
    again = attack.load(network(attack.store))
    if isinstance(again, LedgerframesError):
        return told, f"not loaded afterwards: {again}"
    return told, "" if same(again, expected, ignore=ignore) else "silent difference afterwards"


@pytest.mark.parametrize("loader", LOADS)
def test_undisturbed_frames_or_a_named_error_and_afterwards_an_exact_load(
    loader: str, tmp_path: Path, effort: Effort, undisturbed: Callable[[str], Frames]
) -> None:
    every = cells()
    wrong = []
    for number, cell in enumerate(every if effort.is_soak else spread(every, QUICK)):
        if cell[2] != loader:
            continue
        attack = Attack(cell, tmp_path / str(number))
        told, problem = outcome(attack, undisturbed(attack.loader))
        tell(
            "faults",
            fault=attack.fault,
            schedule=attack.schedule,
            loader=attack.loader,
            outcome=told,
            problem=problem,
            struck=attack.struck,
        )
        if problem:
            wrong.append((*cell, told, problem))
    assert not wrong, "\n" + "\n".join(map(str, wrong))


def test_every_loader_is_disturbed() -> None:
    names = {name.partition(" ")[0] for name in LOADS}
    assert names == {name for name in dir(lf) if name.startswith("load_")}, "LOADS in loads.py has every loader"


def test_the_quick_cut_has_every_loader_schedule_and_nearly_every_fault() -> None:
    cut = list(spread(cells(), QUICK))
    assert len(set(cut)) == QUICK
    assert {loader for _, _, loader in cut} == set(LOADS)
    assert {schedule for _, schedule, _ in cut} == set(SCHEDULES)
    assert len({fault for fault, _, _ in cut}) > 0.9 * (len(FAULTS) + len(OF_SANDBOX))
