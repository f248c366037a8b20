"""Active contracts and holdings at a snapshot (docs/facts.md#contracts-at-snapshot)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from .endpoints import Api, endpoint, require_argument
from .history_api import UPDATES_DELAY, SizedRequest
from .ledger import Node
from .network_contracts import NetworkContract, NetworkContracts
from .randomness import digest
from .requests import Int64
from .responses import HttpError, Json, parse_time
from .timeline import FIRST_MIGRATION, OVERLAP, SECOND_MIGRATION
from .times import HOUR, instant
from .values import UNITS_PER_COIN, decimal_text

if TYPE_CHECKING:
    from .network import SimulatedNetwork

SNAPSHOT_EVERY = 3 * HOUR  # on multiples of UTC
Match = Literal["exact", "at_or_before"]
HIDDEN = ("event_id", "event_type")  # members of a create in a transaction


class AtSnapshot(msgspec.Struct, kw_only=True):
    """The snapshot that a body names."""

    migration_id: Int64
    record_time: Any  # a bad time has its own refusal
    record_time_match: Match = "exact"


class PageAtSnapshot(AtSnapshot, kw_only=True):
    """The page of a snapshot that a body names."""

    page_size: int

    def __post_init__(self) -> None:
        """Refuse a page size out of bounds."""
        SizedRequest(page_size=self.page_size)


class ContractsFilter(PageAtSnapshot, kw_only=True):
    """Body of the listings of active contracts, without their tokens."""

    party_ids: list[str] = []
    templates: list[str] = []


class ContractsRequest(ContractsFilter, kw_only=True):
    """Body of the listing of active contracts with numbers as tokens."""

    after: Int64 | None = None


class OpaqueContractsRequest(ContractsFilter, kw_only=True):
    """Body of the listing of active contracts with opaque tokens."""

    after: str | None = None


class HoldingsFilter(PageAtSnapshot, kw_only=True):
    """Body of the listings of holdings, without their tokens."""

    owner_party_ids: list[str]


class HoldingsRequest(HoldingsFilter, kw_only=True):
    """Body of the listing of holdings with numbers as tokens."""

    after: Int64 | None = None


class OpaqueHoldingsRequest(HoldingsFilter, kw_only=True):
    """Body of the listing of holdings with opaque tokens."""

    after: str | None = None


class SummaryRequest(AtSnapshot, kw_only=True):
    """Body of the request for sums of holdings."""

    owner_party_ids: list[str]


class StateApi(Api):
    """Endpoints of snapshots, of which the service takes one every three hours."""

    def __init__(self, box: SimulatedNetwork) -> None:
        super().__init__(box)
        coin = self.world.vocabulary.coin
        word = coin.capitalize()
        self._coin_templates = f"splice-{coin}:Splice.{word}:{word}", f"splice-{coin}:Splice.{word}:Locked{word}"

    @endpoint("GET", "/v0/state/acs/snapshot-timestamp")
    def _snapshot_before(self) -> Json:
        before, migration_id = _time_argument("before"), _whole_argument("migration_id")
        times = [time for time in self._snapshots(migration_id) if time < before]
        if not times:
            raise HttpError(404, f"No snapshot of migration {migration_id} before {instant(before)}")
        return {"record_time": instant(times[-1])}

    @endpoint("GET", "/v0/state/acs/snapshot-timestamp-after")
    def _snapshot_after(self) -> Json:
        after, migration_id = _time_argument("after"), _whole_argument("migration_id")
        # Of a later migration, any snapshot is after the time.
        for each in range(max(migration_id, FIRST_MIGRATION), SECOND_MIGRATION + 1):
            if times := [time for time in self._snapshots(each) if time > after or each > migration_id]:
                return {"record_time": instant(times[0])}
        raise HttpError(404, f"No snapshot of migration {migration_id} or later after {instant(after)}")

    @endpoint("POST", "/v1/state/acs", ContractsRequest, until=9)
    def _contracts(self, request: ContractsRequest) -> Json:
        return self._page(request, self._filtered(request), request.after)

    @endpoint("POST", "/v2/state/acs", OpaqueContractsRequest, since=8)
    def _contracts_v2(self, request: OpaqueContractsRequest) -> Json:
        return self._opaque_page(request, self._filtered(request), [request.party_ids, request.templates])

    @endpoint("POST", "/v1/holdings/state", HoldingsRequest)
    def _holdings(self, request: HoldingsRequest) -> Json:
        return self._page(request, self._coins_of(request), request.after)

    @endpoint("POST", "/v2/holdings/state", OpaqueHoldingsRequest, since=8)
    def _holdings_v2(self, request: OpaqueHoldingsRequest) -> Json:
        return self._opaque_page(request, self._coins_of(request), request.owner_party_ids)

    @endpoint("POST", "/v1/holdings/summary", SummaryRequest)
    def _summary(self, request: SummaryRequest) -> Json:
        units = {party: [0, 0] for party in request.owner_party_ids}  # unlocked and locked
        for contract in self._coins_of(request):
            is_locked = contract.template == self._coin_templates[1]
            units[contract.owner][is_locked] += self._units(contract)
        summaries = [_summary_of(party, *pair) for party, pair in units.items() if any(pair)]
        return {**self._position(request), "summaries": summaries}

    # -- snapshots ----------------------------------------------------------------------------------------------------

    def _snapshots(self, migration_id: int) -> range:
        """Return the times of the snapshots of a migration so far.

        The second migration has its first one when the first migration has ended, so that no snapshot lies in both.
        """
        timeline, now = self.world.timeline, self.clock.now() - UPDATES_DELAY
        bounds = {
            FIRST_MIGRATION: (timeline.start, min(timeline.switch, now)),
            SECOND_MIGRATION: (timeline.switch + OVERLAP, now),
        }
        since, until = bounds.get(migration_id, (0, -1))
        return range((since // SNAPSHOT_EVERY + 1) * SNAPSHOT_EVERY, until + 1, SNAPSHOT_EVERY)

    def _time(self, request: AtSnapshot) -> int:
        """Return the time of the snapshot that a request names."""
        time = parse_time(request.record_time)
        snapshots = self._snapshots(request.migration_id)
        if request.record_time_match == "at_or_before":
            snapshots = range(snapshots.start, min(snapshots.stop, time + 1), SNAPSHOT_EVERY)
            time = snapshots[-1] if snapshots else time
        if time not in snapshots:
            raise HttpError(404, f"No snapshot of migration {request.migration_id} at {instant(time)}")
        return time

    def _position(self, request: AtSnapshot) -> Json:
        return {"record_time": instant(self._time(request)), "migration_id": request.migration_id}

    # -- contracts ----------------------------------------------------------------------------------------------------

    @property
    def _network(self) -> NetworkContracts:
        return self.world.derived(NetworkContracts)

    def _filtered(self, request: ContractsFilter) -> Iterator[NetworkContract]:
        parties = frozenset(request.party_ids)
        for contract in self._network.active_at(self._time(request), frozenset(request.templates)):
            if not parties or not parties.isdisjoint(contract.stakeholders):
                yield contract

    def _coins_of(self, request: HoldingsFilter | SummaryRequest) -> Iterator[NetworkContract]:
        if not request.owner_party_ids:
            raise HttpError(400, "owner_party_ids must not be empty")
        owners, time = frozenset(request.owner_party_ids), self._time(request)
        return (each for each in self._network.active_at(time, self._coin_templates) if each.owner in owners)

    def _units(self, contract: NetworkContract) -> int:
        payload = self._network.node(contract)["create_arguments"]
        payload = payload.get(self.world.vocabulary.coin, payload)  # of a locked coin
        return int(Decimal(payload["amount"]["initialAmount"]) * UNITS_PER_COIN)

    def _page(self, request: PageAtSnapshot, contracts: Iterable[NetworkContract], after: int | None) -> Json:
        """Return a page after a contract, by its number in the listing."""
        numbered = enumerate(contracts, start=1)
        rows = list(islice((row for row in numbered if row[0] > (after or 0)), request.page_size + 1))
        page, rest = rows[: request.page_size], rows[request.page_size :]
        created = [self._created(contract, request.migration_id) for _, contract in page]
        token = {"next_page_token": page[-1][0]} if rest else {}
        return {**self._position(request), "created_events": created, **token}

    def _opaque_page(
        self, request: OpaqueContractsRequest | OpaqueHoldingsRequest, contracts: Iterable[NetworkContract], binding: list[Any]
    ) -> Json:
        """Return a page whose token only continues the same listing, in pages of any size."""
        name = digest("contracts", request.migration_id, self._time(request), msgspec.json.encode(binding).decode(), size=8)
        after = None
        if request.after is not None:
            after = _read_token(request.after, name)
        page = self._page(request, contracts, after)
        if number := page.get("next_page_token"):
            page["next_page_token"] = base64.urlsafe_b64encode(f"{name}.{number}".encode()).decode()
        return page

    def _created(self, contract: NetworkContract, migration_id: int) -> Node:
        """Return a contract as a snapshot shows it.

        An update of an earlier migration is not named.
        """
        node = {name: value for name, value in self._network.node(contract).items() if name not in HIDDEN}
        if contract.migration_id == migration_id:
            node["created_in_update_id"] = self._network.update_id(contract)
        return node


def _time_argument(name: str) -> int:
    return parse_time(require_argument(name).replace(" ", "+"))  # a plus sign that the query has not encoded


def _whole_argument(name: str) -> int:
    text = require_argument(name)
    if not text.removeprefix("-").isdecimal():
        raise HttpError(400, f"The query parameter '{name}' was malformed: '{text}' is not a valid 64-bit integer", plain=True)
    return int(text)


def _read_token(text: str, name: str) -> int:
    try:
        known, _, number = base64.urlsafe_b64decode(text.encode()).decode().partition(".")
    except (binascii.Error, UnicodeDecodeError):
        known, number = "", ""
    if known != name or not number.isdecimal():
        raise HttpError(400, "Invalid page token: it is of another listing")
    return int(number)


def _summary_of(party: str, unlocked: int, locked: int) -> Json:
    return {
        "party_id": party,
        "total_unlocked_coin": decimal_text(unlocked, "0.0000000000"),
        "total_locked_coin": decimal_text(locked, "0.0000000000"),
        "total_coin_holdings": decimal_text(unlocked + locked, "0.0000000000"),
    }
