"""Sentences that answer with the figures of verdicts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ledgerframes.analysis.empty_results import NO_QUORUM, NO_VERDICT
from ledgerframes.analysis.groups import is_true, iter_rows
from ledgerframes.analysis.verdict.limit import DOUBTFUL_LIMIT
from ledgerframes.statistics import printing
from ledgerframes.statistics.comparisons import LEVEL
from ledgerframes.statistics.distributions import poisson_tail
from ledgerframes.texts.representation import WEEKDAYS, describe_day, pluralize

MAX_NAMES = 5
FREQUENT = 3  # quorums
SLOWEST = 3  # parties
MICROSECONDS = 1_000_000
PERCENTILES = ("p50", "p95")  # the table has all
PLURALS = {
    "submitting_participant_uid": "participants",
    "party": "parties",
    "weekday": "hours of the week",
    "hour": "hours of the day",
    "day": "days",
    "period_start": "periods",
}


def of_outcomes(result: pd.DataFrame) -> str:
    """Return how many requests were rejected, or which groups differ from the others."""
    key = next((name for name in PLURALS if name in result), None)
    if key is None and len(result) == 1:
        return _rejected(result)
    if key == "party":  # groups that can share a request, so that none is judged
        return ""
    return _differing(result, key)


def _rejected(result: pd.DataFrame) -> str:
    (row,) = iter_rows(result)
    decided = row.accepted + row.rejected
    digits = printing.rate_decimals(decided)
    text = f"{row.rejected:,} of {decided:,} decided requests {'was' if row.rejected == 1 else 'were'} rejected"
    if not decided:
        return f"{text}."
    return f"{text}: {printing.percent(row.rejected, decided, digits)} ({printing.interval(row.low, row.high, digits)})."


def _differing(result: pd.DataFrame, key: str | None) -> str:
    """Return which groups with enough requests differ from all others together."""
    if result.empty:
        return NO_VERDICT
    compared = result[~is_true(result["is_partial"])] if "is_partial" in result else result
    if "covered_hours" in compared:  # A short window has not all hours.
        compared = compared[compared["covered_hours"] != 0]
    judged, number = int(compared["differs"].notna().sum()), len(compared)
    if number <= 1:
        return "There is nothing to compare with."
    has_partial_periods = key in ("period_start", "day") and number < len(result)
    noun = f"{'whole ' if has_partial_periods else ''}{PLURALS.get(key or '', 'groups')}"
    subject = f"{judged:,} of {number:,} {noun} have enough requests to be judged"
    different = result[is_true(result["differs"])]
    if not judged or different.empty:
        return f"{subject}{', and none can be told from the others' if judged else ''}."
    signs = ["higher" if row.difference > 0 else "lower" for row in iter_rows(different)]
    names = [f"{name} ({sign})" for name, sign in zip(_names(different, key), signs, strict=True)]
    verb = "differs" if len(names) == 1 else "differ"
    return f"{subject}, and {len(names):,} of them {verb} from the others: {_first(names, MAX_NAMES)}."


def _first(names: list[str], number: int) -> str:
    """Return the first names, and how many more there are."""
    more = [f"and {len(names) - number:,} more"] if len(names) > number else []
    return ", ".join([*names[:number], *more])


def _names(rows: pd.DataFrame, key: str | None) -> list[str]:
    if key in ("period_start", "day"):
        return [describe_day(time) if time == time.normalize() else f"{time:%Y-%m-%d %H:%M}" for time in rows[key]]
    if key == "weekday":
        return [f"{WEEKDAYS[row.weekday]} {row.hour:02d}:00" for row in iter_rows(rows)]
    if key == "hour":
        return [f"{hour:02d}:00" for hour in rows[key]]
    return [str(name) for name in rows[key or rows.columns[0]]]


def of_latency(result: pd.DataFrame) -> str:
    """Return percentiles of the latency of all requests, or the slowest group by its median."""
    if len(result) == 1:
        return _percentiles_of_all(result)
    known = result.dropna(subset="p50")
    if known.empty:
        return "No group has enough accepted requests for a median."
    rows = known.sort_values("p50", kind="stable")
    fastest, slowest = rows.iloc[0], rows.iloc[-1]
    if len(rows) == 1:
        return f"The median of the only group with enough accepted requests is {_seconds(fastest['p50'])} s."
    ends = f"{_seconds(fastest['p50'])} s to {_seconds(slowest['p50'])} s"
    statement = f"The medians of {len(known):,} groups range from {ends}."
    # Few requests have no interval. Two that do not overlap are no test, because one looks for them among many groups.
    highest_low, lowest_high = rows["p50_low"].max(), rows["p50_high"].min()
    if pd.isna(lowest_high):
        return statement
    overlaps = "Chance can explain the difference." if lowest_high >= highest_low else "Not all of their intervals overlap."
    return f"{statement} {overlaps}"


def _percentiles_of_all(result: pd.DataFrame) -> str:
    row = result.iloc[0]
    accepted, rejected = _percentiles(row), _percentiles(row, "rejected_")
    impossible = f" Left out: {row['impossible']:,} with a finalization time before the record time." if row["impossible"] else ""
    return f"Accepted requests: {accepted}. Rejected before the limit: {rejected}. Timeouts: {_timeouts(row)}.{impossible}"


def _timeouts(row: pd.Series) -> str:
    if pd.isna(row["timeout_rate"]):
        doubtful = "not named, because the limit of this network may not be 30 s"
        return doubtful if pd.isna(row["timeouts"]) else printing.MISSING
    counts = [int(row[name]) for name in ("timeouts", "accepted", "rejected")]
    return printing.rate(counts[0], sum(counts))


def _percentiles(row: pd.Series, prefix: str = "") -> str:
    names = [name for name in PERCENTILES if pd.notna(row[f"{prefix}{name}"])]
    texts = [f"{name[1:]} % within {_seconds(row[f'{prefix}{name}'])} s{_interval(row, f'{prefix}{name}')}" for name in names]
    return ", ".join(texts) or "too few for a percentile"


def _interval(row: pd.Series, name: str) -> str:
    """Return the interval of a percentile in brackets, or nothing where an end is missing."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "" if pd.isna(low) or pd.isna(high) else f" ({_seconds(low)} to {_seconds(high)} s)"


def _seconds(latency: pd.Timedelta) -> str:
    return printing.duration_number(latency // pd.Timedelta("1us"))


def of_rejections(result: pd.DataFrame) -> str:
    """Return how many rejections are contention and timeouts, by the heuristic."""
    counts = result["reject_kind_heuristic"].value_counts()
    unknown = len(result) - int(counts.sum())
    others = f" The latency of {unknown:,} does not tell." if unknown else ""
    contention = f"{counts['contention']:,} {'rejection is' if counts['contention'] == 1 else 'rejections are'} contention"
    timeouts = f"{counts['timeout']:,} {'is a timeout' if counts['timeout'] == 1 else 'are timeouts'}"
    return f"By the heuristic, {contention} and {timeouts}.{others}"


def of_quorums(result: pd.DataFrame) -> str:
    """Return how many quorums there are, and how frequent the most frequent ones are."""
    if result.columns[0] != "parties":  # several groups or periods have the same quorum
        return ""
    if result.empty:
        return NO_QUORUM
    number, shares = pluralize(len(result), "different quorum"), result["share"].nlargest(FREQUENT)
    if len(result) <= FREQUENT:
        return f"{number}, with {printing.share(shares.sum())} of all quorums."
    return f"{number}. The three most frequent account for {printing.share(shares.sum())} of all quorums."


def of_waited_for(result: pd.DataFrame) -> str:
    """Return who needs requests that are slow more often than other requests."""
    has_participants = "participant" in result and result["participant"].notna().any()
    kind, plural = ("participant", "Participants") if has_participants else ("party", "Parties")
    judged = int(result["differs"].notna().sum())
    if not judged:
        is_doubtful = len(result) and result["reason"].eq(DOUBTFUL_LIMIT).all()
        nobody = f"No {kind} has enough requests to be judged."
        return "No request is called slow, as timeouts are not named." if is_doubtful else nobody
    slower = result[is_true(result["differs"]) & (result["difference"] > 0)]
    names = [f"{getattr(row, kind)} ({row.slow:,} of {row.required:,} requests were slow)" for row in iter_rows(slower)]
    return f"{plural} that stand out among {judged:,} with enough requests: {_first(names, SLOWEST) or 'none'}."


def of_head_of_line(result: pd.DataFrame) -> str:
    """Return the numbers of timeouts, and of requests that waited for them."""
    if result["reason"].notna().any():
        return "Timeouts are not named, because the limit of this network may not be 30 s."
    culprits, victims = len(result), int(result["victims"].sum())
    expected: Any = result["expected_victims"].sum(skipna=False)
    timed_out = f"{pluralize(culprits, 'request')} timed out."
    if not culprits:
        return timed_out
    waited = printing.duration(round(result["added"].dt.total_seconds().sum() * MICROSECONDS))
    is_chance = bool(victims) and not pd.isna(expected) and poisson_tail(victims, expected) > LEVEL
    waiting = f"{victims:,} other{'s' * (victims != 1)} {'may have' if is_chance else 'probably'} waited"
    others = f"{waiting} for {'it' if culprits == 1 else 'them'}, {waited} in total."
    if pd.isna(expected):
        return f"{timed_out} {others} The window is too short to say how many of them chance explains."
    verdict = ", so this number is no surprise" if is_chance else ""
    return f"{timed_out} {others} Chance alone explains {expected:.1f} of them{verdict}."
