"""Lists of wire values turned into Arrow arrays, a whole column at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._schema import CHOICE, TEXT, TIME
from ledgerframes.errors import DecodeError

NULL = b"null"
Values: TypeAlias = pa.Array | pa.ChunkedArray
Texts: TypeAlias = Sequence[str | None] | pa.Array | pa.ChunkedArray
Indices = npt.NDArray[np.int64]


def times(texts: Texts, member: str) -> Values:
    """ISO 8601 instants as microseconds; digits past the sixth are cut off.

    Raises
    ------
    DecodeError
        If one of them is not an instant.
    """
    values = _as_values(texts)
    try:
        return pc.cast(values, TIME)
    except pa.ArrowInvalid:
        pass  # more than six digits of a second, or not a time at all
    try:
        return pc.cast(pc.replace_substring_regex(values, r"(\.\d{6})\d+", r"\1"), TIME)
    except pa.ArrowInvalid as error:
        raise DecodeError(f"A value of {member} is not a time: {error}.", json_path=f"$..{member}") from error


def json_text(payloads: Sequence[msgspec.Raw], member: str) -> pa.Array:
    """Payloads as they came, one buffer for the column; absent and null are missing.

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
    for position in np.flatnonzero(sizes == len(NULL)).tolist():
        present[position] = bytes(payloads[position]) != NULL
    bitmap = np.packbits(present, bitorder="little")
    texts = pa.StringArray.from_buffers(count, *map(pa.py_buffer, (offsets, text, bitmap)))
    if not text.isascii():
        _check_utf8(texts, member)
    return texts


def _check_utf8(texts: pa.Array, member: str) -> None:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DecodeError(f"A value of {member} is not UTF-8 text.", json_path=f"$..{member}") from error


def choices(texts: Texts) -> Values:
    """Values of a closed set, as a dictionary."""
    encoded = _as_values(texts).dictionary_encode()
    return encoded if encoded.type == CHOICE else encoded.cast(CHOICE)


def _as_values(texts: Texts) -> Values:
    return texts if isinstance(texts, pa.Array | pa.ChunkedArray) else pa.array(texts, TEXT)


def split_template_ids(template_ids: Values) -> tuple[pa.Array, pa.Array]:
    """Package id and template name; only the first colon divides (docs/facts.md#template-id), and few ids are different."""
    encoded = template_ids.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    parts = [text.partition(":") for text in encoded.dictionary.to_pylist()]
    packages = pa.array([package for package, _, _ in parts], TEXT)
    names = pa.array([name for _, _, name in parts], TEXT)
    return packages.take(encoded.indices), names.take(encoded.indices)


def flags(mask: npt.NDArray[np.bool_], where: str, elsewhere: str) -> pa.Array:
    """One of two values of a closed set."""
    return choices(pc.if_else(pa.array(mask), where, elsewhere))


def extras(own: pa.Array, **around: pa.Array) -> pa.Array:
    """Unknown members of objects, and under their names those of the objects around them that have no row of their own."""
    found = {name: members for name, members in around.items() if members.null_count < len(members)}
    if not found:
        return own
    rows = zip(own.to_pylist(), *(members.to_pylist() for members in found.values()), strict=True)
    return pa.array([_merged(one, dict(zip(found, members, strict=True))) for one, *members in rows], TEXT)


def _merged(own: str | None, around: dict[str, str | None]) -> str | None:
    found = {name: msgspec.Raw(members.encode()) for name, members in around.items() if members is not None}
    if not found:
        return own
    members = {} if own is None else msgspec.json.decode(own, type=dict[str, msgspec.Raw])
    return msgspec.json.encode({**members, **found}).decode()


def never_missing(lists: pa.Array) -> pa.Array:
    """Lists of which a missing one is empty."""
    return pa.ListArray.from_arrays(lists.offsets, lists.values)


@contextmanager
def numbers_in_range() -> Iterator[None]:
    """Says of a number that no column can hold that the answer is wrong, not the caller.

    Raises
    ------
    DecodeError
        Instead of Arrow's own errors.
    """
    try:
        yield
    except (OverflowError, pa.ArrowInvalid) as error:
        raise DecodeError(f"A number is larger than the API allows: {error}.", json_path="$") from error


def lengths(lists: Sequence[Sized | None]) -> Indices:
    """The length of each list; a missing list has none."""
    return np.fromiter([len(values) if values else 0 for values in lists], dtype=np.int64, count=len(lists))


def position_within(parents: Indices) -> Indices:
    """The number of each child among its siblings, from 0; children of one parent come together."""
    return np.arange(len(parents)) - np.searchsorted(parents, parents)


def rows_of(groups: Indices, numbers: Indices, wanted_groups: Indices, wanted_numbers: Indices) -> Indices:
    """The row of each wanted number of a group, -1 where there is none; rows are sorted by group, and by number in it."""
    width = numbers.max(initial=0) + 1
    rows = np.searchsorted(groups * width + numbers, wanted_groups * width + wanted_numbers)
    rows = np.minimum(rows, len(groups) - 1)
    return np.where((groups[rows] == wanted_groups) & (numbers[rows] == wanted_numbers), rows, -1)
