"""Changes to the body of a good answer: what other versions and other services do to the same facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

PARTS = ("update", "verdict", "traffic_summary", "app_activity_records")
COSTS = ("total_traffic_cost", "traffic_cost", "weight")
OFFSETS = (
    "offset", "lowestPageOffsetExclusive", "highestPageOffsetInclusive", "activeAtOffset", "completionOffset",
)  # fmt: skip
INTEGERS = frozenset(
    {"migration_id", "round_number", "reassignment_counter", "reassignmentCounter", "paidTrafficCost", *COSTS, *OFFSETS}
)
# Contract payloads belong to the contracts' authors: services do not touch them.
PAYLOADS = frozenset(
    {
        "create_arguments", "choice_argument", "exercise_result", "payload",
        "createArgument", "choiceArgument", "exerciseResult", "viewValue", "context",
    }
)  # fmt: skip


def not_an_event(body: bytes) -> bytes:
    """Replace one item of a page by something that is none."""
    answer = msgspec.json.decode(body)
    for name in ("events", "transactions", "updates"):
        if isinstance(answer, dict) and answer.get(name):
            items = answer[name]
            items[len(items) // 2] = {"update": 5}
    return msgspec.json.encode(answer)


def unknown_members(body: bytes) -> bytes:
    """Add members that no specification names, on every level of the envelope."""
    answer = msgspec.json.decode(body)
    for found in list(_objects(answer)):
        found["sandbox_extension"] = {"since": "9.9", "values": [1, None, "x"]}
    return msgspec.json.encode(answer)


def string_integers(body: bytes) -> bytes:
    """Write the 64-bit integers of the envelope as strings (docs/facts.md#integers-as-text)."""
    answer = msgspec.json.decode(body)
    for found in _objects(answer):
        for name in INTEGERS & found.keys():
            found[name] = found[name] if found[name] is None else str(found[name])
    return msgspec.json.encode(answer)


def old_service(body: bytes) -> bytes:
    """Leave out the parts of events that are null."""
    answer = msgspec.json.decode(body)
    for item in answer.get("events", [answer]) if isinstance(answer, dict) else []:
        for part in PARTS:
            if part in item and item[part] is None:
                del item[part]
    return msgspec.json.encode(answer)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Iterate over the objects of the envelope, but not over maps whose keys are data."""
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
    """Tell maps, whose keys are data, and one-ofs, which have one key only, from objects."""
    if len(value) == 1 and (key := next(iter(value))) and (key == "value" or key[0].isupper()):
        return True
    return any(":" in key or key.isdecimal() for key in value)


BODIES: dict[str, Callable[[bytes], bytes]] = {
    "not_an_event": not_an_event,
    "unknown_members": unknown_members,
    "string_integers": string_integers,
    "old_service": old_service,
}
