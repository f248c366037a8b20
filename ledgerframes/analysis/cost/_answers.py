"""Sentences that answer with the figures of traffic cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd

from ledgerframes.analysis.empty_results import NO_COST, ONLY_ZERO
from ledgerframes.analysis.groups import are_days, is_true, iter_rows
from ledgerframes.statistics import printing
from ledgerframes.statistics.distinct_shares import distinct_decimals
from ledgerframes.statistics.usual_ranges import PARTIAL
from ledgerframes.texts.representation import describe_day, pluralize
from ledgerframes.values import decimals

TIME = "%Y-%m-%d %H:%M UTC"
LARGEST_PAYERS = 5
LARGEST_KINDS = 3
NOUNS = {"party": "party", "verdict_result": "verdict", "label": "label", "era": "era", "user_id": "user"}
OVERLAPPING = {"party", "label"}  # columns of groups that can share a request
CAUSES = {"contention": "failed fast, as in contention", "timeout": "timed out"}


def of_spend(result: pd.DataFrame) -> str:
    """Return what was spent, and who or what accounts for most of it, or when."""
    if "period_start" in result:
        return "" if {*OVERLAPPING, "view_id"}.intersection(result) else _highest_period(result)
    if "view_id" in result:
        return _largest_of(result, "view_id", "view", whole=" of envelopes with views", of=" by kind")
    if "template_name" in result:
        return _kinds(result)
    if "submitting_participant_uid" in result:
        return _participants(result)
    if result.empty:
        return NO_COST
    if len(result) == 1:
        return _total(result)
    return _largest_of(result, *next((name, noun) for name, noun in NOUNS.items() if name in result))


def _total(result: pd.DataFrame) -> str:
    (row,) = iter_rows(result)
    if not row.requests_with_cost:
        return NO_COST
    subject, total = f"{pluralize(row.requests, 'confirmation request')} cost", int(row.total_traffic_cost)
    if row.requests_with_cost == row.requests:
        return f"{subject} {printing.size(total)}."
    known = printing.percent(row.requests_with_cost, row.requests)
    return f"{subject} at least {printing.size(printing.at_least(total))}. The cost of {known} of them is known."


def _highest_period(result: pd.DataFrame) -> str:
    known = result.dropna(subset="total_traffic_cost")
    if known.empty:
        return NO_COST
    totals = known.groupby("period_start")["total_traffic_cost"].sum()
    highest = int(totals.max())
    if not highest:
        return ONLY_ZERO
    number = result["period_start"].nunique()
    if number == 1:
        return f"The only period has a known cost of {printing.size(highest)}."
    start: Any = totals.idxmax()
    cost = f"{printing.size(highest)}, {printing.percent(highest, int(totals.sum()))} of the known cost"
    if are_days(result):
        return f"Of {pluralize(number, 'day')}, {describe_day(start)} has the highest cost: {cost}."
    return f"Of {pluralize(number, 'period')}, the one that starts at {start:{TIME}} has the highest cost: {cost}."


def _participants(result: pd.DataFrame) -> str:
    names = result["submitting_participant_uid"]
    unknown = int(result.loc[names.isna(), "requests"].sum())
    note = f" The participant of {pluralize(unknown, 'request')} without a verdict is unknown." if unknown else ""
    number, shares = names.nunique(), result.loc[names.notna(), "share"].dropna()
    five = printing.share(shares.nlargest(LARGEST_PAYERS).sum())
    text = f" The five with the highest cost account for {five} of the known cost."
    largest = text if number > LARGEST_PAYERS and len(shares) else ""
    return f"{pluralize(number, 'participant')} submitted requests.{largest}{note}"


def _kinds(result: pd.DataFrame) -> str:
    is_transaction = result["kind"] == "transaction"
    has_root = result["template_name"].notna()
    kinds = result[is_transaction & has_root]
    without_root = int(result.loc[is_transaction & ~has_root, "requests"].sum())
    others = result.loc[~is_transaction].groupby("kind", observed=True)["requests"].sum()
    hidden, reassignments = (int(others.get(kind, 0)) for kind in ("not visible", "reassignment"))
    shares = kinds["share"].dropna()
    three = printing.share(shares.nlargest(LARGEST_KINDS).sum())
    text = f" The three with the highest total cost account for {three} of the known cost."
    largest = text if len(kinds) > LARGEST_KINDS and len(shares) else ""
    note = f" The kind of {pluralize(without_root, 'transaction')} is unknown." if without_root else ""
    return (
        f"{pluralize(len(kinds), 'kind')} of transactions.{largest} "
        f"{pluralize(hidden, 'request')} {'is' if hidden == 1 else 'are'} not visible, "
        f"and {'1 is a reassignment' if reassignments == 1 else f'{reassignments:,} are reassignments'}.{note}"
    )


def _largest_of(result: pd.DataFrame, key: str, noun: str, whole: str = "", of: str = "") -> str:
    known = result.dropna(subset=["total_traffic_cost", key])
    if known.empty:
        return NO_COST
    share = printing.share(known["share"].max())
    count = int(result[key].notna().sum())
    number = f"{pluralize(count, noun)}{of}"
    if known["share"].isna().all():
        return f"{number}. All known costs{whole} are 0 bytes."
    if count == 1:
        return f"{number}, with {share} of the known cost{whole}."
    return f"{number}. The one with the highest cost accounts for {share} of the known cost{whole}."


def of_overhead(result: pd.DataFrame) -> str:
    """Return the share of envelopes without views.

    The cost in no known envelope follows if the share would be another one with it.
    """
    if OVERLAPPING.intersection(result):
        return ""
    costs = result.dropna(subset="traffic_cost")
    with_views, without, unassigned = (
        int(costs.loc[costs["kind"] == kind, "traffic_cost"].sum()) for kind in ("with views", "without views", "unassigned")
    )
    of_envelopes = with_views + without
    if not of_envelopes and not unassigned:
        return NO_COST if costs.empty else ONLY_ZERO
    if not of_envelopes:
        return "The known cost is in no known envelope."
    total = of_envelopes + unassigned
    share = printing.percent(without, of_envelopes)
    text = f"Envelopes without views account for {share} of the cost of envelopes."
    if unassigned <= 0 or share == printing.percent(without, total):
        return text
    return f"{text} {printing.percent(unassigned, total)} of the known cost is in no known envelope."


def of_wasted(result: pd.DataFrame) -> str:
    """Return the cost of rejected requests, or the periods above their usual range."""
    if "period_start" in result:
        return _above(result)
    if OVERLAPPING.intersection(result):
        return ""
    wasted, useful = (decimals.total(result[name]) for name in ("wasted_traffic_cost", "useful_traffic_cost"))
    if wasted is None:
        return "The cost of rejected requests is not known." if result["rejected"].any() else NO_COST
    total = int(wasted) + int(useful or 0)
    share = f", {printing.percent(int(wasted), total)} of the known cost" if total else ""
    cause = result["top_cause"].iloc[0] if len(result) == 1 else None
    guess = f" Judged by the latency alone, most of it {CAUSES[cause]}." if isinstance(cause, str) else ""
    return f"Rejected requests have a known cost of {printing.size(int(wasted))}{share}.{guess}"


def _above(result: pd.DataFrame) -> str:
    tested = int(result["upper"].notna().sum())
    if not tested:
        reasons = ", ".join(sorted(result["reason"].dropna().unique()))
        if reasons == PARTIAL:
            return "This window has no whole period, so there is no usual range."
        return f"No period has a usual range{f': {reasons}' if reasons else ''}."
    above = [
        f"{describe_day(row.period_start)} ({_share_and_limit(row, tested)})"
        for row in iter_rows(result[is_true(result["is_above"])])
    ]
    names = f": {', '.join(above)}" if above else ""
    if tested == 1:
        return f"The only period with a usual range is {'' if above else 'not '}above it{names}."
    verb = "are" if len(above) > 1 else "is"
    return f"Of {pluralize(tested, 'period')} with a usual range, {len(above) or 'none'} {verb} above it{names}."


def _share_and_limit(row: Any, tested: int) -> str:
    """Return a share with its limit, which is higher than that of one period alone."""
    periods = f" that allows for {tested:,} tested periods" if tested > 1 else ""
    decimals = distinct_decimals(row.share, row.upper)
    return f"{printing.share(row.share, decimals)} wasted, above the limit of {printing.share(row.upper, decimals)}{periods}"


def of_requests(result: pd.DataFrame) -> str:
    """Return the cost of the most expensive request, and why it is so high."""
    if result.empty:
        return NO_COST
    (row,) = iter_rows(result.iloc[[int(result["total_traffic_cost"].argmax())]])
    if not row.total_traffic_cost:
        return ONLY_ZERO
    cost = f"{printing.size(int(row.total_traffic_cost))}, {printing.share(row.share)} of the known cost"
    return f"The most expensive request cost {cost}: {row.why}."


def of_anatomy(result: pd.DataFrame) -> str:
    """Return how many envelopes a request has, and what the largest of them costs."""
    envelopes = result[result["part"] == "envelope"].dropna(subset="traffic_cost")
    if envelopes.empty:
        return "The cost of the envelopes of this request is not known."
    costs = envelopes["traffic_cost"].astype("int64")
    total, largest = int(costs.sum()), int(costs.max())
    share = printing.percent(largest, total)
    whole, part = printing.size(total), printing.size(largest)
    return f"{pluralize(len(costs), 'envelope')} cost {whole}. The largest cost {part}, {share} of it."


def of_compare(result: pd.DataFrame) -> str:
    """Return the largest change, and how many kinds are dearer or cheaper."""
    if not result["requests_before"].sum():
        return "No request before has a known cost, so nothing compares."
    counts = result["judgment"].value_counts()
    texts = [f"{_kind_of(row)} {_rise(row.relative)}" for row in iter_rows(result[result["judgment"] == "dearer"])]
    names = f" ({', '.join(texts)})" if texts else ""
    others = {
        "without a clear change": counts["no clear change"],
        "with too few requests": counts["too few"],
        "new": counts["new"],
        "gone": counts["gone"],
    }
    changed = [f"{counts['dearer']:,} dearer{names}", f"{counts['cheaper']:,} cheaper"]
    unclear = [f"{count:,} {text}" for text, count in others.items() if count]
    if not counts["dearer"] + counts["cheaper"]:
        return f"{_largest_change(result)}No kind of request is clearly dearer or cheaper: {', '.join(unclear)}."
    return f"{_largest_change(result)}Kinds of request: {', '.join([*changed, *unclear])}."


def _largest_change(result: pd.DataFrame) -> str:
    """Return the kind whose cost changed most, empty for windows that differ in length."""
    changes = result["change"].dropna().abs()
    if changes.empty or not changes.max():
        return ""
    (row,) = iter_rows(result.loc[[changes.idxmax()]])
    change = printing.signed_size(int(row.change))
    requests = f"{pluralize(int(row.requests_after), 'request')} with a known cost, {row.requests_before:,} before"
    return f"Largest change: {_kind_of(row)}, {change} ({requests}). "


def _rise(relative: float) -> str:
    return "from 0" if pd.isna(relative) else f"+{printing.share(relative)}"


def of_control(result: pd.DataFrame) -> str:
    """Return how many sums of parts equal the total, and why the others do not."""
    if result["total_traffic_cost"].isna().all():
        return NO_COST
    equal = int((result["difference"].fillna(-1) == 0).sum())
    text = f"{equal:,} of {pluralize(len(result), 'sum')} of parts {'is' if equal == 1 else 'are'} the total."
    others = iter_rows(result.dropna(subset="reason"))
    reasons = [f"{row.control}{_difference(row.difference)}, because {row.reason}" for row in others]
    return f"{text} Not equal: {'; '.join(reasons)}." if reasons else text


def _difference(difference: Any) -> str:
    return "" if pd.isna(difference) else f", by {abs(int(difference)):,} bytes"


def of_budget(result: pd.DataFrame) -> str:
    """Return which kinds of request exceed their limit."""
    judged, broken = result.dropna(subset="is_within"), result[is_true(~result["is_within"])]
    if judged.empty:
        return "No kind of request has a limit and enough requests."
    worst = [f"{_kind_of(row)} ({row.value:,} of {row.budget:,} bytes)" for row in iter_rows(broken)]
    names = f": {', '.join(worst)}" if worst else ""
    verb = "exceeds" if len(broken) == 1 else "exceed"
    return f"{len(broken):,} of {pluralize(len(judged), 'kind')} with enough requests {verb} their limit{names}."


def _kind_of(row: Any) -> str:
    if isinstance(row.choice, str):
        return row.choice
    return f"{row.template_name.rpartition(':')[2]} (create)" if isinstance(row.template_name, str) else str(row.kind)


def of_estimate(result: pd.DataFrame) -> str:
    """Return how far actual costs are from their estimates, for all requests together."""
    matched = result[result["outcome"] == "matched"].dropna(subset=["actual", "estimated"])
    if matched.empty:
        return "No accepted request has an estimated and an actual cost."
    number, over = (int(matched[name].sum()) for name in ("requests", "over_10_percent"))
    actual, estimated = (printing.size(int(matched[name].sum())) for name in ("actual", "estimated"))
    share = printing.rate(over, number)
    return f"{pluralize(number, 'request')} cost {actual} instead of the estimated {estimated}. {share} cost over a tenth more."


def of_statement(result: pd.DataFrame) -> str:
    """Return what the lines of a bill add up to, and what rounding changed."""
    amounts = result.dropna(subset="currency")
    if amounts.empty:
        return NO_COST
    total, exact = _sum(amounts["currency"]), _sum(amounts["currency_exact"])
    coin = decimals.total(amounts["coin"].dropna())
    in_coin = "" if coin is None else f", or {coin:,.2f} coin"
    code = amounts["currency_code"].iloc[0]
    difference = f"{total - exact:+.4f}".replace("-", "−")
    change = f"Rounding changed the total by {difference} {code}."
    count = amounts["period_start"].nunique() if "period_start" in amounts else 1
    periods = f" in {pluralize(count, 'period')}" if count > 1 else ""
    lines = f"{pluralize(len(amounts), 'line')}{periods} {'adds' if len(amounts) == 1 else 'add'} up"
    known = ", for the costs that are known" if (result["coverage"] < 1).any() else ""
    return f"{lines} to {total:,.2f} {code}{in_coin}{known}. {change}"


def of_journal(result: pd.DataFrame) -> str:
    """Return what the entries of a journal debit and credit."""
    if result.empty:
        return "No entry."
    debit, credit = _sum(result["debit"]), _sum(result["credit"])
    code = result["currency_code"].iloc[0]
    count = result["entry_id"].nunique()
    ending = "s" if count == 1 else ""
    entries = f"{pluralize(count, 'entry')} debit{ending} {debit:,.2f} {code} and credit{ending} {credit:,.2f} {code}"
    return f"{entries}, a difference of {debit - credit:.2f}."


def _sum(amounts: pd.Series) -> Decimal:
    return Decimal(decimals.total(amounts.dropna()) or 0)
