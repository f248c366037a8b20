"""Prices of traffic in the mining rounds of a window, and prices that callers pass.

The price of a round counts from the time when it opens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.groups import Integers, from_microseconds, microseconds
from ledgerframes.analysis.state._lifetimes import template_and_payload
from ledgerframes.analysis.state.payloads import Values, list_of, read_round
from ledgerframes.datasets.templates import OPEN_ROUND
from ledgerframes.engine import Query, run
from ledgerframes.engine.lifetimes import ROUNDS_CREATED
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values import extents
from ledgerframes.values.money import TrafficPrice
from ledgerframes.values.windows import iso

CURRENCY = "USD"  # of the prices of rounds
UNIT = f"{CURRENCY}/MB"
COLUMNS = ["template_name", "package_name", "create_arguments", "signatories"]


class RoundPrice(NamedTuple):
    """The price of traffic [USD per MB] from the time when a round opens."""

    opens_at: datetime
    amount: Decimal


def require_prices_of_rounds(frames: Frames, prices: Sequence[TrafficPrice], step: str) -> None:
    """Raise a UsageError if a round that opens in the window has another price.

    The message ends with `step`. A price in a currency other than that of the rounds cannot contradict them.
    """
    rounds = round_prices(frames)
    opened = from_microseconds(extents.microseconds(each.opens_at) for each in rounds)
    amounts = [prices[position].amount for position in prices_at(prices, opened)]
    if prices[0].currency == CURRENCY and amounts != [each.amount for each in rounds]:
        passed = _text_of([(each.as_of, each.amount) for each in prices])
        of_rounds = _text_of(_changes(rounds))
        raise UsageError(f"price= is {passed}, but the rounds of this window have {of_rounds}. {step}")


def one_price_of_rounds(frames: Frames) -> TrafficPrice | None:
    """Return the price of the rounds that open in the window, None unless it is one.

    It is also None if the price is none that a TrafficPrice can have.
    """
    amounts = {each.amount for each in round_prices(frames)}
    if len(amounts) != 1:
        return None
    try:
        return TrafficPrice(amounts.pop(), UNIT)
    except UsageError:  # A round can have more decimals, and a price of 0.
        return None


def prices_at(prices: Sequence[TrafficPrice], times: pd.Series) -> Integers:
    """Return the position of the price that counts at each time.

    It is the last price whose time is not later, or the first price if all are later.
    """
    starts = np.array([extents.microseconds(each.as_of) for each in prices[1:] if each.as_of], dtype=np.int64)
    return np.searchsorted(starts, microseconds(times), side="right").astype(np.int64)


@once_per_frames
def round_prices(frames: Frames) -> list[RoundPrice]:
    """Return the price of each round that opens in the window, in the order of time.

    It is empty if the rounds have no price, or several parties sign rounds, because only one of them is the network's.
    """
    if "tree_events" not in frames.tables or frames.window is None:
        return []
    everything = frames._filtered(replace(frames._filter, update_ids=None))  # a relation with all rows of the window
    created = run(everything, Query(f"FROM {ROUNDS_CREATED.name}", (ROUNDS_CREATED,)))
    payloads = list(filter(None, map(_own_payload, *(created[name] for name in COLUMNS))))
    if len({payload["dso"] for payload in payloads}) != 1:
        return []
    rows = [row for payload in payloads for row in read_round(payload) if row["traffic_price"] is not None]
    return sorted(RoundPrice(row["opens_at"], row["traffic_price"]) for row in rows if row["opens_at"] < frames.window.until)


def _own_payload(template_name: str, package_name: object, text: object, signatories: object) -> Values | None:
    """Return the payload of a round that only the network signs, or None for other contracts."""
    template, payload = template_and_payload(template_name, package_name, text)
    is_own = template == OPEN_ROUND and payload is not None and list_of(signatories) == [payload["dso"]]
    return payload if is_own else None


def _changes(rounds: Sequence[RoundPrice]) -> list[RoundPrice]:
    """Return the prices of rounds, one for each change."""
    return [rounds[0], *(after for before, after in pairwise(rounds) if after.amount != before.amount)]


def _text_of(prices: Sequence[tuple[datetime | None, Decimal]]) -> str:
    """Return prices as text, each after the first with its time.

    They can have more decimals than a TrafficPrice.
    """
    texts = [f"{amount.normalize():f} {UNIT}" for _, amount in prices]
    times = [f" from {iso(time)}" if time else "" for time, _ in prices]
    return ", then ".join([texts[0], *(text + time for text, time in zip(texts[1:], times[1:], strict=True))])
