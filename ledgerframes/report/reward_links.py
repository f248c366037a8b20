"""Links of the rewards of a window, which the head of a page and one of its sections show."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from ledgerframes.frames import Frames
from ledgerframes.network import Network
from ledgerframes.report.loads import State
from ledgerframes.values import decimals

REWARD_LINKS_VARIABLE = "LEDGERFRAMES_REPORT_REWARD_LINKS"


def check_rewards(net: Network, frames: Frames, state: State) -> pd.DataFrame:
    """Check the rewards of each round, also against the answers of a node in the store.

    In a report that has checked them for its findings, the result is read instead, because the check of a large network takes
    a minute.

    Parameters
    ----------
    net : Network
    frames : Frames
        Loaded from it for a window.
    state : dict of str to DataFrame
        From :func:`ledgerframes.report.load_state`. Empty if the frames begin with the network.

    Returns
    -------
    DataFrame
        The result of :func:`ledgerframes.reconcile.rewards`.

    Raises
    ------
    CoverageError
        If the frames cover no time, or only a part of the updates, or the state is needed and its start is not in the history.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import check_rewards, load_state
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> links = check_rewards(net, day, load_state(net, day))
    >>> bool(links["status"].isin(["equal", "unknown"]).all())
    True
    """
    path = os.environ.get(REWARD_LINKS_VARIABLE)  # set for the notebook of a run
    if path:
        return read_reward_links(Path(path))
    from ledgerframes.analysis import reconcile  # late: other reports start faster without it
    from ledgerframes.loaders.reward_accounting import load_reward_accounting

    service = load_reward_accounting(net, refresh=False)  # answers of earlier days, if any
    return reconcile.rewards(
        frames,
        featured=state.get("featured"),
        sv_participants=state.get("sv_participants"),
        rounds=state.get("rounds"),
        service=service if len(service) else None,
    )


def write_reward_links(links: pd.DataFrame, path: Path) -> None:
    """Write the links of a window for the notebook of a run."""
    links.to_parquet(path)


def read_reward_links(path: Path) -> pd.DataFrame:
    """Read the links of a window, which still know their figure."""
    return pd.read_parquet(path).astype({"difference": decimals.DTYPE})  # else an object, which Parquet does not tell
