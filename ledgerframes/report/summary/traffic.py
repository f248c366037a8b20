"""Statements on traffic cost, its change with the reason, and the highest parts."""

from __future__ import annotations

from ledgerframes.report.prices import Prices
from ledgerframes.report.summary.cost_change import describe_change
from ledgerframes.report.summary.costs import Costs
from ledgerframes.report.summary.periods import Periods, Statement
from ledgerframes.report.summary.texts import kind_name, rows_of
from ledgerframes.report.tables import shorten
from ledgerframes.statistics import printing


def describe_traffic(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on traffic cost."""
    costs = Costs.of(periods.after)
    statement = Statement(term="Traffic cost", text=_total(costs, prices), details=[])
    if not costs.requests_with_cost:
        return [statement]
    text, details = describe_change(periods, costs, prices)
    return [
        statement,
        {"term": "Change of the known cost", "text": text, "details": details},
        {"term": "Highest cost", "text": _highest(costs), "details": []},
    ]


def _total(costs: Costs, prices: Prices) -> str:
    if not costs.requests_with_cost:
        return f"The cost of none of the {costs.requests:,} requests is known."
    is_at_least = costs.requests_with_cost < costs.requests
    total = printing.at_least(costs.total) if is_at_least else costs.total
    amount = prices.of_bytes(total, is_at_least=is_at_least)
    at_price = f", which is {amount} {prices.basis}" if amount else ""
    if not is_at_least:
        return f"{total:,} bytes for {costs.requests:,} requests{at_price}."
    known = printing.percent(costs.requests_with_cost, costs.requests)
    return f"At least {total:,} bytes{at_price}. The cost of {known} of the {costs.requests:,} requests is known."


def _highest(costs: Costs) -> str:
    """Return the kind and the participant with the highest cost."""
    (kind,), (participant,) = rows_of(costs.kinds.head(1)), rows_of(costs.participants.head(1))
    name = kind_name(kind.kind, kind.template_name, kind.choice)
    payer = participant.submitting_participant_uid
    payer = f"Participant {shorten(payer)}" if isinstance(payer, str) else "An unknown participant"
    return f"{name}: {printing.share(kind.share)} of the known cost. {payer} paid {printing.share(participant.share)} of it."
