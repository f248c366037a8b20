"""Price votes and prices of rounds, from the history's own transaction trees."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd

from ledgerframes.analysis._amounts import to_decimal
from ledgerframes.analysis._groups import from_microseconds, microseconds
from ledgerframes.analysis.economy._flows import Rounds
from ledgerframes.analysis.economy._nodes import Trees
from ledgerframes.frames import Frames

CHOICE = "DsoRules_UpdateCoinPriceVote"


def votes_of_history(votes: pd.DataFrame, trees: Trees) -> pd.DataFrame:
    """Return all votes that are known at the time of each vote in the history.

    `votes` know those from before the history.
    """
    cast = [
        (node.time, str(node.argument.get("sv")), to_decimal(node.argument.get("coinPrice"))) for node in trees.exercised(CHOICE)
    ]
    rest = votes.dropna(subset=["last_updated_at", "price"])
    older = zip(microseconds(rest["last_updated_at"]).tolist(), rest["sv"], rest["price"], strict=True)
    newest: dict[str, tuple[int, Decimal | None]] = {}
    rows: list[tuple[int, int, str, Decimal | None]] = []
    for time, sv, price, is_cast in sorted([*((*each, False) for each in older), *((*each, True) for each in cast)], key=_order):
        newest[sv] = (time, price)
        if is_cast:
            rows += [(time, updated, voter, value) for voter, (updated, value) in newest.items()]
    table = pd.DataFrame(rows, columns=["observed_at", "last_updated_at", "sv", "price"])
    times = {name: from_microseconds(table[name]) for name in ("observed_at", "last_updated_at")}
    return table.assign(**times, dso=trees.dso)


def _order(vote: tuple[int, str, Any, bool]) -> tuple[int, bool, str]:
    time, sv, _, is_cast = vote
    return time, is_cast, sv


def round_prices(times: pd.Series, frames: Frames, trees: Trees) -> list[Decimal | None]:
    """Return the price of the lowest open round at each time, None if unknown."""
    rounds, window = Rounds(trees), frames.window
    is_inside = [window is not None and window.since <= time < window.until for time in times.dt.to_pydatetime()]
    numbers = [rounds.lowest_at(time) if inside else None for time, inside in zip(microseconds(times), is_inside, strict=True)]
    return [rounds.price(number) for number in numbers]
