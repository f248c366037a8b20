"""Reads the order's own tables and lists of fields, so that what is served is held against them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ORDER = Path(__file__).parents[3] / "shared" / "order.md"
NAMED = re.compile(r"`?(\w+)`? \(([^()]*(?:\([^()]*\)[^()]*)*)\)")  # name (type, required; remarks)

needs_order = pytest.mark.skipif(not ORDER.exists(), reason="the order is not on this machine")


class Field(NamedTuple):
    """A field as the order describes it."""

    name: str
    type: str
    required: bool


@cache
def text() -> str:
    return ORDER.read_text()


def section(heading: str) -> str:
    """Return the text below a heading, up to the next one."""
    _, found, rest = text().partition(f"# {heading}\n")
    assert found, heading
    return re.split(r"\n#+ ", rest)[0]


def paragraph(start: str) -> str:
    """Return the paragraph (or line) that begins with some words."""
    found: list[str] = [line for line in text().splitlines() if line.startswith(start)]
    assert len(found) == 1, (start, len(found))
    return found[0]


def table(of: str, number: int = 0) -> list[dict[str, str]]:
    """Return a table of a text as a list of rows."""
    tables = re.findall(r"(?:^\|.*\|$\n?)+", of, flags=re.MULTILINE)
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables[number].splitlines()]
    return [dict(zip(head, row, strict=True)) for row in rows]


def fields_of_table(of: str, number: int = 0) -> list[Field]:
    """Return the fields that a table of a text lists."""
    return [Field(row["Field"].strip("`"), row["Type"], row.get("Required", "").startswith("yes")) for row in table(of, number)]


def fields_of_prose(of: str, all_required: bool = False) -> list[Field]:
    """Return the fields that a sentence lists: name (type, required), name (type, optional), …"""
    return [Field(name, what, all_required or "required" in what) for name, what in NAMED.findall(of)]


KINDS: list[tuple[str, type]] = [
    (r"^(string|party id|enum)", str),
    (r"^array of", list),
    (r"^(required )?(integer|int64|int32)", int),
    (r"^boolean", bool),
    (r"^(object|required one-of|TransactionViews|TraceContext|UpdateFormat|CreatedEvent)", dict),
]


def kind_of(field: Field) -> type:
    """Return what a field's values are in Python; where the order gives no type, anything goes."""
    return next((kind for pattern, kind in KINDS if re.search(pattern, field.type)), object)


def check(value: dict[str, Any], fields: list[Field], exact: bool = True) -> None:
    """Hold an object against the fields that the order gives it."""
    names = {field.name for field in fields}
    assert fields
    if exact:
        assert set(value) <= names, f"not in the order: {set(value) - names}"
    for field in fields:
        if field.required:
            assert field.name in value, f"required: {field.name}"
            assert value[field.name] is not None, f"null: {field.name}"
        found = value.get(field.name)
        if found is None:
            continue
        kind = kind_of(field)
        assert isinstance(found, kind), (field, found)
        assert kind is not int or not isinstance(found, bool), (field, found)
