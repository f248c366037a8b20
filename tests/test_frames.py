from __future__ import annotations

import copy
import errno
import hashlib
import json
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from campaign import examples
from first_loads import FirstLoads
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.registry import DATASETS, EVENTS
from ledgerframes.errors import CoverageError, IntegrityError, StoreError, UsageError
from ledgerframes.frames import Frames, MemoryFrameSource
from ledgerframes.sandbox import Faults
from ledgerframes.settings import EngineSettings
from ledgerframes.values.extents import Observation, microseconds
from ledgerframes.values.windows import Window, instant

DAY = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory, first_loads: FirstLoads) -> lf.Frames:
    store = tmp_path_factory.mktemp("store")
    with first_loads.copied():
        return lf.load_events(lf.connect("sandbox", events=400, days=1, store=store), **DAY)


@pytest.fixture(scope="module")
def in_pieces(tmp_path_factory: pytest.TempPathFactory) -> lf.Frames:
    """A day in segments of three hours."""
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path_factory.mktemp("pieces"))
    edges = pd.date_range(DAY["since"], DAY["until"], freq="3h", tz="UTC")
    for since, until in pairwise(edges):
        lf.load_events(net, since=since.to_pydatetime(), until=until.to_pydatetime())
    return lf.load_events(net, **DAY)


def test_tables_are_plain_frames_read_once(frames: lf.Frames) -> None:
    assert type(frames.traffic) is pd.DataFrame
    changed = frames.traffic
    changed.loc[0, "total_traffic_cost"] = -1
    assert not (frames.traffic["total_traffic_cost"] == -1).any(), "what one user changes is seen by another"
    assert {"traffic", "verdicts"} <= set(dir(frames))


def test_between_narrows_every_table_together(frames: lf.Frames) -> None:
    morning = frames.between("2026-11-08", "2026-11-08T12:00:00Z")
    noon = pd.Timestamp("2026-11-08T12:00:00Z")
    for name in frames.tables:
        expected = frames.read(name)
        pd.testing.assert_frame_equal(
            morning.read(name), expected[expected["record_time"] < noon].reset_index(drop=True), obj=name
        )
    assert len(morning.verdicts) < len(frames.verdicts)


@settings(max_examples=examples(10))
@given(since=st.integers(0, 24 * 60 - 1), minutes=st.integers(1, 24 * 60))
def test_any_window_over_any_segments_gives_its_rows(in_pieces: lf.Frames, since: int, minutes: int) -> None:
    """Segments inside the window are read without a filter, those astride its edges with one."""
    day = pd.Timestamp(DAY["since"], tz="UTC")
    low, high = day + pd.Timedelta(minutes=since), day + pd.Timedelta(minutes=min(since + minutes, 24 * 60))
    narrowed = in_pieces.between(low.to_pydatetime(), high.to_pydatetime())
    for name in ("verdicts", "traffic"):
        rows = in_pieces.read(name)
        expected = rows[(rows["record_time"] >= low) & (rows["record_time"] < high)].reset_index(drop=True)
        pd.testing.assert_frame_equal(narrowed.read(name), expected, obj=name)
        assert narrowed.read(name, ["update_id"])["update_id"].tolist() == expected["update_id"].tolist()
        assert narrowed.count_rows(name) == narrowed.scan(name).count_rows() == len(expected)
        assert sum(batch.num_rows for batch in narrowed.iter_batches(name)) == len(expected)


def test_only_segments_astride_the_edges_are_filtered(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    for hour in (10, 11, 12, 13):
        lf.load_events(net, since=f"2026-11-08T{hour}:00:00Z", until=f"2026-11-08T{hour + 1}:00:00Z")
    asked = Window(instant("2026-11-08T10:15:00Z"), instant("2026-11-08T13:00:00Z"))
    held = []
    for rows, inside, _ in net.store.snapshot(EVENTS, asked).iter_scans("verdicts", asked):
        files = list(rows.get_fragments())
        promises = {not file.partition_expression.equals(ds.scalar(True)) for file in files}
        held.append((len(files), promises, inside))
    assert held[0][1:] == ({True}, False), "the first is partly outside"
    assert [(promises, inside) for _, promises, inside in held[1:]] == [({False}, True)], "the others are one part"
    with_files = [segment for segment in net.store.segments(EVENTS, asked) if "verdicts" in segment.files]
    assert sum(count for count, _, _ in held) == len(with_files) > 2


def bulk_object(key: str, day: int, first: str | None, last: str | None, migrations: tuple[int, int] = (4, 4)) -> dict[str, Any]:
    times = [None if hour is None else datetime.fromisoformat(f"2026-11-{day:02}T{hour}+00:00") for hour in (first, last)]
    folder = [datetime(2026, 11, each, tzinfo=UTC) for each in (day, day + 1)]
    named = dict(zip(("first_record_time", "last_record_time", "since", "until"), [*times, *folder], strict=True))
    return {"object_key": key, **named, "first_migration_id": migrations[0], "last_migration_id": migrations[1]}


def test_objects_are_those_with_lines_in_the_window() -> None:
    objects = [
        bulk_object("before", 8, "01:00", "05:59"),
        bulk_object("ends as it begins", 8, "05:00", "06:00"),
        bulk_object("around", 8, "05:00", "10:00"),
        bulk_object("begins as it ends", 8, "07:00", "08:00"),
        bulk_object("of two migrations", 8, "09:00", "01:00", (4, 5)),
        bulk_object("without lines", 8, None, None),
        bulk_object("without lines, the day before", 7, None, None),
        {**bulk_object("a file", 7, None, None), "since": None, "until": None},
    ]
    frames = testing.frames_of(bulk_objects=objects).between("2026-11-08T06:00Z", "2026-11-08T07:00Z")
    shown = set(frames.bulk_objects["object_key"])
    assert shown == {"ends as it begins", "around", "of two migrations", "without lines", "a file"}
    assert frames.count_rows("bulk_objects") == len(shown)


def test_narrowing_twice_is_the_same_as_once(frames: lf.Frames) -> None:
    twice = frames.between("2026-11-08", "2026-11-08T18:00:00Z").between("2026-11-08T06:00:00Z", "2026-11-08T12:00:00Z")
    once = frames.between("2026-11-08T06:00:00Z", "2026-11-08T12:00:00Z")
    pd.testing.assert_frame_equal(twice.traffic, once.traffic)
    rejected = frames.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED")
    both = rejected.where("traffic", lambda rows: rows["total_traffic_cost"] > 3000)
    assert set(both.verdicts["update_id"]) <= set(rejected.verdicts["update_id"])
    assert (both.traffic["total_traffic_cost"] > 3000).all()


def test_where_keeps_all_rows_of_the_chosen_updates(frames: lf.Frames) -> None:
    chosen = frames.where("tree_events", depth=0, choice=["Archive", *frames.tree_events["choice"].dropna().unique()[:2]])
    ids = set(chosen.updates["update_id"])
    assert ids
    for name in frames.tables:
        rows = frames.read(name)
        assert len(chosen.read(name)) == rows["update_id"].isin(ids).sum()


def test_where_with_nothing_found_gives_every_table_empty(frames: lf.Frames) -> None:
    nothing = frames.where("traffic", total_traffic_cost=-1)
    for name in frames.tables:
        pd.testing.assert_frame_equal(nothing.read(name), TABLES[name].empty())


def test_some_columns_in_the_order_asked(frames: lf.Frames) -> None:
    columns = ["total_traffic_cost", "update_id"]
    pd.testing.assert_frame_equal(frames.read("traffic", columns), frames.traffic[columns])


def test_no_columns_still_have_their_rows(in_pieces: lf.Frames) -> None:
    for narrowed in (in_pieces, in_pieces.between("2026-11-08T01:00:00Z", "2026-11-08T20:00:00Z")):
        assert narrowed.read("traffic", []).shape == (narrowed.count_rows("traffic"), 0)


@pytest.mark.parametrize("table", ["tree_events", "quorums", "verdicts"])
def test_a_scan_with_dictionaries_has_the_same_rows(frames: lf.Frames, table: str) -> None:
    plain, encoded = frames.scan(table), frames.scan(table, with_dictionaries=True)
    assert encoded.schema != plain.schema
    assert encoded.to_table().cast(plain.schema).equals(plain.to_table())


def test_scan_is_the_same_rows_for_other_engines(frames: lf.Frames) -> None:
    scanned = frames.between("2026-11-08", "2026-11-08T12:00:00Z").scan("traffic")
    assert scanned.count_rows() == len(frames.between("2026-11-08", "2026-11-08T12:00:00Z").traffic)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda frames: frames.read("trafic"), "no table 'trafic'"),
        (lambda frames: frames.scan("trafic"), "no table 'trafic'"),
        (lambda frames: frames.read("traffic", ["cost"]), "Unknown column 'cost'"),
        (lambda frames: frames.where("traffic", cost=1), "Unknown column 'cost'"),
        (lambda frames: frames.where("trafic"), "no table 'trafic'"),
        (lambda frames: frames.where("verdicts", verdict_result="REJECTED"), "'REJECTED' is not a value"),
        (lambda frames: frames.where("traffic", total_traffic_cost="5000"), "total_traffic_cost= must be values of type int64"),
        (lambda frames: frames.where("updates", update_id=7), "update_id= must be text, got 7"),
        (lambda frames: frames.where("updates", record_time=["2026-11-08"]), "record_time= must be values of type timestamp"),
        (lambda frames: frames.where("views", informees=["p::1", b"p::1"]), "informees= must be text, got b"),
        (lambda frames: frames.where("quorums", threshold=["1"]), "threshold= must be values of type int"),
        (lambda frames: frames.read("traffic", ["update_id", "update_id"]), "'update_id' twice"),
        (lambda frames: frames.read("traffic", "update_id"), "must be a list of column names"),
        (lambda frames: frames.read(7), "no table 7"),
        (lambda frames: frames.where("verdicts", "REJECTED"), "predicate must be a function"),
        (lambda frames: frames.where("verdicts", lambda rows: True), "boolean Series"),
        (lambda frames: frames.where("verdicts", lambda rows: rows["update_id"]), "boolean Series"),
        (lambda frames: frames.where("verdicts", lambda rows: rows["view_count"].astype(object)), "boolean Series"),
        (lambda frames: frames.where("updates", update_id="\ud800"), "update_id= must be values of type string"),
        (lambda frames: frames.where("verdicts", party="\ud800"), "submitting_parties= must be values of type string"),
        (lambda frames: frames.where("updates", record_time=datetime(2026, 11, 8)), "must be times with a time zone"),
        (lambda frames: frames.where(lambda rows: rows), "no table <function"),
        (lambda frames: frames.between(1, 2), "must be a time"),
        (lambda frames: frames.between("2026-11-09", "2026-11-08"), "must be before"),
        (lambda frames: frames.between("2025-01-01", "2025-01-02"), "must lie in"),
    ],
)
def test_what_makes_no_sense_names_the_known(frames: lf.Frames, wrong: object, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        wrong(frames)  # type: ignore[operator]


@pytest.mark.parametrize("table", ["active_contracts", "bulk_objects"])
def test_a_table_without_updates_chooses_none(table: str) -> None:
    frames = testing.frames_of(active_contracts=[{"package_name": "x"}])
    with pytest.raises(UsageError, match=rf"{table} has no update_id. Filter the DataFrame frames\.{table}"):
        frames.where(table, lambda rows: rows.index >= 0)
    with pytest.raises(UsageError, match=f"{table} has no update_id"):
        frames.where(table, package_name="x")


def test_a_missing_value_is_of_any_type(frames: lf.Frames) -> None:
    assert len(frames.where("traffic", total_traffic_cost=[None, float("nan"), pd.NA]).traffic) == 0
    assert len(frames.where("activity_records", party=pd.NA).updates) == 0
    assert len(frames.where("tree_events", choice=None).updates) > 0
    assert len(frames.where("views", parent_view_id=None).verdicts) == frames.views["update_id"].nunique()
    permissions = ["PARTICIPANT_PERMISSION_CONFIRMATION", None]
    topology = testing.frames_of(ledger_topology=testing.table("ledger_topology").sample(2, participant_permission=permissions))
    assert len(topology.where("ledger_topology", participant_permission=None).ledger_topology) == 1
    assert len(testing.frames_of(verdicts=[{"update_id": "a"}]).where("verdicts", party=pd.NA).verdicts) == 1


def test_a_predicate_may_return_objects_that_are_booleans(frames: lf.Frames) -> None:
    visible = frames.verdicts["update_visible"]
    some = frames.where("verdicts", lambda rows: rows["update_visible"].astype(object).where(rows["update_visible"], None))
    assert len(some.verdicts) == visible.sum() > 0


def test_an_unknown_attribute_is_an_attribute_error(frames: lf.Frames) -> None:
    with pytest.raises(AttributeError, match="Choose from updates"):
        frames.trafic  # noqa: B018
    assert not hasattr(frames, "__dataframe__")


def test_type_checkers_know_the_tables_that_loaders_link() -> None:
    linked = [table.name for dataset in DATASETS.values() for table in dataset.tables if dataset.extent_type is not Observation]
    assert dict.fromkeys(linked, "pd.DataFrame") == Frames.__annotations__
    assert not hasattr(Frames, "traffic"), "nothing is read before it is used"


def test_coverage_is_clipped_to_the_window(frames: lf.Frames) -> None:
    coverage = frames.between("2026-11-08T06:00:00Z", "2026-11-08T07:00:00Z").coverage
    assert coverage["since"].min() == pd.Timestamp("2026-11-08T06:00:00Z")
    assert coverage["until"].max() == pd.Timestamp("2026-11-08T07:00:00Z")
    assert set(coverage["status"]) == {"final"}


def test_a_window_keeps_the_coverage_of_offsets_and_ids(frames: lf.Frames, tmp_path: Path) -> None:
    """Their segments have no time, so that any of them can have rows in the window."""
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    for whole in (lf.load_updates(net), lf.load_events(net, update_ids=frames.verdicts["update_id"].head(5))):
        pd.testing.assert_frame_equal(whole.between(*DAY.values()).coverage, whole.coverage)
        assert len(whole.coverage)
    ledger = lf.load_updates(net)
    assert len(lf.reconcile.bounds(ledger.between(*DAY.values()))) == len(lf.reconcile.bounds(ledger)) > 0


def test_a_coverage_without_times_covers_no_window() -> None:
    frames = testing.frames_of(coverage=[{"since": None, "until": None, "after": 0, "through": 5}]).between(*DAY.values())
    assert len(frames.coverage) == 1
    for analysis in (lf.economy.purchases, lambda frames: lf.activity.rewards(frames, rounds=None)):
        with pytest.raises(CoverageError, match="unfiltered"):
            analysis(frames)
    with pytest.raises(CoverageError, match="not cover"):
        lf.contracts.active_at(frames, DAY["until"])


def test_frames_can_be_pickled(frames: lf.Frames) -> None:
    sent = pickle.loads(pickle.dumps(frames))
    pd.testing.assert_frame_equal(sent.verdicts, frames.verdicts)
    pd.testing.assert_frame_equal(lf.cost.spend(sent), lf.cost.spend(frames))


def test_frames_without_what_an_analysis_needs_say_what_to_do(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    with pytest.raises(CoverageError, match="Choose one after the start of the network's history"):
        lf.economy.purchases(lf.load_events(net, since="2026-01-01", until="2026-01-02"))
    with pytest.raises(UsageError, match=r"no table 'verdicts'\. Pass frames of lf\.load_events, or choose from ledger_updates"):
        lf.cost.spend(lf.load_updates(net))


def test_repr_says_what_it_is(frames: lf.Frames) -> None:
    for text in (repr(frames), frames._repr_html_()):
        assert "2026-11-08T00:00:00Z … 2026-11-09T00:00:00Z" in text
        assert f"{len(frames.traffic):,} rows" in text
        assert "MB" in text


def test_numbers_of_rows_are_in_one_column_whatever_the_names_of_the_tables() -> None:
    frames = testing.frames_of(traffic=[])
    rows = [line for line in repr(frames).splitlines() if line.endswith(" rows")]
    assert len(rows) == len(frames.tables)
    assert len({line.index("0 rows") for line in rows}) == 1


def test_html_is_escaped() -> None:
    html = lf.Frames(MemoryFrameSource({}, network="<script>"), ["traffic"])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_frames_in_a_folder_are_the_same(frames: lf.Frames, tmp_path: Path) -> None:
    lf.save_frames(frames, tmp_path / "folder")
    opened = lf.open_frames(tmp_path / "folder")
    assert (opened.tables, opened.window, opened.network) == (frames.tables, frames.window, frames.network)
    for name in frames.tables:
        pd.testing.assert_frame_equal(opened.read(name), frames.read(name), obj=name)
    pd.testing.assert_frame_equal(opened.coverage, frames.coverage)


def test_opened_frames_refuse_files_that_were_replaced(frames: lf.Frames, tmp_path: Path) -> None:
    lf.save_frames(frames, tmp_path)
    opened, again = lf.open_frames(tmp_path), lf.open_frames(tmp_path)
    verdicts = opened.verdicts
    lf.save_frames(frames.between("2026-11-08T00:00:00Z", "2026-11-08T06:00:00Z"), tmp_path)
    pd.testing.assert_frame_equal(opened.verdicts, verdicts)  # read before
    for use in (lambda: opened.traffic, lambda: again.verdicts, lambda: lf.cost.spend(again)):
        with pytest.raises(IntegrityError, match=r"parquet was replaced after these frames were opened\. Open them again"):
            use()
    assert len(lf.open_frames(tmp_path).traffic) < len(frames.traffic)


def test_a_folder_has_the_files_of_the_last_frames_only(frames: lf.Frames, tmp_path: Path) -> None:
    lf.save_frames(testing.frames_of(updates=[{"update_id": "x"}]), tmp_path)  # which have all tables
    lf.save_frames(frames, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert {path.name for path in tmp_path.iterdir()} == {"manifest.json", *(f"{name}.parquet" for name in manifest["files"])}


def test_a_file_of_somebody_else_is_neither_replaced_nor_deleted(frames: lf.Frames, tmp_path: Path) -> None:
    exported = tmp_path / "traffic.parquet"
    exported.write_text("of somebody else")
    with pytest.raises(UsageError, match=r"traffic\.parquet was not written by save_frames\. Choose another directory"):
        lf.save_frames(frames, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [exported.name]
    assert exported.read_text() == "of somebody else"
    exported.rename(tmp_path / "price_votes.parquet")
    lf.save_frames(frames, tmp_path)
    lf.save_frames(frames, tmp_path)
    assert (tmp_path / "price_votes.parquet").read_text() == "of somebody else"


def test_only_frames_can_be_saved(frames: lf.Frames, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Pass Frames to lf\.save_frames, .*, got DataFrame"):
        lf.save_frames(frames.traffic, tmp_path)  # type: ignore[arg-type]


def test_opened_frames_have_the_limits_of_the_environment(
    frames: lf.Frames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lf.save_frames(frames, tmp_path / "folder")
    monkeypatch.setenv("LEDGERFRAMES_THREADS", "1")
    monkeypatch.setenv("LEDGERFRAMES_MEMORY_LIMIT", "300MB")
    assert lf.open_frames(tmp_path / "folder").engine == EngineSettings(threads=1, memory_limit="300MB")
    monkeypatch.setenv("LEDGERFRAMES_THREADS", "none")
    with pytest.raises(UsageError, match="Environment: threads= must be a valid integer"):
        lf.open_frames(tmp_path / "folder")


def test_frames_of_bulk_objects_in_a_folder_are_the_same(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store")
    frames = lf.load_bulk(net, since="2026-11-08", until="2026-11-09")
    lf.save_frames(frames, tmp_path / "folder")
    opened = lf.open_frames(tmp_path / "folder")
    assert opened.tables == frames.tables
    for name in frames.tables:
        pd.testing.assert_frame_equal(opened.read(name), frames.read(name), obj=name)


def test_what_could_not_be_read_is_still_known_in_a_folder(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store", faults=Faults(truncated_object=0.3))
    frames = lf.load_bulk(net, since="2026-11-08", until="2026-11-09", allow_partial=True)
    lf.save_frames(frames, tmp_path / "folder")
    assert lf.open_frames(tmp_path / "folder").failed_objects == frames.failed_objects != {}


def test_saved_frames_are_still_filtered(frames: lf.Frames, tmp_path: Path) -> None:
    """The analyses that need all updates of a time refuse filtered frames."""
    for name, saved in {"all": frames, "chosen": frames.where("verdicts", verdict_result="VERDICT_RESULT_ACCEPTED")}.items():
        lf.save_frames(saved, tmp_path / name)
        opened = lf.open_frames(tmp_path / name)
        assert opened.is_filtered == opened.between(*DAY.values()).is_filtered == saved.is_filtered == (name == "chosen")
        lf.save_frames(opened, tmp_path / "again")
        assert lf.open_frames(tmp_path / "again").is_filtered == saved.is_filtered
    with pytest.raises(UsageError, match="unfiltered"):
        lf.reconcile.supply(opened, base=None, until="2026-11-09")
    manifest = tmp_path / "chosen" / "manifest.json"
    content = json.loads(manifest.read_text())
    del content["is_chosen"]
    manifest.write_text(json.dumps(content))
    assert not lf.open_frames(tmp_path / "chosen").is_filtered, "of an older version, which did not say"


def test_saved_frames_keep_their_offsets_and_unknown_ids(frames: lf.Frames, tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store")
    ledger = lf.load_updates(net, through=100)
    by_id = lf.load_events(net, update_ids=[*frames.verdicts["update_id"].head(2), "1220" + 32 * "00"])
    for name, saved in {"ledger": ledger, "by_id": by_id}.items():
        lf.save_frames(saved, tmp_path / name)
        opened = lf.open_frames(tmp_path / name)
        assert (opened.offset_range, opened.unknown_ids) == (saved.offset_range, saved.unknown_ids)
        assert opened.between(*DAY.values()).is_filtered == saved.between(*DAY.values()).is_filtered == (name == "by_id")
    assert (ledger.offset_range, len(by_id.unknown_ids)) == ((0, 100), 1)
    pd.testing.assert_frame_equal(lf.open_frames(tmp_path / "ledger").ledger_updates, ledger.ledger_updates)


def test_a_damaged_store_is_not_an_unwritable_directory(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store")
    frames = lf.load_events(net, **DAY)
    for path in (tmp_path / "store").rglob("*.parquet"):
        path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StoreError, match=r"damaged .* store verify --repair"):
        lf.save_frames(frames, tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_a_changed_file_is_noticed(frames: lf.Frames, tmp_path: Path) -> None:
    lf.save_frames(frames, tmp_path)
    with (tmp_path / "traffic.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(IntegrityError, match=r"traffic\.parquet"):
        lf.open_frames(tmp_path)


@pytest.mark.parametrize("manifest", ["{", "[]", '{"files": {}}'])
def test_a_folder_without_frames_is_refused(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(StoreError, match="save_frames"):
        lf.open_frames(tmp_path)


def test_a_folder_without_a_manifest_is_a_wrong_argument(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "mistyped"):
        with pytest.raises(UsageError, match=r"has no manifest\.json\. Choose a directory that save_frames wrote"):
            lf.open_frames(directory)


@pytest.mark.parametrize("address", ["s3://bucket/prefix", "s3:/bucket", "file:///tmp/x", "gs://bucket"])
def test_frames_are_saved_on_this_machine_only(address: str, tmp_path: Path) -> None:
    frames = lf.load_events(lf.connect("sandbox", events=400, days=1), during="yesterday")
    before = sorted(Path().iterdir())
    with pytest.raises(UsageError, match="directory= must be a path on this machine"):
        lf.save_frames(frames, address)
    with pytest.raises(UsageError, match="directory= must be a path on this machine"):
        lf.open_frames(address)
    assert sorted(Path().iterdir()) == before


def test_what_is_no_path_is_refused_by_its_name(frames: lf.Frames) -> None:
    calls: dict[str, list[Callable[..., object]]] = {
        "directory": [partial(lf.save_frames, frames), lf.open_frames, lf.grant.verify],
        "target": [partial(lf.export.write_table, frames, "verdicts")],
        "path": [lf.labels.read],
    }
    for name, function in ((name, function) for name, functions in calls.items() for function in functions):
        with pytest.raises(UsageError, match=f"{name}= must be a path, got 5"):
            function(5)


def test_a_limit_of_rows_is_at_least_their_number(frames: lf.Frames, in_pieces: lf.Frames) -> None:
    noon = "2026-11-08T12:00:00Z"
    for whole in (frames, in_pieces):
        for part in (whole, whole.between("2026-11-08T06:00:01Z", noon), whole.where("traffic", total_traffic_cost=[0, 1])):
            for name in part.tables:
                limit = part.count_rows(name, at_most=True)
                assert part.count_rows(name) <= limit <= whole.count_rows(name, at_most=True)
    limits = [each.count_rows("verdicts", at_most=True) for each in (in_pieces, in_pieces.between(noon, DAY["until"]))]
    assert limits[1] < limits[0], "files outside of the window do not count"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda scan: pickle.loads(pickle.dumps(scan))])
def test_a_copied_scan_keeps_its_filters(frames: lf.Frames, duplicate: Callable[[ds.Dataset], ds.Dataset]) -> None:
    participant = frames.verdicts["submitting_participant_uid"].iloc[0]
    assert not frames.problems.empty
    for each in (frames, frames.where("verdicts", participant=participant), frames.between("2026-11-08", "2026-11-08T12:00:00Z")):
        expected = each.traffic["update_id"].tolist()
        again = duplicate(each.scan("traffic"))
        assert again.to_table(columns=["update_id"])["update_id"].to_pylist() == expected
        assert again.scanner(columns=["update_id"]).to_reader().read_all()["update_id"].to_pylist() == expected


def test_saved_frames_keep_the_start_of_the_history(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store")
    frames = lf.load_bulk(net, since="0001-01-01", until="2026-11-09")
    last = frames.where("updates", update_id=frames.updates["update_id"].tail(1).tolist())
    lf.save_frames(last, tmp_path / "saved")
    assert lf.open_frames(tmp_path / "saved").history_start == frames.history_start is not None


def rewrite(directory: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Write a file of saved frames as another version would have."""
    path, manifest = directory / f"{table}.parquet", directory / "manifest.json"
    pq.write_table(change(pq.read_table(path)), path)
    content = json.loads(manifest.read_text())
    content["files"][table]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(content))


def test_saved_frames_of_an_earlier_version_have_the_values_of_renamed_columns(frames: lf.Frames, tmp_path: Path) -> None:
    lf.save_frames(frames, tmp_path)
    rewrite(tmp_path, "envelopes", lambda rows: rows.rename_columns({"envelope_index": "envelope"}))
    opened = lf.open_frames(tmp_path)
    pd.testing.assert_frame_equal(opened.envelopes, frames.envelopes)
    assert opened.scan("envelopes").count_rows() == len(frames.envelopes)
    half = {"since": "2026-11-08", "until": "2026-11-08T12:00:00Z"}
    pd.testing.assert_frame_equal(opened.between(**half).envelopes, frames.between(**half).envelopes)
    pd.testing.assert_frame_equal(lf.cost.overhead(opened), lf.cost.overhead(frames))
    (tmp_path / "envelopes.parquet").touch()
    with pytest.raises(IntegrityError, match="was replaced"):
        opened.scan("envelopes")


def test_saved_frames_with_an_unknown_column_are_refused(frames: lf.Frames, tmp_path: Path) -> None:
    lf.save_frames(frames, tmp_path)
    rewrite(tmp_path, "envelopes", lambda rows: rows.rename_columns({"envelope_index": "place"}))
    with pytest.raises(StoreError, match=r"column place of table envelopes is unknown.* with the version of ledgerframes that"):
        lf.open_frames(tmp_path)


def test_a_failed_save_leaves_the_frames_saved_before(frames: lf.Frames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lf.save_frames(frames, tmp_path)
    write, before = pq.write_table, sorted(tmp_path.iterdir())

    def fill_up(rows: pa.Table, path: Path, **options: Any) -> None:
        if "verdicts" in path.name:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(rows, path, **options)

    monkeypatch.setattr(pq, "write_table", fill_up)
    with pytest.raises(StoreError, match="No space left"):
        lf.save_frames(frames.between("2026-11-08", "2026-11-08T12:00:00Z"), tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    pd.testing.assert_frame_equal(lf.open_frames(tmp_path).traffic, frames.traffic)


@pytest.mark.parametrize("manifest", ['{"name": "an app"}', "[]", "{", '{"written_by": "another"}'])
def test_a_directory_of_another_program_is_left_alone(frames: lf.Frames, tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    (tmp_path / "updates.parquet").write_text("of somebody else")
    with pytest.raises(UsageError, match=r"manifest\.json was not written by save_frames\. Choose another directory"):
        lf.save_frames(frames, tmp_path)
    assert (tmp_path / "manifest.json").read_text() == manifest
    assert (tmp_path / "updates.parquet").read_text() == "of somebody else"


def test_a_time_as_a_number_of_microseconds_matches(frames: lf.Frames) -> None:
    time = frames.verdicts["record_time"].iloc[5]
    expected = frames.where("verdicts", record_time=time).verdicts
    assert len(expected) == 1
    number = microseconds(time.to_pydatetime())
    pd.testing.assert_frame_equal(frames.where("verdicts", record_time=number).verdicts, expected)
