"""Figures that a plausible error would make wrong; `make mutants` plants these errors."""

from __future__ import annotations

import numpy as np

import ledgerframes as lf


def test_a_fall_is_never_above_its_usual_range() -> None:
    """Only a rise of waste matters, so limits have one side."""
    weeks = np.tile([20, 100], (6, 7, 1))
    found = lf.statistics.usual_range(weeks, [[0, 100], [20, 100], [60, 100]], "1d")
    assert found.periods.is_above.tolist() == [False, False, True]
