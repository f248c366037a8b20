"""Faults of response bodies, such as the same facts in the form of other versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

PARTS = ("update", "verdict", "traffic_summary", "app_activity_records")
COSTS = ("total_traffic_cost", "traffic_cost", "weight")
OFFSETS = (
    "offset", "lowestPageOffsetExclusive", "highestPageOffsetInclusive", "activeAtOffset", "completionOffset",
)  # fmt: skip
INTEGERS = frozenset(
    {"migration_id", "round_number", "reassignment_counter", "reassignmentCounter", "paidTrafficCost", *COSTS, *OFFSETS}
)
# Contract payloads belong to the contracts' authors, and services do not change them.
PAYLOADS = frozenset(
    {
        "create_arguments", "choice_argument", "exercise_result", "payload",
        "createArgument", "choiceArgument", "exerciseResult", "viewValue", "context",
    }
)  # fmt: skip


def not_an_event(response: Any) -> None:
    """Replace one item of a page with a value that is not an event."""
    for name in ("events", "transactions", "updates"):
        if isinstance(response, dict) and response.get(name):
            items = response[name]
            items[len(items) // 2] = {"update": 5}


def unknown_members(response: Any) -> None:
    """Add unknown members on every level of the envelope."""
    for value in list(_objects(response)):
        value["sandbox_extension"] = {"since": "9.9", "values": [1, None, "x"]}


def string_integers(response: Any) -> None:
    """Write the 64-bit integers of the envelope as strings (docs/facts.md#integers-as-text)."""
    for value in _objects(response):
        for name in INTEGERS & value.keys():
            value[name] = value[name] if value[name] is None else str(value[name])


def old_service(response: Any) -> None:
    """Remove the parts of events that are null."""
    for item in response.get("events", [response]) if isinstance(response, dict) else []:
        for part in PARTS:
            if part in item and item[part] is None:
                del item[part]


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Iterate over the objects of the envelope, without maps whose keys are data."""
    if isinstance(value, list):
        for element in value:
            yield from _objects(element)
    elif isinstance(value, dict):
        if not _is_map(value):
            yield value
        for name, element in value.items():
            if name not in PAYLOADS:
                yield from _objects(element)


def _is_map(value: dict[str, Any]) -> bool:
    """Return whether an object is a map, whose keys are data, or a one-of, which has one key."""
    if len(value) == 1 and (key := next(iter(value))) and (key == "value" or key[0].isupper()):
        return True
    return any(":" in key or key.isdecimal() for key in value)


RESPONSE_FAULTS: dict[str, Callable[[Any], None]] = {
    change.__name__: change for change in (not_an_event, unknown_members, string_integers, old_service)
}
