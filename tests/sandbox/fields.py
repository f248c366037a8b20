"""Fields and operations of the specification, read from tests/data, to check responses against."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parents[1] / "data"
TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "any": object,
}


class Field(NamedTuple):
    """A field as the specification describes it."""

    name: str
    type: str
    required: bool


@cache
def content(name: str) -> Any:
    """Return the content of a JSON file in tests/data."""
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def fields_of(name: str) -> list[Field]:
    """Return the fields of an object."""
    return [Field(field, **about) for field, about in content("fields")["objects"][name].items()]


def names_of(name: str) -> set[str]:
    """Return the names of an object's fields."""
    return set(content("fields")["objects"][name])


def operations_of(api: str) -> list[dict[str, str]]:
    """Return the operations of an API."""
    return [row for row in content("operations") if row["api"] == api]


def check(value: dict[str, Any], fields: list[Field], exact: bool = True) -> None:
    """Compare an object with its specified fields."""
    assert fields
    if exact:
        names = {field.name for field in fields}
        assert set(value) <= names, f"not specified: {set(value) - names}"
    for field in fields:
        if field.required:
            assert field.name in value, f"required: {field.name}"
            assert value[field.name] is not None, f"null: {field.name}"
        member = value.get(field.name)
        if member is None:
            continue
        kind = TYPES[field.type]
        assert isinstance(member, kind), (field, member)
        assert kind is not int or not isinstance(member, bool), (field, member)
