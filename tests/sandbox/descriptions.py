"""The published description of the history API, from tests/data, to check requests and responses against."""

from __future__ import annotations

import re
from typing import Any

from .fields import content

Json = dict[str, Any]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
SCALARS: dict[str, type] = {"string": str, "integer": int, "boolean": bool}


def routes() -> list[Json]:
    """Return the routes that are described."""
    rows: list[Json] = content("history_routes")["routes"]
    return rows


def route(method: str, path: str) -> Json:
    """Return the description of one route."""
    (row,) = (row for row in routes() if (row["method"], row["path"]) == (method, path))
    return row


def require(value: Any, kind: str, where: str = "$") -> None:
    """Raise an AssertionError unless a value is an object of the description, without further members."""
    _require(value, _shape({"of": kind}), where)


def require_query(query: dict[str, Any], described: Json) -> None:
    """Raise an AssertionError unless the arguments of a query are as described."""
    names = described.get("query", {})
    assert set(query) <= set(names), set(query) - set(names)
    assert {name for name, shape in names.items() if shape["required"]} <= set(query)
    for name, value in query.items():
        shape = _shape(names[name])
        if shape["type"] == "integer":
            assert str(value).lstrip("-").isdecimal(), (name, value)
        elif shape["type"] == "time":
            assert TIME.fullmatch(str(value)), (name, value)


def _shape(shape: Json) -> Json:
    """Return a shape with the members of all its parts."""
    if "of" in shape:
        return _shape(content("history_routes")["objects"][shape["of"]])
    if "all_of" not in shape:
        return shape
    parts = [_shape(part) for part in shape["all_of"]]
    members = {name: member for part in parts for name, member in part["members"].items()}
    return {"type": "object", "members": members, "required": [name for part in parts for name in part["required"]]}


def _require(value: Any, shape: Json, where: str) -> None:
    if "one_of" in shape:
        _require_one(value, [_shape(option) for option in shape["one_of"]], where)
    elif shape["type"] == "array":
        assert isinstance(value, list), where
        assert len(value) >= shape.get("min_items", 0), where
        for number, item in enumerate(value):
            _require(item, _shape(shape["items"]), f"{where}[{number}]")
    elif shape["type"] == "object":
        _require_object(value, shape, where)
    elif shape["type"] == "time":
        assert TIME.fullmatch(str(value)), (where, value)
    elif shape["type"] != "any":
        kind = SCALARS[shape["type"]]
        assert isinstance(value, kind), (where, value)
        assert kind is not int or not isinstance(value, bool), (where, value)
        assert value in shape.get("values", [value]), (where, value)


def _require_one(value: Any, options: list[Json], where: str) -> None:
    failures = []
    for option in options:
        try:
            _require(value, option, where)
        except AssertionError as error:
            failures.append(error)
    assert len(failures) < len(options), (where, failures)


def _require_object(value: Any, shape: Json, where: str) -> None:
    assert isinstance(value, dict), where
    if "each" in shape:
        for name, item in value.items():
            _require(item, _shape(shape["each"]), f"{where}.{name}")
        return
    if "members" not in shape:  # a payload
        return
    assert set(value) <= set(shape["members"]), (where, set(value) - set(shape["members"]))
    assert set(shape["required"]) <= set(value), (where, set(shape["required"]) - set(value))
    for name, item in value.items():
        if item is not None or name in shape["required"]:
            _require(item, _shape(shape["members"][name]), f"{where}.{name}")
