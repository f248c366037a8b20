"""Objects as blocks of whole lines: any frames, any block size, any cut."""

from __future__ import annotations

import io
import random

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from ledgerframes.datasets.bulk import expand
from ledgerframes.datasets.bulk.expand import iter_line_batches, verify_zstd_frames
from ledgerframes.errors import IntegrityError

ENOUGH = 1 << 30
compress = zstandard.ZstdCompressor(level=3, write_content_size=False).compress
lines_of_any_length = st.lists(st.binary(max_size=300).map(lambda line: line.replace(b"\n", b" ") + b"\n"), max_size=30)


def packed(lines: list[bytes], per_frame: int) -> bytes:
    return b"".join(compress(b"".join(lines[start : start + per_frame])) for start in range(0, len(lines), per_frame))


def expanded(raw: bytes, block: int, max_bytes: int = ENOUGH) -> bytes:
    """All lines, read in small blocks; each block is looked at before the next two are made."""
    size, expand.BATCH_BYTES = expand.BATCH_BYTES, block
    try:
        parts = []
        for part in iter_line_batches(io.BytesIO(raw), "object", max_bytes):
            assert bytes(part.lines).endswith(b"\n")
            parts.append(bytes(part.lines))
            assert part.uncompressed_bytes == sum(map(len, parts))
        return b"".join(parts)
    finally:
        expand.BATCH_BYTES = size


@given(lines_of_any_length, st.integers(1, 7), st.integers(1, 500))
def test_any_frames_and_any_block_size_give_the_same_lines(lines: list[bytes], per_frame: int, block: int) -> None:
    raw = packed(lines, per_frame)
    assert expanded(raw, block) == b"".join(lines)
    if lines:
        assert verify_zstd_frames(io.BytesIO(raw), "object") == len(range(0, len(lines), per_frame))


@given(lines_of_any_length, st.integers(1, 500))
@example([b"short\n" * 3, b"long" * 100 + b"\n", b"short\n"], 50)
def test_a_block_keeps_its_bytes_while_the_next_two_are_made(lines: list[bytes], block: int) -> None:
    size, expand.BATCH_BYTES = expand.BATCH_BYTES, block
    try:
        made: list[tuple[memoryview, bytes]] = []
        for part in iter_line_batches(io.BytesIO(packed(lines, 7)), "object", ENOUGH):
            made = [*made[-2:], (part.lines, bytes(part.lines))]
            assert all(now == then for now, then in made)
    finally:
        expand.BATCH_BYTES = size


@given(lines_of_any_length.filter(len), st.integers(1, 7), st.data())
def test_any_cut_but_one_between_frames_is_found(lines: list[bytes], per_frame: int, data: st.DataObject) -> None:
    raw = packed(lines, per_frame)
    cut = data.draw(st.integers(1, len(raw) - 1))
    frames = [packed(lines[: start + per_frame], per_frame) for start in range(0, len(lines), per_frame)]
    if cut in map(len, frames):
        verify_zstd_frames(io.BytesIO(raw[:cut]), "object")
    else:
        with pytest.raises(IntegrityError, match="object"):
            verify_zstd_frames(io.BytesIO(raw[:cut]), "object")


def test_large_frames_of_noise_are_walked_over() -> None:
    noise = random.Random(1).randbytes(700_000).hex().encode() + b"\n"
    with_checksum = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(noise)
    skippable = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"notes"
    raw = compress(noise) + with_checksum + skippable + compress(b"x\n")
    assert verify_zstd_frames(io.BytesIO(raw), "object") == 4
    for cut in (len(raw) - 1, 100_000, len(compress(noise)) - 2, len(compress(noise)) + len(with_checksum) - 3):
        with pytest.raises(IntegrityError):
            verify_zstd_frames(io.BytesIO(raw[:cut]), "object")


def test_runs_of_one_byte_are_walked_over() -> None:
    raw = compress(b"\0" * 1_000_000 + b"\n")
    assert verify_zstd_frames(io.BytesIO(raw), "object") == 1


@pytest.mark.parametrize("raw", [b"", b"plain text", b"\x28\xb5\x2f\xfd", b"\x1f\x8b gzip", compress(b"x\n") + b"more"])
def test_what_is_not_zstd_is_named(raw: bytes) -> None:
    with pytest.raises(IntegrityError, match="the object"):
        verify_zstd_frames(io.BytesIO(raw), "the object")


def test_expansion_has_a_limit_and_lines_too(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = compress(b"0" * 3_000_000 + b"\n")
    with pytest.raises(IntegrityError, match="max_decompression_ratio"):
        expanded(bomb, 10_000, max_bytes=1_000_000)
    assert len(expanded(bomb, 10_000)) == 3_000_001
    monkeypatch.setattr(expand, "MAX_LINE_BYTES", 100_000)
    with pytest.raises(IntegrityError, match="a line of more than"):
        expanded(bomb, 10_000)


def test_an_end_inside_a_line_is_found() -> None:
    with pytest.raises(IntegrityError, match="inside a line"):
        expanded(compress(b"whole\nnot who"), 100)


def test_damage_that_the_decoder_sees_is_named() -> None:
    raw = bytearray(compress(b"a line\n" * 100))
    raw[zstandard.frame_header_size(bytes(raw[:18]))] |= 0b110  # a kind of block that does not exist
    with pytest.raises(IntegrityError, match="damaged"):
        expanded(bytes(raw), 1000)
