"""One test per operation, on a whole network; the page of operations names the tests."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.api.operation import Operation
from ledgerframes.api.operations import OPERATIONS
from ledgerframes.api.transport import in_process
from ledgerframes.api.update_format import event_format, update_format
from ledgerframes.datasets.ledger.wire import decode_page
from ledgerframes.errors import ServiceError
from ledgerframes.sandbox import Sandbox
from ledgerframes.values.windows import instant

ANY = event_format()
EVERYTHING = update_format(shape="ledger_effects")
TRANSACTIONS = {"transactionShape": "TRANSACTION_SHAPE_LEDGER_EFFECTS", "eventFormat": ANY.as_json()}
DAR = b"PK\x03\x04" + b"0" * 64
FILTER = {"filter": {"filtersForAnyParty": {"cumulative": []}}, "verbose": True}


def commands(command_id: str) -> dict[str, Any]:
    create = {"CreateCommand": {"templateId": "#app:Main:Thing", "createArguments": {}}}
    return {"commands": [create], "commandId": command_id, "actAs": ["me"]}


def reassignment(command_id: str) -> dict[str, Any]:
    unassign = {"UnassignCommand": {"value": {"contractId": "00", "source": "here", "target": "there"}}}
    return {"reassignmentCommands": {"commandId": command_id, "submitter": "me", "commands": [{"command": unassign}]}}


def connect(box: Sandbox, store: Path) -> lf.Network:
    return lf.connect(
        "sandbox",
        history_url=box.history_url,
        ledger_url=box.ledger_url,
        wallet_url=box.wallet_url,
        transport=in_process(box.app),
        token=box.token,
        requests_per_second=0,
        store=store,
    )


class Context:
    """A network, and ids in it for the operations' arguments."""

    def __init__(self, store: Path) -> None:
        self.box = Sandbox(events=600, days=1)
        self.net = connect(self.box, store)
        self.newer_net = connect(Sandbox(events=600, days=1, ledger_version="3.7.4", history_version="0.8.1"), store / "newer")
        self.newer = self.newer_net.ledger
        self.ledger, self.wallet, self.history = self.net.ledger, self.net.wallet, self.net.history
        self.end = self.ledger.ledger_end()
        frames = lf.load_updates(self.net, shape="ledger_effects")
        transactions = frames.ledger_updates[frames.ledger_updates["kind"] == "transaction"]
        self.update_id, self.offset = transactions["update_id"].iloc[-1], int(transactions["offset"].iloc[-1])
        self.witness = frames.ledger_events.query("offset == @self.offset")["witness_parties"].iloc[0][0]
        created = frames.ledger_events.query("event_type == 'created_event'")["contract_id"]
        gone = frames.ledger_events.query("event_type != 'created_event' and consuming != False")["contract_id"]
        self.contract_id = created[~created.isin(gone)].iloc[-1]
        self.party = self.box.user_parties[0]
        self.package_id = self.ledger.packages()[0]
        self.event_id = self.history.events(page_size=1)[0].update.update_id  # type: ignore[union-attr]

    def offer(self, **contents: Any) -> Any:
        """A fresh transfer offer."""
        expiry = self.box.now.replace(year=2099)
        given = {"receiver": self.box.user_parties[1], "amount": Decimal("1.5"), "description": "test", "expires_at": expiry}
        return self.wallet.offer_transfer(**{**given, **contents})

    def received(self) -> str:
        """The contract id of an offer that is still open."""
        return str(self.offer(receiver=self.party).contract_id)


def text(answer: Any) -> str:
    return answer.body.decode() if hasattr(answer, "body") else json.dumps(answer)


def is_page(answer: Any) -> bool:
    return len(decode_page(answer.body).updates or []) > 0


Proof = Callable[[Context], object]
PROOFS: dict[str, Proof] = {
    "ledger.get_updates_page": lambda at: is_page(
        at.ledger.get_updates_page({"updateFormat": EVERYTHING.as_json(), "endOffsetInclusive": at.end})
    ),
    "ledger.updates": lambda at: "update" in text(at.ledger.updates(EVERYTHING, after=at.offset - 1, through=at.end)),
    "ledger.flat_updates": lambda at: at.ledger.flat_updates({"beginExclusive": at.offset - 1, "endInclusive": at.end, **FILTER}),
    "ledger.tree_updates": lambda at: at.ledger.tree_updates({"beginExclusive": at.offset - 1, "endInclusive": at.end, **FILTER}),
    "ledger.update_by_offset": lambda at: at.update_id in text(at.ledger.update_by_offset(at.offset, EVERYTHING)),
    "ledger.update_by_id": lambda at: at.update_id in text(at.ledger.update_by_id(at.update_id, EVERYTHING)),
    "ledger.transaction_by_offset": lambda at: at.update_id in text(at.ledger.transaction_by_offset(at.offset, TRANSACTIONS)),
    "ledger.transaction_by_id": lambda at: at.update_id in text(at.ledger.transaction_by_id(at.update_id, TRANSACTIONS)),
    "ledger.transaction_tree_by_offset": lambda at: (
        at.update_id in text(at.ledger.transaction_tree_by_offset(at.offset, parties=at.witness))
    ),
    "ledger.transaction_tree_by_id": lambda at: (
        at.update_id in text(at.ledger.transaction_tree_by_id(at.update_id, parties=at.witness))
    ),
    "ledger.update_by_hash": lambda at: signed(at)["updateId"],
    "ledger.completion_by_hash": lambda at: (
        at.newer.completion_by_hash(signed(at)["transactionHash"]).accepted_completion.update_id == signed(at)["updateId"]  # type: ignore[union-attr]
    ),
    "ledger.submit_and_wait": lambda at: at.ledger.submit_and_wait(commands("c-1"))["updateId"],
    "ledger.submit_and_wait_for_transaction": lambda at: at.ledger.submit_and_wait_for_transaction({"commands": commands("c-2")})[
        "transaction"
    ],
    "ledger.submit_and_wait_for_reassignment": lambda at: at.ledger.submit_and_wait_for_reassignment(reassignment("r-1"))[
        "reassignment"
    ],
    "ledger.submit_and_wait_for_transaction_tree": lambda at: at.ledger.submit_and_wait_for_transaction_tree(commands("c-3"))[
        "transactionTree"
    ],
    "ledger.async_submit": lambda at: at.ledger.async_submit(commands("c-4")) == {},
    "ledger.async_submit_reassignment": lambda at: at.ledger.async_submit_reassignment(reassignment("r-2")) == {},
    "ledger.command_completions": lambda at: at.ledger.command_completions(limit=20),
    "ledger.user_completions": lambda at: at.ledger.user_completions([at.party], limit=20),
    "ledger.version": lambda at: at.ledger.version().release == (3, 5),
    "ledger.ledger_end": lambda at: at.ledger.ledger_end() == at.end,
    "ledger.latest_pruned_offsets": lambda at: at.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive == 0,
    "ledger.connected_synchronizers": lambda at: at.ledger.connected_synchronizers(),
    "ledger.active_contracts_page": lambda at: (
        at.ledger.decode_active_contracts(at.ledger.active_contracts_page(ANY)).active_contracts
    ),
    "ledger.active_contracts_page_by_get": lambda at: at.ledger.active_contracts_page_by_get({"eventFormat": ANY.as_json()}),
    "ledger.active_contracts": lambda at: (
        "contractEntry"
        in text(at.ledger.active_contracts(event_format(templates=[a_rare_template(at)]), active_at_offset=at.end))
    ),
    "ledger.events_by_contract_id": lambda at: (
        at.ledger.decode_contract_events(at.ledger.events_by_contract_id(at.contract_id, ANY)).created
    ),
    "ledger.contract_by_id": lambda at: at.contract_id in text(at.ledger.contract_by_id(at.contract_id)),
    "ledger.ready": lambda at: set(at.ledger.ready().values()) == {200},
    "ledger.live": lambda at: set(at.ledger.live().values()) == {200},
    "ledger.packages": lambda at: at.package_id in at.ledger.packages(),
    "ledger.package": lambda at: at.ledger.package(at.package_id),
    "ledger.package_status": lambda at: at.ledger.package_status(at.package_id) == "PACKAGE_STATUS_REGISTERED",
    "ledger.upload_dar": lambda at: at.ledger.upload_dar(DAR) is not None or at.box.writes,
    "ledger.validate_dar": lambda at: at.ledger.validate_dar(DAR) is not None or True,
    "ledger.upload_package": lambda at: at.ledger.upload_package(DAR) is not None or at.box.writes,
    "ledger.vetted_packages_page": lambda at: at.ledger.vetted_packages_page().vetted_packages,
    "ledger.vetted_packages_page_by_get": lambda at: at.ledger.vetted_packages_page_by_get(),
    "ledger.update_vetting": lambda at: "newVettedPackages" in at.ledger.update_vetting(VETTING),
    "ledger.preferred_package_version": lambda at: at.ledger.preferred_package_version({"package-name": "nothing"}) == {},
    "ledger.post_package_vetting": lambda at: at.ledger.post_package_vetting(VETTING) is not None,
    "ledger.participant_id": lambda at: at.ledger.participant_id() == at.box.participant,
    "ledger.parties_page": lambda at: at.ledger.parties_page(page_size=5).party_details,
    "ledger.party": lambda at: at.ledger.party(at.party)[0].party == at.party,
    "ledger.allocate_party": lambda at: "fresh" in text(at.ledger.allocate_party({"partyIdHint": "fresh"})),
    "ledger.update_party": lambda at: (
        at.party in text(at.ledger.update_party(at.party, {"partyDetails": {"party": at.party}, "updateMask": {"paths": []}}))
    ),
    "ledger.external_party_topology": lambda at: at.ledger.external_party_topology(EXTERNAL),
    "ledger.allocate_external_party": lambda at: at.ledger.allocate_external_party(ALLOCATION),
    "ledger.authenticated_user": lambda at: at.ledger.authenticated_user(),
    "ledger.users": lambda at: at.ledger.users(),
    "ledger.user": lambda at: at.ledger.user(a_user(at)),
    "ledger.user_rights": lambda at: at.ledger.user_rights(a_user(at)),
    "wallet.offer_transfer": lambda at: at.offer().contract_id,
    "wallet.offers": lambda at: at.offer() and at.wallet.offers(),
    "wallet.offer_status": lambda at: at.wallet.offer_status(at.offer().tracking_id),
    "wallet.accept": lambda at: at.wallet.accept(at.received()),
    "wallet.reject": lambda at: at.wallet.reject(at.received()) is None,
    "wallet.withdraw": lambda at: at.wallet.withdraw(str(at.offer().contract_id)) is None,
    "wallet.accepted_offers": lambda at: at.wallet.accepted_offers() is not None,
    "wallet.balance": lambda at: at.wallet.balance(),
    "history.event": lambda at: at.history.event(at.event_id).update,
    "history.events": lambda at: len(at.history.events(page_size=7)) == 7,
    "history.update": lambda at: at.history.update(at.event_id).update_id == at.event_id,
    "history.updates": lambda at: len(at.history.updates(page_size=7)) == 7,
    "history.update_v1": lambda at: at.history.update_v1(at.event_id, lossless=True).offset,
    "history.name_rules": lambda at: at.history.name_rules().contract,
    "history.price_votes": lambda at: at.history.price_votes(),
    "history.traffic_status": lambda at: (
        at.history.traffic_status(at.net.ledger.connected_synchronizers()[0].synchronizer_id, f"PAR::{at.box.participant}").actual
    ),
    "history.synchronizer_serial": lambda at: at.history.synchronizer_serial() >= 0,
    "history.update_by_hash": lambda at: at.history.update_by_hash(an_external_hash(at)).external_transaction_hash,
    "history.snapshot_time": lambda at: at.history.snapshot_time(at.box.now, 4) == SNAPSHOT,
    "history.next_snapshot_time": lambda at: at.history.next_snapshot_time(instant("2026-11-09T00:00:00Z"), 4) == SNAPSHOT,
    "history.contracts_page": lambda at: at.newer_net.history.contracts_page(4, instant(SNAPSHOT)).created_events,
    "history.contracts_page_v1": lambda at: at.history.contracts_page_v1(4, instant(SNAPSHOT)).created_events,
    "history.holdings_page": lambda at: (
        at.newer_net.history.holdings_page(4, instant(SNAPSHOT), owners=[an_owner(at)]).created_events
    ),
    "history.holdings_page_v1": lambda at: (
        at.history.holdings_page_v1(4, instant(SNAPSHOT), owners=[an_owner(at)]).created_events
    ),
    "history.holdings_summary": lambda at: at.history.holdings_summary(4, instant(SNAPSHOT), owners=[an_owner(at)]),
    "history.open_and_issuing_rounds": lambda at: at.history.open_and_issuing_rounds().open_mining_rounds,
    "history.closed_rounds": lambda at: at.history.closed_rounds(),
    "history.featured_apps": lambda at: at.history.featured_apps(),
    "history.featured_apps_of": lambda at: at.history.featured_apps_of(at.box.world.parties.providers[0].identifier),
    "history.name_entries": lambda at: at.history.name_entries(),
    "history.name_entry": lambda at: at.history.name_entry("dso.sand").user,
    "history.name_entry_of_party": lambda at: at.history.name_entry_of_party(at.box.world.parties.dso).name == "dso.sand",
    "history.network_rules": lambda at: at.history.network_rules().sv_node_states,
    "history.scans": lambda at: at.history.scans()[0].scans,
    "history.validator_licenses": lambda at: at.history.validator_licenses(page_size=3).next_page_token,
    "history.validator_faucets": lambda at: at.history.validator_faucets([at.box.participant]),
    "history.upgrade": lambda at: at.history.upgrade() is None,
    "history.is_backfilled": lambda at: at.history.is_backfilled(),
    "history.earliest_reward_round": lambda at: at.history.earliest_reward_round(),
    "history.reward_totals": lambda at: at.history.reward_totals(a_round(at)).status == "Ok",
    "history.reward_root": lambda at: at.history.reward_root(a_round(at)).root_hash,
    "history.reward_batch": lambda at: (
        at.history.reward_batch(a_round(at), str(at.history.reward_root(a_round(at)).root_hash)).batch_type
    ),
    "history.bulk_object": lambda at: at.history.bulk_object(at.box.bulk.keys(at.box.bulk.folders()[-1])[0]),
    "history.bulk_updates": lambda at: at.history.bulk_updates(instant("2026-11-08"), instant("2026-11-09")).object_refs,
    "history.bulk_active_contracts": lambda at: at.history.bulk_active_contracts().object_refs,
    "history.bulk_checksums": lambda at: at.history.bulk_checksums([at.box.bulk.keys(at.box.bulk.folders()[-1])[0]]),
    "history.ready": lambda at: set(at.history.ready().values()) == {200},
    "history.live": lambda at: set(at.history.live().values()) == {200},
}
SNAPSHOT = "2026-11-09T03:00:00Z"
VETTING = {"changes": [{"operation": {"Vet": {"value": {"packages": [{"packageId": "00"}]}}}}]}
EXTERNAL = {"synchronizer": "s", "partyHint": "outside", "publicKey": {"format": "RAW", "keyData": "AAAA" * 11, "keySpec": "EC"}}
ALLOCATION = {"synchronizer": "s", "onboardingTransactions": [{"transaction": "AA=="}], "multiHashSignatures": []}
# Declared, but not served by the sandbox. The requests are tested in tests/api.
ONLY_SENT = {
    "ledger.create_user",
    "ledger.update_user",
    "ledger.delete_user",
    "ledger.grant_rights",
    "ledger.revoke_rights",
    "ledger.update_user_identity_provider",
    "ledger.identity_providers",
    "ledger.create_identity_provider",
    "ledger.identity_provider",
    "ledger.update_identity_provider",
    "ledger.delete_identity_provider",
    "ledger.prepare_submission",
    "ledger.execute_submission",
    "ledger.execute_and_wait",
    "ledger.execute_and_wait_for_transaction",
    "ledger.preferred_packages",
}


def signed(at: Context) -> dict[str, Any]:
    """A transaction with a hash, looked up by it."""
    frames = lf.load_updates(at.newer_net, shape="ledger_effects")
    transaction_hash = str(frames.ledger_updates["transaction_hash"].dropna().iloc[0])
    answer = json.loads(at.newer.update_by_hash(transaction_hash, EVERYTHING).body)
    return dict(answer["update"]["Transaction"]["value"])


def an_external_hash(at: Context) -> str:
    updates = at.history.updates(page_size=1000)
    return next(update.external_transaction_hash for update in updates if update.external_transaction_hash)


def a_round(at: Context) -> int:
    return at.box.world.rounds.first_incomplete(at.box.clock.now()) - 1


def an_owner(at: Context) -> str:
    return str(at.box.world.parties.users[0].identifier)


def a_user(at: Context) -> str:
    answer = at.ledger.authenticated_user()
    return str(answer.get("user", answer)["id"])


def a_rare_template(at: Context) -> str:
    contracts = lf.load_active_contracts(at.net)
    counts = contracts.groupby(["package_name", "template_name"]).size().sort_values()
    return ":".join(counts.index[0])


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    yield Context(tmp_path_factory.mktemp("store"))


def key(operation: Operation) -> str:
    return f"{operation.api}.{operation.name}"


def test_every_operation_is_proved_or_said_not_to_be() -> None:
    assert PROOFS.keys() | ONLY_SENT == {key(operation) for operation in OPERATIONS}
    assert not PROOFS.keys() & ONLY_SENT


@pytest.mark.parametrize("name", PROOFS)
def test_operation(context: Context, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            assert PROOFS[name](context)
        except ServiceError as error:
            pytest.fail(f"{type(error).__name__}: {error}")
