"""Damaged segments come back from the service as they were, or stay named."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cases import every_nth
from equality import assert_equal, fetched_rows
from object_stores import served

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.api.update_format import update_format
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.registry import BULK, BULK_ACS, BULK_BY_KEY, EVENTS, EVENTS_BY_ID, LEDGER, PRICE_VOTES, Dataset
from ledgerframes.errors import CoverageError, ServiceUnavailableError, StoreError
from ledgerframes.loaders.additions import additions_of
from ledgerframes.loaders.repair import repair
from ledgerframes.network import Network
from ledgerframes.sandbox import Sandbox
from ledgerframes.store.compact import compact
from ledgerframes.store.prune import orphan_files, prune
from ledgerframes.store.verify import verify

pytestmark = pytest.mark.usefixtures("first_loads_copied_in_module")
WORLD = {"events": 400, "days": 1}
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


def connect(store: Path, **overrides: Any) -> Network:
    return lf.connect("sandbox", store=store, **WORLD, **overrides)


def damage(net: Network, dataset: Dataset, table: str, number: int = 0, place: int | None = None) -> Path:
    """Flip a bit in one file of a segment, by default in its middle."""
    holding = [segment for segment in net.store.segments(dataset) if table in segment.files]
    assert net.store.location.local_path
    path = net.store.location.local_path / holding[number].files[table].path
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if place is None else place] ^= 1
    path.write_bytes(content)
    return path


def by_ids(net: Network) -> lf.Frames:
    listed = lf.load_events(connect(Path("elsewhere")), **DAY)
    return lf.load_events(net, update_ids=listed.verdicts["update_id"].head(9).tolist(), id_source="ledger")


LOADS: dict[str, tuple[Callable[[Network], lf.Frames], Dataset, str]] = {
    "range": (lambda net: lf.load_events(net, **DAY), EVENTS, "traffic"),
    "ids": (by_ids, EVENTS_BY_ID, "traffic"),
    "offsets": (lambda net: lf.load_updates(net, through=400), LEDGER, "ledger_events"),
    "trees": (lambda net: lf.load_updates(net, through=400, shape="ledger_effects"), LEDGER, "ledger_events"),
    "objects": (lambda net: lf.load_bulk(net, **DAY), BULK, "updates"),
}


@pytest.mark.parametrize("kind", LOADS)
def test_what_was_damaged_is_as_before(tmp_path: Path, kind: str) -> None:
    load, dataset, table = LOADS[kind]
    net = connect(tmp_path)
    expected = fetched_rows(load(net))
    path = damage(net, dataset, table)
    (done,) = repair(net, verify(net.store))
    assert (done.outcome, done.note) == ("fetched again", "")
    assert verify(net.store) == []
    assert (tmp_path / net.name / "quarantine" / table / path.name).exists()
    assert not path.exists()
    again = connect(tmp_path, offline=True)
    assert_equal(fetched_rows(load(again)) if kind != "offsets" else fetched_rows(load(net)), expected)
    assert net.store.committed_keys(BULK) == again.store.committed_keys(BULK)


def test_a_repair_after_compaction(tmp_path: Path) -> None:
    net = connect(tmp_path, page_size=50, segment_bytes=30_000, min_merged_segments=1_000)
    expected = fetched_rows(lf.load_events(net, **DAY))
    compact(net.store)
    for number in range(len(net.store.segments(EVENTS))):
        damage(net, EVENTS, "verdicts", number)
    assert {done.outcome for done in repair(net, verify(net.store))} == {"fetched again"}
    assert_equal(fetched_rows(lf.load_events(net, **DAY)), expected)


def test_a_repair_of_objects_after_compaction(tmp_path: Path) -> None:
    net = connect(tmp_path)
    expected, keys = fetched_rows(lf.load_bulk(net, **DAY)), net.store.committed_keys(BULK)
    (merged,) = compact(net.store)
    assert merged.segments_after < merged.segments_before
    damage(net, BULK, "tree_events")
    (done,) = repair(net, verify(net.store))
    assert (done.outcome, done.note) == ("fetched again", "")
    assert_equal(fetched_rows(lf.load_bulk(connect(tmp_path, offline=True), **DAY)), expected)
    assert net.store.committed_keys(BULK) == keys


def test_all_objects_of_a_folder_are_repaired(tmp_path: Path) -> None:
    net = connect(tmp_path)
    expected, keys = fetched_rows(lf.load_bulk(net, **DAY)), net.store.committed_keys(BULK)
    count = sum("bulk_objects" in segment.files for segment in net.store.segments(BULK))
    assert count > 1
    for number in range(count):
        damage(net, BULK, "bulk_objects", number)
    assert [done.outcome for done in repair(net, verify(net.store))] == ["fetched again"] * count
    assert_equal(fetched_rows(lf.load_bulk(connect(tmp_path, offline=True), **DAY)), expected)
    assert net.store.committed_keys(BULK) == keys


def test_how_ids_were_found_is_kept_where_it_can_be_read(tmp_path: Path) -> None:
    net = connect(tmp_path)
    by_ids(net)
    damage(net, EVENTS_BY_ID, "envelopes")
    repair(net, verify(net.store))
    assert set(by_ids(net).verdicts["id_source"]) == {"ledger"}
    damage(net, EVENTS_BY_ID, "verdicts")
    (done,) = repair(net, verify(net.store))
    assert done.outcome == "fetched again"
    assert "id_source is user now" in done.note


def test_a_snapshot_of_votes_cannot_be_fetched_again_and_is_never_dropped_silently(tmp_path: Path) -> None:
    net = connect(tmp_path)
    lf.load_price_votes(net)
    path = damage(net, PRICE_VOTES, "price_votes")
    (done,) = repair(net, verify(net.store))
    assert (done.outcome, done.note) == ("cannot be fetched again", "only the latest state is served")
    assert path.exists()
    assert len(verify(net.store)) == 1
    (done,) = repair(net, verify(net.store), drop_unrecoverable=True)
    assert done.outcome == "dropped"
    assert verify(net.store) == []
    assert (tmp_path / net.name / "quarantine" / "price_votes" / path.name).exists()


def test_a_filter_that_is_not_known_stays_until_it_is_named(tmp_path: Path) -> None:
    net = connect(tmp_path)
    wanted = update_format(topology=False)
    expected = fetched_rows(lf.load_updates(net, through=400, include_topology=False))
    damage(net, LEDGER, "ledger_updates")
    (done,) = repair(net, verify(net.store))
    assert done.outcome == "cannot be fetched again"
    assert "filter" in done.note
    (done,) = repair(net, verify(net.store), update_formats=[wanted])
    assert done.outcome == "fetched again"
    assert_equal(fetched_rows(lf.load_updates(net, through=400, include_topology=False)), expected)


def test_pruned_offsets_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = connect(tmp_path)
    lf.load_updates(net, through=400)
    damage(net, LEDGER, "ledger_updates")
    changed = msgspec.structs.replace(net.ledger.latest_pruned_offsets(), participant_pruned_up_to_inclusive=5)
    monkeypatch.setattr(type(net.ledger), "latest_pruned_offsets", lambda _: changed)
    (done,) = repair(net, verify(net.store))
    assert (done.outcome, done.note) == ("cannot be fetched again", "the ledger is pruned through offset 5")
    assert len(verify(net.store)) == 1


def test_objects_from_files_stay(tmp_path: Path) -> None:
    first = connect(tmp_path / "first")
    lf.load_bulk(first, **DAY, download_dir=tmp_path / "kept")
    net = connect(tmp_path / "second")
    lf.load_bulk(net, paths=tmp_path / "kept")
    damage(net, BULK_BY_KEY, "updates")
    (done,) = repair(net, verify(net.store))
    assert done.outcome == "cannot be fetched again"
    assert "load the file again" in done.note


def test_positions_are_written_again_from_intact_rows(tmp_path: Path) -> None:
    first = connect(tmp_path / "first")
    lf.load_bulk(first, **DAY, download_dir=tmp_path / "kept")
    net = connect(tmp_path / "second")
    expected = fetched_rows(lf.load_bulk(net, paths=tmp_path / "kept"))
    lf.load_events(net, **DAY)
    for dataset in (BULK_BY_KEY, EVENTS):
        damage(net, dataset, "event_positions")
    requests = net.request_count
    assert [each.outcome for each in repair(net, verify(net.store))] == ["written again"] * 2
    assert (net.request_count, verify(net.store)) == (requests, [])
    assert_equal(fetched_rows(lf.load_bulk(net, paths=tmp_path / "kept")), expected)


@pytest.mark.parametrize(("kind", "compacted"), every_nth(product(["updates", "acs"], [False, True]), 3))
def test_objects_that_are_not_listed_any_more_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, compacted: bool
) -> None:
    net = connect(tmp_path)
    asked, dataset, table = ({"kind": "acs"}, BULK_ACS, "active_contracts") if kind == "acs" else (DAY, BULK, "updates")
    expected = fetched_rows(lf.load_bulk(net, **asked))
    if compacted:
        compact(net.store)
    last = max(
        (key for key in net.store.committed_keys(dataset) if not key.endswith("/")), key=lambda key: ObjectKey.parse(key).sort_key
    )
    with_rows = [segment for segment in net.store.segments(dataset) if table in segment.files]
    path = damage(net, dataset, table, [last in segment.extent.keys for segment in with_rows].index(True))

    def without_last(page: Any) -> Any:
        refs = [ref for ref in page.object_refs if ObjectKey.from_url(ref.url).key != last]
        return msgspec.structs.replace(page, object_refs=refs)

    for name in ("bulk_updates", "bulk_active_contracts"):
        listing = getattr(type(net.history), name)
        forgetful = lambda *a, listing=listing, **k: without_last(listing(*a, **k))  # noqa: E731
        monkeypatch.setattr(type(net.history), name, forgetful)
    (done,) = repair(net, verify(net.store))
    assert (done.outcome, done.note) == ("cannot be fetched again", f"{last} is not listed any more")
    assert path.exists()
    assert len(verify(net.store)) == 1
    monkeypatch.undo()
    assert repair(net, verify(net.store))[0].outcome == "fetched again"
    assert_equal(fetched_rows(lf.load_bulk(connect(tmp_path, offline=True), **asked)), expected)


def test_offline_nothing_is_moved(tmp_path: Path) -> None:
    net = connect(tmp_path)
    lf.load_events(net, **DAY)
    path = damage(net, EVENTS, "traffic")
    offline = connect(tmp_path, offline=True)
    with pytest.raises(CoverageError, match="nothing was moved"):
        repair(offline, verify(net.store))
    assert path.exists()
    assert len(verify(net.store)) == 1


def test_a_service_that_is_down_leaves_the_range_uncovered_and_the_others_repaired(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    down: list[str] = []

    def app(environ: dict[str, Any], start_response: Any) -> Any:
        if down and down[0] in environ["PATH_INFO"]:
            start_response("503 Service ServiceUnavailableError", [("Content-Type", "text/plain")])
            return [b"down"]
        return box.app(environ, start_response)

    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    net = lf.connect("sandbox", transport=in_process(app), store=tmp_path, requests_per_second=0, retries=0, **urls)
    expected = fetched_rows(lf.load_bulk(net, **DAY))
    lf.load_updates(net, through=400)
    damage(net, BULK, "updates")
    damage(net, LEDGER, "ledger_updates")
    down.append("bulk/download")
    outcomes = {done.segment.dataset: done for done in repair(net, verify(net.store))}
    assert outcomes["ledger"].outcome == "fetched again"
    assert (outcomes["bulk"].outcome, verify(net.store)) == ("not fetched yet", [])
    with pytest.raises(ServiceUnavailableError):
        lf.load_bulk(net, **DAY)  # the folder is not taken for known any more
    down.clear()
    assert_equal(fetched_rows(lf.load_bulk(net, **DAY)), expected)


def test_a_service_that_cannot_be_asked_keeps_nothing_else_from_being_repaired(tmp_path: Path) -> None:
    net = connect(tmp_path)
    expected = fetched_rows(lf.load_events(net, **DAY))
    lf.load_updates(net, through=400)
    damage(net, EVENTS, "traffic")
    path = damage(net, LEDGER, "ledger_updates")
    box = Sandbox(**WORLD)

    def app(environ: dict[str, Any], start_response: Any) -> Any:
        if "/v2/" in environ["PATH_INFO"]:
            start_response("503 Service ServiceUnavailableError", [("Content-Type", "text/plain")])
            return [b"down"]
        return box.app(environ, start_response)

    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "network": net.name}
    halved = lf.connect("sandbox", transport=in_process(app), store=tmp_path, requests_per_second=0, retries=0, **urls)
    for drop in (False, True):
        outcomes = {done.segment.dataset: done for done in repair(halved, verify(net.store), drop_unrecoverable=drop)}
        assert outcomes["ledger"].outcome == "not fetched yet"
        assert outcomes["ledger"].note.startswith("left where it was: ")
        assert drop or outcomes["events"].outcome == "fetched again"
    assert path.exists()
    assert [finding.path.partition("/")[0] for finding in verify(net.store)] == ["ledger_updates"]
    assert_equal(fetched_rows(lf.load_events(connect(tmp_path, offline=True), **DAY)), expected)
    (done,) = repair(net, verify(net.store))
    assert done.outcome == "fetched again"


def test_another_answer_is_said(tmp_path: Path) -> None:
    """A service that has less now than it had is seen."""
    net = connect(tmp_path)
    lf.load_events(net, **DAY)
    damage(net, EVENTS, "traffic")
    findings = verify(net.store)
    with net.store.catalog.write_transaction() as connection:
        connection.execute("UPDATE files SET rows = rows + 7 WHERE segment_id = ? AND table_name = 'traffic'", [_id(findings)])
        connection.execute("UPDATE segments SET checksum = NULL")
    (done,) = repair(net, verify(net.store))
    before = findings[0].segment.rows
    assert (done.outcome, done.note) == ("fetched again", f"{before + 7:,} rows before, {before:,} now")


def _id(findings: list[Any]) -> str:
    return str(findings[0].segment.segment_id)


def test_readers_are_told_what_to_do(tmp_path: Path) -> None:
    net = connect(tmp_path)
    frames = lf.load_events(net, **DAY)
    path = damage(net, EVENTS, "traffic")
    path.write_bytes(b"PAR1" + path.read_bytes()[4:-8] + b"no foot!")
    with pytest.raises(StoreError, match=r"Run `ledgerframes store verify --repair` to fetch again what a service still has"):
        frames.read("traffic")


def test_a_damaged_footer_is_told_from_a_lost_file(tmp_path: Path) -> None:
    """Whatever scans the file says that it is damaged, and where it is."""
    net = connect(tmp_path)
    update_ids = lf.load_bulk(net, **DAY, download_dir=tmp_path / "files").updates["update_id"].head(3).tolist()
    damage(net, BULK, "updates", place=-20)
    frames = lf.load_bulk(net, **DAY)
    scans: list[Callable[[], object]] = [
        lambda: lf.load_events(net, update_ids=update_ids),
        lambda: frames.history_start,
        lambda: additions_of(frames),
    ]
    file = next((tmp_path / "files").iterdir())
    lf.load_bulk(net, paths=[file])
    damage(net, BULK_BY_KEY, "bulk_objects", place=-20)
    scans.append(lambda: lf.load_bulk(net, paths=[file.rename(tmp_path / "unnamed.zstd")]))
    for scan in scans:
        with pytest.raises(
            StoreError, match=r"is damaged \(.+\.parquet is not the (file|one) in the catalog\)\. Run .+ --repair"
        ):
            scan()


def test_quarantine_does_not_count_and_goes_when_told(tmp_path: Path) -> None:
    net = connect(tmp_path)
    lf.load_events(net, **DAY)
    damaged, *_ = net.store.segments(EVENTS)
    damage(net, EVENTS, "traffic")
    repair(net, verify(net.store))
    assert orphan_files(net.store) == []
    assert prune(net.store, min_age=timedelta(0)).deleted_files == ()
    assert len(prune(net.store, min_age=timedelta(0), include_quarantine=True).deleted_files) == len(damaged.files) > 7


@pytest.mark.loopback
def test_upkeep_of_a_store_in_an_object_store(tmp_path: Path) -> None:
    hours = {"since": "2026-11-08T06:00:00Z", "until": "2026-11-08T08:00:00Z"}
    with served() as objects:
        net = lf.connect("sandbox", store=objects.uri("upkeep"), max_concurrency=1, **WORLD)
        lf.load_events(net, since=hours["since"], until="2026-11-08T07:00:00Z")
        expected = fetched_rows(lf.load_events(net, **hours))
        (done,) = compact(net.store)
        assert done.segments_after < done.segments_before
        assert_equal(fetched_rows(lf.load_events(net, **hours)), expected)
        assert len(prune(net.store, min_age=timedelta(0)).deleted_files) > 0
        segment = net.store.segments(EVENTS)[0]
        net.store.location.remove(segment.files["traffic"].path)
        (finding,) = verify(net.store)
        assert (finding.path, finding.problem) == (segment.files["traffic"].path, "missing")
        (repaired,) = repair(net, [finding])
        assert (repaired.outcome, verify(net.store)) == ("fetched again", [])
        assert_equal(fetched_rows(lf.load_events(net, **hours)), expected)
