"""Statements on the activity weight, its change and the rewards."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd

from ledgerframes.analysis import activity
from ledgerframes.report.cells import shorten
from ledgerframes.report.prices import Prices
from ledgerframes.report.summary.movers import largest_movers
from ledgerframes.report.summary.periods import Periods, Statement
from ledgerframes.report.summary.texts import listing, signed, signed_percent
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize
from ledgerframes.values import decimals

MAX_PARTIES = 3
MAX_MOVERS = 2


def describe_activity(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on activity."""
    parties = activity.weights(periods.after, every=None)
    parties = parties[parties["weight"].notna()]
    if parties.empty:
        return [{"term": "Activity", "text": "No activity record. The host publishes a round after its end.", "details": []}]
    rewards = _rewards(periods, prices)
    return [
        {"term": "Activity", "text": _total(parties), "details": []},
        {"term": "Change of the activity", "text": _change(periods, parties), "details": []},
        *([Statement(term="Rewards", text=rewards, details=[])] if rewards else []),
    ]


def _total(parties: pd.DataFrame) -> str:
    total, names = int(parties["weight"].sum()), [shorten(name) for name in parties["party"].head(MAX_PARTIES)]
    share = printing.percent(int(parties["weight"].head(MAX_PARTIES).sum()), total)
    verb = "has" if len(names) == 1 else "have"
    return f"A weight of {total:,} for {pluralize(len(parties), 'app provider')}. {listing(names)} {verb} {share} of it."


def _rewards(periods: Periods, prices: Prices) -> str:
    """Return the rewards of app providers, an empty text without the network's state."""
    if periods.state is None:
        return ""
    rounds = activity.rounds(periods.after, rounds=periods.state["rounds"])
    complete = rounds.dropna(subset="amount")
    have, their = ("has", "its") if len(complete) == 1 else ("have", "their")
    text = f"{len(complete):,} of {pluralize(len(rounds), 'round')} {have} all {their} records and a known reward"
    amount = decimals.total(complete["amount"])
    return f"{text}. Together: {prices.of_coins(amount)}." if isinstance(amount, Decimal) else f"{text}."


def _change(periods: Periods, parties: pd.DataFrame) -> str:
    if periods.before is None or periods.obstacle:
        return periods.obstacle
    sides = [activity.weights(periods.before, every=None), parties]
    before, after = (side[side["weight"].notna()].set_index("party")["weight"].astype("int64") for side in sides)
    if before.empty:
        return f"Not compared, because no activity record of the {periods.name} is known."
    change = int(after.sum()) - int(before.sum())
    names = after.index.union(before.index)
    changes = (after.reindex(names, fill_value=0) - before.reindex(names, fill_value=0)).to_dict()
    movers = largest_movers({str(name): int(number) for name, number in changes.items()}, MAX_MOVERS)
    texts = [f"{signed(change)} ({signed_percent(change, int(before.sum()))}) against the {periods.name}."]
    for name, number in movers.largest:
        relative = signed_percent(number, int(before[name])) if name in before.index else "new"
        texts.append(f"{shorten(name)}: {signed(number)} ({relative}).")
    return " ".join(filter(None, [*texts, movers.describe_rest("app provider", signed)]))
