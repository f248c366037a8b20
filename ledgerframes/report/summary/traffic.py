"""Statements on traffic cost, its change with the reason, and the highest parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.frames import Frames
from ledgerframes.report.cells import shorten
from ledgerframes.report.key_figure import TRAFFIC_COST
from ledgerframes.report.prices import Prices
from ledgerframes.report.sentences import Statement
from ledgerframes.report.summary.movers import largest_movers
from ledgerframes.report.summary.periods import Periods
from ledgerframes.report.summary.texts import kind_name, listing, signed, signed_percent
from ledgerframes.statistics import printing
from ledgerframes.statistics.decompositions import decompose
from ledgerframes.texts.representation import pluralize

MAX_KINDS = 3
MAX_PARTICIPANTS = 2
NO_PARTICIPANT = "Requests without a known participant"
MAX_COVERAGE_DIFFERENCE = 0.01  # beyond it, coverage is a part of the change
KIND = ["kind", "package_name", "template_name", "choice"]


@dataclass(frozen=True)
class Costs:
    """Costs from :func:`ledgerframes.cost.spend` by kind of request and by participant."""

    kinds: pd.DataFrame
    participants: pd.DataFrame

    @classmethod
    def of(cls, frames: Frames) -> Costs:
        """Return the costs of frames."""
        return cls(cost.spend(frames, by="template"), cost.spend(frames, by="participant"))

    @property
    def requests(self) -> int:
        """Number of requests."""
        return int(self.kinds["requests"].sum())

    @property
    def requests_with_cost(self) -> int:
        """Number of requests with a known cost."""
        return int(self.kinds["requests_with_cost"].sum())

    @property
    def total(self) -> int:
        """Sum of the known costs [bytes]."""
        return int(self.kinds["total_traffic_cost"].sum())

    @property
    def coverage(self) -> float:
        """Share of the requests with a known cost."""
        return self.requests_with_cost / self.requests


def is_same_coverage(before: float, after: float) -> bool:
    """Return whether two sums are known for so similar shares that their change is one."""
    return abs(after - before) <= MAX_COVERAGE_DIFFERENCE


def describe_traffic(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on traffic cost."""
    costs = Costs.of(periods.after)
    statement = Statement(term="Traffic cost", text=_total(costs, prices), details=[], key_figure=TRAFFIC_COST)
    if not costs.requests_with_cost:
        return [statement]
    text, details = _change(periods, costs, prices)
    return [
        statement,
        {"term": "Change of the known cost", "text": text, "details": details},
        {"term": "Highest cost", "text": _highest(costs), "details": []},
    ]


def _total(costs: Costs, prices: Prices) -> str:
    if not costs.requests_with_cost:
        return f"The cost of none of the {pluralize(costs.requests, 'request')} is known."
    amount = prices.of_bytes(costs.total)
    at_price = f", which is {amount} {prices.basis}" if amount else ""
    if costs.requests_with_cost == costs.requests:
        return f"{printing.size(costs.total)} for {pluralize(costs.requests, 'request')}{at_price}."
    known = printing.percent(costs.requests_with_cost, costs.requests)
    least = printing.size(printing.at_least(costs.total))
    return f"At least {least}{at_price}. The cost of {known} of the {pluralize(costs.requests, 'request')} is known."


def _highest(costs: Costs) -> str:
    """Return the kind and the participant with the highest cost."""
    (participant,) = iter_rows(costs.participants.head(1))
    payer = participant.submitting_participant_uid
    payer = f"Participant {shorten(payer)}" if isinstance(payer, str) else "An unknown participant"
    return f"{_highest_kind(costs.kinds)} {payer} paid {printing.share(participant.share)} of the known cost."


def _highest_kind(kinds: pd.DataFrame) -> str:
    """Return the kind with the highest cost, and the next one if it is not visible."""
    first, *others = iter_rows(kinds.head(2))
    text = f"{kind_name(first.kind, first.template_name, first.choice)}: {printing.share(first.share)} of the known cost."
    if first.kind != "not visible" or not others:
        return text
    (visible,) = others
    name = kind_name(visible.kind, visible.template_name, visible.choice)
    return f"{text} The highest of the visible kinds is {name}, {printing.share(visible.share)}."


# -- change against the period before -----------------------------------------------------------------------------------


def _change(periods: Periods, after: Costs, prices: Prices) -> tuple[str, list[str]]:
    """Return the change of the known cost, and its parts and reasons as details."""
    if periods.before is None or periods.obstacle:
        return periods.obstacle, []
    before = Costs.of(periods.before)
    if not before.requests_with_cost:
        return f"Not compared, because no cost of the {periods.name} is known.", []
    change = after.total - before.total
    size = ", ".join(filter(None, (signed_percent(change, before.total), prices.of_bytes(abs(change)))))
    text = f"{printing.signed_size(change)} ({size}) against the {periods.name}."
    if not is_same_coverage(before.coverage, after.coverage):
        return text, [_coverage_note(before, after)]
    kinds = cost.compare(periods.before, periods.after)
    details = [_parts(before, after), _judgments(kinds), *_kinds(kinds), _participants(before, after)]
    return text, [detail for detail in details if detail]


def _coverage_note(before: Costs, after: Costs) -> str:
    shares = [printing.share(side.coverage) for side in (after, before)]
    return f"A part of it comes from coverage, so no reason is given: {shares[0]} of the costs are known, {shares[1]} before."


def _parts(before: Costs, after: Costs) -> str:
    """Return the parts of the change, such as more requests, other costs, and other kinds.

    The parts are bookkeeping. Whether a kind is dearer is for :func:`_judgments` to say.
    """
    parts = decompose(*(_requests_and_bytes(side.kinds) for side in (before, after)))
    texts = {
        f"{'more' if parts.volume > 0 else 'fewer'} requests of the same kinds": parts.volume,
        "other costs within the kinds": parts.price,
        "another mix of kinds": parts.mix,
        "new kinds": parts.new,
        "kinds that no longer occur": parts.removed,
    }
    texts = {name: number for name, number in texts.items() if number}
    names = listing([f"{signed(number)} from {name}" for name, number in texts.items()])
    return f"In bytes, it is made up of {names}." if names else ""


def _requests_and_bytes(kinds: pd.DataFrame) -> dict[Any, tuple[int, int]]:
    known = kinds[kinds["requests_with_cost"] > 0]
    names = known[KIND].astype("object").where(known[KIND].notna(), None).itertuples(index=False, name=None)
    numbers = zip(known["requests_with_cost"].tolist(), known["total_traffic_cost"].tolist(), strict=True)
    return dict(zip(names, numbers, strict=True))


def _judgments(kinds: pd.DataFrame) -> str:
    """Return how many kinds are clearly dearer or cheaper, or an empty text."""
    counts = kinds["judgment"].value_counts()
    dearer, cheaper, unclear = (int(counts[name]) for name in ("dearer", "cheaper", "no clear change"))
    judged = dearer + cheaper + unclear
    if not judged:
        return ""
    subject = f"Of {pluralize(judged, 'kind')} with enough requests,"
    if not dearer and not cheaper:
        return f"{subject} none is clearly dearer or cheaper."
    return f"{subject} {dearer:,} {'is' if dearer == 1 else 'are'} clearly dearer and {cheaper:,} cheaper."


def _kinds(kinds: pd.DataFrame) -> Iterator[str]:
    """Yield the kinds that changed most, up and down, each with a reason from the figures."""
    movers = largest_movers({row.Index: int(row.change) for row in iter_rows(kinds)}, MAX_KINDS)
    rows = {row.Index: row for row in iter_rows(kinds)}
    for index, change in movers.largest:
        row = rows[index]
        yield f"{kind_name(row.kind, row.template_name, row.choice)}: {printing.signed_size(change)}, {_reason(row)}."
    yield movers.describe_rest("kind")


def _reason(row: Any) -> str:
    """Return what the figures tell about the change of a kind."""
    if row.judgment in ("new", "gone"):
        return "a new kind" if row.judgment == "new" else "a kind that no longer occurs"
    known = "" if row.coverage_before == row.coverage_after == 1 else " with a known cost"
    counts = f"{pluralize(row.requests_after, 'request')}{known} ({row.requests_before:,} before)"
    if row.judgment not in ("dearer", "cheaper"):
        return counts
    size = signed_percent(int(row.difference), int(row.median_before)) if row.median_before else signed(int(row.difference))
    interval = f"{signed(int(row.low_all))} to {signed(int(row.high_all))} bytes"
    package = _new_package(row.package_ids_before, row.package_ids_after)
    return f"{counts}, median cost {size} ({interval}){package}"


def _new_package(before: object, after: object) -> str:
    old, current = (set(ids.split(", ")) if isinstance(ids, str) else set() for ids in (before, after))
    new = sorted(current - old)
    return f", with the new package {shorten(new[0][:8])}" if old and new else ""


def _participants(before: Costs, after: Costs) -> str:
    """Return the participants whose cost changed most, up and down."""
    sides = [_bytes_by_participant(side.participants) for side in (before, after)]
    changes = {name: sides[1].get(name, 0) - sides[0].get(name, 0) for name in dict.fromkeys([*sides[0], *sides[1]])}
    movers = largest_movers(changes, MAX_PARTICIPANTS)
    texts = [f"{_payer(name)}: {printing.signed_size(change)}." for name, change in movers.largest]
    return " ".join(filter(None, [*texts, movers.describe_rest("participant")]))


def _payer(name: str) -> str:
    return name if name == NO_PARTICIPANT else f"Participant {shorten(name)}"


def _bytes_by_participant(participants: pd.DataFrame) -> dict[str, int]:
    known = participants.dropna(subset="total_traffic_cost")
    names = known["submitting_participant_uid"].fillna(NO_PARTICIPANT)
    return dict(zip(names, known["total_traffic_cost"].astype(int).tolist(), strict=True))
