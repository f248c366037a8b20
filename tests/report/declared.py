"""Where values from JSON differ from declared types."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict


def differences(value: Any, hint: Any, path: str = "run") -> Iterator[str]:
    """Members on one side only, and values of other types, each with the names that lead to it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (NotRequired, Union, UnionType):
        yield from min((list(differences(value, each, path)) for each in arguments), key=len)
    elif type(value) not in kinds_of(hint):
        yield f"{path} is {value!r}"
    elif is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        yield from (f"{path}.{name} is on one side only" for name in sorted(value.keys() ^ hints.keys()))
        for name in value.keys() & hints.keys():
            yield from differences(value[name], hints[name], f"{path}.{name}")
    elif arguments:
        for name, each in enumerate(value) if origin is list else value.items():
            yield from differences(each, arguments[-1], f"{path}.{name}")


def kinds_of(hint: Any) -> tuple[type, ...]:
    """The types that values of a declared type can have."""
    if is_typeddict(hint):
        return (dict,)
    return (int, float) if hint is float else (get_origin(hint) or hint,)  # as type checkers do
