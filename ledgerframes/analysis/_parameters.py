"""Small tables that the engine joins with requests, such as labels and eras."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.coverage import timed_segments
from ledgerframes.analysis.eras import periods_of_eras
from ledgerframes.analysis.labels import groups_by_id
from ledgerframes.analysis.requests import PARTICIPANT_PREFIX
from ledgerframes.frames import Frames

USER_COLUMNS = ("participant_id", "offset", "update_id", "user_id", "paid_traffic_cost")
TEXT, TIME = pa.string(), pa.timestamp("us", tz="UTC")


def parameter_tables(
    frames: Frames, keys: Sequence[str], labels: pd.DataFrame | None, eras: pd.DataFrame | None
) -> Mapping[str, pa.Table]:
    """Return the small tables to join with the rows of a grouping, by name."""
    if "label" in keys:
        return _labels(groups_by_id(labels))
    if "era" in keys:
        return {"eras": _table(periods_of_eras(eras), name=TEXT, since=TIME, until=TIME)}
    if "source" in keys:
        columns = {"source": TEXT, "migration_id": pa.int64(), "since": TIME, "until": TIME}
        # Objects in one folder have the same time.
        segments = timed_segments(frames).drop_duplicates(["migration_id", "since", "until"], keep="last")
        return {"segments": _table(segments, **columns)}
    return {}


def users_of(completions: pd.DataFrame | None) -> Mapping[str, pa.Table]:
    """Return the completions that name the users of requests, for ``by="user"``.

    Raises
    ------
    UsageError
        If `completions` is missing, or is not rows of that table.
    """
    rule = 'completions= must be rows of table completions for by="user"'
    rows = require_columns(completions, USER_COLUMNS, rule, "Pass the result of lf.load_completions(net).")
    rows = rows.rename(columns={"offset": "completion_offset"})  # the other is a word of SQL
    columns = {
        "participant_id": TEXT,
        "completion_offset": pa.int64(),
        "update_id": TEXT,
        "user_id": TEXT,
        "paid_traffic_cost": pa.int64(),
    }
    return {"completions": _table(rows, **columns)}


def _labels(groups: pd.Series) -> dict[str, pa.Table]:
    """Return the label of each party, and of each participant without a prefix."""
    rows = pd.DataFrame({"id": groups.index.astype("str"), "label": groups.to_numpy()}).dropna(subset=["label"])
    has_prefix = rows["id"].str.startswith(PARTICIPANT_PREFIX)
    without = pd.concat([rows[~has_prefix], rows[has_prefix].assign(id=rows["id"].str.removeprefix(PARTICIPANT_PREFIX))])
    return {
        "party_labels": _table(rows, id=TEXT, label=TEXT),
        "participant_labels": _table(without.drop_duplicates("id"), id=TEXT, label=TEXT),
    }


def _table(rows: pd.DataFrame, **columns: pa.DataType) -> pa.Table:
    return pa.table({name: pa.array(rows[name], kind) for name, kind in columns.items()})
