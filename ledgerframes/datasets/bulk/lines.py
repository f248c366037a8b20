"""Decoding of JSON lines to structs, a batch per call, or line by line if that fails."""

from __future__ import annotations

from typing import TypeVar

from ledgerframes.datasets._extensions import extensions
from ledgerframes.datasets.boundary import DATA_ERRORS, decode_error
from ledgerframes.datasets.decode import decode_with_extras

T = TypeVar("T")


def decode_lines(batch: bytes | memoryview, kind: type[T], name: str, first_line: int = 1) -> list[T]:
    r"""Decode whole JSON lines into a struct for each line that is not blank, in order.

    Payloads of the structs refer to the batch, so it must not change while they are needed.

    Raises
    ------
    DecodeError
        If a line is not JSON, or not what the API promises, with the line number and the JSON path.

    Examples
    --------
    >>> from ledgerframes.datasets.events.wire import ActivityRecord
    >>> decode_lines(b'{"party":"alice","weight":3}\n', ActivityRecord, "records.jsonl")
    [ActivityRecord(party='alice', weight=3)]
    """
    try:
        return extensions().decoder(kind).decode_lines(batch)
    except DATA_ERRORS:
        lines = enumerate(bytes(batch).split(b"\n"), first_line)
        return [_decode_line(line, kind, name, number) for number, line in lines if line.strip()]


def _decode_line(line: bytes, kind: type[T], name: str, number: int) -> T:
    try:
        return decode_with_extras(line, kind)
    except DATA_ERRORS as error:
        raise decode_error(error, name, line=number, body=line) from error
