"""Parties: those the participant knows, and those allocated through the API."""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Blueprint, Response, request

from ..canton import CantonError
from ..identifiers import fingerprint
from ..participant.topology import LIFE
from ..randomness import digest
from .service import LedgerService, answer, missing, position_of, token_after

DEFAULT_SIZE, LARGEST_SIZE = 1000, 10_000
Json = dict[str, Any]


class AllocationRequest(msgspec.Struct, rename="camel"):
    """The body of a party allocation."""

    party_id_hint: str = ""
    local_metadata: Json | None = None
    identity_provider_id: str = ""


class ExternalRequest(msgspec.Struct, rename="camel"):
    """The body of the operations on external parties."""

    synchronizer: str = ""
    party_hint: str = ""
    public_key: Json | None = None
    onboarding_transactions: list[Json] = []


class PatchRequest(msgspec.Struct, rename="camel"):
    """The body of a party update."""

    party_details: Json | None = None
    update_mask: Json | None = None


def add_routes(api: Blueprint, service: LedgerService) -> None:
    """Add the routes to the API."""
    _add_reads(api, service)
    _add_writes(api, service)
    _add_external(api, service)


def known_parties(service: LedgerService) -> dict[str, Json]:
    """Return the details of every party that the participant knows, by party id, in their order."""
    ledger = service.ledger
    found = {name: _details(name, True) for name in ledger.party_names}
    for name in sorted(ledger.world.people.by_identifier):
        found.setdefault(name, _details(name, False))
    for guest in ledger.guests():
        found[guest] = _details(guest, True)
    return found | service.new_parties


def _details(party: str, local: bool, annotations: Json | None = None) -> Json:
    metadata = {"resourceVersion": "0", "annotations": annotations or {}} if local else None
    return {"party": party, "isLocal": local, "localMetadata": metadata, "identityProviderId": ""}


def _add_reads(api: Blueprint, service: LedgerService) -> None:
    @api.get("/v2/parties")
    def parties() -> Response:
        service.user()
        prefix = request.args.get("filter-party", "")
        size = request.args.get("pageSize", DEFAULT_SIZE, type=int)
        if not 0 <= size <= LARGEST_SIZE:
            raise CantonError("INVALID_ARGUMENT", f"page size {size} is not between 0 and {LARGEST_SIZE}")
        start = position_of(request.args.get("pageToken"), prefix)
        size = size or DEFAULT_SIZE
        known = [details for name, details in known_parties(service).items() if name.startswith(prefix)]
        more = token_after(start + size, prefix) if start + size < len(known) else ""
        return answer({"partyDetails": known[start : start + size], "nextPageToken": more})

    @api.get("/v2/parties/participant-id")
    def participant_id() -> Response:
        service.user()
        return answer({"participantId": service.ledger.participant})

    @api.get("/v2/parties/<path:party>")
    def one(party: str) -> Response:
        service.user()
        known = known_parties(service)
        asked = [party, *request.args.getlist("parties")]
        return answer({"partyDetails": [known[name] for name in asked if name in known]})


def _add_writes(api: Blueprint, service: LedgerService) -> None:
    @api.post("/v2/parties")
    def allocate() -> Response:
        service.user()
        asked = service.body(AllocationRequest)
        place = service.ledger.participant.partition("::")[2]
        hint = asked.party_id_hint or f"party-{digest('hint', len(service.new_parties), size=8)}"
        party = f"{hint}::{place}"
        if party in known_parties(service):
            raise CantonError("INVALID_ARGUMENT", f"Party already exists: party {party} is already allocated on this node")
        annotations = (asked.local_metadata or {}).get("annotations", {})
        service.new_parties[party] = _details(party, True, annotations)
        service.written(asked)
        return answer({"partyDetails": service.new_parties[party]})

    @api.patch("/v2/parties/<path:party>")
    def update(party: str) -> Response:
        service.user()
        asked = service.body(PatchRequest)
        known = known_parties(service)
        if party not in known or not known[party]["isLocal"]:
            raise CantonError("INVALID_ARGUMENT", f"Party: {party} does not exist on this node")
        metadata = (asked.party_details or {}).get("localMetadata") or {}
        version = int(known[party]["localMetadata"]["resourceVersion"]) + 1
        changed = _details(party, True, metadata.get("annotations", {}))
        changed["localMetadata"]["resourceVersion"] = str(version)
        service.new_parties[party] = changed
        service.written(asked)
        return answer({"partyDetails": changed})


def _add_external(api: Blueprint, service: LedgerService) -> None:
    @api.post("/v2/parties/external/generate-topology")
    def generate() -> Response:
        service.user()
        asked = service.body(ExternalRequest)
        if asked.public_key is None:
            raise missing("public_key")
        key = fingerprint("external", msgspec.json.encode(asked.public_key))
        transactions = [digest("topology", key, step, size=48) for step in range(len(LIFE) - 1)]
        return answer(
            {
                "partyId": f"{asked.party_hint}::{key}",
                "publicKeyFingerprint": key,
                "topologyTransactions": transactions,
                "multiHash": digest("multi hash", key),
            }
        )

    @api.post("/v2/parties/external/allocate")
    def allocate_external() -> Response:
        service.user()
        asked = service.body(ExternalRequest)
        if not asked.onboarding_transactions:
            raise missing("onboarding_transactions")
        key = fingerprint("external", msgspec.json.encode(asked.onboarding_transactions))
        party = f"external-{len(service.new_parties) + 1}::{key}"
        service.new_parties[party] = _details(party, True)
        service.written(asked)
        return answer({"partyId": party})
