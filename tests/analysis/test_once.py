"""What figures of the same frames need is computed once, and not kept for longer than the frames."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pandas as pd
from network_world import usual_world

import ledgerframes as lf
from ledgerframes.analysis._once import once_per_frames
from ledgerframes.frames import Frames


def test_a_value_is_computed_once_for_frames_and_options_and_dies_with_the_frames() -> None:
    calls: list[Any] = []

    @once_per_frames
    def value(frames: Frames, *, option: int = 0) -> object:
        calls.append(option)
        return Value()

    frames, others = usual_world().frames(), usual_world().frames()
    first = value(frames)
    assert value(frames) is first and value(frames, option=1) is not first and value(others) is not first
    assert calls == [0, 1, 0]
    alive = weakref.ref(first)
    del first, frames
    gc.collect()
    assert alive() is None


def test_with_an_option_that_can_change_the_value_is_computed_each_time() -> None:
    @once_per_frames
    def value(frames: Frames, option: pd.DataFrame) -> int:
        return len(option)

    frames = usual_world().frames()
    option = pd.DataFrame({"party": ["A"]})
    assert value(frames, option) == 1
    option.loc[1] = "B"
    assert value(frames, option) == 2


class Value:
    """An object whose end can be observed."""


def test_a_change_of_a_state_changes_no_other_figure() -> None:
    frames = usual_world().frames()
    rights = lf.state.featured(frames)
    rights.loc[:, "party"] = "nobody"
    assert set(lf.state.featured(frames)["party"]) == {"A", "B"}
