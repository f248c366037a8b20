"""Values of contracts as JSON texts, in each encoding of an API.

See docs/facts.md#value-encoding and docs/facts.md#history-value-encodings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from .times import instant

UNITS_PER_COIN = 10**10
TEXTS = (  # as people write them: accents, quotes, backslashes, line breaks, and ordinary words
    "Invoice 2026-118", "monthly settlement", "rent for the reading room", 'paid "in full", see ledger',
    "share\\folder\\november.csv", "Überweisung für März – danke", "кофе и два пирожка", "会議費 3 名分",
    "two lines:\nfirst half\tsecond half", "100 % of the ☕ fund", "refund of order 7731 / part 2", "",
)  # fmt: skip

Names = Mapping[str, Any]
Slot = Callable[[Names], str]


class Group(NamedTuple):
    """Format of a value that contains others, each with a key or not."""

    opening: str
    item: Callable[[str, str], str]
    closing: str
    empty: str


class Encoding(NamedTuple):
    """Formats of JSON text in which an API writes contract values."""

    name: str
    scalars: Mapping[str, str]
    converters: Mapping[str, Callable[[Any], str]]  # from a Python value; none if str() will do
    groups: Mapping[str, Group]
    optional: tuple[str, str]  # present and missing
    variant: str
    drops_trailing_nulls: bool = False


def decimal_text(units: int, zero: str = "0E-10") -> str:
    """Return an amount in units of 10**-10 as the ledger writes it, with ten decimals."""
    if not units:
        return zero
    whole, fraction = divmod(abs(units), UNITS_PER_COIN)
    return f"{'-' if units < 0 else ''}{whole}.{fraction:010d}"


def _ten_decimals(text: str) -> str:
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction:0<10}"


TAGGED_CONVERTERS: dict[str, Callable[[Any], str]] = {
    "text": lambda text: msgspec.json.encode(text).decode(),
    "contract": lambda contract: str(contract.identifier),
    "amount": decimal_text,
    "bool": lambda value: str(value).lower(),
}
PLAIN = Encoding(
    "compact_json",
    {
        "text": "%s", "bool": "%s", "unit": "{}",
        **dict.fromkeys(("party", "contract", "int", "amount", "numeric", "time", "enum"), '"%s"'),
    },
    {**TAGGED_CONVERTERS, "time": instant},
    {
        "record": Group("{", '"{}":{}'.format, "}", "{}"),
        "text map": Group("{", '"{}":{}'.format, "}", "{}"),
        "list": Group("[", "{}{}".format, "]", "[]"),
        "pairs": Group("[", "[{},{}]".format, "]", "[]"),
    },
    ("%s", "null"),
    '{"tag":"%s","value":%s}',
)  # fmt: skip
TAGGED = Encoding(  # each value in an object that names its type; record fields by position
    "protobuf_json",
    {
        "party": '{"party":"%s"}', "text": '{"text":%s}', "contract": '{"contractId":"%s"}', "int": '{"int64":"%s"}',
        "amount": '{"numeric":"%s"}', "numeric": '{"numeric":"%s"}', "bool": '{"bool":%s}',
        "time": '{"timestamp":"%s"}', "enum": '{"enum":{"constructor":"%s"}}', "unit": '{"unit":{}}',
    },
    TAGGED_CONVERTERS,
    {
        "record": Group('{"record":{"fields":[', '{{"value":{1}}}'.format, "]}}", '{"record":{"fields":[]}}'),
        "text map": Group('{"textMap":{"entries":[', '{{"key":"{}","value":{}}}'.format, "]}}", '{"textMap":{}}'),
        "list": Group('{"list":{"elements":[', "{}{}".format, "]}}", '{"list":{}}'),
        "pairs": Group('{"genMap":{"entries":[', '{{"key":{},"value":{}}}'.format, "]}}", '{"genMap":{}}'),
    },
    ('{"optional":{"value":%s}}', '{"optional":{}}'),
    '{"variant":{"constructor":"%s","value":%s}}',
)  # fmt: skip
# The ledger API writes ten decimals everywhere and no trailing nulls; the history API does not offer it.
LEDGER_CONVERTERS = {"amount": lambda units: decimal_text(units, "0.0000000000"), "numeric": _ten_decimals}
LEDGER = PLAIN._replace(name="ledger_json", converters={**PLAIN.converters, **LEDGER_CONVERTERS}, drops_trailing_nulls=True)
ENCODINGS = {encoding.name: encoding for encoding in (PLAIN, TAGGED)}
