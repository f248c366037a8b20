"""Bodies of responses, read within limits of size and time."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from ledgerframes.errors import HostUnreachableError, ResponseLimitError

if TYPE_CHECKING:
    import httpx

    from ledgerframes.settings import Limits


MIN_CHECKED_BYTES = 10_000_000  # below, the ratio of a response does not matter
PIECE_BYTES = 1 << 20  # expanded at a time
GZIP_OR_ZLIB = 47  # what zlib calls both formats, by their headers


class BodyLimits:
    """Limits on the bytes, the expansion and the time of one response or download.

    The errors have the endpoint and the host, and the kind chooses the settings, such as ``max_download_bytes``.
    """

    def __init__(self, limits: Limits, endpoint: str, host: str, kind: Literal["response", "download"] = "response") -> None:
        self._limits = limits
        self._endpoint = endpoint
        self._host = host
        self._bytes_setting, self._minutes_setting = f"max_{kind}_bytes", f"max_{kind}_minutes"
        self._deadline = time.monotonic() + getattr(limits, self._minutes_setting) * 60

    def check(self, sent: int, expanded: int = 0) -> None:
        """Raise an error for a body that is too large, expands too much, or takes too long.

        Even if each byte of a response arrives in time, the response can take too long.
        """
        self.seconds_left()
        if max(sent, expanded) > getattr(self._limits, self._bytes_setting):
            raise self._error("sent more than {:,} bytes", self._bytes_setting)
        if expanded > MIN_CHECKED_BYTES and expanded > self._limits.max_decompression_ratio * sent:
            raise self._error("sent bytes that expand to more than {:g} times their size", "max_decompression_ratio")

    def seconds_left(self) -> float:
        """Return the seconds that the response may still take, or raise ResponseLimitError."""
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise self._error("did not complete its response within {:g} minutes", self._minutes_setting)
        return float(seconds)

    def incomplete(self, reason: str) -> HostUnreachableError:
        """Return the error for a body that did not arrive as it was sent."""
        return HostUnreachableError(
            f"{self._host} did not complete {self._endpoint}: {reason}. Check the URL and the network, or add a second host.",
            endpoint=self._endpoint,
            host=self._host,
        )

    def _error(self, reason: str, setting: str) -> ResponseLimitError:
        maximum = getattr(self._limits, setting)
        step = f"Check the service, or raise {setting}= if that is right."
        return ResponseLimitError(
            f"{self._host} {reason.format(maximum)} for {self._endpoint}. {step}",
            endpoint=self._endpoint,
            host=self._host,
            setting=setting,
            maximum=maximum,
        )


def read_body(response: httpx.Response, limits: BodyLimits) -> bytes:
    """Return the complete body, and check its length, because some transports do not."""
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if response.is_stream_consumed:  # by a transport of tests, which has expanded it
        body = response.content
        limits.check(len(body), len(body))
    elif encoding == "gzip":
        body = b"".join(_iter_gzip(response, limits))
    elif encoding == "identity":
        body = b"".join(_iter_identity(response, limits))
    else:
        raise limits.incomplete(f"sent the encoding {encoding[:20]!r}, which was not requested")
    length = response.headers.get("Content-Length", "")
    if encoding == "identity" and length.isdecimal() and len(body) < int(length):
        raise limits.incomplete(f"received {len(body)} of {length} bytes")
    return body


def _iter_identity(response: httpx.Response, limits: BodyLimits) -> Iterator[bytes]:
    count = 0
    for chunk in response.iter_raw():
        count += len(chunk)
        limits.check(count, count)
        yield chunk


def _iter_gzip(response: httpx.Response, limits: BodyLimits) -> Iterator[bytes]:
    """Yield the expanded body in pieces of at most `PIECE_BYTES`."""
    expander, sent, expanded = Expander(), 0, 0
    for chunk in response.iter_raw():
        sent += len(chunk)
        try:
            for piece in expander.pieces(chunk):
                expanded += len(piece)
                limits.check(sent, expanded)
                yield piece
        except zlib.error as error:
            raise limits.incomplete(f"sent damaged gzip ({error})") from error
    if not expander.is_complete:
        raise limits.incomplete("received a part of the gzip")


class Expander:
    """Expands gzip, which may have several members, one after the other."""

    def __init__(self) -> None:
        self._member: zlib._Decompress | None = None  # that has begun and not ended

    @property
    def is_complete(self) -> bool:
        """Whether no member has begun and not ended."""
        return self._member is None

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what a chunk expands to."""
        while chunk:
            if self._member is None:
                self._member = zlib.decompressobj(GZIP_OR_ZLIB)
            yield self._member.decompress(chunk, PIECE_BYTES)
            if self._member.eof:
                chunk, self._member = self._member.unused_data, None
            else:
                chunk = self._member.unconsumed_tail
