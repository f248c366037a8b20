"""Comparison of published with computed activity weights, each mismatch with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._amounts import SCALE, scaled
from ledgerframes.analysis._arguments import require_columns
from ledgerframes.analysis._coverage import covered_time, timed_segments
from ledgerframes.analysis._groups import Flags, Integers, is_true, known, microseconds, sort_largest_first
from ledgerframes.analysis._requests import HEAD, merge, positions, take_or_missing
from ledgerframes.analysis.activity._final_rounds import published_rounds
from ledgerframes.analysis.activity._weight_formula import (
    NO_CONFIRMERS,
    NO_ENVELOPES,
    STATUSES,
    Requests,
    computable_share,
    compute,
    read_requests,
)
from ledgerframes.analysis.activity._weights import published, rights_of
from ledgerframes.analysis.state._network_state import NetworkState, network_state
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.frames import Frames

KEYS = ["update_id", "party"]
OUTCOMES = ("different", "only published", "only computed", "equal")
DIFFERENT, ONLY_PUBLISHED, ONLY_COMPUTED, EQUAL = range(len(OUTCOMES))
REASONS = (
    *STATUSES[:NO_CONFIRMERS],
    "boundary",
    "party not featured",
    "no featured confirmers",
    "provisional",
    "record withheld",
    "rounding",
    "weight factor",
    "unexplained",
)
OUTCOME = declare.choice("outcome", OUTCOMES)
REASON = declare.choice("reason", REASONS, "First reason that explains the mismatch. Missing if equal.", "Reason")
PUBLISHED = declare.integer("weight_published", "Published weight. Missing if only computed.", declare.WEIGHT_UNIT)
COMPUTED = declare.integer("weight_computed", "Computed weight. Missing if only published.", declare.WEIGHT_UNIT)
CONDITION, UNIT = "with known envelopes, round and state", "accepted requests of the frames"
RECONCILE = declare.Figure(
    "activity.reconcile",
    rows="One row per request and party with a weight in either; sorted by outcome, mismatches first, then by record "
    "time, update and party.",
    like="activity.recompute",
    columns=(
        declare.text("update_id", "Update of the record."),
        declare.time("record_time", "Sequencing time."),
        declare.integer("round_number", "Published round, or else the computed one."),
        declare.text("party", "App provider."),
        PUBLISHED,
        COMPUTED,
        declare.integer("difference", "Published minus computed. Missing if one of them is.", declare.WEIGHT_UNIT),
        OUTCOME,
        REASON,
    ),
    condition=CONDITION,
    unit=UNIT,
)
SUMMARY = declare.Figure(
    "activity.reconcile_summary",
    rows="One row per outcome and reason that occurs; sorted by outcome, then by number of records from the largest.",
    like="activity.reconcile",
    columns=(
        OUTCOME,
        REASON,
        declare.count("records", "Pairs of a request and a party.", "records"),
        declare.integer("weight", "Sum of published weights, of computed ones if only computed.", declare.WEIGHT_UNIT),
    ),
    condition=CONDITION,
    unit=UNIT,
)


@RECONCILE.document
def reconcile(
    frames: Frames,
    *,
    computed: pd.DataFrame | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return each published weight next to the computed one, with a reason for each mismatch.

    Parameters
    ----------
    computed : DataFrame, optional
        Weights to compare with: ``update_id``, ``party`` and ``weight`` (default: those of :func:`recompute`).

    Raises
    ------
    IntegrityError
        If the sums of both sides are not those of the result.

    Source: docs/facts.md#activity-weights. Reasons are tested in this order: not accepted, over the bound, no round, no state,
    submitted by a super validator, no envelopes (or no verdict); boundary (the ledger times of the state explain it); party
    not featured, no featured confirmers; provisional (not final, or the round is alive); record withheld (before the first
    or after the last round that the host published); rounding (by at most 1), weight factor (another factor of the party).

    >>> lf.activity.reconcile(frames)["outcome"].iloc[-1]
    'equal'
    """
    RECONCILE.check(frames)
    state = network_state(frames, featured, sv_participants, rounds)
    requests = read_requests(frames)
    weights, statuses = compute(requests, state)
    ours = weights if computed is None else _require_weights(computed)
    theirs = published(frames)
    rows = _join_sides(theirs, ours, frames)
    _require_totals(rows, theirs, ours)
    rows["reason"] = pd.Series(None, rows.index, "str")
    is_mismatch = rows["outcome"] != EQUAL
    if is_mismatch.any():
        mismatches = rows[is_mismatch].reset_index(drop=True)
        rows.loc[is_mismatch, "reason"] = _reasons(frames, mismatches, requests, state, weights, statuses)
    rows = rows.sort_values(["outcome", *HEAD, "party"], ignore_index=True)
    rows["outcome"] = pd.Categorical.from_codes(rows["outcome"], pd.Index(OUTCOMES))
    return RECONCILE.build(frames, {**rows, "coverage": computable_share(statuses)})


@SUMMARY.document
def reconcile_summary(
    frames: Frames,
    *,
    computed: pd.DataFrame | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return how many weights are equal, and how many differ for each reason.

    Source: docs/facts.md#activity-weights.

    >>> int(lf.activity.reconcile_summary(frames)["records"].sum()) >= len(frames.activity_records)
    True
    """
    SUMMARY.check(frames)
    rows = reconcile(frames, computed=computed, featured=featured, sv_participants=sv_participants, rounds=rounds)
    return summarize(rows)


def summarize(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of a comparison by outcome and reason."""
    weight = rows["weight_published"].fillna(rows["weight_computed"])
    grouped = rows.assign(weight=weight).groupby(["outcome", "reason"], dropna=False, observed=True)
    tail = {column.name: (column.name, "first") for column in SUMMARY.tail}  # the same in every row
    counts = grouped.agg(records=("weight", "size"), weight=("weight", "sum"), **tail).reset_index()
    return SUMMARY.build(None, {**sort_largest_first(counts, "records", "reason", before=["outcome"])})


def _require_weights(computed: object) -> pd.DataFrame:
    computed = require_columns(computed, [*KEYS, "weight"], "computed= must have the columns update_id, party and weight")
    repeated = computed.loc[computed.duplicated(KEYS), KEYS]
    if len(repeated):
        raise UsageError(f"computed= must have each update and party once, got {tuple(repeated.iloc[0])!r} several times.")
    return computed


def _join_sides(theirs: pd.DataFrame, ours: pd.DataFrame, frames: Frames) -> pd.DataFrame:
    """Return both sides with the number of their outcome."""
    ours = ours[[*KEYS, "weight", *(["round_number"] if "round_number" in ours else [])]]
    sides = {"weight": "Int64", "round_number": "Int64"}
    left = theirs[[*KEYS, "weight", "round_number"]].astype(sides)
    right = ours.astype({name: dtype for name, dtype in sides.items() if name in ours})
    rows = merge(left, right, on=KEYS, how="outer", suffixes=("_published", "_computed"), validate="one_to_one")
    if "round_number" not in rows:
        rows["round_number"] = rows["round_number_published"].fillna(rows["round_number_computed"])
    rows["difference"] = rows["weight_published"] - rows["weight_computed"]
    conditions = [~known(rows["weight_computed"]), ~known(rows["weight_published"]), is_true(rows["difference"] == 0)]
    outcomes = np.select(conditions, [ONLY_PUBLISHED, ONLY_COMPUTED, EQUAL], DIFFERENT)
    heads = pd.concat([theirs[HEAD], frames.read("verdicts", HEAD)], ignore_index=True)
    indexes = positions(rows["update_id"], heads["update_id"])
    heads = pd.DataFrame({name: take_or_missing(heads[name], indexes) for name in HEAD[:2]})
    return rows.assign(outcome=outcomes, **heads)


def _require_totals(rows: pd.DataFrame, theirs: pd.DataFrame, ours: pd.DataFrame) -> None:
    for name, side in (("weight_published", theirs), ("weight_computed", ours)):
        if sum(rows[name].dropna().tolist()) != sum(side["weight"].tolist()):
            raise IntegrityError(f"The sum of {name} in the comparison is not that of its source. Load the frames again.")


# -- reasons ------------------------------------------------------------------------------------------------------------


def _reasons(
    frames: Frames, rows: pd.DataFrame, requests: Requests, state: NetworkState, weights: pd.DataFrame, statuses: Integers
) -> Any:
    """Return the first reason that explains each mismatch."""
    owners = positions(rows["update_id"], requests.heads["update_id"])
    statuses = np.append(statuses, NO_ENVELOPES)[owners]  # the last one for a row without a request
    has_no_record, has_no_weight = ~known(rows["weight_published"]), ~known(rows["weight_computed"])
    effective, _ = compute(requests, state.effective())
    conditions = [(statuses == status) & has_no_weight for status in range(NO_CONFIRMERS)]
    conditions += [
        _is_published(rows, effective) & ~_is_published(rows, weights),
        has_no_weight & (rights_of(rows, state) < 0),
        has_no_weight & (statuses == NO_CONFIRMERS),
        _is_provisional(frames, rows, state),
        _is_withheld(frames, rows) & has_no_record,
        is_true(rows["difference"].abs() <= 1),
        _has_other_factor(rows, weights, state),
    ]
    return np.select(conditions, REASONS[:-1], REASONS[-1])


def _is_published(rows: pd.DataFrame, weights: pd.DataFrame) -> Flags:
    """Return which published weights, or their absence, are those of `weights`."""
    weight = merge(rows[KEYS], weights[[*KEYS, "weight"]], on=KEYS, how="left")["weight"]
    return is_true(weight == rows["weight_published"]) | ~known(weight) & ~known(rows["weight_published"])


def _is_provisional(frames: Frames, rows: pd.DataFrame, state: NetworkState) -> Flags:
    """Return which rows are not final, or of a round that is alive."""
    alive = state.rounds.loc[state.rounds["until"].isna(), "round_number"].dropna()
    is_alive = is_true(rows["round_number"].isin(alive.tolist()))
    if timed_segments(frames).empty:
        return is_alive
    times = microseconds(rows["record_time"])
    return is_alive | covered_time(frames).is_partial(times, times + 1)


def _is_withheld(frames: Frames, rows: pd.DataFrame) -> Flags:
    """Return which requests have no record, in a round outside those with records."""
    first, last = published_rounds(frames)
    is_outside = (rows["round_number"] < first) | (rows["round_number"] > last)
    has_some = rows["weight_published"].notna().groupby(rows["update_id"]).transform("any")
    return is_true(is_outside & ~has_some)


def _has_other_factor(rows: pd.DataFrame, weights: pd.DataFrame, state: NetworkState) -> Flags:
    """Return which published weights follow from another factor of the party."""
    burn = merge(rows[KEYS], weights[[*KEYS, "burn_bytes"]], on=KEYS, how="left")["burn_bytes"]
    factors = pd.Series(scaled(state.rights["weight"]), state.rights["party"])
    result = np.zeros(len(rows), dtype=bool)
    for row in np.flatnonzero(known(burn) & is_true(rows["outcome"] == DIFFERENT)).tolist():
        party = rows["party"].iat[row]
        others = factors[factors.index == party]
        result[row] = any(int(burn[row]) * factor // SCALE == rows["weight_published"].iat[row] for factor in others)
    return result
