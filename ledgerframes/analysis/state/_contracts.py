"""Lifetimes of rounds, rights, super validators, prices and contracts that do not count."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis._arguments import Snapshot
from ledgerframes.analysis.state._declarations import CONFIG, FEATURED, PROBLEMS, ROUNDS, SUPER_VALIDATORS
from ledgerframes.analysis.state._lifetimes import read_lifetimes
from ledgerframes.analysis.state._snapshot import is_snapshot, snapshot_lifetimes
from ledgerframes.analysis.state._tables import build, second_rights
from ledgerframes.frames import Frames


@ROUNDS.document
def rounds(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of all mining rounds, each with its prices and rules.

    Parameters
    ----------
    frames : Frames or DataFrame
        History from the start of the network, or from `base`, on; or only a snapshot of :func:`ledgerframes.load_contracts`,
        whose contracts are alive at its time.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of `frames`, from :func:`ledgerframes.load_contracts`, or from
        :func:`ledgerframes.load_bulk` with ``kind="acs"``.

    Raises
    ------
    CoverageError
        If neither the start of the network nor `base` is known.
    IntegrityError
        If several parties sign network rules.

    Source: docs/facts.md#state-of-the-network. A contract of another package, or without the network's signature, does not
    count; see :func:`problems`.

    >>> rounds = lf.state.rounds(frames)
    >>> len(lf.state.at(rounds, "2026-11-08T12:00:00Z"))
    3
    """
    return build(ROUNDS, frames, base)


@FEATURED.document
def featured(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of all featured rights, each with its factor.

    Source: docs/facts.md#state-of-the-network. A right without a factor has 1.

    >>> rights = lf.state.featured(frames)
    >>> bool((rights["weight"] >= 0).all())
    True
    """
    return build(FEATURED, frames, base)


@SUPER_VALIDATORS.document
def super_validators(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the super validators of each lifetime of the network's rules.

    Source: docs/facts.md#state-of-the-network. A change of any rule archives the contract and creates the next one.

    >>> bool(lf.state.super_validators(frames)["participant"].str.startswith("PAR::").any())
    False
    """
    return build(SUPER_VALIDATORS, frames, base)


@CONFIG.document
def config(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the lifetimes of the network's traffic prices and reward rules.

    Source: docs/facts.md#state-of-the-network.

    >>> lf.state.config(frames)["source"].unique().tolist()
    ['history']
    """
    return build(CONFIG, frames, base)


@PROBLEMS.document
def problems(frames: Snapshot, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the contracts that look like the network's and do not count, with the reasons.

    Source: docs/facts.md#state-of-the-network. A right with the reason `second right of a provider` counts only if it is the
    last one that was created.

    >>> lf.state.problems(frames)["contract_id"].is_unique
    True
    """
    if is_snapshot(frames):
        rows = snapshot_lifetimes(frames, base)
    else:
        PROBLEMS.check(frames)
        assert isinstance(frames, Frames)
        rows = read_lifetimes(frames, base)
    rows["reason"] = rows["reason"].where(rows["reason"] != "", second_rights(rows))
    rows["coverage"] = rows["payload"].notna().astype("float64")
    rows = rows[rows["reason"] != ""].sort_values(["from", "contract_id"], ignore_index=True)
    return PROBLEMS.build(frames if isinstance(frames, Frames) else None, {**rows})


def tables(frames: Snapshot, *, base: Snapshot | None = None) -> dict[str, pd.DataFrame]:
    """Return rounds, rights and super validators by the arguments of ``lf.activity``.

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
        If neither the start of the network nor `base` is known.

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
