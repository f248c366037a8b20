"""Scans read little ahead, and an object store that does not respond is no damaged file."""

from __future__ import annotations

import errno
import time
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from ledgerframes.datasets.schema import TIME
from ledgerframes.errors import StoreError
from ledgerframes.store import scan
from ledgerframes.store.location import Location
from ledgerframes.store.scan import LeftOut, LittleAhead, damage_as_store_error

BUCKET = Location.parse("s3://bucket/prefix?endpoint_override=127.0.0.1:9&scheme=http")


@pytest.mark.parametrize(
    ("location", "error", "words"),
    [
        (BUCKET, OSError("When reading: AWS Error NETWORK_CONNECTION during GetObject operation"), "object store"),
        (BUCKET, FileNotFoundError("no such key"), "pruned or lost"),
        (Location.parse("/somewhere"), OSError("Couldn't deserialize thrift"), "damaged"),
        (Location.parse("/somewhere"), OSError(errno.EIO, "Input/output error"), "damaged"),
        (Location.parse("/somewhere"), OSError(errno.EACCES, "Permission denied"), "Cannot access /somewhere"),
        (Location.parse("/somewhere"), OSError(errno.EMFILE, "Too many open files"), "Cannot access /somewhere"),
        (None, OSError("broken"), "damaged"),
    ],
)
def test_damage_differs_from_an_object_store_failure(location: Location | None, error: OSError, words: str) -> None:
    with pytest.raises(StoreError, match=words), damage_as_store_error("traffic", location):
        raise error


# -- reading ahead ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> ds.Dataset:
    """Two files of five row groups, each of 4 MB in memory."""
    folder = tmp_path_factory.mktemp("groups")
    for part in (0, 1):
        numbers = np.arange(part * 2_500_000, (part + 1) * 2_500_000)
        table = pa.table({"number": numbers, "parity": pa.array((numbers % 2).astype(str)).dictionary_encode()})
        pq.write_table(table, folder / f"{part}.parquet", row_group_size=500_000)
    return ds.dataset(folder)


COLUMNS = (None, ["number"], ["parity", "number"])
CONDITIONS = (None, pc.field("number") < 10, pc.field("number") >= 2_400_000, pc.field("number") < 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("columns", "condition"), [*product(COLUMNS, CONDITIONS)])
def test_a_scan_with_little_read_ahead_has_the_same_rows(
    groups: ds.Dataset, columns: list[str] | None, condition: pc.Expression | None
) -> None:
    options: dict[str, Any] = {"columns": columns, "filter": condition}
    options = {name: value for name, value in options.items() if value is not None}
    rows = scan.LittleAhead(groups).scanner(**options).to_reader().read_all()
    assert rows.equals(groups.scanner(**options).to_table())


def test_a_filter_before_a_scan_counts_as_well(groups: ds.Dataset) -> None:
    narrowed = scan.LittleAhead(groups).filter(pc.field("number") >= 5)
    assert narrowed.scanner(filter=pc.field("number") < 8).to_reader().read_all()["number"].to_pylist() == [5, 6, 7]


def test_a_slow_consumer_keeps_little_in_memory(groups: ds.Dataset) -> None:
    before = pa.total_allocated_bytes()
    reader = scan.LittleAhead(groups).scanner(columns=["number"]).to_reader()
    first = reader.read_next_batch()
    time.sleep(0.5)  # time to read everything
    assert pa.total_allocated_bytes() - before < 4 * 4_000_000
    reader.close()
    assert first["number"][0].as_py() == 0


def test_only_row_groups_with_a_time_that_is_left_out_are_filtered(tmp_path: Path) -> None:
    times = [datetime(2026, 11, 8, hour, tzinfo=UTC) for hour in range(4)]
    rows = pa.table({"record_time": pa.array(times, TIME), "id": ["a", "b", "c", "d"], "other": [1, 2, 3, 4]})
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=2)
    left_out = LeftOut(rows["record_time"].slice(2, 1).combine_chunks(), pc.field("id") != "c")
    scanned = LittleAhead(ds.dataset(tmp_path / "rows.parquet")).without(left_out)
    (file,) = scanned.all_rows.get_fragments()
    assert [left_out.may_be_in(part) for part in file.split_by_row_group()] == [False, True]
    for options in ({"columns": ["other"]}, {"columns": ["other"], "batch_size": 10}):
        assert scanned.scanner(**options).to_reader().read_all()["other"].to_pylist() == [1, 2, 4]
