"""Coin of parties at a snapshot, as summed by the network."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pandas as pd

from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.bulk.wire import HoldingsSummary
from ledgerframes.datasets.holdings.build import SnapshotPosition, holdings_summary_table
from ledgerframes.datasets.holdings.schema import HOLDINGS_SUMMARY
from ledgerframes.errors import CoverageError, DecodeError
from ledgerframes.loaders.arguments import loader, to_ids, to_list
from ledgerframes.loaders.contracts import Snapshot, find_snapshot
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.sync import plan_frame
from ledgerframes.network import Network
from ledgerframes.values.windows import Time, instant

__all__ = ["load_holdings_summary"]

SUMMARY_ROUTE = "POST /v1/holdings/summary"
MAX_OWNERS = 1_000  # in the body of one request


class HoldingsLoad:
    """The sums of parties, each at the newest snapshot at or before a time."""

    def __init__(self, net: Network, owners: Sequence[str] | None, at: Time | Sequence[Time] | None) -> None:
        self.net, self.owners = net, to_ids(owners, "owners")
        times = to_list(net.now() if at is None else at)
        self.times = [instant(time, "at") for time in (times if isinstance(times, list) else [times])]

    def plan(self) -> pd.DataFrame:
        """Return the times whose sums would be fetched."""
        return plan_frame(HOLDINGS_SUMMARY.name, [{"until": time} for time in self.times])

    def load(self, progress: bool | None) -> pd.DataFrame:
        """Fetch the sums, and return their table."""
        net = self.net
        if net.offline:
            raise CoverageError(
                f"{net.name} is offline, and sums of coin are not in the store. "
                "Load them online with lf.load_holdings_summary(net).",
                missing=(HOLDINGS_SUMMARY.name,),
            )
        sums: dict[SnapshotPosition, dict[str, HoldingsSummary | None]] = {}
        with Progress(f"sums of coin ({net.name})", len(self.times), "snapshots", progress) as bar:
            with net.waits.session(bar.show_wait, threading.Event()):
                parties = [each.party for each in net.ledger.parties() if each.is_local] if self.owners is None else self.owners
                for time in self.times:
                    snapshot = find_snapshot(net, time)
                    position = snapshot.migration_id, snapshot.time
                    sums[position] = sums.get(position) or _sums(net, snapshot, list(dict.fromkeys(parties)))
                    bar.advance(1)
            with decode_boundary(SUMMARY_ROUTE):
                rows = holdings_summary_table(sums)
            bar.count(rows=len(rows))
        return HOLDINGS_SUMMARY.to_pandas(rows)


@loader(HoldingsLoad)
def load_holdings_summary(
    net: Network,
    *,
    owners: Sequence[str] | None = None,
    at: Time | Sequence[Time] | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the coin of parties at snapshots, as summed by the network.

    :func:`ledgerframes.economy.balance` compares these sums with the history. The sums are not stored, because a service
    keeps its snapshots.

    Parameters
    ----------
    net : Network
    owners : sequence of str, optional
        Parties that own coin (default: the parties that the participant of the ledger API hosts).
    at : str, date or datetime, or a sequence of them, optional
        Use the newest snapshot at or before each of these times (default: now). Services take one every three hours.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per party and snapshot, sorted by (snapshot_time, party). Holding fees are not subtracted from amounts. The
        amounts of a party without coin are missing.

    Raises
    ------
    CoverageError
        If there is no such snapshot, or the network is offline.
    UsageError
        If `owners` is not a list of one or more parties.

    Notes
    -----
    Source: docs/facts.md#holdings-at-snapshot, POST /v1/holdings/summary.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> sums = lf.load_holdings_summary(lf.connect("sandbox", events=400, days=1), at=["2026-11-08T12:00Z", "2026-11-09"])
    >>> sums["snapshot_time"].nunique()
    2
    """
    return HoldingsLoad(net, owners, at).load(progress)


def _sums(net: Network, snapshot: Snapshot, owners: list[str]) -> dict[str, HoldingsSummary | None]:
    """Return the sums of each owner at a snapshot, None without coin."""
    sums: dict[str, HoldingsSummary | None] = dict.fromkeys(owners)
    for first in range(0, len(owners), MAX_OWNERS):
        part = owners[first : first + MAX_OWNERS]
        for summary in net.history.holdings_summary(snapshot.migration_id, snapshot.time, owners=part):
            if summary.party_id not in part or sums[summary.party_id] is not None:
                raise DecodeError(
                    f"{net.name} returned a sum of {summary.party_id}, which was not requested, or twice.",
                    endpoint=SUMMARY_ROUTE,
                    json_path="$.summaries[...].party_id",
                )
            sums[summary.party_id] = summary
    return sums
