"""Findings from all comparisons and facts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.arguments import require_one_network
from ledgerframes.analysis.cost.traffic_balance import TrafficBalance
from ledgerframes.analysis.finding_names import BALANCE, NOT_FINAL, NOT_IN_STORE, ONE_COST, REWARDS
from ledgerframes.analysis.findings._looks import compare
from ledgerframes.analysis.findings._measures import NAMES
from ledgerframes.analysis.findings._next_steps import next_step_of
from ledgerframes.analysis.findings._rewards import broken_rewards, require_links
from ledgerframes.analysis.findings._sentences import describe, expression_of, figure_of, summary_of
from ledgerframes.analysis.findings._single_requests import compare_requests, largest_query
from ledgerframes.analysis.findings._weeks import SUBJECTS, Stretch, queries, read_subjects, require_tables
from ledgerframes.analysis.findings.facts import CURRENCY, ending_balance, missing_time, share_with_cost
from ledgerframes.analysis.groups import times_of
from ledgerframes.analysis.requests import require_rejections, require_same_requests
from ledgerframes.analysis.result_frame import SUMMARY
from ledgerframes.engine import Query
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames
from ledgerframes.statistics.comparisons import holm_by_group
from ledgerframes.statistics.usual_ranges import DAYS, MIN_WEEKS
from ledgerframes.values import decimals
from ledgerframes.values.money import TrafficPrice, require_price
from ledgerframes.values.windows import Window

LEVEL = 0.05
WEEK = timedelta(days=7)
NO_WINDOW = "Frames without a window have no weeks before."
NOT_DECIDED = "wasted share", "rejection rate"


def _queries(frames: Frames, **_: object) -> list[Query]:
    require_tables(frames)
    window = judged_window(frames, None)
    if window is None:
        raise UsageError("lf.findings needs frames with a window. Pass those of lf.load_events with since= or during=.")
    stretch = Stretch(window, ())
    return [*queries(stretch, 0).values(), largest_query(stretch.table(0))]


FINDINGS = declare.Figure(
    "findings",
    caption="Findings",
    answer=lambda result: str(result.attrs.get("sentence", "")),
    main_columns=("subject", "what", "effect_bytes", "effect_usd", "sentence", "next_step"),
    rows=(
        "One row per finding; sorted by the bytes at stake, most first and missing last, then by the lowest p-value, where a "
        "finding without one comes first. No row if nothing is unusual."
    ),
    columns=(
        declare.choice("subject", SUBJECTS, "What the finding is about."),
        declare.text("name", "Name of the subject, such as a party. Empty for a day, an hour, or the data as a whole."),
        declare.choice("what", (*NAMES, ONE_COST, REWARDS, BALANCE, NOT_IN_STORE, NOT_FINAL), "What is unusual."),
        declare.text("unit", "Unit of the value and of its usual range."),
        declare.rate("value", "Value in the window: a count, a sum, a share, or a median."),
        declare.rate("before", "Mean, share or median in the weeks before. Missing for a fact."),
        declare.rate("usual_low", "Lower end of the range of 95 % of weeks. Missing for a fact and a single request."),
        declare.rate(
            "usual_high", "Upper end of that range, or for a single request the largest cost before. Missing for a fact."
        ),
        declare.cost("effect_bytes", "Bytes above the usual, or below if negative. Missing if unknown.", "Bytes at stake"),
        declare.amount("effect_usd", "These bytes at the list price. Missing without a price.", "USD"),
        declare.rate("p", "P-value against the weeks before. Missing for a fact."),
        declare.rate("p_holm", "P-value, adjusted for all comparisons. Missing for a fact."),
        declare.time("since", "Start of the time that the finding is about."),
        declare.time("until", "End of this time, exclusive."),
        declare.text("figure", "Call that shows the finding, with the names `frames`, `history`, `balance` and `rewards`."),
        declare.text("sentence", "The finding in words."),
        declare.text("next_step", "What a reader can do about it, or whom to contact."),
    ),
    unit="requests of the window",
    queries=_queries,
)
NUMBERS = ("value", "before", "usual_low", "usual_high", "p", "p_holm")


@FINDINGS.register
def findings(
    frames: Frames,
    *,
    history: Frames | None = None,
    price: TrafficPrice | None = None,
    participant: str = "",
    balance: TrafficBalance | None = None,
    rewards: pd.DataFrame | None = None,
    accept_survivorship: bool = False,
) -> pd.DataFrame:
    """Return what is unusual in a window, and what it costs.

    Each day, hour, participant, kind of request, submitting party, confirming party and app provider is compared with itself
    in the same stretch of the 4 to 6 weeks before, by requests, cost, waste, rejections, latency and activity. Single
    requests are compared with others of their kind. Values that contradict each other, or are missing, are findings, too. All
    comparisons share one chance of 5 % for a false finding, and each kind of subject has the same part of it.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    history : Frames, optional
        All requests of the weeks before, which can contain the window (default: `frames`, whose last seven days are then the
        window).
    price : TrafficPrice, optional
        List price in ``USD/MB``, for ``effect_usd`` (default: none).
    participant, balance : str and TrafficBalance, optional
        Participant and its traffic balance. The balance is a finding if it can end within seven days (default: none).
    rewards : DataFrame, optional
        Result of :func:`ledgerframes.reconcile.rewards` for the window. A round whose rewards do not follow from its records is
        a finding (default: none).
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per finding; sorted by the bytes at stake, most first and missing last, then by the lowest p-value, where a
        finding without one comes first. No row if nothing is unusual.

        Columns:

        - ``subject`` (category): What the finding is about.
        - ``name`` (str): Name of the subject, such as a party. Empty for a day, an hour, or the data as a whole.
        - ``what`` (category): What is unusual.
        - ``unit`` (str): Unit of the value and of its usual range.
        - ``value`` (float64): Value in the window: a count, a sum, a share, or a median.
        - ``before`` (float64): Mean, share or median in the weeks before. Missing for a fact.
        - ``usual_low`` (float64): Lower end of the range of 95 % of weeks. Missing for a fact and a single request.
        - ``usual_high`` (float64): Upper end of that range, or for a single request the largest cost before. Missing for a
          fact.
        - ``effect_bytes`` (Int64, bytes): Bytes above the usual, or below if negative. Missing if unknown.
        - ``effect_usd`` (decimal128(38, 10)[pyarrow], USD): These bytes at the list price. Missing without a price.
        - ``p`` (float64): P-value against the weeks before. Missing for a fact.
        - ``p_holm`` (float64): P-value, adjusted for all comparisons. Missing for a fact.
        - ``since`` (datetime64[us, UTC]): Start of the time that the finding is about.
        - ``until`` (datetime64[us, UTC]): End of this time, exclusive.
        - ``figure`` (str): Call that shows the finding, with the names `frames`, `history`, `balance` and `rewards`.
        - ``sentence`` (str): The finding in words.
        - ``next_step`` (str): What a reader can do about it, or whom to contact.
        - ``coverage`` (float64, share of 1): Share of the requests of the window with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the frames or the history hold committed updates, which have no rejected requests.
    UsageError
        If the history is of another network, only one of the two is filtered, the price is in another currency, a balance has
        no participant, or `rewards` is another table.

    Notes
    -----
    Source: history events (docs/facts.md#survivorship). docs/uncertainty.md describes the method, and how often it is right.
    The attribute ``attrs`` of the result has a summary as ``sentence``, the number of figures that were compared as
    ``looked_at``, and the ``weeks`` before. A window of more than seven days is compared with stretches of 14 days, or the
    next whole number of weeks, so its history must be longer, too: four of them are needed.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> found = lf.findings(day)
    >>> found.attrs["sentence"].partition(".")[0]
    'Too little history: 4 whole weeks before the window are needed, 0 are here'
    """
    FINDINGS.check(frames)
    require_tables(frames)
    require_rejections(frames, accept_survivorship, "what is unusual")
    links = require_links(rewards)
    price = _require_dollars(require_price(price, TrafficPrice, "price"))
    if history is not None:
        require_frames(history, "findings")
        require_one_network("findings", frames, history)
        require_same_requests("findings", frames, history)
        require_tables(history)
        require_rejections(history, accept_survivorship, "what is usual")
    if (balance is None) != (not participant):
        raise UsageError("Pass participant= and balance= together.")
    window, past = judged_window(frames, history), frames if history is None else history
    if window is None:
        return _result(
            frames,
            _no_looks(),
            looked_at=0,
            weeks=0,
            days=DAYS,
            price=price,
            accept_survivorship=accept_survivorship,
            notes=[NO_WINDOW],
        )
    part = frames if window == frames.window else frames.between(window.since, window.until)
    stretch = Stretch.of(window, past)
    looks = _looks(part, past, stretch) if len(stretch.weeks) >= MIN_WEEKS else _no_looks()
    facts, note = missing_time(part, window), ""
    if balance is not None:
        ends, note = ending_balance(frames, past, window, participant, balance)
        facts += ends
    if links is not None:
        facts += broken_rewards(links, window)
    if part.population == "committed":
        looks = looks[~looks["what"].isin(NOT_DECIDED)]
    looks = looks.assign(p_holm=holm_by_group(looks["p"].to_numpy("float64"), looks["subject"]))
    rows = pd.concat([looks[looks["p_holm"] <= LEVEL], pd.DataFrame(facts)], ignore_index=True)
    return _result(
        part,
        rows,
        looked_at=len(looks),
        weeks=len(stretch.weeks),
        days=stretch.days,
        price=price,
        accept_survivorship=accept_survivorship,
        notes=[note] if note else [],
        source=expression_of(frames, part),
        has_history=history is not None,
    )


def judged_window(frames: Frames, history: Frames | None) -> Window | None:
    """Return the window of the frames, or their last seven days without a history."""
    window = frames.window
    if window is None or history is not None or window.until - window.since <= WEEK:
        return window
    return Window(window.until - WEEK, window.until)


def _looks(frames: Frames, history: Frames, stretch: Stretch) -> pd.DataFrame:
    parts = [compare(subjects, stretch, frames) for subjects in read_subjects(frames, history, stretch)]
    return pd.concat([*parts, compare_requests(frames, history, stretch)], ignore_index=True)


def _no_looks() -> pd.DataFrame:
    names = ("subject", "name", "what", "unit", "value", "before", "usual_low", "usual_high", "effect", "p", "since", "until")
    return pd.DataFrame({name: [] for name in (*names, "request_kind", "payer")})


def _require_dollars(price: TrafficPrice | None) -> TrafficPrice | None:
    if price is not None and price.currency != CURRENCY:
        raise UsageError(f"price= must be in USD/MB, got {price.unit!r}.")
    return price


def _without_repeats(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the findings without the hours that are in an earlier run of empty hours."""
    is_empty = (rows["subject"] == "hour") & (rows["what"] == "requests") & (rows["value"] == 0)
    ends = rows[is_empty].sort_values("since").drop_duplicates("until")
    return pd.concat([rows[~is_empty], ends])


def _result(
    frames: Frames,
    rows: pd.DataFrame,
    *,
    looked_at: int,
    weeks: int,
    days: int,
    price: TrafficPrice | None,
    accept_survivorship: bool,
    notes: list[str],
    source: str = "frames",
    has_history: bool = True,
) -> pd.DataFrame:
    """Return the findings in order, with their sentences."""
    for name in ("effect", "p", "p_holm", "before", "usual_low", "usual_high", "request_kind", "payer", "broken"):
        rows[name] = rows.get(name, np.nan)
    rows = _without_repeats(rows)
    effect = pd.Series(np.round(rows["effect"].to_numpy("float64"))).astype("Int64")
    rows = rows.assign(
        effect_bytes=effect.to_numpy(),
        size=-np.abs(rows["effect"].to_numpy("float64")),
        surprise=rows["p"].to_numpy("float64", na_value=0),
    )
    order = ["size", "surprise", "subject", "name", "what", "since"]
    rows = rows.sort_values(order, ignore_index=True, na_position="last")
    values: dict[str, Any] = {name: rows[name] for name in ("subject", "name", "what", "unit")}
    values |= {name: rows[name].to_numpy("float64") for name in NUMBERS}
    values |= {name: times_of(rows[name].to_numpy("int64")) for name in ("since", "until")}
    values["effect_bytes"] = rows["effect_bytes"].astype("Int64")
    values["effect_usd"] = _dollars(values["effect_bytes"], price)
    table = pd.DataFrame(values).assign(**{name: rows[name] for name in ("request_kind", "payer", "broken")})
    values["figure"] = [figure_of(row, source, has_history=has_history) for row in table.itertuples(index=False)]
    values["sentence"] = [describe(row, weeks, days) for row in table.itertuples(index=False)]
    values["next_step"] = [next_step_of(row, frames) for row in table.itertuples(index=False)]
    values["coverage"] = share_with_cost(frames)
    result = FINDINGS.build(frames, values, accept_survivorship=accept_survivorship)
    result.attrs |= {SUMMARY: summary_of(len(result), looked_at, weeks, days, notes), "looked_at": looked_at, "weeks": weeks}
    return result


def _dollars(effect: pd.Series, price: TrafficPrice | None) -> pd.Series:
    if price is None:
        return pd.Series([None] * len(effect), dtype=decimals.DTYPE)
    return price.of_bytes(effect)
