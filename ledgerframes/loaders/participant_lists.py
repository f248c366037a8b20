"""The lists of a participant, with a quarantine for items that cannot be decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ledgerframes.api.ledger import Ledger
from ledgerframes.api.operation import Operation, Request
from ledgerframes.api.response import Response
from ledgerframes.datasets.boundary import DATA_ERRORS, decode_boundary
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.ledger.wire import ActiveContractItem
from ledgerframes.datasets.state.build import (
    active_contract_table,
    completion_table,
    package_table,
    party_table,
    synchronizer_table,
)
from ledgerframes.datasets.state.wire import Completion, CompletionItem, PartyDetails, Synchronizer, VettedPackages
from ledgerframes.loaders.additions import Additions
from ledgerframes.loaders.bad_items import OnBadItem, bad_item, find_errors, settle
from ledgerframes.loaders.ledger_filter import MAX_OFFSET
from ledgerframes.network import Network


def _completion_rows(items: list[CompletionItem]) -> None:
    contents = [item.content("command completions") for item in items]
    completion_table([each for each in contents if isinstance(each, Completion)], "")


@dataclass(frozen=True)
class ItemList:
    """The list in the responses of an operation."""

    member: str  # member of the response with the list, or "" if the response is the list
    kind: Any  # type of the list
    build: Callable[[list[Any]], object]  # builds the rows of items, and raises an error for an item that cannot become a row


CONTRACTS = list[ActiveContractItem]
COMPLETIONS = ItemList("", list[CompletionItem], _completion_rows)
VETTINGS = ItemList(
    "vettedPackages", list[VettedPackages], lambda items: [package_table([], [item], item.participant_id) for item in items]
)
LISTS = {
    "active_contracts": ItemList("", CONTRACTS, lambda items: active_contract_table(items, "", 0)),
    "active_contracts_page": ItemList("activeContracts", CONTRACTS, lambda items: active_contract_table(items, "", 0)),
    "command_completions": COMPLETIONS,
    "connected_synchronizers": ItemList(
        "connectedSynchronizers", list[Synchronizer], lambda items: synchronizer_table(items, "")
    ),
    "packages": ItemList("packageIds", list[str], lambda items: package_table(items, [], "")),
    "parties_page": ItemList("partyDetails", list[PartyDetails], lambda items: party_table(items, "")),
    "user_completions": COMPLETIONS,
    "vetted_packages_page": VETTINGS,
}


class ParticipantLists(Ledger):
    """The ledger API, with lists that omit items in quarantine."""

    def __init__(self, net: Network, on_bad_item: OnBadItem) -> None:
        super().__init__(net.ledger.transport)
        self._net, self._on_bad_item = net, on_bad_item
        self.extra_members = net.extra_members
        self.quarantined: list[bytes] = []
        self.additions = Additions()
        self.last_list = ""  # the operation that returned the last list
        self._acting_parties: list[str] = []

    def acting_parties(self) -> list[str]:
        """List the parties that the token may act as, looked up once for all lists of a load."""
        self._acting_parties = self._acting_parties or super().acting_parties()
        return self._acting_parties

    def send(self, operation: Operation, request: Request) -> Response:
        """Send a request of an operation, and put bad items of a list into quarantine."""
        response = super().send(operation, request)
        items = LISTS.get(operation.name)
        if items is not None:
            self.last_list = response.endpoint
        if self._on_bad_item == "raise" or items is None:
            return response
        members = response.decode(dict[str, msgspec.Raw]) if items.member else {"": response.decode(msgspec.Raw)}
        content = members.get(items.member)
        if content is None:
            return response
        contents = list(_split(items, decode(content, list[msgspec.Raw], response.endpoint)))

        def check(some: Sequence[bytes]) -> None:
            with decode_boundary(response.endpoint):
                items.build(decode(b"[%s]" % b",".join(some), items.kind, response.endpoint))

        errors = find_errors(contents, check)
        if not errors:
            return response
        good: list[msgspec.Raw] = []
        path = f"$.{items.member}" if items.member else "$"
        for number, item in enumerate(contents):
            if number not in errors:
                good.append(msgspec.Raw(item))
                continue
            settle(self._net, [bad_item(item, errors[number], number, path)], "quarantine", self.additions)
            self.quarantined.append(item)
            if items is COMPLETIONS:
                good.append(_checkpoint(item, good, request))
        body = {**members, items.member: good} if items.member else good
        return replace(response, body=msgspec.json.encode(body))


def _split(items: ItemList, contents: Sequence[msgspec.Raw]) -> Iterator[bytes]:
    """Yield the items of a list, with each package of a vetting separately."""
    for content in contents:
        try:
            vetting = msgspec.json.decode(content, type=dict[str, msgspec.Raw]) if items is VETTINGS else {}
            packages = msgspec.json.decode(vetting["packages"], type=list[msgspec.Raw]) if vetting else []
        except DATA_ERRORS:
            packages = []
        yield from (msgspec.json.encode({**vetting, "packages": [package]}) for package in packages)
        if not packages:
            yield bytes(content)


def _checkpoint(content: bytes, before: Sequence[msgspec.Raw], request: Request) -> msgspec.Raw:
    """Return a checkpoint at the offset of a completion, after which the next list begins."""
    offset = _offset(content)
    if offset is None:
        offset = next((each for each in map(_offset, map(bytes, reversed(before))) if each is not None), None)
    if offset is None and isinstance(request.body, dict):
        offset = request.body["beginExclusive"]
    return msgspec.Raw(msgspec.json.encode({"completionResponse": {"OffsetCheckpoint": {"value": {"offset": offset}}}}))


def _offset(content: bytes) -> int | None:
    """Return the offset of a completion, if it can be read."""
    try:
        [value] = msgspec.json.decode(content)["completionResponse"].values()
        offset = int(value.get("value", value)["offset"])
    except (*DATA_ERRORS, AttributeError):
        return None
    return offset if 0 <= offset <= MAX_OFFSET else None
