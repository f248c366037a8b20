"""Load of the rewards of rounds as a node computes them, which stores an observation."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from datetime import datetime
from functools import partial

import pandas as pd
import pyarrow as pa

from ledgerframes.api.history_reference import REWARDS
from ledgerframes.api.status_errors import fetch_if_known
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.reference import network_build as build
from ledgerframes.datasets.reference.wire import RewardAccounting, RewardBatch
from ledgerframes.datasets.registry import REWARD_ACCOUNTING
from ledgerframes.errors import DecodeError, UsageError
from ledgerframes.loaders.arguments import loader
from ledgerframes.loaders.reference import ObservationLoad
from ledgerframes.network import Network

__all__ = ["load_reward_accounting"]

BATCH_ROUTE = f"GET {REWARDS}/{{round_number}}/batches/{{batch_hash}}"
MAX_BATCHES = 100_000  # of a round, in case responses lead to ever new hashes


def _reward_accounting(net: Network, rounds: Iterable[int] | None, refresh: bool) -> ObservationLoad:
    observe = partial(_observe, None if rounds is None else _numbers(rounds))
    operations = ("reward_totals", "reward_root", "reward_batch")
    return ObservationLoad(net, REWARD_ACCOUNTING, "reward accounting", observe, refresh, operations)


@loader(_reward_accounting)
def load_reward_accounting(
    net: Network,
    *,
    rounds: Iterable[int] | None = None,
    refresh: bool = True,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the rewards of rounds as a node computes them, and store the current ones.

    Pass the result as ``service=`` to :func:`ledgerframes.reconcile.rewards`. These operations are internal and may
    disappear. Nothing else uses them.

    Parameters
    ----------
    net : Network
    rounds : iterable of int, optional
        Mining rounds (default: those that are issuing, or closed and still in process).
    refresh : bool
        Store an observation of reward accounting, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per round in an observation, sorted by (observed_at, round_number).

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.
    NotFoundError
        If the service does not have these operations.

    Notes
    -----
    Source: docs/facts.md#reward-accounting.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> rounds = lf.activity.rewards(lf.load_events(net, since="0001-01-01"))["round_number"]
    >>> accounting = lf.load_reward_accounting(net, rounds=rounds.tail(5))
    >>> len(accounting), bool((accounting["root_status"] == "Ok").any())
    (5, True)
    """
    return _reward_accounting(net, rounds, refresh).load(progress)


def _numbers(rounds: Iterable[int]) -> list[int]:
    """Return the distinct round numbers in order, from integers of any type."""
    try:
        return sorted({operator.index(number) for number in rounds})
    except TypeError:
        raise UsageError(f"rounds= must be a list of mining rounds, got {rounds!r}.") from None


def _observe(rounds: list[int] | None, net: Network, now: datetime) -> pa.Table:
    numbers = _ended_rounds(net, now) if rounds is None else rounds
    return build.reward_accounting_table([_accounting(net, number) for number in numbers], now)


def _ended_rounds(net: Network, now: datetime) -> list[int]:
    """Return the rounds that are issuing or closed, whose activity is over."""
    rounds = build.mining_round_table(net.history.open_and_issuing_rounds(), net.history.closed_rounds(), now).to_pylist()
    ended = {row["round_number"] for row in rounds if row["round_state"] != "open"}
    return sorted(number for number in ended if number is not None)


def _accounting(net: Network, number: int) -> RewardAccounting:
    totals, root = net.history.reward_totals(number), net.history.reward_root(number)
    return RewardAccounting(number, totals, root, _batches(net, number, root.root_hash) if root.root_hash else {})


def _batches(net: Network, number: int, root: str) -> dict[str, RewardBatch | None]:
    """Return the root batch and all below it, each hash once."""
    batches: dict[str, RewardBatch | None] = {}
    waiting = [root]
    while waiting:
        digest = waiting.pop()
        if digest in batches:
            continue
        if len(batches) == MAX_BATCHES:
            reason = f"Round {number} has more than {MAX_BATCHES:,} batches of rewards. Check that the URL is the API's own."
            raise DecodeError(reason, endpoint=BATCH_ROUTE)
        batches[digest] = batch = _batch(net, number, digest)
        waiting += (batch.child_hashes or []) if batch else []
    return batches


def _batch(net: Network, number: int, digest: str) -> RewardBatch | None:
    batch = fetch_if_known(lambda: net.history.reward_batch(number, digest))
    if batch:
        net.history.note_around(BATCH_ROUTE, unknown_members(batch))
    return batch
