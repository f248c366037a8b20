"""Breaks in the history of a network, after which figures mean something else."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.labels import require_fields
from ledgerframes.analysis.state.payloads import is_for_traffic
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames

__all__ = ["of", "split", "table"]


def __dir__() -> list[str]:
    return __all__


COLUMNS = ["at", "scope", "name", "reason", "source"]
MAIN_NETWORK = Path(__file__).with_name("eras.csv")
BEFORE = "before the first era"


def table(path: str | PathLike[str] | None = None, *, rounds: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read the eras of a network.

    Parameters
    ----------
    path : path, optional
        CSV file with the columns ``at`` (date or time, UTC), ``scope``, ``name``, ``reason`` and ``source`` (default: the known
        eras of the main network).
    rounds : DataFrame, optional
        From :func:`ledgerframes.state.rounds`. The first round that rewards traffic begins the era ``traffic-based rewards``.

    Returns
    -------
    DataFrame
        One row per era with ``at`` [UTC], ``scope``, ``name``, ``reason`` and ``source``; sorted by time.

    Raises
    ------
    UsageError
        If the file cannot be read, has other columns or repeats a name, or `rounds` are not rounds.

    Notes
    -----
    Upgrades no longer show in the migration id, so an era is a date with a reason (docs/facts.md#structural-breaks).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.eras.table()["name"].iloc[-1]
    'free responses'
    """
    path = MAIN_NETWORK if path is None else Path(path)
    try:
        eras = pd.read_csv(path, dtype="str", keep_default_na=False, encoding="utf-8")
        require_fields(eras)
        if list(eras.columns) == COLUMNS:
            eras["at"] = pd.to_datetime(eras["at"], utc=True, format="ISO8601").astype("datetime64[us, UTC]")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"Cannot read eras from {path}: {error}. Pass a CSV file of eras.") from None
    if list(eras.columns) != COLUMNS:
        raise UsageError(f"{path} must have the columns {', '.join(COLUMNS)}, got {', '.join(map(str, eras.columns))}.")
    eras = eras if rounds is None else pd.concat([eras, _reward_era(rounds)], ignore_index=True)
    return _in_order(eras.astype(dict.fromkeys(COLUMNS[1:], "str")), str(path))


def _reward_era(rounds: pd.DataFrame) -> pd.DataFrame:
    """Return the era that begins with the first round that rewards traffic, if any."""
    columns = ("opens_at", "minting_version", "round_number")
    require_columns(rounds, columns, "rounds= must be a result of lf.state.rounds(frames)")
    first = rounds[rounds["minting_version"].map(is_for_traffic).astype(bool)].sort_values("opens_at").head(1)
    reason = "rewards by traffic from round " + first["round_number"].astype("str")
    facts: dict[str, Any] = {
        "scope": "activity",
        "name": "traffic-based rewards",
        "reason": reason,
        "source": "docs/facts.md#rewards-of-a-round",
    }
    return first[["opens_at"]].rename(columns={"opens_at": "at"}).assign(**facts)


def breaks_between(since: pd.Timestamp, until: pd.Timestamp, eras: pd.DataFrame | None) -> pd.DataFrame:
    """Return the eras that begin within a time, excluding its start."""
    eras = _require_eras(eras)
    return eras[(eras["at"] > since) & (eras["at"] < until)]


def _require_eras(eras: pd.DataFrame | None) -> pd.DataFrame:
    if eras is None:
        return _main_network_eras()
    rule = "eras= must be a result of lf.eras.table()"
    if not _are_times(require_columns(eras, ("at", "name"), rule)["at"]):
        raise UsageError(f"{rule}, got one whose column at is not in UTC.")
    return _in_order(eras, "eras=")


@cache
def _main_network_eras() -> pd.DataFrame:
    """Return the known eras, which are read only once. Callers must not modify them."""
    return table()


def _are_times(times: object) -> bool:
    return isinstance(times, pd.Series) and isinstance(times.dtype, pd.DatetimeTZDtype)


def _in_order(eras: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return eras sorted by time, and refuse one without a time or with a repeated name."""
    without_time, repeated = (eras["name"][each] for each in (eras["at"].isna(), eras["name"].duplicated()))
    if len(without_time):
        raise UsageError(f"{source} has the era {without_time.iloc[0]!r} without a time. Fill in the column at.")
    if len(repeated):
        raise UsageError(f"{source} has the era {repeated.iloc[0]!r} twice. Rename one of them.")
    return eras.sort_values("at", kind="stable", ignore_index=True)


def of(times: pd.Series, eras: pd.DataFrame | None = None) -> pd.Series:
    """Return the era of each time.

    Parameters
    ----------
    times : Series of datetime64[us, UTC]
    eras : DataFrame, optional
        From :func:`table` (default: the main network's).

    Returns
    -------
    Series
        Names of eras as an ordered category, missing for a missing time.

    Raises
    ------
    UsageError
        If `times` are not times in UTC, or `eras` is not a table of eras.

    Notes
    -----
    Source: docs/facts.md#structural-breaks.

    Examples
    --------
    >>> import pandas as pd
    >>> import ledgerframes as lf
    >>> lf.eras.of(pd.Series(pd.to_datetime(["2026-03-01", "2026-03-02"], utc=True))).tolist()
    ['migration 4', 'free responses']
    """
    if not _are_times(times):
        raise UsageError(f"times= must be a Series of times in UTC, got {type(times).__name__}.")
    eras = _require_eras(eras)
    starts = eras["at"].astype("datetime64[us, UTC]")
    codes = starts.searchsorted(times.astype("datetime64[us, UTC]"), side="right")
    names = pd.Index([BEFORE, *eras["name"]])
    return pd.Series(pd.Categorical.from_codes(codes, names, ordered=True), times.index).where(times.notna())


def periods_of_eras(eras: pd.DataFrame | None) -> pd.DataFrame:
    """Return name, start and end of all eras. Together they cover all times that Python knows."""
    eras = _require_eras(eras)
    edges = [datetime.min.replace(tzinfo=UTC), *eras["at"], datetime.max.replace(tzinfo=UTC)]
    return pd.DataFrame({"name": [BEFORE, *eras["name"]], "since": edges[:-1], "until": edges[1:]})


def split(frames: Frames, eras: pd.DataFrame | None = None) -> dict[str, Frames]:
    """Split frames at the breaks in their window.

    Parameters
    ----------
    frames : Frames
        Loaded for a window.
    eras : DataFrame, optional
        From :func:`table` (default: the main network's).

    Returns
    -------
    dict of str to Frames
        The part of the frames in each era, by the era's name; in order.

    Raises
    ------
    UsageError
        If `frames` is not Frames or has no window, or `eras` is not a table of eras.

    Notes
    -----
    Figures across a break mix two meanings (docs/facts.md#structural-breaks).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> list(lf.eras.split(day))
    ['free responses']
    """
    require_frames(frames, "eras.split")
    if frames.window is None:
        raise UsageError("lf.eras.split needs frames of a window. Load them with since= and until=.")
    since, until = pd.Timestamp(frames.window.since), pd.Timestamp(frames.window.until)
    edges = [since, *breaks_between(since, until, eras)["at"].drop_duplicates(), until]
    starts = pd.Series(edges[:-1]).astype("datetime64[us, UTC]")
    parts = zip(of(starts, eras), edges[:-1], edges[1:], strict=True)
    return {str(name): frames.between(start.to_pydatetime(), end.to_pydatetime()) for name, start, end in parts}
