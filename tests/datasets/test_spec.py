from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ledgerframes.datasets import TABLES, table
from ledgerframes.datasets.schema import AMOUNT, CHOICE, FLAG, INTEGER, SMALL, TEXT, TEXTS, TIME, Column, Table
from ledgerframes.errors import DecodeError, UsageError

HEADS = {
    "events": ("migration_id", "record_time", "update_id"),
    "active_contracts": ("snapshot_time", "contract_id"),
    "bulk_objects": ("object_key",),
    "ledger": ("participant_id", "offset", "record_time", "update_id"),
    "ledger_state": ("participant_id",),
    "price_votes": ("observed_at", "contract_id"),
    "name_rules": ("observed_at", "contract_id"),
    "network_reference": ("observed_at",),
    "holdings_summary": ("snapshot_time", "party"),
    "transfer_offers": ("tracking_id",),
}
EVERY_TYPE = Table(
    name="every_type",
    row_description="value of each type",
    family="test",
    key=("a",),
    sort=("a",),
    columns=(
        Column("a", INTEGER, "…", "test"),
        Column("b", INTEGER, "…", "test", missing="if it is null"),
        Column("c", SMALL, "…", "test", missing="if it is null"),
        Column("d", FLAG, "…", "test", missing="if it is null"),
        Column("e", TEXT, "…", "test", missing="if it is null"),
        Column("f", CHOICE, "…", "test", missing="if it is null", values=("x", "y")),
        Column("g", TIME, "…", "test", missing="if it is null"),
        Column("h", AMOUNT, "…", "test", missing="if it is null"),
        Column("i", TEXTS, "…", "test", missing="if it is null"),
    ),
)
DTYPES = {
    "a": "int64",
    "b": "Int64",
    "c": "Int32",
    "d": "boolean",
    "e": "str",
    "f": "category",
    "g": "datetime64[us, UTC]",
    "h": "decimal128(38, 10)[pyarrow]",
    "i": "list<item: string>[pyarrow]",
}


def test_every_type_has_its_dtype_with_rows_and_without() -> None:
    missing = {column.name: pa.array([1 if column.name == "a" else None], column.type) for column in EVERY_TYPE.columns}
    for frame in (EVERY_TYPE.empty(), EVERY_TYPE.to_pandas(EVERY_TYPE.from_arrays(missing))):
        assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == DTYPES
    assert [column.pandas_dtype for column in EVERY_TYPE.columns] == list(DTYPES.values())


def test_large_integers_and_early_times_survive() -> None:
    columns = {column.name: pa.nulls(1, column.type) for column in EVERY_TYPE.columns}
    early = pd.Timestamp("0001-01-01", tz="UTC").as_unit("us")
    columns |= {"a": pa.array([2**60 + 1]), "b": pa.array([2**60 + 1]), "g": pa.array([early], TIME)}
    frame = EVERY_TYPE.to_pandas(EVERY_TYPE.from_arrays(columns))
    assert frame["a"][0] == frame["b"][0] == 2**60 + 1
    assert frame["g"][0] == early


def test_values_become_arrays_of_the_declared_type() -> None:
    time = datetime(2026, 11, 1, tzinfo=UTC)
    columns = {"a": np.array([1, 2]), "c": [3, None], "d": True, "e": "text", "f": "x", "g": time, "i": [["p"], []]}
    rows = EVERY_TYPE.from_arrays(columns)
    assert rows.schema.equals(EVERY_TYPE.schema)
    assert rows.drop_columns(["b", "h"]).to_pylist() == [
        {"a": 1, "c": 3, "d": True, "e": "text", "f": "x", "g": time, "i": ["p"]},
        {"a": 2, "c": None, "d": True, "e": "text", "f": "x", "g": time, "i": []},
    ]
    with pytest.raises(pa.ArrowInvalid):
        EVERY_TYPE.from_arrays({"a": [1], "c": np.array([2**31])})


def test_rows_name_their_values_and_may_omit_some() -> None:
    frame = EVERY_TYPE.from_rows([{"f": "y", "a": 1}, {"a": 2, "i": ["p"]}])
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == DTYPES
    assert frame["a"].tolist() == [1, 2]
    assert frame["f"].isna().tolist() == [False, True]
    with pytest.raises(UsageError, match="Unknown column 'j' of table every_type"):
        EVERY_TYPE.from_rows([{"a": 1}, {"a": 2, "j": 3}])


def test_a_table_declares_what_its_columns_share() -> None:
    columns = (Column("a", INTEGER, "…"), Column("b", INTEGER, "…", "own"))
    spec = Table("test", "row", "test", columns, key=("b",), reference="shared")
    assert [column.reference for column in spec.columns] == [spec["a"].reference, spec["b"].reference] == ["shared", "own"]
    assert spec.sort == ("b",)


def test_a_value_outside_the_closed_set_is_kept() -> None:
    columns = {column.name: pa.nulls(3, column.type) for column in EVERY_TYPE.columns}
    columns |= {"a": pa.array([1, 2, 3]), "f": pa.array(["z", "x", None]).dictionary_encode()}
    frame = EVERY_TYPE.to_pandas(EVERY_TYPE.from_arrays(columns))
    assert frame["f"].tolist()[:2] == ["z", "x"]
    assert pd.isna(frame["f"][2])
    assert list(frame["f"].cat.categories) == ["x", "y", "z"]


def test_a_missing_value_where_none_may_be_is_refused() -> None:
    with pytest.raises(DecodeError, match="column a has a missing value"):
        EVERY_TYPE.from_arrays({column.name: pa.nulls(1, column.type) for column in EVERY_TYPE.columns})


@pytest.mark.parametrize("spec", TABLES.values(), ids=lambda spec: spec.name)
def test_every_table_is_declared_in_full(spec: Table) -> None:
    names = spec.column_names
    assert len(set(names)) == len(names)
    assert set(spec.key) <= set(names)
    assert set(spec.sort) <= set(names)
    assert set(HEADS[spec.family]) == set(names[: len(HEADS[spec.family])])
    for column in spec.columns:
        assert column.description.endswith("."), column.name
        assert column.reference, column.name
        assert "object" not in column.pandas_dtype
    assert not any(pa.types.is_floating(column.type) for column in spec.columns)
    assert spec.empty().shape == (0, len(names))


def test_the_same_fact_has_the_same_type_everywhere() -> None:
    types: dict[str, set[str]] = {}
    for spec in TABLES.values():
        for column in spec.columns:
            types.setdefault(column.name, set()).add(str(column.type))
    assert {name: kinds for name, kinds in types.items() if len(kinds) > 1} == {}


def test_a_plain_reader_can_read_our_files(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    for spec in TABLES.values():
        pq.write_table(spec.empty_arrow(), tmp_path / f"{spec.name}.parquet")
        assert list(pd.read_parquet(tmp_path / f"{spec.name}.parquet").columns) == list(spec.column_names)


def test_unknown_table_lists_the_known() -> None:
    with pytest.raises(UsageError, match="Unknown table 'trafic'"):
        table("trafic")
