"""Loads of rounds, rights, names, rules and hosts, each of which stores an observation."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import pandas as pd
import pyarrow as pa

from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.reference import network_build as build
from ledgerframes.datasets.registry import FEATURED_APPS, MINING_ROUNDS, NAME_ENTRIES, NETWORK_RULES, SCANS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.loaders.arguments import loader
from ledgerframes.loaders.reference import ObservationLoad
from ledgerframes.network import Network

__all__ = ["load_featured_apps", "load_mining_rounds", "load_name_entries", "load_network_rules", "load_scans"]

ROUNDS_ROUTE = "POST /v0/open-and-issuing-mining-rounds"
MAX_ENTRIES = 1000  # of a list of names, which has no further pages


def _mining_rounds(net: Network, refresh: bool) -> ObservationLoad:
    operations = ("open_and_issuing_rounds", "closed_rounds")
    return ObservationLoad(net, MINING_ROUNDS, "mining rounds", _observe_rounds, refresh, operations)


@loader(_mining_rounds)
def load_mining_rounds(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the open, issuing and closed mining rounds, and store the current ones.

    For past rounds and their prices, use :func:`ledgerframes.state.rounds`.

    Parameters
    ----------
    net : Network
    refresh : bool
        Store an observation of mining rounds, unless the network is offline.
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

    Notes
    -----
    Source: docs/facts.md#reference-operations, POST /v0/open-and-issuing-mining-rounds and GET /v0/closed-rounds.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> rounds = lf.load_mining_rounds(lf.connect("sandbox", events=400, days=1))
    >>> (rounds["round_state"] == "open").sum().item()
    3
    """
    return _mining_rounds(net, refresh).load(progress)


def _featured_apps(net: Network, refresh: bool) -> ObservationLoad:
    return ObservationLoad(net, FEATURED_APPS, "featured apps", _observe_rights, refresh, ("featured_apps",))


@loader(_featured_apps)
def load_featured_apps(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the rights of featured apps, and store the current ones.

    Parameters
    ----------
    net : Network
    refresh : bool
        Store an observation of featured apps, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per right in an observation, sorted by (observed_at, provider).

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.

    Notes
    -----
    Source: docs/facts.md#reference-operations, GET /v0/featured-apps.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> rights = lf.load_featured_apps(lf.connect("sandbox", events=400, days=1))
    >>> rights["provider"].is_unique
    True
    """
    return _featured_apps(net, refresh).load(progress)


def _name_entries(net: Network, name_prefix: str, refresh: bool) -> ObservationLoad:
    if not isinstance(name_prefix, str):
        raise UsageError(f"name_prefix= must be text, got {name_prefix!r}.")
    observe = partial(_observe_names, name_prefix)
    return ObservationLoad(net, NAME_ENTRIES, "name entries", observe, refresh, ("name_entries",))


@loader(_name_entries)
def load_name_entries(
    net: Network,
    *,
    name_prefix: str = "",
    refresh: bool = True,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the names that have not expired, and store the current ones.

    Parameters
    ----------
    net : Network
    name_prefix : str
        Observe only names that start with this prefix (default: all).
    refresh : bool
        Store an observation of name entries, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per name in an observation, sorted by (observed_at, name).

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store, or there are more names than the service returns at once.

    Notes
    -----
    Source: docs/facts.md#reference-operations, GET /v0/ans-entries.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> names = lf.load_name_entries(lf.connect("sandbox", events=400, days=1))
    >>> bool(names["name"].is_unique)
    True
    """
    return _name_entries(net, name_prefix, refresh).load(progress)


def _network_rules(net: Network, refresh: bool) -> ObservationLoad:
    return ObservationLoad(net, NETWORK_RULES, "network rules", _observe_rules, refresh, ("network_rules",))


@loader(_network_rules)
def load_network_rules(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the rules and the hosts of the network, and store the current ones.

    Parameters
    ----------
    net : Network
    refresh : bool
        Store an observation of network rules, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per contract in an observation, sorted by (observed_at, kind).

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.

    Notes
    -----
    Source: docs/facts.md#reference-operations, GET /v0/dso.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> rules = lf.load_network_rules(lf.connect("sandbox", events=400, days=1))
    >>> rules["kind"].value_counts()["coin_rules"].item()
    1
    """
    return _network_rules(net, refresh).load(progress)


def _scans(net: Network, refresh: bool) -> ObservationLoad:
    return ObservationLoad(net, SCANS, "history APIs", _observe_scans, refresh, ("scans",))


@loader(_scans)
def load_scans(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the addresses of all history APIs, and store the current ones.

    Parameters
    ----------
    net : Network
    refresh : bool
        Store an observation of history APIs, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per address in an observation, sorted by (observed_at, synchronizer_id, sv_name).

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.

    Notes
    -----
    Source: docs/facts.md#reference-operations, GET /v0/scans.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> scans = lf.load_scans(lf.connect("sandbox", events=400, days=1))
    >>> bool(scans["public_url"].str.startswith("https://").all())
    True
    """
    return _scans(net, refresh).load(progress)


# -- observations -------------------------------------------------------------------------------------------------------


def _observe_rounds(net: Network, now: datetime) -> pa.Table:
    rounds = net.history.open_and_issuing_rounds()
    net.history.note_around(ROUNDS_ROUTE, unknown_members(rounds))
    return build.mining_round_table(rounds, net.history.closed_rounds(), now)


def _observe_rights(net: Network, now: datetime) -> pa.Table:
    return build.featured_app_table(net.history.featured_apps(), now)


def _observe_names(name_prefix: str, net: Network, now: datetime) -> pa.Table:
    entries = net.history.name_entries(name_prefix, page_size=MAX_ENTRIES)
    if len(entries) >= MAX_ENTRIES:
        what = f"names that start with {name_prefix!r}" if name_prefix else "names"
        raise CoverageError(
            f"{net.name} returned {len(entries):,} {what}, and may have more. Pass a longer name_prefix=.",
            missing=(f"names after the first {MAX_ENTRIES:,}",),
        )
    return build.name_entry_table(entries, name_prefix, now)


def _observe_rules(net: Network, now: datetime) -> pa.Table:
    return build.network_rules_table(net.history.network_rules(), now)


def _observe_scans(net: Network, now: datetime) -> pa.Table:
    return build.scan_table(net.history.scans(), now)
