"""Operations on the history API's bulk storage, with downloads that resume after failures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerframes.api.bodies import BodyLimits
from ledgerframes.api.operation import Client, Request, members, operation
from ledgerframes.api.transport import Transport, host_of
from ledgerframes.datasets.bulk.wire import ActiveContractsListing, Checksums, UpdatesListing
from ledgerframes.errors import ServiceError, StoreError, TransportError, UsageError
from ledgerframes.values.windows import instant, iso

if TYPE_CHECKING:
    import httpx

__all__ = ["BulkClient", "Download"]

CHUNK_BYTES = 1 << 20  # read from a connection at a time
PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416


@dataclass(frozen=True)
class Download:
    """Size, hexadecimal SHA-256 and host of a downloaded object."""

    bytes: int
    sha256: str
    host: str


class BulkClient(Client):
    """Operations on bulk objects. Not every network has them (docs/facts.md#bulk-storage)."""

    api = "history"

    @operation("POST /v0/history/bulk/updates", returns=UpdatesListing, since="0.5.16", read_only=True)
    def bulk_updates(self, since: datetime, until: datetime, *, page_size: int = 1000, page_token: str | None = None) -> Request:
        """List the bulk objects of updates, in whole folders that overlap a window.

        Objects are in string order of their keys, so 10 is before 2.

        Parameters
        ----------
        since, until : datetime
            Half-open window of record times.
        page_size : int
            1 to 1000 objects; a page that is too small for one folder is an error.
        page_token : str, optional
            From the page before. The last page has one, too, if the window ends in the future.

        Notes
        -----
        ``POST /v0/history/bulk/updates``, since 0.5.16.
        """
        start, end = _wire_time(since, "since"), _wire_time(until, "until")
        return Request(
            body=members(start_record_time=start, end_record_time=end, page_size=page_size, next_page_token=page_token)
        )

    @operation("GET /v0/history/bulk/acs", returns=ActiveContractsListing, since="0.5.16")
    def bulk_active_contracts(self, at_or_before: datetime | None = None) -> Request:
        """List the bulk objects of the newest ACS snapshot, at a time or before it.

        Raises
        ------
        NotFoundError
            If there is no such snapshot.

        Notes
        -----
        ``GET /v0/history/bulk/acs``, since 0.5.16.
        """
        return Request(query={"at_or_before_record_time": at_or_before and _wire_time(at_or_before, "at_or_before")})

    @operation(
        "POST /v0/history/bulk/checksums",
        returns=Checksums,
        unwrap=lambda response: [checksum.value for checksum in response.checksums],
        since="0.5.16",
        read_only=True,
    )
    def bulk_checksums(self, object_keys: Sequence[str]) -> Request:
        """Return the digests of bulk objects in the same order, as SHA-256 in base64.

        Raises
        ------
        NotFoundError
            If one of the objects does not exist.

        Notes
        -----
        ``POST /v0/history/bulk/checksums``, since 0.5.16.
        """
        if isinstance(object_keys, str):
            raise UsageError(f"object_keys= must be a list of keys, got {object_keys!r}.")
        return Request(body={"object_keys": list(object_keys)})

    @operation("GET /v0/history/bulk/download/{object_key}", returns=bytes, since="0.5.16", changed="0.5.17", varies_by_host=True)
    def bulk_object(self, object_key: str) -> Any:
        """Download a bulk object into memory, as zstd bytes.

        Objects are often larger than 128 MiB; :meth:`bulk_download` writes them to a file.

        Parameters
        ----------
        object_key : str
            Such as ``2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/updates_compact_json_0.zstd``.

        Raises
        ------
        NotFoundError
            If the object does not exist.

        Notes
        -----
        ``GET /v0/history/bulk/download/{object_key}``, since 0.5.16.
        """

    def bulk_download(self, object_key: str, target: Path) -> Download:
        """Download a bulk object to a file, resuming after failures if the service supports Range.

        Parameters
        ----------
        object_key : str
            As for :meth:`bulk_object`.
        target : Path
            File to write, complete when this method returns.

        Raises
        ------
        NotFoundError
            If no host that responds has the object.
        TransportError, ServiceError
            If no host sends all of the object.
        StoreError
            If the file cannot be written.
        """
        path = self.operations["bulk_object"].fill_path({"object_key": object_key})

        def download(url: str, is_last: bool) -> Download:
            return _ObjectDownload(self.transport, url, path, target).run(is_last=is_last)

        return self.transport.with_failover(download, varies_by_host=True)


class _ObjectDownload:
    """The download of one object from one host."""

    def __init__(self, transport: Transport, url: str, path: str, target: Path) -> None:
        self._transport = transport
        self._url = url
        self._path = path
        self._target = target
        self._limits = BodyLimits(transport.limits, f"GET {path}", host_of(url), "download")
        self._restart()

    def _restart(self) -> None:
        self._bytes, self._etag, self._digest = 0, "", hashlib.sha256()

    def run(self, *, is_last: bool) -> Download:
        """Fetch until the object is complete, counting only attempts without progress as failures."""
        while True:
            before = self._bytes
            try:
                self._transport.retry_on_host(self._url, self._fetch, is_last=is_last, also=_has_other_object)
                return Download(self._bytes, self._digest.hexdigest(), host_of(self._url))
            except TransportError as error:
                if self._bytes <= before or not error.retryable:
                    raise

    def _fetch(self) -> None:
        headers = {"Accept-Encoding": "identity"}
        if self._bytes and self._etag:
            headers |= {"Range": f"bytes={self._bytes}-", "If-Range": self._etag}
        try:
            with self._transport.stream(self._url, self._path, headers, self._limits) as response:
                self._read(response)
        except ServiceError as error:
            if _has_other_object(error):
                self._restart()
            raise

    def _read(self, response: httpx.Response) -> None:
        content_range = response.headers.get("Content-Range", "")
        if response.status_code != PARTIAL_CONTENT or not content_range.startswith(f"bytes {self._bytes}-"):
            self._restart()
        self._etag = response.headers.get("ETag", "")
        length = response.headers.get("Content-Length", "")
        self._limits.check(self._bytes + (int(length) if length.isdecimal() else 0))
        start = self._bytes
        self._append(response)
        received = self._bytes - start
        if length.isdecimal() and received < int(length):
            raise self._limits.incomplete(f"received {received:,} of {int(length):,} bytes")

    def _append(self, response: httpx.Response) -> None:
        with self._file_errors("Check the directory."):
            file = self._target.open("r+b" if self._bytes else "wb")
        with file:
            file.seek(self._bytes)
            for chunk in response.iter_raw(CHUNK_BYTES):
                self._limits.check(self._bytes + len(chunk))
                with self._file_errors("Free disk space."):
                    file.write(chunk)
                    file.flush()
                self._digest.update(chunk)
                self._bytes += len(chunk)

    @contextmanager
    def _file_errors(self, step: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # otherwise the transport would report a failed connection
            raise StoreError(f"Cannot write the download to {self._target}: {error}. {step}", path=str(self._target)) from error


def _has_other_object(error: Exception) -> bool:
    """Return whether the object changed, so that the rest of it does not exist."""
    return isinstance(error, ServiceError) and error.status == RANGE_NOT_SATISFIABLE


def _wire_time(time: datetime, name: str) -> str:
    return iso(instant(time, name))
