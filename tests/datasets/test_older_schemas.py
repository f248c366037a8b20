"""Rows of another schema become rows of a table, or the reason is named why they do not."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from ledgerframes import testing
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.events.schema import TREE_EVENTS
from ledgerframes.datasets.older_schemas import SchemaMapping, UnmappableError
from ledgerframes.datasets.registry import DATASETS
from ledgerframes.datasets.schema import AMOUNT, CHOICE, INTEGER, SMALL, TEXT, TEXTS, Column, Derivation, Table

NUMBERS = Table(
    name="numbers",
    row_description="number",
    family="numbers",
    key=("number",),
    columns=(
        Column("number", INTEGER, "A number.", former_names=("count", "position")),
        Column("kind", CHOICE, "A kind.", values=("odd", "even"), missing="if unknown"),
        Column("amount", AMOUNT, "An amount.", missing="if unknown"),
        Column("names", TEXTS, "Names.", missing="if unknown"),
        Column("half", INTEGER, "Half of it.", derivation=Derivation(("number",), lambda number: pa.compute.divide(number, 2))),
    ),
)
# Expressions of the store read these columns of files before they are renamed.
FILTERED = {
    "migration_id", "record_time", "update_id", "offset", "observed_at", "id_source",
    "since", "until", "first_record_time", "last_record_time", "first_migration_id", "last_migration_id",
}  # fmt: skip


def field(name: str, kind: pa.DataType, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable)


def apply(rows: pa.Table, columns: list[str] | None = None) -> list[dict[str, object]]:
    mapping = SchemaMapping.of(NUMBERS, rows.schema)
    names = columns or list(NUMBERS.column_names)
    stored = rows.select(mapping.stored_columns(names))
    whole = mapping.apply(stored, names)
    assert whole.schema == pa.schema([NUMBERS.schema.field(name) for name in names])
    parts = [mapping.apply(batch, names) for batch in stored.to_batches(max_chunksize=1)]
    assert pa.Table.from_batches(parts, whole.schema).to_pylist() == whole.to_pylist()
    return whole.to_pylist()


@pytest.mark.parametrize("name", ["number", "count", "position"])
def test_columns_are_renamed_widened_derived_and_missing(name: str) -> None:
    schema = pa.schema([field(name, SMALL), field("kind", TEXT, nullable=True)])
    rows = pa.table([pa.array([7, 8], SMALL), ["odd", None]], schema=schema)
    expected = {"number": 7, "kind": "odd", "amount": None, "names": None, "half": 3}
    assert apply(rows)[0] == expected
    for column, value in expected.items():
        assert apply(rows, [column])[0] == {column: value}
    assert apply(rows, ["kind", "half"]) == [{"kind": "odd", "half": 3}, {"kind": None, "half": 4}]


def test_amounts_and_lists_are_widened_without_a_loss() -> None:
    narrow = pa.decimal128(20, 4)
    schema = pa.schema([field("number", INTEGER), field("amount", narrow), field("names", pa.list_(CHOICE))])
    rows = pa.table([[1], pa.array([Decimal("1.2345")], narrow), pa.array([["a"]], pa.list_(CHOICE))], schema=schema)
    assert apply(rows, ["amount"]) == [{"amount": Decimal("1.2345")}]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ([field("kind", CHOICE)], "column number of table numbers did not exist and cannot be missing"),
        ([field("number", INTEGER), field("total", INTEGER)], "column total of table numbers is unknown"),
        ([field("number", INTEGER), field("count", INTEGER)], "column count of table numbers is unknown"),
        ([field("number", pa.float64())], "column number of table numbers had type double"),
        ([field("number", TEXT)], "column number of table numbers had type string"),
        ([field("number", INTEGER, nullable=True)], "column number of table numbers could be missing"),
        ([field("number", INTEGER), field("amount", pa.decimal128(38, 12))], r"column amount .* had type decimal128\(38, 12\)"),
        ([field("number", INTEGER), field("half", pa.uint64())], "column half .* had type uint64"),
    ],
)
def test_what_would_change_a_value_is_refused(fields: list[pa.Field], reason: str) -> None:
    with pytest.raises(UnmappableError, match=reason):
        SchemaMapping.of(NUMBERS, pa.schema(fields))


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_every_table_maps_to_itself(table: Table) -> None:
    mapping = SchemaMapping.of(table, table.schema)
    assert mapping.is_native and not mapping.absent_columns
    rows = testing.table(table.name).sample_arrow([1, 2])
    assert mapping.apply(rows, table.column_names).equals(rows)


@pytest.mark.parametrize(
    ("table", "column", "former_name"),
    [(table, column, name) for table in TABLES.values() for column in table.columns for name in column.former_names],
    ids=lambda value: getattr(value, "name", value),
)
def test_rows_with_a_former_name_are_those_with_the_name_of_now(table: Table, column: Column, former_name: str) -> None:
    rows = testing.table(table.name).sample_arrow([1, 2])
    older = rows.rename_columns({column.name: former_name})
    mapping = SchemaMapping.of(table, older.schema)
    assert mapping.apply(older.select(mapping.stored_columns(table.column_names)), table.column_names).equals(rows)


def test_parts_of_a_template_id_are_derived() -> None:
    rows = testing.table("tree_events").sample_arrow([1, 2], template_id=["abc:Main:Asset", "def:Main:Asset"])
    older = rows.drop_columns(["package_id", "template_name"])
    mapping = SchemaMapping.of(TREE_EVENTS, older.schema)
    result = mapping.apply(older, ["package_id", "template_name"])
    assert result.to_pydict() == {"package_id": ["abc", "def"], "template_name": ["Main:Asset", "Main:Asset"]}
    assert not mapping.is_native and not mapping.absent_columns


def test_no_column_that_files_are_filtered_by_is_renamed_or_derived() -> None:
    columns = [column for dataset in DATASETS.values() for table in dataset.all_tables for column in table.columns]
    renamed = {column.name for column in columns if column.former_names or column.derivation}
    assert renamed and not renamed & FILTERED


def test_a_former_name_is_no_other_column() -> None:
    for table in TABLES.values():
        names = [name for column in table.columns for name in (column.name, *column.former_names)]
        assert len(names) == len(set(names))
