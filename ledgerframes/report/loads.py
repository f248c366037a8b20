"""The weeks and the period before the window of a report, and the state of the network."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import timedelta

import pandas as pd

from ledgerframes.errors import CoverageError, NotFoundError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.values.windows import Window, iso

HISTORY_WEEKS = 6
HISTORY_VARIABLE = "LEDGERFRAMES_REPORT_HISTORY"
BEGINNING = "0001-01-01"
State = dict[str, pd.DataFrame]


def load_history(
    net: Network, frames: Frames, *, weeks: int = HISTORY_WEEKS, progress: bool | None = None
) -> Frames | pd.DataFrame | None:
    """Load the weeks before the window of frames.

    Parameters
    ----------
    net : Network
    frames : Frames
        Loaded from it for a window.
    weeks : int, optional
        Number of weeks (default: 6, the most that a usual range uses).
    progress : bool, optional
        Whether to show a progress bar (default: in terminals and notebooks).

    Returns
    -------
    Frames or DataFrame or None
        All requests of these weeks. Offline, if the store does not have them, the days that published runs kept, one row per
        day, sorted by time. None if there are none.

    Raises
    ------
    UsageError
        If the frames have no window.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import load_history
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> history = load_history(net, day, weeks=1)
    >>> len(history.verdicts)
    0
    """
    history = _load(net, history_window(_window_of(frames, "load_history"), weeks), progress)
    path = os.environ.get(HISTORY_VARIABLE)  # set for the notebook of a run
    if history is not None or not path:
        return history
    from ledgerframes.report.history import DAY_DTYPES  # late: it needs the analyses

    return pd.read_parquet(path).astype(DAY_DTYPES)


def load_before(net: Network, frames: Frames, *, progress: bool | None = None) -> Frames | None:
    """Load the period before the window of frames, which has the same length.

    Parameters
    ----------
    net : Network
    frames : Frames
        Loaded from it for a window.
    progress : bool, optional
        Whether to show a progress bar (default: in terminals and notebooks).

    Returns
    -------
    Frames or None
        All requests of the period, None offline if the store does not have it.

    Raises
    ------
    UsageError
        If the frames have no window.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import load_before
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> evening = lf.load_events(net, since="2026-11-08T18:00Z", until="2026-11-09")
    >>> print(load_before(net, evening).window)
    2026-11-08T12:00:00Z … 2026-11-08T18:00:00Z
    """
    window = _window_of(frames, "load_before")
    return _load(net, window.before(window.until - window.since), progress)


def load_state(net: Network, frames: Frames, *, progress: bool | None = None) -> State | None:
    """Read rounds, featured rights and super validators as of the window of frames.

    Contracts live for years, so the state follows from the history since the start of the network, or from an ACS snapshot at
    the start of the window. History and bulk objects are large, so they are only read from the store. If they are not in the
    store, the service filters a snapshot, which takes seconds. The embedded sandbox is small, so its history is loaded.

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
        neither, and the service has no snapshot.

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
    window = _window_of(frames, "load_state")
    try:
        events = _load_whole_history(net, window, progress)
    except CoverageError:
        return _state_from_snapshot(_state_source(net), window) or _state_from_contracts(net, window, progress)
    from ledgerframes.analysis import state  # late: a report that is reused needs no analysis

    return state.tables(events)


def fetch_state(net: Network, frames: Frames, *, progress: bool | None = None) -> None:
    """Make current what :func:`load_state` reads."""
    window = _window_of(frames, "fetch_state")
    try:
        _load_whole_history(net, window, progress)
    except CoverageError:  # of a source that fetches nothing
        _load_contracts(net, window, progress)


def require_participant(net: Network, frames: Frames, participant: str | None) -> None:
    """Raise an error for a participant without a request in a window and the weeks before.

    One that is known from the weeks before can have a quiet day.
    """
    if not participant or not frames.count_rows("verdicts"):
        return
    if has_requests(frames, participant):
        return
    offline = Network(net.settings, clock=net.now, offline=True)
    window, weeks = _window_of(frames, "require_participant"), load_history(offline, frames)
    if not isinstance(weeks, Frames) or weeks.window is None:
        reason = f"Participant {participant!r} submitted no request in {window}, and the store does not have the weeks before."
        raise CoverageError(f"{reason} Load them, or check the id.")
    load_events(offline, since=weeks.window.since, until=window.until).where("verdicts", participant=participant)


def has_requests(frames: Frames, participant: str) -> bool:
    """Return whether a participant submitted a request."""
    with suppress(UsageError):
        return bool(frames.where("verdicts", participant=participant).count_rows("verdicts"))
    return False


def history_window(window: Window, weeks: int = HISTORY_WEEKS) -> Window | None:
    """Return the weeks before a window, or None before the first year."""
    return window.before(timedelta(weeks=weeks))


def _load_whole_history(net: Network, window: Window, progress: bool | None) -> Frames:
    return load_events(_state_source(net), since=BEGINNING, until=window.until, progress=progress)


def _state_source(net: Network) -> Network:
    """Return the network of the state, which only the embedded sandbox fetches."""
    return net if net.in_process or net.offline else Network(net.settings, clock=net.now, offline=True)


def _state_from_snapshot(source: Network, window: Window) -> State | None:
    """Return the state from the newest ACS snapshot in the store, None without one."""
    from ledgerframes.analysis import state
    from ledgerframes.loaders.bulk import load_bulk

    try:
        snapshot = load_bulk(source, kind="acs", at=iso(window.since), progress=False)
        start = snapshot.read("active_contracts", ["snapshot_time"])["snapshot_time"].max()
        history = load_events(source, since=start.to_pydatetime(), until=window.until, progress=False)
    except (CoverageError, UsageError):
        return None
    return state.tables(history, base=snapshot)


def _state_from_contracts(net: Network, window: Window, progress: bool | None) -> State | None:
    """Return the state from the filtered contracts of a snapshot, None without any."""
    from ledgerframes.analysis import state

    loaded = _load_contracts(net, window, progress)
    return state.tables(loaded[1], base=loaded[0]) if loaded else None


def _load_contracts(net: Network, window: Window, progress: bool | None) -> tuple[pd.DataFrame, Frames] | None:
    """Load the filtered contracts of a snapshot before a window, and the history after it."""
    from ledgerframes.loaders.contracts import load_contracts

    with suppress(CoverageError, UsageError, NotFoundError):  # of a service without snapshots, or an empty store
        contracts = load_contracts(net, at=window.since, progress=progress)
        if len(contracts):
            start = contracts["snapshot_time"].iloc[0].to_pydatetime()
            return contracts, load_events(net, since=start, until=window.until, progress=progress)
    return None


def _window_of(frames: Frames, function: str) -> Window:
    if frames.window is None:
        raise UsageError(f"{function} needs frames of a window. Load them with since= and until=.")
    return frames.window


def _load(net: Network, window: Window | None, progress: bool | None) -> Frames | None:
    """Load a window, None before the first year, or offline if the store does not have it."""
    if window is None:
        return None
    try:
        return load_events(net, since=window.since, until=window.until, progress=progress)
    except CoverageError:
        if not net.offline:
            raise
        return None
