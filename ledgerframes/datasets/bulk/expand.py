"""Decompression of objects into batches of whole lines, in memory of a fixed size.

An object is several zstd frames back to back, none of which has the size of its content
(docs/facts.md#bulk-storage). Decoders stop without an error after the first frame, or where
an object is truncated, so the frames are verified before anything is decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import BinaryIO

import zstandard

from ledgerframes.errors import IntegrityError

BATCH_BYTES = 2_000_000  # few calls, and decoded structs are mostly still in the cache when they are converted
BUFFERS = 3  # one in use, one ready, one being filled
MAX_LINE_BYTES = 64_000_000
MAX_HEADER_BYTES = 18
MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = (0x184D2A50, 0x184D2A5F)
BLOCK_HEADER_BYTES, CHECKSUM_BYTES, RUN_LENGTH = 3, 4, 1


@dataclass(frozen=True)
class LineBatch:
    """Whole lines, in memory that the third batch after this one reuses.

    Attributes
    ----------
    lines : memoryview
        Ends with a line break.
    uncompressed_bytes : int
        Size of all lines so far, including these.
    """

    lines: memoryview
    uncompressed_bytes: int


def verify_zstd_frames(file: BinaryIO, name: str) -> int:
    """Verify the frames of an object without decompressing them, and return their number.

    Raises
    ------
    IntegrityError
        If the object is not zstd, or ends inside a frame.
    """
    size = file.seek(0, 2)
    position = frames = 0
    while position < size:
        position = _after_frame(file, position, name)
        if position > size:
            raise IntegrityError(f"Object {name} is truncated inside frame {frames}. Fetch it again.", path=name)
        frames += 1
    if not frames:
        raise IntegrityError(f"Object {name} is empty. Fetch it again.", path=name)
    return frames


def _after_frame(file: BinaryIO, position: int, name: str) -> int:
    file.seek(position)
    head = file.read(MAX_HEADER_BYTES)
    number = int.from_bytes(head[:4], "little")
    if SKIPPABLE[0] <= number <= SKIPPABLE[1]:
        return position + 8 + int.from_bytes(head[4:8], "little")
    if not head.startswith(MAGIC):
        raise IntegrityError(f"Object {name} is not zstd at byte {position:,}. Fetch it again or exclude it.", path=name)
    try:
        length = zstandard.frame_header_size(head)
        has_checksum = zstandard.get_frame_parameters(head).has_checksum
    except zstandard.ZstdError as error:
        raise IntegrityError(
            f"Object {name} is truncated or damaged at byte {position:,} ({error}). Fetch it again.", path=name
        ) from error
    return _after_blocks(file, position + length, name) + (CHECKSUM_BYTES if has_checksum else 0)


def _after_blocks(file: BinaryIO, position: int, name: str) -> int:
    last = False
    while not last:
        file.seek(position)
        head = file.read(BLOCK_HEADER_BYTES)
        if len(head) < BLOCK_HEADER_BYTES:
            raise IntegrityError(f"Object {name} is truncated inside a frame. Fetch it again.", path=name)
        word = int.from_bytes(head, "little")
        last, kind = bool(word & 1), word >> 1 & 3
        position += BLOCK_HEADER_BYTES + (1 if kind == RUN_LENGTH else word >> 3)
    return position


def iter_line_batches(file: BinaryIO, name: str, max_bytes: int) -> Iterator[LineBatch]:
    """Decompress an object across all its frames, and split it at line breaks.

    Raises
    ------
    IntegrityError
        If the object cannot be decompressed, is larger than `max_bytes` after it, or does not end with a line break.
    """
    reader = zstandard.ZstdDecompressor().stream_reader(file, read_size=1 << 20, read_across_frames=True)
    buffers = cycle([bytearray(BATCH_BYTES) for _ in range(BUFFERS)])
    buffer, rest, long_line, total = next(buffers), b"", bytearray(), 0
    while True:
        buffer[: len(rest)] = rest
        filled = _fill(reader, buffer, len(rest), name)
        total += filled - len(rest)
        if total > max_bytes:
            raise IntegrityError(
                f"Object {name} decompresses to more than {max_bytes:,} bytes. If that is right, raise max_decompression_ratio.",
                path=name,
            )
        start, end = 0, buffer.rfind(b"\n", 0, filled) + 1
        if long_line and end:
            start = buffer.find(b"\n") + 1
            long_line += buffer[:start]
            yield LineBatch(memoryview(long_line), total - filled + start)
            long_line = bytearray()
        if start < end:
            yield LineBatch(memoryview(buffer)[start:end], total - filled + end)
        rest = bytes(memoryview(buffer)[end:filled])
        if filled < len(buffer):
            break
        if start < end:  # the others are filled before this one is reused
            buffer = next(buffers)
        if not end:  # a line that is longer than a batch
            long_line += rest
            rest = b""
        if len(long_line) > MAX_LINE_BYTES:
            raise IntegrityError(f"Object {name} has a line of more than {MAX_LINE_BYTES:,} bytes. Exclude it.", path=name)
    if rest or long_line:
        raise IntegrityError(f"Object {name} is truncated inside a line. Fetch it again.", path=name)


def _fill(reader: zstandard.ZstdDecompressionReader, buffer: bytearray, start: int, name: str) -> int:
    """Fill a buffer from a position, and return the end of its content."""
    view = memoryview(buffer)
    try:
        while start < len(buffer):
            count = reader.readinto(view[start:])
            if not count:
                break
            start += count
    except zstandard.ZstdError as error:
        raise IntegrityError(f"Object {name} is damaged ({error}). Fetch it again.", path=name) from error
    return start
