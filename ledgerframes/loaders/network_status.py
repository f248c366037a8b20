"""Loads of validators, traffic and the synchronizer, each of which stores an observation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import pandas as pd
import pyarrow as pa

from ledgerframes.api.paging import PageChain, expect_same_host, require_same_host
from ledgerframes.api.status_errors import fetch_if_known
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.reference import network_build as build
from ledgerframes.datasets.reference.wire import Contract, ValidatorFaucets
from ledgerframes.datasets.registry import FAUCETS, LICENSES, SYNCHRONIZER, TRAFFIC
from ledgerframes.errors import UsageError
from ledgerframes.loaders.arguments import loader, to_ids
from ledgerframes.loaders.reference import ObservationLoad
from ledgerframes.network import Network

__all__ = ["load_synchronizer_status", "load_traffic_status", "load_validator_faucets", "load_validator_licenses"]

LICENSES_ROUTE = "GET /v0/admin/validator/licenses"
MAX_IDS = 40  # of validators in one URL
PARTICIPANT, MEDIATOR = "PAR::", "MED::"


def _validator_licenses(net: Network, refresh: bool) -> ObservationLoad:
    return ObservationLoad(net, LICENSES, "validator licenses", _observe_licenses, refresh, ("validator_licenses",))


@loader(_validator_licenses)
def load_validator_licenses(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the licenses of all validators, and store the current ones.

    Parameters
    ----------
    net : Network
    refresh : bool
        Store an observation of validator licenses, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per license in an observation, sorted by (observed_at, validator).

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.

    Notes
    -----
    Source: docs/facts.md#reference-operations, GET /v0/admin/validator/licenses.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> licenses = lf.load_validator_licenses(lf.connect("sandbox", events=400, days=1))
    >>> licenses["validator"].is_unique
    True
    """
    return _validator_licenses(net, refresh).load(progress)


def _validator_faucets(net: Network, validators: Sequence[str] | None, refresh: bool) -> ObservationLoad:
    observe = partial(_observe_faucets, to_ids(validators, "validators"))
    return ObservationLoad(net, FAUCETS, "validator faucets", observe, refresh, ("validator_faucets",))


@loader(_validator_faucets)
def load_validator_faucets(
    net: Network,
    *,
    validators: Sequence[str] | None = None,
    refresh: bool = True,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the number of rounds in which validators were active, and store the current ones.

    Parameters
    ----------
    net : Network
    validators : sequence of str, optional
        Parties of validators (default: all with a license).
    refresh : bool
        Store an observation of validator faucets, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per validator in an observation, sorted by (observed_at, validator).

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.

    Notes
    -----
    Source: docs/facts.md#reference-operations, GET /v0/validators/validator-faucets.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> faucets = lf.load_validator_faucets(lf.connect("sandbox", events=400, days=1))
    >>> bool((faucets["num_rounds_collected"] > 0).all())
    True
    """
    return _validator_faucets(net, validators, refresh).load(progress)


def _traffic_status(net: Network, members: Sequence[str] | None, synchronizer_id: str | None, refresh: bool) -> ObservationLoad:
    observe = partial(_observe_traffic, to_ids(members, "members", "members"), synchronizer_id)
    return ObservationLoad(net, TRAFFIC, "traffic status", observe, refresh, ("traffic_status",))


@loader(_traffic_status)
def load_traffic_status(
    net: Network,
    *,
    members: Sequence[str] | None = None,
    synchronizer_id: str | None = None,
    refresh: bool = True,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Load the traffic balances of members of a synchronizer, and store the current ones.

    :func:`ledgerframes.cost.runway` accepts a row's balance as ``lf.TrafficBalance(int(row.balance), row.observed_at)``.

    Parameters
    ----------
    net : Network
    members : sequence of str, optional
        Participants, with or without the prefix ``PAR::``, or mediators (default: the participant of the ledger API).
    synchronizer_id : str, optional
        Synchronizer (default: that of the network's rules).
    refresh : bool
        Store an observation of traffic status, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per member in an observation, sorted by (observed_at, synchronizer_id, member_id).

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.
    NotFoundError
        If the synchronizer has no such member.

    Notes
    -----
    Source: docs/facts.md#traffic-balance, GET /v0/domains/{domain_id}/members/{member_id}/traffic-status.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> status = lf.load_traffic_status(lf.connect("sandbox", events=400, days=1)).iloc[-1]
    >>> int(status["balance"]) == int(status["total_limit"]) - int(status["total_consumed"])
    True
    """
    return _traffic_status(net, members, synchronizer_id, refresh).load(progress)


def _synchronizer_status(net: Network, refresh: bool) -> ObservationLoad:
    return ObservationLoad(net, SYNCHRONIZER, "synchronizer status", _observe_synchronizer, refresh, ("upgrade",))


@loader(_synchronizer_status)
def load_synchronizer_status(net: Network, *, refresh: bool = True, progress: bool | None = None) -> pd.DataFrame:
    """Load the synchronizer's serial and next upgrade, and store them.

    An observation also says whether the node has all of the history.

    Parameters
    ----------
    net : Network
    refresh : bool
        Store an observation of synchronizer status, unless the network is offline.
    progress : bool, optional
        Whether to show a progress bar (default: only in terminals and notebooks).

    Returns
    -------
    DataFrame
        One row per observation, sorted by observed_at.

    Raises
    ------
    CoverageError
        If the network is offline and no observation is in the store.

    Notes
    -----
    Source: docs/facts.md#reference-operations, GET /v0/active-synchronizer-serial, GET /v0/lsu and GET /v0/backfilling/status.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> status = lf.load_synchronizer_status(lf.connect("sandbox", events=400, days=1))
    >>> status["serial"].tolist(), status["is_backfilled"].tolist()
    ([0], [True])
    """
    return _synchronizer_status(net, refresh).load(progress)


# -- observations -------------------------------------------------------------------------------------------------------


def _observe_licenses(net: Network, now: datetime) -> pa.Table:
    return build.validator_license_table(_licenses(net), now)


def _observe_faucets(validators: Sequence[str] | None, net: Network, now: datetime) -> pa.Table:
    if validators is None:
        licenses = build.validator_license_table(_licenses(net), now)
        validators = sorted(set(licenses["validator"].drop_null().to_pylist()))
    faucets: list[ValidatorFaucets] = []
    for first in range(0, len(validators), MAX_IDS):
        faucets += net.history.validator_faucets(validators[first : first + MAX_IDS])
    return build.validator_faucet_table(faucets, now)


def _observe_traffic(members: Sequence[str] | None, synchronizer_id: str | None, net: Network, now: datetime) -> pa.Table:
    members = [net.ledger.participant_id()] if members is None else members
    synchronizer = synchronizer_id or net.history.network_rules().dso_rules.domain_id
    if not synchronizer:
        raise UsageError("The rules of the network name no synchronizer. Pass synchronizer_id=.")
    names = [member if member.startswith((PARTICIPANT, MEDIATOR)) else f"{PARTICIPANT}{member}" for member in members]
    statuses = {(synchronizer, name): net.history.traffic_status(synchronizer, name) for name in names}
    return build.traffic_status_table(statuses, now)


def _observe_synchronizer(net: Network, now: datetime) -> pa.Table:
    history = net.history
    return build.synchronizer_status_table(_serial(net), history.is_backfilled(), history.upgrade(), now)


def _serial(net: Network) -> int | None:
    """Return the serial of the synchronizer, or None if the node's participant reports none."""
    return fetch_if_known(net.history.synchronizer_serial)


def _licenses(net: Network) -> list[Contract]:
    """Return all licenses, which must come from one host because of its page tokens."""
    licenses: list[Contract] = []
    page, chain = net.history.validator_licenses(None), PageChain(LICENSES_ROUTE)
    host = net.history.transport.last_host
    while True:
        require_same_host(host, net.history.transport.last_host, LICENSES_ROUTE)
        net.history.note_around(LICENSES_ROUTE, unknown_members(page, but=list))
        licenses += page.validator_licenses
        token = page.next_page_token
        content = ",".join(contract.contract_id for contract in page.validator_licenses).encode()
        if chain.next_token(None if token is None else str(token), content) is None:
            return licenses
        with expect_same_host(host, LICENSES_ROUTE):
            page = net.history.validator_licenses(token)
