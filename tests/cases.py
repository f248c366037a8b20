"""Which cases of a long table every run tries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def every_nth(cases: Iterable[Any], n: int) -> list[ParameterSet]:
    """Return the cases of a parametrized test: `make test` tries the first of each `n`, and `make test-exhaustive` the others.

    A tuple is the values of several arguments.
    """
    return [_parameters(case, is_default=position % n == 0) for position, case in enumerate(cases)]


def only(is_default: Callable[[Any], bool], cases: Iterable[Any]) -> list[ParameterSet]:
    """Return the cases of a parametrized test: `make test` tries some of them, and `make test-exhaustive` the others."""
    return [_parameters(case, is_default=is_default(case)) for case in cases]


def _parameters(case: Any, *, is_default: bool) -> ParameterSet:
    marks = [] if is_default else [pytest.mark.exhaustive]
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, *marks])
    values = case if type(case) is tuple else (case,)  # a named tuple is one value
    return pytest.param(*values, marks=marks)
