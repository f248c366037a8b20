"""Loading a participant's state as it is now; nothing of it is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import pandas as pd

from ledgerframes.api.update_format import EventFormat, event_format
from ledgerframes.datasets._decode import decode
from ledgerframes.datasets.ledger.wire import ActiveContractItem
from ledgerframes.datasets.state.build import (
    active_contract_table,
    completion_table,
    package_table,
    party_table,
    synchronizer_table,
)
from ledgerframes.datasets.state.schema import COMPLETIONS, LEDGER_ACTIVE_CONTRACTS, PACKAGES, PARTIES, SYNCHRONIZERS
from ledgerframes.datasets.state.wire import Completion
from ledgerframes.errors import UnsupportedOperationError
from ledgerframes.network import Network

__all__ = ["load_active_contracts", "load_completions", "load_packages", "load_parties", "load_synchronizers"]

CONTRACTS = "POST /v2/state/active-contracts-page"
LIST_SIZE = 100  # below the list limit of 200 (docs/facts.md#ledger-operations)
PAGE_SIZE = 2000  # the participant's default (docs/facts.md#ledger-operations)


def load_active_contracts(
    net: Network,
    *,
    at: int | None = None,
    parties: Sequence[str] | None = None,
    templates: Sequence[str] = (),
    interfaces: Sequence[str] = (),
    blobs: bool = False,
) -> pd.DataFrame:
    """Load the contracts that are active at an offset of a participant's ledger.

    Parameters
    ----------
    net : Network
    at : int, optional
        The offset; the ledger's end by default.
    parties : sequence of str, optional
        Whose contracts; by default those of any party of the participant.
    templates, interfaces : sequence of str
        Only contracts of these, such as ``package-name:Module:Entity``.
    blobs : bool
        Ask for created-event blobs, several kB a row.

    Returns
    -------
    DataFrame
        One row per contract that is active, or on its way between synchronizers, sorted by offset, in the columns of table
        ``ledger_active_contracts``.

    Raises
    ------
    TooManyElementsError
        Before ledger API 3.5, if there are more contracts than a list may have.

    Notes
    -----
    Source: docs/facts.md#ledger-operations, POST /v2/state/active-contracts-page; before ledger API 3.5 the list operation.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> contracts = lf.load_active_contracts(lf.connect("sandbox", events=400, days=1))
    >>> bool(contracts["contract_id"].is_unique)
    True
    """
    participant_id = net.ledger.participant_id()
    offset = net.ledger.ledger_end() if at is None else at
    wanted = event_format(parties, templates, interfaces, blobs=blobs)
    try:
        items = list(_paged_contracts(net, wanted, offset))
    except UnsupportedOperationError:
        answer = net.ledger.active_contracts(wanted, active_at_offset=offset)
        items = decode(answer.body, list[ActiveContractItem], "POST /v2/state/active-contracts")
    return LEDGER_ACTIVE_CONTRACTS.to_pandas(active_contract_table(items, participant_id, offset))


def _paged_contracts(net: Network, wanted: EventFormat, offset: int) -> Iterator[ActiveContractItem]:
    token: str | None = None
    while True:
        answer = net.ledger.active_contracts_page(wanted, active_at_offset=offset, max_page_size=PAGE_SIZE, page_token=token)
        head = net.ledger.decode_active_contracts(answer)
        contracts = msgspec.Raw(b"[]") if bytes(head.active_contracts) in (b"", b"null") else head.active_contracts
        yield from decode(contracts, list[ActiveContractItem], CONTRACTS)
        token = head.next_page_token
        if not token:
            return


def load_completions(net: Network, *, parties: Sequence[str] = (), after: int = 0, limit: int | None = None) -> pd.DataFrame:
    """Load the ends of commands: those that succeeded, and those that failed.

    Parameters
    ----------
    net : Network
    parties : sequence of str
        Those who submitted; by default all that the token may act as.
    after : int
        The offset after which to begin.
    limit : int, optional
        Completions at most; all of them by default.

    Returns
    -------
    DataFrame
        One row per command that ended, sorted by offset.

    Notes
    -----
    Source: docs/facts.md#ledger-operations, POST /v2/commands/command-completions.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> completions = lf.load_completions(lf.connect("sandbox", events=400, days=1), limit=50)
    >>> bool(completions["offset"].is_monotonic_increasing)
    True
    """
    completions: list[Completion] = []
    while limit is None or len(completions) < limit:
        size = LIST_SIZE if limit is None else min(LIST_SIZE, limit - len(completions))
        found = net.ledger.completions(parties, after=after, limit=size)
        completions += [content for content in found if isinstance(content, Completion)]
        if len(found) < size or (reached := max(content.offset for content in found)) <= after:
            break
        after = reached
    return COMPLETIONS.to_pandas(completion_table(completions, net.ledger.participant_id()))


def load_parties(net: Network) -> pd.DataFrame:
    """Load the parties that a participant knows, hosted here or elsewhere.

    Parameters
    ----------
    net : Network

    Returns
    -------
    DataFrame
        One row per party, sorted by party.

    Notes
    -----
    Source: docs/facts.md#ledger-operations, GET /v2/parties.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> parties = lf.load_parties(lf.connect("sandbox", events=400, days=1))
    >>> bool(parties["is_local"].any())
    True
    """
    return PARTIES.to_pandas(party_table(list(net.ledger.parties()), net.ledger.participant_id()))


def load_packages(net: Network) -> pd.DataFrame:
    """Load the packages that a participant has, and on which synchronizers it has vetted them.

    Parameters
    ----------
    net : Network

    Returns
    -------
    DataFrame
        One row per package and synchronizer it is vetted on, or one without a synchronizer; sorted by package.

    Notes
    -----
    Source: docs/facts.md#ledger-operations, GET /v2/packages and POST /v2/package-vetting/list.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> packages = lf.load_packages(lf.connect("sandbox", events=400, days=1))
    >>> list(packages.columns)[:3]
    ['participant_id', 'package_id', 'synchronizer_id']
    """
    vettings = list(net.ledger.vetted_packages())
    return PACKAGES.to_pandas(package_table(net.ledger.packages(), vettings, net.ledger.participant_id()))


def load_synchronizers(net: Network, *, party: str | None = None) -> pd.DataFrame:
    """Load the synchronizers that a participant is connected to.

    Parameters
    ----------
    net : Network
    party : str, optional
        Whose permission there is wanted.

    Returns
    -------
    DataFrame
        One row per synchronizer, sorted by its id.

    Notes
    -----
    Source: docs/facts.md#ledger-operations, GET /v2/state/connected-synchronizers.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> synchronizers = lf.load_synchronizers(lf.connect("sandbox", events=400, days=1))
    >>> len(synchronizers) > 0
    True
    """
    found = net.ledger.connected_synchronizers(party=party)
    return SYNCHRONIZERS.to_pandas(synchronizer_table(found, net.ledger.participant_id()))
