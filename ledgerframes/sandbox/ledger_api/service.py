"""Checks, pages and tokens that all endpoints of the ledger API share."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import flask
import msgspec

from ..endpoints import Api, Endpoint
from ..participant.filters import EventFormat, UpdateFormat
from ..participant.rendering import EventRenderer, UpdateRenderer
from ..responses import HttpError, Json, LedgerApiError, missing
from ..times import SECOND, instant
from ..users import check_rights
from ..versions import minor_of

if TYPE_CHECKING:
    from ..network import SimulatedNetwork

T = TypeVar("T")

# Minor version that added a member of responses (docs/facts.md#versions).
MEMBERS_SINCE = {
    "externalTransactionHash": 4, "representativePackageId": 4, "acsDelta": 4,
    "contractKeyHash": 5, "paidTrafficCost": 5, "packageFeature": 5,
}  # fmt: skip
# Numbers and wrappers, which the decoder itself demands.
DECODED = ("activeAtOffset", "beginExclusive", "offset", "value", "seconds", "nanos")
MISSING = re.compile(r"Object missing required field `(\w+)`.*")
MAX_LIST = 200
MAX_UPDATES_PAGE = 2000
TOO_MANY = f"The number of matching elements is greater than the node limit of {MAX_LIST}"


# A page token has the checksum of its request and the position of the next page (docs/facts.md#page-token-binding).
decode_token = msgspec.msgpack.Decoder(tuple[str, tuple[int, ...]]).decode


class LedgerEndpoints(Api):
    """A family of ledger endpoints."""

    def __init__(self, box: SimulatedNetwork) -> None:
        super().__init__(box)
        self.ledger = box.ledger
        self.minor = minor_of(box.ledger_version)
        self._newer_members = frozenset(name for name, minor in MEMBERS_SINCE.items() if self.minor < minor)

    def admit(self, declared: Endpoint) -> None:
        """Refuse a caller without a valid token."""
        if not declared.public:
            flask.g.user = self.box.users.authenticate(flask.request.headers.get("Authorization"))

    def json_value(self, value: Any) -> Any:
        """Return a handler's result without the members that the version does not have."""
        return _without(value, self._newer_members) if self._newer_members else value

    def malformed(self, error: msgspec.MsgspecError) -> Exception:
        """Return the refusal of a body that does not fit its model."""
        absent = MISSING.fullmatch(str(error))
        if absent is None:
            return malformed_body(str(error))
        if absent[1] in DECODED:
            return malformed_body(f"Missing required field at '{absent[1]}'")
        return missing(re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", absent[1]))

    def update_renderer(self, request: UpdateFormat) -> UpdateRenderer:
        """Return the renderer of an update format that the user may read."""
        renderer = UpdateRenderer(request, self.ledger.registry, has_hash=self.minor >= 6)
        check_rights(flask.g.user, *renderer.parties())
        return renderer

    def event_renderer(self, request: EventFormat) -> EventRenderer:
        """Return the renderer of an event format that the user may read."""
        check_rights(flask.g.user, request.filters_by_party, request.filters_for_any_party is not None)
        return EventRenderer(request, self.ledger.registry)

    def check_begin(self, begin: int, operation: str = "Updates request") -> int:
        """Return the lower bound of a request, or refuse a negative or pruned one."""
        pruned = self.ledger.pruned_through
        if begin < 0:
            raise LedgerApiError("NEGATIVE_OFFSET", f"Offset {begin} in begin_exclusive is a negative integer")
        if 0 < begin < pruned:
            cause = f"{operation}: offset {begin} lies before {pruned}, through which the ledger is pruned"
            raise LedgerApiError("PARTICIPANT_PRUNED_DATA_ACCESSED", cause, {"earliest_offset": str(pruned)})
        return begin or pruned

    def check_end(self, begin: int, end: int | None) -> int:
        """Return the upper bound of a request, by default the ledger end, or refuse it."""
        last = self.ledger.end()
        if end is not None and end <= 0:
            raise LedgerApiError("NON_POSITIVE_OFFSET", f"Offset {end} in end_inclusive is not a positive integer")
        if end is not None and end > last:
            raise LedgerApiError("OFFSET_AFTER_LEDGER_END", f"End offset ({end}) is after ledger end ({last})")
        if begin > last:
            raise LedgerApiError("OFFSET_AFTER_LEDGER_END", f"Begin offset ({begin}) is after ledger end ({last})")
        if end is not None and end < begin:
            raise LedgerApiError("INVALID_ARGUMENT", f"end offset {end} is before begin offset {begin}")
        return last if end is None else end

    def checkpoint(self, offset: int, time: int) -> Json:
        """Return an offset checkpoint."""
        return {"OffsetCheckpoint": {"value": {"offset": offset, "synchronizerTimes": self.synchronizer_times(time)}}}

    def synchronizer_times(self, time: int) -> list[Json]:
        """Return the record time that each synchronizer has reached at a time."""
        parties = self.world.parties
        return [
            {"synchronizerId": name, "recordTime": instant(time - time % SECOND + later)}
            for name, later in ((parties.synchronizer, 0), (parties.app_synchronizer, SECOND // 4))
        ]


def _without(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(each, names) for name, each in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


def malformed_body(reason: str) -> HttpError:
    """Return the refusal of a body that cannot be decoded."""
    return HttpError(400, f"Invalid value for: body ({reason})", plain=True)


def query_number(name: str) -> int | None:
    """Return a number of the query, or refuse what is none."""
    text = flask.request.args.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise HttpError(400, f"Invalid value for: query parameter {name}", plain=True)
    return int(text)


def limited(items: Iterator[Json]) -> list[Json]:
    """Return a list up to its limit, or refuse it (docs/facts.md#list-limit)."""
    limit = query_number("limit")
    query_number("stream_idle_timeout_ms")
    if limit is not None and limit < 0:
        raise LedgerApiError("INVALID_ARGUMENT", f"limit {limit} is negative")
    size = MAX_LIST if limit is None else min(limit, MAX_LIST)
    values = list(islice(items, size + 1))
    if len(values) > size and (limit is None or limit > MAX_LIST):
        raise LedgerApiError("JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", TOO_MANY)
    return values[:size]


def check_size(size: int | None, default: int, largest: int, smallest: int = 1) -> int:
    """Return a page size, or refuse it. If 0 is allowed, it stands for the default."""
    if size is not None and not smallest <= size <= largest:
        raise LedgerApiError("INVALID_ARGUMENT", f"page size {size} is not between {smallest} and {largest}")
    return size or default


def page(items: Iterable[T], size: int, binding: Any, start: int = 0, *position: int) -> tuple[list[T], str | None]:
    """Return a page from an index on, and the token of the next one."""
    rows = list(islice(items, start, start + size + 1))
    return rows[:size], write_token(binding, start + size, *position) if len(rows) > size else None


def write_token(binding: Any, *position: int) -> str:
    """Return the page token of a position, bound to members of the request."""
    return base64.b64encode(msgspec.msgpack.encode((_checksum(binding), position))).decode()


def read_token(token: str | None, binding: Any, code: str = "INVALID_ARGUMENT") -> tuple[int, ...]:
    """Return the position of a page token, or refuse a token of another request.

    The position is empty without token.
    """
    if not token:
        return ()
    try:
        checksum, position = decode_token(base64.b64decode(token, validate=True))
    except (ValueError, msgspec.MsgspecError) as error:
        raise LedgerApiError(code, "the token cannot be read") from error
    if checksum != _checksum(binding):
        raise LedgerApiError(code, "the token was given for another request or by another participant")
    return position


def _checksum(binding: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(binding, order="sorted")).hexdigest()[:24]
