"""Activity weights as published, and computed from requests and the state of the network."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import to_amounts
from ledgerframes.analysis._grouped import Call, measure
from ledgerframes.analysis.activity import _answers as answers
from ledgerframes.analysis.activity.final_rounds import round_values
from ledgerframes.analysis.activity.state_tables import state_tables
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.groups import ratio, sort_largest_first
from ledgerframes.analysis.measures import Count, Expression, Total
from ledgerframes.analysis.state.network_state import NetworkState, network_state
from ledgerframes.engine import Query, run
from ledgerframes.engine.published_weights import RECORDS, RECORDS_WITHOUT_STATE, WEIGHTED_RECORDS, with_labels
from ledgerframes.engine.weights import COMPUTABLE, WEIGHTS_OF_UPDATES
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames


def queries_of_weights(
    frames: Frames, by: str | None, every: str | None, labels: pd.DataFrame | None, **state: Any
) -> list[Query]:
    return [_call(frames, by, every, labels, _state_or_none(frames, **state)).query]


def _queries_of_recompute(frames: Frames, **state: Any) -> list[Query]:
    return [_weights_query(network_state(frames, **state))]


PARTY = declare.Grouping((declare.text("party", "App provider. Missing for a period without records."),))
FACTOR = declare.amount("activity_weight", "Factor of the right. Missing if it is unknown or changed.")
LABEL = declare.Grouping((declare.text("label", "Group of the party's label. Missing without a label."),))
WEIGHTS = declare.Figure(
    "activity.weights",
    caption="Activity weights",
    answer=answers.of_weights,
    answers_over_time=True,
    main_columns=("weight", "share", "requests", "activity_weight", "burn_bytes"),
    distinct=(),
    rows="One row per round or period and group; sorted by time, then by weight from the largest, then by party.",
    by={"party": PARTY, "label": LABEL},
    has_periods=True,
    has_rounds=True,
    columns=(
        declare.count("requests", "Requests with a record.", measure=Count(of="DISTINCT update_key")),
        declare.integer(
            "weight", "Sum of weights. Missing without records.", declare.WEIGHT_UNIT, "Activity weight", measure=Total("weight")
        ),
        replace(
            FACTOR,
            measure=Expression("CASE WHEN count(factor) = count(*) AND min(factor) = max(factor) THEN min(factor) END"),
        ),
        declare.cost(
            "burn_bytes",
            "Bytes before the factor. Missing if those of any record are unknown.",
            "Bytes before the factor",
            measure=Expression("CASE WHEN count(burn_bytes) = count(*) THEN sum(burn_bytes) END"),
        ),
        declare.share("Share of the weight of the period, of the round, or of all records. Missing without weight."),
    ),
    condition="with a known number of bytes before the factor",
    unit="records of this row",
    known="burn_bytes IS NOT NULL",
    queries=queries_of_weights,
)
RECOMPUTE = declare.Figure(
    "activity.recompute",
    caption="Activity weights computed from the requests",
    rows="One row per request and app provider; sorted by migration, record time, update and party.",
    columns=(
        declare.text("update_id", "Update that earns the weight."),
        declare.time("record_time", "Sequencing time."),
        declare.integer("round_number", "Lowest open round at that time."),
        declare.text("party", "App provider."),
        declare.cost("burn_bytes", "Bytes before the factor."),
        declare.amount("activity_weight", "Factor of the right when the round opened."),
        declare.integer("weight", "Activity weight, rounded down.", declare.WEIGHT_UNIT, "Activity weight"),
    ),
    condition="with known envelopes, round and state",
    unit="accepted requests of this result",
    queries=_queries_of_recompute,
)
ROUND_NUMBER = declare.integer("round_number", "Mining round.")


@WEIGHTS.register
def weights(
    frames: Frames,
    *,
    by: Literal["party", "label"] | None = "party",
    every: str | None = "round",
    labels: pd.DataFrame | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return the published activity weights, per app provider and round or period.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {None, "party", "label"}, optional
        Grouping of the rows, with its columns below (default: party).
    every : str, optional
        ``"round"``, or a period such as ``"1h"``, ``"1d"`` or ``"1mo"`` (default: round).
    labels : DataFrame, optional
        From :func:`ledgerframes.labels.read`, for ``by="label"``.
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
        One row per round or period and group; sorted by time, then by weight from the largest, then by party.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``round_number`` (Int64, with every="round"): Mining round.
        - ``is_partial`` (boolean, with every="round"): Whether records of the round can be missing. Missing if the rounds are
          unknown.
        - ``party`` (str, with by="party"): App provider. Missing for a period without records.
        - ``label`` (str, with by="label"): Group of the party's label. Missing without a label.
        - ``requests`` (int64, requests): Requests with a record.
        - ``weight`` (Int64, weighted bytes): Sum of weights. Missing without records.
        - ``activity_weight`` (decimal128(38, 10)[pyarrow]): Factor of the right. Missing if it is unknown or changed.
        - ``burn_bytes`` (Int64, bytes): Bytes before the factor. Missing if those of any record are unknown.
        - ``share`` (float64, share of 1): Share of the weight of the period, of the round, or of all records. Missing without
          weight.
        - ``coverage`` (float64, share of 1): Share of the records of this row with a known number of bytes before the factor.
          Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    IntegrityError
        If the state of the network contradicts itself.

    Notes
    -----
    Source: docs/facts.md#activity-weights. A weight is not a number of bytes: for a reward per byte, divide by
    ``burn_bytes``. A request without a record does not have a weight of 0: its weight is unknown. If neither the tables of
    the network's state, nor `base`, nor the history from the network's start is available, factors and bytes before the
    factor are missing.

    Picture, by :func:`ledgerframes.plot`: More than 100 rounds are added up in groups, which the title says. Per round or
    period: stacked shares [%] of the seven parties with the highest shares at any time, and of all others, or the weight
    [weighted bytes] of all. Otherwise: a bar of weight [weighted bytes] per party, those beyond 15 in one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> weights = lf.activity.weights(frames, every=None)
    >>> bool((weights["weight"] >= weights["burn_bytes"])[weights["activity_weight"] >= 1].all())
    True
    """
    WEIGHTS.check(frames, by)
    state = _state_or_none(frames, featured, sv_participants, rounds, base)
    require_sum_of_weights(frames)
    grouped = measure(_call(frames, by, every, labels, state))
    values = {
        **grouped.keys,
        **grouped.values,
        "activity_weight": to_amounts(grouped.values["activity_weight"]),
        "share": ratio(grouped.values["weight"], _totals_of_times(grouped.values["weight"], grouped.keys)),
    }
    if every == "round":
        values |= round_values(frames, None if state is None else state.rounds, grouped.keys["round_number"])
    result = WEIGHTS.build(frames, values, by, every=every)
    times = [name for name in ("round_number", "period_start") if name in result]
    return sort_largest_first(result, "weight", *([by] if by else []), before=times)


@RECOMPUTE.register
def recompute(
    frames: Frames,
    *,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return the activity weights that follow from verdicts, traffic and network state.

    Parameters
    ----------
    frames : Frames
        With verdicts and traffic, and with the history from the start of the network unless `base` or all three tables below
        replace it.
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
        One row per request and app provider; sorted by migration, record time, update and party.

        Columns:

        - ``update_id`` (str): Update that earns the weight.
        - ``record_time`` (datetime64[us, UTC]): Sequencing time.
        - ``round_number`` (Int64): Lowest open round at that time.
        - ``party`` (str): App provider.
        - ``burn_bytes`` (Int64, bytes): Bytes before the factor.
        - ``activity_weight`` (decimal128(38, 10)[pyarrow]): Factor of the right when the round opened.
        - ``weight`` (Int64, weighted bytes): Activity weight, rounded down.
        - ``coverage`` (float64, share of 1): Share of the accepted requests of this result with known envelopes, round and
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

    Notes
    -----
    Source: docs/facts.md#activity-weights, steps 1 to 10. A request without a known cost, round or state has no row, rather
    than a weight of 0. :func:`reconcile` names the reason.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> computed = lf.activity.recompute(frames)
    >>> bool((computed["weight"] == computed["burn_bytes"])[computed["activity_weight"] == 1].all())
    True
    """
    RECOMPUTE.check(frames)
    state = network_state(frames, featured, sv_participants, rounds, base)
    rows = run(frames, _weights_query(state))
    rows["activity_weight"] = to_amounts(rows["activity_weight"])
    return RECOMPUTE.build(frames, {**rows, "coverage": computable_share(rows)})


# -- published weights --------------------------------------------------------------------------------------------------


def _call(frames: Frames, by: str | None, every: str | None, labels: pd.DataFrame | None, state: NetworkState | None) -> Call:
    """Return the call of published weights, which groups by round if `every` is ``"round"``."""
    rows = RECORDS_WITHOUT_STATE if state is None else WEIGHTED_RECORDS
    keys = WEIGHTS.grouping(by).keys
    group = declare.Grouping(
        (ROUND_NUMBER, *keys) if every == "round" else keys,
        rows=with_labels(rows) if by == "label" else rows,
    )
    tables = {} if state is None else state_tables(state)
    figure = replace(WEIGHTS, by={"groups": group})
    return Call(figure, frames, "groups", None if every == "round" else every, labels=labels, tables=tables)


def require_sum_of_weights(frames: Frames) -> None:
    """Raise a UsageError if the sum of published weights does not fit 64 bits."""
    select = f"SELECT coalesce(sum(weight) > {2**63 - 1}, false) AS is_too_large FROM records"
    if run(frames, Query(select, (RECORDS,)))["is_too_large"][0]:
        raise UsageError("The sum of column weight does not fit 64 bits. Narrow the frames with between().")


def _state_or_none(
    frames: Frames,
    featured: pd.DataFrame | None,
    sv_participants: pd.DataFrame | None,
    rounds: pd.DataFrame | None,
    base: Snapshot | None,
) -> NetworkState | None:
    try:
        return network_state(frames, featured, sv_participants, rounds, base)
    except CoverageError:
        return None


def _totals_of_times(weight: pd.Series, keys: pd.DataFrame) -> pd.Series:
    """Return the total weight of each row's period or round, or of all rows."""
    times = [name for name in ("round_number", "period_start") if name in keys]
    if not times:
        return pd.Series(weight.sum(min_count=1), index=weight.index, dtype="Int64")
    return weight.groupby(keys[times[0]].to_numpy()).transform("sum", min_count=1)


# -- computed weights ---------------------------------------------------------------------------------------------------


def _weights_query(state: NetworkState) -> Query:
    select = """
SELECT update_id, record_time, round_number, party, burn_bytes, factor AS activity_weight, weight, accepted, unknown
FROM weights_of_updates
CROSS JOIN computable
ORDER BY migration_id, record_time, update_id, party"""
    return Query(select.strip(), (WEIGHTS_OF_UPDATES, COMPUTABLE), state_tables(state))


def computable_share(rows: pd.DataFrame) -> float:
    """Return the share of accepted requests whose weights can be computed.

    Each row has the number of all accepted requests, and of those whose weights are unknown.
    """
    if rows.empty:
        return np.nan
    accepted, unknown = rows["accepted"].iloc[:1], rows["unknown"].iloc[:1]
    return float(ratio(accepted - unknown, accepted)[0])
