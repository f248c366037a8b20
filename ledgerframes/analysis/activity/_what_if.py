"""Activity weights as they would be with other rights, factors or views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Literal

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts, to_decimal
from ledgerframes.analysis.activity import _answers as answers
from ledgerframes.analysis.activity._weights import computable_share
from ledgerframes.analysis.activity.final_rounds import round_values
from ledgerframes.analysis.activity.state_tables import state_tables
from ledgerframes.analysis.arguments import Snapshot, is_choice
from ledgerframes.analysis.groups import ratio, sort_largest_first
from ledgerframes.analysis.state.network_state import NetworkState, checked, network_state
from ledgerframes.analysis.state.payloads import MAX_FACTOR
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.merged_envelopes import MERGED_CHOICES, merged_confirmers, merged_envelopes
from ledgerframes.engine.requests import ROOT_NODES
from ledgerframes.engine.weights import (
    CANDIDATES,
    COMPUTABLE,
    COMPUTED,
    ENVELOPE_COSTS,
    Candidates,
    Weights,
    confirmers_of_quorums,
    informees,
    sent_envelopes,
)
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

SAME_CONFIRMERS = "same confirmers"
CONFIRMERS_BY_NAME = {"quorums": confirmers_of_quorums, "informees": informees}
SIDES = ("before", "after")
OF_REQUESTS = ("open_rounds", "super_validators")  # the tables of the state that decide which requests can earn


def _queries(
    frames: Frames,
    featured_after: pd.DataFrame | None,
    factors: Mapping[str, object] | None,
    merge_views: str | Iterable[tuple[str, str]] | None,
    confirmers: str,
    every: str | None,
    featured: pd.DataFrame | None,
    sv_participants: pd.DataFrame | None,
    rounds: pd.DataFrame | None,
    base: Snapshot | None,
) -> list[Query]:
    merged_choices = _check(frames, featured_after, factors, merge_views, confirmers, every)
    before, after = _states(frames, featured_after, factors, featured, sv_participants, rounds, base)
    return [_query(before, after, merged_choices, confirmers, every)]


WHAT_IF = declare.Figure(
    "activity.what_if",
    caption="Change of the activity weights",
    answer=answers.of_what_if,
    main_columns=("party", "share_before", "share_after", "weight_before", "weight_after"),
    rows="One row per party, or per round and party; sorted by round, then by weight after the change from the largest.",
    has_rounds=True,
    columns=(
        declare.text("party", "App provider."),
        declare.integer("weight_before", "Computed weight as it is.", declare.WEIGHT_UNIT, "Activity weight"),
        declare.integer("weight_after", "Computed weight after the change.", declare.WEIGHT_UNIT, "Activity weight"),
        declare.integer("difference", "Weight after minus before.", declare.WEIGHT_UNIT),
        declare.share("Share of the weight before. Missing without weight.", "share_before"),
        declare.share("Share of the weight after. Missing without weight.", "share_after"),
        declare.count("requests_changed", "Requests for which the party has another weight after the change."),
    ),
    condition="with known envelopes, round and state",
    unit="accepted requests of the frames",
    queries=_queries,
)


@WHAT_IF.register
def what_if(
    frames: Frames,
    *,
    featured_after: pd.DataFrame | None = None,
    factors: Mapping[str, object] | None = None,
    merge_views: str | Iterable[tuple[str, str]] | None = None,
    confirmers: Literal["quorums", "informees"] = "quorums",
    every: str | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return the activity weights as they are, and as they would be after a change.

    Parameters
    ----------
    frames : Frames
        With verdicts and traffic, and with the history from the start of the network unless all three tables below replace
        it.
    featured_after : DataFrame, optional
        All featured rights after the change, in the columns of :func:`ledgerframes.state.featured`. Add rows to its result or
        remove some. ``from`` is the time from which a right counts.
    factors : mapping of str to decimal, optional
        Factor of a party after the change, for all of its rights.
    merge_views : ``"same confirmers"`` or pairs of template and choice, optional
        Envelopes to merge into one, with the sum of their costs and all of their confirmers: the envelopes of a request that
        have the same confirmers, or all envelopes with views of a request whose root node is one of these choices.
    confirmers : {"quorums", "informees"}, optional
        ``"informees"`` counts all informees of a view as confirmers, which gives an upper bound.
    every : {"round"}, optional
        One row per round and party (default: per party).
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
        One row per party, or per round and party; sorted by round, then by weight after the change from the largest.

        Columns:

        - ``round_number`` (Int64, with every="round"): Mining round.
        - ``is_partial`` (boolean, with every="round"): Whether records of the round can be missing. Missing if the rounds are
          unknown.
        - ``party`` (str): App provider.
        - ``weight_before`` (Int64, weighted bytes): Computed weight as it is.
        - ``weight_after`` (Int64, weighted bytes): Computed weight after the change.
        - ``difference`` (Int64, weighted bytes): Weight after minus before.
        - ``share_before`` (float64, share of 1): Share of the weight before. Missing without weight.
        - ``share_after`` (float64, share of 1): Share of the weight after. Missing without weight.
        - ``requests_changed`` (int64, requests): Requests for which the party has another weight after the change.
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
    UsageError
        If no change is passed, or a party of `factors` has no right.

    Notes
    -----
    Source: docs/facts.md#activity-weights. Everything else stays the same: requests, costs and the behavior of all parties. The
    cost that fewer envelopes would save is not estimated.

    Picture, by :func:`ledgerframes.plot`: Rounds are summed. A bar per party with the change of its weight [weighted
    bytes], the 15 with the largest weight, each with the weights before and after.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> party = lf.activity.recompute(frames)["party"].iloc[0]
    >>> doubled = lf.activity.what_if(frames, factors={party: "100.0"}).set_index("party")
    >>> bool(doubled.loc[party, "weight_after"] >= doubled.loc[party, "weight_before"])
    True
    """
    WHAT_IF.check(frames)
    merged_choices = _check(frames, featured_after, factors, merge_views, confirmers, every)
    before, after = _states(frames, featured_after, factors, featured, sv_participants, rounds, base)
    rows = _with_shares(run(frames, _query(before, after, merged_choices, confirmers, every)), every)
    if every == "round":
        rows = rows.assign(**round_values(frames, before.rounds, rows["round_number"]))
    return WHAT_IF.build(frames, {**rows, "coverage": computable_share(rows)}, every=every)


def _check(
    frames: Frames, featured_after: object, factors: object, merge_views: object, confirmers: object, every: object
) -> str | list[tuple[str, str]] | None:
    """Return the choices whose views are merged, after checks of the change."""
    if every is not None and not is_choice(every, ("round",)):
        raise UsageError(f"every= must be 'round' or None, got {every!r}.")
    if not is_choice(confirmers, CONFIRMERS_BY_NAME):
        raise UsageError(f"Unknown confirmers={confirmers!r}. Choose from {', '.join(map(repr, CONFIRMERS_BY_NAME))}.")
    if featured_after is None and factors is None and merge_views is None and confirmers == "quorums":
        raise UsageError("Pass featured_after=, factors=, merge_views= or confirmers='informees'.")
    if merge_views is None:
        return None
    if is_choice(merge_views, (SAME_CONFIRMERS,)):
        return SAME_CONFIRMERS
    pairs = _pairs(merge_views)
    _require_root(frames, pairs)
    return pairs


def _states(
    frames: Frames,
    featured_after: pd.DataFrame | None,
    factors: Mapping[str, object] | None,
    featured: pd.DataFrame | None,
    sv_participants: pd.DataFrame | None,
    rounds: pd.DataFrame | None,
    base: Snapshot | None,
) -> tuple[NetworkState, NetworkState]:
    """Return the state before and after the change."""
    before = network_state(frames, featured, sv_participants, rounds, base)
    if featured_after is None:
        return before, _with_factors(before, factors)
    rights = checked(frames, "featured", featured_after, argument="featured_after")
    return before, _with_factors(replace(before, rights=rights), factors)


def _with_factors(state: NetworkState, factors: Mapping[str, object] | None) -> NetworkState:
    rights = state.rights
    if not isinstance(factors, Mapping | None):
        raise UsageError(f"factors= must be weights by party, such as {{party: '100.0'}}, got {factors!r}.")
    for party, text in (factors or {}).items():
        factor, is_party = to_decimal(text), rights["party"] == party
        if factor is None or not 0 <= factor <= MAX_FACTOR:
            raise UsageError(f"factors= must be decimals from 0 to {MAX_FACTOR:,} with at most 10 places, got {text!r}.")
        if not is_party.any():
            raise UsageError(f"Unknown party {party!r}. Choose a party with a right, or add one with featured_after=.")
        weights = rights["weight"].where(~is_party, factor)
        rights = rights.assign(weight=amounts(None if pd.isna(weight) else Decimal(weight) for weight in weights))
    return replace(state, rights=rights)


def _query(
    before: NetworkState,
    after: NetworkState,
    merged_choices: str | list[tuple[str, str]] | None,
    confirmers: str,
    every: str | None,
) -> Query:
    """Return the query of both weights by party, and also by round if `every` is ``"round"``."""
    of_views, merged = CONFIRMERS_BY_NAME[confirmers], None
    tables = {**state_tables(before), **state_tables(after, "changed_")}
    if isinstance(merged_choices, str):
        merged = merged_envelopes(merged_confirmers(of_views("merged_")))
    elif merged_choices is not None:
        merged = merged_envelopes(MERGED_CHOICES)
        tables["merged_choices"] = _choices(merged_choices)
    has_same_requests = merged is None and all(tables[name].equals(tables[f"changed_{name}"]) for name in OF_REQUESTS)
    candidates = CANDIDATES if has_same_requests else Candidates("changed_", envelopes=merged or ENVELOPE_COSTS)
    changed = Weights("changed_", candidates, merged or sent_envelopes("changed_"), of_views("changed_"))
    keys = "round_number, party" if every else "party"
    select = f"""
SELECT *
FROM (
    SELECT
        {keys},
        coalesce(sum(weights.weight), 0) AS weight_before,
        coalesce(sum(changed_weights.weight), 0) AS weight_after,
        weight_after - weight_before AS difference,
        count(*) FILTER (weights.weight IS DISTINCT FROM changed_weights.weight) AS requests_changed
    FROM weights
    FULL JOIN changed_weights USING (update_key, round_number, party)
    GROUP BY ALL
)
CROSS JOIN computable"""
    return Query(select.strip(), (COMPUTED.weights, changed.weights, COMPUTABLE), tables)


def _with_shares(rows: pd.DataFrame, every: str | None) -> pd.DataFrame:
    for side in SIDES:
        weight = rows[f"weight_{side}"].astype("Int64")
        totals = weight.groupby(rows["round_number"]).transform("sum") if every else pd.Series(weight.sum(), rows.index)
        rows[f"share_{side}"] = ratio(weight, totals)
    return sort_largest_first(rows, "weight_after", "party", before=["round_number"] if every else [])


# -- merged envelopes ---------------------------------------------------------------------------------------------------


def _pairs(merge_views: object) -> list[tuple[str, str]]:
    """Return pairs of template and choice, or raise a UsageError."""
    pairs = list(merge_views) if isinstance(merge_views, Iterable) else []
    if not pairs or not all(map(_is_pair, pairs)):
        raise UsageError(f"merge_views= must be {SAME_CONFIRMERS!r} or pairs of template and choice, got {merge_views!r}.")
    return [(template, choice) for template, choice in pairs]


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(text, str) for text in value)


def _choices(pairs: Iterable[tuple[str, str]]) -> pa.Table:
    """Return pairs of template and choice as a table."""
    rows = sorted(set(pairs))
    templates, choices = (pa.array([pair[position] for pair in rows], pa.string()) for position in (0, 1))
    return pa.table({"template_name": templates, "choice": choices})


def _require_root(frames: Frames, pairs: list[tuple[str, str]]) -> None:
    """Raise a UsageError if no request has one of these templates and choices as its root."""
    select = "SELECT count(*) AS roots FROM root_choices_of_requests SEMI JOIN merged_choices USING (template_name, choice)"
    rows = run(frames, Query(select, (ROOTS,), {"merged_choices": _choices(pairs)}))
    if not rows["roots"][0]:
        raise UsageError(f"merge_views= must name a root template and choice of these requests, got {sorted(set(pairs))!r}.")


ROOTS = Relation(
    "root_choices_of_requests",
    "One row per request with a visible tree: template and choice of its first root node.",
    "SELECT template_name, choice FROM root_nodes SEMI JOIN verdicts USING (update_id)",
    tables=("verdicts",),
    relations=(ROOT_NODES,),
)
