"""Sentences that answer with the figures of activity."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ledgerframes.analysis.empty_results import NO_PROVIDER, NO_RECORD
from ledgerframes.analysis.groups import ONE_DAY, is_true, iter_rows
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import describe_day, pluralize
from ledgerframes.values import decimals

NO_ROUND = "No round in this window."
NO_WEIGHT = "No weight follows from the requests of this window."
LEADING = 3  # app providers of the columns top_3
MIN_PARTIES = 10  # for a Gini coefficient


def of_weights(result: pd.DataFrame) -> str:
    """Return who earned the highest weight, or the range of that share over time."""
    known, is_over_time = result.dropna(subset="weight"), bool({"period_start", "round_number"} & set(result))
    if known.empty:
        return NO_RECORD
    name = next((each for each in ("party", "label") if each in result), None)
    total = int(known["weight"].sum())
    if name is None:
        return "" if is_over_time else f"Requests earned a weight of {printing.weight(total)}."
    if is_over_time:
        return _share_over_time(known, name)
    position = int(known["weight"].argmax())
    largest, weight = known[name].iloc[position], int(known["weight"].iloc[position])
    has = "Providers without a label have" if pd.isna(largest) else f"{largest} has"
    highest = f" {has} the highest, {printing.percent(weight, total)} of it." if total else ""
    return f"{_earners(known, name)} earned a weight of {printing.weight(total)}.{highest}"


def _earners(known: pd.DataFrame, name: str) -> str:
    if name == "party":
        return pluralize(len(known), "app provider")
    number, others = known["label"].nunique(), " and without one" if known["label"].isna().any() else ""
    return f"App providers of {pluralize(number, 'label')}{others}" if number else "App providers without a label"


def _share_over_time(known: pd.DataFrame, name: str) -> str:
    """Return the lowest and the highest share of the largest app provider."""
    if known[name].isna().all():  # no provider has a label
        return ""
    largest = known.groupby(name)["weight"].sum().idxmax()
    time = "period_start" if "period_start" in known else "round_number"
    whole = known[known["share"].notna() & ~is_true(known["is_partial"])]
    rows = list(iter_rows(whole[whole[name] == largest].sort_values("share")))
    number, noun = whole[time].nunique(), "period" if time == "period_start" else "round"
    if not number:
        return f"This window has no whole {noun}."
    if not rows:
        return "The largest app provider has no record in a whole period of this window."
    low, high = (f"{printing.share(row.share)} ({_time_of(row)})" for row in (rows[0], rows[-1]))
    is_constant = rows[0].share == rows[-1].share
    shares = f"was {printing.share(rows[0].share)}" if is_constant else f"was between {low} and {high}"
    if number == 1:
        return f"The share of {largest} {shares} in the only whole {noun}."
    return f"The share of {largest} {shares}, with weight in {len(rows):,} of {pluralize(number, f'whole {noun}')}."


def _time_of(row: Any) -> str:
    if not hasattr(row, "period_start"):
        return f"round {row.round_number}"
    is_day = row.period_end - row.period_start == ONE_DAY
    return describe_day(row.period_start) if is_day else f"{row.period_start:%Y-%m-%d %H:%M}"


def of_concentration(result: pd.DataFrame) -> str:
    """Return the share of the largest app providers, or nothing for results over time."""
    if len(result) != 1:
        return ""
    (row,) = iter_rows(result)
    if not row.parties or not hasattr(row, "top_3"):
        return NO_PROVIDER if not row.parties else ""
    if row.parties == 1:
        return "One app provider has all of the total."
    number, leading = min(LEADING, row.parties), row.top_3_parties
    ties = f" ({leading:,} with ties)" if leading > number else ""
    share = printing.share(row.top_3)
    gini = f" The Gini coefficient is {row.gini:.2f}." if row.parties >= MIN_PARTIES else ""
    return f"The {number} largest{ties} of {row.parties:,} app providers have {share} of the total.{gini}"


def of_reconcile_totals(result: pd.DataFrame) -> str:
    """Return how many published weights follow from the requests, and why others do not."""
    if result.empty:
        return NO_RECORD
    is_equal = result["outcome"] == "equal"
    reasons = ", ".join(f"{row.records:,} {row.reason}" for row in iter_rows(result[~is_equal]))
    number = int(result.loc[is_equal, "records"].sum())
    verb = "is" if number == 1 else "are"
    return f"{pluralize(number, 'weight')} {verb} equal to the byte. Mismatches: {reasons or 'none'}."


def of_rewards(result: pd.DataFrame) -> str:
    """Return what the rounds mint for apps, or how many rewards are too small."""
    known = result.dropna(subset="amount")
    if result.empty:
        return NO_ROUND
    if "party" in result and known.empty:
        return "No reward of a provider is known in these rounds."
    if "party" in result:
        below = int(is_true(known["below_threshold"]).sum())
        return f"{below:,} of {len(known):,} rewards of a provider in a round were below the threshold, and were not paid."
    if known.empty:
        return f"None of {pluralize(len(result), 'round')} has all its records and a known reward."
    amount = decimals.total(known["amount"])
    complete = f"{len(known):,} of {pluralize(len(result), 'round')} have all their records and a known reward."
    return f"{complete} Together: {amount:,.2f} coin."


def of_what_if(result: pd.DataFrame) -> str:
    """Return whose share rises most with the change, and whose falls most."""
    changes = (result["share_after"] - result["share_before"]).dropna()
    if "round_number" in result or changes.empty:
        return "" if len(changes) else NO_WEIGHT
    parties = result["party"].loc[changes.index].tolist()
    if not changes.any():
        return "No share changes."
    gain, loss = parties[changes.argmax()], parties[changes.argmin()]
    rise, fall = printing.points(changes.max()), printing.points(-changes.min())
    if changes.min() >= 0:
        return f"The share of {gain} would rise by {rise}."
    if changes.max() <= 0:
        return f"The share of {loss} would fall by {fall}."
    return f"The share of {gain} would rise by {rise}, and that of {loss} would fall by {fall}."
