"""What the bulk storage says of its objects."""

from __future__ import annotations

from ledgerframes.datasets._structs import Wire

__all__ = ["ActiveContractsListing", "Checksum", "Checksums", "ObjectRef", "UpdatesListing"]


class ObjectRef(Wire):
    """Where one object is, and the digest of its stored bytes: SHA-256 in base64."""

    url: str
    digest: str | None = None


class UpdatesListing(Wire):
    """A page of objects that hold updates; folders are never split over pages."""

    object_refs: list[ObjectRef]
    next_page_token: str | None = None


class ActiveContractsListing(Wire):
    """The objects of one snapshot of the active contracts."""

    record_time: str
    object_refs: list[ObjectRef]


class Checksum(Wire):
    """The digest of one object."""

    value: str


class Checksums(Wire):
    """Digests in the order of asking."""

    checksums: list[Checksum]
