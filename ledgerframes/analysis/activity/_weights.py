"""Activity weights as published, and computed from requests and the state of the network."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._amounts import from_scaled, scaled
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis._groups import Groups, Integers, group_by, is_true, known, ratio, sort_largest_first
from ledgerframes.analysis._requests import HEAD, merge, positions, take_or_missing
from ledgerframes.analysis.activity._final_rounds import round_values
from ledgerframes.analysis.activity._weight_formula import computable_share, compute, read_requests
from ledgerframes.analysis.labels import groups_by_id
from ledgerframes.analysis.state._network_state import NetworkState, RoundLookup, featured_members, network_state
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames

PARTY = declare.Grouping((declare.text("party", "App provider. Missing in a period without records."),))
FACTOR = declare.amount("activity_weight", "Factor of the right. Missing if it is unknown or changed.")
LABEL = declare.Grouping((declare.text("label", "Group of the party's label. Missing without a label."),))
WEIGHTS = declare.Figure(
    "activity.weights",
    distinct=(),
    rows="One row per round or period and group; sorted by time, then by weight from the largest, then by party.",
    by={"party": PARTY, "label": LABEL},
    has_periods=True,
    has_rounds=True,
    columns=(
        declare.count("requests", "Requests with a record."),
        declare.integer("weight", "Sum of weights. Missing without records.", declare.WEIGHT_UNIT, "Activity weight"),
        FACTOR,
        declare.cost("burn_bytes", "Bytes before the factor. Missing if one of them is unknown.", "Bytes before the factor"),
        declare.share("Share of the weight of the period, the round, or all. Missing without weight."),
    ),
    condition="with a known number of bytes before the factor",
    unit="records of this row",
)
RECOMPUTE = declare.Figure(
    "activity.recompute",
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
)


@WEIGHTS.document
def weights(
    frames: Frames,
    *,
    by: Literal["party", "label"] | None = "party",
    every: str | None = "round",
    labels: pd.DataFrame | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the published activity weights, per app provider and round or period.

    Raises
    ------
    IntegrityError
        If the state of the network contradicts itself.

    Source: docs/facts.md#activity-weights. A weight is no number of bytes: divide by ``burn_bytes`` for a reward per byte. A
    request without a record is not a weight of 0. Without the tables of the network's state, and without the history from the
    network's start, factors and bytes before them are missing.

    >>> weights = lf.activity.weights(frames, every=None)
    >>> bool((weights["weight"] >= weights["burn_bytes"])[weights["activity_weight"] >= 1].all())
    True
    """
    WEIGHTS.check(frames, by)
    state = _state_or_none(frames, featured, sv_participants, rounds)
    rows = _with_factors(frames, published(frames), state)
    if by == "label":
        rows["label"] = rows["party"].astype("str").map(groups_by_id(labels)).astype("str")
    keys = [by] if by else []
    groups = group_by(rows, ["round_number", *keys]) if every == "round" else group_rows(frames, rows, keys, every)
    values = {**groups.keys, **_sums(rows, groups)}
    if every == "round":
        values |= round_values(frames, None if state is None else state.rounds, groups.keys["round_number"])
    result = WEIGHTS.build(frames, values, by, every=every)
    times = [name for name in ("round_number", "period_start") if name in result]
    return sort_largest_first(result, "weight", *keys, before=times)


@RECOMPUTE.document
def recompute(
    frames: Frames,
    *,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the activity weights that follow from verdicts, traffic and network state.

    Parameters
    ----------
    frames : Frames
        With verdicts, traffic and, unless all three tables below replace it, the history from the start of the network on.

    Raises
    ------
    CoverageError
        If the state is needed and its start is not in the history.
    IntegrityError
        If two contracts with the network's rules are alive at one time.
    UsageError
        If a table has no such column.

    Source: docs/facts.md#activity-weights, steps 1 to 10. A request without a known cost, round or state is no row of 0:
    :func:`reconcile` names the reason.

    >>> computed = lf.activity.recompute(frames)
    >>> bool((computed["weight"] == computed["burn_bytes"])[computed["activity_weight"] == 1].all())
    True
    """
    RECOMPUTE.check(frames)
    state = network_state(frames, featured, sv_participants, rounds)
    rows, statuses = compute(read_requests(frames), state)
    return RECOMPUTE.build(frames, {**rows, "coverage": computable_share(statuses)})


def published(frames: Frames) -> pd.DataFrame:
    """Return the published records whose weight is not negative."""
    rows = frames.read("activity_records", [*HEAD, "round_number", "party", "weight"])
    rows = rows[rows["weight"] >= 0].reset_index(drop=True)
    if rows["weight"].sum() != sum(rows["weight"].tolist()):
        raise UsageError("The sum of column weight does not fit 64 bits. Narrow the frames with between().")
    return rows


# -- factors ------------------------------------------------------------------------------------------------------------


def _state_or_none(frames: Frames, *tables: pd.DataFrame | None) -> NetworkState | None:
    try:
        return network_state(frames, *tables)
    except CoverageError:
        return None


def _with_factors(frames: Frames, rows: pd.DataFrame, state: NetworkState | None) -> pd.DataFrame:
    """Return the records with ``factor`` in units of 10^-10, and ``burn_bytes``."""
    unknown = pd.Series(pd.NA, rows.index, "Int64")
    if state is None:
        return rows.assign(factor=unknown, burn_bytes=unknown)
    factors = pd.Series(scaled(state.rights["weight"]), dtype="Int64")
    factor = take_or_missing(factors, rights_of(rows, state))
    is_plain = is_true(factor == 10**10)
    burns = rows["weight"].astype("Int64").where(is_plain)
    if not is_plain.all():
        burns = burns.where(is_plain, _computed_burns(frames, rows, state))
    return rows.assign(factor=factor, burn_bytes=burns)


def rights_of(rows: pd.DataFrame, state: NetworkState) -> Integers:
    """Return the right of each record's party when its round opened, -1 without one."""
    rounds, featured = RoundLookup.of(state.rounds), featured_members(state.rights)
    round_rows = positions(rows["round_number"], pd.Series(rounds.numbers))
    opens_at = np.append(rounds.opens_at, 0)[round_rows]
    rights = featured.lookup(featured.segments.at(opens_at), featured.encode(pa.array(rows["party"], pa.string())))
    return np.where(round_rows < 0, -1, rights)


def _computed_burns(frames: Frames, rows: pd.DataFrame, state: NetworkState) -> pd.Series:
    """Return the computed bytes where the computed weight is the published one."""
    computed, _ = compute(read_requests(frames), state)
    keys = ["update_id", "party", "weight"]
    return merge(rows[keys], computed[[*keys, "burn_bytes"]], on=keys, how="left")["burn_bytes"]


def _sums(rows: pd.DataFrame, groups: Groups) -> dict[str, object]:
    requests = pd.DataFrame({"group": groups.codes, "update": rows["update_id"]}).drop_duplicates()
    weight = groups.total(rows["weight"])
    burns = groups.total(rows["burn_bytes"])
    is_known = known(rows["burn_bytes"])
    return {
        "requests": np.bincount(requests["group"], minlength=len(groups)),
        "weight": weight,
        "activity_weight": _common_factor(rows["factor"], groups),
        "burn_bytes": burns.where(groups.count(~is_known) == 0),
        "share": ratio(weight, _period_totals(weight, groups)),
        "coverage": groups.coverage(is_known),
    }


def _common_factor(factors: pd.Series, groups: Groups) -> pd.Series:
    by_group = factors.groupby(groups.codes)
    is_common = (by_group.nunique() == 1) & (by_group.count() == by_group.size())
    common = by_group.first().where(is_common).reindex(range(len(groups)))
    return from_scaled(common)


def _period_totals(weight: pd.Series, groups: Groups) -> pd.Series:
    times = [name for name in ("round_number", "period_start") if name in groups.keys]
    if not times:
        return pd.Series(weight.sum(min_count=1), index=weight.index, dtype="Int64")
    return weight.groupby(groups.keys[times[0]].to_numpy()).transform("sum", min_count=1)
