"""Tables that callers pass, such as the contracts that are active at one time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import pandas as pd

from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.windows import iso

Snapshot = Frames | pd.DataFrame


def require_columns(table: object, columns: Iterable[str], rule: str, step: str = "") -> pd.DataFrame:
    """Return a DataFrame with these columns, or raise a UsageError with the broken rule."""
    if not isinstance(table, pd.DataFrame):
        value = type(table).__name__
    elif missing := [name for name in columns if name not in table]:
        value = f"a DataFrame without column {missing[0]!r}"
    else:
        return table
    raise UsageError(f"{rule}, got {value}. {step}".rstrip())


def snapshot_rows(snapshot: object, argument: str, columns: Sequence[str] = tuple(ACTIVE_CONTRACTS.column_names)) -> pd.DataFrame:
    """Return columns of the contracts of one snapshot, and its time."""
    names = list(dict.fromkeys(["snapshot_time", *columns]))
    rows = snapshot.read("active_contracts", names) if isinstance(snapshot, Frames) else snapshot
    rule = f"{argument}= must be Frames or rows of table active_contracts"
    rows = require_columns(rows, names, rule, 'Pass the result of load_bulk(kind="acs").')
    times = rows["snapshot_time"].drop_duplicates()
    if len(times) != 1 or times.isna().any():
        values = ", ".join(map(str, times.head(3))) or "none"
        raise UsageError(f"{argument}= must be one snapshot, got snapshot_time: {values}. Pass the rows of one snapshot.")
    return rows[names]


def require_before(since: datetime, until: datetime) -> None:
    """Raise a UsageError unless the snapshot of ``base=`` is from before the end."""
    if since >= until:
        raise UsageError(f"base= must be from before {iso(until)}, got a snapshot of {iso(since)}. Pass an earlier one.")
