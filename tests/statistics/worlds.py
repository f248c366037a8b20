"""Weeks of requests and rejections as a noisy network would have them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

REQUESTS_PER_WEEK = 21_276
# Relative volume of the hours of a day, least at 3 h and most at 15 h.
HOURS = 909 + 427 * np.cos((np.arange(24) - 15) / 12 * np.pi)
RATES = 0.115 + 0.025 * np.cos((np.arange(24) - 14) / 12 * np.pi)
IS_WEEKEND = np.arange(7) >= 5
PRIOR = 126 / 0.3 - 1  # the design effect is 1.3 at 127 requests an hour


def noisy_weeks(reports: int, weeks: int, seed: int) -> Numbers:
    """Return hits and requests of days, as (reports, weeks, 7, 2)."""
    rng = np.random.default_rng(seed)
    hours = np.where(IS_WEEKEND, 0.667, 1.0)[:, None] * HOURS
    volume = hours / hours.sum() * REQUESTS_PER_WEEK
    rate = np.where(IS_WEEKEND, 0.82, 1.0)[:, None] * RATES
    rate *= 0.12 / ((rate * volume).sum() / volume.sum())

    def swings(week: float, day: float) -> Numbers:
        by_week = rng.normal(0, week, (reports, weeks, 1, 1))
        by_day = rng.normal(0, day, (reports, weeks, 7, 1))
        return np.exp(by_week + by_day)

    trend = 1 + rng.choice([-0.005, 0.005], (reports, 1, 1, 1)) * np.arange(weeks)[:, None, None]
    requests = rng.poisson(volume * swings(0.05, 0.05))
    rates = np.clip(rate * trend * swings(0.02, 0.03), 0.001, 0.999)
    hits = rng.binomial(requests, rng.beta(rates * PRIOR, (1 - rates) * PRIOR))
    days: Numbers = np.stack([hits, requests], axis=-1).sum(axis=3).astype(float)
    return days


def raise_day(weeks: Numbers, day: int, factor: float, seed: int) -> Numbers:
    """Return the weeks with a higher rate on one day of the last week."""
    rng = np.random.default_rng(seed)
    raised = weeks.copy()
    hits, requests = raised[:, -1, day].T
    share = (factor - 1) * hits / np.maximum(requests - hits, 1)
    raised[:, -1, day, 0] += rng.binomial((requests - hits).astype(int), np.minimum(share, 1))
    return raised
