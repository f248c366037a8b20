"""The bulk storage of the history API: listings, digests, and downloads that go on where they broke off."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from ledgerframes.api.transport import Transport, host_of, path_segment, pause_before_retry, tries
from ledgerframes.datasets._decode import decode
from ledgerframes.datasets.bulk.wire import ActiveContractsListing, Checksums, UpdatesListing
from ledgerframes.errors import HostUnreachableError, ServiceError, StoreError, TransportError
from ledgerframes.windows import iso

__all__ = ["BulkReads", "Download"]

LISTING = "POST /v0/history/bulk/updates"
CONTRACTS = "GET /v0/history/bulk/acs"
CHECKSUMS = "POST /v0/history/bulk/checksums"
PIECE = 1 << 20  # bytes read from a connection at once
PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416


@dataclass(frozen=True)
class Download:
    """An object that was downloaded: its size, the digest of its bytes as hexadecimal digits, and the host that gave it."""

    bytes: int
    sha256: str
    host: str


class BulkReads:
    """The operations on bulk objects (docs/facts.md#bulk-storage). The tag is pre-alpha: not every network offers them."""

    transport: Transport

    def bulk_updates(
        self, since: datetime, until: datetime, *, page_size: int = 1000, page_token: str | None = None
    ) -> UpdatesListing:
        """List the objects whose folder overlaps a range; whole folders are listed.

        Parameters
        ----------
        since, until : datetime
            Half-open range of record times.
        page_size : int
            1 to 1000 objects; fewer than one folder has is an error.
        page_token : str, optional
            From the page before. It comes back also when the range ends in the future and nothing more is there yet.

        Notes
        -----
        Source: docs/facts.md#bulk-storage, POST /v0/history/bulk/updates. Objects come in string order of their keys, 10
        before 2.
        """
        request: dict[str, Any] = {"start_record_time": iso(since), "end_record_time": iso(until), "page_size": page_size}
        if page_token is not None:
            request["next_page_token"] = page_token
        return decode(self.transport.post("/v0/history/bulk/updates", request).body, UpdatesListing, LISTING)

    def bulk_active_contracts(self, at_or_before: datetime | None = None) -> ActiveContractsListing:
        """List the objects of the newest snapshot of the active contracts that is not after a time.

        Raises
        ------
        NotFoundError
            If there is none.

        Notes
        -----
        Source: docs/facts.md#bulk-storage, GET /v0/history/bulk/acs.
        """
        params = {} if at_or_before is None else {"at_or_before_record_time": iso(at_or_before)}
        return decode(self.transport.get("/v0/history/bulk/acs", params).body, ActiveContractsListing, CONTRACTS)

    def bulk_checksums(self, object_keys: list[str]) -> list[str]:
        """The digests of objects in the order given: SHA-256 in base64, of the bytes as they are stored.

        Raises
        ------
        NotFoundError
            If one of them does not exist.

        Notes
        -----
        Source: docs/facts.md#bulk-storage, POST /v0/history/bulk/checksums.
        """
        answer = self.transport.post("/v0/history/bulk/checksums", {"object_keys": object_keys})
        return [checksum.value for checksum in decode(answer.body, Checksums, CHECKSUMS).checksums]

    def bulk_object(self, object_key: str) -> bytes:
        """Download one bulk object into memory, as it is stored: zstd, often more than 128 MiB; see :meth:`bulk_download`.

        Parameters
        ----------
        object_key : str
            Such as ``2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/updates_compact_json_0.zstd``; sent as one segment of the path.

        Raises
        ------
        NotFoundError
            If there is no such object.

        Notes
        -----
        Source: docs/facts.md#bulk-storage, GET /v0/history/bulk/download/{object_key}; docs/facts.md#bulk-storage.
        """
        return self.transport.get(_path(object_key)).body

    def bulk_download(self, object_key: str, target: Path) -> Download:
        """Download one bulk object to a file, piece by piece: what broke off is gone on with, or begun again.

        Parameters
        ----------
        object_key : str
            As for :meth:`bulk_object`.
        target : Path
            File to write; it is whole when this returns.

        Raises
        ------
        NotFoundError
            If there is no such object.
        TransportError, ServiceError
            If no host gives all of it.

        Notes
        -----
        Source: docs/facts.md#bulk-storage, GET /v0/history/bulk/download/{object_key}. It goes on by Range where a service
        knows that.
        """
        return self.transport.in_turn(lambda url: _Downloading(self.transport, url, _path(object_key), target).all_of_it())


class _Downloading:
    """One download from one host."""

    def __init__(self, transport: Transport, url: str, path: str, target: Path) -> None:
        self._transport = transport
        self._url = url
        self._path = path
        self._target = target
        self._begin_again()

    def _begin_again(self) -> None:
        self._bytes, self._tag, self._digest = 0, "", hashlib.sha256()

    def all_of_it(self) -> Download:
        """Ask until everything is there; a try that brought something on does not count."""
        while True:
            before = self._bytes
            try:
                for attempt in tries(self._transport.retries + 1, _may_pass):
                    with attempt:
                        self._ask()
                return Download(self._bytes, self._digest.hexdigest(), host_of(self._url))
            except TransportError:
                if self._bytes <= before:
                    raise

    def _ask(self) -> None:
        headers = {"Accept-Encoding": "identity"}
        if self._bytes and self._tag:
            headers |= {"Range": f"bytes={self._bytes}-", "If-Range": self._tag}
        try:
            self._read(headers)
        except ServiceError as error:
            if _is_other_object(error):
                self._begin_again()
            raise

    def _read(self, headers: dict[str, str]) -> None:
        with self._transport.stream(self._url, self._path, headers) as response:
            if response.status_code != PARTIAL_CONTENT or not self._goes_on(response.headers.get("Content-Range", "")):
                self._begin_again()
            self._tag = response.headers.get("ETag", "")
            promised = response.headers.get("Content-Length", "")
            came = self._append(response)
            if promised.isdecimal() and came < int(promised):
                raise HostUnreachableError(
                    f"{host_of(self._url)} broke off after {came:,} of {int(promised):,} bytes of GET {self._path}. Try again.",
                    endpoint=f"GET {self._path}",
                    host=host_of(self._url),
                )

    def _goes_on(self, content_range: str) -> bool:
        return content_range.startswith(f"bytes {self._bytes}-")

    def _append(self, response: Any) -> int:
        came = 0
        with self._target.open("r+b" if self._bytes else "wb") as file:
            file.seek(self._bytes)
            for piece in response.iter_raw(PIECE):
                self._write(file, piece)
                self._digest.update(piece)
                self._bytes += len(piece)
                came += len(piece)
        return came

    def _write(self, file: BinaryIO, piece: bytes) -> None:
        try:
            file.write(piece)
            file.flush()
        except OSError as error:  # the disk's fault, not the connection's
            raise StoreError(
                f"The download cannot be written to {self._target} ({error}). Make room there.", path=str(self._target)
            ) from error


def _may_pass(error: Exception) -> bool | float:
    return pause_before_retry(error) or _is_other_object(error)


def _is_other_object(error: Exception) -> bool:
    """Whether the part asked for does not exist: the object is another than the one that broke off."""
    return isinstance(error, ServiceError) and error.status == RANGE_NOT_SATISFIABLE


def _path(object_key: str) -> str:
    segment = path_segment(object_key, f"{object_key!r} is not the key of a bulk object.")
    # Servers write ~ as %7E in the URLs that they list, though no one need.
    return f"/v0/history/bulk/download/{segment.replace('~', '%7E')}"
