"""Contracts that are active on the network at a time, computed from its history.

A contract is created once and consumed at most once, and its id is never used again. So it is active at a time if its create
is before that time, and no consuming exercise is. Migrations whose record times overlap therefore need no order: a contract
that any migration archived is gone.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis.arguments import Snapshot, SnapshotTable, base_table, require_before, snapshot_rows
from ledgerframes.analysis.coverage import require_final_history
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.engine import Query
from ledgerframes.engine.contracts import REPLAYED_CONTRACTS
from ledgerframes.engine.query import run_arrow
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames
from ledgerframes.values.windows import Time, Window, instant

__all__ = ["active_at"]


def __dir__() -> list[str]:
    return __all__


HISTORY_START = datetime(1, 1, 1, tzinfo=UTC)  # the keys of the first bulk objects start here, too
COLUMN_NAMES = list(ACTIVE_CONTRACTS.column_names)
COLUMNS_WITHOUT_TIME = pa.schema([field for field in ACTIVE_CONTRACTS.schema if field.name != "snapshot_time"])


def active_at(frames: Frames, time: Time, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the contracts active on the network at a time, from the history before it.

    Parameters
    ----------
    frames : Frames
        With ``tree_events``, from the time of `base`, or from the start of history (``since="0001-01-01"``), until `time`
        or later.
    time : str, date or datetime
        Updates with ``record_time < time`` count, in UTC. At midnight, this is the state in the bulk objects of that
        midnight.
    base : Frames or DataFrame, optional
        The contracts active at an earlier time: Frames with table ``active_contracts``, or a result of this function. With a
        base, only the history from its ``snapshot_time`` is needed: updates with ``snapshot_time <= record_time < time``.

    Returns
    -------
    DataFrame
        One row per active contract in the columns and dtypes of table ``active_contracts``; sorted by ``contract_id``.
        ``snapshot_time`` [UTC, microseconds] is `time`.

    Raises
    ------
    CoverageError
        If the frames do not cover that history, or a part of it is provisional. The error's ``missing`` names the windows.
    UsageError
        If the frames have no ``tree_events`` or were filtered with ``where``, or `base` is not one snapshot from before `time`.

    Notes
    -----
    Source: creates and consuming exercises of transaction trees (docs/facts.md#consuming-exercise-archives).

    - Without a base, a contract whose create is not in the history is missing from the result, and its archival changes
      nothing. A contract that stays active in the next migration keeps its id and is not created again
      (docs/facts.md#contracts-across-migrations). Once it is archived there, it is gone.
    - Reassignments change nothing, as in the network's own snapshots: a contract in transit or on another synchronizer counts
      as active. A contract from a synchronizer whose creates are not in the history is only in ``frames.reassignments``.
    - For a live network, an update at exactly the microsecond of a snapshot is before the snapshot. For this function it is
      after, as in every window of this library. A base of either kind leads to the same contracts.
    - A payload is the original text. Its members are sorted in bulk objects, but not necessarily in listings.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01", until="2026-11-09")
    >>> noon = lf.contracts.active_at(frames, "2026-11-08T12:00:00Z")
    >>> midnight = lf.contracts.active_at(frames, "2026-11-09", base=noon)
    >>> midnight.equals(lf.contracts.active_at(frames, "2026-11-09"))
    True
    """
    require_frames(frames, "contracts.active_at")
    until = instant(time)
    history, older = replay(frames, until, base)
    rows = run_arrow(history, _contracts_query(older))
    contracts = ACTIVE_CONTRACTS.to_pandas(rows.cast(COLUMNS_WITHOUT_TIME))
    return contracts.assign(snapshot_time=pd.Series(until, contracts.index, "datetime64[us, UTC]"))[COLUMN_NAMES]


def _contracts_query(older: SnapshotTable) -> Query:
    """Return the query of the contracts that are active at the end of the frames."""
    select = f"SELECT {', '.join(COLUMNS_WITHOUT_TIME.names)}\nFROM replayed_contracts\nORDER BY contract_id"
    return Query(select, (REPLAYED_CONTRACTS,), older.parameters, older.sources)


# -- required history ---------------------------------------------------------------------------------------------------


def replay(frames: Frames, until: datetime, base: Snapshot | None) -> tuple[Frames, SnapshotTable]:
    """Return the history that leads to the contracts at a time, and the contracts before it.

    Raises
    ------
    CoverageError
        If the frames do not cover that history, or a part of it is provisional.
    UsageError
        If the frames have no ``tree_events`` or were filtered with ``where``, or `base` is not one snapshot from before.
    """
    if frames.is_filtered:
        raise UsageError(
            "Cannot compute active contracts from frames filtered with where(): archivals may be missing. "
            "Pass the unfiltered frames."
        )
    frames.scan("tree_events")  # refuses frames without this table before it checks their coverage
    older = _older_contracts(base, until)
    since = HISTORY_START if older.time is None else older.time
    require_final_history(frames, Window(since, until))
    return frames.between(since, until), older


def _older_contracts(base: Snapshot | None, until: datetime) -> SnapshotTable:
    """Return the contracts of a base that is earlier than the end, in the dtypes of its table."""
    if isinstance(base, pd.DataFrame):
        _require_dtypes(snapshot_rows(base, "base"))
    older = base_table(base)
    if older.time is not None:
        require_before(older.time, until)
    return older


def _require_dtypes(base: pd.DataFrame) -> None:
    for column in ACTIVE_CONTRACTS.columns:
        if str(base[column.name].dtype) != column.pandas_dtype:
            raise UsageError(
                f"base= must be rows of table active_contracts, which has a column {column.name} of {column.pandas_dtype}. "
                'Pass the result of load_bulk(kind="acs"), or of this function.'
            )
