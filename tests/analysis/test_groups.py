"""Rows in numbered groups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ledgerframes.analysis.groups import Groups
from ledgerframes.errors import IntegrityError


def groups_of(*codes: int) -> Groups:
    return Groups(pd.DataFrame({"name": ["a", "b", "c"]}), np.array(codes, dtype=np.int64))


def test_each_group_has_its_row_or_none() -> None:
    assert groups_of(2, 0).row_of_each().to_pylist() == [1, None, 0]
    assert groups_of().row_of_each().to_pylist() == [None, None, None]


def test_a_second_row_of_a_group_is_not_dropped() -> None:
    with pytest.raises(IntegrityError, match="A group has several rows"):
        groups_of(2, 0, 2).row_of_each()
