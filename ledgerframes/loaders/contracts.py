"""Contracts of the whole network at a snapshot, filtered by the service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import pandas as pd
import pyarrow as pa

from ledgerframes.api.history_snapshots import parse_record_time
from ledgerframes.api.paging import HostChangedError
from ledgerframes.api.status_errors import fetch_if_known
from ledgerframes.datasets.bulk.build import ActiveContractTableBuilder
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.datasets.bulk.wire import ActiveContract
from ledgerframes.datasets.registry import CONTRACTS
from ledgerframes.errors import CoverageError, DecodeError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.gc_pause import pause_gc
from ledgerframes.loaders.additions import Additions
from ledgerframes.loaders.arguments import loader, to_ids
from ledgerframes.loaders.event_pages import discover_migrations
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.sync import plan_frame
from ledgerframes.network import Network
from ledgerframes.values.extents import SnapshotTime, from_microseconds, microseconds
from ledgerframes.values.windows import MICROSECOND, Time, instant, iso

__all__ = ["load_contracts"]

# The contracts from which the state of the network follows (docs/facts.md#state-of-the-network).
STATE_TEMPLATES = (
    "splice-dso-governance:Splice.DsoRules:DsoRules",
    "splice-{coin}:Splice.Round:OpenMiningRound",
    "splice-{coin}:Splice.{Coin}:FeaturedAppRight",
    "splice-{coin}:Splice.{Coin}Rules:{Coin}Rules",
)
MAX_STARTS = 3  # of a listing that another host continued

Pages = Callable[[], Iterator[list[ActiveContract]]]


@dataclass(frozen=True)
class Snapshot:
    """An ACS snapshot of the network."""

    migration_id: int
    time: datetime


class SnapshotLoad:
    """The contracts of the newest snapshot at or before a time, filtered by the service."""

    def __init__(
        self,
        net: Network,
        *,
        at: Time | None,
        templates: Sequence[str] | None,
        parties: Sequence[str] | None,
        owners: Sequence[str] | None,
    ) -> None:
        parties, owners = to_ids(parties, "parties"), to_ids(owners, "owners")
        if owners and (templates is not None or parties):
            raise UsageError(f"owners= cannot be combined with {'parties' if parties else 'templates'}=.")
        self.net, self.templates, self.parties, self.owners = net, templates, parties, owners
        self.time = net.now() if at is None else instant(at, "at")
        self.is_state = templates is None and not parties and not owners  # these are stored

    def plan(self) -> pd.DataFrame:
        """Return the time whose contracts would be looked up."""
        return plan_frame(CONTRACTS.name, [{"until": self.time}])

    def load(self, progress: bool | None) -> pd.DataFrame:
        """Return the contracts, from the store if it has them."""
        net = self.net
        if net.offline:
            return _read_newest(net, self.time, self.is_state)
        snapshot = find_snapshot(net, self.time)
        extent = SnapshotTime.at(snapshot.time)
        if self.is_state and extent in _stored_times(net):
            return _read(net, extent)
        rows = _fetch(net, _pages(net, snapshot, self.templates, self.parties, self.owners), snapshot, progress)
        if not self.is_state or not len(rows):
            return ACTIVE_CONTRACTS.to_pandas(rows)
        net.store.create()
        source = net.history.transport.last_host
        net.store.commit(CONTRACTS, extent, {ACTIVE_CONTRACTS.name: rows}, final=True, source=source)
        return _read(net, extent)


@loader(SnapshotLoad)
def load_contracts(
    net: Network,
    *,
    at: Time | None = None,
    templates: Sequence[str] | None = None,
    parties: Sequence[str] | None = None,
    owners: Sequence[str] | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load contracts of the whole network that are active at a snapshot.

    The service filters the contracts, so this takes seconds, and needs no history. By default, these are the contracts from
    which the state of the network follows: pass the result to the functions of ``lf.state``, or as their ``base=``. They are
    stored, and not fetched again.

    Parameters
    ----------
    net : Network
    at : str, date or datetime, optional
        Load the newest snapshot at or before this time (default: now). Services take one every three hours.
    templates : sequence of str, optional
        Only contracts of these templates, as ``package-name:Module:Entity`` with or without a leading ``#``, or all contracts
        if it is empty (default: rules, open rounds and featured rights).
    parties : sequence of str, optional
        Only contracts with one of these parties as a signatory or an observer (default: those of every party).
    owners : sequence of str, optional
        Load the coins of these parties instead, including locked coins.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per contract, sorted by contract id, in the columns of table ``active_contracts``.

    Raises
    ------
    CoverageError
        If there is no such snapshot, or the network is offline and the store has none.
    UsageError
        If `owners` is combined with `templates` or `parties`, one of these lists of parties is empty, or a template has another
        form.

    Notes
    -----
    Source: docs/facts.md#contracts-at-snapshot, POST /v2/state/acs and POST /v2/holdings/state; from an older service those of
    ``/v1``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> contracts = lf.load_contracts(lf.connect("sandbox", events=400, days=1))
    >>> len(lf.state.rounds(contracts))
    3
    """
    contracts = SnapshotLoad(net, at=at, templates=templates, parties=parties, owners=owners)
    return contracts.load(progress)


def find_snapshot(net: Network, time: datetime) -> Snapshot:
    """Look up the newest snapshot at or before a time.

    Raises
    ------
    CoverageError
        If there is none.
    """
    migrations = discover_migrations(net.history, net.store.migrations())
    for migration in reversed(migrations):
        if migration.first > microseconds(time):
            continue
        before = min(time, net.now()) + MICROSECOND
        text = fetch_if_known(partial(net.history.snapshot_time, before, migration.migration_id))
        if text is None:
            continue
        snapshot = Snapshot(migration.migration_id, parse_record_time(text))
        if snapshot.time > time:
            raise DecodeError(f"{net.name} returned a snapshot of {iso(snapshot.time)} for one at {iso(time)} or before.")
        return snapshot
    raise CoverageError(
        f"{net.name} has no snapshot of its contracts at {iso(time)} or before. Choose a later at=.",
        missing=(f"snapshot at {iso(time)}",),
    )


# -- fetching -----------------------------------------------------------------------------------------------------------


def _pages(
    net: Network,
    snapshot: Snapshot,
    templates: Sequence[str] | None,
    parties: Sequence[str] | None,
    owners: Sequence[str] | None,
) -> Pages:
    """Return the function that lists the contracts from the first page."""
    history, position = net.history, (snapshot.migration_id, snapshot.time)
    if owners:
        return lambda: history.holding_pages(*position, owners=owners)
    names = state_templates(net) if templates is None else templates
    return lambda: history.contract_pages(*position, templates=names, parties=parties or ())


def state_templates(net: Network) -> list[str]:
    """Return the templates of the network's state, in its own words."""
    coin = net.settings.vocabulary.coin
    return [template.format(coin=coin, Coin=coin.capitalize()) for template in STATE_TEMPLATES]


def _fetch(net: Network, pages: Pages, snapshot: Snapshot, progress: bool | None) -> pa.Table:
    """Return the table of all pages, which must come from one host.

    Each host has its own page tokens.
    """
    additions = Additions()
    with pause_gc(), Progress(f"contracts ({net.name})", None, "contracts", progress) as bar:
        with net.waits.session(bar.show_wait, threading.Event()):
            for start in range(MAX_STARTS):
                builder = ActiveContractTableBuilder(snapshot.time)
                try:
                    for page in pages():
                        builder.add(page)
                        bar.advance(len(page))
                    break
                except HostChangedError:
                    if start == MAX_STARTS - 1:
                        raise
        rows = builder.tables()[ACTIVE_CONTRACTS.name]
        bar.count(rows=len(rows))
    additions.note({ACTIVE_CONTRACTS.name: rows})
    additions.log(net.name)
    return rows


# -- the store ----------------------------------------------------------------------------------------------------------


def _stored_times(net: Network) -> list[SnapshotTime]:
    return [segment.extent for segment in net.store.snapshot(CONTRACTS).segments if isinstance(segment.extent, SnapshotTime)]


def _read_newest(net: Network, time: datetime, is_state: bool) -> pd.DataFrame:
    """Return the newest snapshot in the store at or before a time."""
    times = [extent for extent in _stored_times(net) if extent.start <= microseconds(time)] if is_state else []
    if not times:
        what = "of the network's state" if is_state else "of chosen contracts, which are not stored"
        raise CoverageError(
            f"{net.name} is offline, and the store has no snapshot {what} at {iso(time)} or before. "
            "Load it online with lf.load_contracts(net, at=…).",
            missing=(f"snapshot at {iso(time)}",),
        )
    return _read(net, max(times))


def _read(net: Network, extent: SnapshotTime) -> pd.DataFrame:
    rows = Frames(net.store.snapshot(CONTRACTS), [ACTIVE_CONTRACTS.name]).read(ACTIVE_CONTRACTS.name)
    snapshot = rows[rows["snapshot_time"] == from_microseconds(extent.start)].reset_index(drop=True)
    if snapshot.empty:
        raise CoverageError(
            f"Another process dropped the snapshot of {net.name} at {iso(from_microseconds(extent.start))} at once. Load again.",
            missing=(str(extent),),
        )
    return snapshot
