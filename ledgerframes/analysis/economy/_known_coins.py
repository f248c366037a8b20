"""Coins of parties in the frames, and the time in which the frames know all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis.arguments import Snapshot, require_before, snapshot_rows
from ledgerframes.analysis.contracts import HISTORY_START
from ledgerframes.analysis.coverage import incomplete_windows
from ledgerframes.analysis.economy.network import Network, read_network, require_all_updates
from ledgerframes.analysis.economy.periods import period_of
from ledgerframes.datasets.schema import TEXT, TIME
from ledgerframes.datasets.templates import DSO_RULES
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.balances import CHANGES, COIN_AT_SUMS
from ledgerframes.engine.coin_contracts import COINS_OF_SNAPSHOT
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window, iso


@dataclass(frozen=True)
class KnownCoins:
    """Coins of parties, and the time in which the frames know them.

    Attributes
    ----------
    network : Network
    parties : list of str, optional
        The parties, or None for all.
    since, until : datetime
        The time in which all coins are known.
    """

    network: Network
    parties: list[str] | None
    since: datetime
    until: datetime

    def query(self, select: str, relation: Relation, **more: pa.Table) -> Query:
        """Return a query about these coins."""
        known = pa.table({"since": pa.array([self.since], TIME)})
        parties = pa.table({"party": pa.array(self.parties or [], TEXT)})
        of_network = {name: self.network.parameters[name] for name in ("network", "node_names", "older")}
        return Query(select, (relation,), {**of_network, "known": known, "chosen": parties, **more})

    def changes_query(self, every: str | None) -> Query:
        """Return the query of the changes of each party and period."""
        select = f"""
SELECT
    owner,
    record_time IS NULL AS is_opening,
    {period_of(every)} AS period,
    min(record_time) AS record_time,
    sum(amount) FILTER (NOT is_locked) AS unlocked,
    sum(amount) FILTER (is_locked) AS locked,
    sum(fee_per_round) AS fee_per_round,
    sum(step) AS coin_count,
    coalesce(sum(step) FILTER (amount IS NULL), 0) AS unknown,
    coalesce(sum(step) FILTER (fee_per_round IS NULL), 0) AS unknown_fees
FROM changes
GROUP BY ALL"""
        return self.query(select, CHANGES)

    def sums_query(self, sums: pd.DataFrame) -> Query:
        """Return the query of the coin according to the history at the times of sums."""
        positions = sums[["party", "snapshot_time"]].drop_duplicates()
        columns = {"party": pa.array(positions["party"], TEXT), "snapshot_time": pa.array(positions["snapshot_time"], TIME)}
        return self.query("FROM coin_at_sums", COIN_AT_SUMS, sums=pa.table(columns))


def _chosen_parties(parties: str | Sequence[str] | None) -> list[str] | None:
    if parties is None:
        return None
    names = [parties] if isinstance(parties, str) or not isinstance(parties, Iterable) else list(parties)
    if not names or not all(isinstance(each, str) and each for each in names):
        raise UsageError(f"parties= must be a party or a list of parties, got {parties!r}.")
    return list(dict.fromkeys(names))


def known_coins(frames: Frames, name: str, parties: str | Sequence[str] | None, base: Snapshot | None) -> KnownCoins:
    """Return the coins that frames know, after checking what the frames cover."""
    require_all_updates(frames, name)
    owners = _chosen_parties(parties)
    assert frames.window is not None
    since = HISTORY_START if base is None else snapshot_rows(base, "base", [])["snapshot_time"].iloc[0].to_pydatetime()
    end = frames.window.until
    require_before(since, end)
    missing, _ = incomplete_windows(frames, Window(since, end))
    until = min((part.since for part in missing), default=end)
    if until <= since:
        raise CoverageError(
            f"The balance from {iso(since)} on needs history that these frames do not cover: {missing[0]}. "
            "Load frames from then on, or pass a base= of the time at which they start.",
            missing=tuple(map(str, missing)),
        )
    network = read_network(frames, base)
    if not network.dso and frames.count_rows("tree_events"):
        raise CoverageError(
            "Neither the frames nor base= have the network's rules or a round, which name the party that signs its coins. "
            "Load a longer window.",
            missing=("rules of the network",),
        )
    if base is not None:
        _require_coins(network, owners)
    return KnownCoins(network, owners, since, until)


def _require_coins(network: Network, parties: list[str] | None) -> None:
    """Raise a CoverageError if the snapshot of ``base=`` may miss coins of the parties."""
    owners = set(run(network.frames, network.query("SELECT DISTINCT owner FROM coins_of_snapshot", COINS_OF_SNAPSHOT))["owner"])
    if not owners:
        raise CoverageError("base= has no coins. Load it with owners=, or with all contracts.", missing=("coins",))
    if DSO_RULES in network.older["template_name"].to_pylist():
        return
    if parties is None:
        raise CoverageError("base= has only some contracts. Pass the parties= whose coins they are.", missing=("other coins",))
    if others := [party for party in parties if party not in owners]:
        raise CoverageError(
            f"base= has only some contracts, and no coin of {others[0]}. Load it with owners=, or if the party had no coin then, "
            "with all contracts.",
            missing=tuple(others),
        )
