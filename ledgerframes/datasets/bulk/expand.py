"""Compressed objects as blocks of whole lines, in memory that does not grow with the object.

An object is several zstd frames back to back, none of which says how large its content is (docs/facts.md#bulk-storage).
Decoders stop without
a word after the first frame, or where an object was cut off; so the frames are counted before anything is believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import BinaryIO

import zstandard

from ledgerframes.errors import IntegrityError

__all__ = ["Block", "check_frames", "line_blocks"]

BLOCK = 2_000_000  # bytes of lines worked on at once: calls cost least, and what was decoded is mostly still in the cache
BUFFERS = 3  # one that is worked on, one that is ready, one that is filled
LONGEST_LINE = 64_000_000
LONGEST_HEAD = 18
MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = (0x184D2A50, 0x184D2A5F)
BLOCK_HEAD, CHECKSUM, RUN_LENGTH = 3, 4, 1


@dataclass(frozen=True)
class Block:
    """Whole lines, in memory that is used again when the block after the next two is made.

    Attributes
    ----------
    lines : memoryview
        Ends with a line's end.
    expanded : int
        Bytes of all lines so far, with these.
    """

    lines: memoryview
    expanded: int


def check_frames(file: BinaryIO, name: str) -> int:
    """Walk over the frames of an object without expanding them.

    Returns
    -------
    int
        How many frames it has.

    Raises
    ------
    IntegrityError
        If it is not zstd, or ends inside a frame.
    """
    size = file.seek(0, 2)
    position = frames = 0
    while position < size:
        position = _after_frame(file, position, name)
        if position > size:
            raise IntegrityError(f"{name} was cut off: it ends inside its frame {frames}. Get it again.", path=name)
        frames += 1
    if not frames:
        raise IntegrityError(f"{name} is empty. Get it again.", path=name)
    return frames


def _after_frame(file: BinaryIO, position: int, name: str) -> int:
    file.seek(position)
    head = file.read(LONGEST_HEAD)
    number = int.from_bytes(head[:4], "little")
    if SKIPPABLE[0] <= number <= SKIPPABLE[1]:
        return position + 8 + int.from_bytes(head[4:8], "little")
    if not head.startswith(MAGIC):
        raise IntegrityError(f"{name} is not zstd at byte {position:,}. Get it again, or leave it out.", path=name)
    try:
        length = zstandard.frame_header_size(head)
        has_checksum = zstandard.get_frame_parameters(head).has_checksum
    except zstandard.ZstdError as error:
        raise IntegrityError(f"{name} was cut off or damaged at byte {position:,} ({error}). Get it again.", path=name) from error
    return _after_blocks(file, position + length, name) + (CHECKSUM if has_checksum else 0)


def _after_blocks(file: BinaryIO, position: int, name: str) -> int:
    last = False
    while not last:
        file.seek(position)
        head = file.read(BLOCK_HEAD)
        if len(head) < BLOCK_HEAD:
            raise IntegrityError(f"{name} was cut off: it ends inside a frame. Get it again.", path=name)
        word = int.from_bytes(head, "little")
        last, kind = bool(word & 1), word >> 1 & 3
        position += BLOCK_HEAD + (1 if kind == RUN_LENGTH else word >> 3)
    return position


def line_blocks(file: BinaryIO, name: str, most: int) -> Iterator[Block]:
    """Expand an object across all its frames, cut at line ends.

    Parameters
    ----------
    file : binary file
    name : str
        For errors: the object's key.
    most : int
        Bytes that it may expand to.

    Raises
    ------
    IntegrityError
        If it cannot be expanded, expands to more, or does not end with a line's end.
    """
    reader = zstandard.ZstdDecompressor().stream_reader(file, read_size=1 << 20, read_across_frames=True)
    buffers = cycle([bytearray(BLOCK) for _ in range(BUFFERS)])
    buffer, rest, long_line, expanded = next(buffers), b"", bytearray(), 0
    while True:
        buffer[: len(rest)] = rest
        filled = _fill(reader, buffer, len(rest), name)
        expanded += filled - len(rest)
        if expanded > most:
            raise IntegrityError(
                f"{name} expands to more than {most:,} bytes. If that is right, raise the setting max_decompression_ratio.",
                path=name,
            )
        begin, end = 0, buffer.rfind(b"\n", 0, filled) + 1
        if long_line and end:
            begin = buffer.find(b"\n") + 1
            long_line += buffer[:begin]
            yield Block(memoryview(long_line), expanded - filled + begin)
            long_line = bytearray()
        if begin < end:
            yield Block(memoryview(buffer)[begin:end], expanded - filled + end)
        rest = bytes(memoryview(buffer)[end:filled])
        if filled < len(buffer):
            break
        if begin < end:  # the others are filled before this one is used again
            buffer = next(buffers)
        if not end:  # a line that is longer than a block
            long_line += rest
            rest = b""
        if len(long_line) > LONGEST_LINE:
            raise IntegrityError(f"{name} has a line of more than {LONGEST_LINE:,} bytes. Leave it out.", path=name)
    if rest or long_line:
        raise IntegrityError(f"{name} ends inside a line: it was cut off. Get it again.", path=name)


def _fill(reader: zstandard.ZstdDecompressionReader, buffer: bytearray, start: int, name: str) -> int:
    """Fill a buffer from a place on; shorter only at the end."""
    view = memoryview(buffer)
    try:
        while start < len(buffer):
            came = reader.readinto(view[start:])
            if not came:
                break
            start += came
    except zstandard.ZstdError as error:
        raise IntegrityError(f"{name} is damaged ({error}). Get it again.", path=name) from error
    return start
