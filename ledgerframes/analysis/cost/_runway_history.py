"""Burn in the weeks before a traffic balance."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis.arguments import require_participant
from ledgerframes.analysis.cost.traffic_balance import BaseRate, TrafficBalance
from ledgerframes.analysis.coverage import covered_time
from ledgerframes.analysis.groups import ORIGIN, ratio
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.relation import Parameter
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.conditions import near_matches
from ledgerframes.statistics.runways import HOURS_PER_WEEK, TopUp
from ledgerframes.statistics.usual_ranges import MAX_WEEKS, MIN_WEEKS
from ledgerframes.values import extents
from ledgerframes.values.extents import MICROSECONDS_PER_HOUR

MIN_COVERAGE = 0.9
WEEK = HOURS_PER_WEEK * MICROSECONDS_PER_HOUR
SUBMITTING_PARTICIPANTS = Relation(
    "submitting_participants",
    "One row per participant that submits.",
    """
    SELECT DISTINCT submitting_participant_uid FROM verdicts WHERE submitting_participant_uid IS NOT NULL
    """,
    tables=("verdicts",),
)
SPAN = Parameter("span", "One row: the participant, and start and end of the weeks, in microseconds since 1970.")
REQUESTS_WITHIN = Relation(
    "requests_within",
    "One row per request of the weeks before the balance.",
    """
    SELECT requests.*, coalesce(submitting_participant_uid = span.participant, false) AS is_own
    FROM requests, span
    WHERE epoch_us(record_time) >= span.since AND epoch_us(record_time) < span.until
    """,
    relations=(REQUESTS,),
    parameters=(SPAN,),
)


def history_of(
    frames: Frames, participant: str, balance: TrafficBalance, topup: TopUp | None, base_rate: BaseRate | None
) -> tuple[list[list[int]], dict[str, float]]:
    """Return the burn in the latest 4 to 6 adjacent whole weeks, and its coverage."""
    for name, value, kind in (("topup", topup, TopUp), ("base_rate", base_rate, BaseRate)):
        if not isinstance(value, kind) and value is not None:
            raise UsageError(f"{name}= must be a {kind.__name__}, got {type(value).__name__}.")
    if frames.population != "all" or frames.is_filtered:
        raise CoverageError(
            "Cannot compute a runway because rejected requests cost too, and these frames do not hold all requests. "
            "Load a window with since=, and do not filter it.",
            missing=("rejected requests",),
        )
    _require_submitter(frames, participant)
    first, end = span_of(balance)
    hours = run(frames, hours_query(participant, first, end))
    covered = covered_time(frames)
    weeks: list[list[int]] = []
    for start in range(end - WEEK, end - (MAX_WEEKS + 1) * WEEK, -WEEK):
        week = hours[hours["start"].between(start, start + WEEK - 1)]
        is_partial = covered.is_partial(np.array([start]), np.array([start + WEEK]))[0]
        if is_partial or not (_are_known(week["named"], week["requests"]) and _are_known(week["own_with_cost"], week["own"])):
            break
        weeks.insert(0, _burn(week, start))
    if len(weeks) < MIN_WEEKS:
        raise CoverageError(
            f"A runway needs {MIN_WEEKS} whole weeks before {balance.at:%Y-%m-%d %H:%M}, and these frames hold {len(weeks)}. "
            "Load a longer window.",
            missing=(f"{MIN_WEEKS - len(weeks)} weeks",),
        )
    return weeks, _coverage(run(frames, _costs_query(participant, end - len(weeks) * WEEK, end)))


def span_of(balance: TrafficBalance) -> tuple[int, int]:
    """Return the start and end of the most weeks before a balance, in microseconds since 1970."""
    end = (extents.microseconds(balance.at) - ORIGIN) // WEEK * WEEK + ORIGIN
    return end - MAX_WEEKS * WEEK, end


def _coverage(costs: pd.DataFrame) -> dict[str, float]:
    """Return the coverage of the participant's requests."""
    (count, known, cost), median = costs.iloc[0, :3].tolist(), costs["median"].to_numpy("float64", na_value=np.nan)
    of_bytes = ratio([float(cost)], float(cost) + (count - known) * median)
    return {
        "coverage": float(ratio([known], [count])[0]),
        "coverage_bytes": float(of_bytes[0]) if count > known or not count else 1.0,
    }


def _burn(week: pd.DataFrame, start: int) -> list[int]:
    """Return the cost of each hour of a week, or 0 without a cost."""
    burn = [0] * HOURS_PER_WEEK
    for time, cost in zip(week["start"].tolist(), week["total_traffic_cost"].fillna(0).tolist(), strict=True):
        burn[(time - start) // MICROSECONDS_PER_HOUR] = cost
    return burn


def _are_known(known: pd.Series, requests: pd.Series) -> bool:
    """Return whether enough requests have a fact, or there are no requests."""
    count = int(requests.sum())
    return count == 0 or int(known.sum()) / count >= MIN_COVERAGE


def hours_query(participant: str, since: int, until: int) -> Query:
    """Return the query of the requests and costs of each hour."""
    select = """
    SELECT
        epoch_us(date_trunc('hour', record_time)) AS start,
        count(*) AS requests,
        count(submitting_participant_uid) AS named,
        count(*) FILTER (is_own) AS own,
        count(*) FILTER (is_own AND is_known) AS own_with_cost,
        sum(total_traffic_cost) FILTER (is_own) AS total_traffic_cost
    FROM requests_within
    GROUP BY ALL
    """
    return Query(dedent(select).strip(), (REQUESTS_WITHIN,), _parameters(participant, since, until))


def _costs_query(participant: str, since: int, until: int) -> Query:
    """Return the query of the costs of the participant's requests, for their coverage."""
    select = """
    SELECT
        count(*) AS requests,
        count(total_traffic_cost) AS requests_with_cost,
        coalesce(sum(total_traffic_cost), 0) AS total_traffic_cost,
        quantile_disc(total_traffic_cost, 0.50) AS median
    FROM requests_within
    WHERE is_own
    """
    return Query(dedent(select).strip(), (REQUESTS_WITHIN,), _parameters(participant, since, until))


def _parameters(participant: str, since: int, until: int) -> dict[str, pa.Table]:
    return {"span": pa.table({"participant": pa.array([participant], pa.string()), "since": [since], "until": [until]})}


def _require_submitter(frames: Frames, participant: str) -> None:
    """Raise a UsageError unless the participant submits requests."""
    require_participant(participant)
    submitters = run(frames, Query("FROM submitting_participants", (SUBMITTING_PARTICIPANTS,)))["submitting_participant_uid"]
    if not (submitters == participant).any():
        near = near_matches(participant, submitters)
        step = f"Choose from {', '.join(map(repr, near))}." if near else "Choose one that submits requests in these frames."
        raise UsageError(f"Unknown participant {participant!r}. {step}")
