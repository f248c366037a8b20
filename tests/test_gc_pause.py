"""The garbage collector is the whole process's: it comes back, whoever paused it and in whatever order they are done."""

from __future__ import annotations

import gc
import itertools
import time

import pytest

from ledgerframes.gc_pause import pause_gc

PATIENCE = 20.0  # seconds


@pytest.fixture(autouse=True)
def collector_on() -> None:
    """A server of an earlier test may still be at work; what is off for longer was left off."""
    until = time.monotonic() + PATIENCE
    while not gc.isenabled() and time.monotonic() < until:
        time.sleep(0.01)
    assert gc.isenabled(), "somebody left the collector off"


def test_it_comes_back_after_the_last_pause() -> None:
    with pause_gc():
        with pause_gc():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.parametrize("ends", list(itertools.permutations(range(3))))
def test_pauses_that_overlap_may_end_in_any_order(ends: tuple[int, ...]) -> None:
    pauses = [pause_gc() for _ in ends]
    for pause in pauses:
        pause.__enter__()
    for number in ends:
        assert not gc.isenabled()
        pauses[number].__exit__(None, None, None)
    assert gc.isenabled()


def test_what_was_off_before_stays_off() -> None:
    gc.disable()
    try:
        with pause_gc():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
