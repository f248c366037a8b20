"""Contracts that are active on the network at a time, computed from its history.

A contract is created once and consumed at most once, and its id is never used again. So it is active at a time if its create
is before that time and no consuming exercise is. Migrations whose record times overlap therefore need no order: whichever
migration archived a contract, it is gone.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.analysis._arguments import Snapshot, require_before, snapshot_rows
from ledgerframes.analysis._coverage import require_final_history
from ledgerframes.analysis._figures import require_frames
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.errors import UsageError
from ledgerframes.extents import record_time_filter
from ledgerframes.frames import Frames
from ledgerframes.windows import Time, Window, instant

__all__ = ["active_at"]


def __dir__() -> list[str]:
    return __all__


HISTORY_START = datetime(1, 1, 1, tzinfo=UTC)  # the keys of the first bulk objects start here, too
CREATES = pc.field("event_type") == "created_event"
CONSUMES = pc.field("consuming")
COLUMN_NAMES = list(ACTIVE_CONTRACTS.column_names)
NODE_COLUMNS = [name for name in COLUMN_NAMES if name not in ("snapshot_time", "created_in_update_id")]


def active_at(frames: Frames, time: Time, *, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the contracts active on the network at a time, from the history before it.

    Parameters
    ----------
    frames : Frames
        With ``tree_events``, from the time of `base`, or from the start of history (``since="0001-01-01"``), until `time`
        or later.
    time : str, date or datetime
        Updates with ``record_time < time`` count, UTC. That is the state at midnight in the bulk objects of that midnight.
    base : Frames or DataFrame, optional
        The contracts active at an earlier time, with table ``active_contracts``, or a result of this function. With a base,
        only the history from its ``snapshot_time`` on is needed: updates with ``snapshot_time <= record_time < time``.

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

    - Without a base, a contract whose create is not in the history is missing, and its archival changes nothing. A contract
      that lives on in the next migration keeps its id and is not created again (docs/facts.md#contracts-across-migrations).
      Archived there, it is gone.
    - Reassignments change nothing, as in the network's own snapshots: a contract in transit, or on another synchronizer,
      exists. A contract from a synchronizer whose creates are not in the history is only in
      ``frames.reassignments``.
    - A live network counts an update at exactly the microsecond of a snapshot as before it. This function counts it as after,
      like every window of this library. A base of either kind leads to the same contracts.
    - A payload is the original text. In bulk objects its members are sorted, in listings they need not be.

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
    if frames.is_filtered:
        raise UsageError(
            "Cannot compute active contracts from frames filtered with where(): archivals may be missing. "
            "Pass the unfiltered frames."
        )
    frames.scan("tree_events")  # refuses frames without this table before their coverage
    base = None if base is None else snapshot_rows(base, "base")
    since = HISTORY_START if base is None else _snapshot_time(base, until)
    require_final_history(frames, Window(since, until))
    with frames._scanning("tree_events") as nodes:
        nodes = nodes.filter(record_time_filter(since, until)).filter(CREATES | CONSUMES)
        contracts = _active_contracts(nodes, base).sort_values("contract_id", ignore_index=True)
    return contracts.assign(snapshot_time=pd.Series(until, contracts.index, "datetime64[us, UTC]"))[COLUMN_NAMES]


# -- required history ---------------------------------------------------------------------------------------------------


def _snapshot_time(base: pd.DataFrame, until: datetime) -> datetime:
    """Return the time of a base in the dtypes of its table, which must be from before `until`."""
    for column in ACTIVE_CONTRACTS.columns:
        if str(base[column.name].dtype) != column.pandas_dtype:
            raise UsageError(
                f"base= must be rows of table active_contracts, which has a column {column.name} of {column.pandas_dtype}. "
                'Pass the result of load_bulk(kind="acs"), or of this function.'
            )
    since: datetime = base["snapshot_time"].iloc[0].to_pydatetime().astimezone(UTC)
    require_before(since, until)
    return since


# -- history ------------------------------------------------------------------------------------------------------------


def _active_contracts(nodes: ds.Dataset, base: pd.DataFrame | None) -> pd.DataFrame:
    """Return the contracts of a base and of creates that no archival consumes."""
    contract_ids, is_archival = _creates_and_archivals(nodes)
    consumed = contract_ids.filter(is_archival)
    is_excluded = pc.or_(is_archival, _is_in(contract_ids, consumed))
    if base is None:
        return _read_creates(nodes, pc.invert(is_excluded))
    base_ids = _ids_of(base)
    unconsumed = base[~_is_in(base_ids, consumed).to_numpy()].drop(columns="snapshot_time")
    is_excluded = pc.or_(is_excluded, _is_in(contract_ids, base_ids))
    contracts: pd.DataFrame = pd.concat([unconsumed, _read_creates(nodes, pc.invert(is_excluded))])
    return contracts


def _creates_and_archivals(nodes: ds.Dataset) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return the contract ids of creates and archivals as scanned, and which are archivals."""
    # All ids together can be longer than 2 GiB.
    columns = {"contract_id": pc.field("contract_id").cast(pa.large_string()), "consuming": pc.field("consuming")}
    rows = nodes.to_table(columns=columns)
    return rows["contract_id"], pc.fill_null(rows["consuming"], False)


def _ids_of(base: pd.DataFrame) -> pa.ChunkedArray:
    schema = pa.schema([("contract_id", pa.large_string())])
    return pa.Table.from_pandas(base[["contract_id"]], schema, preserve_index=False)["contract_id"]


def _is_in(ids: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.is_in(ids, value_set=values.combine_chunks())


def _read_creates(nodes: ds.Dataset, mask: pa.ChunkedArray) -> pd.DataFrame:
    """Return the rows in the mask, read in batches to keep no other payloads in memory."""
    columns = {**{name: pc.field(name) for name in NODE_COLUMNS}, "created_in_update_id": pc.field("update_id")}
    scanner = nodes.scanner(columns=columns)
    flags, row_count, batches = mask.combine_chunks(), 0, []
    for batch in scanner.to_batches():
        batches.append(batch.filter(flags.slice(row_count, batch.num_rows)))
        row_count += batch.num_rows
    return ACTIVE_CONTRACTS.to_pandas(pa.Table.from_batches(batches, scanner.projected_schema))
