"""State from history: against the sandbox's own snapshots read as plain JSON, against a plain loop, and on hand-made trees."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pyarrow as pa
import pytest
import zstandard
from campaign import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.datasets.registry import BULK
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames, MemoryFrameSource
from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.store.compact import compact
from ledgerframes.testing import frames_of
from ledgerframes.values.windows import Window

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
START = datetime(2026, 11, 8, tzinfo=UTC)
END = START + timedelta(days=1)
WHOLE = Window(BEGINNING, END)
EVENTS, DAYS = 1_500, 4
MIDNIGHTS = ["2026-11-06", "2026-11-07", "2026-11-08", "2026-11-09"]
PAYLOADS = [
    name for name in ACTIVE_CONTRACTS.column_names if name not in ("snapshot_time", "create_arguments", "created_in_update_id")
]


# -- the sandbox's own snapshots --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    net = lf.connect("sandbox", events=EVENTS, days=DAYS, store=tmp_path_factory.mktemp("store"))
    return lf.load_events(net, since="0001-01-01", until=net.now())


@pytest.fixture(scope="module")
def snapshots() -> dict[str, dict[str, dict[str, Any]]]:
    """The lines of the snapshot of each midnight, by contract; none of the library's decoders has a part in it."""
    box = Sandbox(seed=1, events=EVENTS, days=DAYS)
    client = httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.history_url)
    lines_by_time = {}
    for midnight in MIDNIGHTS:
        parameters = {"at_or_before_record_time": f"{midnight}T00:00:00Z"}
        response = client.get("/v0/history/bulk/acs", params=parameters).raise_for_status().json()
        assert response["record_time"] == f"{midnight}T00:00:00Z"
        lines = [json.loads(line) for ref in response["object_refs"] for line in lines_of(client.get(ref["url"]).content)]
        lines_by_time[midnight] = {line["contract_id"]: line for line in lines}
        assert len(lines_by_time[midnight]) == len(lines) > 100
    return lines_by_time


def lines_of(raw: bytes) -> list[bytes]:
    with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as reader:
        return reader.read().splitlines()


def as_lines(contracts: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The rows in the shape of the lines."""
    names = ["template_id", "package_name", "created_in_update_id"]
    return {
        row.contract_id: {
            "contract_id": row.contract_id,
            **{name: getattr(row, name) for name in names},
            "create_arguments": json.loads(row.create_arguments),
            "created_at": row.created_at,
            "signatories": list(row.signatories),
            "observers": list(row.observers),
        }
        for row in contracts.itertuples()
    }


def with_time(lines: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: {**line, "created_at": pd.Timestamp(line["created_at"])} for name, line in lines.items()}


def assert_lines(contracts: pd.DataFrame, lines: dict[str, dict[str, Any]]) -> None:
    """Compare all members of the lines. A contract of an earlier migration does not name its update."""
    rows = as_lines(contracts)
    assert rows.keys() == lines.keys()
    assert {name: {member: rows[name][member] for member in line} for name, line in lines.items()} == with_time(lines)


@pytest.mark.parametrize("midnight", MIDNIGHTS)
def test_from_the_beginning_it_is_the_sandbox_s_own_snapshot(frames: Frames, snapshots: Any, midnight: str) -> None:
    contracts = lf.contracts.active_at(frames, midnight)
    assert_lines(contracts, snapshots[midnight])
    assert contracts["contract_id"].is_monotonic_increasing
    assert set(contracts["snapshot_time"]) == {pd.Timestamp(midnight, tz="UTC")}


@pytest.mark.parametrize(("before", "midnight"), list(pairwise(MIDNIGHTS)))
def test_on_top_of_the_snapshot_of_the_day_before_it_is_the_same(
    frames: Frames, snapshots: Any, before: str, midnight: str
) -> None:
    base = frame_of_lines(snapshots[before], before).sample(frac=1, random_state=1)
    contracts = lf.contracts.active_at(frames.between(before, midnight), midnight, base=base)
    assert_lines(contracts, snapshots[midnight])
    expected = lf.contracts.active_at(frames, midnight)
    pd.testing.assert_frame_equal(contracts[PAYLOADS], expected[PAYLOADS])


def frame_of_lines(lines: dict[str, dict[str, Any]], midnight: str) -> pd.DataFrame:
    """A base made of plain JSON, as table active_contracts."""
    rows = [
        {
            **line,
            "snapshot_time": pd.Timestamp(midnight, tz="UTC"),
            "created_at": pd.Timestamp(line["created_at"]),
            "package_id": line["template_id"].partition(":")[0],
            "template_name": line["template_id"].partition(":")[2],
            "create_arguments": json.dumps(line["create_arguments"]),
        }
        for line in lines.values()
    ]
    return ACTIVE_CONTRACTS.to_pandas(pa.Table.from_pylist(rows, schema=ACTIVE_CONTRACTS.schema))


def test_the_sandbox_has_contracts_that_outlive_a_migration_and_some_that_end_in_the_next(frames: Frames, snapshots: Any) -> None:
    nodes = frames.read("tree_events", ["migration_id", "contract_id", "event_type", "consuming"])
    created = nodes[nodes["event_type"] == "created_event"].set_index("contract_id")["migration_id"]
    consumed = nodes[nodes["consuming"].fillna(False)]
    assert set(created.reindex(list(snapshots[MIDNIGHTS[-1]]))) == {3, 4}
    assert (created.reindex(consumed["contract_id"]).to_numpy() < consumed["migration_id"].to_numpy()).any()


# -- hand-made trees --------------------------------------------------------------------------------------------------

Node = tuple[str, str]  # ("create" | "consume" | "look at", contract)


def tree_frames(
    *updates: tuple[float, list[Node]] | tuple[float, list[Node], int],
    window: Window | None = WHOLE,
    covered: pd.DataFrame | None = None,
) -> Frames:
    """Frames of transactions: (hours after START, nodes in pre-order[, migration])."""
    rows = []
    for number, (hours, nodes, *migration) in enumerate(updates):
        for index, (what, contract_id) in enumerate(nodes):
            row = {
                "migration_id": migration[0] if migration else 4,
                "record_time": START + timedelta(hours=hours),
                "update_id": f"u{number}",
                "event_id": f"u{number}:{index}",
                "node_index": index,
                "depth": 0,
                "event_type": "created_event" if what == "create" else "exercised_event",
                "contract_id": contract_id,
                "template_id": "p:M:E",
                "package_id": "p",
                "template_name": "M:E",
            }
            created = {"created_at": START, "signatories": ["s"], "observers": [], "create_arguments": f'"{contract_id}"'}
            rows.append({**row, **(created if what == "create" else {"choice": "Go", "consuming": what == "consume"})})
    nodes = pa.Table.from_pylist(rows, schema=TABLES["tree_events"].schema)
    if covered is None and window is not None:
        covered = coverage_of((window.since, window.until, "final"))
    source = MemoryFrameSource({"tree_events": nodes}, covered=covered)
    return Frames(source, ["updates", "tree_events", "reassignments"], window=window)


def coverage_of(*parts: tuple[datetime, datetime, str]) -> pd.DataFrame:
    facts = {"migration_id": 4, "rows": 1, "source": "host", "fetched_at": END}
    return COVERAGE.from_rows([{"since": since, "until": until, "status": status, **facts} for since, until, status in parts])


def ids(contracts: pd.DataFrame) -> list[str]:
    return contracts["contract_id"].tolist()


def test_created_and_consumed_in_one_transaction_is_never_active() -> None:
    frames = tree_frames((1, [("create", "a"), ("create", "b"), ("consume", "a")]))
    assert ids(lf.contracts.active_at(frames, END)) == ["b"]


def test_an_exercise_that_does_not_consume_changes_nothing() -> None:
    frames = tree_frames((1, [("create", "a")]), (2, [("look at", "a"), ("look at", "z")]))
    assert ids(lf.contracts.active_at(frames, END)) == ["a"]


def test_consuming_an_unknown_contract_changes_nothing() -> None:
    frames = tree_frames((1, [("create", "a")]), (2, [("consume", "z")]))
    assert ids(lf.contracts.active_at(frames, END)) == ["a"]


def test_what_happens_at_the_very_time_comes_after_it() -> None:
    frames = tree_frames((1, [("create", "a")]), (2, [("consume", "a"), ("create", "b")]))
    two = START + timedelta(hours=2)
    before, after = (lf.contracts.active_at(frames, two + timedelta(microseconds=shift)) for shift in (0, 1))
    assert (ids(before), ids(after)) == (["a"], ["b"])
    assert ids(lf.contracts.active_at(frames, END, base=before)) == ["b"]


def test_a_base_that_counts_the_update_of_its_own_microsecond_leads_to_the_same() -> None:
    frames = tree_frames((1, [("create", "a")]), (2, [("consume", "a"), ("create", "b")]), (3, [("create", "c")]))
    inclusive = lf.contracts.active_at(frames, START + timedelta(hours=2, microseconds=1))
    inclusive["snapshot_time"] = pd.Series(START + timedelta(hours=2), inclusive.index, "datetime64[us, UTC]")
    contracts = lf.contracts.active_at(frames, END, base=inclusive)
    pd.testing.assert_frame_equal(contracts, lf.contracts.active_at(frames, END))


def test_overlapping_migrations_what_the_later_one_archived_is_gone() -> None:
    # In order of record time alone, the later migration's archival comes before the earlier one's create.
    frames = tree_frames((5, [("create", "a"), ("create", "b")], 3), (4, [("consume", "a")], 4), (6, [("consume", "b")], 4))
    assert ids(lf.contracts.active_at(frames, END)) == []
    assert ids(lf.contracts.active_at(frames, START + timedelta(hours=5.5))) == ["b"]


def test_a_contract_of_the_base_keeps_its_row_until_it_is_consumed() -> None:
    early = tree_frames((-30, [("create", "a"), ("create", "b")], 3), window=Window(BEGINNING, START))
    base = lf.contracts.active_at(early, START)
    late = tree_frames((1, [("consume", "a")]), window=Window(START, END))
    row = lf.contracts.active_at(late, END, base=base).iloc[0]
    assert (row["contract_id"], row["created_in_update_id"], row["create_arguments"]) == ("b", "u0", '"b"')
    assert row["snapshot_time"] == pd.Timestamp(END)


def test_a_contract_that_frames_of_a_base_have_twice_counts_once() -> None:
    early = tree_frames((-30, [("create", "a"), ("create", "b")], 3), window=Window(BEGINNING, START))
    base = lf.contracts.active_at(early, START)
    late = tree_frames((1, [("consume", "a"), ("create", "c")]), window=Window(START, END))
    twice = frames_of(active_contracts=pd.concat([base, base]))
    pd.testing.assert_frame_equal(
        lf.contracts.active_at(late, END, base=twice), lf.contracts.active_at(late, END, base=frames_of(active_contracts=base))
    )


def test_nothing_gives_an_empty_table_of_the_same_shape() -> None:
    empty = lf.contracts.active_at(tree_frames(), END)
    pd.testing.assert_frame_equal(empty, ACTIVE_CONTRACTS.empty())
    some = lf.contracts.active_at(tree_frames((1, [("create", "a")])), END)
    pd.testing.assert_series_equal(some.dtypes, empty.dtypes)
    later = tree_frames((30, [("consume", "a")]), window=Window(END, END + timedelta(days=2)))
    pd.testing.assert_frame_equal(lf.contracts.active_at(later, END + timedelta(days=2), base=some), ACTIVE_CONTRACTS.empty())


def test_neither_frames_nor_base_are_changed() -> None:
    frames = tree_frames((1, [("create", "a")]), (3, [("consume", "a")]))
    base = lf.contracts.active_at(frames, START + timedelta(hours=2))
    copy = base.copy()
    lf.contracts.active_at(frames, END, base=base)
    pd.testing.assert_frame_equal(base, copy)


# -- against a plain loop ---------------------------------------------------------------------------------------------


@st.composite
def histories(draw: Callable[..., Any]) -> list[tuple[float, list[Node], int]]:
    """Lives of contracts as a ledger allows them, in two migrations whose record times overlap."""
    migrations = {3: (0.0, 14.0), 4: (10.0, 24.0)}
    hours = {m: sorted(draw(st.lists(st.floats(*edges, width=16), min_size=3, max_size=8))) for m, edges in migrations.items()}
    instants = [(migration, hour) for migration in sorted(hours) for hour in hours[migration]]
    lives = draw(st.lists(st.tuples(st.integers(0, len(instants) - 1), st.integers(0, len(instants) + 3)), max_size=20))
    updates: list[tuple[float, list[Node], int]] = [(hour, [], migration) for migration, hour in instants]
    for number, (born, span) in enumerate(lives):
        updates[born][1].append(("create", f"c{number}"))
        if born + span < len(instants):
            updates[born + span][1].extend([("look at", f"c{number}"), ("consume", f"c{number}")])
    return updates


def plainly(updates: list[tuple[float, list[Node], int]], until: float) -> list[str]:
    active: set[str] = set()
    for hours, nodes, _ in sorted(updates, key=lambda update: (update[2], update[0])):
        for what, contract_id in nodes if hours < until else []:
            if what == "create":
                active.add(contract_id)
            elif what == "consume":
                active.discard(contract_id)
    return sorted(active)


@settings(max_examples=examples(20))
@given(histories(), st.floats(0, 9.5, width=16), st.floats(15, 24, width=16))
def test_it_is_what_a_plain_loop_finds_with_any_base(updates: Any, first: float, then: float) -> None:
    frames = tree_frames(*updates)
    early, late = (START + timedelta(hours=hours) for hours in (first, then))
    contracts = lf.contracts.active_at(frames, late)
    assert ids(contracts) == plainly(updates, then)
    if len(base := lf.contracts.active_at(frames, early)):
        assert ids(base) == plainly(updates, first)
        pd.testing.assert_frame_equal(lf.contracts.active_at(frames.between(early, late), late, base=base), contracts)


# -- what is refused --------------------------------------------------------------------------------------------------


def test_missing_history_is_named() -> None:
    with pytest.raises(CoverageError, match="or pass a base=") as caught:
        lf.contracts.active_at(tree_frames(window=Window(START, END)), END)
    assert caught.value.missing == ("0001-01-01T00:00:00Z … 2026-11-08T00:00:00Z",)
    with pytest.raises(CoverageError) as caught:
        lf.contracts.active_at(tree_frames(), END + timedelta(hours=1))
    assert caught.value.missing == ("2026-11-09T00:00:00Z … 2026-11-09T01:00:00Z",)
    with pytest.raises(CoverageError) as caught:
        lf.contracts.active_at(tree_frames(window=None), END)
    assert caught.value.missing == ("0001-01-01T00:00:00Z … 2026-11-09T00:00:00Z",)


def test_between_base_and_frames_nothing_may_be_missing() -> None:
    base = lf.contracts.active_at(tree_frames((1, [("create", "a")])), START + timedelta(hours=2))
    with pytest.raises(CoverageError) as caught:
        lf.contracts.active_at(tree_frames(window=Window(START + timedelta(hours=3), END)), END, base=base)
    assert caught.value.missing == ("2026-11-08T02:00:00Z … 2026-11-08T03:00:00Z",)


def test_a_source_that_does_not_reach_the_end_of_the_window_is_named() -> None:
    edge = START + timedelta(hours=20)
    frames = tree_frames((1, [("create", "a")]), covered=coverage_of((BEGINNING, edge, "final")))
    with pytest.raises(CoverageError, match="these frames do not cover") as caught:
        lf.contracts.active_at(frames, END)
    assert caught.value.missing == (str(Window(edge, END)),)
    assert ids(lf.contracts.active_at(frames, edge)) == ["a"]
    with pytest.raises(CoverageError) as caught:
        lf.contracts.active_at(tree_frames(covered=COVERAGE.empty()), END)
    assert caught.value.missing == (str(WHOLE),)


def test_a_state_that_is_not_final_is_refused() -> None:
    edge = START + timedelta(hours=20)
    covered = coverage_of((BEGINNING, edge, "final"), (edge, END, "provisional"))
    frames = tree_frames((1, [("create", "a")]), covered=covered)
    with pytest.raises(CoverageError, match="is not final") as caught:
        lf.contracts.active_at(frames, END)
    assert caught.value.missing == (str(Window(edge, END)),)
    assert ids(lf.contracts.active_at(frames, edge)) == ["a"]


def test_the_provisional_end_of_the_sandbox_is_refused(frames: Frames) -> None:
    with pytest.raises(CoverageError, match="is not final"):
        lf.contracts.active_at(frames, "2026-11-09T05:30:00Z")


def test_frames_of_ids_or_of_a_participant_are_refused(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path, max_concurrency=1)
    by_id = lf.load_events(net, update_ids=lf.load_updates(net).ledger_updates["update_id"].head(3))
    with pytest.raises(CoverageError, match="these frames do not cover"):
        lf.contracts.active_at(by_id, END)
    with pytest.raises(UsageError, match="no table 'tree_events'"):
        lf.contracts.active_at(lf.load_updates(net), END)


def test_a_base_that_is_not_one_earlier_snapshot_is_refused() -> None:
    frames = tree_frames((1, [("create", "a")]))
    base = lf.contracts.active_at(frames, START + timedelta(hours=2))
    other = lf.contracts.active_at(frames, START + timedelta(hours=3))
    for wrong, reason in [
        (pd.concat([base, other]), "2026-11-08 02:00:00.00:00, 2026-11-08 03:00:00"),
        (base.iloc[:0], "snapshot_time: none"),
        (base.assign(snapshot_time=pd.Series(pd.NaT, base.index, "datetime64[us, UTC]")), "snapshot_time: NaT"),
        (base.drop(columns="extra"), "without column 'extra'"),
        (base.astype({"signatories": "str"}), "has a column signatories of list"),
        (pd.DataFrame(), "without column 'snapshot_time'"),
    ]:
        with pytest.raises(UsageError, match=reason):
            lf.contracts.active_at(frames, END, base=wrong)
    for time in (START + timedelta(hours=2), START):
        with pytest.raises(UsageError, match="must be from before 20"):
            lf.contracts.active_at(frames, time, base=base)


@pytest.mark.parametrize("time", ["yesterday", "2026-11-09T00:00:00", 7])
def test_a_time_that_is_none_is_refused(time: Any) -> None:
    with pytest.raises(UsageError):
        lf.contracts.active_at(tree_frames(), time)


def test_frames_filtered_with_where_are_refused(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    frames = lf.load_events(net, since="0001-01-01", until="2026-11-09")
    with pytest.raises(UsageError, match="where"):
        lf.contracts.active_at(frames.where("tree_events", event_type="created_event"), "2026-11-09")


def test_an_object_that_was_not_read_is_a_hole(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path, faults=Faults(truncated_object=0.3))
    frames = lf.load_bulk(net, since="0001-01-01", until="2026-11-09", allow_partial=True)
    with pytest.raises(CoverageError, match="do not cover"):
        lf.contracts.active_at(frames, "2026-11-09")
    repaired = lf.load_bulk(lf.connect("sandbox", events=400, days=1, store=tmp_path), since="0001-01-01", until="2026-11-09")
    assert len(lf.contracts.active_at(repaired, "2026-11-09"))


def test_a_hole_is_still_one_when_its_neighbors_are_merged(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=1200, days=2, store=tmp_path, faults=Faults(truncated_object=0.2))
    whole = lf.connect("sandbox", events=1200, days=2, store=tmp_path)
    base = lf.load_bulk(whole, kind="acs", at="2026-11-08").active_contracts

    def states() -> list[bool]:
        """For each hour, whether the state is said to be known."""
        frames = lf.load_bulk(net, during="2026-11-08", allow_partial=True)
        assert frames.failed_objects
        known = []
        for hour in range(1, 24):
            try:
                known.append(bool(len(lf.contracts.active_at(frames, f"2026-11-08T{hour:02}:00:00Z", base=base))))
            except CoverageError:
                known.append(False)
        return known

    before = states()
    assert compact(net.store)[0].segments_after < len(net.store.committed_keys(BULK))
    assert states() == before
    assert not any(before)
