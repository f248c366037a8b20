"""Sentences on the end of a traffic balance."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pandas as pd

from ledgerframes.analysis.cost.traffic_balance import describe_purchase
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import capitalize, pluralize

SOON = timedelta(days=7)
LONG = "more than a year"
BUY_NOW = "Buy traffic now."
USED_UP = f"balance is used up. {BUY_NOW}"
GIVEN_USED_UP = f"The given {USED_UP}"


def describe_end(forecast: pd.DataFrame) -> str:
    """Return when a traffic balance ends, and before when to buy traffic."""
    if forecast.empty:
        return ""
    (row,) = iter_rows(forecast)
    return _end("A balance", row) if row.balance else f"The {USED_UP}"


def describe_given_balance(forecast: pd.DataFrame) -> str:
    """Return when a balance ends that is a parameter, and was not read from the network."""
    (row,) = iter_rows(forecast)
    return _end("The given balance", row) if row.balance else GIVEN_USED_UP


def _end(name: str, row: Any) -> str:
    amount = f"{name} of {printing.size(row.balance)}"
    first, middle = row.runs_dry_first, row.runs_dry_middle
    if pd.isna(row.factor):
        return f"{amount} {describe_mean(row)}. A week of the history has no burn, so there is no band.{_step(row, middle)}"
    if pd.isna(first):
        return f"{amount} lasts {LONG}, in {cases_of(row)}."
    return f"{amount} {describe_band(row)}.{_step(row, first)}"


def describe_length(forecast: pd.DataFrame) -> str:
    """Return how long a supposed balance of four times the burn would last.

    It has no dates, which a reader could take for those of a real balance.
    """
    (row,) = iter_rows(forecast)
    length = f"Four times this burn, {printing.size(row.balance)}, would last {days_left(row)}"
    if pd.isna(row.factor):
        return f"{length} at mean burn."
    return f"{length}, in {cases_of(row)}."


def days_left(row: Any) -> str:
    """Return how long the balance of a forecast lasts, such as ``15 to 22 days``.

    Within two days, the hours count: nobody should read 0 days of a balance that lasts until the evening.
    """
    first, last = (row.runs_dry_middle,) * 2 if pd.isna(row.factor) else (row.runs_dry_first, row.runs_dry_last)
    if pd.isna(first):
        return LONG
    if pd.isna(last):
        return f"{pluralize((first - row.balance_at).days, 'day')} to {LONG}"
    unit, length = ("hour", timedelta(hours=1)) if last - row.balance_at < timedelta(days=2) else ("day", timedelta(days=1))
    shortest, longest = ((end - row.balance_at) // length for end in (first, last))
    if not longest:
        return "less than an hour"
    return pluralize(longest, unit) if shortest == longest else f"{shortest:,} to {pluralize(longest, unit)}"


def describe_band(row: Any) -> str:
    """Return between which days a balance runs out that does not last more than a year."""
    since = f"{row.runs_dry_first:%Y-%m-%d}"
    if pd.isna(row.runs_dry_last):
        return f"runs out on {since} at the earliest, in {cases_of(row)}"
    until = f"{row.runs_dry_last:%Y-%m-%d}"
    return f"runs out {f'on {since}' if since == until else f'between {since} and {until}'}, in {cases_of(row)}"


def describe_mean(row: Any) -> str:
    """Return the day on which a balance runs out if the burn stays at its mean."""
    end = row.runs_dry_middle
    return f"lasts {LONG} at mean burn" if pd.isna(end) else f"runs out on {end:%Y-%m-%d} at mean burn"


def cases_of(row: Any) -> str:
    """Return how often a balance ends within the band of a forecast."""
    return "9 of 10 cases" if pd.isna(row.runs_dry_first) else "4 of 5 cases"


def purchase_of(forecast: pd.DataFrame) -> str:
    """Return the sentence on when to buy traffic, with which those above end."""
    (row,) = iter_rows(forecast)
    return _purchase(row) if row.balance else BUY_NOW


def time_to_buy(row: Any) -> str:
    """Return before when to buy traffic, empty if the balance lasts more than a year."""
    end = row.runs_dry_middle if pd.isna(row.factor) else row.runs_dry_first
    return "" if pd.isna(end) else describe_purchase(end)


def _step(row: Any, end: pd.Timestamp) -> str:
    soon = " It can run out within 7 days." if end - row.balance_at <= SOON else ""
    step = _purchase(row)
    return f"{soon} {step}" if step else soon


def _purchase(row: Any) -> str:
    step = time_to_buy(row)
    return f"{capitalize(step)}." if step else ""
