"""Tables of events from blocks of items: any cut, any order, some tables only."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from campaign import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.datasets import TABLES
from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.events.build import UPDATE_TABLES, VERDICT_TABLES, EventTableBuilder, event_tables
from ledgerframes.datasets.events.wire import Event, Node, Reassignment, Update
from ledgerframes.errors import DecodeError
from ledgerframes.gc_pause import pause_gc
from ledgerframes.sandbox import Sandbox


@pytest.fixture(scope="module")
def lines() -> bytes:
    """Event items of a small world, of every kind, an unknown member in some."""
    events = Sandbox(events=1200, days=2).world.events()
    items = [event.item() for event in events]
    items[::7] = [item.replace(b'{"update":', b'{"weather":{"sun":1},"update":', 1) for item in items[::7]]
    return b"".join(item + b"\n" for item in items)


@pytest.fixture(scope="module")
def built(lines: bytes) -> dict[str, pa.Table]:
    return event_tables(decode_lines(lines, Event, "x"), "bulk")


def test_the_world_has_rows_in_every_table(built: dict[str, pa.Table]) -> None:
    assert list(built) == [table.name for table in history.EVENT_TABLES] == [*UPDATE_TABLES, *VERDICT_TABLES]
    assert all(rows.num_rows for rows in built.values())


def test_every_table_is_sorted_as_declared(built: dict[str, pa.Table]) -> None:
    for table in history.EVENT_TABLES:
        keys = built[table.name].select(list(dict.fromkeys(table.sort)))
        assert keys.equals(keys.sort_by([(name, "ascending") for name in table.sort])), table.name
        assert built[table.name].schema.equals(table.schema, check_metadata=True)


def built_in_blocks(
    blocks: Iterable[Sequence[Any]], tables: Collection[str] = (*UPDATE_TABLES, *VERDICT_TABLES)
) -> dict[str, pa.Table]:
    rows = EventTableBuilder("bulk", tables)
    for block in blocks:
        rows.add(block)
    return rows.tables()


@settings(max_examples=examples(5))
@given(cuts=st.lists(st.integers(0, 1200)), seed=st.none() | st.integers(0, 99), twice=st.lists(st.integers(0, 900), max_size=5))
def test_any_blocks_in_any_order_give_the_same_tables(
    lines: bytes, built: dict[str, pa.Table], cuts: list[int], seed: int | None, twice: list[int]
) -> None:
    items = decode_lines(lines, Event, "x")
    items += [items[number] for number in twice]
    if seed is not None:
        random.Random(seed).shuffle(items)
    bounds = [0, *sorted(cuts), len(items)]
    tables = built_in_blocks(items[low:high] for low, high in pairwise(bounds))
    dropped = tables.pop("dropped_rows", None)
    assert (dropped is not None) == bool(twice)
    for name, rows in tables.items():
        rows.validate(full=True)
        assert rows.equals(built[name]), name


def test_rows_say_how_many_items_and_bytes_they_hold(lines: bytes) -> None:
    rows = EventTableBuilder("bulk")
    assert (len(rows), rows.bytes) == (0, 0)
    items = decode_lines(lines, Event, "x")
    rows.add(items)
    assert len(rows) == len(items)
    expected = rows.bytes
    assert 0.7 < sum(table.nbytes for table in rows.tables().values()) / expected < 1.3


def test_rows_go_without_the_collector(lines: bytes) -> None:
    with pause_gc():
        before = pa.total_allocated_bytes()
        for _ in range(2):
            rows = EventTableBuilder("bulk")
            rows.add(decode_lines(lines, Event, "x"))
            rows.tables()
            del rows
        assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("tables", [(), ("quorums",), ("traffic", "tree_events"), VERDICT_TABLES])
def test_only_the_tables_asked_for_are_built(lines: bytes, built: dict[str, pa.Table], tables: tuple[str, ...]) -> None:
    some = event_tables(decode_lines(lines, Event, "x"), "bulk", tables)
    assert set(some) == set(tables)
    assert all(rows.equals(built[name]) for name, rows in some.items())


def test_updates_alone_give_the_tables_of_updates(lines: bytes, built: dict[str, pa.Table]) -> None:
    updates = [Event(update=event.update) for event in decode_lines(lines, Event, "x") if event.update]
    side = built_in_blocks([updates], UPDATE_TABLES)
    assert tuple(side) == UPDATE_TABLES
    for name, rows in side.items():
        without_extra = rows.drop_columns("extra")  # the event around an update has none here
        assert without_extra.equals(built[name].drop_columns("extra"))


@pytest.mark.parametrize("blocks", [[], [[]], [[], []]])
def test_no_items_give_every_table_empty(blocks: list[list[Event]]) -> None:
    assert built_in_blocks(blocks) == {name: TABLES[name].empty_arrow() for name in (*UPDATE_TABLES, *VERDICT_TABLES)}


def test_an_update_that_is_neither_transaction_nor_reassignment_is_refused() -> None:
    with pytest.raises(DecodeError, match="neither a transaction"):
        built_in_blocks([[Event(update=Update(update_id="a", record_time="2026-11-01T00:00:00Z"))]], UPDATE_TABLES)


def test_an_update_that_is_both_transaction_and_reassignment_is_refused() -> None:
    move = Reassignment(
        source_synchronizer="a",
        target_synchronizer="b",
        migration_id=4,
        unassign_id="1",
        reassignment_counter=1,
        contract_id="00",
    )
    update = Update(update_id="a", record_time="2026-11-01T00:00:00Z", event=move)
    assert built_in_blocks([[Event(update=update)]], UPDATE_TABLES)["reassignments"].num_rows == 1
    update.events_by_id = {"a:0": Node(event_id="a:0", contract_id="00", template_id="p:M:E", event_type="created_event")}
    with pytest.raises(DecodeError, match=r"both a transaction .* and a reassignment"):
        built_in_blocks([[Event(update=update)]], UPDATE_TABLES)


def test_a_batch_built_does_not_keep_the_structs_it_was_built_from(lines: bytes) -> None:
    block = bytearray(lines)
    tables = event_tables(decode_lines(memoryview(block), Event, "x"), "bulk")
    before = {name: rows.to_pylist() for name, rows in tables.items()}
    block[:] = b" " * len(block)  # as a reader does that uses its buffer again
    assert {name: rows.to_pylist() for name, rows in tables.items()} == before
