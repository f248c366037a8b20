"""Statements on the activity weight, its change and the rewards."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis import activity
from ledgerframes.report.cells import shorten
from ledgerframes.report.key_figure import REWARDS
from ledgerframes.report.prices import Prices
from ledgerframes.report.sentences import Statement
from ledgerframes.report.summary.movers import largest_movers
from ledgerframes.report.summary.periods import Periods
from ledgerframes.report.summary.texts import listing, signed_percent, signed_weight
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize

MAX_PARTIES = 3
MAX_MOVERS = 2


def describe_activity(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on activity."""
    parties = activity.weights(periods.after, every=None)
    parties = parties[parties["weight"].notna()]
    if parties.empty:
        return [{"term": "Activity", "text": "No activity record. The host publishes a round after its end.", "details": []}]
    return [
        {"term": "Activity", "text": _total(parties), "details": []},
        {"term": "Change of the activity", "text": _change(periods, parties), "details": []},
        *_rewards(periods, prices),
    ]


def _total(parties: pd.DataFrame) -> str:
    total, names = int(parties["weight"].sum()), [shorten(name) for name in parties["party"].head(MAX_PARTIES)]
    share = printing.percent(int(parties["weight"].head(MAX_PARTIES).sum()), total)
    verb = "has" if len(names) == 1 else "have"
    return f"{printing.weight(total)} for {pluralize(len(parties), 'app provider')}. {listing(names)} {verb} {share} of it."


def _rewards(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statement on rewards of app providers, none without the network's state."""
    rewards = periods.rewards
    if rewards is None:
        return []
    have, their = ("has", "its") if rewards.complete == 1 else ("have", "their")
    text = f"{rewards.complete:,} of {pluralize(rewards.rounds, 'round')} {have} all {their} records and a known reward"
    if rewards.amount is None:
        return [Statement(term="Rewards", text=f"{text}.", details=[])]
    text = f"{text}. Together: {prices.of_coins(rewards.amount)}."
    return [Statement(term="Rewards", text=text, details=[], key_figure=REWARDS)]


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
    texts = [f"{signed_weight(change)} ({signed_percent(change, int(before.sum()))}) against the {periods.name}."]
    for name, number in movers.largest:
        relative = signed_percent(number, int(before[name])) if name in before.index else "new"
        texts.append(f"{shorten(name)}: {signed_weight(number)} ({relative}).")
    return " ".join(filter(None, [*texts, movers.describe_rest("app provider", signed_weight)]))
