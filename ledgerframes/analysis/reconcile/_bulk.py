"""Comparison of the updates in the listing and in the bulk objects of a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._groupings import periods_of
from ledgerframes.analysis.arguments import require_one_network
from ledgerframes.analysis.coverage import incomplete_windows
from ledgerframes.analysis.economy.periods import period_of
from ledgerframes.analysis.groups import Groups, Integers, cross, ratio
from ledgerframes.analysis.reconcile._row_differences import compared
from ledgerframes.datasets import table
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.differences import COMPARED_UPDATES, DIFFERENT, EQUAL, ComparedColumn, differences
from ledgerframes.engine.query import other_sources
from ledgerframes.errors import CoverageError, IntegrityError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames

OUTCOMES = ("only listing", "only bulk", "payload differs", "equal value", "equal")  # from worst to best
KINDS = ("transaction", "reassignment", "import")
KEYS = {"updates": "update_id", "reassignments": "update_id", "tree_events": "event_id"}
HEAD = ["update_id", "record_time"]
OF_THE_HOST = "host_offset"  # not comparable between hosts
NODES_AT_ONCE = 500_000  # of each source, joined with their payloads
CONDITION, UNIT = "that both sources have", "rows of either source"

BULK = declare.Figure(
    "reconcile.bulk",
    caption="Rows of the listing and of bulk objects",
    rows="One row per row of ``updates``, ``reassignments`` and ``tree_events`` in either source; sorted by outcome, "
    "worst first, then by record time, update, table and node.",
    columns=(
        declare.choice("table", KEYS, "Table of the row: updates, reassignments or tree_events."),
        declare.text("update_id", "Update of the row."),
        declare.text("event_id", "Node of the tree. Missing if the row is not a node."),
        declare.time("record_time", "Sequencing time."),
        declare.choice("outcome", OUTCOMES),
        declare.text("first_path", "Column of the first difference, and path in its payload. Missing if there is no difference."),
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=lambda listing, bulk: _queries(listing, bulk, "reconcile.bulk"),
)
COUNTS = (
    declare.count("equal", "Updates that are equal in both sources.", "updates"),
    declare.count("equal_value", "Updates that differ only in the text of a number.", "updates"),
    declare.count("different", "Updates with a payload or another column that differs.", "updates"),
    declare.count("only_listing", "Updates that only the listing has.", "updates"),
    declare.count("only_bulk", "Updates that only the bulk objects have.", "updates"),
)
TOTALS = declare.Figure(
    "reconcile.bulk_totals",
    caption="Updates in the listing and in bulk objects",
    distinct=("kind",),
    queries=lambda listing, bulk, **_: _queries(listing, bulk, "reconcile.bulk_totals"),
    rows="One row per period and kind of update; sorted by time and kind. An update has the worst outcome of its rows.",
    columns=(declare.choice("kind", KINDS, "transaction, reassignment, or import of a migration."), *COUNTS),
    has_periods=True,
    condition="that both sources have",
    unit="updates of either source",
)


@BULK.register
def bulk(listing: Frames, bulk: Frames) -> pd.DataFrame:
    """Compare the updates of a listing with those of bulk objects, node by node.

    Parameters
    ----------
    listing : Frames
        From :func:`ledgerframes.load_events`.
    bulk : Frames
        From :func:`ledgerframes.load_bulk` for the same window.

    Returns
    -------
    DataFrame
        One row per row of ``updates``, ``reassignments`` and ``tree_events`` in either source; sorted by outcome, worst first,
        then by record time, update, table and node.

        Columns:

        - ``table`` (category): Table of the row: updates, reassignments or tree_events.
        - ``update_id`` (str): Update of the row.
        - ``event_id`` (str): Node of the tree. Missing if the row is not a node.
        - ``record_time`` (datetime64[us, UTC]): Sequencing time.
        - ``outcome`` (category): only listing, only bulk, payload differs, equal value, or equal.
        - ``first_path`` (str): Column of the first difference, and path in its payload. Missing if there is no difference.
        - ``coverage`` (float64, share of 1): Share of the rows of either source that both sources have. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If the arguments are not Frames of the same network and window.
    CoverageError
        If a folder of the window is not written yet or could not be read, or the listing is not final.

    Notes
    -----
    Source: docs/facts.md#bulk-storage. The order of members does not count, and a null is the same as an absent member.
    Numbers that are equal but written differently, such as ``"1.0"`` and ``"1.0000000000"``, have the outcome ``equal
    value``. Offsets on the host are not compared.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = {"since": "2026-11-08", "until": "2026-11-09"}
    >>> rows = lf.reconcile.bulk(lf.load_events(net, **day), lf.load_bulk(net, **day))
    >>> rows["outcome"].astype("str").unique().tolist()
    ['equal']
    """
    _require_comparable(listing, bulk, BULK.name)
    heads = [*HEAD, "event_id"]
    parts = (part.assign(table=name) for name in KEYS for part in compared(listing, _rows_query(bulk, name), heads))
    rows = pd.concat(parts, ignore_index=True)
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


@TOTALS.register
def bulk_totals(listing: Frames, bulk: Frames, *, every: str | None = "1d") -> pd.DataFrame:
    """Return the number of updates of each outcome of :func:`bulk`.

    Parameters
    ----------
    listing : Frames
        From :func:`ledgerframes.load_events`.
    bulk : Frames
        From :func:`ledgerframes.load_bulk` for the same window.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: 1d).

    Returns
    -------
    DataFrame
        One row per period and kind of update; sorted by time and kind. An update has the worst outcome of its rows.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``kind`` (category): transaction, reassignment, or import of a migration.
        - ``equal`` (int64, updates): Updates that are equal in both sources.
        - ``equal_value`` (int64, updates): Updates that differ only in the text of a number.
        - ``different`` (int64, updates): Updates with a payload or another column that differs.
        - ``only_listing`` (int64, updates): Updates that only the listing has.
        - ``only_bulk`` (int64, updates): Updates that only the bulk objects have.
        - ``coverage`` (float64, share of 1): Share of the updates of either source that both sources have. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    UsageError
        If the arguments are not Frames of the same network and window.
    CoverageError
        If a folder of the window is not written yet or could not be read, or the listing is not final.
    IntegrityError
        If the outcomes do not add up to the updates of both sources.

    Notes
    -----
    Source: docs/facts.md#bulk-storage. Bulk objects have no imports of a migration
    (docs/facts.md#contracts-across-migrations).

    Picture, by :func:`ledgerframes.plot`: One row per kind of update, a cell per period in the color of its worst outcome.
    Without periods, the number of updates of each outcome.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = {"since": "2026-11-08", "until": "2026-11-09"}
    >>> totals = lf.reconcile.bulk_totals(lf.load_events(net, **day), lf.load_bulk(net, **day))
    >>> totals[["kind", "different", "only_listing", "only_bulk"]].values.tolist()
    [['transaction', 0, 0, 0], ['reassignment', 0, 0, 0], ['import', 0, 0, 0]]
    """
    _require_comparable(listing, bulk, TOTALS.name)
    unequal = [_unequal_rows(*part) for part in _parts_of_time(listing, bulk)]
    worst = _worst_of_updates(pd.concat(unequal, ignore_index=True))
    parts = run(listing, _updates_query(bulk, every, worst))
    codes = pd.Categorical(parts["kind"], KINDS).codes.astype(np.int64)
    groups = Groups(pd.DataFrame({"kind": KINDS}), codes)
    if every is not None:
        groups = cross(periods_of(listing, parts["first_time"], every), groups, every)
    counts = {name: _count(groups, parts, code) for code, name in enumerate(OUTCOMES)}
    _require_totals(counts, listing.count_rows("updates"), bulk.count_rows("updates"))
    in_both = counts["payload differs"] + counts["equal value"] + counts["equal"]
    values = {
        **groups.keys,
        "equal": counts["equal"],
        "equal_value": counts["equal value"],
        "different": counts["payload differs"],
        "only_listing": counts["only listing"],
        "only_bulk": counts["only bulk"],
        "coverage": ratio(in_both, in_both + counts["only listing"] + counts["only bulk"]),
    }
    return TOTALS.build(listing, values, every=every)


# -- sources ------------------------------------------------------------------------------------------------------------


def _require_comparable(listing: Frames, bulk: Frames, name: str) -> None:
    """Raise an error unless both sources hold all of one window."""
    require_frames(listing, name)
    require_frames(bulk, name)
    require_one_network(name, listing, bulk)
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


def _count(groups: Groups, parts: pd.DataFrame, outcome: int) -> Integers:
    """Return the number of updates with an outcome in each group."""
    totals = groups.total(parts["updates"].where(parts["outcome"] == outcome))
    return totals.fillna(0).to_numpy("int64")


def _worst_of_updates(unequal: pd.DataFrame) -> pa.Table:
    """Return the worst outcome of the rows of each update.

    An update with a node that only one source has is different.
    """
    worst = unequal["outcome"].clip(lower=DIFFERENT).groupby(unequal["update_id"]).min()
    columns = {"update_id": pa.array(worst.index, pa.string()), "outcome": pa.array(worst, pa.int64())}
    return pa.table(columns)


def _updates_query(bulk: Frames, every: str | None, worst: pa.Table) -> Query:
    """Return the query of the updates of each kind and outcome, by parts of periods."""
    select = f"""
SELECT kind, outcome, {period_of(every)} AS part, min(record_time) AS first_time, count(*) AS updates
FROM compared_updates
GROUP BY ALL"""
    sources = other_sources(["updates"], bulk)
    return Query(select.lstrip(), (COMPARED_UPDATES,), {"worst_of_updates": worst}, sources)


# -- rows ---------------------------------------------------------------------------------------------------------------


def _differences_of(name: str) -> Relation:
    """Return the relation of the rows of a table in either source."""
    key = KEYS[name]
    columns = [each for each in table(name).columns if each.name not in (key, OF_THE_HOST)]
    listing = Relation(f"listing_{name}", "Rows of the listing.", f"FROM {name}", (name,))
    in_bulk = Relation(f"bulk_{name}", "Rows of the bulk objects.", f"FROM other_{name}", (f"other_{name}",))
    facts = [ComparedColumn(each.name, each.type, each.is_json) for each in columns]
    return differences(f"{name}_of_both", listing, in_bulk, key, list(dict.fromkeys([*HEAD, key])), facts)


def _rows_query(bulk: Frames, name: str) -> Query:
    """Return the query of the rows of a table in either source."""
    relation = _differences_of(name)
    event_id = "" if KEYS[name] == "event_id" else ", NULL::VARCHAR AS event_id"
    return Query(f"SELECT *{event_id}\nFROM {relation.name}", (relation,), sources=other_sources([name], bulk))


def _queries(listing: Frames, bulk: Frames, name: str) -> list[Query]:
    _require_comparable(listing, bulk, name)
    return [_rows_query(bulk, name) for name in KEYS]


def _unequal_rows(listing: Frames, bulk: Frames) -> pd.DataFrame:
    """Return the rows of all tables that only one source has, or that differ."""
    condition = "WHERE NOT is_in_both OR len(different_columns) > 0"
    queries = [replace(each, select=f"{each.select}\n{condition}") for each in (_rows_query(bulk, name) for name in KEYS)]
    parts = [rows[rows["outcome"] < EQUAL] for query in queries for rows in compared(listing, query, HEAD)]
    return pd.concat(parts, ignore_index=True)


def _parts_of_time(listing: Frames, bulk: Frames) -> Iterator[tuple[Frames, Frames]]:
    """Yield both sources by parts of time.

    Their nodes fit into memory, unless very many have one time. A row that has another time in the other source is in one
    source only then. Either way its update is different.
    """
    window = listing.window
    assert window is not None
    larger = max(listing, bulk, key=lambda frames: frames.count_rows("tree_events"))
    times = larger.read("updates", ["record_time"])["record_time"].sort_values()
    updates_at_once = max(1, NODES_AT_ONCE * len(times) // max(1, larger.count_rows("tree_events")))
    bounds = [time for time in times.iloc[updates_at_once::updates_at_once].unique() if time > window.since]
    for since, until in pairwise([window.since, *bounds, window.until]):
        yield listing.between(since, until), bulk.between(since, until)
