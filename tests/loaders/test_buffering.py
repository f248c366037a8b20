from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from ledgerframes.loaders.buffering import Pipeline


def made(seconds: float, makers: list[int]) -> Iterator[int]:
    """Ten numbers, each so many seconds in coming; notes which thread made it."""
    for number in range(10):
        time.sleep(seconds)
        sum(range(20_000))  # takes longer than not waiting at all
        makers.append(threading.get_ident())
        yield number


@pytest.mark.parametrize(
    ("seconds", "idle_cores", "in_turn"), [(0, True, 10), (0.05, True, 1), (0, False, 10), (0.05, False, 10)]
)
def test_what_is_waited_for_is_made_ahead_and_what_is_computed_in_turn(seconds: float, idle_cores: bool, in_turn: int) -> None:
    makers: list[int] = []
    with Pipeline(idle_cores) as beside:
        assert list(beside.prefetch_when_waiting(made(seconds, makers))) == list(range(10))
    here = makers.count(threading.get_ident())
    if seconds or not idle_cores:
        assert here == in_turn
    else:
        assert here >= 1  # a machine that is busy makes it wait, too


def test_an_error_while_making_ahead_reaches_the_caller() -> None:
    def failing() -> Iterator[int]:
        time.sleep(0.05)
        yield 1
        raise ValueError("broken")

    came: list[int] = []
    with pytest.raises(ValueError, match="broken"), Pipeline(True) as beside:
        came.extend(beside.prefetch_when_waiting(failing()))
    assert came == [1]
