"""Parties and participants that slow requests have in common."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._percentiles import FEW_REQUESTS, few_requests, needs, require_min_requests
from ledgerframes.analysis.arguments import require_columns, to_times
from ledgerframes.analysis.groups import Flags, Integers, durations, ratio, sort_largest_first
from ledgerframes.analysis.requests import PARTICIPANT_PREFIX, require_rejections
from ledgerframes.analysis.verdict import _answers as answers
from ledgerframes.analysis.verdict._share import share_with_verdict
from ledgerframes.analysis.verdict.limit import DOUBTFUL_LIMIT, LIMIT_COUNTS, is_limit_doubtful
from ledgerframes.engine import Query, run
from ledgerframes.engine.quorums import JUDGED_REQUESTS, ROLES_OF_PARTICIPANTS, ROLES_OF_PARTIES
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics.comparisons import group_against_rest, holm
from ledgerframes.statistics.percentiles import least_count
from ledgerframes.statistics.rates import difference_of_rates, wilson

LEVEL = 0.05
OF_SLOW = ("slow", "slow_rate", "low", "high", "difference", "difference_low", "difference_high", "p_holm", "differs")
NOT_REQUIRED = "no request needs it"
NO_REST = "every request names it"
TOO_FEW = "too few requests"


def queries(
    frames: Frames, by: str | None, hosting: pd.DataFrame | None, min_requests: int | None, **others: object
) -> list[Query]:
    """Return the queries of the figure."""
    require_min_requests(min_requests)
    least = int(least_count(50)) if min_requests is None else min_requests
    return [JUDGED, roles_query(_hosting(hosting) if by == "participant" else None, least)]


WAITED_FOR = declare.Figure(
    "verdict.waited_for",
    caption="Slow requests among those that need a party",
    answer=answers.of_waited_for,
    main_columns=("party", "participant", "slow_rate", "low", "high", "required", "slow", "median_latency", "differs"),
    rows=(
        "One row per confirming party, or per participant; sorted by ``p_holm``, lowest first and missing last, then by required "
        "requests, most first, and by name."
    ),
    by={"party": declare.Grouping(), "participant": declare.Grouping()},
    columns=(
        declare.text("party", "Confirming party. Missing by participant."),
        declare.text("participant", "Participant that hosts confirming parties. Missing by party."),
        declare.count("named", "Requests that name it as a confirmer, but do not need its confirmation."),
        declare.count("required", "Requests that need its confirmation."),
        declare.integer(
            "slow", "Required requests that were slow. Missing if the limit of the network may not be 30 s.", "requests", "Slow"
        ),
        declare.share(
            "Slow requests as a share of the required ones. Missing if there are none, or `slow` is missing.",
            "slow_rate",
            "Slow requests",
        ),
        declare.share("Lower end of the Wilson interval of the rate, 95 %. Missing without a rate.", "low"),
        declare.share("Upper end of the Wilson interval of the rate, 95 %. Missing without a rate.", "high"),
        declare.share("Rate minus the rate of requests that do not name it. Missing without either rate.", "difference"),
        declare.share("Lower end of the 95 % interval of the difference. Missing without a difference.", "difference_low"),
        declare.share("Upper end of the 95 % interval of the difference. Missing without a difference.", "difference_high"),
        declare.rate("p_holm", "P-value of the difference, adjusted for all rows. Missing if not judged."),
        declare.flag("differs", "Whether more than chance explains the difference. Missing if not judged."),
        declare.duration("median_latency", f"Median latency of the required requests. {needs(50)}", "Latency"),
        FEW_REQUESTS,
        declare.text("reason", "Why the row is not judged. Missing if it is judged."),
    ),
    condition="with a known verdict",
    unit="requests of these frames",
    queries=queries,
)

JUDGED = Query(
    f"""\
SELECT
    count(*) AS requests,
    count(*) FILTER (WHERE is_slow) AS slow,
    {LIMIT_COUNTS}
FROM judged_requests""",
    (JUDGED_REQUESTS,),
)


@WAITED_FOR.register
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

    A request is slow if its latency is above the 90th percentile of those that did not time out, or if it timed out. It needs
    a party if a quorum of one of its views cannot reach its threshold without that party. It needs a participant if it needs
    a party that no other participant hosts at that time. If more rejections lie from 20 s to below 29.9 s than at 29.9 s or
    more, no request is called a timeout, and none is called slow.

    Parameters
    ----------
    frames : Frames
        With ``verdicts`` and ``quorums``.
    by : {None, "party", "participant"}, optional
        Confirming party, or participant that hosts confirming parties (default: party, also for None).
    hosting : DataFrame, optional
        For ``by="participant"``: ``party``, ``participant``, ``from`` and ``until`` [UTC, missing if it still does]. The
        history does not record this, but ``ledger_topology`` of a participant's ledger does.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).
    min_requests : int, optional
        Smallest number of requests for which a percentile is shown (default: as many as support it, which are 6 for a median,
        36 for p90, 72 for p95 and 368 for p99). ``few_requests_for`` names the percentiles that rest on fewer than these.

    Returns
    -------
    DataFrame
        One row per confirming party, or per participant; sorted by ``p_holm``, lowest first and missing last, then by required
        requests, most first, and by name.

        Columns:

        - ``party`` (str): Confirming party. Missing by participant.
        - ``participant`` (str): Participant that hosts confirming parties. Missing by party.
        - ``named`` (int64, requests): Requests that name it as a confirmer, but do not need its confirmation.
        - ``required`` (int64, requests): Requests that need its confirmation.
        - ``slow`` (Int64, requests): Required requests that were slow. Missing if the limit of the network may not be 30 s.
        - ``slow_rate`` (float64, share of 1): Slow requests as a share of the required ones. Missing if there are none, or
          `slow` is missing.
        - ``low`` (float64, share of 1): Lower end of the Wilson interval of the rate, 95 %. Missing without a rate.
        - ``high`` (float64, share of 1): Upper end of the Wilson interval of the rate, 95 %. Missing without a rate.
        - ``difference`` (float64, share of 1): Rate minus the rate of requests that do not name it. Missing without either
          rate.
        - ``difference_low`` (float64, share of 1): Lower end of the 95 % interval of the difference. Missing without a
          difference.
        - ``difference_high`` (float64, share of 1): Upper end of the 95 % interval of the difference. Missing without a
          difference.
        - ``p_holm`` (float64): P-value of the difference, adjusted for all rows. Missing if not judged.
        - ``differs`` (boolean): Whether more than chance explains the difference. Missing if not judged.
        - ``median_latency`` (timedelta64[us], microseconds): Median latency of the required requests. Missing below 6 requests,
          or below min_requests=.
        - ``few_requests_for`` (str): Percentiles that rest on fewer requests than support them. Missing if there are none, or
          without min_requests=.
        - ``reason`` (str): Why the row is not judged. Missing if it is judged.
        - ``coverage`` (float64, share of 1): Share of the requests of these frames with a known verdict. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames hold committed updates, which have no rejected requests.
    UsageError
        If `hosting` is needed but missing, or misses a column.

    Notes
    -----
    Source: times and quorums of the verdicts (docs/facts.md#no-rejection-reason). Each row is compared with the requests
    that do not name it, adjusted for the number of rows. A row that ``differs`` is slow more often, or less often, than
    chance explains. The interval of the difference is not adjusted, so do not judge many rows by it.

    Picture, by :func:`ledgerframes.plot`: Share of slow requests [%] with its 95 % interval, highest first, one row for
    each of the 15 parties or participants that most requests need.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> parties = lf.verdict.waited_for(day)
    >>> bool((parties["slow"] <= parties["required"]).all())
    True
    """
    WAITED_FOR.check(frames, by)
    judged_query, roles_of_rows = queries(frames, by, hosting, min_requests)
    require_rejections(frames, accept_survivorship, "requests that timed out")
    rows, judged = run(frames, roles_of_rows), run(frames, judged_query).iloc[0]
    names = rows.iloc[:, :1]
    hits, trials, all_hits, all_trials = (rows[name].to_numpy("int64") for name in ("slow", "required", "all_slow", "all"))
    rest_hits, rest_trials = int(judged["slow"]) - all_hits, int(judged["requests"]) - all_trials
    low, high = wilson(hits, trials)
    difference, difference_low, difference_high = difference_of_rates((rest_hits, rest_trials), (hits, trials))
    _, p_values = group_against_rest(hits, trials, hits + rest_hits, trials + rest_trials)
    p_holm = holm(p_values)
    values: dict[str, Any] = {
        "party": pd.NA,
        "participant": pd.NA,
        **names,
        "named": all_trials - trials,
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
        "median_latency": durations(rows["median_latency"]),
        "few_requests_for": few_requests([("median_latency", trials, 50)], min_requests),
        "reason": _reasons(trials, rest_trials, is_judged=~np.isnan(p_holm)),
        "coverage": share_with_verdict(frames),
    }
    if is_limit_doubtful(judged):
        values |= {**dict.fromkeys(OF_SLOW, [None] * len(names)), "reason": [DOUBTFUL_LIMIT] * len(names)}
    result = WAITED_FOR.build(frames, values, by, accept_survivorship=accept_survivorship)
    return sort_largest_first(result, "required", *names, before=["p_holm"])


def roles_query(hosting: pa.Table | None, least: int) -> Query:
    """Return a query of the requests that name each party, or participant that hosts one.

    The median of fewer than `least` requests is missing.
    """
    name, roles = ("party", ROLES_OF_PARTIES) if hosting is None else ("participant", ROLES_OF_PARTICIPANTS)
    select = f"""\
SELECT
    {name},
    count(*) AS "all",
    count(*) FILTER (WHERE is_slow) AS all_slow,
    count(*) FILTER (WHERE is_required) AS required,
    count(*) FILTER (WHERE is_required AND is_slow) AS slow,
    CASE
        WHEN count(*) FILTER (WHERE is_required) >= {least:d} THEN quantile_disc(latency, 0.50) FILTER (WHERE is_required)
    END AS median_latency
FROM {roles.name}
JOIN judged_requests USING (update_id)
GROUP BY ALL
ORDER BY {name}"""
    return Query(select, (roles, JUDGED_REQUESTS), {} if hosting is None else {"hosting": hosting})


def _reasons(trials: Integers, rest_trials: Integers, *, is_judged: Flags) -> pd.Series:
    """Return why each row is not judged, missing if it is."""
    reasons = np.select([is_judged, trials == 0, rest_trials == 0], ["", NOT_REQUIRED, NO_REST], TOO_FEW)
    return pd.Series(reasons, dtype="str").replace("", pd.NA)


def _hosting(hosting: object) -> pa.Table:
    """Return which participant hosts each party, with start and end."""
    columns = ["party", "participant", "from", "until"]
    rule = f"hosting= must be a DataFrame with the columns {', '.join(columns)} for by='participant'"
    hosting = require_columns(hosting, columns, rule)
    for name in ("party", "participant"):
        others = [value for value in hosting[name].dropna() if not isinstance(value, str)]
        if others:
            raise UsageError(f"hosting= must have ids in {name}, got {others[0]!r}.")
    participants = hosting["participant"].astype("str").str.removeprefix(PARTICIPANT_PREFIX)
    texts = {"party": hosting["party"], "participant": participants}
    times = {"since": to_times(hosting["from"], "hosting"), "until": to_times(hosting["until"], "hosting")}
    return pa.table(
        {
            **{name: pa.array(each, pa.string(), from_pandas=True) for name, each in texts.items()},
            **{name: pa.array(each, pa.timestamp("us", tz="UTC")) for name, each in times.items()},
        }
    )
