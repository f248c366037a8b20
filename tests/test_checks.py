"""Arguments that are numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from ledgerframes.errors import UsageError
from ledgerframes.values.checks import require_integer


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), pd.Series([3], dtype="Int64").iloc[0]], ids=repr)
def test_an_integer_of_any_kind_becomes_one_of_python(value: object) -> None:
    number = require_integer("top", value, 1, 3)
    assert (number, type(number)) == (3, int)


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        (0, "at least 1, got 0"),
        (np.int64(0), "at least 1, got np.int64(0)"),
        (1001, "at most 1,000, got 1001"),
        (True, "at least 1, got True"),
        (np.True_, "at least 1, got np.True_"),
        (3.0, "at least 1, got 3.0"),
        ("3", "at least 1, got '3'"),
        (None, "at least 1, got None"),
        (pd.NA, "at least 1, got <NA>"),
    ],
)
def test_others_are_refused_with_the_bound_that_they_miss(value: object, bound: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(f'top= must be a whole number of {bound}.')}$"):
        require_integer("top", value, 1, 1000)


def test_every_integer_fits_a_column() -> None:
    assert require_integer("offset", 2**63 - 1, 0) == 2**63 - 1
    with pytest.raises(UsageError, match="offset= must be a whole number of at most 9,223,372,036,854,775,807, got"):
        require_integer("offset", 2**63, 0)
