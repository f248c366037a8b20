"""Concentration of activity on few app providers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import SCALE, from_scaled, scaled
from ledgerframes.analysis.activity import _answers as answers
from ledgerframes.analysis.activity._rewards import queries_of_rewards, rewards
from ledgerframes.analysis.activity._weights import queries_of_weights, weights
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.groups import Groups, group_by, known, ratio
from ledgerframes.analysis.labels import groups_by_id
from ledgerframes.engine import Query
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics.concentrations import concentration as concentration_of
from ledgerframes.statistics.concentrations import lorenz as lorenz_points
from ledgerframes.statistics.concentrations import top as top_members
from ledgerframes.values.checks import is_integer

OF = ("weight", "burn_bytes", "amount")
TOP = (1, 3, 10)


def _top_columns(top: Sequence[int]) -> tuple[declare.ResultColumn, ...]:
    return tuple(
        column
        for number in top
        for column in (
            declare.share(f"Share of the {number} largest, ties included. Missing without any.", f"top_{number}"),
            declare.count(f"top_{number}_parties", f"Parties in it, more than {number} with ties.", "parties"),
        )
    )


HEAD = (
    declare.count("parties", "Parties with more than 0.", "parties"),
    declare.count("parties_zero", "Parties with 0.", "parties"),
    declare.amount("total", "Sum, in weighted bytes, bytes or coin. Missing without any."),
    declare.rate("gini", "Gini coefficient, 0 if all are equal. Missing without any.", "", "Gini coefficient"),
    declare.rate("hhi", "Sum of squared shares, 1 for one party. Missing without any.", "", "HHI"),
)


def _queries(frames: Frames, of: str, every: str | None = None, rounds: pd.DataFrame | None = None, **others: Any) -> list[Query]:
    if of == "amount":
        return queries_of_rewards(frames)
    state = {name: others[name] for name in ("featured", "sv_participants", "base")}
    return queries_of_weights(frames, by="party", every=every, labels=None, rounds=rounds, **state)


CONCENTRATION = declare.Figure(
    "activity.concentration",
    caption="Concentration of activity",
    answer=answers.of_concentration,
    distinct=(),
    rows="One row per round or period; sorted by time.",
    has_periods=True,
    has_rounds=True,
    main_columns=("gini", "hhi", "top_1", "top_3", "top_10", "parties"),
    columns=(*HEAD, *_top_columns(TOP)),
    condition="that are known",
    unit="values of this row",
    queries=_queries,
)
LORENZ = declare.Figure(
    "activity.lorenz",
    caption="Distribution of activity",
    rows="One row per party with more than 0; sorted by value and party.",
    columns=(
        declare.text("party", "App provider."),
        declare.count("rank", "Position, from 1 for the party with the smallest value.", ""),
        declare.amount("value", "Value of the party, in weighted bytes, bytes or coin.", "", "Value"),
        declare.share("Rank divided by the number of parties.", "cumulative_parties", "Share of parties"),
        declare.share("Share of the party together with all smaller ones.", "cumulative_share", "Share of activity"),
    ),
    condition="that are known",
    unit="values of this result",
    queries=_queries,
)


@CONCENTRATION.register
def concentration(
    frames: Frames,
    *,
    of: Literal["weight", "burn_bytes", "amount"] = "weight",
    every: str | None = None,
    top: Sequence[int] = TOP,
    labels: pd.DataFrame | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return how unequally activity is distributed among the parties that have any.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    of : {"weight", "burn_bytes", "amount"}, optional
        Weight (default), bytes before the factor, or coin as in :func:`rewards`.
    every : str, optional
        ``"round"``, or a period such as ``"1d"`` (default: the whole time). Amounts have no periods.
    top : sequence of int, optional
        Sizes of the leading groups (default: 1, 3 and 10).
    labels : DataFrame, optional
        From :func:`ledgerframes.labels.read`. Parties of one group count as one party.
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
        One row per round or period; sorted by time.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``round_number`` (Int64, with every="round"): Mining round.
        - ``is_partial`` (boolean, with every="round"): Whether records of the round can be missing. Missing if the rounds are
          unknown.
        - ``parties`` (int64, parties): Parties with more than 0.
        - ``parties_zero`` (int64, parties): Parties with 0.
        - ``total`` (decimal128(38, 10)[pyarrow]): Sum, in weighted bytes, bytes or coin. Missing without any.
        - ``gini`` (float64): Gini coefficient, 0 if all are equal. Missing without any.
        - ``hhi`` (float64): Sum of squared shares, 1 for one party. Missing without any.
        - ``top_1`` (float64, share of 1): Share of the 1 largest, ties included. Missing without any.
        - ``top_1_parties`` (int64, parties): Parties in it, more than 1 with ties.
        - ``top_3`` (float64, share of 1): Share of the 3 largest, ties included. Missing without any.
        - ``top_3_parties`` (int64, parties): Parties in it, more than 3 with ties.
        - ``top_10`` (float64, share of 1): Share of the 10 largest, ties included. Missing without any.
        - ``top_10_parties`` (int64, parties): Parties in it, more than 10 with ties.
        - ``coverage`` (float64, share of 1): Share of the values of this row that are known. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If `of` is ``"amount"``, and :func:`rewards` refuses the frames.

    Notes
    -----
    Source: docs/facts.md#activity-weights. Parties without a record are unknown, so the figures cover only parties with
    records. The value of a party is the sum of its known values. `coverage` counts one value per party, or one amount per
    party and round. The figures are exact fractions until the last step. Do not compare Gini coefficients of fewer than 10
    parties.

    Picture, by :func:`ledgerframes.plot`: Of more than 100 rounds, the medians of groups are shown, which the title says. A
    line per share and coefficient [%] over time, or a bar for each of them.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> bool(lf.activity.concentration(frames)["gini"].between(0, 1).all())
    True
    """
    sizes = _sizes(top)
    CONCENTRATION.check(frames)
    rows = _by_party(_values(frames, of, every, featured, sv_participants, rounds, base), labels)
    times = [name for name in ("round_number", "period_start", "period_end", "is_partial") if name in rows]
    figure = replace(CONCENTRATION, columns=(*HEAD, *_top_columns(sizes)))
    periods = rows[[*times, "coverage_time"]].drop_duplicates(ignore_index=True) if times else pd.DataFrame(index=range(1))
    codes = pd.Index(periods[times[0]]).get_indexer(rows[times[0]]) if times else np.zeros(len(rows), dtype=np.int64)
    groups = Groups(periods, codes.astype(np.int64))
    summaries = [_summary(part["value"].dropna().tolist(), sizes) for part in groups.split(rows)]
    values: dict[str, Any] = {**periods, **{name: [each[name] for each in summaries] for name in _summary([], sizes)}}
    values["total"] = from_scaled(values["total"])
    values["coverage"] = ratio(groups.total(rows["known_count"]), groups.total(rows["value_count"]))
    return figure.build(frames, values, every=every)


@LORENZ.register
def lorenz(
    frames: Frames,
    *,
    of: Literal["weight", "burn_bytes", "amount"] = "weight",
    labels: pd.DataFrame | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return the share of activity that the smallest parties have together.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    of : {"weight", "burn_bytes", "amount"}, optional
        Weight (default), bytes before the factor, or coin as in :func:`rewards`.
    labels : DataFrame, optional
        From :func:`ledgerframes.labels.read`. Parties of one group count as one party.
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
        One row per party with more than 0; sorted by value and party.

        Columns:

        - ``party`` (str): App provider.
        - ``rank`` (int64): Position, from 1 for the party with the smallest value.
        - ``value`` (decimal128(38, 10)[pyarrow]): Value of the party, in weighted bytes, bytes or coin.
        - ``cumulative_parties`` (float64, share of 1): Rank divided by the number of parties.
        - ``cumulative_share`` (float64, share of 1): Share of the party together with all smaller ones.
        - ``coverage`` (float64, share of 1): Share of the values of this result that are known. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If `of` is ``"amount"``, and :func:`rewards` refuses the frames.

    Notes
    -----
    Source: docs/facts.md#activity-weights. The curve starts at (0, 0).

    Picture, by :func:`ledgerframes.plot`: Share of activity [%] of the smallest parties over their share of all parties
    [%], with the diagonal.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> float(lf.activity.lorenz(frames)["cumulative_share"].iloc[-1])
    1.0
    """
    LORENZ.check(frames)
    rows = _by_party(_values(frames, of, None, featured, sv_participants, rounds, base), labels)
    (known_share,) = ratio([rows["known_count"].sum()], [rows["value_count"].sum()])
    rows = rows[np.array([value is not None and value > 0 for value in rows["value"]], dtype=bool)]
    rows = rows.sort_values(["value", "party"], ignore_index=True)
    points = lorenz_points(rows["value"]).iloc[1:].reset_index(drop=True)  # the curve starts at (0, 0)
    values = {
        "party": rows["party"],
        "rank": list(range(1, len(rows) + 1)),
        "value": from_scaled(rows["value"]),
        "cumulative_parties": points["cumulative_members"],
        "cumulative_share": points["cumulative_share"],
        "coverage": known_share,
    }
    return LORENZ.build(frames, values)


def _sizes(top: Sequence[int]) -> tuple[int, ...]:
    sizes = tuple(sorted(set(top))) if isinstance(top, Iterable) else ()
    if not sizes or any(not is_integer(number) or number < 1 for number in sizes):
        raise UsageError(f"top= must be whole numbers from 1, got {top!r}.")
    return sizes


def _values(
    frames: Frames,
    of: str,
    every: str | None,
    featured: pd.DataFrame | None,
    sv_participants: pd.DataFrame | None,
    rounds: pd.DataFrame | None,
    base: Snapshot | None,
) -> pd.DataFrame:
    """Return the values of each party in units of 10^-10, or None if unknown.

    A period without records has one row without a party.
    """
    if of not in OF:
        raise UsageError(f"Unknown of={of!r}. Choose from {', '.join(map(repr, OF))}.")
    if of != "amount":
        rows = weights(frames, every=every, featured=featured, sv_participants=sv_participants, rounds=rounds, base=base)
        numbers = [None if pd.isna(value) else int(value) * SCALE for value in rows[of]]
        return rows.assign(value=pd.Series(numbers, rows.index, "object"), has_record=rows["requests"] > 0)
    if every not in (None, "round"):
        raise UsageError(f"every= must be 'round' or None for of='amount', got {every!r}.")
    rows = rewards(frames, by="party", rounds=rounds, base=base)
    rows["value"] = pd.Series(scaled(rows["amount"]), rows.index, "object")
    return (rows if every else rows[["party", "value"]]).assign(has_record=True)


def _by_party(rows: pd.DataFrame, labels: pd.DataFrame | None) -> pd.DataFrame:
    """Return the sum of the known values of each party or label group.

    The result also has the number of values, and of known ones.
    """
    if labels is not None:
        rows = rows.assign(party=rows["party"].astype("str").map(groups_by_id(labels)).astype("str").fillna(rows["party"]))
    names = ("round_number", "period_start", "period_end", "is_partial", "coverage_time", "party")
    groups = group_by(rows, [name for name in names if name in rows])
    sums: list[int | None] = [None] * len(groups)
    for group, value in zip(groups.codes, rows["value"], strict=True):
        if value is not None:
            sums[group] = (sums[group] or 0) + value
    has_record = rows["has_record"].to_numpy(dtype=bool)
    counts = {"value_count": groups.count(has_record), "known_count": groups.count(has_record & known(rows["value"]))}
    return groups.keys.assign(value=pd.Series(sums, dtype="object"), **counts)


def _summary(numbers: list[int], sizes: Sequence[int]) -> dict[str, Any]:
    """Return the figures of one period, exact until the last step."""
    positive = [number for number in numbers if number > 0]
    measured = concentration_of(positive)
    summary: dict[str, Any] = {
        "parties": len(positive),
        "parties_zero": len(numbers) - len(positive),
        "total": measured.total if positive else None,
        "gini": measured.gini,
        "hhi": measured.hhi,
    }
    for size in sizes:
        leading = top_members(positive, size)
        summary[f"top_{size}"] = leading.share if leading else None
        summary[f"top_{size}_parties"] = leading.count if leading else 0
    return summary
