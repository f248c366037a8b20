"""Payloads of contracts and choices as Python data, and their compiler.

A dict is a record, a list is a list, and None is an optional that is missing. A text, a number or a bool is the same in
every payload. All others have a source among the names of a transaction: by default the name of the field, or "item" in a list.
This is a record of four fields::

    {"dso": party(), "units": amount(), "rate": Decimal("0.1"), "expiresAt": time("now", after=7 * DAY)}

See docs/facts.md#value-encoding and docs/facts.md#history-value-encodings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter
from typing import Literal, NamedTuple, TypeAlias

from .values import Encoding, Group, Names, Slot
from .vocabulary import Vocabulary

ScalarKind = Literal["amount", "bool", "contract", "enum", "int", "numeric", "party", "text", "time", "unit"]
Piece = tuple[str, tuple[Slot, ...]]  # a format with one %s for each slot


@dataclass(frozen=True)
class Scalar:
    """A value that is read from a name of a transaction."""

    kind: ScalarKind
    source: str = ""  # by default the name of the field
    after: int = 0  # added to the value of the source


@dataclass(frozen=True)
class Constant:
    """A value that is the same in every payload."""

    kind: ScalarKind
    value: str | int | bool


@dataclass(frozen=True)
class Optional:
    """An optional value, which is missing if it has a source that is None."""

    value: Value
    source: str = ""


@dataclass(frozen=True)
class Variant:
    """A value of one of several kinds, with its tag."""

    tag: str
    value: Value


@dataclass(frozen=True)
class Each:
    """An item of a list for each entry of a source.

    It sees the names of the entry if that is a dict, or the entry as "item".
    """

    source: str
    value: Value


@dataclass(frozen=True)
class Pairs:
    """A map with keys of any type, with a pair for each entry of a source, or empty."""

    source: str = ""
    key: Value = None
    value: Value = None


@dataclass(frozen=True)
class TextMap:
    """A map with texts as keys."""

    entries: Mapping[str, Value]


Value: TypeAlias = (
    "bool | int | str | Decimal | Scalar | Constant | Optional | Variant | Pairs | TextMap"
    " | Mapping[str, Value] | Sequence[Value | Each] | None"
)
UNIT = Constant("unit", "")
NO_AMOUNT = Constant("amount", 0)  # written as amounts are


def party(source: str = "") -> Scalar:
    """Return a party id."""
    return Scalar("party", source)


def text(source: str = "") -> Scalar:
    """Return a text."""
    return Scalar("text", source)


def integer(source: str = "") -> Scalar:
    """Return a whole number."""
    return Scalar("int", source)


def boolean(source: str = "") -> Scalar:
    """Return a truth value."""
    return Scalar("bool", source)


def numeric(source: str = "") -> Scalar:
    """Return a decimal number, from its text."""
    return Scalar("numeric", source)


def amount(source: str = "") -> Scalar:
    """Return a decimal number, from units of 10**-10."""
    return Scalar("amount", source)


def time(source: str = "", after: int = 0) -> Scalar:
    """Return a time, some microseconds after that of the source."""
    return Scalar("time", source, after)


def contract(source: str = "") -> Scalar:
    """Return the id of a contract."""
    return Scalar("contract", source)


def enum(source: str = "") -> Scalar:
    """Return a value of an enumeration, from its name."""
    return Scalar("enum", source)


def constructor(name: str) -> Constant:
    """Return the value of an enumeration with this name."""
    return Constant("enum", name)


def duration(micros: int | Scalar) -> Value:
    """Return a length of time in microseconds."""
    return {"microseconds": micros}


def compile_payload(payload: Value, encoding: Encoding, vocabulary: Vocabulary) -> Slot:
    """Return the function that renders a payload as JSON text from the names of a transaction."""
    return _renderer(_Compiler(encoding, vocabulary).value(payload))


class _Item(NamedTuple):
    """A compiled item of a record, list or map, and its source."""

    piece: Piece
    repeated_by: str = ""  # source of a list
    optional_source: str = ""  # source that may be None


class _Compiler:
    """Compiler of payloads for one encoding, in the network's words."""

    def __init__(self, encoding: Encoding, vocabulary: Vocabulary) -> None:
        self._encoding, self._translate = encoding, vocabulary.translate

    def value(self, value: Value | Each, name: str = "item") -> Piece:
        """Compile a value, with `name` as the source of a scalar that has none."""
        match value:
            case None:
                return self._encoding.optional[1], ()
            case Scalar():
                return self._scalar(value, value.source or name)
            case Mapping():
                return self._record(value)
            case list() | tuple():
                return self._list(value)
            case Optional():
                return self._optional(value, name)
            case Variant(tag, inner):
                form, slots = self.value(inner, name)
                return self._encoding.variant % (self._translate(tag), form), slots
            case Pairs() | TextMap():
                return self._map(value)
        return self._constant(_constant(value))

    def _record(self, fields: Mapping[str, Value]) -> Piece:
        group = self._encoding.groups["record"]
        items = []
        for name, value in fields.items():
            form, slots = self.value(value, name)
            optional_source = value.source if isinstance(value, Optional) else ""
            items.append(_Item((group.item(self._translate(name), form), slots), "", optional_source))
        return self._shortened(group, items) if self._encoding.drops_trailing_nulls else _join(group, items)

    def _shortened(self, group: Group, items: list[_Item]) -> Piece:
        """Join the fields of a record without trailing nulls."""
        while items and items[-1].piece[0].endswith(":null"):
            items.pop()
        if not items or not (source := items[-1].optional_source):
            return _join(group, items)
        full, short = _renderer(_join(group, items)), _renderer(self._shortened(group, items[:-1]))
        return "%s", (lambda names: short(names) if names[source] is None else full(names),)

    def _list(self, values: Sequence[Value | Each]) -> Piece:
        items = []
        for value in values:
            inner, source = (value.value, value.source) if isinstance(value, Each) else (value, "")
            items.append(_Item(self.value(inner), source))
        return _join(self._encoding.groups["list"], items)

    def _map(self, value: Pairs | TextMap) -> Piece:
        if isinstance(value, TextMap):
            group, entries = self._encoding.groups["text map"], value.entries.items()
            pieces = [(self._translate(key), self.value(inner, key)) for key, inner in entries]
            return _join(group, [_Item((group.item(key, form), slots)) for key, (form, slots) in pieces])
        group = self._encoding.groups["pairs"]
        (key, key_slots), (form, slots) = self.value(value.key), self.value(value.value)
        return _join(group, [_Item((group.item(key, form), key_slots + slots), value.source)] if value.source else [])

    def _optional(self, optional: Optional, name: str) -> Piece:
        present, missing = self._encoding.optional
        form, slots = self.value(optional.value, optional.source or name)
        piece, source = (present % form, slots), optional.source
        if not source:
            return piece
        render = _renderer(piece)
        return "%s", (lambda names: missing if names[source] is None else render(names),)

    def _scalar(self, scalar: Scalar, source: str) -> Piece:
        form, after = self._encoding.scalars[scalar.kind], scalar.after
        convert = self._encoding.converters.get(scalar.kind, str)
        if after:
            return form, (lambda names: convert(names[source] + after),)
        return form, (itemgetter(source) if convert is str else (lambda names: convert(names[source])),)

    def _constant(self, constant: Constant) -> Piece:
        form, convert = self._encoding.scalars[constant.kind], self._encoding.converters.get(constant.kind, str)
        if constant is UNIT:
            return form, ()
        return form % self._translate(convert(constant.value)).replace("%", "%%"), ()


def _constant(value: object) -> Constant:
    """Return what a Python value stands for in a payload."""
    match value:
        case Constant():
            return value
        case bool():
            return Constant("bool", value)
        case int():
            return Constant("int", value)
        case str():
            return Constant("text", value)
        case Decimal():
            return Constant("numeric", f"{value:f}")
    raise TypeError(f"A payload cannot contain {value!r}.")


def _renderer(piece: Piece) -> Slot:
    form, slots = piece
    if not slots:
        constant = form % ()
        return lambda names: constant
    if len(slots) == 1:
        (only,) = slots
        return only if form == "%s" else (lambda names: form % only(names))
    return lambda names: form % tuple([slot(names) for slot in slots])


def _join(group: Group, items: list[_Item]) -> Piece:
    if not any(item.repeated_by for item in items):
        form = group.opening + ",".join(item.piece[0] for item in items) + group.closing
        return form if items else group.empty, tuple(slot for item in items for slot in item.piece[1])
    elements = [(_renderer(item.piece), item.repeated_by) for item in items]

    def render(names: Names) -> str:  # an element sees its own names only
        texts: list[str] = []
        for element, source in elements:
            values = names[source] if source else [names]
            texts += [element(value if isinstance(value, dict) else {"item": value}) for value in values]
        return f"{group.opening}{','.join(texts)}{group.closing}" if texts else group.empty

    return "%s", (render,)
