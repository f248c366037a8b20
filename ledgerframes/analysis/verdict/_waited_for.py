"""Parties and participants that slow requests have in common."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._arguments import require_columns
from ledgerframes.analysis._groups import (
    Flags,
    Groups,
    Integers,
    durations,
    group_by,
    ratio,
    single_group,
    sort_largest_first,
)
from ledgerframes.analysis._percentiles import FEW_REQUESTS, few_requests, needs, require_min_requests
from ledgerframes.analysis._requests import (
    PARTICIPANT_PREFIX,
    UNSPECIFIED,
    encode_items,
    has_result,
    list_lengths,
    positions,
    requests,
    require_rejections,
)
from ledgerframes.analysis.verdict._latency_classes import DOUBTFUL_LIMIT, timeouts_of, with_latency
from ledgerframes.frames import Frames
from ledgerframes.statistics import difference_of_rates, group_against_rest, holm, wilson

SLOW_PERCENT = 90
LEVEL = 0.05
OF_SLOW = ("slow", "slow_rate", "low", "high", "difference", "difference_low", "difference_high", "p_holm", "differs")
NOT_REQUIRED = "no request needs it"
NO_REST = "every request names it"
TOO_FEW = "too few requests"
WAITED_FOR = declare.Figure(
    "verdict.waited_for",
    rows=(
        "One row per confirming party, or per participant; sorted by ``p_holm``, lowest first and missing last, then by required "
        "requests, most first, and by name."
    ),
    by={"party": declare.Grouping(), "participant": declare.Grouping()},
    columns=(
        declare.text("party", "Confirming party. Missing by participant."),
        declare.text("participant", "Participant that hosts confirming parties. Missing by party."),
        declare.count("named", "Requests that can do without its confirmation."),
        declare.count("required", "Requests that need its confirmation."),
        declare.integer(
            "slow", "Required requests that were slow. Missing where the limit of timeouts may not be 30 s.", "requests", "Slow"
        ),
        declare.share(
            "Slow requests as a share of the required ones. Missing without any or `slow`.", "slow_rate", "Slow requests"
        ),
        declare.share("Lower end of the Wilson interval of the rate, 95 %. Missing without a rate.", "low"),
        declare.share("Upper end of the Wilson interval of the rate, 95 %. Missing without a rate.", "high"),
        declare.share("Rate less the rate of requests that do not name it. Missing without either.", "difference"),
        declare.share("Lower end of the 95 % interval of the difference. Missing with it.", "difference_low"),
        declare.share("Upper end of the 95 % interval of the difference. Missing with it.", "difference_high"),
        declare.rate("p_holm", "P-value of the difference, adjusted for all rows. Missing if not judged."),
        declare.flag("differs", "Whether more than chance explains the difference. Missing if not judged."),
        declare.duration("median_latency", f"Median latency of the required requests. {needs(50)}", "Latency"),
        FEW_REQUESTS,
        declare.text("reason", "Reason why a row is not judged. Missing if it is."),
    ),
    condition="with a known verdict",
    unit="requests of these frames",
)


@WAITED_FOR.document
def waited_for(
    frames: Frames,
    *,
    by: Literal["party", "participant"] | None = "party",
    hosting: pd.DataFrame | None = None,
    accept_survivorship: bool = False,
    min_requests: int | None = None,
) -> pd.DataFrame:
    """Return how often requests that need a party's confirmation are slow.

    **This is association, not cause**: a verdict does not say who responded when.

    A request is slow if its latency is above the 90th percentile of those that did not time out, or if it timed out. It needs a
    party if a quorum of one of its views cannot reach its threshold without the party. It needs a participant if it needs a
    party that no other participant hosts at that time. If more rejections lie from 20 s to below 29.9 s than from there on, no
    request is named a timeout, and none slow.

    Parameters
    ----------
    frames : Frames
        With ``verdicts`` and ``quorums``.
    by : {"party", "participant"}, optional
        Confirming party, or participant that hosts confirming parties (default: party, also for None).
    hosting : DataFrame, optional
        For ``by="participant"``: ``party``, ``participant``, ``from`` and ``until`` [UTC, missing if it still does]. The history
        does not hold it: it is in ``ledger_topology`` of a participant's ledger.

    Raises
    ------
    UsageError
        If `hosting` is needed and missing, or has no such column.

    Source: times and quorums of the verdicts (docs/facts.md#no-rejection-reason). Each row is compared with the requests
    that do not name it, adjusted for the number of rows. A row that ``differs`` is slow more, or less, often than chance
    explains. The interval of the difference is not adjusted, so it decides nothing among many rows.

    >>> parties = lf.verdict.waited_for(day)
    >>> bool((parties["slow"] <= parties["required"]).all())
    True
    """
    WAITED_FOR.check(frames, by)
    require_min_requests(min_requests)
    require_rejections(frames, accept_survivorship, "requests that timed out")
    rows = requests(frames, ["finalization_time", "verdict_result"], cost=False)
    coverage = float(rows["has_verdict"].mean()) if len(rows) else float("nan")
    rows = with_latency(rows[~has_result(rows, UNSPECIFIED)]).reset_index(drop=True)
    timeouts = timeouts_of(rows)
    is_slow = _is_slow(rows, np.zeros(len(rows), dtype=bool) if timeouts is None else timeouts)
    names, roles = _roles(frames, rows)
    if by == "participant":
        names, roles = _roles_of_hosts(rows, names, roles, _hosting(hosting))
    required, dispensable = (
        Groups(names, roles[roles["is_required"] == flag]["member"].to_numpy("int64")) for flag in (True, False)
    )
    needed = roles[roles["is_required"]]
    hits = required.count(is_slow[needed["row"]])
    trials = required.count()
    every = Groups(names, roles["member"].to_numpy("int64"))
    rest_hits = int(is_slow.sum()) - every.count(is_slow[roles["row"]])
    rest_trials = len(rows) - every.count()
    low, high = wilson(hits, trials)
    difference, difference_low, difference_high = difference_of_rates((rest_hits, rest_trials), (hits, trials))
    _, p_values = group_against_rest(hits, trials, hits + rest_hits, trials + rest_trials)
    p_holm = holm(p_values)
    latencies = pd.Series(pd.array(rows["latency"].to_numpy("int64")[needed["row"]], dtype="Int64"))
    values: dict[str, Any] = {
        "party": pd.NA,
        "participant": pd.NA,
        **names,
        "named": dispensable.count(),
        "required": trials,
        "slow": hits,
        "slow_rate": ratio(hits, trials),
        "low": low,
        "high": high,
        "difference": difference,
        "difference_low": difference_low,
        "difference_high": difference_high,
        "p_holm": p_holm,
        "differs": pd.Series(p_holm <= LEVEL, dtype="boolean").mask(np.isnan(p_holm)),
        "median_latency": durations(required.percentiles(latencies, [50], min_requests)[0]),
        "few_requests_for": few_requests([("median_latency", trials, 50)], min_requests),
        "reason": _reasons(trials, rest_trials, is_judged=~np.isnan(p_holm)),
        "coverage": coverage,
    }
    if timeouts is None:
        values |= {**dict.fromkeys(OF_SLOW, [None] * len(names)), "reason": [DOUBTFUL_LIMIT] * len(names)}
    result = WAITED_FOR.build(frames, values, by, accept_survivorship=accept_survivorship)
    return sort_largest_first(result, "required", *names, before=["p_holm"])


def _reasons(trials: Integers, rest_trials: Integers, *, is_judged: Flags) -> pd.Series:
    """Return why each row is not judged, missing if it is."""
    reasons = np.select([is_judged, trials == 0, rest_trials == 0], ["", NOT_REQUIRED, NO_REST], TOO_FEW)
    return pd.Series(reasons, dtype="str").replace("", pd.NA)


def _is_slow(rows: pd.DataFrame, is_timeout: Flags) -> Flags:
    """Return which requests timed out, or took longer than 90 % of the others."""
    latencies = rows["latency"].to_numpy("int64")
    others = rows["latency"][~is_timeout].astype("Int64")
    (limit,) = single_group(len(others)).percentiles(others, [SLOW_PERCENT], min_count=1)
    is_slow: Flags = is_timeout | (latencies > limit.fillna(np.iinfo(np.int64).max).iloc[0])
    return is_slow


def _roles(frames: Frames, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the parties, and for each request and party whether the request needs it."""
    quorums = frames.read("quorums", ["update_id", "threshold", "parties"])
    # A party that a quorum lists twice counts once, as the set of its parties decides.
    owners, codes, names = encode_items(quorums["parties"])
    items = pd.DataFrame({"quorum": owners, "member": codes}).drop_duplicates()
    sizes = np.bincount(items["quorum"], minlength=len(quorums)) if len(items) else list_lengths(quorums["parties"])
    is_tight = quorums["threshold"].to_numpy(dtype="float64", na_value=np.nan) >= sizes
    items["row"] = positions(quorums["update_id"], rows["update_id"])[items["quorum"]]
    items["is_required"] = is_tight[items["quorum"]]
    roles = items[items["row"] >= 0].groupby(["row", "member"], as_index=False)[["is_required"]].max()
    parties = pd.DataFrame({"party": pd.array(names, dtype="str")})
    is_present = np.bincount(roles["member"], minlength=len(parties)) > 0
    roles["member"] = (np.cumsum(is_present) - 1)[roles["member"]]
    return parties[is_present].reset_index(drop=True), roles


def _hosting(hosting: object) -> pd.DataFrame:
    """Return which participant hosts each party from when until when."""
    columns = ["party", "participant", "from", "until"]
    rule = f"hosting= must be a DataFrame with the columns {', '.join(columns)} for by='participant'"
    hosting = require_columns(hosting, columns, rule)
    times = {name: pd.to_datetime(hosting[name], utc=True).dt.as_unit("us") for name in columns[2:]}
    return hosting[columns].assign(participant=hosting["participant"].str.removeprefix(PARTICIPANT_PREFIX), **times)


def _roles_of_hosts(
    rows: pd.DataFrame, parties: pd.DataFrame, roles: pd.DataFrame, hosting: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the participants, and whether each request needs each of them."""
    party, time = parties["party"].iloc[roles["member"]].array, rows["record_time"].iloc[roles["row"]].array
    hosts = roles.assign(party=party, time=time).merge(hosting, on="party")
    hosts = hosts[(hosts["from"] <= hosts["time"]) & ((hosts["time"] < hosts["until"]) | hosts["until"].isna())]
    is_only_host = hosts.groupby(["row", "party"])["participant"].transform("nunique") == 1
    hosts = hosts.assign(is_required=hosts["is_required"] & is_only_host)
    needs = hosts.groupby(["row", "participant"], as_index=False)[["is_required"]].max()
    participants = group_by(needs, ["participant"])
    return participants.keys.astype("str"), needs.assign(member=participants.codes)
