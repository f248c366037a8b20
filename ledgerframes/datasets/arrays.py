"""Arrow arrays from lists of wire values, a whole column at a time."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets.schema import AMOUNT, TEXT, TIME
from ledgerframes.errors import DecodeError

NULL = b"null"
MAX_SHOWN = 80  # characters of a value in an error
Values: TypeAlias = pa.Array | pa.ChunkedArray
Texts: TypeAlias = Sequence[str | None] | pa.Array | pa.ChunkedArray
Indices = npt.NDArray[np.int64]


# -- values of one type ---------------------------------------------------------------------------------------------


def parse_timestamps(texts: Texts, member: str) -> Values:
    """Return ISO 8601 times as microseconds, without digits after the sixth.

    Raises
    ------
    DecodeError
        If a text is not a time.
    """
    values = _to_values(texts)
    try:
        return pc.cast(values, TIME)
    except pa.ArrowInvalid:
        pass  # more than six digits of a second, or not a time at all
    values = pc.replace_substring_regex(values, r"(\.\d{6})\d+", r"\1")
    try:
        return pc.cast(values, TIME)
    except pa.ArrowInvalid as error:
        raise _value_error(values, TIME, member, "a time with a zone, such as 2026-11-01T00:00:00Z") from error


def parse_amounts(texts: Texts, member: str) -> Values:
    """Return numeric texts as exact decimals.

    Zero may be written `0E-10` (docs/facts.md#decimal-texts).

    Raises
    ------
    DecodeError
        If a text is not a number of at most 28 digits before the point and ten after it.
    """
    values = _to_values(texts)
    try:
        return values.cast(AMOUNT)
    except pa.ArrowInvalid as error:
        raise _value_error(values, AMOUNT, member, "an amount of at most 28 digits and ten decimal places") from error


def _value_error(values: Values, kind: pa.DataType, member: str, constraint: str) -> DecodeError:
    """Return the error for the first text that is no value of a type."""
    value = next((text for text in values.unique().to_pylist() if not _is_value(text, kind)), None)
    text = repr(value if value is None else value[:MAX_SHOWN])
    return DecodeError(f"{member} is not {constraint}, got {text}.", json_path=f"$..{member}", column=member)


def _is_value(text: str | None, kind: pa.DataType) -> bool:
    try:
        pa.array([text], TEXT).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def encode_json(payloads: Sequence[msgspec.Raw], member: str, *, null_is_missing: bool = True) -> pa.Array:
    """Return payloads unchanged, in one buffer for the column, missing if absent.

    Raises
    ------
    DecodeError
        If the bytes are not UTF-8.
    """
    count = len(payloads)
    if not any(payloads):
        return pa.nulls(count, TEXT)
    text = b"".join(filter(None, payloads))
    sizes = np.fromiter(map(len, payloads), dtype=np.int32, count=count)
    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(sizes, out=offsets[1:], dtype=np.int32)
    present = sizes > 0
    if null_is_missing:
        for row in np.flatnonzero(sizes == len(NULL)).tolist():
            present[row] = bytes(payloads[row]) != NULL
    bitmap = np.packbits(present, bitorder="little")
    texts = pa.StringArray.from_buffers(count, *map(pa.py_buffer, (offsets, text, bitmap)))
    if not text.isascii():
        _check_utf8(texts, member)
    return texts


def _check_utf8(texts: pa.Array, member: str) -> None:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DecodeError(f"A value of {member} is not UTF-8 text.", json_path=f"$..{member}", column=member) from error


def split_template_ids(template_ids: Values) -> dict[str, pa.Array]:
    """Return the columns package_id and template_name.

    Only the first colon divides (docs/facts.md#template-id).
    """
    encoded = template_ids.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    parts = [text.partition(":") for text in encoded.dictionary.to_pylist()]
    columns = {"package_id": [package for package, _, _ in parts], "template_name": [name for _, _, name in parts]}
    return {name: pa.array(texts, TEXT).take(encoded.indices) for name, texts in columns.items()}


def package_ids(template_ids: Values) -> pa.Array:
    """Return the package parts of template ids."""
    return split_template_ids(template_ids)["package_id"]


def template_names(template_ids: Values) -> pa.Array:
    """Return the module and entity parts of template ids."""
    return split_template_ids(template_ids)["template_name"]


def fill_lists(lists: Values) -> Values:
    """Return lists with an empty one for each that is missing."""
    if not lists.null_count:
        return lists
    if isinstance(lists, pa.ChunkedArray):
        return pa.chunked_array([fill_lists(chunk) for chunk in lists.chunks])
    return pa.ListArray.from_arrays(lists.offsets, lists.values)


def _to_values(texts: Texts) -> Values:
    return texts if isinstance(texts, pa.Array | pa.ChunkedArray) else pa.array(texts, TEXT)


# -- unknown members ------------------------------------------------------------------------------------------------


def join_members(parts: Sequence[Values]) -> Values:
    """Return JSON objects of members in several columns, missing without members.

    Members are JSON texts, such as ``"a":1`` or ``"a":1,"b":2``.
    """
    text = parts[0]
    if len(parts) > 1:
        # Arrow loses rows without any member if it is told to skip nulls, so each member has its own comma.
        members = [pc.binary_join_element_wise(",", part, "") for part in parts]
        text_of_members = pc.binary_join_element_wise(*members, "", null_handling="replace", null_replacement="")
        text = pc.if_else(pc.equal(text_of_members, ""), None, pc.utf8_slice_codeunits(text_of_members, 1))
    return pc.binary_join_element_wise("{", text, "}", "")


def merge_extras(own: Values, **others: Values) -> Values:
    """Return the unknown members of objects and, by name, of related objects without a row."""
    parts = [
        pc.binary_join_element_wise(f'"{name}":', extra, "") for name, extra in others.items() if extra.null_count < len(extra)
    ]
    if not parts:
        return own
    if own.null_count < len(own):
        parts = [pc.utf8_slice_codeunits(own, 1, -1), *parts]
    return join_members(parts)


# -- rows and groups ------------------------------------------------------------------------------------------------


def list_lengths(lists: Sequence[Sized | None]) -> Indices:
    """Return the length of each list, 0 for a missing one."""
    return np.fromiter([len(values) if values else 0 for values in lists], dtype=np.int64, count=len(lists))


def index_in_group(groups: Indices) -> Indices:
    """Return the position of each row in its group, from 0.

    Rows of one group must be adjacent.
    """
    return np.arange(len(groups)) - np.searchsorted(groups, groups)


def lookup_rows(groups: Indices, numbers: Indices, target_groups: Indices, target_numbers: Indices) -> Indices:
    """Return the row of each target number in its group, or -1.

    Rows must be sorted by group and number.
    """
    width = numbers.max(initial=0) + 1
    rows = np.searchsorted(groups * width + numbers, target_groups * width + target_numbers)
    rows = np.minimum(rows, len(groups) - 1)
    return np.where((groups[rows] == target_groups) & (numbers[rows] == target_numbers), rows, -1)
