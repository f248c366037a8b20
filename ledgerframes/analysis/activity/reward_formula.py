"""Rewards of one mining round, in the server's order of operations.

Source: docs/facts.md#rewards-of-a-round.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd

from ledgerframes.analysis._amounts import divide, half_even, half_up, multiply
from ledgerframes.values.decimals import EXACT

MICROSECONDS_PER_YEAR = 365 * 86_400 * 10**6
MEGABYTE = 10**6
DEFAULT_DEVELOPMENT_SHARE = Decimal("0.05")


@dataclass(frozen=True)
class RoundRules:
    """Prices and rules of a round."""

    coin_per_year: Decimal  # coin to issue per year
    tick_microseconds: int  # time from round to round
    # Shares of the issuance
    app_share: Decimal
    featured_cap: Decimal  # largest issuance per weight [coin per USD]
    # USD per coin, USD per MB, and USD
    coin_price: Decimal
    traffic_price: Decimal
    reward_threshold: Decimal
    development_share: Decimal = DEFAULT_DEVELOPMENT_SHARE


NEEDED = ("coin_per_year", "app_share", "featured_cap", "coin_price", "traffic_price", "reward_threshold")


def rules_of(values: Mapping[str, Any] | pd.Series) -> RoundRules | None:
    """Return the prices and rules among the values of a round, or None if any is missing."""
    known: dict[str, Any] = {name: values.get(name) for name in (*NEEDED, "tick_duration")}
    if any(value is None or pd.isna(value) for value in known.values()) or known["coin_price"] <= 0:
        return None
    tick, share = known.pop("tick_duration"), values.get("development_share")
    if tick.value <= 0:
        return None
    default = DEFAULT_DEVELOPMENT_SHARE if share is None or pd.isna(share) else share
    return RoundRules(tick_microseconds=tick // pd.Timedelta(1, "us"), development_share=default, **known)


@dataclass(frozen=True)
class RoundTotals:
    """Amounts of a round [coin], and the price and the rate [coin per MB of weight]."""

    burn: Decimal
    price_per_mb: Decimal
    to_issue: Decimal
    rate_per_mb: Decimal
    threshold: Decimal
    unclaimed: Decimal

    @property
    def threshold_bytes(self) -> int | None:
        """The smallest weight that is paid, or None if none is."""
        if not self.rate_per_mb:
            return None
        return math.ceil(Fraction(self.threshold) * MEGABYTE / Fraction(self.rate_per_mb))

    def burn_of(self, weight: int) -> Decimal:
        """Return the coin for a weight in bytes at the price of traffic."""
        return _burn(weight, self.price_per_mb)

    def allowance(self, weight: int) -> Decimal:
        """Return the exact amount of a weight in bytes."""
        return EXACT.divide(EXACT.multiply(Decimal(weight), self.rate_per_mb), Decimal(MEGABYTE))

    def amount(self, weight: int) -> Decimal:
        """Return the amount that is paid for a weight, which is 0 below the threshold."""
        allowance = self.allowance(weight)
        return half_up(allowance) if allowance >= self.threshold else Decimal(0)


def round_totals(rules: RoundRules, weight: int) -> RoundTotals:
    """Return the amounts of a round with this weight, each step half-even to 10 places."""
    rounds_per_year = divide(Decimal(MICROSECONDS_PER_YEAR), Decimal(rules.tick_microseconds))
    per_round = divide(rules.coin_per_year, rounds_per_year)
    adjusted = half_even(EXACT.subtract(per_round, multiply(per_round, rules.development_share)))
    to_issue = multiply(adjusted, rules.app_share)
    price_per_mb = divide(rules.traffic_price, rules.coin_price)
    burn = _burn(weight, price_per_mb)
    per_coupon = _per_coupon(to_issue, burn, rules.featured_cap)
    return RoundTotals(
        burn=burn,
        price_per_mb=price_per_mb,
        to_issue=to_issue,
        rate_per_mb=multiply(price_per_mb, per_coupon),
        threshold=divide(rules.reward_threshold, rules.coin_price),
        unclaimed=max(Decimal(0), half_even(EXACT.subtract(to_issue, multiply(per_coupon, burn)))),
    )


def _burn(weight: int, price_per_mb: Decimal) -> Decimal:
    return multiply(divide(Decimal(weight), Decimal(MEGABYTE)), price_per_mb)


def _per_coupon(to_issue: Decimal, burn: Decimal, cap: Decimal) -> Decimal:
    if burn <= 0:
        return cap
    if cap <= 0:
        return Decimal(0)
    most = multiply(cap, burn)
    return divide(multiply(min(to_issue, most), cap), most)
