"""Files of a segment: all of them, or none and a reason."""

from __future__ import annotations

import gc
import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location
from ledgerframes.store.segments import SegmentWriter

ROWS = 100_000


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    noise = random.Random(1)
    return pa.table({"event_id": [str(noise.random()) for _ in range(ROWS)]})


@contextmanager
def room_for(count: int) -> Iterator[None]:
    """Let no file grow beyond a number of bytes. The system refuses more, as it does on a full disk."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def failure(root: Path, rows: pa.Table, room: int) -> str:
    """What writing rows fails with; nothing of it is held on to."""
    try:
        with room_for(room), SegmentWriter(Location.parse(root), "segment") as writer:
            writer.write({"tree_events": rows})
            writer.close()
    except StoreError as error:
        return str(error)
    return "nothing failed"


@pytest.mark.parametrize("room", [0, 10, 300_000])
def test_a_full_disk_leaves_nothing_and_is_reported_once(
    tmp_path: Path, rows: pa.Table, room: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "File too large" in failure(tmp_path, rows, room)
    gc.collect()
    assert capfd.readouterr() == ("", ""), "Arrow says so of files that it gives up"
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_closed_segment_is_complete(tmp_path: Path, rows: pa.Table) -> None:
    with SegmentWriter(Location.parse(tmp_path), "segment") as writer:
        writer.write({"tree_events": rows, "updates": rows.slice(0, 0)})
        files = writer.close()
    assert list(files) == ["tree_events"], "a table without rows has no file"
    file = files["tree_events"]
    assert (file.rows, file.bytes) == (ROWS, (tmp_path / file.path).stat().st_size)


def test_what_repeats_has_a_dictionary_also_inside_lists(tmp_path: Path) -> None:
    repeated = pa.table(
        {
            "update_id": [str(number) for number in range(100)],
            "record_time": pa.array([0] * 100, pa.timestamp("us", "UTC")),
            "choice": ["Transfer"] * 100,
            "acting_parties": [["one", "two"]] * 100,
        }
    )
    with SegmentWriter(Location.parse(tmp_path), "segment") as writer:
        writer.write({"tree_events": repeated})
        written = tmp_path / writer.close()["tree_events"].path
    columns = pq.ParquetFile(written).metadata.row_group(0).to_dict()["columns"]
    assert {column["path_in_schema"]: column["has_dictionary_page"] for column in columns} == {
        "update_id": False,
        "record_time": False,
        "choice": True,
        "acting_parties.list.element": True,
    }
