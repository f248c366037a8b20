"""Lists of wire values turned into Arrow arrays, a whole column at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import DecodeError
from ledgerframes.tables.spec import CHOICE, TEXT, TIME
from ledgerframes.wire.structs import ABSENT

Indices = npt.NDArray[np.int64]


def times(texts: Sequence[str | None] | pa.Array, member: str) -> pa.Array:
    """ISO 8601 instants as microseconds; digits past the sixth are cut off.

    Raises
    ------
    DecodeError
        If one of them is not an instant.
    """
    values = texts if isinstance(texts, pa.Array) else pa.array(texts, TEXT)
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
    sizes = np.fromiter(map(len, payloads), dtype=np.int64, count=count)
    if not sizes.any():
        return pa.nulls(count, TEXT)
    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(sizes, out=offsets[1:])
    buffers = pa.py_buffer(offsets), pa.py_buffer(b"".join([payload for payload in payloads if payload is not ABSENT]))
    texts = pa.StringArray.from_buffers(count, *buffers)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DecodeError(f"A value of {member} is not UTF-8 text.", json_path=f"$..{member}") from error
    present = pc.and_not(pa.array(sizes > 0), pc.equal(texts, "null"))
    return pa.StringArray.from_buffers(count, *buffers, null_bitmap=present.buffers()[1])  # the same bytes, not a copy


def _all_absent(payloads: Sequence[msgspec.Raw]) -> bool:
    return payloads.count(ABSENT) == len(payloads)


def choices(texts: Sequence[str | None] | pa.Array) -> pa.Array:
    """Values of a closed set, as a dictionary."""
    values = texts if isinstance(texts, pa.Array) else pa.array(texts, TEXT)
    encoded = values.dictionary_encode()
    return encoded if encoded.type == CHOICE else encoded.cast(CHOICE)


def split_template_ids(template_ids: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Package id and template name; only the first colon divides (wire fact 23), and few ids are different."""
    encoded = template_ids.dictionary_encode()
    parts = [text.partition(":") for text in encoded.dictionary.to_pylist()]
    packages = pa.array([package for package, _, _ in parts], TEXT)
    names = pa.array([name for _, _, name in parts], TEXT)
    return packages.take(encoded.indices), names.take(encoded.indices)


def extras(own: Sequence[msgspec.Raw], **around: Sequence[msgspec.Raw]) -> pa.Array:
    """Unknown members of objects, and under their names those of the objects around them that have no row of their own."""
    found = {name: parts for name, parts in around.items() if not _all_absent(parts)}
    if not found:
        return pa.nulls(len(own), TEXT) if _all_absent(own) else json_text(own, "extra")
    rows = zip(own, *found.values(), strict=True)
    return json_text([_merged(one, dict(zip(found, parts, strict=True))) for one, *parts in rows], "extra")


def _merged(own: msgspec.Raw, around: dict[str, msgspec.Raw]) -> msgspec.Raw:
    found = {name: part for name, part in around.items() if part is not ABSENT}
    if not found:
        return own
    members = {} if own is ABSENT else msgspec.json.decode(own, type=dict[str, msgspec.Raw])
    return msgspec.Raw(msgspec.json.encode({**members, **found}))


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


def position_within(counts: Indices) -> npt.NDArray[np.int32]:
    """The number of each child among its siblings, from 0."""
    starts = np.cumsum(counts) - counts
    return (np.arange(counts.sum()) - np.repeat(starts, counts)).astype(np.int32)
