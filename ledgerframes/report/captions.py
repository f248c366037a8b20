"""Captions of the tables of results."""

from __future__ import annotations

CAPTIONS = {
    "activity.concentration": "Concentration of the activity weight",
    "activity.lorenz": "Distribution of the activity weight",
    "activity.recompute": "Activity weights computed from the requests",
    "activity.reconcile": "Published and computed activity weights",
    "activity.reconcile_summary": "Published and computed activity weights by outcome",
    "activity.rounds": "Rewards and activity weights of rounds",
    "activity.weights": "Activity weights",
    "activity.what_if": "Change of the activity weights",
    "cost.anatomy": "Parts of one request",
    "cost.budget": "Requests and their budgets",
    "cost.compare": "Change of the traffic cost",
    "cost.concentration": "Concentration of the traffic cost",
    "cost.control": "Totals that must agree",
    "cost.estimate": "Actual and estimated traffic cost",
    "cost.journal": "Journal of traffic",
    "cost.overhead": "Traffic cost of envelopes with and without views",
    "cost.problems": "Costs and times that cannot be right",
    "cost.requests": "Requests with the highest traffic cost",
    "cost.runway": "Forecast of the traffic balance",
    "cost.runway_summary": "End of the traffic balance",
    "cost.spend": "Traffic cost",
    "cost.statement": "Bill of traffic",
    "cost.wasted": "Traffic cost of rejected requests",
    "economy.balance": "Coin of parties",
    "economy.burn_mint": "Coin minted and burned",
    "economy.leaderboard": "Parties with the largest amounts",
    "economy.names": "Names",
    "economy.purchases": "Traffic bought",
    "economy.reward_split": "Rewards by beneficiary",
    "economy.rounds": "Coin issued, minted and burned",
    "economy.transfers": "Transfers and settlements of tokens",
    "findings": "Findings",
    "grant.evidence": "Use of the app by outside parties",
    "grant.evidence_totals": "Total use of the app by outside parties",
    "grant.verify": "Checks of the evidence",
    "reconcile.bounds": "Offset ranges of the ledger",
    "reconcile.bulk": "Rows of the listing and of bulk objects",
    "reconcile.bulk_totals": "Updates in the listing and in bulk objects",
    "reconcile.contracts": "Active contracts of the snapshot and of the history",
    "reconcile.coverage": "Coverage of the store",
    "reconcile.digests": "Digests of bulk objects",
    "reconcile.nodes": "History at two nodes",
    "reconcile.paid_traffic": "Costs of the ledger and of the history",
    "reconcile.paid_traffic_totals": "Costs of the ledger and of the history by outcome",
    "reconcile.rewards": "Proof of the rewards of rounds",
    "reconcile.supply": "Coin from mint and burn, and coin at the end",
    "state.config": "Rules of the network",
    "state.featured": "Featured rights of app providers",
    "state.problems": "Contracts that do not count, or not fully",
    "state.rounds": "Mining rounds and their prices",
    "state.super_validators": "Super validators of the network",
    "verdict.head_of_line": "Requests that timed out, and the time that others waited",
    "verdict.head_of_line_victims": "Requests that waited for one that timed out",
    "verdict.latency": "Latency of accepted requests",
    "verdict.outcomes": "Verdicts and rejection rate",
    "verdict.quorums": "Quorums of views",
    "verdict.rejections": "Rejected requests",
    "verdict.waited_for": "Slow requests of those that need a party",
    "votes.price": "Price of the coin by votes",
    "votes.stale": "Votes on the price of the coin",
}


def caption_of(figure: str, name: str) -> str:
    """Return the caption of a table whose files have the default name of its figure.

    >>> caption_of("cost.spend", "cost_spend_by_participant_over_time")
    'Traffic cost by participant over time'
    """
    groups = name.removeprefix(figure.replace(".", "_")).replace("_", " ")
    return f"{CAPTIONS[figure]}{groups}"
