"""Frames and tables that callers pass, such as the contracts that are active at one time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pandas as pd
import pyarrow as pa

from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.keys import key_of
from ledgerframes.engine.query import Source
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import iso

Snapshot = Frames | pd.DataFrame
CONTRACT_COLUMNS = tuple(ACTIVE_CONTRACTS.column_names)
SNAPSHOT_TIMES = Relation(
    "snapshot_times",
    "One row per time of a snapshot: whether it has a contract twice.",
    f"""
    SELECT snapshot_time, count(*) > count(DISTINCT {key_of("contract_id")}) AS has_repeats
    FROM active_contracts
    GROUP BY snapshot_time
    """,
    tables=("active_contracts",),
)


def require_one_network(name: str, *frames: Frames) -> None:
    """Raise a UsageError if Frames of several networks are arguments of one call."""
    networks = sorted({each.network for each in frames})
    if len(networks) > 1:
        raise UsageError(f"lf.{name} needs frames of one network, got {' and '.join(networks)}. Call it once for each network.")


def require_participant(participant: object) -> None:
    """Raise a UsageError unless an argument is the id of a participant."""
    if not isinstance(participant, str):
        raise UsageError(f"participant= must be the id of a participant, got {participant!r}.")


def is_choice(value: object, choices: Collection[str]) -> bool:
    """Return whether an argument, which can be anything, is one of the choices."""
    return isinstance(value, str) and value in choices


def require_columns(table: object, columns: Iterable[str], rule: str, step: str = "") -> pd.DataFrame:
    """Return a DataFrame with these columns, or raise a UsageError with the broken rule."""
    if not isinstance(table, pd.DataFrame):
        value = type(table).__name__
    elif missing := [name for name in columns if name not in table]:
        value = f"a DataFrame without column {missing[0]!r}"
    else:
        return table
    raise UsageError(f"{rule}, got {value}. {step}".rstrip())


def snapshot_rows(snapshot: object, argument: str, columns: Sequence[str] = CONTRACT_COLUMNS) -> pd.DataFrame:
    """Return columns of the contracts of one snapshot, and its time.

    A contract that is in several loads, such as one of all contracts and one of an owner, occurs once.
    """
    names = list(dict.fromkeys(["snapshot_time", *columns]))
    rows = snapshot.read("active_contracts", names) if isinstance(snapshot, Frames) else snapshot
    rule = f"{argument}= must be Frames or rows of table active_contracts"
    rows = require_columns(rows, names, rule, 'Pass the result of load_bulk(kind="acs").')
    _require_one_time(rows["snapshot_time"].drop_duplicates(), argument)
    return rows[names].drop_duplicates("contract_id") if "contract_id" in names else rows[names]


def _require_one_time(times: pd.Series, argument: str) -> None:
    """Raise a UsageError unless all rows of a snapshot have one time."""
    if len(times) != 1 or times.isna().any():
        values = ", ".join(map(str, times.head(3))) or "none"
        raise UsageError(f"{argument}= must be one snapshot, got snapshot_time: {values}. Pass the rows of one snapshot.")


@dataclass(frozen=True)
class SnapshotTable:
    """The contracts of a snapshot as a table for queries, or an empty table.

    Attributes
    ----------
    time : datetime, optional
        Time of the snapshot, or None without one.
    parameters, sources : mapping
        The table, of a DataFrame or of Frames, by its name in queries.
    """

    time: datetime | None
    parameters: Mapping[str, pa.Table] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)


def snapshot_table(snapshot: Snapshot, argument: str, columns: Sequence[str] = CONTRACT_COLUMNS) -> SnapshotTable:
    """Return columns of a snapshot as a table for queries, named after the argument.

    Queries read the rows of Frames from their files, unless a contract is in them twice, such as in two encodings.
    """
    name = f"{argument}_contracts"
    if isinstance(snapshot, Frames):
        times = run(snapshot, Query("FROM snapshot_times ORDER BY 1", (SNAPSHOT_TIMES,)))
        _require_one_time(times["snapshot_time"], argument)
        if not times["has_repeats"].iloc[0]:
            time = times["snapshot_time"].iloc[0].to_pydatetime()
            return SnapshotTable(time, sources={name: (snapshot, "active_contracts")})
    rows = snapshot_rows(snapshot, argument, columns)
    table = pa.Table.from_pandas(rows[[*columns]], _schema(columns), preserve_index=False)
    return SnapshotTable(rows["snapshot_time"].iloc[0].to_pydatetime(), {name: table})


def base_table(base: Snapshot | None, columns: Sequence[str] = CONTRACT_COLUMNS) -> SnapshotTable:
    """Return the table of the snapshot of ``base=``, without rows if there is none."""
    if base is None:
        return SnapshotTable(None, {"base_contracts": _schema(columns).empty_table()})
    return snapshot_table(base, "base", columns)


def _schema(columns: Sequence[str]) -> pa.Schema:
    return pa.schema([ACTIVE_CONTRACTS.schema.field(each) for each in columns])


def to_times(values: pd.Series, argument: str) -> pd.Series:
    """Return times of the caller in UTC, or raise a UsageError for one that is none."""
    times = pd.to_datetime(values, utc=True, errors="coerce")
    unreadable = values[times.isna() & values.notna()]
    if len(unreadable):
        raise UsageError(f"{argument}= must have times in {values.name}, got {unreadable.iloc[0]!r}.")
    return times.dt.as_unit("us")


def require_before(since: datetime, until: datetime) -> None:
    """Raise a UsageError unless the snapshot of ``base=`` is earlier than the end."""
    if since >= until:
        raise UsageError(f"base= must be from before {iso(until)}, got a snapshot of {iso(since)}. Pass an earlier one.")


def require_signer(parties: Collection[str], rounds: Iterable[Iterable[str]]) -> None:
    """Raise a UsageError if the network's party signs no round of the history."""
    signers = [set(each) for each in rounds]
    if signers and any(parties) and not any(each.intersection(parties) for each in signers):
        raise UsageError(
            "base= is of another network: its rules are signed by a party that signs no round of these frames. "
            "Pass contracts of the network of the frames."
        )


def require_network_of(frames: Frames, argument: str, table: pd.DataFrame) -> None:
    """Raise a UsageError for a table of another network, such as its rounds."""
    others = {str(name) for name in table["network"].dropna()} - {frames.network} if "network" in table else set()
    if others:
        step = f"got {' and '.join(sorted(others))}. Derive it from frames of the same network, or drop its column network."
        raise UsageError(f"{argument}= must be of the network of the frames, {frames.network}, {step}")
