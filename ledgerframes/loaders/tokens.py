"""Active contracts of the token standard on a participant, which are never stored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import pyarrow as pa

from ledgerframes.datasets import Table
from ledgerframes.datasets.holdings.schema import CONTRACT, TOKEN_ALLOCATIONS, TOKEN_HOLDINGS, TOKEN_TRANSFERS
from ledgerframes.datasets.holdings.tokens import interface_of, token_table
from ledgerframes.datasets.state.schema import LEDGER_ACTIVE_CONTRACTS
from ledgerframes.errors import DecodeError
from ledgerframes.loaders.active_contracts import ContractLoad
from ledgerframes.loaders.additions import Additions
from ledgerframes.loaders.arguments import loader
from ledgerframes.loaders.bad_items import BadItem, OnBadItem, find_errors, settle
from ledgerframes.network import Network

__all__ = ["load_token_allocations", "load_token_holdings", "load_token_transfers"]


SCHEMA = pa.schema(
    [LEDGER_ACTIVE_CONTRACTS.schema.field(name) for name in (*(column.name for column in CONTRACT), "interface_views")]
)


class TokenLoad:
    """The active contracts of an interface of the token standard."""

    def __init__(
        self, table: Table, net: Network, active_at_offset: int | None, parties: Sequence[str] | None, on_bad_item: OnBadItem
    ) -> None:
        self.net, self.table, self.on_bad_item = net, table, on_bad_item
        self.contracts = ContractLoad(
            net,
            active_at_offset=active_at_offset,
            parties=parties,
            interfaces=[interface_of(table)],
            on_bad_item=on_bad_item,
        )

    def plan(self) -> pd.DataFrame:
        """Return the plan of the contracts."""
        return self.contracts.plan()

    def load(self, progress: bool | None) -> pd.DataFrame:
        """Fetch the contracts, and return the table of their views."""
        contracts = self.contracts.load(progress)
        rows = pa.Table.from_pandas(contracts[SCHEMA.names], SCHEMA, preserve_index=False)
        return self.table.to_pandas(_token_rows(self.net, self.table, rows, self.on_bad_item))


@loader(partial(TokenLoad, TOKEN_HOLDINGS))
def load_token_holdings(
    net: Network,
    *,
    active_at_offset: int | None = None,
    parties: Sequence[str] | None = None,
    on_bad_item: OnBadItem = "raise",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the tokens of any instrument that parties of a participant own.

    Coin is an instrument like any other that follows the token standard.

    Parameters
    ----------
    net : Network
    active_at_offset : int, optional
        Offset of the state (default: the ledger's end).
    parties : sequence of str, optional
        Parties whose contracts to load (default: any party of the participant).
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per holding, sorted by contract id. A view that the participant could not compute has a code other than 0, and
        its amount is missing.

    Raises
    ------
    NotFoundError
        If the participant does not have the package of the interface.

    Notes
    -----
    Source: docs/facts.md#token-standard, POST /v2/state/active-contracts-page.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> held = lf.load_token_holdings(lf.connect("sandbox", events=400, days=1))
    >>> held.groupby(["instrument_admin", "instrument_id"])["amount"].sum().size > 1
    True
    """
    return TokenLoad(TOKEN_HOLDINGS, net, active_at_offset, parties, on_bad_item).load(progress)


@loader(partial(TokenLoad, TOKEN_TRANSFERS))
def load_token_transfers(
    net: Network,
    *,
    active_at_offset: int | None = None,
    parties: Sequence[str] | None = None,
    on_bad_item: OnBadItem = "raise",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the token transfers that are not complete.

    Parameters
    ----------
    net : Network
    active_at_offset : int, optional
        Offset of the state (default: the ledger's end).
    parties : sequence of str, optional
        Parties whose contracts to load (default: any party of the participant).
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per transfer, sorted by contract id.

    Raises
    ------
    NotFoundError
        If the participant does not have the package of the interface.

    Notes
    -----
    Source: docs/facts.md#token-standard, POST /v2/state/active-contracts-page.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.load_token_transfers(lf.connect("sandbox", events=400, days=1)).empty
    True
    """
    return TokenLoad(TOKEN_TRANSFERS, net, active_at_offset, parties, on_bad_item).load(progress)


@loader(partial(TokenLoad, TOKEN_ALLOCATIONS))
def load_token_allocations(
    net: Network,
    *,
    active_at_offset: int | None = None,
    parties: Sequence[str] | None = None,
    on_bad_item: OnBadItem = "raise",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the tokens that are reserved for settlements.

    Parameters
    ----------
    net : Network
    active_at_offset : int, optional
        Offset of the state (default: the ledger's end).
    parties : sequence of str, optional
        Parties whose contracts to load (default: any party of the participant).
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per allocation, sorted by contract id.

    Raises
    ------
    NotFoundError
        If the participant does not have the package of the interface.

    Notes
    -----
    Source: docs/facts.md#token-standard, POST /v2/state/active-contracts-page.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> reserved = lf.load_token_allocations(lf.connect("sandbox", events=400, days=1))
    >>> bool((reserved["amount"].dropna() > 0).all())
    True
    """
    return TokenLoad(TOKEN_ALLOCATIONS, net, active_at_offset, parties, on_bad_item).load(progress)


def _token_rows(net: Network, table: Table, contracts: pa.Table, on_bad_item: OnBadItem) -> pa.Table:
    """Return a table of tokens, without the contracts whose views are in quarantine."""
    try:
        return token_table(table, contracts)
    except DecodeError:
        pass  # the error of each view names its contract
    positions = range(contracts.num_rows)
    errors = find_errors(positions, lambda part: token_table(table, contracts.take([*part])))
    settle(net, [_bad_view(contracts, position, error) for position, error in errors.items()], on_bad_item, Additions())
    return token_table(table, contracts.take([position for position in positions if position not in errors]))


def _bad_view(contracts: pa.Table, position: int, error: DecodeError) -> BadItem:
    """Return the views of a contract with an error that names it."""
    contract_id, text = (contracts[name][position].as_py() for name in ("contract_id", "interface_views"))
    reason = f"The views of contract {contract_id} cannot be decoded: {str(error).removeprefix('Unexpected response: ')}"
    return BadItem((text or "").encode(), DecodeError(reason, json_path=error.json_path))
