"""The active contracts of a participant's ledger at an offset."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from ledgerframes.api.caller_warnings import warn_caller
from ledgerframes.api.ledger_errors import is_invalid_page_token
from ledgerframes.api.paging import PageChain
from ledgerframes.api.update_format import INCOMPLETE, EventFormat, event_format
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.ledger.wire import ActiveContractItem
from ledgerframes.datasets.state.build import active_contract_table
from ledgerframes.datasets.state.schema import LEDGER_ACTIVE_CONTRACTS
from ledgerframes.errors import BadRequestError, UnsupportedOperationError
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.loaders.participant_lists import ParticipantLists
from ledgerframes.loaders.state_load import StateLoad
from ledgerframes.loaders.sync import plan_frame
from ledgerframes.loaders.update_lists import long_idle_ms
from ledgerframes.network import Network
from ledgerframes.values.checks import require_integer

CONTRACTS = "POST /v2/state/active-contracts-page"
PAGE_SIZE = 2000  # the participant's default (docs/facts.md#ledger-operations)
INCOMPLETE_SINCE = "3.7"  # earlier versions always include contracts in transit

logger = logging.getLogger("ledgerframes")


class ContractLoad:
    """The contracts that are active at an offset of a participant's ledger."""

    def __init__(
        self,
        net: Network,
        *,
        active_at_offset: int | None,
        parties: Sequence[str] | None,
        templates: Sequence[str] = (),
        interfaces: Sequence[str] = (),
        include_blobs: bool = False,
        include_incomplete: bool = True,
        on_bad_item: OnBadItem,
    ) -> None:
        self.net, self.on_bad_item = net, on_bad_item
        self.offset = None if active_at_offset is None else require_integer("active_at_offset", active_at_offset, 0)
        self.format = event_format(parties, templates, interfaces, blobs=include_blobs)
        self.include_incomplete = include_incomplete

    def plan(self) -> pd.DataFrame:
        """Return the extent to fetch, without an offset if it is the ledger's end."""
        return plan_frame(LEDGER_ACTIVE_CONTRACTS.name, [{"through": self.offset}])

    def load(self, progress: bool | None) -> pd.DataFrame:
        """Fetch the contracts, and return their table."""
        offset = self.net.ledger.ledger_end() if self.offset is None else self.offset
        fetch = partial(_iter_contracts, contract_format=self.format, offset=offset, include_incomplete=self.include_incomplete)
        build = partial(active_contract_table, active_at_offset=offset)
        contracts = StateLoad(self.net, LEDGER_ACTIVE_CONTRACTS, fetch, build, self.on_bad_item)
        try:
            return contracts.load(progress)
        except BadRequestError as error:
            if not is_invalid_page_token(error):
                raise
            # After an upgrade, a participant refuses page tokens of its older version. The contracts at an offset stay the
            # same.
            logger.info("page_token_rejected network=%s", self.net.name)
            return contracts.load(progress)


def _iter_contracts(
    ledger: ParticipantLists, contract_format: EventFormat, offset: int, include_incomplete: bool
) -> Iterator[ActiveContractItem]:
    """Iterate over the contracts, including those in transit if requested."""
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
            response = ledger.active_contracts(contract_format, active_at_offset=offset, idle_ms=long_idle_ms(ledger))
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
