"""Whether the listing and the bulk objects of a network hold the same updates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._coverage import incomplete_windows
from ledgerframes.analysis._groupings import periods_of
from ledgerframes.analysis._groups import Groups, cross, ratio
from ledgerframes.analysis._requests import positions, take_or_missing
from ledgerframes.analysis.reconcile._row_differences import DIFFERENT, compare_tables
from ledgerframes.datasets import table
from ledgerframes.errors import CoverageError, IntegrityError, UsageError
from ledgerframes.frames import Frames

OUTCOMES = ("only listing", "only bulk", "payload differs", "equal value", "equal")  # from worst to best
KINDS = ("transaction", "reassignment", "import")
KEYS = {"updates": "update_id", "reassignments": "update_id", "tree_events": "event_id"}
HEAD = ["update_id", "record_time"]
OF_THE_HOST = "host_offset"  # not comparable between hosts
IMPORT = "canton-network-acs-import-"
CONDITION, UNIT = "that both sources have", "rows of either source"

BULK = declare.Figure(
    "reconcile.bulk",
    rows="One row per row of ``updates``, ``reassignments`` and ``tree_events`` in either source; sorted by outcome, "
    "worst first, then by record time, update, table and node.",
    columns=(
        declare.choice("table", KEYS, "Table of the row: updates, reassignments or tree_events."),
        declare.text("update_id", "Update of the row."),
        declare.text("event_id", "Node of the tree. Missing if the row is not a node."),
        declare.time("record_time", "Sequencing time."),
        declare.choice("outcome", OUTCOMES),
        declare.text("first_path", "Column, and place in its payload, of the first difference. Missing if there is none."),
    ),
    condition=CONDITION,
    unit=UNIT,
)
COUNTS = (
    declare.count("equal", "Updates that are equal in both sources.", "updates"),
    declare.count("equal_value", "Updates that differ in the text of a number only.", "updates"),
    declare.count("different", "Updates with a payload or another column that differs.", "updates"),
    declare.count("only_listing", "Updates that only the listing has.", "updates"),
    declare.count("only_bulk", "Updates that only the bulk objects have.", "updates"),
)
TOTALS = declare.Figure(
    "reconcile.bulk_totals",
    distinct=("kind",),
    rows="One row per period and kind of update; sorted by time and kind. An update has the worst outcome of its rows.",
    like="reconcile.bulk",
    columns=(declare.choice("kind", KINDS, "transaction, reassignment, or import of a migration."), *COUNTS),
    has_periods=True,
    condition="that both sources have",
    unit="updates of either source",
)


@BULK.document
def bulk(listing: Frames, bulk: Frames) -> pd.DataFrame:
    """Compare the updates of a listing with those of bulk objects, node by node.

    Parameters
    ----------
    listing : Frames
        From :func:`ledgerframes.load_events`.
    bulk : Frames
        From :func:`ledgerframes.load_bulk` for the same window.

    Raises
    ------
    UsageError
        If the arguments are not Frames of one network and one window.
    CoverageError
        If a folder of the window is not written yet or could not be read, or the listing is not final.

    Source: docs/facts.md#bulk-storage. The order of members does not count, and a null is the same as an absent member. A
    number with other zeros, such as ``"1.0"`` and ``"1.0000000000"``, has the outcome ``equal value``, because its text
    differs. The offset on the host is not compared.

    >>> day = {"since": "2026-11-08", "until": "2026-11-09"}
    >>> rows = lf.reconcile.bulk(lf.load_events(net, **day), lf.load_bulk(net, **day))
    >>> rows["outcome"].astype("str").unique().tolist()
    ['equal']
    """
    rows = _compare(listing, bulk, BULK.name)
    rows["number"] = rows["event_id"].str.extract(r":(\d+)$", expand=False).astype("Int64")
    order = ["outcome", "record_time", "update_id", "table", "number"]
    rows = rows.sort_values(order, na_position="first", ignore_index=True)
    is_in_both = rows["outcome"].to_numpy() >= DIFFERENT
    values = {
        **rows,
        "outcome": pd.Categorical.from_codes(rows["outcome"], pd.Index(OUTCOMES)),
        "coverage": ratio([is_in_both.sum()], [len(rows)])[0],
    }
    return BULK.build(listing, values)


@TOTALS.document
def bulk_totals(listing: Frames, bulk: Frames, *, every: str | None = "1d") -> pd.DataFrame:
    """Return the number of updates of each outcome of :func:`bulk`.

    Raises
    ------
    IntegrityError
        If the outcomes do not add up to the updates of both sources.

    Source: docs/facts.md#bulk-storage. Bulk objects have no imports of a migration
    (docs/facts.md#contracts-across-migrations).

    >>> day = {"since": "2026-11-08", "until": "2026-11-09"}
    >>> totals = lf.reconcile.bulk_totals(lf.load_events(net, **day), lf.load_bulk(net, **day))
    >>> totals[["kind", "different", "only_listing", "only_bulk"]].values.tolist()
    [['transaction', 0, 0, 0], ['reassignment', 0, 0, 0], ['import', 0, 0, 0]]
    """
    rows = _compare(listing, bulk, TOTALS.name)
    updates = _worst_of_updates(rows)
    codes = pd.Categorical(_kinds(listing, bulk, updates["update_id"]), KINDS).codes.astype(np.int64)
    groups = Groups(pd.DataFrame({"kind": KINDS}), codes)
    if every is not None:
        groups = cross(periods_of(listing, updates["record_time"], every), groups, every)
    outcome = updates["outcome"].to_numpy()
    counts = {OUTCOMES[code]: groups.count(outcome == code) for code in range(len(OUTCOMES))}
    _require_totals(counts, len(listing.read("updates", HEAD)), len(bulk.read("updates", HEAD)))
    values = {
        **groups.keys,
        "equal": counts["equal"],
        "equal_value": counts["equal value"],
        "different": counts["payload differs"],
        "only_listing": counts["only listing"],
        "only_bulk": counts["only bulk"],
        "coverage": groups.coverage(outcome >= DIFFERENT),
    }
    return TOTALS.build(listing, values, every=every)


# -- sources ------------------------------------------------------------------------------------------------------------


def _require_comparable(listing: Frames, bulk: Frames, name: str) -> None:
    """Raise an error unless both sources hold all of one window."""
    declare.require_frames(listing, name)
    declare.require_frames(bulk, name)
    declare.require_one_network(name, listing, bulk)
    window = listing.window
    if window is None or window != bulk.window or listing.is_filtered or bulk.is_filtered:
        raise UsageError(
            f"lf.{name} needs unfiltered frames of one window, got {listing.window} and {bulk.window}. Load both for one."
        )
    for frames in (listing, bulk):
        missing = tuple(str(part) for parts in incomplete_windows(frames, window) for part in parts)
        if missing:
            raise CoverageError(
                f"lf.{name} needs final data of the whole window, without {', '.join(missing)}. Choose an earlier until=.",
                missing=missing,
            )


def _require_totals(counts: dict[str, Any], listing_count: int, bulk_count: int) -> None:
    sums = {name: int(count.sum()) for name, count in counts.items()}
    in_both = sum(sums.values()) - sums["only listing"] - sums["only bulk"]
    if (in_both + sums["only listing"], in_both + sums["only bulk"]) != (listing_count, bulk_count):
        raise IntegrityError("The outcomes do not add up to the updates of both sources. Run `ledgerframes store verify`.")


def _kinds(listing: Frames, bulk: Frames, update_ids: pd.Series) -> pd.Series:
    """Return the kind of each of these updates, that of the listing if both sources have it."""
    columns = ["update_id", "kind", "workflow_id"]
    updates = pd.concat([frames.read("updates", columns) for frames in (listing, bulk)], ignore_index=True)
    kinds = updates["kind"].astype("str").mask(updates["workflow_id"].str.startswith(IMPORT).fillna(False), "import")
    return take_or_missing(kinds, positions(update_ids, updates["update_id"]))


def _worst_of_updates(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per update, where a node of one source only makes its update different."""
    is_update = rows["table"] == "updates"
    outcomes = rows["outcome"].where(is_update, rows["outcome"].clip(lower=DIFFERENT))
    worst = outcomes.groupby(rows["update_id"]).min()
    return rows.loc[is_update, HEAD].assign(outcome=rows.loc[is_update, "update_id"].map(worst))


# -- rows ---------------------------------------------------------------------------------------------------------------


def _compare(listing: Frames, bulk: Frames, name: str) -> pd.DataFrame:
    """Return one row per row of all tables in either source, which must be comparable."""
    _require_comparable(listing, bulk, name)
    return pd.concat([_compare_table(listing, bulk, table) for table in KEYS], ignore_index=True)


def _read(frames: Frames, name: str) -> pa.Table:
    with frames._scanning(name) as rows:
        return rows.to_table()


def _compare_table(listing: Frames, bulk: Frames, name: str) -> pd.DataFrame:
    """Return one row per row of a table in either source."""
    ours, theirs = (_read(frames, name) for frames in (listing, bulk))
    key = KEYS[name]
    columns = [column for column in table(name).columns if column.name not in (key, OF_THE_HOST)]
    rows = compare_tables(ours, theirs, key, [*dict.fromkeys([*HEAD, key])], columns)
    if "event_id" not in rows:
        rows["event_id"] = pd.Series(pd.NA, rows.index, "str")
    return rows.astype({"update_id": "str", "event_id": "str"}).assign(table=name)
