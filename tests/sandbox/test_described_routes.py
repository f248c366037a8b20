"""The published description validates what the client sends and what the sandbox answers, route by route."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.api.history import History
from ledgerframes.api.transport import in_process
from ledgerframes.sandbox import Sandbox
from ledgerframes.values.windows import instant

from .descriptions import Json, require, require_query, route, routes

SNAPSHOT = (4, instant("2026-11-09"))
REWARDS = "/v0/internal/reward-accounting-process/rounds"
Call = Callable[["Recorder"], Any]


class Recorder(httpx.BaseTransport):
    """The sandbox behind a transport that keeps the last request and its answer."""

    def __init__(self, box: Sandbox) -> None:
        self.box, self.inner = box, in_process(box.app)
        self.history: History = lf.connect("sandbox", history_url=box.history_url, transport=self, requests_per_second=0).history
        self.party = box.world.parties.users[0].identifier
        self.provider = box.world.parties.providers[0].identifier

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.request = request
        self.response = self.inner.handle_request(request)
        self.response.read()
        return self.response

    def last_round(self) -> int:
        """The newest round with complete records."""
        return self.box.world.rounds.first_incomplete(self.box.clock.now()) - 1

    def first_hash(self) -> str:
        """An external hash that the history shows."""
        updates = self.history.updates(page_size=1000)
        return next(update.external_transaction_hash for update in updates if update.external_transaction_hash)


CALLS: dict[str, Call] = {
    "GET /v0/domains/{domain_id}/members/{member_id}/traffic-status": lambda it: it.history.traffic_status(
        it.box.world.parties.synchronizer, f"PAR::{it.box.participant}"
    ),
    "GET /v0/state/acs/snapshot-timestamp": lambda it: it.history.snapshot_time(it.box.now, 4),
    "GET /v0/state/acs/snapshot-timestamp-after": lambda it: it.history.next_snapshot_time(instant("2026-11-08"), 3),
    "POST /v1/state/acs": lambda it: it.history.contracts_page_v1(
        *SNAPSHOT, templates=["splice-coin:Splice.Coin:Coin"], parties=[it.party], after=1, page_size=3
    ),
    "POST /v1/holdings/state": lambda it: it.history.holdings_page_v1(*SNAPSHOT, owners=[it.party], page_size=1),
    "POST /v1/holdings/summary": lambda it: it.history.holdings_summary(*SNAPSHOT, owners=[it.party]),
    "POST /v0/open-and-issuing-mining-rounds": lambda it: it.history.open_and_issuing_rounds(["00ab"]),
    "GET /v0/closed-rounds": lambda it: it.history.closed_rounds(),
    "GET /v0/featured-apps": lambda it: it.history.featured_apps(),
    "GET /v0/featured-apps/by-provider/{provider_party_id}": lambda it: it.history.featured_apps_of(it.provider),
    "GET /v0/ans-entries": lambda it: it.history.name_entries("d", page_size=5),
    "GET /v0/ans-entries/by-party/{party}": lambda it: it.history.name_entry_of_party(it.box.world.parties.dso),
    "GET /v0/ans-entries/by-name/{name}": lambda it: it.history.name_entry("dso.sand"),
    "GET /v0/dso": lambda it: it.history.network_rules(),
    "GET /v0/scans": lambda it: it.history.scans(),
    "GET /v0/admin/validator/licenses": lambda it: it.history.validator_licenses(2, page_size=4),
    "GET /v0/validators/validator-faucets": lambda it: it.history.validator_faucets(
        [validator.identifier for validator in it.box.world.parties.validators[:3]]
    ),
    "GET /v2/updates/hash/{hash}": lambda it: it.history.update_by_hash(it.first_hash()),
    "GET /v0/active-synchronizer-serial": lambda it: it.history.synchronizer_serial(),
    "GET /v0/lsu": lambda it: it.history.upgrade(),
    "GET /v0/backfilling/status": lambda it: it.history.is_backfilled(),
    f"GET {REWARDS}/earliest-available": lambda it: it.history.earliest_reward_round(),
    f"GET {REWARDS}/{{round_number}}/activity-totals": lambda it: it.history.reward_totals(it.last_round()),
    f"GET {REWARDS}/{{round_number}}/root-hash": lambda it: it.history.reward_root(it.last_round()),
    f"GET {REWARDS}/{{round_number}}/batches/{{batch_hash}}": lambda it: it.history.reward_batch(
        it.last_round(), str(it.history.reward_root(it.last_round()).root_hash)
    ),
}


# Routes that the client had before the description, which does not have them.
NOT_DESCRIBED = {
    *("event", "events", "update", "updates", "update_v1", "name_rules", "price_votes", "ready", "live"),
    *("bulk_updates", "bulk_active_contracts", "bulk_checksums", "bulk_object", "contracts_page", "holdings_page"),
}


def test_every_described_route_is_called() -> None:
    described = {f"{row['method']} {row['path']}" for row in routes()}
    assert described == set(CALLS)


def test_every_operation_is_described() -> None:
    described = {(row["method"], row["path"]) for row in routes()}
    names = {name for name, each in History.operations.items() if (each.method, each.path) not in described}
    assert names == NOT_DESCRIBED, "describe the route in tests/data/history_routes.json"


def test_internal_routes_are_declared_so() -> None:
    declared = {(each.method, each.path): each for each in History.operations.values()}
    for row in routes():
        assert declared[row["method"], row["path"]].internal == row["internal"], row["path"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", CALLS)
def test_request_and_answer_are_as_described(name: str) -> None:
    recorder = Recorder(Sandbox(1, 600, 1))
    CALLS[name](recorder)
    described = route(*name.split())
    assert recorder.request.method == described["method"]
    query: Json = {key: values[0] for key, values in parse_qs(recorder.request.url.query.decode()).items()}
    require_query({key: value for key, value in query.items() if key in described.get("query", {})}, described)
    assert set(query) <= set(described.get("query", {}))
    if "request" in described:
        require(json.loads(recorder.request.content), described["request"])
    answer = recorder.response.json()
    require(answer, described["response"])
    assert recorder.history.extra_members == {}, "the client knows every member"


def test_the_rules_have_the_networks_word() -> None:
    recorder = Recorder(Sandbox(1, 600, 1, vocabulary="canton"))
    history = lf.connect(
        "sandbox", history_url=recorder.box.history_url, transport=recorder, requests_per_second=0, vocabulary="canton"
    ).history
    rules = history.network_rules()
    assert set(recorder.response.json()) > {"amulet_rules"}
    assert rules.coin_rules.contract is not None
    assert rules.coin_rules.contract.template_id.endswith(":Splice.AmuletRules:AmuletRules")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"record_time": "yesterday"}, "AcsSnapshotTimestampResponse"),
        ({"serial": "1"}, "GetActivePhysicalSynchronizerSerialResponse"),
        ({"complete": True, "more": 1}, "GetBackfillingStatusResponse"),
        ({}, "GetDsoInfoResponse"),
        ({"migration_id": 4, "record_time": "2026-11-09T00:00:00Z", "owner_party_ids": []}, "HoldingsSummaryRequestV1"),
    ],
)
def test_the_check_itself_refuses(value: Json, kind: str) -> None:
    with pytest.raises(AssertionError):
        require(value, kind)
