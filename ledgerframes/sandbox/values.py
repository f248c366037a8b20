"""Notation for contract payloads, and its compiler for each JSON encoding.

A payload gives each value a type and the name of its source, which is the field's own name by default:
``{owner: party, amount: {initialAmount: amount units, rate: numeric '0.1'}, expiresAt: time now+7d}``.

=================================  =================================================================
``party``, ``text``, ``int``, …    Scalar from a name, or from a 'literal'
``{a: T}``, ``map{a: T}``          Record and text map
``[T, T]``, ``pairs[K => V]``      List and general map; ``T * source`` repeats T for each item
``?T``, ``?source:T``, ``none``    Optional; the second form is missing if the source is None
``<Tag T>``, ``unit``, ``@name``   Variant, unit, and a fragment that is declared once
=================================  =================================================================

See docs/facts.md#value-encoding and docs/facts.md#history-value-encodings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from .times import DAY, HOUR, SECOND, instant

UNITS_PER_COIN = 10**10
TOKEN = re.compile(r"'[^']*'|map\{|pairs\[|[\w.]+(?:[+-]\d+[a-z]+)?|=>|[^\s\w]")
SHIFTED_TIME = re.compile(r"(\w*?)([+-]?\d+)(us|s|m|h|d)")
TIME_UNITS = {"us": 1, "s": SECOND, "m": 60 * SECOND, "h": HOUR, "d": DAY}
TEXTS = (  # as people write them: accents, quotes, backslashes, line breaks, and ordinary words
    "Invoice 2026-118", "monthly settlement", "rent for the reading room", 'paid "in full", see ledger',
    "share\\folder\\november.csv", "Überweisung für März – danke", "кофе и два пирожка", "会議費 3 名分",
    "two lines:\nfirst half\tsecond half", "100 % of the ☕ fund", "refund of order 7731 / part 2", "",
)  # fmt: skip

Names = Mapping[str, Any]
Slot = Callable[[Names], str]
Piece = tuple[str, tuple[Slot, ...]]  # a format with one %s for each slot


class Group(NamedTuple):
    """Format of a value that contains others, each with a key or not."""

    opening: str
    item: Callable[[str, str], str]
    closing: str
    empty: str


class Item(NamedTuple):
    """A compiled item of a group, with the source that repeats it or that may be missing."""

    piece: Piece
    source: str
    optional: str


class Encoding(NamedTuple):
    """Formats of JSON text in which an API writes contract values."""

    name: str
    scalars: Mapping[str, str]
    converters: Mapping[str, Callable[[Any], str]]  # from a Python value; none if str() will do
    groups: Mapping[str, Group]
    optional: tuple[str, str]  # present and missing
    variant: str
    drops_trailing_nulls: bool = False


def compile_payload(notation: str, encoding: Encoding, fragments: Mapping[str, str]) -> Slot:
    """Return the function that renders a payload as JSON text from the names of a transaction."""
    return _renderer(_Compiler(notation, encoding, fragments).value())


class _Compiler:
    """Compile one payload by recursive descent."""

    def __init__(self, notation: str, encoding: Encoding, fragments: Mapping[str, str]) -> None:
        self._tokens = [*reversed(TOKEN.findall(notation))]
        self._encoding, self._fragments = encoding, fragments

    def value(self, name: str = "item") -> Piece:
        """Compile a value, with `name` as the source of a scalar that has none."""
        mark = self._tokens.pop()
        if mark in self._encoding.groups:
            return self._group(mark)
        if mark == "<":
            constructor, (text, slots) = self._tokens.pop(), self.value(name)
            self._accept(">")
            return self._encoding.variant % (constructor, text), slots
        if mark == "?":
            return self._optional(name)
        if mark == "none":
            return self._encoding.optional[1], ()
        if mark == "@":
            self._tokens += reversed(TOKEN.findall(self._fragments[self._tokens.pop()]))
            return self.value(name)
        return self._scalar(mark, name)

    def _accept(self, token: str) -> bool:
        return bool(self._tokens) and self._tokens[-1] == token and bool(self._tokens.pop())

    def _group(self, opening: str) -> Piece:
        """Compile a record, list or map, into one slot if it repeats an item."""
        group = self._encoding.groups[opening]
        items: list[Item] = []
        while not (self._accept("]") or self._accept("}")):
            key: Piece = "", ()
            if opening == "pairs[":
                key = self.value()
                self._accept("=>")
            elif opening != "[":
                key = self._tokens.pop(), ()
                self._accept(":")
            optional = self._tokens[-2] if self._tokens[-1] == "?" and self._tokens[-3] == ":" else ""
            text, slots = self.value(key[0] or "item")
            source = self._tokens.pop() if self._accept("*") else ""
            items.append(Item((group.item(key[0], text), key[1] + slots), source, optional))
            self._accept(",")
        return self._close(group, items) if self._encoding.drops_trailing_nulls and opening == "{" else _join(group, items)

    def _close(self, group: Group, items: list[Item]) -> Piece:
        """Join the fields of a record without trailing nulls."""
        while items and items[-1].piece[0].endswith(":null"):
            items.pop()
        if not items or not (source := items[-1].optional):
            return _join(group, items)
        full, short = _renderer(_join(group, items)), _renderer(self._close(group, items[:-1]))
        return "%s", (lambda names: short(names) if names[source] is None else full(names),)

    def _optional(self, name: str) -> Piece:
        present, missing = self._encoding.optional
        source = self._tokens.pop() if self._tokens[-2] == ":" else ""
        self._accept(":")
        text, slots = self.value(source or name)
        piece = present % text, slots
        if not source:
            return piece
        render = _renderer(piece)
        return "%s", (lambda names: missing if names[source] is None else render(names),)

    def _scalar(self, kind: str, name: str) -> Piece:
        form, convert = self._encoding.scalars[kind], self._encoding.converters.get(kind, str)
        if kind == "unit":
            return form, ()
        source = self._tokens.pop() if self._tokens and re.match(r"['\w]", self._tokens[-1]) else name
        shift = SHIFTED_TIME.fullmatch(source.strip("'")) if kind in ("int", "time") else None
        source, micros = (shift[1] or "'", int(shift[2]) * TIME_UNITS[shift[3]]) if shift else (source, 0)
        if source[0] == "'":
            literal = micros or (int(source[1:-1]) if kind == "amount" else source[1:-1])
            return form % convert(literal).replace("%", "%%"), ()
        if micros:
            return form, (lambda names: convert(names[source] + micros),)
        return form, (itemgetter(source) if convert is str else (lambda names: convert(names[source])),)


def _renderer(piece: Piece) -> Slot:
    text, slots = piece
    if not slots:
        constant = text % ()
        return lambda names: constant
    if len(slots) == 1:
        (only,) = slots
        return only if text == "%s" else (lambda names: text % only(names))
    return lambda names: text % tuple([slot(names) for slot in slots])


def _join(group: Group, items: list[Item]) -> Piece:
    if not any(item.source for item in items):
        text = group.opening + ",".join(item.piece[0] for item in items) + group.closing
        return text if items else group.empty, tuple(slot for item in items for slot in item.piece[1])
    elements = [(_renderer(item.piece), item.source) for item in items]

    def render(names: Names) -> str:  # an element sees its own names only
        texts: list[str] = []
        for element, source in elements:
            values = names[source] if source else [names]
            texts += [element(value if isinstance(value, dict) else {"item": value}) for value in values]
        return f"{group.opening}{','.join(texts)}{group.closing}" if texts else group.empty

    return "%s", (render,)


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
        "{": Group("{", '"{}":{}'.format, "}", "{}"),
        "map{": Group("{", '"{}":{}'.format, "}", "{}"),
        "[": Group("[", "{}{}".format, "]", "[]"),
        "pairs[": Group("[", "[{},{}]".format, "]", "[]"),
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
        "{": Group('{"record":{"fields":[', '{{"value":{1}}}'.format, "]}}", '{"record":{"fields":[]}}'),
        "map{": Group('{"textMap":{"entries":[', '{{"key":"{}","value":{}}}'.format, "]}}", '{"textMap":{}}'),
        "[": Group('{"list":{"elements":[', "{}{}".format, "]}}", '{"list":{}}'),
        "pairs[": Group('{"genMap":{"entries":[', '{{"key":{},"value":{}}}'.format, "]}}", '{"genMap":{}}'),
    },
    ('{"optional":{"value":%s}}', '{"optional":{}}'),
    '{"variant":{"constructor":"%s","value":%s}}',
)  # fmt: skip
# The ledger API writes ten decimals everywhere and no trailing nulls; the history API does not offer it.
LEDGER_CONVERTERS = {"amount": lambda units: decimal_text(units, "0.0000000000"), "numeric": _ten_decimals}
LEDGER = PLAIN._replace(name="ledger_json", converters={**PLAIN.converters, **LEDGER_CONVERTERS}, drops_trailing_nulls=True)
ENCODINGS = {encoding.name: encoding for encoding in (PLAIN, TAGGED)}
