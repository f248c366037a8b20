"""The current state of a participant, which is never stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import msgspec
import pandas as pd
import pyarrow as pa

from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.ledger.wire import OffsetCheckpoint
from ledgerframes.datasets.state.build import (
    completion_table,
    package_table,
    party_table,
    synchronizer_table,
)
from ledgerframes.datasets.state.schema import COMPLETIONS, PACKAGES, PARTIES, SYNCHRONIZERS
from ledgerframes.datasets.state.wire import Completion, PartyDetails, Synchronizer, VettedPackages
from ledgerframes.errors import DecodeError
from ledgerframes.loaders.active_contracts import ContractLoad
from ledgerframes.loaders.arguments import loader, to_ids
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.loaders.ledger_filter import MAX_OFFSET
from ledgerframes.loaders.participant_lists import ParticipantLists
from ledgerframes.loaders.state_load import StateLoad
from ledgerframes.loaders.update_lists import long_idle_ms
from ledgerframes.network import Network
from ledgerframes.values.checks import require_integer

__all__ = ["load_active_contracts", "load_completions", "load_packages", "load_parties", "load_synchronizers"]

COMPLETION_LIST = "POST /v2/commands/command-completions"
LIST_SIZE = 100  # below the list limit of 200 (docs/facts.md#ledger-operations)


@loader(ContractLoad)
def load_active_contracts(
    net: Network,
    *,
    active_at_offset: int | None = None,
    parties: Sequence[str] | None = None,
    templates: Sequence[str] = (),
    interfaces: Sequence[str] = (),
    include_blobs: bool = False,
    include_incomplete: bool = True,
    on_bad_item: OnBadItem = "raise",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the contracts that are active at an offset of a participant's ledger.

    Parameters
    ----------
    net : Network
    active_at_offset : int, optional
        Offset of the state (default: the ledger's end).
    parties : sequence of str, optional
        Parties whose contracts to load (default: any party of the participant).
    templates, interfaces : sequence of str
        Only contracts of these, such as ``package-name:Module:Entity``.
    include_blobs : bool
        Include created-event blobs, several kB per row.
    include_incomplete : bool
        Include contracts in transit, for which the participant has seen only one half of a reassignment.
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per contract that is active, or in transit between synchronizers, sorted by offset, in the columns of table
        ``ledger_active_contracts``.

    Raises
    ------
    DecodeError
        If a contract cannot be decoded, unless it is quarantined.
    BadRequestError
        Before ledger API 3.5, if there are more contracts than a list may have.

    Warns
    -----
    UserWarning
        If the participant refuses to include contracts in transit, which may then be missing
        (docs/facts.md#incomplete-reassignments).

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
    contracts = ContractLoad(
        net,
        active_at_offset=active_at_offset,
        parties=parties,
        templates=templates,
        interfaces=interfaces,
        include_blobs=include_blobs,
        include_incomplete=include_incomplete,
        on_bad_item=on_bad_item,
    )
    return contracts.load(progress)


def _completions(
    net: Network, parties: Sequence[str] | None, after: int, limit: int | None, on_bad_item: OnBadItem
) -> StateLoad[Completion]:
    limit = None if limit is None else require_integer("limit", limit, 0)
    after = require_integer("after", after, 0)
    submitters = to_ids([parties] if isinstance(parties, str) else parties, "parties") or []
    fetch = partial(_iter_completions, parties=submitters, after=after, limit=limit)
    return StateLoad(net, COMPLETIONS, fetch, completion_table, on_bad_item, {"after": after})


@loader(_completions)
def load_completions(
    net: Network,
    *,
    parties: Sequence[str] | None = None,
    after: int = 0,
    limit: int | None = None,
    on_bad_item: OnBadItem = "raise",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the completions of commands, successful and failed.

    Parameters
    ----------
    net : Network
    parties : sequence of str, optional
        Submitters (default: all parties that the token may read as; before ledger API 3.5 those that it may act as).
    after : int
        Only completions after this offset.
    limit : int, optional
        Maximum number of completions (default: all).
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per completed command, sorted by offset.

    Notes
    -----
    Source: docs/facts.md#ledger-operations, POST /v2/commands/command-completions. Without a limit, the last request waits up
    to 20 seconds for another completion, because a participant that only pauses ends a list, too.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> completions = lf.load_completions(lf.connect("sandbox", events=400, days=1), limit=50)
    >>> bool(completions["offset"].is_monotonic_increasing)
    True
    """
    return _completions(net, parties, after, limit, on_bad_item).load(progress)


def _iter_completions(ledger: ParticipantLists, parties: Sequence[str], after: int, limit: int | None) -> Iterator[Completion]:
    count = 0
    while limit is None or count < limit:
        size = LIST_SIZE if limit is None else min(LIST_SIZE, limit - count)
        # A pause of the participant ends a list (docs/facts.md#ledger-operations), so a longer one must confirm the end.
        contents = ledger.completions(parties, after=after, limit=size) or ledger.completions(
            parties, after=after, limit=size, idle_ms=long_idle_ms(ledger)
        )
        _require_progress(contents, after)
        completions = [content for content in contents if isinstance(content, Completion)]
        for checkpoint in contents:
            if isinstance(checkpoint, OffsetCheckpoint):
                ledger.note_around(COMPLETION_LIST, unknown_members(checkpoint))
        yield from completions
        count += len(completions)
        # A list may be short because the participant was slow (docs/facts.md#ledger-operations), so only an empty one is the end.
        if not contents or contents[-1].offset == after:
            return
        after = contents[-1].offset


def _require_progress(contents: Sequence[Completion | OffsetCheckpoint], after: int) -> None:
    """Refuse a list whose offsets are not after an offset, not in order, or too large."""
    reached = after
    for content in contents:
        # A checkpoint may have the offset of the completion before it.
        is_before = content.offset < reached or (isinstance(content, Completion) and content.offset == reached)
        if is_before or content.offset > MAX_OFFSET:
            raise DecodeError(
                f"{COMPLETION_LIST} returned offset {content.offset} after offset {reached}. Check the service's version.",
                endpoint=COMPLETION_LIST,
                json_path="$[...].completionResponse",
            )
        reached = content.offset


def _parties(net: Network, on_bad_item: OnBadItem) -> StateLoad[PartyDetails]:
    return StateLoad(net, PARTIES, ParticipantLists.parties, party_table, on_bad_item)


@loader(_parties)
def load_parties(net: Network, *, on_bad_item: OnBadItem = "raise", progress: bool | None = None) -> pd.DataFrame:
    """Load the parties that a participant knows, local and remote.

    Parameters
    ----------
    net : Network
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

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
    return _parties(net, on_bad_item).load(progress)


def _packages(net: Network, on_bad_item: OnBadItem) -> StateLoad[str]:
    vettings: list[VettedPackages] = []

    def fetch(ledger: ParticipantLists) -> list[str]:
        package_ids = ledger.packages()
        vettings.extend(ledger.vetted_packages())
        bad = b" ".join(ledger.quarantined)
        return [package_id for package_id in package_ids if msgspec.json.encode(package_id) not in bad]

    def build(package_ids: list[str], participant_id: str) -> pa.Table:
        return package_table(package_ids, vettings, participant_id)

    return StateLoad(net, PACKAGES, fetch, build, on_bad_item)


@loader(_packages)
def load_packages(net: Network, *, on_bad_item: OnBadItem = "raise", progress: bool | None = None) -> pd.DataFrame:
    """Load the packages of a participant, and the synchronizers on which they are vetted.

    If a vetting cannot be decoded, its package would seem not to be vetted. So the package is excluded, too.

    Parameters
    ----------
    net : Network
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per package and synchronizer on which it is vetted, or one row without a synchronizer, sorted by package.

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
    return _packages(net, on_bad_item).load(progress)


def _synchronizers(net: Network, party: str | None, on_bad_item: OnBadItem) -> StateLoad[Synchronizer]:
    fetch = partial(ParticipantLists.connected_synchronizers, party=party)
    return StateLoad(net, SYNCHRONIZERS, fetch, synchronizer_table, on_bad_item)


@loader(_synchronizers)
def load_synchronizers(
    net: Network,
    *,
    party: str | None = None,
    on_bad_item: OnBadItem = "raise",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the synchronizers that a participant is connected to.

    Parameters
    ----------
    net : Network
    party : str, optional
        Also return this party's permission.
    on_bad_item : {"raise", "quarantine"}
        What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the
        path, and returns the other items (docs/facts.md#unknown-kinds).
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

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
    return _synchronizers(net, party, on_bad_item).load(progress)
