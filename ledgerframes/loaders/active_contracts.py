"""Pages of the active contracts of a participant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ledgerframes.api.caller_warnings import warn_caller
from ledgerframes.api.paging import PageChain
from ledgerframes.api.update_format import INCOMPLETE, EventFormat
from ledgerframes.datasets._decode import decode
from ledgerframes.datasets._extras import unknown_members
from ledgerframes.datasets.ledger.wire import ActiveContractItem
from ledgerframes.errors import BadRequestError, UnsupportedOperationError
from ledgerframes.loaders.participant_lists import ParticipantLists

CONTRACTS = "POST /v2/state/active-contracts-page"
PAGE_SIZE = 2000  # the participant's default (docs/facts.md#ledger-operations)
INCOMPLETE_SINCE = "3.7"  # before, contracts in transit are always included


def iter_contracts(
    ledger: ParticipantLists, contract_format: EventFormat, offset: int, include_incomplete: bool
) -> Iterator[ActiveContractItem]:
    """Iterate over the contracts, including those in transit only on request."""
    if not include_incomplete:
        yield from (item for item in _iter_contract_pages(ledger, contract_format, offset) if not _is_incomplete(item))
        return
    complete_format = replace(contract_format, incomplete=not ledger.is_before(INCOMPLETE_SINCE))
    try:
        yield from _iter_contract_pages(ledger, complete_format, offset)
    except BadRequestError as error:
        if not complete_format.incomplete or INCOMPLETE not in error.detail:
            raise
        warn_caller(
            f"{error.host} refuses {INCOMPLETE}, so contracts in transit between synchronizers may be missing. "
            "Compare with the reassignments of load_updates, or upgrade ledgerframes.",
            UserWarning,
        )
        yield from _iter_contract_pages(ledger, contract_format, offset)


def _is_incomplete(item: ActiveContractItem) -> bool:
    entry = item.contract_entry
    return entry is not None and bool(entry.incomplete_assigned or entry.incomplete_unassigned)


def _iter_contract_pages(ledger: ParticipantLists, contract_format: EventFormat, offset: int) -> Iterator[ActiveContractItem]:
    token, chain = None, PageChain(CONTRACTS)
    while True:
        try:
            response = ledger.active_contracts_page(
                contract_format, active_at_offset=offset, max_page_size=PAGE_SIZE, page_token=token
            )
        except UnsupportedOperationError:
            response = ledger.active_contracts(contract_format, active_at_offset=offset)
            items = response.decode(list[ActiveContractItem])
            ledger.note_around(response.endpoint, _members_without_contract(items))
            yield from items
            return
        page = ledger.decode_active_contracts(response)
        ledger.note_around(CONTRACTS, unknown_members(page))
        items = decode(page.active_contracts, list[ActiveContractItem], CONTRACTS)
        ledger.note_around(CONTRACTS, _members_without_contract(items))
        yield from items
        token = chain.next_token(page.next_page_token, bytes(page.active_contracts))
        if token is None:
            return


def _members_without_contract(items: Sequence[ActiveContractItem]) -> dict[str, str]:
    """Return the unknown members of items without a contract, as JSON by path."""
    empty = [item for item in items if item.is_extended and (item.contract_entry is None or item.contract_entry.empty)]
    return unknown_members(empty, path="activeContracts")
