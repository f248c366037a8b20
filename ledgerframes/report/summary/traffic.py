"""Statements on traffic cost, its change with the reason, and the highest parts."""

from __future__ import annotations

import pandas as pd

from ledgerframes.report.prices import Prices
from ledgerframes.report.summary.cost_change import describe_change
from ledgerframes.report.summary.costs import Costs
from ledgerframes.report.summary.periods import Periods, Statement
from ledgerframes.report.summary.texts import kind_name, rows_of
from ledgerframes.report.tables import shorten
from ledgerframes.representation import pluralize
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
        return f"The cost of none of the {pluralize(costs.requests, 'request')} is known."
    is_at_least = costs.requests_with_cost < costs.requests
    total = printing.at_least(costs.total) if is_at_least else costs.total
    amount = prices.of_bytes(total, is_at_least=is_at_least)
    at_price = f", which is {amount} {prices.basis}" if amount else ""
    if not is_at_least:
        return f"{total:,} bytes for {pluralize(costs.requests, 'request')}{at_price}."
    known = printing.percent(costs.requests_with_cost, costs.requests)
    return f"At least {total:,} bytes{at_price}. The cost of {known} of the {pluralize(costs.requests, 'request')} is known."


def _highest(costs: Costs) -> str:
    """Return the kind and the participant with the highest cost."""
    (participant,) = rows_of(costs.participants.head(1))
    payer = participant.submitting_participant_uid
    payer = f"Participant {shorten(payer)}" if isinstance(payer, str) else "An unknown participant"
    return f"{_highest_kind(costs.kinds)} {payer} paid {printing.share(participant.share)} of it."


def _highest_kind(kinds: pd.DataFrame) -> str:
    """Return the kind with the highest cost, and the next one if it is not visible."""
    first, *others = rows_of(kinds.head(2))
    text = f"{kind_name(first.kind, first.template_name, first.choice)}: {printing.share(first.share)} of the known cost."
    if first.kind != "not visible" or not others:
        return text
    (visible,) = others
    name = kind_name(visible.kind, visible.template_name, visible.choice)
    return f"{text} The highest of the visible kinds is {name}, {printing.share(visible.share)}."
