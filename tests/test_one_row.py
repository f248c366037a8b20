"""One request, one row: a second verdict is left out however the history was loaded."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pyarrow.parquet as pq
import pytest
from campaign import examples
from equality import assert_equal, every_table
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes import export
from ledgerframes.cli.store import describe
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.loaders.repair import repair
from ledgerframes.store.compact import compact
from ledgerframes.store.verify import verify

WINDOW: Any = {"since": "2026-11-01T00:00:00Z", "until": "2026-11-01T00:10:00Z"}
Item = dict[str, Any]


def time_of(second: int) -> str:
    return f"2026-11-01T00:{second // 60:02}:{second % 60:02}.000000Z"


def event(number: int, second: int, *, accepted: bool, finalized: int = 0, migration_id: int = 4, old: bool = False) -> Item:
    """An event of 1000 bytes with rows in all nine tables but reassignments; an old one is an update alone."""
    header = {"update_id": f"id{number:06}", "migration_id": migration_id, "record_time": time_of(second)}
    node = {"event_id": f"id{number:06}:0", "contract_id": "c", "template_id": "p:M:E", "create_arguments": {}}
    update = {**header, "workflow_id": "", "synchronizer_id": "s", "effective_at": time_of(second)}
    update |= {"root_event_ids": [node["event_id"]], "events_by_id": {node["event_id"]: node}}
    view = {"view_id": 0, "informees": ["a"], "confirming_parties": [{"parties": ["a"], "threshold": 1}], "sub_views": []}
    verdict = {
        **header,
        "domain_id": "s",
        "finalization_time": time_of(second + finalized),
        "verdict_result": "VERDICT_RESULT_ACCEPTED" if accepted else "VERDICT_RESULT_REJECTED",
        "submitting_participant_uid": "p",
        "transaction_views": {"views": [view], "root_views": [0]},
    }
    traffic = {"total_traffic_cost": 1000, "envelope_traffic_summaries": [{"traffic_cost": 1000, "view_ids": [0]}]}
    return {
        "update": update if accepted or old else None,
        "verdict": None if old else verdict,
        "traffic_summary": None if old else traffic,
        "app_activity_records": {"round_number": 1, "records": [{"party": "a", "weight": 9}]} if accepted and not old else None,
    }


def header(item: Item) -> tuple[int, str, str]:
    part = item["update"] or item["verdict"]
    return part["migration_id"], part["record_time"], part["update_id"]


def connect(store: Path, items: list[Item]) -> lf.Network:
    def handler(request: httpx.Request) -> httpx.Response:
        content = json.loads(request.content)
        after = content.get("after")
        begin = (after["after_migration_id"], after["after_record_time"]) if after else (-1, "")
        page = [item for item in sorted(items, key=lambda item: header(item)[:2]) if header(item)[:2] > begin]
        return httpx.Response(200, json={"events": page[: content["page_size"]]})

    return lf.connect(
        "sandbox",
        history_url="http://one.invalid",
        transport=httpx.MockTransport(handler),
        store=store,
        page_size=20,
        requests_per_second=0,
    )


def counted_by_hand(items: list[Item]) -> tuple[list[tuple[int, str, str]], int]:
    """The events that count, by plain Python, and the number of the others."""

    def place(item: Item) -> tuple[Any, ...]:
        verdict = item["verdict"] or {"finalization_time": "~", "verdict_result": "~"}
        return *header(item)[:2], verdict["finalization_time"], verdict["verdict_result"]

    first: dict[str, Item] = {}
    for item in sorted(items, key=place):
        first.setdefault(header(item)[2], item)
    return sorted(map(header, first.values())), len(items) - len(first)


requests = st.builds(
    event,
    st.integers(0, 6),
    st.integers(0, 599),
    accepted=st.booleans(),
    finalized=st.integers(0, 2),
    migration_id=st.sampled_from([4, 4, 4, 5]),
    old=st.sampled_from([False, False, False, True]),
)


@settings(max_examples=examples(8), deadline=None)
@given(
    items=st.lists(requests, min_size=1, max_size=14),
    cuts=st.lists(st.integers(1, 9), max_size=4, unique=True),
    random=st.randoms(),
    compacted=st.booleans(),
)
def test_any_split_order_repeat_and_compaction_gives_the_same_frames(
    tmp_path_factory: pytest.TempPathFactory, items: list[Item], cuts: list[int], random: Any, compacted: bool
) -> None:
    folder = tmp_path_factory.mktemp("store")
    at_once = lf.load_events(connect(folder / "one", items), **WINDOW)
    net = connect(folder / "many", items)
    parts = list(pairwise([0, *sorted(cuts), 10]))
    random.shuffle(parts)
    for since, until in [*parts, *parts[:2]]:
        lf.load_events(net, since=time_of(60 * since), until=time_of(60 * until))
    if compacted:
        compact(net.store)
    frames = lf.load_events(net, **WINDOW)
    assert_equal(every_table(frames), every_table(at_once))
    pd.testing.assert_frame_equal(frames.problems, at_once.problems)
    for name in frames.tables:
        assert not frames.read(name).duplicated(list(TABLES[name].key)).any(), name
    expected, dropped = counted_by_hand(items)
    positions = pd.concat([frames.verdicts, frames.updates])[["migration_id", "record_time", "update_id"]].drop_duplicates()
    times = positions["record_time"].dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert sorted(zip(positions["migration_id"], times, positions["update_id"], strict=True)) == expected
    assert sorted(header(item) for item in items if item["verdict"] is None) or (
        int(frames.problems.loc[frames.problems["table"] == "verdicts", "rows"].sum()) == dropped
    )


@pytest.fixture
def split(tmp_path: Path) -> lf.Network:
    """Twenty requests, the first with a second verdict at a later record time, and the second with one at the same."""
    items = [event(number, number, accepted=True) for number in range(20)]
    items += [event(0, 300, accepted=False), event(1, 1, accepted=False, finalized=1)]
    net = connect(tmp_path / "store", items)
    lf.load_events(net, since=WINDOW["since"], until=time_of(300))
    lf.load_events(net, since=time_of(300), until=WINDOW["until"])
    return net


def test_twenty_requests_in_two_loads_cost_twenty_thousand_bytes(split: lf.Network) -> None:
    frames = lf.load_events(split, **WINDOW)
    assert (len(frames.verdicts), int(frames.traffic["total_traffic_cost"].sum())) == (20, 20_000)
    assert set(frames.verdicts["verdict_result"]) == {"VERDICT_RESULT_ACCEPTED"}
    assert int(lf.cost.spend(frames)["total_traffic_cost"].sum()) == 20_000
    problems = frames.problems
    assert problems["table"].tolist() == ["verdicts", "views", "quorums", "traffic", "envelopes"]
    assert problems["rows"].tolist() == [2] * 5
    assert set(problems["update_id"]) == {"id000001"}
    assert str(problems["problem"].dtype) == "category"


def test_every_way_to_read_agrees(split: lf.Network, tmp_path: Path) -> None:
    frames = lf.load_events(split, **WINDOW)
    for name in ("verdicts", "traffic", "envelopes", "views", "quorums"):
        counts = {
            frames.count_rows(name),
            frames.scan(name).count_rows(),
            sum(batch.num_rows for batch in frames.iter_batches(name)),
            int(lf.sql(split, f"select count(*) as n from {name}")["n"][0]),
            int(lf.sql(split, f"select count(*) as n from {name}", **WINDOW)["n"][0]),
            export.write_table(export.from_store(split, name), name, tmp_path / f"{name}.parquet"),
            pq.read_table(tmp_path / f"{name}.parquet").num_rows,
        }
        assert counts == {20}, name


def test_a_window_between_two_verdicts_leaves_the_second_out(split: lf.Network) -> None:
    later = {"since": time_of(300), "until": WINDOW["until"]}
    frames = lf.load_events(split, **later)
    assert [len(frames.read(name)) for name in frames.tables] == [0] * len(frames.tables)
    assert frames.problems["rows"].tolist() == [1] * 5
    assert_equal(every_table(frames), every_table(lf.load_events(split, **WINDOW).between(**later)))
    assert lf.sql(split, "select * from verdicts", **later).empty


def test_a_first_verdict_that_comes_later_is_the_first(tmp_path: Path) -> None:
    items = [event(0, 10, accepted=True), event(0, 300, accepted=False)]
    net, later = connect(tmp_path, items), {"since": time_of(300), "until": time_of(301)}
    alone = lf.load_events(net, **later)
    assert alone.verdicts["update_id"].tolist() == ["id000000"]
    assert [str(window) for window in alone.missing_before] == ["2026-11-01T00:00:10Z … 2026-11-01T00:05:00Z"]
    assert "not in the store   2026-11-01T00:00:10Z" in repr(alone)
    lf.load_events(net, since=time_of(0), until=time_of(11))
    again = lf.load_events(net, **later)
    assert (len(again.verdicts), again.problems["rows"].tolist()) == (0, [1] * 5)
    assert len(alone.verdicts) == 1, "frames show the store as of one moment"
    lf.load_events(net, since=time_of(11), until=time_of(300))
    assert lf.load_events(net, **later).missing_before == ()


def test_narrowed_frames_count_their_own_problems(split: lf.Network) -> None:
    frames = lf.load_events(split, **WINDOW)
    assert frames.between(WINDOW["since"], time_of(1)).problems.empty
    assert frames.between(WINDOW["since"], time_of(300)).problems["rows"].tolist() == [1] * 5
    chosen = frames.where("verdicts", update_id="id000000")
    assert (len(chosen.verdicts), chosen.problems["rows"].tolist()) == (1, [1] * 5)
    assert frames.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED").verdicts.empty


def test_problems_are_shown_and_saved(split: lf.Network, tmp_path: Path) -> None:
    frames = lf.load_events(split, **WINDOW)
    assert "second verdicts    2 rows of verdicts are excluded, such as id000001" in repr(frames)
    assert "2 rows of verdicts are excluded" in frames._repr_html_()
    chosen = repr(frames.where("verdicts", update_id="id000000"))
    assert "1 row of verdicts is excluded" in chosen
    assert "verdicts           1 row\n" in chosen
    lf.save_frames(frames, tmp_path / "saved")
    opened = lf.open_frames(tmp_path / "saved")
    pd.testing.assert_frame_equal(opened.problems, frames.problems)
    assert_equal(every_table(opened), every_table(frames))


def test_a_repaired_segment_has_as_many_rows_as_before(split: lf.Network) -> None:
    segment = split.store.segments(EVENTS)[0]
    assert "dropped_rows" in segment.files
    (split.local_dir / segment.files["traffic"].path).write_bytes(b"damaged")
    (done,) = repair(split, verify(split.store))
    assert (done.outcome, done.note) == ("fetched again", "")


def test_frames_without_problems_say_nothing(tmp_path: Path) -> None:
    frames = lf.load_events(connect(tmp_path, [event(1, 1, accepted=True)]), **WINDOW)
    assert frames.problems.empty
    assert "excluded" not in repr(frames)
    assert list(frames.problems.columns) == ["problem", "table", "rows", "update_id"]


def test_the_description_of_a_store_counts_rows_of_tables_only(split: lf.Network) -> None:
    assert any({"dropped_rows", "event_positions"} <= segment.files.keys() for segment in split.store.segments(EVENTS))
    tables = describe(split)["tables"]
    assert tables["events.verdicts"]["rows"] == 21
    assert not {"events.dropped_rows", "events.event_positions"} & tables.keys()
