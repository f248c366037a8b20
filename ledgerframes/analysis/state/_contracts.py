"""Lifetimes of rounds, rights, super validators, prices and contracts that do not count."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.state._declarations import CONFIG, FEATURED, IGNORED_CONTRACTS, ROUNDS, SUPER_VALIDATORS
from ledgerframes.analysis.state._lifetimes import read_lifetimes
from ledgerframes.analysis.state._snapshot import is_snapshot, snapshot_lifetimes
from ledgerframes.analysis.state._tables import build, second_rights
from ledgerframes.frames import Frames


@ROUNDS.register
def rounds(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of all mining rounds, each with its prices and rules.

    Parameters
    ----------
    frames : Frames or DataFrame
        History from the start of the network or from the time of `base`. Or only a snapshot from
        :func:`ledgerframes.load_contracts`, whose contracts are alive at its time.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts` (default: none, so the
        history must start with the network).

    Returns
    -------
    DataFrame
        One row per contract; sorted by start and contract.

        Columns:

        - ``round_number`` (Int64): Mining round. Missing if the payload cannot be read.
        - ``opens_at`` (datetime64[us, UTC]): Time from which the round is open. Missing if it cannot be read.
        - ``coin_price`` (decimal128(38, 10)[pyarrow], USD per coin): Price of the coin. Missing if it is not in the contract.
        - ``traffic_price`` (decimal128(38, 10)[pyarrow], USD per MB): Price of traffic. Missing if it is not in the contract.
        - ``tick_duration`` (timedelta64[us], microseconds): Time from one round to the next. Missing if it is not in the
          contract.
        - ``coin_per_year`` (decimal128(38, 10)[pyarrow], coin): Coin to issue per year. Missing if it is not in the contract.
        - ``app_share`` (decimal128(38, 10)[pyarrow], share of 1): Share of the issuance for apps. Missing if it is not in the
          contract.
        - ``development_share`` (decimal128(38, 10)[pyarrow], share of 1): Share of the issuance for development. Missing if it
          is not in the contract.
        - ``featured_cap`` (decimal128(38, 10)[pyarrow], coin per USD): Largest issuance per weight of a featured app. Missing
          if it is not in the contract.
        - ``minting_version`` (str): Scheme of app rewards. Missing without a reward configuration.
        - ``reward_threshold`` (decimal128(38, 10)[pyarrow], USD): Smallest reward of a party. Missing if it is not in the
          contract.
        - ``from`` (datetime64[us, UTC]): Record time of the create, or in a snapshot its ledger effective time.
        - ``until`` (datetime64[us, UTC]): Record time of the archival, exclusive. Missing if alive.
        - ``known_from`` (datetime64[us, UTC]): Time from which contracts that ended have rows. Missing if all have.
        - ``known_until`` (datetime64[us, UTC]): Time that the frames reach. The contract may have ended since.
        - ``effective_from`` (datetime64[us, UTC]): Ledger effective time of the create. Missing if unknown.
        - ``effective_until`` (datetime64[us, UTC]): Ledger effective time of the archival. Missing if alive.
        - ``contract_id`` (str): The contract.
        - ``source`` (category): history, snapshot, or given.
        - ``coverage`` (float64, share of 1): Share of the contracts of this result with a known payload. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If neither the start of the network nor `base` is known, or the frames are chosen updates.
    IntegrityError
        If several parties sign network rules.

    Notes
    -----
    Source: docs/facts.md#state-of-the-network. Contracts of other packages, or without the network's signature, do not count
    (see :func:`ignored_contracts`).

    Picture, by :func:`ledgerframes.plot`: Price of the coin [USD] over the time at which rounds open [UTC], and below it
    the price of traffic [USD per MB].

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> rounds = lf.state.rounds(frames)
    >>> len(lf.state.at(rounds, "2026-11-08T12:00:00Z"))
    3
    """
    return build(ROUNDS, frames, base)


@FEATURED.register
def featured(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of all featured rights, each with its factor.

    Parameters
    ----------
    frames : Frames or DataFrame
        History from the start of the network or from the time of `base`. Or only a snapshot from
        :func:`ledgerframes.load_contracts`, whose contracts are alive at its time.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts` (default: none, so the
        history must start with the network).

    Returns
    -------
    DataFrame
        One row per contract; sorted by start and contract.

        Columns:

        - ``party`` (str): App provider. Missing if the payload cannot be read.
        - ``weight`` (decimal128(38, 10)[pyarrow]): Factor of the right, 1 by default. Missing if it cannot be read.
        - ``from`` (datetime64[us, UTC]): Record time of the create, or in a snapshot its ledger effective time.
        - ``until`` (datetime64[us, UTC]): Record time of the archival, exclusive. Missing if alive.
        - ``known_from`` (datetime64[us, UTC]): Time from which contracts that ended have rows. Missing if all have.
        - ``known_until`` (datetime64[us, UTC]): Time that the frames reach. The contract may have ended since.
        - ``effective_from`` (datetime64[us, UTC]): Ledger effective time of the create. Missing if unknown.
        - ``effective_until`` (datetime64[us, UTC]): Ledger effective time of the archival. Missing if alive.
        - ``contract_id`` (str): The contract.
        - ``source`` (category): history, snapshot, or given.
        - ``coverage`` (float64, share of 1): Share of the contracts of this result with a known payload. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If neither the start of the network nor `base` is known, or the frames are chosen updates.
    IntegrityError
        If several parties sign network rules.

    Notes
    -----
    Source: docs/facts.md#state-of-the-network. The factor of a right without one is 1.

    Picture, by :func:`ledgerframes.plot`: Record time [UTC], one row for each of the 15 parties whose first right is
    latest, active ones first, with the factor after its name, or the lowest and the highest one where it changes.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> rights = lf.state.featured(frames)
    >>> bool((rights["weight"] >= 0).all())
    True
    """
    return build(FEATURED, frames, base)


@SUPER_VALIDATORS.register
def super_validators(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the super validators in each version of the network's rules.

    Parameters
    ----------
    frames : Frames or DataFrame
        History from the start of the network or from the time of `base`. Or only a snapshot from
        :func:`ledgerframes.load_contracts`, whose contracts are alive at its time.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts` (default: none, so the
        history must start with the network).

    Returns
    -------
    DataFrame
        One row per contract and super validator; sorted by start, contract and party.

        Columns:

        - ``party`` (str): Party of the super validator.
        - ``name`` (str): Name of the super validator. Missing if it is not sent.
        - ``participant`` (str): Participant id without a prefix. Missing if it is not sent.
        - ``reward_weight`` (Int64): Reward weight. Missing if it is not sent.
        - ``joined_round`` (Int64): Round in which the super validator joined. Missing if it is not sent.
        - ``from`` (datetime64[us, UTC]): Record time of the create, or in a snapshot its ledger effective time.
        - ``until`` (datetime64[us, UTC]): Record time of the archival, exclusive. Missing if alive.
        - ``known_from`` (datetime64[us, UTC]): Time from which contracts that ended have rows. Missing if all have.
        - ``known_until`` (datetime64[us, UTC]): Time that the frames reach. The contract may have ended since.
        - ``effective_from`` (datetime64[us, UTC]): Ledger effective time of the create. Missing if unknown.
        - ``effective_until`` (datetime64[us, UTC]): Ledger effective time of the archival. Missing if alive.
        - ``contract_id`` (str): The contract.
        - ``source`` (category): history, snapshot, or given.
        - ``coverage`` (float64, share of 1): Share of the contracts of this result with a known payload. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If neither the start of the network nor `base` is known, or the frames are chosen updates.
    IntegrityError
        If several parties sign network rules.

    Notes
    -----
    Source: docs/facts.md#state-of-the-network. A change of any rule archives the contract and creates the next one.

    Picture, by :func:`ledgerframes.plot`: Record time [UTC], one row for each of the 15 super validators that joined last,
    active ones first, with the latest reward weight after its name.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> bool(lf.state.super_validators(frames)["participant"].str.startswith("PAR::").any())
    False
    """
    return build(SUPER_VALIDATORS, frames, base)


@CONFIG.register
def config(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of the network's traffic prices and reward rules.

    Parameters
    ----------
    frames : Frames or DataFrame
        History from the start of the network or from the time of `base`. Or only a snapshot from
        :func:`ledgerframes.load_contracts`, whose contracts are alive at its time.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts` (default: none, so the
        history must start with the network).

    Returns
    -------
    DataFrame
        One row per contract; sorted by start and contract.

        Columns:

        - ``traffic_price`` (decimal128(38, 10)[pyarrow], USD per MB): Price of traffic beyond the free rate. Missing if it is
          not in the contract.
        - ``min_topup`` (Int64, bytes): Smallest purchase. Missing if it is not in the contract.
        - ``burst_amount`` (Int64, bytes): Free traffic per window. Missing if it is not in the contract.
        - ``burst_window`` (timedelta64[us], microseconds): Length of the window for free traffic. Missing if it is not in the
          contract.
        - ``minting_version`` (str): Scheme of app rewards. Missing without a reward configuration.
        - ``reward_threshold`` (decimal128(38, 10)[pyarrow], USD): Smallest reward of a party. Missing if it is not in the
          contract.
        - ``from`` (datetime64[us, UTC]): Record time of the create, or in a snapshot its ledger effective time.
        - ``until`` (datetime64[us, UTC]): Record time of the archival, exclusive. Missing if alive.
        - ``known_from`` (datetime64[us, UTC]): Time from which contracts that ended have rows. Missing if all have.
        - ``known_until`` (datetime64[us, UTC]): Time that the frames reach. The contract may have ended since.
        - ``effective_from`` (datetime64[us, UTC]): Ledger effective time of the create. Missing if unknown.
        - ``effective_until`` (datetime64[us, UTC]): Ledger effective time of the archival. Missing if alive.
        - ``contract_id`` (str): The contract.
        - ``source`` (category): history, snapshot, or given.
        - ``coverage`` (float64, share of 1): Share of the contracts of this result with a known payload. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If neither the start of the network nor `base` is known, or the frames are chosen updates.
    IntegrityError
        If several parties sign network rules.

    Notes
    -----
    Source: docs/facts.md#state-of-the-network.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> lf.state.config(frames)["source"].unique().tolist()
    ['history']
    """
    return build(CONFIG, frames, base)


@IGNORED_CONTRACTS.register
def ignored_contracts(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the contracts that look like the network's but do not count, with the reasons.

    Parameters
    ----------
    frames : Frames or DataFrame
        History from the start of the network or from the time of `base`. Or only a snapshot from
        :func:`ledgerframes.load_contracts`, whose contracts are alive at its time.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts` (default: none, so the
        history must start with the network).

    Returns
    -------
    DataFrame
        One row per contract; sorted by start and contract.

        Columns:

        - ``contract_id`` (str): The contract.
        - ``template_name`` (str): Module and entity of its template.
        - ``package_name`` (str): Package of its template. Missing if it is not sent.
        - ``from`` (datetime64[us, UTC]): Record time of the create, or in a snapshot its ledger effective time.
        - ``reason`` (category): Why the contract does not count, or counts only in part.
        - ``source`` (category): history or snapshot.
        - ``coverage`` (float64, share of 1): Share of the contracts of this result with a known payload. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If neither the start of the network nor `base` is known, or the frames are chosen updates.
    IntegrityError
        If several parties sign network rules.

    Notes
    -----
    Source: docs/facts.md#state-of-the-network. A right with the reason `second right of a provider` counts only if it is the
    one created last.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> lf.state.ignored_contracts(frames)["contract_id"].is_unique
    True
    """
    if is_snapshot(frames):
        rows = snapshot_lifetimes(frames, base)
    else:
        IGNORED_CONTRACTS.check(frames)
        assert isinstance(frames, Frames)
        rows = read_lifetimes(frames, base)
    rows["reason"] = rows["reason"].where(rows["reason"] != "", second_rights(rows))
    rows["coverage"] = rows["payload"].notna().astype("float64")
    rows = rows[rows["reason"] != ""].sort_values(["from", "contract_id"], ignore_index=True)
    return IGNORED_CONTRACTS.build(frames if isinstance(frames, Frames) else None, {**rows})


def tables(frames: Snapshot, *, base: Snapshot | None = None) -> dict[str, pd.DataFrame]:
    """Return rounds, rights and super validators, named like the arguments of ``lf.activity``.

    Parameters
    ----------
    frames : Frames or DataFrame
        As for :func:`rounds`.
    base : Frames or DataFrame, optional
        As for :func:`rounds`.

    Returns
    -------
    dict of str to DataFrame
        ``rounds``, ``featured`` and ``sv_participants``.

    Raises
    ------
    CoverageError
        If neither the start of the network nor `base` is known, or the frames are chosen updates.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08T12:00:00Z", until="2026-11-09")
    >>> state = lf.state.tables(day, base=lf.load_contracts(net, at="2026-11-08T12:00:00Z"))
    >>> bool(lf.activity.weights(day, every=None, **state)["burn_bytes"].notna().all())
    True
    """
    return {
        "rounds": rounds(frames, base=base),
        "featured": featured(frames, base=base),
        "sv_participants": super_validators(frames, base=base),
    }
