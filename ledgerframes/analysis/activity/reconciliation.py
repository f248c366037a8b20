"""Comparison of published with computed activity weights, each mismatch with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.activity import _answers as answers
from ledgerframes.analysis.activity._weights import computable_share, require_sum_of_weights
from ledgerframes.analysis.activity.state_tables import reason_tables, state_tables
from ledgerframes.analysis.arguments import Snapshot, require_columns
from ledgerframes.analysis.groups import sort_largest_first
from ledgerframes.analysis.state.network_state import NetworkState, network_state
from ledgerframes.engine import Query, run
from ledgerframes.engine.literals import array_of, one_of
from ledgerframes.engine.query import run_arrow
from ledgerframes.engine.reconciled_weights import OWN, PASSED, reconciled
from ledgerframes.engine.results import to_pandas
from ledgerframes.engine.weights import COMPUTABLE
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.frames import Frames

KEYS = ["update_id", "party"]
SIDES = ("published", "computed")
OUTCOMES = ("different", "only published", "only computed", "equal")
REASONS = (
    "not accepted",
    "over the bound",
    "no round",
    "no state",
    "submitted by a super validator",
    "no envelopes",
    "boundary",
    "party not featured",
    "no featured confirmers",
    "provisional",
    "record withheld",
    "rounding",
    "weight factor",
    "unexplained",
)
# Of each side alone, which the rows must add up to. As columns of all rows they would need much memory.
TOTALS = """
    -- The last row: sums that can be beyond 64 bits.
    SELECT MAP {
        'published': (SELECT sum(weight) FROM activity_records WHERE weight >= 0)::HUGEINT,
        'computed': (SELECT sum(weight) FROM compared_with)::HUGEINT,
        'accepted': accepted,
        'unknown': unknown
    } AS totals
    FROM computable
""".strip("\n")
ROWS = f"""
SELECT
    update_id, record_time, round_number, party, weight_published, weight_computed, difference, outcome, reason, totals
FROM (
    FROM reconciled
    UNION ALL BY NAME
{TOTALS}
)
ORDER BY totals IS NOT NULL, list_position({array_of(OUTCOMES)}, outcome), migration_id, record_time, update_id, party
"""
EXCUSES = ("boundary", "provisional", "record withheld")  # mismatches that are not faults of the records
NOT_COMPUTABLE = ("no round", "no state", "no envelopes")  # of which the frames cannot tell whether the record is at fault
BY_ROUND = f"""
FROM (
    SELECT
        round_number,
        party,
        sum(weight_published) AS weight_published,
        sum(weight_computed) AS weight_computed,
        bool_or(is_fault) AS is_faulty,
        min(reason) FILTER (WHERE is_unknown) AS unknown_reason,
        coalesce(sum(CASE WHEN is_fault THEN weight_computed ELSE weight_published END), 0) AS weight
    FROM (
        SELECT
            *,
            coalesce(reason IN {one_of(NOT_COMPUTABLE)}, false) AS is_unknown,
            outcome <> 'equal' AND coalesce(reason NOT IN {one_of(EXCUSES)}, true) AND NOT is_unknown AS is_fault
        FROM reconciled
    )
    GROUP BY round_number, party
    UNION ALL BY NAME
{TOTALS}
)
ORDER BY totals IS NOT NULL
"""
OF_ROUNDS = ["round_number", "party", "is_faulty", "unknown_reason", "weight"]
COUNTS = """
SELECT *
FROM (
    SELECT outcome, reason, count(*) AS records, sum(coalesce(weight_published, weight_computed)) AS weight
    FROM reconciled
    GROUP BY ALL
)
CROSS JOIN computable
"""


def _queries(frames: Frames, computed: pd.DataFrame | None, **state: Any) -> list[Query]:
    return [_query(frames, network_state(frames, **state), computed, ROWS)]


def _queries_of_totals(frames: Frames, computed: pd.DataFrame | None, **state: Any) -> list[Query]:
    return [_query(frames, network_state(frames, **state), computed, COUNTS)]


OUTCOME = declare.choice("outcome", OUTCOMES)
REASON = declare.choice("reason", REASONS, "First reason that explains the mismatch. Missing if the weights are equal.", "Reason")
PUBLISHED = declare.integer("weight_published", "Published weight. Missing if there is only a computed one.", declare.WEIGHT_UNIT)
COMPUTED = declare.integer("weight_computed", "Computed weight. Missing if there is only a published one.", declare.WEIGHT_UNIT)
CONDITION, UNIT = "with known envelopes, round and state", "accepted requests of the frames"
RECONCILE = declare.Figure(
    "activity.reconcile",
    caption="Published and computed activity weights",
    rows="One row per request and party with a weight in either; sorted by outcome, mismatches first, then by record "
    "time, update and party.",
    columns=(
        declare.text("update_id", "Update of the record."),
        declare.time("record_time", "Sequencing time."),
        declare.integer("round_number", "Published round, or the computed one if there is none."),
        declare.text("party", "App provider."),
        PUBLISHED,
        COMPUTED,
        declare.integer("difference", "Published minus computed weight. Missing if either is.", declare.WEIGHT_UNIT),
        OUTCOME,
        REASON,
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries,
)
RECONCILE_TOTALS = declare.Figure(
    "activity.reconcile_totals",
    caption="Published and computed activity weights by outcome",
    answer=answers.of_reconcile_totals,
    rows="One row per outcome and reason that occurs; sorted by outcome, then by number of records from the largest.",
    columns=(
        OUTCOME,
        REASON,
        declare.count("records", "Pairs of a request and a party.", "records"),
        declare.integer("weight", "Sum of published weights, of computed ones if only computed.", declare.WEIGHT_UNIT),
    ),
    condition=CONDITION,
    unit=UNIT,
    queries=_queries_of_totals,
)


@RECONCILE.register
def reconcile(
    frames: Frames,
    *,
    computed: pd.DataFrame | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return each published weight next to the computed one, with a reason for each mismatch.

    Parameters
    ----------
    frames : Frames
        With verdicts, traffic and, unless all three tables below replace it, the history from the start of the network on.
    computed : DataFrame, optional
        Weights to compare with: ``update_id``, ``party`` and ``weight`` (default: those of :func:`recompute`).
    featured : DataFrame, optional
        Featured rights: ``party``, ``weight`` (missing counts as 1), ``from`` and ``until`` [UTC, missing if alive] (default:
        from the history, which must start with the network).
    sv_participants : DataFrame, optional
        Participants of super validators: ``participant`` without a prefix, ``from`` and ``until`` (default: from the history).
        The state is unknown at times without any.
    rounds : DataFrame, optional
        Mining rounds: ``round_number``, ``opens_at``, ``from`` (or ``created_at``) and ``until`` (or ``archived_at``) (default:
        from the history).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts`. The tables above that
        are not passed are computed from them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per request and party with a weight in either; sorted by outcome, mismatches first, then by record time, update
        and party.

        Columns:

        - ``update_id`` (str): Update of the record.
        - ``record_time`` (datetime64[us, UTC]): Sequencing time.
        - ``round_number`` (Int64): Published round, or the computed one if there is none.
        - ``party`` (str): App provider.
        - ``weight_published`` (Int64, weighted bytes): Published weight. Missing if there is only a computed one.
        - ``weight_computed`` (Int64, weighted bytes): Computed weight. Missing if there is only a published one.
        - ``difference`` (Int64, weighted bytes): Published minus computed weight. Missing if either is.
        - ``outcome`` (category): different, only published, only computed, or equal.
        - ``reason`` (category): First reason that explains the mismatch. Missing if the weights are equal.
        - ``coverage`` (float64, share of 1): Share of the accepted requests of the frames with known envelopes, round and
          state. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the state is needed, and its start is not in the history or the frames are chosen updates.
    IntegrityError
        If two contracts with the network's rules are alive at one time.
    UsageError
        If a table has no such column.
    IntegrityError
        If the sums of both sides are not those of the result.

    Notes
    -----
    Source: docs/facts.md#activity-weights. Reasons are tested in this order: not accepted, over the bound, no round, no state,
    submitted by a super validator, no envelopes (or no verdict); boundary (the ledger times of the state explain it); party
    not featured, no featured confirmers; provisional (not final, or the round is alive); record withheld (before the first
    or after the last round that the host published); rounding (by at most 1), weight factor (another factor of the party).

    Picture, by :func:`ledgerframes.plot`: A bar per outcome and reason, and the parties with the most mismatches in the
    note.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> lf.activity.reconcile(frames)["outcome"].iloc[-1]
    'equal'
    """
    RECONCILE.check(frames)
    state = network_state(frames, featured, sv_participants, rounds, base)
    computed = None if computed is None else _require_weights(computed)
    require_sum_of_weights(frames)
    rows, totals = _without_totals(run_arrow(frames, _query(frames, state, computed, ROWS)))
    if rows["update_id"].null_count:  # a weight of the caller without an update
        rows = rows.filter(pc.is_valid(rows["update_id"]))
    compared = to_pandas(rows)
    coverage = computable_share(pd.DataFrame([totals], dtype="object")) if len(compared) else np.nan
    return RECONCILE.build(frames, {**compared, "coverage": coverage})


@RECONCILE_TOTALS.register
def reconcile_totals(
    frames: Frames,
    *,
    computed: pd.DataFrame | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return how many weights are equal, and how many differ for each reason.

    Parameters
    ----------
    frames : Frames
        With verdicts, traffic and, unless all three tables below replace it, the history from the start of the network on.
    computed : DataFrame, optional
        Weights to compare with: ``update_id``, ``party`` and ``weight`` (default: those of :func:`recompute`).
    featured : DataFrame, optional
        Featured rights: ``party``, ``weight`` (missing counts as 1), ``from`` and ``until`` [UTC, missing if alive] (default:
        from the history, which must start with the network).
    sv_participants : DataFrame, optional
        Participants of super validators: ``participant`` without a prefix, ``from`` and ``until`` (default: from the history).
        The state is unknown at times without any.
    rounds : DataFrame, optional
        Mining rounds: ``round_number``, ``opens_at``, ``from`` (or ``created_at``) and ``until`` (or ``archived_at``) (default:
        from the history).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts`. The tables above that
        are not passed are computed from them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per outcome and reason that occurs; sorted by outcome, then by number of records from the largest.

        Columns:

        - ``outcome`` (category): different, only published, only computed, or equal.
        - ``reason`` (category): First reason that explains the mismatch. Missing if the weights are equal.
        - ``records`` (int64, records): Pairs of a request and a party.
        - ``weight`` (Int64, weighted bytes): Sum of published weights, of computed ones if only computed.
        - ``coverage`` (float64, share of 1): Share of the accepted requests of the frames with known envelopes, round and
          state. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the state is needed, and its start is not in the history or the frames are chosen updates.
    IntegrityError
        If two contracts with the network's rules are alive at one time.
    UsageError
        If a table has no such column.
    IntegrityError
        If the sums of both sides are not those of the result.

    Notes
    -----
    Source: docs/facts.md#activity-weights.

    Picture, by :func:`ledgerframes.plot`: A bar per outcome and reason.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> int(lf.activity.reconcile_totals(frames)["records"].sum()) >= len(frames.activity_records)
    True
    """
    RECONCILE_TOTALS.check(frames)
    state = network_state(frames, featured, sv_participants, rounds, base)
    computed = None if computed is None else _require_weights(computed)
    require_sum_of_weights(frames)
    rows = run(frames, _query(frames, state, computed, COUNTS))
    values = {**sort_largest_first(_in_order(rows), "records", "reason", before=["outcome"])}
    return RECONCILE_TOTALS.build(frames, {**values, "coverage": computable_share(rows)})


def weights_without_faults(
    frames: Frames,
    featured: pd.DataFrame | None,
    sv_participants: pd.DataFrame | None,
    rounds: pd.DataFrame | None,
    base: Snapshot | None,
) -> pa.Table:
    """Return the published weights by round and party, with computed ones for faulty records.

    ``unknown_reason`` says why a weight cannot be computed. It is missing if all can be.

    Raises
    ------
    CoverageError
        If the state is needed, and its start is not in the history or the frames are chosen updates.
    """
    state = network_state(frames, featured, sv_participants, rounds, base)
    require_sum_of_weights(frames)
    rows, _ = _without_totals(run_arrow(frames, _query(frames, state, None, BY_ROUND)))
    return rows.filter(pc.is_valid(rows["round_number"])).select(OF_ROUNDS)


def _in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with outcomes and reasons in the order of their declaration."""
    return rows.astype({column.name: column.pandas_dtype for column in (OUTCOME, REASON)})


def _require_weights(computed: object) -> pd.DataFrame:
    computed = require_columns(computed, [*KEYS, "weight"], "computed= must have the columns update_id, party and weight")
    repeated = computed.loc[computed.duplicated(KEYS), KEYS]
    if len(repeated):
        raise UsageError(f"computed= must have each update and party once, got {tuple(repeated.iloc[0])!r} several times.")
    return computed


def _without_totals(rows: pa.Table) -> tuple[pa.Table, dict[str, Any]]:
    """Return the rows of a comparison without the last one, and the totals in that row.

    Raises
    ------
    IntegrityError
        If the sums of the rows are not those of their sources.
    """
    totals, rows = dict(rows["totals"][-1].as_py()), rows.drop_columns("totals").slice(0, len(rows) - 1)
    for side in SIDES:
        sum_of_rows = pc.sum(rows[f"weight_{side}"].cast(pa.decimal128(38, 0))).as_py()
        if (sum_of_rows or 0) != (totals[side] or 0):
            raise IntegrityError(f"The sum of weight_{side} in the comparison is not that of its source. Load the frames again.")
    return rows, totals


def _query(frames: Frames, state: NetworkState, computed: pd.DataFrame | None, select: str) -> Query:
    """Return a query over the compared weights."""
    relation = reconciled(OWN if computed is None else PASSED)
    tables = {**state_tables(state), **state_tables(state.effective(), "effective_"), **reason_tables(frames, state)}
    return Query(select.strip(), (relation, COMPUTABLE), tables if computed is None else {**tables, "passed": _passed(computed)})


def _passed(computed: pd.DataFrame) -> pa.Table:
    """Return the weights of the caller as a table."""
    texts = {name: pa.array(computed[name].astype("str"), pa.string(), from_pandas=True) for name in KEYS}
    numbers = {
        name: pa.array(computed[name].astype("Int64"), pa.int64()) if name in computed else pa.nulls(len(computed), pa.int64())
        for name in ("weight", "round_number")
    }
    return pa.table({**texts, **numbers})
