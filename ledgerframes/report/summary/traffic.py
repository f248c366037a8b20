"""Statements on traffic cost, its change with the reason, and the highest parts."""

from __future__ import annotations

from typing import Any

from ledgerframes.analysis import cost
from ledgerframes.frames import Frames
from ledgerframes.report.prices import Prices
from ledgerframes.report.summary.cost_change import describe_change
from ledgerframes.report.summary.periods import Periods, Statement
from ledgerframes.report.summary.texts import kind_name, rows_of
from ledgerframes.report.tables import shorten
from ledgerframes.statistics import printing


def describe_traffic(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on traffic cost."""
    (total,) = rows_of(cost.spend(periods.after))
    statement = Statement(term="Traffic cost", text=_total(total, prices), details=[])
    if not total.requests_with_cost:
        return [statement]
    text, details = describe_change(periods, prices)
    return [
        statement,
        {"term": "Change of the cost", "text": text, "details": details},
        {"term": "Highest cost", "text": _highest(periods.after), "details": []},
    ]


def _total(total: Any, prices: Prices) -> str:
    if not total.requests_with_cost:
        return f"The cost of none of the {total.requests:,} requests is known."
    number, is_at_least = int(total.total_traffic_cost), total.requests_with_cost < total.requests
    amount = prices.of_bytes(number, is_at_least=is_at_least)
    at_price = f", which is {amount} {prices.basis}" if amount else ""
    if not is_at_least:
        return f"{number:,} bytes for {total.requests:,} requests{at_price}."
    known = printing.percent(total.requests_with_cost, total.requests)
    return f"At least {number:,} bytes{at_price}. The cost of {known} of the {total.requests:,} requests is known."


def _highest(frames: Frames) -> str:
    """Return the kind and the participant with the highest cost."""
    kinds, participants = cost.spend(frames, by="template"), cost.spend(frames, by="participant")
    (kind,), (participant,) = rows_of(kinds.head(1)), rows_of(participants.head(1))
    name = kind_name(kind.kind, kind.template_name, kind.choice)
    payer = participant.submitting_participant_uid
    payer = f"Participant {shorten(payer)}" if isinstance(payer, str) else "An unknown participant"
    return f"{name}: {printing.share(kind.share)} of the known cost. {payer} paid {printing.share(participant.share)} of it."
