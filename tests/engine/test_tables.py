"""Small tables keep the columns that queries read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.engine import tables
from ledgerframes.engine.tables import SmallTable

ROWS = pa.table({"id": [f"id {n}" for n in range(9)], "cost": [*range(8), None], "payload": ["x" * 100] * 9, "cost_of": range(9)})
EXPRESSIONS = [
    None,
    pc.field("cost") > 3,
    pc.field("id").isin(["id 2", "cost"]),
    (pc.field("cost") < 5) & (pc.field("cost_of") > 1),
]


class CountedReads(ds.UnionDataset):  # type: ignore[misc]
    """Rows in several parts that count how often each column is read."""

    def __init__(self) -> None:
        super().__init__(ROWS.schema, [ds.dataset(ROWS.slice(0, 5)), ds.dataset(ROWS.slice(5))])
        self.count = Counter[str]()

    def scanner(self, **options: Any) -> ds.Scanner:
        self.count.update(options["columns"])
        return super().scanner(**options)


@given(st.lists(st.tuples(st.lists(st.sampled_from(ROWS.schema.names), unique=True), st.sampled_from(EXPRESSIONS)), max_size=5))
def test_any_scans_in_any_order_have_the_rows_of_the_dataset(scans: list[tuple[list[str], pc.Expression | None]]) -> None:
    rows = CountedReads()
    small = SmallTable(rows)
    for columns, expression in scans:
        found = small.scanner(columns=columns, filter=expression).to_reader().read_all()
        assert found == ds.dataset(ROWS).scanner(columns=columns, filter=expression).to_table()
    assert set(rows.count.values()) <= {1}


def test_a_large_column_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_COLUMN_BYTES", 500)
    rows = CountedReads()
    small = SmallTable(rows)
    for _ in range(3):
        small.scanner(columns=["id", "payload"])
    assert rows.count == {"id": 1, "payload": 3}


def test_all_columns_are_read_from_the_dataset() -> None:
    assert SmallTable(ds.dataset(ROWS)).scanner().to_table() == ROWS
