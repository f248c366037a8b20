"""Which cases of a long table every run tries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def every_nth(cases: Iterable[Any], n: int) -> list[Any]:
    """Return the cases of a parametrized test: `make test` tries the first of each `n`, and `make test-exhaustive` the others.

    A tuple is the values of several arguments.
    """
    return [case if position % n == 0 else _exhaustive(case) for position, case in enumerate(cases)]


def _exhaustive(case: Any) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.exhaustive])
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.exhaustive)
