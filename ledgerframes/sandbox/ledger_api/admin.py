"""Endpoints of parties, packages, users and the version.

Reads show the world and the accepted writes.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

import flask
import msgspec
from flask import Response

from ..endpoints import endpoint
from ..identifiers import fingerprint
from ..participant.slices import GUEST_STEPS
from ..randomness import digest
from ..requests import PARTY, USER
from ..responses import HttpError, Json, LedgerApiError, text_response
from .requests.admin import (
    AllocationRequest,
    ExternalAllocationRequest,
    Metadata,
    PackageFilter,
    PartyUpdateRequest,
    PublicKey,
    TopologyFilter,
    TopologyRequest,
    VettedPackagesRequest,
    VettingRequest,
)
from .service import LedgerEndpoints, check_size, malformed_body, page, query_number, read_token

if TYPE_CHECKING:
    from ..network import SimulatedNetwork

DEFAULT_PARTIES, MAX_PARTIES = 1000, 10_000
MAX_VETTED = 100
MIN_KEY_BYTES, MAX_KEY_BYTES = 32, 160  # from a raw key of Ed25519 to a key of P-384 in DER
BYTES = "application/octet-stream"
ARCHIVE, PROTOBUF = b"PK\x03\x04", b"\x0a\x04"  # first bytes of archives and of single packages
FEATURES: Json = {
    "experimental": {"staticTime": {"supported": False}},
    "userManagement": {"supported": True, "maxRightsPerUser": 1000, "maxUsersPageSize": 1000},
    "partyManagement": {"maxPartiesPageSize": MAX_PARTIES},
    "offsetCheckpoint": {"maxOffsetCheckpointEmissionDelay": {"seconds": 60, "nanos": 0, "unknownFields": {"fields": {}}}},
    "packageFeature": {"maxVettedPackagesPageSize": MAX_VETTED},
}


class Admin(LedgerEndpoints):
    """Endpoints of parties, packages, users and the version."""

    def __init__(self, box: SimulatedNetwork) -> None:
        super().__init__(box)
        self._parties: dict[str, Json] = {}  # details of parties that were allocated or changed
        self._packages: dict[str, bytes] = {}  # contents of uploaded packages
        self._vetted: list[str] = []  # packages vetted in addition

    _live = endpoint("GET", "/livez", public=True)(lambda api: text_response())
    _ready = endpoint("GET", "/readyz", public=True)(lambda api: text_response("ledger ok (sandbox)"))
    _version = endpoint("GET", "/v2/version", public=True)(lambda api: {"version": api.box.ledger_version, "features": FEATURES})
    _authenticated_user = endpoint("GET", "/v2/authenticated-user")(lambda api: {"user": flask.g.user.details()})
    _users = endpoint("GET", "/v2/users")(
        lambda api: {"users": [user.details() for user in api.box.users.all.values()], "nextPageToken": ""}
    )
    _user = endpoint("GET", "/v2/users/<name>")(lambda api, name: {"user": api.box.users.get(USER.check(name)).details()})
    _rights = endpoint("GET", "/v2/users/<name>/rights")(
        lambda api, name: {"rights": api.box.users.get(USER.check(name)).rights()}
    )
    _participant_id = endpoint("GET", "/v2/parties/participant-id")(lambda api: {"participantId": api.ledger.participant})
    _package_list = endpoint("GET", "/v2/packages")(lambda api: {"packageIds": api.package_ids()})

    def _known_parties(self) -> dict[str, Json]:
        """Return the details of every party, those of the participant first."""
        names = [*self.ledger.party_names, *sorted(self.world.parties.by_identifier)]
        known = {name: _party_details(name, local=name in self.ledger.parties) for name in names}
        return known | {name: _party_details(name) for name in self.ledger.guests()} | self._parties

    @endpoint("GET", "/v2/parties")
    def _party_page(self) -> Json:
        query = flask.request.args
        prefix = query.get("filter-party", "")
        size = check_size(query_number("pageSize"), DEFAULT_PARTIES, MAX_PARTIES, smallest=0)
        parties = (details for name, details in self._known_parties().items() if name.startswith(prefix))
        binding = [prefix, self.minor]
        rows, token = page(parties, size, binding, *read_token(query.get("pageToken"), binding))
        return {"partyDetails": rows, "nextPageToken": token or ""}

    @endpoint("GET", "/v2/parties/<path:party>")
    def _party(self, party: str) -> Json:
        known = self._known_parties()
        names = [PARTY.check(name) for name in (party, *flask.request.args.getlist("parties"))]
        return {"partyDetails": [known[name] for name in names if name in known]}

    @endpoint("POST", "/v2/parties", AllocationRequest)
    def _allocate(self, request: AllocationRequest) -> Json:
        hint = request.party_id_hint or f"party-{digest('hint', len(self._parties), size=8)}"
        party = f"{hint}::{self.ledger.participant.partition('::')[2]}"
        if party in self._known_parties():
            raise LedgerApiError("INVALID_ARGUMENT", f"Party already exists: party {party} is already allocated on this node")
        return self._saved(request, _party_details(party, request.local_metadata))

    @endpoint("PATCH", "/v2/parties/<path:party>", PartyUpdateRequest)
    def _update_party(self, party: str, request: PartyUpdateRequest) -> Json:
        known = self._known_parties().get(party)
        if known is None or not known["isLocal"]:
            raise LedgerApiError("INVALID_ARGUMENT", f"Party: {party} does not exist on this node")
        version = int(known["localMetadata"]["resourceVersion"]) + 1
        return self._saved(request, _party_details(party, request.party_details.local_metadata, version))

    def _saved(self, request: msgspec.Struct, details: Json) -> Json:
        self._parties[details["party"]] = details
        self.record("ledger", request)
        return {"partyDetails": details}

    @endpoint("POST", "/v2/parties/external/generate-topology", TopologyRequest)
    def _generate_topology(self, request: TopologyRequest) -> Json:
        key = fingerprint("external", _key_bytes(request.public_key))
        return {
            "partyId": f"{request.party_hint}::{key}",
            "publicKeyFingerprint": key,
            "topologyTransactions": [digest("topology", key, step, size=48) for step in range(len(GUEST_STEPS) - 1)],
            "multiHash": digest("multi hash", key),
        }

    @endpoint("POST", "/v2/parties/external/allocate", ExternalAllocationRequest)
    def _allocate_external(self, request: ExternalAllocationRequest) -> Json:
        key = fingerprint("external", msgspec.json.encode(request.onboarding_transactions))
        self._saved(request, _party_details(party := f"external-{len(self._parties) + 1}::{key}"))
        return {"partyId": party}

    def package_ids(self) -> list[str]:
        """Return the ids of all packages, the uploaded ones last."""
        return [*sorted(package_id for _, package_id in self.ledger.registry.packages()), *self._packages]

    @endpoint("GET", "/v2/packages/<package_id>")
    def _package(self, package_id: str) -> Response:
        if package_id not in self.package_ids():
            raise LedgerApiError("PACKAGE_NOT_FOUND", "Could not find package.", resources=[("PACKAGE", package_id)])
        invented = (bytes.fromhex(digest("package bytes", package_id, part, size=64)) for part in range(48))
        contents = self._packages.get(package_id) or PROTOBUF + b"".join(invented)
        return Response(contents, content_type=BYTES, headers={"Canton-Package-Hash": package_id})

    @endpoint("GET", "/v2/packages/<package_id>/status")
    def _package_status(self, package_id: str) -> Json:
        known = package_id in self.package_ids()
        return {"packageStatus": f"PACKAGE_STATUS_{'REGISTERED' if known else 'UNSPECIFIED'}"}

    @endpoint("POST", "/v2/dars")
    @endpoint("POST", "/v2/packages")
    def _upload(self) -> Json:
        if flask.request.args.get("vetAllPackages", "true") not in ("true", "false"):
            raise HttpError(400, "Invalid value for: query parameter vetAllPackages", plain=True)
        contents = _archive()
        self._packages[hashlib.sha256(contents).hexdigest()] = contents
        self.record("ledger", contents)
        return {}

    @endpoint("POST", "/v2/dars/validate")
    def _validate(self) -> Response:
        _archive()
        return text_response()

    @endpoint("GET", "/v2/package-vetting", VettedPackagesRequest, empty_body=b"{}", until=6)
    @endpoint("POST", "/v2/package-vetting/list", VettedPackagesRequest, empty_body=b"{}")
    def _vetting_page(self, request: VettedPackagesRequest) -> Json:
        size = check_size(request.page_size, MAX_VETTED, MAX_VETTED, smallest=0)
        binding = [request.package_metadata_filter, request.topology_state_filter, self.minor]
        rows, token = page(self._vetting(request), size, binding, *read_token(request.page_token, binding))
        return {"vettedPackages": rows, "nextPageToken": token or ""}

    @endpoint("POST", "/v2/package-vetting", VettingRequest, until=6)
    @endpoint("POST", "/v2/package-vetting/update", VettingRequest)
    def _update_vetting(self, request: VettingRequest) -> Json:
        before = self._vetting(VettedPackagesRequest())[0]
        for change in request.changes:
            operation = change.operation
            for wrapped in filter(None, (operation.vet, operation.unvet)):
                names = [package.package_id for package in wrapped.value.packages]
                others = [name for name in self._vetted if name not in names]
                self._vetted = others + (names if operation.vet else [])
        self.record("ledger", request)
        return {"pastVettedPackages": before, "newVettedPackages": self._vetting(VettedPackagesRequest())[0]}

    def _vetting(self, request: VettedPackagesRequest) -> list[Json]:
        """Return the vetted packages of each participant and synchronizer."""
        own, parties = self.ledger.participant, self.world.parties
        topology = request.topology_state_filter or TopologyFilter()
        participants = dict.fromkeys([own, *(sv.participant for sv in parties.svs)])
        entries = [(name, parties.synchronizer, serial) for serial, name in enumerate(participants, start=3)]
        entries.insert(1, (own, parties.app_synchronizer, entries[0][2]))
        packages = self._vetted_packages(request.package_metadata_filter or PackageFilter())
        own_packages = packages + [{"packageId": name} for name in self._vetted]
        return [
            {
                "packages": own_packages if participant == own else packages,
                "participantId": participant,
                "synchronizerId": synchronizer,
                "topologySerial": serial,
            }
            for participant, synchronizer, serial in entries
            if participant in (topology.participant_ids or [participant])
            if synchronizer in (topology.synchronizer_ids or [synchronizer])
        ]

    def _vetted_packages(self, names: PackageFilter) -> list[Json]:
        prefixes, identifiers = tuple(names.package_name_prefixes), names.package_ids
        everything = not prefixes and not identifiers
        return [
            {
                "packageId": package_id,
                "validFromInclusive": None,
                "validUntilExclusive": None,
                "packageName": name,
                "packageVersion": f"0.1.{int(package_id[:2], 16) % 20}",
            }
            for name, package_id in self.ledger.registry.packages()
            if everything or name.startswith(prefixes) or package_id in identifiers
        ]

    @endpoint("GET", "/v2/interactive-submission/preferred-package-version", until=6)
    def _preferred_package(self) -> Json:
        """Return the highest vetted version of a package (docs/facts.md#preferred-packages)."""
        query, own = flask.request.args, (self.world.parties.synchronizer, self.world.parties.app_synchronizer)
        name, synchronizer = query.get("package-name"), query.get("synchronizer-id") or own[0]
        if not name:
            raise HttpError(400, "Invalid value for: query parameter package-name (missing)", plain=True)
        for party in query.getlist("parties"):
            PARTY.check(party)
        vetted = [package for package in self._vetted_packages(PackageFilter()) if package["packageName"] == name]
        if not vetted or synchronizer not in own:
            return {}
        best = max(vetted, key=lambda package: [int(part) for part in package["packageVersion"].split(".")])
        reference = {member: best[member] for member in ("packageId", "packageName", "packageVersion")}
        return {"packagePreference": {"packageReference": reference, "synchronizerId": synchronizer}}


def _party_details(party: str, metadata: Metadata | None = None, version: int = 0, local: bool = True) -> Json:
    annotations = (metadata or Metadata()).annotations
    details = {"resourceVersion": str(version), "annotations": annotations} if local else None
    return {"party": party, "isLocal": local, "localMetadata": details, "identityProviderId": ""}


def _key_bytes(public_key: PublicKey) -> bytes:
    """Return the bytes of a public key, or refuse what is none."""
    try:
        contents = base64.b64decode(public_key.key_data, validate=True)
    except ValueError as error:
        raise LedgerApiError("INVALID_ARGUMENT", "the keyData of the public key is not base64") from error
    if not MIN_KEY_BYTES <= len(contents) <= MAX_KEY_BYTES:
        raise LedgerApiError("INVALID_ARGUMENT", f"the public key has {len(contents)} bytes, which no key specification has")
    return contents


def _archive() -> bytes:
    """Return the uploaded archive or package, or refuse it."""
    contents = flask.request.get_data()
    if not contents:
        raise malformed_body("the body is empty")
    if not contents.startswith((ARCHIVE, PROTOBUF)):
        raise LedgerApiError("INVALID_ARGUMENT", "the body is not an archive")
    return contents
