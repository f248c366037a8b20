"""Contract values in the two encodings of the history API.

See docs/facts.md#value-encoding and docs/facts.md#history-value-encodings.

Payloads are built through these methods, so that each value says its type where it is written. The compact
encoding drops the type at once; the other keeps it as a tag and drops the field names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from .times import instant

Json = Any
UNITS_PER_COIN = 10**10


def decimal_text(units: int) -> str:
    """Write an amount, given in units of 10**-10, as the ledger does: ten digits, zero as "0E-10"."""
    if not units:
        return "0E-10"
    sign = "-" if units < 0 else ""
    whole, fraction = divmod(abs(units), UNITS_PER_COIN)
    return f"{sign}{whole}.{fraction:010d}"


class CompactValues:
    """compact_json: plain JSON; integers and decimals as strings, None as null."""

    name = "compact_json"

    def record(self, fields: dict[str, Json]) -> Json:
        """Encode a record from its fields, in the order of the type's declaration."""
        return fields

    def party(self, identifier: str) -> Json:
        """Encode a party."""
        return identifier

    def text(self, text: str) -> Json:
        """Encode a text."""
        return text

    def contract(self, identifier: str) -> Json:
        """Encode a contract id."""
        return identifier

    def integer(self, value: int) -> Json:
        """Encode a 64-bit integer: a string."""
        return str(value)

    def amount(self, units: int) -> Json:
        """Encode a decimal given in units of 10**-10."""
        return decimal_text(units)

    def numeric(self, text: str) -> Json:
        """Encode a decimal given as it shall stand, such as "0.5"."""
        return text

    def boolean(self, value: bool) -> Json:
        """Encode a truth value."""
        return value

    def time(self, micros: int) -> Json:
        """Encode a time given in microseconds since 1970."""
        return instant(micros)

    def date(self, day: date) -> Json:
        """Encode a calendar day."""
        return day.isoformat()

    def optional(self, value: Json) -> Json:
        """Encode an optional of an already encoded value, or of None."""
        return value

    def list(self, values: Iterable[Json]) -> Json:
        """Encode a list of already encoded values."""
        return list(values)

    def text_map(self, entries: Mapping[str, Json]) -> Json:
        """Encode a map from texts to already encoded values."""
        return dict(entries)

    def pairs(self, entries: Iterable[tuple[Json, Json]]) -> Json:
        """Encode a general map of already encoded keys and values: a list of pairs."""
        return [list(entry) for entry in entries]

    def variant(self, constructor: str, value: Json) -> Json:
        """Encode a variant of an already encoded value."""
        return {"tag": constructor, "value": value}

    def enum(self, constructor: str) -> Json:
        """Encode an enumeration, or a result type with one constructor and no fields."""
        return constructor

    def unit(self) -> Json:
        """Encode the unit."""
        return {}

    def duration(self, micros: int) -> Json:
        """Encode a relative time, a record of one integer."""
        return self.record({"microseconds": self.integer(micros)})


class TypedValues(CompactValues):
    """protobuf_json: every value under a tag that names its type; record fields by position only."""

    name = "protobuf_json"

    def record(self, fields: dict[str, Json]) -> Json:
        """Encode a record: its fields by position."""
        return {"record": {"fields": [{"value": value} for value in fields.values()]}}

    def party(self, identifier: str) -> Json:
        """Encode a party."""
        return {"party": identifier}

    def text(self, text: str) -> Json:
        """Encode a text."""
        return {"text": text}

    def contract(self, identifier: str) -> Json:
        """Encode a contract id."""
        return {"contractId": identifier}

    def integer(self, value: int) -> Json:
        """Encode a 64-bit integer: a string under its tag."""
        return {"int64": str(value)}

    def amount(self, units: int) -> Json:
        """Encode a decimal given in units of 10**-10."""
        return {"numeric": decimal_text(units)}

    def numeric(self, text: str) -> Json:
        """Encode a decimal given as it shall stand."""
        return {"numeric": text}

    def boolean(self, value: bool) -> Json:
        """Encode a truth value."""
        return {"bool": value}

    def time(self, micros: int) -> Json:
        """Encode a time: its microseconds since 1970 as a string."""
        return {"timestamp": str(micros)}

    def date(self, day: date) -> Json:
        """Encode a calendar day: its days since 1970 as a number."""
        return {"date": (day - date(1970, 1, 1)).days}

    def optional(self, value: Json) -> Json:
        """Encode an optional: an empty object when there is nothing."""
        return {"optional": {} if value is None else {"value": value}}

    def list(self, values: Iterable[Json]) -> Json:
        """Encode a list: an empty object when it is empty."""
        elements = [*values]
        return {"list": {"elements": elements} if elements else {}}

    def text_map(self, entries: Mapping[str, Json]) -> Json:
        """Encode a map from texts."""
        return {"textMap": _entries({"key": key, "value": value} for key, value in entries.items())}

    def pairs(self, entries: Iterable[tuple[Json, Json]]) -> Json:
        """Encode a general map."""
        return {"genMap": _entries({"key": key, "value": value} for key, value in entries)}

    def variant(self, constructor: str, value: Json) -> Json:
        """Encode a variant."""
        return {"variant": {"constructor": constructor, "value": value}}

    def enum(self, constructor: str) -> Json:
        """Encode an enumeration."""
        return {"enum": {"constructor": constructor}}

    def unit(self) -> Json:
        """Encode the unit."""
        return {"unit": {}}


class LedgerValues(CompactValues):
    """The ledger API's plain JSON: ten decimals everywhere, and no trailing None (docs/facts.md#value-encoding)."""

    name = "ledger_json"

    def record(self, fields: dict[str, Json]) -> Json:
        """Encode a record; what is None at its end is left out."""
        if not fields or next(reversed(fields.values())) is not None:
            return fields
        kept = len(fields)
        for field in reversed(fields.values()):
            if field is not None:
                break
            kept -= 1
        return dict(list(fields.items())[:kept])

    def amount(self, units: int) -> Json:
        """Encode a decimal given in units of 10**-10, zero like any other."""
        return decimal_text(units) if units else "0.0000000000"

    def numeric(self, text: str) -> Json:
        """Encode a decimal given as text, with ten digits after the point."""
        if "E" in text:
            return self.amount(0)
        whole, _, fraction = text.partition(".")
        return f"{whole}.{fraction:0<10}"


def _entries(entries: Iterable[Json]) -> Json:
    listed = list(entries)
    return {"entries": listed} if listed else {}


ENCODINGS: dict[str, CompactValues] = {values.name: values for values in (CompactValues(), TypedValues())}
LEDGER = LedgerValues()  # not among them: the history API does not offer it
