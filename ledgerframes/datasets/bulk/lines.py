"""JSON lines to structs: a whole block in one call, and line by line only where that fails."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ledgerframes.datasets._decode import decode_or_fold, decoder_of, reason_and_path
from ledgerframes.errors import DecodeError

T = TypeVar("T")


def decode_lines(block: bytes | memoryview, kind: type[T], name: str, first_line: int = 1) -> list[T]:
    r"""Decode JSON lines, one struct a line; blank lines are skipped.

    Parameters
    ----------
    block : bytes or memoryview
        Whole lines. Payloads of the structs refer to it: do not write to it as long as they are needed.
    kind : type
        Struct to decode each line into.
    name : str
        For the error: the file or object the lines are from.
    first_line : int
        Number of the block's first line in it, from 1.

    Returns
    -------
    list
        In the order of the lines.

    Raises
    ------
    DecodeError
        If a line is not JSON, or not what the API promises; with the number of the line and the JSON path in it.

    Examples
    --------
    >>> from ledgerframes.datasets.events.wire import ActivityRecord
    >>> decode_lines(b'{"party":"alice","weight":3}\n', ActivityRecord, "records.jsonl")
    [ActivityRecord(party='alice', weight=3)]
    """
    decoder: msgspec.json.Decoder[T] = decoder_of(kind)  # type: ignore[arg-type]
    try:
        return decoder.decode_lines(block)
    except (msgspec.DecodeError, UnicodeDecodeError):
        lines = enumerate(bytes(block).split(b"\n"), first_line)
        return [_decode_line(line, kind, name, number) for number, line in lines if line.strip()]


def _decode_line(line: bytes, kind: type[T], name: str, number: int) -> T:
    try:
        return decode_or_fold(line, kind)
    except msgspec.ValidationError as error:
        reason, path = reason_and_path(error)
        raise DecodeError(
            f"Line {number} of {name} is something else than the API promises: {reason} at {path}. "
            "Fetch it again; if it comes the same, ask the operator which version the service runs.",
            endpoint=name,
            json_path=path,
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        begins = line[:60].decode("utf-8", "replace")
        raise DecodeError(
            f"Line {number} of {name} is not JSON ({error}). It begins with {begins!r}. Fetch it again.",
            endpoint=name,
            json_path="$",
        ) from error
