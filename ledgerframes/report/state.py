"""The network's state during the window of a report, for weights and rewards."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis import state
from ledgerframes.analysis.state._network_state import network_state
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.bulk import load_bulk
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.windows import iso

BEGINNING = "0001-01-01"
State = dict[str, pd.DataFrame]


def load_state(net: Network, frames: Frames, *, progress: bool | None = None) -> State | None:
    """Read rounds, featured rights and super validators as of the window of frames.

    Contracts live for years, so the state follows from the history from the start of the network, or from an ACS snapshot at
    the start of the window. Both are large, so only what the store has counts. The embedded sandbox is small: its history is
    loaded.

    Parameters
    ----------
    net : Network
    frames : Frames
        Loaded from it for a window.
    progress : bool, optional
        Whether to show a progress bar (default: in terminals and notebooks).

    Returns
    -------
    dict of str to DataFrame, or None
        ``rounds``, ``featured`` and ``sv_participants``, as the functions of ``lf.activity`` take them. None if the store has
        neither.

    Raises
    ------
    UsageError
        If the frames have no window.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import load_state
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> state = load_state(net, day)
    >>> weights = lf.activity.weights(day, every=None, **state)
    >>> bool(weights["burn_bytes"].notna().all())
    True
    """
    if frames.window is None:
        raise UsageError("load_state needs frames of a window. Load them with since= and until=.")
    source = net if net.in_process or net.offline else Network(net.settings, clock=net.now, offline=True)
    since, until = iso(frames.window.since), iso(frames.window.until)
    try:
        whole = network_state(load_events(source, since=BEGINNING, until=until, progress=progress))
    except CoverageError:
        return _from_snapshot(source, since, until)
    return {"rounds": whole.rounds, "featured": whole.rights, "sv_participants": whole.validators}


def _from_snapshot(source: Network, since: str, until: str) -> State | None:
    """Return the state from the newest ACS snapshot in the store, None without one."""
    try:
        snapshot = load_bulk(source, kind="acs", at=since, progress=False)
        start = snapshot.read("active_contracts", ["snapshot_time"])["snapshot_time"].max()
        history = load_events(source, since=iso(start.to_pydatetime()), until=until, progress=False)
    except (CoverageError, UsageError):
        return None
    return {
        "rounds": state.rounds(history, base=snapshot),
        "featured": state.featured(history, base=snapshot),
        "sv_participants": state.super_validators(history, base=snapshot),
    }
