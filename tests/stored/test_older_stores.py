"""Stores that earlier versions made are read with all rows, also those that no service has any more.

``older/make.py`` has made them, with the code of the commit that names the file.
"""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from cases import every_nth
from object_stores import served
from older.make import WORLD, as_text

import ledgerframes as lf
from ledgerframes import export
from ledgerframes.api.transport import in_process
from ledgerframes.datasets.registry import DATASETS
from ledgerframes.errors import PrunedOffsetError, StoreError
from ledgerframes.loaders.recheck import recheck
from ledgerframes.loaders.repair import repair
from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.transactions.kinds import WEIGHTS
from ledgerframes.sandbox.world import World
from ledgerframes.store.compact import compact
from ledgerframes.store.location import HashingWriter, Location, digest_of, not_writable_error
from ledgerframes.store.prune import prune
from ledgerframes.store.rebuild import rebuild
from ledgerframes.store.verify import verify

OLDER = Path(__file__).parent / "older"
# The names of columns that have others now, and those that were added since.
RENAMED = {
    "updates": {"node_offset": "host_offset"},
    "verdicts": {"body_visible": "update_visible"},
    "quorums": {"quorum": "quorum_index"},
    "name_rules": {"domain_id": "synchronizer_id"},
    "envelopes": {"envelope": "envelope_index"},
    "ledger_reassignments": {"position": "event_index"},
    "ledger_topology": {"position": "event_index"},
    "bulk_objects": {
        "number": "object_index",
        "expanded_bytes": "uncompressed_bytes",
        "digest_check": "digest_status",
        "read_at": "fetched_at",
    },
}
# Worlds process rewards with other nodes now. This update of "6b89178" was provisional, so that it is fetched again.
REWRITTEN_TABLES = ["updates", "tree_events"]
REWRITTEN_UPDATE = "1220da4fc43a07726b9ea5a3ee46a45380dd120f90c12e8d536d28d8296e6f0dafb1"
ADDED = {"price_votes": ["extra"], "name_rules": ["extra"]}
# Names of the kinds of transactions that worlds have since. Without these, draws give the transactions of these stores.
ADDED_KINDS: list[str] = []
Rows = dict[str, dict[str, list[dict[str, str | None]]]]


class OlderStore:
    """A store that another version has made, and the rows that it had."""

    def __init__(self, commit: str, directory: Path) -> None:
        self.commit, self.directory = commit, directory
        with zipfile.ZipFile(OLDER / f"{commit}.zip") as archive:
            archive.extractall(directory)
        document = json.loads((directory / "rows.json").read_text(encoding="utf-8"))
        self.rows = {name: _renamed(tables) for name, tables in document["rows"].items()}
        self.network = lf.connect("sandbox", **WORLD).name  # whose number is that of the worlds of a version
        (directory / "store" / document["network"]).rename(directory / "store" / self.network)

    def connect(self, **options: Any) -> lf.Network:
        return lf.connect("sandbox", **WORLD, store=self.directory / "store", **options)

    def update_ids(self) -> list[str]:
        return [str(row["update_id"]) for row in self.rows["events_by_id"]["verdicts"]]

    def window(self) -> dict[str, Any]:
        with closing(sqlite3.connect(self.directory / "store" / self.network / "catalog.sqlite")) as connection:
            names = [row[1] for row in connection.execute("PRAGMA table_info(segments)")]
            start, stop = ("low", "high") if "low" in names else ("start", "stop")
            kind = "stream" if "stream" in names else "dataset"
            query = f"SELECT min({start}), max({stop}) FROM segments WHERE {kind} = 'events'"
            since, until = connection.execute(query).fetchone()
        return {"since": pd.Timestamp(since, unit="us", tz="UTC"), "until": pd.Timestamp(until, unit="us", tz="UTC")}

    def load(self, net: lf.Network) -> dict[str, dict[str, pd.DataFrame]]:
        """Load all that the store has."""
        objects = {
            each: lf.Frames(net.store.snapshot(DATASETS[each]), list(self.rows[each])) for each in self.rows if "bulk" in each
        }
        frames = {
            "events": lf.load_events(net, **self.window()),
            "events_by_id": lf.load_events(net, update_ids=self.update_ids()),
            "ledger": lf.load_updates(net, through=40),
            "ledger_effects": lf.load_updates(net, after=20, through=60, shape="ledger_effects"),
            **objects,
        }
        tables = {name: {table: each.read(table) for table in each.tables} for name, each in frames.items()}
        tables["price_votes"] = {"price_votes": lf.load_price_votes(net, refresh=False)}
        tables["name_rules"] = {"name_rules": lf.load_name_rules(net, refresh=False)}
        return tables


def _renamed(tables: dict[str, list[dict[str, str | None]]]) -> dict[str, list[dict[str, str | None]]]:
    return {
        table: [
            {RENAMED.get(table, {}).get(name, name): value for name, value in row.items()}
            | {name: row.get(name) for name in ADDED.get(table, [])}
            for row in rows
        ]
        for table, rows in tables.items()
    }


def texts(tables: dict[str, dict[str, pd.DataFrame]]) -> Rows:
    return {name: {table: as_text(frame) for table, frame in each.items()} for name, each in tables.items()}


COMMITS = ("359db74", "6b89178")


@pytest.fixture(params=every_nth(COMMITS, len(COMMITS)))
def older(request: pytest.FixtureRequest, tmp_path: Path) -> OlderStore:
    return OlderStore(request.param, tmp_path)


@pytest.fixture(params=COMMITS)
def each_older(request: pytest.FixtureRequest, tmp_path: Path) -> OlderStore:
    """The store of every version, also by default."""
    return OlderStore(request.param, tmp_path)


def assert_same(older: OlderStore, net: lf.Network, rewritten: str = "") -> None:
    """Compare all rows, but those of an update that is another one now, with those that the earlier version has written down."""
    rows = texts(older.load(net))
    assert rows.keys() == older.rows.keys()
    for name, tables in older.rows.items():
        for table, expected in tables.items():
            found, expected = (
                [row for row in side if row.get("update_id") != rewritten] for side in (rows[name][table], expected)
            )
            assert found == expected, f"{older.commit} {name}.{table}"


def test_every_row_is_read_offline(each_older: OlderStore) -> None:
    assert_same(each_older, each_older.connect(offline=True))


def test_every_row_is_read_without_a_request_for_it(each_older: OlderStore) -> None:
    net = each_older.connect()
    assert_same(each_older, net, REWRITTEN_UPDATE)
    # Two requests for each of the two loads of the ledger ask for its participant and its end.
    assert net.request_count <= 8


def test_offsets_that_were_pruned_since_stay(older: OlderStore) -> None:
    sandbox = Sandbox(**WORLD, pruned_through=100)
    urls = {"history_url": sandbox.history_url, "ledger_url": sandbox.ledger_url}
    options = {**urls, "network": older.network, "requests_per_second": 0}
    net = lf.connect("sandbox", store=older.directory / "store", transport=in_process(sandbox.app), **options)
    frames = lf.load_updates(net, through=40)
    assert as_text(frames.ledger_updates) == older.rows["ledger"]["ledger_updates"]
    assert set(frames.coverage["status"]) == {"final"}
    with pytest.raises(PrunedOffsetError):
        lf.load_updates(net, after=40, through=60)


def test_a_new_observation_joins_the_others(older: OlderStore) -> None:
    before = older.rows["price_votes"]["price_votes"]
    votes = lf.load_price_votes(older.connect())
    times = [row["observed_at"] for row in before]
    assert [row for row in as_text(votes) if row["observed_at"] in times] == before
    assert votes["observed_at"].nunique() >= 3
    assert not verify(older.connect().store)


def test_objects_from_files_are_found_by_their_key(older: OlderStore) -> None:
    net = older.connect(offline=True)
    keys = [
        str(row["object_key"]) for row in older.rows["bulk_by_key"]["bulk_objects"] if "sha256:" not in str(row["object_key"])
    ]
    frames = lf.load_bulk(net, object_keys=keys)
    assert as_text(frames.bulk_objects) == [row for row in older.rows["bulk_by_key"]["bulk_objects"] if row["object_key"] in keys]


@pytest.mark.parametrize(
    "name", ["events.updates", "events.quorums", "bulk_by_key.updates", "ledger.ledger_topology", "price_votes"]
)
def test_every_way_to_read_gives_the_same_rows(older: OlderStore, name: str) -> None:
    net, (dataset, _, table) = older.connect(offline=True), name.rpartition(".")
    frames = lf.Frames(net.store.snapshot(DATASETS[dataset or table]), [table])
    rows = frames.read(table)
    assert len(rows) == frames.count_rows(table) == frames.scan(table).count_rows() > 0
    schema = frames.scan(table).schema
    assert schema.names == list(rows.columns)
    for batches in (frames.iter_batches(table), frames.scan(table).to_batches()):
        assert sorted(map(str, pa.Table.from_batches(batches).cast(schema).to_pylist())) == sorted(
            map(str, frames.scan(table).to_table().to_pylist())
        )
    if dataset != "ledger":  # which is there through two filters
        assert lf.sql(net, f"select count(*) as count from {name}")["count"].tolist() == [len(rows)]
        target = older.directory / "rows.parquet"
        assert export.write_table(export.from_store(net, name), table, target) == len(rows)


def test_compaction_writes_the_schema_of_this_version(older: OlderStore) -> None:
    store = older.connect().store
    compact(store)
    for dataset in (each for each in DATASETS.values() if each.mergeable):
        finals = [segment for segment in store.segments(dataset) if segment.status == "final"]
        assert {segment.fingerprint for segment in finals} <= {dataset.schema_fingerprint}
    assert verify(store) == []
    assert_same(older, older.connect(offline=True))
    prune(store, min_age=pd.Timedelta(0).to_pytimedelta())
    assert_same(older, older.connect(offline=True))


def test_a_lost_catalog_is_rebuilt_with_what_files_say(each_older: OlderStore) -> None:
    net = each_older.connect(offline=True)
    (Path(str(net.store.location)) / "catalog.sqlite").unlink()
    result = rebuild(net.store)
    if each_older.commit == "359db74":
        assert set(result.problems.values()) == {"does not say what it covers"}
        return
    assert result.problems == {}
    votes = lf.load_price_votes(net)
    assert as_text(votes) == each_older.rows["price_votes"]["price_votes"]


def test_a_sample_that_is_the_same_now_is_rechecked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ADDED_KINDS:
        monkeypatch.delitem(WEIGHTS, name)
    monkeypatch.setattr("ledgerframes.sandbox.sandbox.world_of", World)
    older = OlderStore("6b89178", tmp_path)
    changes = recheck(older.connect(), sample=4, seed=1, datasets=["events", "events_by_id"]).changes
    assert set(changes["table"]) <= set(REWRITTEN_TABLES)


def test_a_damaged_file_is_named_and_fetched_again(older: OlderStore) -> None:
    net = older.connect()
    segment = next(each for each in net.store.all_segments() if each.dataset == "events" and "updates" in each.files)
    path = Path(str(net.store.location)) / segment.files["updates"].path
    path.write_bytes(path.read_bytes()[:-9])
    damage = verify(net.store)
    assert [each.path for each in damage] == [segment.files["updates"].path]
    assert [each.outcome for each in repair(net, damage)] == ["fetched again"]
    assert verify(net.store) == []


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store whose files this user may only read, and a directory for copies where he may write."""
    connect = sqlite3.connect

    def connect_to_read(database: str | Path, **options: Any) -> sqlite3.Connection:
        is_copy = "ledgerframes-" in str(database)
        return connect(database if is_copy else re.sub(r"\?mode=\w+$", "?mode=ro", str(database)), **options)

    def refuse(location: Location, path: str) -> AbstractContextManager[HashingWriter]:
        raise not_writable_error(location, OSError("AWS Error ACCESS_DENIED (HTTP status 403)")) from OSError()

    monkeypatch.setattr(sqlite3, "connect", connect_to_read)
    monkeypatch.setattr(Location, "write", refuse)


def digests(directory: Path) -> dict[str, str]:
    return {str(path): digest_of(path) for path in sorted(directory.rglob("*")) if path.is_file()}


def messages(caplog: pytest.LogCaptureFixture, event: str) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.getMessage().startswith(event)]


@pytest.mark.usefixtures("read_only")
def test_a_store_that_this_user_may_only_read_is_compared_in_memory(older: OlderStore, caplog: pytest.LogCaptureFixture) -> None:
    before = digests(older.directory)
    net = older.connect(offline=True)
    assert_same(older, net)
    assert_same(older, older.connect(offline=True))
    assert lf.sql(net, "select count(*) as n from events.verdicts")["n"][0] > 0
    assert net.store.freeze(older.directory.parent / "frozen.sqlite").segments(DATASETS["events"])
    assert verify(net.store) == []
    assert net.store.catalog.problems() == []
    assert digests(older.directory) == before
    assert (len(messages(caplog, "upgrade_not_saved")), len(messages(caplog, "comparison_not_saved"))) == (1, 1)
    with pytest.raises(StoreError, match="cannot be written"):
        lf.load_mining_rounds(older.connect())


@pytest.mark.exhaustive
@pytest.mark.loopback
@pytest.mark.parametrize("commit", ["6b89178"])
def test_a_bucket_that_this_user_may_only_read_is_compared_in_memory(
    commit: str, tmp_path: Path, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    older = OlderStore(commit, tmp_path)
    with served() as bucket:
        location = Location.parse(bucket.uri("older"))
        for path in (older.directory / "store").rglob("*"):
            if path.is_file():
                with location.write(str(path.relative_to(older.directory / "store"))) as file:
                    file.write(path.read_bytes())
        request.getfixturevalue("read_only")
        older.connect = lambda **options: lf.connect("sandbox", **WORLD, store=location.uri, **options)  # type: ignore[method-assign]
        for _ in range(2):
            assert_same(older, older.connect(offline=True))
        assert len(messages(caplog, "comparison_not_saved")) == 1
