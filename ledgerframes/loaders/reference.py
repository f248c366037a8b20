"""Reference data. Each load stores an observation of the latest state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa

from ledgerframes.datasets.boundary import name_endpoint
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.reference.build import name_rules_table, price_vote_table
from ledgerframes.datasets.reference.wire import Contract
from ledgerframes.datasets.registry import NAME_RULES, PRICE_VOTES, Dataset
from ledgerframes.errors import CoverageError, DecodeError
from ledgerframes.frames import Frames
from ledgerframes.loaders.arguments import loader
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.sync import log_unreadable, plan_frame
from ledgerframes.network import Network
from ledgerframes.values.extents import Observation
from ledgerframes.values.windows import MICROSECOND

__all__ = ["ObservationLoad", "load_name_rules", "load_price_votes"]

OF_OBSERVATION = ("observed_at", "cache_hit")  # columns that are no part of the state
NAME_RULES_ROUTE = "POST /v0/ans-rules"


@dataclass(frozen=True)
class ObservationLoad:
    """All observations of a dataset, and a new one if `refresh` is set and the network online."""

    net: Network
    dataset: Dataset
    noun: str  # what the progress bar calls the dataset
    observe: Callable[[Network, datetime], pa.Table]  # returns the latest state
    refresh: bool
    operations: tuple[str, ...]  # of the history API, from whose responses the rows are made

    @property
    def _is_refreshed(self) -> bool:
        return self.refresh and not self.net.offline

    def plan(self) -> pd.DataFrame:
        """Return the observation that would be stored."""
        return plan_frame(self.dataset.name, [{"since": self.net.now()}] if self._is_refreshed else [])

    def load(self, progress: bool | None) -> pd.DataFrame:
        """Store an observation of now, and return all observations.

        Raises
        ------
        CoverageError
            If the network is offline and there are none. An empty table would say that the network has no such rows.
        """
        if self.refresh and self.net.offline and not self.net.store.segments(self.dataset):
            raise CoverageError(
                f"{self.net.name} is offline, and no observation of {self.noun} is in the store. "
                f"Reconnect without {self.net.offline_setting} to make one.",
                missing=(self.dataset.name,),
            )
        required = [self._store(progress)] if self._is_refreshed else []
        frames = _observations(self.net, self.dataset, required)
        log_unreadable(self.net, frames)
        return frames.read(self.dataset.tables[0].name)

    def _store(self, progress: bool | None) -> Observation:
        """Store the latest state unless it is already stored, and return its observation."""
        net, dataset = self.net, self.dataset
        net.store.create()
        with Progress(f"{self.noun} ({net.name})", 1, "observations", progress) as bar:
            now = net.now()
            time = _next_time(net, dataset, now)
            rows = self._observe(time)
            bar.advance(1)
            bar.count(rows=rows.num_rows)
            if time > now and _has_rows(net, dataset, latest := Observation.at(time - MICROSECOND), rows):
                return latest
            new, source = Observation.at(time), net.history.transport.last_host
            net.store.commit(dataset, new, {dataset.tables[0].name: rows}, final=True, source=source)
            return new

    def _observe(self, time: datetime) -> pa.Table:
        try:
            rows = self.observe(self.net, time)
            self.dataset.tables[0].require_distinct(rows)
        except DecodeError as error:
            name_endpoint(error, " or ".join(self.net.history.operations[name].route for name in self.operations))
            raise
        return rows


def _price_votes(net: Network, refresh: bool) -> ObservationLoad:
    return ObservationLoad(net, PRICE_VOTES, "price votes", _observe_price_votes, refresh, ("price_votes",))


@loader(_price_votes)
def load_price_votes(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the votes on the coin price, and store the current ones.

    Parameters
    ----------
    net : Network
    refresh : bool
        Store an observation of the current votes, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per vote in an observation, sorted by (observed_at, sv). Prices are decimals, in USD per coin. The price is
        missing if a super validator has not voted yet.

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.

    Notes
    -----
    Source: docs/facts.md#name-rules-and-price-votes, GET /v0/coin-price/votes. The service returns only the latest votes, so
    their history is what earlier loads stored.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> votes = lf.load_price_votes(lf.connect("sandbox", events=400, days=1))
    >>> votes["observed_at"].nunique()
    1
    """
    return _price_votes(net, refresh).load(progress)


def _name_rules(net: Network, refresh: bool) -> ObservationLoad:
    return ObservationLoad(net, NAME_RULES, "name rules", _observe_name_rules, refresh, ("name_rules",))


@loader(_name_rules)
def load_name_rules(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the rules of the name service, and store the current ones.

    The HTTP request names the contract of the previous observation. If nothing has changed, the service returns no contract, and
    the observation repeats that contract with ``cache_hit`` true.

    Parameters
    ----------
    net : Network
    refresh : bool
        Store an observation of the current rules, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per rules contract in an observation, with durations in microseconds, sorted by observed_at.

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.

    Notes
    -----
    Source: docs/facts.md#name-rules-and-price-votes, POST /v0/ans-rules.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> rules = lf.load_name_rules(lf.connect("sandbox", events=400, days=1))
    >>> rules["cache_hit"].tolist()
    [False]
    """
    return _name_rules(net, refresh).load(progress)


def _observations(net: Network, dataset: Dataset, required: Sequence[Observation] = ()) -> Frames:
    """Return frames of all observations, which must include those that this load stored."""
    snapshot = net.store.snapshot(dataset)
    if shortfall := {str(each) for each in required} - {str(segment.extent) for segment in snapshot.segments}:
        raise CoverageError(
            f"Another process dropped the observation of {net.name} at {min(shortfall)} at once. Load again after it.",
            missing=tuple(shortfall),
        )
    return Frames(snapshot, [dataset.tables[0].name])


def _next_time(net: Network, dataset: Dataset, now: datetime) -> datetime:
    """Return a time without an observation, from now on.

    The clock of the sandbox stands still, so a second observation of the same moment can have different rows.
    """
    observations = {segment.extent for segment in net.store.segments(dataset)}
    times = (now + MICROSECOND * number for number in count())
    return next(time for time in times if Observation.at(time) not in observations)


def _has_rows(net: Network, dataset: Dataset, observation: Observation, rows: pa.Table) -> bool:
    """Return whether an observation has these rows, apart from how and when it was made."""
    columns = [name for name in rows.column_names if name not in OF_OBSERVATION]
    known = _observations(net, dataset).scan(dataset.tables[0].name).to_table(columns, filter=observation.filter())
    contents = (sorted(map(repr, each.select(columns).to_pylist())) for each in (known, rows))
    return next(contents) == next(contents)


def _observe_price_votes(net: Network, now: datetime) -> pa.Table:
    return price_vote_table(net.history.price_votes(), now, net.settings.vocabulary.coin)


def _observe_name_rules(net: Network, now: datetime) -> pa.Table:
    latest = _observations(net, NAME_RULES).read(NAME_RULES.tables[0].name).tail(1)
    previous = None if latest.empty else latest.iloc[0]
    rules = net.history.name_rules(
        cached_contract_id=None if previous is None else previous["contract_id"],
        cached_domain_id=None if previous is None or pd.isna(previous["synchronizer_id"]) else previous["synchronizer_id"],
    )
    net.history.note_around(NAME_RULES_ROUTE, unknown_members(rules, but=rules.contract or (), path="ans_rules_update"))
    contract = rules.contract or (None if previous is None else _to_contract(previous))
    if contract is None:
        raise DecodeError(
            f"{net.name} returned no contract of the name rules, although the request named none that is cached.",
            endpoint=NAME_RULES_ROUTE,
            json_path="$.ans_rules_update.contract",
        )
    return name_rules_table(contract, rules.domain_id, now, cache_hit=rules.contract is None)


def _to_contract(row: Any) -> Contract:
    """Return the contract of the previous observation, as the service would have returned it."""
    blob, extra = row["created_event_blob"], row["extra"]
    known = {
        "template_id": row["template_id"],
        "contract_id": row["contract_id"],
        "payload": msgspec.Raw(row["payload"].encode()),
        "created_at": row["created_at"].isoformat().replace("+00:00", "Z"),
        "created_event_blob": None if pd.isna(blob) else blob,
    }
    unknown = {} if pd.isna(extra) else msgspec.json.decode(extra, type=dict[str, msgspec.Raw])
    return decode(msgspec.json.encode(known | unknown), Contract, NAME_RULES_ROUTE)
