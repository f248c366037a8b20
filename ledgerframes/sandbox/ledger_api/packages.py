"""Packages: what is there, what is vetted, and uploads."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from ..canton import CantonError
from ..randomness import digest
from .service import LedgerService, answer, malformed, position_of, token_after

DEFAULT_SIZE, LARGEST_SIZE = 100, 100
BYTES = "application/octet-stream"
ZIP, PROTOBUF = b"PK\x03\x04", b"\x0a\x04"  # how archives and single packages begin
Json = dict[str, Any]


class VettingRequest(msgspec.Struct, rename="camel"):
    """The body of the vetting operations."""

    package_metadata_filter: Json | None = None
    topology_state_filter: Json | None = None
    page_token: str | None = None
    page_size: int | None = None
    changes: list[Json] = []


def add_routes(api: Blueprint, service: LedgerService) -> None:
    """Add the routes to the API."""
    _add_reads(api, service)
    _add_uploads(api, service)
    _add_vetting(api, service)


def _identifiers(service: LedgerService) -> list[str]:
    return [*sorted(service.registry.packages.values()), *service.new_packages]


def package_bytes(package_id: str) -> bytes:
    """Return the contents of a package: made up, but the same each time."""
    return PROTOBUF + b"".join(bytes.fromhex(digest("package bytes", package_id, n, size=64)) for n in range(48))


def _add_reads(api: Blueprint, service: LedgerService) -> None:
    @api.get("/v2/packages")
    def packages() -> Response:
        service.user()
        return answer({"packageIds": _identifiers(service)})

    @api.get("/v2/packages/<package_id>")
    def contents(package_id: str) -> Response:
        service.user()
        if package_id not in _identifiers(service):
            raise CantonError("PACKAGE_NOT_FOUND", "Could not find package.", resources=[("PACKAGE", package_id)])
        raw = service.new_packages.get(package_id) or package_bytes(package_id)
        answered = Response(raw, 200, content_type=BYTES)
        answered.headers["Canton-Package-Hash"] = package_id
        return answered

    @api.get("/v2/packages/<package_id>/status")
    def status(package_id: str) -> Response:
        service.user()
        known = package_id in _identifiers(service)
        return answer({"packageStatus": f"PACKAGE_STATUS_{'REGISTERED' if known else 'UNSPECIFIED'}"})


def _add_uploads(api: Blueprint, service: LedgerService) -> None:
    def raw() -> bytes:
        service.user()
        data = request.get_data()
        if not data:
            raise malformed("the body is empty")
        if not data.startswith((ZIP, PROTOBUF)):
            raise CantonError("INVALID_ARGUMENT", "the body is not an archive")
        return data

    @api.post("/v2/dars")
    @api.post("/v2/packages")
    def upload() -> Response:
        data = raw()
        service.new_packages[hashlib.sha256(data).hexdigest()] = data
        service.written(data)
        return answer({})

    @api.post("/v2/dars/validate")
    def validate() -> Response:
        raw()
        return Response(b"", 200, content_type="text/plain; charset=UTF-8")


def _vetted(service: LedgerService, asked: VettingRequest) -> list[Json]:
    """Return the vetted packages of each participant and synchronizer."""
    ledger = service.ledger
    wanted = asked.topology_state_filter or {}
    names = asked.package_metadata_filter or {}
    participants = [ledger.participant, *(sv.participant for sv in ledger.world.people.svs)]
    found = []
    for serial, participant in enumerate(dict.fromkeys(participants), start=3):
        for synchronizer in (ledger.world.people.synchronizer, ledger.world.people.app_synchronizer):
            if synchronizer == ledger.world.people.app_synchronizer and participant != ledger.participant:
                continue
            if wanted.get("participantIds") and participant not in wanted["participantIds"]:
                continue
            if wanted.get("synchronizerIds") and synchronizer not in wanted["synchronizerIds"]:
                continue
            packages = _packages(service, names) + (service.vetted if participant == ledger.participant else [])
            found.append(
                {
                    "packages": packages,
                    "participantId": participant,
                    "synchronizerId": synchronizer,
                    "topologySerial": serial,
                }
            )
    return found


def _packages(service: LedgerService, names: Json) -> list[Json]:
    prefixes, identifiers = tuple(names.get("packageNamePrefixes") or ()), names.get("packageIds") or ()
    return [
        {
            "packageId": package_id,
            "validFromInclusive": None,
            "validUntilExclusive": None,
            "packageName": name,
            "packageVersion": f"0.1.{int(package_id[:2], 16) % 20}",
        }
        for name, package_id in sorted(service.registry.packages.items())
        if not (prefixes or identifiers) or name.startswith(prefixes or ("\0",)) or package_id in identifiers
    ]


def _add_vetting(api: Blueprint, service: LedgerService) -> None:
    def page() -> Response:
        service.user()
        asked = service.body(VettingRequest) if request.get_data() else VettingRequest()
        size = asked.page_size or DEFAULT_SIZE
        if not 0 < size <= LARGEST_SIZE:
            raise CantonError("INVALID_ARGUMENT", f"page size {size} is not between 0 and {LARGEST_SIZE}")
        bound = [asked.package_metadata_filter, asked.topology_state_filter]
        start = position_of(asked.page_token, bound)
        found = _vetted(service, asked)
        more = token_after(start + size, bound) if start + size < len(found) else ""
        return answer({"vettedPackages": found[start : start + size], "nextPageToken": more})

    api.add_url_rule("/v2/package-vetting", "vetting_by_get", page, methods=["GET"])
    api.add_url_rule("/v2/package-vetting/list", "vetting_list", page, methods=["POST"])

    def update() -> Response:
        service.user()
        asked = service.body(VettingRequest)
        past = _vetted(service, VettingRequest())[0]
        for change in asked.changes:
            _change(service, change)
        service.written(asked)
        fresh = _vetted(service, VettingRequest())[0]
        return answer({"pastVettedPackages": past, "newVettedPackages": fresh})

    api.add_url_rule("/v2/package-vetting", "vetting_by_post", update, methods=["POST"])
    api.add_url_rule("/v2/package-vetting/update", "vetting_update", update, methods=["POST"])


def _change(service: LedgerService, change: Json) -> None:
    """Apply one change: ``{"operation": {"Vet": {"value": {"packages": [{"packageId": …}]}}}}``."""
    for kind, wrapped in (change.get("operation") or {}).items():
        named = [ref.get("packageId", "") for ref in wrapped.get("value", wrapped).get("packages", [])]
        service.vetted[:] = [entry for entry in service.vetted if entry["packageId"] not in named]
        if kind == "Vet":
            service.vetted += [{"packageId": name} for name in named]
