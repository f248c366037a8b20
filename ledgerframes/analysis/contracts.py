"""Which contracts are active on the network at a time: state made from history, pure.

A contract is created once and consumed at most once, and its id is never used again. So it is active at a time if a create
lies before that time and no consuming exercise does. Migrations whose record times overlap therefore need no order: whichever
migration archived a contract, it is gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.store.extent import record_time_filter
from ledgerframes.windows import Time, Window, instant, iso

__all__ = ["active_contracts_at"]

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)  # where the keys of the first bulk objects begin, too
CREATES = pc.field("event_type") == "created_event"
CONSUMES = pc.field("consuming")
ORDER = list(ACTIVE_CONTRACTS.column_names)
OF_THE_NODE = [name for name in ORDER if name not in ("snapshot_time", "created_in_update_id")]


def active_contracts_at(frames: Frames, time: Time, base: pd.DataFrame | None = None) -> pd.DataFrame:
    """Which contracts are active on the network at a time, from the history before it.

    Parameters
    ----------
    frames : Frames
        With ``tree_events``, from the time of `base`, or from the beginning of history (``since="0001-01-01"``), until `time`
        or later.
    time : str, date or datetime
        Updates with ``record_time < time`` count, UTC. That is the state at midnight in the bulk objects of that midnight.
    base : DataFrame, optional
        The contracts active at an earlier time, as table ``active_contracts`` or this function gives them. Only history from its
        ``snapshot_time`` on is needed then: updates with ``snapshot_time <= record_time < time``.

    Returns
    -------
    DataFrame
        One row per active contract, sorted by ``contract_id``, in the columns and dtypes of table ``active_contracts``;
        ``snapshot_time`` [UTC, microseconds] is `time`.

    Raises
    ------
    CoverageError
        If the frames do not cover that history, or a part of it is provisional; `missing` names the ranges.
    UsageError
        If the frames have no ``tree_events`` or were narrowed by ``where``, or `base` is not one snapshot from before `time`.

    Notes
    -----
    Source: creates and consuming exercises of transaction trees (docs/facts.md#consuming-exercise-archives).

    - Without a base, a contract whose create is not in the history is missing, and its archival changes nothing. A contract that
      lives on in the next migration keeps its id and is not created again (docs/facts.md#contracts-across-migrations);
      archived there, it is gone.
    - Reassignments change nothing, as in the network's own snapshots: a contract on its way, or on another synchronizer, exists.
      One that came from a synchronizer whose creates are not in the history is only in ``frames.reassignments``.
    - A live network counts an update at exactly the microsecond of a snapshot as before it. This function, like every range of
      this library, counts it as after. A base of either kind leads to the same contracts.
    - A payload is the text that came: that of a bulk object has its members sorted, that of a listing may not.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01", until="2026-11-09")
    >>> noon = lf.active_contracts_at(frames, "2026-11-08T12:00:00Z")
    >>> midnight = lf.active_contracts_at(frames, "2026-11-09", base=noon)
    >>> midnight.equals(lf.active_contracts_at(frames, "2026-11-09"))
    True
    """
    until = instant(time)
    if frames.is_filtered:
        raise UsageError("These frames were narrowed by where: a contract whose archival was left out would seem active.")
    nodes = frames.scan("tree_events")
    since = BEGINNING if base is None else _time_of(base, until)
    _require_history(frames, Window(since, until))
    nodes = nodes.filter(record_time_filter(since, until)).filter(CREATES | CONSUMES)
    contract_ids, is_archival = _lives(nodes)
    consumed = contract_ids.filter(is_archival)
    is_left_out = pc.or_(is_archival, _is_in(contract_ids, consumed))
    if base is None:
        found = _created(nodes, pc.invert(is_left_out))
    else:
        in_base = _ids_of(base)
        kept = base[~_is_in(in_base, consumed).to_numpy()].drop(columns="snapshot_time")
        is_left_out = pc.or_(is_left_out, _is_in(contract_ids, in_base))
        found = pd.concat([kept, _created(nodes, pc.invert(is_left_out))])
    found = found.sort_values("contract_id", ignore_index=True)
    return found.assign(snapshot_time=pd.Series(until, found.index, "datetime64[us, UTC]"))[ORDER]


# -- what is needed ---------------------------------------------------------------------------------------------------


def _time_of(base: pd.DataFrame, until: datetime) -> datetime:
    """When a base was taken.

    Raises
    ------
    UsageError
        If it is not one snapshot from before that time.
    """
    for column in ACTIVE_CONTRACTS.columns:
        if column.name not in base or str(base[column.name].dtype) != column.pandas_dtype:
            raise UsageError(
                f"base is not of table active_contracts: it needs a column {column.name} of {column.pandas_dtype}. "
                'Give those of load_bulk(kind="acs") or of this function; a participant\'s own are another table.'
            )
    times = base["snapshot_time"].drop_duplicates()
    if len(times) != 1 or times.isna().any():
        found = ", ".join(map(str, times.head(3))) or "none"
        raise UsageError(f"base is not one snapshot; its values of snapshot_time: {found}. Give the rows of one, or no base.")
    since: datetime = times.iloc[0].to_pydatetime().astimezone(UTC)
    if since >= until:
        raise UsageError(f"base was taken at {iso(since)}, which does not lie before time ({iso(until)}). Give an earlier one.")
    return since


def _require_history(frames: Frames, needed: Window) -> None:
    """Every update of that range must be in the frames, for good.

    Raises
    ------
    CoverageError
        If a part of it is not, or may still change.
    """
    lacking = needed.minus(_held(frames))
    if lacking:
        names = tuple(str(part) for part in lacking)
        raise CoverageError(
            f"The state at {iso(needed.until)} needs the whole history {needed}, and these frames lack {'; '.join(names)}. "
            f'Load since="{iso(needed.since)}", until="{iso(needed.until)}", or give a base from a later time.',
            missing=names,
        )
    unsettled = tuple(dict.fromkeys(str(part) for part in _not_final(frames, needed)))
    if unsettled:
        raise CoverageError(
            f"The state at {iso(needed.until)} is not settled: updates may still come in {'; '.join(unsettled)}. "
            "Ask for an earlier time, or load again later.",
            missing=unsettled,
        )


def _held(frames: Frames) -> list[Window]:
    """The range that the frames were loaded for, up to where their source reaches: the newest objects may not be there yet."""
    covered = frames.coverage
    if frames.window is None or covered.empty:
        return []
    if "bulk_objects" in frames.tables:  # folders lie side by side, so a hole is something that was not read
        unread = _folders(frames.failed_objects)
        return [part for window in _windows(covered) for part in window.minus(unread)]
    return [Window(frames.window.since, covered["until"].max().to_pydatetime())]


def _folders(object_keys: Iterable[str]) -> list[Window]:
    """The ranges of folders: an object may lie between others that do not show it in what they cover."""
    return [Window(key.since, key.until) for key in map(ObjectKey.from_path, object_keys) if key]


def _not_final(frames: Frames, needed: Window) -> list[Window]:
    covered = frames.coverage
    rows = covered[covered["status"] != "final"]
    return [part for window in _windows(rows) if (part := window.intersect(needed))]


def _windows(covered: pd.DataFrame) -> list[Window]:
    edges = zip(covered["since"], covered["until"], strict=True)
    return [Window(low.to_pydatetime(), high.to_pydatetime()) for low, high in edges]


# -- history ----------------------------------------------------------------------------------------------------------


def _lives(nodes: ds.Dataset) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """For each create and each archival, in the order of the scan: the contract, and whether it is the archival."""
    # Text as a whole may be longer than 2 GiB.
    columns = {"contract_id": pc.field("contract_id").cast(pa.large_string()), "consuming": pc.field("consuming")}
    rows = nodes.to_table(columns=columns)
    return rows["contract_id"], pc.fill_null(rows["consuming"], False)


def _ids_of(base: pd.DataFrame) -> pa.ChunkedArray:
    schema = pa.schema([("contract_id", pa.large_string())])
    return pa.Table.from_pandas(base[["contract_id"]], schema, preserve_index=False)["contract_id"]


def _is_in(ids: pa.ChunkedArray, among: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.is_in(ids, value_set=among.combine_chunks())


def _created(nodes: ds.Dataset, wanted: pa.ChunkedArray) -> pd.DataFrame:
    """The rows of contracts that the history creates; payloads are read block by block, and kept where wanted."""
    columns = {**{name: pc.field(name) for name in OF_THE_NODE}, "created_in_update_id": pc.field("update_id")}
    scanner = nodes.scanner(columns=columns)
    flags, done, blocks = wanted.combine_chunks(), 0, []
    for block in scanner.to_batches():
        blocks.append(block.filter(flags.slice(done, block.num_rows)))
        done += block.num_rows
    return ACTIVE_CONTRACTS.to_pandas(pa.Table.from_batches(blocks, scanner.projected_schema))
