"""Every decoder with a body to mutate, and the cells that another reading of the JSON finds in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from ledgerframes.api.history import History
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.wallet import Wallet
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.bulk.wire import Checksums, UpdatesListing
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.wire import EventsPage
from ledgerframes.datasets.ledger.build import ledger_tables
from ledgerframes.datasets.ledger.wire import ActiveContractItem, decode_page
from ledgerframes.datasets.reference.build import name_rules_table, price_vote_table
from ledgerframes.datasets.reference.wire import Contract
from ledgerframes.datasets.state.build import active_contract_table, package_table, party_table, synchronizer_table
from ledgerframes.datasets.state.wire import PartiesPage

DATA = Path(__file__).parents[1] / "data"
NOW = datetime(2026, 11, 9, tzinfo=UTC)
Tables = dict[str, pa.Table]


@dataclass(frozen=True)
class Decoder:
    """A decoder, the documents to mutate, and where the JSON has the cells of columns."""

    decode: Callable[[bytes], Tables]
    documents: tuple[Any, ...]
    cells: dict[tuple[str, str], str]  # (table, column) → path, where [] is every item and * every member


def of_file(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())


def events(body: bytes) -> Tables:
    with decode_boundary("POST /v0/events"):
        return event_tables(decode(body, EventsPage, "POST /v0/events").events, "listing")


def ledger(body: bytes) -> Tables:
    return ledger_tables(decode_page(body).updates, "participant", trees=False)


def active_contracts(body: bytes) -> Tables:
    items = decode(body, list[ActiveContractItem], "POST /v2/state/active-contracts")
    return {"contracts": active_contract_table(items, "participant", 500)}


def price_votes(body: bytes) -> Tables:
    with decode_boundary("GET /v0/coin-price/votes"):
        return {"votes": price_vote_table(decode(body, list[Contract], "GET /v0/coin-price/votes"), NOW, "amulet")}


def name_rules(body: bytes) -> Tables:
    rules = decode(body, History.operations["name_rules"].returns, "POST /v0/ans-rules").ans_rules_update
    if rules.contract is None:
        return {}
    with decode_boundary("POST /v0/ans-rules"):
        return {"rules": name_rules_table(rules.contract, rules.domain_id, NOW, cache_hit=False)}


def parties(body: bytes) -> Tables:
    return {"parties": party_table(decode(body, PartiesPage, "GET /v2/parties").party_details, "participant")}


def packages(body: bytes) -> Tables:
    package_ids = decode(body, Ledger.operations["packages"].returns, "GET /v2/packages").packageIds
    return {"packages": package_table(package_ids, [], "participant")}


def synchronizers(body: bytes) -> Tables:
    page = decode(body, Ledger.operations["connected_synchronizers"].returns, "GET /v2/state/connected-synchronizers")
    return {"synchronizers": synchronizer_table(page.connectedSynchronizers, "participant")}


def structs(kind: type) -> Callable[[bytes], Tables]:
    """A decoder whose structs are used without a table."""

    def decoded(body: bytes) -> Tables:
        decode(body, kind, "GET /thing")
        return {}

    return decoded


def bulk_lines(body: bytes) -> Tables:
    from ledgerframes.datasets.events.wire import Update

    decode_lines(body.replace(b"\n", b" "), Update, "updates_0.zstd")
    return {}


EVENT_CELLS = {
    ("verdicts", "update_id"): "events[].verdict.update_id",
    ("verdicts", "migration_id"): "events[].verdict.migration_id",
    ("verdicts", "verdict_result"): "events[].verdict.verdict_result",
    ("views", "view_id"): "events[].verdict.transaction_views.views[].view_id",
    ("quorums", "threshold"): "events[].verdict.transaction_views.views[].confirming_parties[].threshold",
    ("traffic", "total_traffic_cost"): "events[].traffic_summary.total_traffic_cost",
    ("envelopes", "traffic_cost"): "events[].traffic_summary.envelope_traffic_summaries[].traffic_cost",
    ("activity_records", "party"): "events[].app_activity_records.records[].party",
    ("activity_records", "weight"): "events[].app_activity_records.records[].weight",
}
LEDGER_CELLS = {
    ("ledger_updates", "update_id"): "updates[].update.*.value.updateId",
    ("ledger_updates", "offset"): "updates[].update.*.value.offset",
}
CONTRACT_CELLS = {
    ("contracts", "contract_id"): "[].contractEntry.*.createdEvent.contractId",
    ("contracts", "package_name"): "[].contractEntry.*.createdEvent.packageName",
    ("contracts", "offset"): "[].contractEntry.*.createdEvent.offset",
}


def decoders() -> dict[str, Decoder]:
    names = [path.name for path in sorted(DATA.glob("v0_event_*.json"))]
    items = [*map(of_file, names), of_file("made/scan_event_with_traffic_and_activity.json")]
    pages = ({"events": items}, of_file("v0_events_page_genesis_null_verdict.json"))
    votes, rules = of_file("made/scan_amulet_price_votes.json"), of_file("made/scan_ans_rules.json")
    party = {"party": "alice::1220", "isLocal": True, "localMetadata": {"annotations": {}}, "identityProviderId": ""}
    synchronizer = {"synchronizerId": "global::1220", "synchronizerAlias": "global", "permission": "SUBMISSION"}
    listing = {"object_refs": [{"url": "/v0/x", "digest": "d"}, {"url": "/v0/y", "digest": None}], "next_page_token": None}
    checksums = {"checksums": [{"value": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}]}
    lines = [item["update"] for item in items if item["update"]]
    return {
        "events": Decoder(events, pages, EVENT_CELLS),
        "updates": Decoder(ledger, (of_file("made/get_updates_page_all_variants.json"),), LEDGER_CELLS),
        "active contracts": Decoder(active_contracts, (of_file("active_contracts.json"),), CONTRACT_CELLS),
        "price votes": Decoder(price_votes, (votes["amulet_price_votes"],), {("votes", "contract_id"): "[].contract_id"}),
        "name rules": Decoder(name_rules, (rules["fresh"],), {("rules", "contract_id"): "ans_rules_update.contract.contract_id"}),
        "parties": Decoder(
            parties, ({"partyDetails": [party, party | {"party": "bob::1220"}]},), {("parties", "party"): "partyDetails[].party"}
        ),
        "packages": Decoder(packages, (of_file("packages.json"),), {("packages", "package_id"): "packageIds[]"}),
        "synchronizers": Decoder(
            synchronizers,
            ({"connectedSynchronizers": [synchronizer]},),
            {("synchronizers", "synchronizer_id"): "connectedSynchronizers[].synchronizerId"},
        ),
        "offers": Decoder(
            structs(Wallet.operations["offers"].returns), (of_file("made/wallet_transfer_offers.json")["list_200"],), {}
        ),
        "bulk listing": Decoder(structs(UpdatesListing), (listing,), {}),
        "bulk checksums": Decoder(structs(Checksums), (checksums,), {}),
        "bulk lines": Decoder(bulk_lines, tuple(lines), {}),
    }


def cells(value: Any, path: str) -> Iterator[str]:
    """Yield the scalars at a path of a document, as text, without nulls and absent members."""
    if not path:
        if value is not None:
            yield str(value)
    elif path.startswith("[]"):
        for item in value if isinstance(value, list) else ():
            yield from cells(item, path[2:].removeprefix("."))
    else:
        name, dot, rest = path.partition(".")
        name, brackets, _ = name.partition("[]")
        if isinstance(value, dict):
            parts = value.values() if name == "*" else [value.get(name)]
            for part in parts:
                yield from cells(part, brackets + (dot if brackets else "") + rest)


def column_cells(table: pa.Table, column: str) -> list[str]:
    """Return the values of a column as text, sorted, without nulls."""
    return sorted(str(value) for value in table.column(column).to_pylist() if value is not None)
