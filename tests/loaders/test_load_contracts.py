"""Contracts of the whole network at a snapshot, filtered by the service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.registry import CONTRACTS
from ledgerframes.errors import CoverageError, DecodeError, NotFoundError, UsageError
from ledgerframes.sandbox import Sandbox

WORLD: dict[str, Any] = {"events": 600, "days": 1}
ACTIVE = TABLES["active_contracts"]
VERDICT = {
    "update_id": "1220aa", "record_time": "2026-11-08T00:00:00.000001Z", "migration_id": 4,
    "finalization_time": "2026-11-08T00:00:01Z", "domain_id": "d", "submitting_parties": [],
    "submitting_participant_uid": "p", "verdict_result": "VERDICT_RESULT_ACCEPTED", "mediator_group": 0,
    "transaction_views": {"views": [], "root_views": []},
}  # fmt: skip
EVENT = {"update": None, "verdict": VERDICT}
SNAPSHOT = {"record_time": "2026-11-08T21:00:00Z"}
CONTRACT = {
    "contract_id": "00aa", "template_id": "p:M:E", "package_name": "n", "create_arguments": {"a": "1"},
    "created_at": "2026-11-08T01:00:00Z", "signatories": ["s"], "observers": [],
}  # fmt: skip


def connect(store: Path, box: Sandbox | None = None, **overrides: Any) -> lf.Network:
    if box is None:
        return lf.connect("sandbox", **{**WORLD, "store": store, **overrides})
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    return lf.connect("sandbox", transport=in_process(box.app), store=store, requests_per_second=0, **{**urls, **overrides})


def serving(store: Path, *contracts: Any, hosts: tuple[str, ...] = ("one",), **page: Any) -> lf.Network:
    """A network with one migration, one snapshot, and one page of it."""

    def handler(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else {}
        answers: dict[str, Any] = {
            "/version": {"version": "0.7.4"},
            "/v0/events": {"events": [] if "after" in body else [EVENT]},
            "/v0/state/acs/snapshot-timestamp": SNAPSHOT,
            "/v1/state/acs": {**SNAPSHOT, "migration_id": 4, "created_events": list(contracts), **page},
        }
        return httpx.Response(200, json=answers[request.url.path])

    urls = [f"http://{host}.invalid" for host in hosts]
    return lf.connect("sandbox", history_url=urls, transport=httpx.MockTransport(handler), store=store, requests_per_second=0)


def test_contracts_are_those_of_the_bulk_snapshot(tmp_path: Path) -> None:
    net = connect(tmp_path)
    contracts = lf.load_contracts(net, at="2026-11-09", templates=())
    bulk = lf.load_bulk(net, kind="acs", at="2026-11-09").active_contracts
    assert contracts.dtypes.map(str).to_dict() == {column.name: column.pandas_dtype for column in ACTIVE.columns}
    # Bulk objects sort the members of payloads, and name updates of earlier migrations.
    rest = ["create_arguments", "created_in_update_id"]
    pd.testing.assert_frame_equal(contracts.drop(columns=rest), bulk.drop(columns=rest))
    assert list(map(json.loads, contracts["create_arguments"])) == list(map(json.loads, bulk["create_arguments"]))
    known = contracts["created_in_update_id"].notna()
    assert (contracts["created_in_update_id"][known] == bulk["created_in_update_id"][known]).all()
    assert 0 < known.sum() < len(contracts)


@pytest.mark.parametrize("version", ["0.7", "0.8", "0.9"])
def test_every_version_gives_the_same_rows(tmp_path: Path, version: str) -> None:
    box = Sandbox(**WORLD, history_version=version)
    net = connect(tmp_path / version, box)
    expected = lf.load_contracts(connect(tmp_path / "0"), at="2026-11-09", templates=())
    pd.testing.assert_frame_equal(lf.load_contracts(net, at="2026-11-09", templates=()), expected)
    owner = box.world.parties.users[0].identifier
    assert set(lf.load_contracts(net, at="2026-11-09", owners=[owner])["template_name"]) == {"Splice.Coin:Coin"}


def test_the_newest_snapshot_at_a_time_is_found_over_migrations(tmp_path: Path) -> None:
    net = connect(tmp_path)
    for at, taken in (
        (None, "2026-11-09T03:00:00Z"),  # that of 06:00 is not ready yet
        ("2026-11-09", "2026-11-09T00:00:00Z"),
        ("2026-11-08T23:59:59.999999Z", "2026-11-08T21:00:00Z"),
        ("2026-11-08T14:00:00Z", "2026-11-08T12:00:00Z"),  # the first migration's last
    ):
        times = lf.load_contracts(net, at=at)["snapshot_time"].unique()
        assert times.tolist() == [pd.Timestamp(taken)]
    for early in ("2026-11-08T02:00:00Z", "2025-01-01"):
        with pytest.raises(CoverageError, match="has no snapshot of its contracts at"):
            lf.load_contracts(net, at=early)


def test_the_state_is_stored_and_not_fetched_again(tmp_path: Path) -> None:
    net = connect(tmp_path)
    first = lf.load_contracts(net, at="2026-11-09")
    before = net.request_count
    pd.testing.assert_frame_equal(lf.load_contracts(net, at="2026-11-09T01:00:00Z"), first)
    assert net.request_count - before <= 4, "only the time of the snapshot is looked up"
    earlier = lf.load_contracts(net, at="2026-11-08T21:00:00Z")
    offline = connect(tmp_path, offline=True)
    pd.testing.assert_frame_equal(lf.load_contracts(offline, at="2026-11-09T02:00:00Z"), first)
    pd.testing.assert_frame_equal(lf.load_contracts(offline, at="2026-11-08T22:00:00Z"), earlier)
    assert len(net.store.segments(CONTRACTS)) == 2
    with pytest.raises(CoverageError, match=r"is offline.*Load it online with lf\.load_contracts"):
        lf.load_contracts(offline, at="2026-11-08T12:00:00Z")
    with pytest.raises(CoverageError, match="chosen contracts, which are not stored"):
        lf.load_contracts(offline, templates=())


def test_chosen_contracts_are_not_stored(tmp_path: Path) -> None:
    net = connect(tmp_path)
    assert len(lf.load_contracts(net, templates=["splice-coin:Splice.Coin:Coin"]))
    assert net.store.segments(CONTRACTS) == []


def test_templates_have_the_name_of_their_package(tmp_path: Path) -> None:
    net = connect(tmp_path)
    coins = lf.load_contracts(net, templates=["splice-coin:Splice.Coin:Coin"])
    pd.testing.assert_frame_equal(lf.load_contracts(net, templates=["#splice-coin:Splice.Coin:Coin"]), coins)
    for name in ("splice-coin:Splice.Coin.Coin", "Splice.Coin:Coin", f"{'ab' * 32}:Splice.Coin:Coin"):
        with pytest.raises(UsageError, match=rf"templates= must be names such as .*package-name:Module:Entity.*{name}"):
            lf.load_contracts(net, templates=[name])


def test_the_networks_words_are_in_the_templates(tmp_path: Path) -> None:
    contracts = lf.load_contracts(connect(tmp_path, vocabulary="canton"))
    assert {"Splice.AmuletRules:AmuletRules", "Splice.Amulet:FeaturedAppRight"} < set(contracts["template_name"])


def test_a_plan_sends_nothing(tmp_path: Path) -> None:
    net = connect(tmp_path)
    plan = lf.plan(lf.load_contracts, net, at="2026-11-09")
    assert (plan["dataset"].tolist(), plan["until"].tolist()) == (["contracts"], [pd.Timestamp("2026-11-09", tz="UTC")])
    assert net.request_count == 0


@pytest.mark.parametrize(("argument", "value"), [("templates", ()), ("parties", ["a"])])
def test_owners_are_a_filter_of_their_own(tmp_path: Path, argument: str, value: Any) -> None:
    with pytest.raises(UsageError, match=rf"owners= cannot be combined with {argument}=\."):
        lf.load_contracts(connect(tmp_path), owners=["b"], **{argument: value})


@pytest.mark.parametrize("argument", ["owners", "parties"])
def test_a_column_is_a_list_of_parties(tmp_path: Path, argument: str) -> None:
    net = connect(tmp_path)
    parties = lf.load_parties(net).query("is_local")["party"]
    expected = lf.load_contracts(net, **{argument: list(parties)})
    assert len(expected)
    for column in (parties, parties.to_numpy()):
        pd.testing.assert_frame_equal(lf.load_contracts(net, **{argument: column}), expected)
    with pytest.raises(UsageError, match=f"{argument}= must be a list of one or more parties, got 'a'"):
        lf.load_contracts(net, **{argument: "a"})
    with pytest.raises(UsageError, match=rf"{argument}= must be a list of one or more parties, got \[\]"):
        lf.load_contracts(net, **{argument: parties[:0]})


def opaque(store: Path, seen: list[tuple[str, str]]) -> lf.Network:
    """A network of two hosts with page tokens of their own, of which the first fails after a page."""

    def handler(request: httpx.Request) -> httpx.Response:
        host, body = request.url.host.partition(".")[0], json.loads(request.content) if request.content else {}
        answers: dict[str, Any] = {
            "/version": {"version": "0.8.1"},
            "/v0/events": {"events": [] if "after" in body else [EVENT]},
            "/v0/state/acs/snapshot-timestamp": SNAPSHOT,
        }
        if request.url.path in answers:
            return httpx.Response(200, json=answers[request.url.path])
        token = body.get("after", "")
        seen.append((host, token))
        if host == "one" and token:
            return httpx.Response(502)
        if token and not token.startswith(host):
            return httpx.Response(400, json={"error": "Invalid page token"})
        number = int(token.partition("-")[2] or 0)
        page = {**SNAPSHOT, "migration_id": 4, "created_events": [{**CONTRACT, "contract_id": f"00{number:02x}"}]}
        return httpx.Response(200, json=page | ({"next_page_token": f"{host}-{number + 1}"} if number < 2 else {}))

    urls, transport = ["http://one.invalid", "http://two.invalid"], httpx.MockTransport(handler)
    return lf.connect("sandbox", history_url=urls, transport=transport, store=store, requests_per_second=0, retries=0)


def test_a_listing_starts_again_on_a_host_that_refuses_the_token_of_another(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    assert lf.load_contracts(opaque(tmp_path, seen), templates=())["contract_id"].tolist() == ["0000", "0001", "0002"]
    assert seen == [("one", ""), ("one", "one-1"), ("two", "one-1"), ("two", ""), ("two", "two-1"), ("two", "two-2")]


def test_good_empty_and_malformed_pages(tmp_path: Path) -> None:
    rows = lf.load_contracts(serving(tmp_path / "good", CONTRACT))
    assert rows[["contract_id", "template_name", "package_id", "create_arguments"]].to_numpy().tolist() == [
        ["00aa", "M:E", "p", '{"a":"1"}']
    ]
    pd.testing.assert_frame_equal(lf.load_contracts(serving(tmp_path / "empty"), templates=()), ACTIVE.empty())
    for number, bad in enumerate(({}, {**CONTRACT, "created_at": "soon"}, {**CONTRACT, "signatories": None}, "text")):
        with pytest.raises(DecodeError):
            lf.load_contracts(serving(tmp_path / str(number), bad))
        assert not (tmp_path / str(number) / "segments").exists()


def test_a_state_without_contracts_is_not_stored(tmp_path: Path) -> None:
    net = serving(tmp_path)
    pd.testing.assert_frame_equal(lf.load_contracts(net), ACTIVE.empty())
    assert net.store.segments(CONTRACTS) == []


def test_new_members_are_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = lf.load_contracts(serving(tmp_path, {**CONTRACT, "weight": 3}, more="yes"))
    assert rows["extra"].tolist() == ['{"weight":3}']
    assert "active_contracts.weight" in caplog.text


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.Response(404, json={"error": "No snapshot"}), CoverageError),
        (httpx.Response(404, text="404 page not found"), NotFoundError),
    ],
)
def test_only_the_service_itself_knows_that_there_is_no_snapshot(
    tmp_path: Path, answer: httpx.Response, kind: type[Exception]
) -> None:
    box = Sandbox(**WORLD)
    inner = in_process(box.app)

    def handler(request: httpx.Request) -> httpx.Response:
        return answer if request.url.path.endswith("/snapshot-timestamp") else inner.handle_request(request)

    transport = httpx.MockTransport(handler)
    net = lf.connect("sandbox", history_url=box.history_url, transport=transport, store=tmp_path, requests_per_second=0)
    with pytest.raises(kind):
        lf.load_contracts(net, at="2026-11-09")


def test_a_snapshot_after_the_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match="returned a snapshot of 2026-11-08T21:00:00Z for one at 2026-11-08T18:00:00Z"):
        lf.load_contracts(serving(tmp_path, CONTRACT), at="2026-11-08T18:00:00Z")
