"""Frames compared table by table."""

from __future__ import annotations

import pandas as pd

import ledgerframes as lf


def every_table(frames: lf.Frames) -> dict[str, pd.DataFrame]:
    return {name: frames.read(name) for name in frames.tables}


def assert_equal(left: dict[str, pd.DataFrame], right: dict[str, pd.DataFrame]) -> None:
    assert left.keys() == right.keys()
    for name, frame in left.items():
        pd.testing.assert_frame_equal(frame, right[name], obj=name)
