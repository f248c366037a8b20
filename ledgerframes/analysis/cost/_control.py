"""Control totals of the cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._groups import as_integers, exact_sum
from ledgerframes.analysis.cost._overhead import overhead
from ledgerframes.analysis.cost._spend import spend
from ledgerframes.analysis.cost._wasted import wasted
from ledgerframes.errors import IntegrityError
from ledgerframes.frames import Frames

CONTROL = declare.Figure(
    "cost.control",
    rows="One row per control total; sorted as in the description of ``control``.",
    columns=(
        declare.label("control", "participant, template, period, party, envelopes, or wasted."),
        declare.text("parts", "Parts that add up."),
        declare.cost("sum_of_parts", "Sum of the parts."),
        declare.cost("total_traffic_cost", "Cost of all requests."),
        declare.cost("difference", "Total less the sum of the parts."),
        declare.text("reason", "Reason for a difference. Missing without one."),
    ),
    unit="requests",
)
CONTROLS = ("participant", "template", "period", "party", "envelopes", "wasted")


class Total(NamedTuple):
    """One control total, with a reason if it may differ from the total of all requests."""

    name: str
    parts: str
    sum_of_parts: int | None
    reason: str | None = None


@CONTROL.document
def control(frames: Frames) -> pd.DataFrame:
    """Return sums of the parts of the cost next to its total.

    Participants, kinds with templates, days, parties, and wasted and useful cost each add up to the total. Envelopes need not,
    because a total can differ from the sum of its envelopes.

    Raises
    ------
    IntegrityError
        If parts that must add up do not. The error's ``failures`` has the sums.

    Source: the results of ``cost.spend``, ``cost.overhead`` and ``cost.wasted`` for the same frames.

    >>> control = lf.cost.control(day)
    >>> bool((control["difference"].fillna(0) == 0)[control["reason"].isna()].all())
    True
    """
    CONTROL.check(frames)
    whole = spend(frames)
    total = exact_sum(whole["total_traffic_cost"])
    totals = list(_totals(frames))
    failures = {
        each.name: f"{each.parts} are {each.sum_of_parts}, the total is {total}"
        for each in totals
        if each.sum_of_parts != total and each.reason is None
    }
    if failures:
        raise IntegrityError(
            f"Costs do not add up: {', '.join(failures.values())}. Report this as a defect of ledgerframes.", failures=failures
        )
    sums = as_integers([each.sum_of_parts for each in totals], "traffic_cost")
    whole_total = as_integers([total] * len(totals), "total_traffic_cost")
    values = {
        "control": pd.Categorical([each.name for each in totals], categories=CONTROLS),
        "parts": [each.parts for each in totals],
        "sum_of_parts": sums,
        "total_traffic_cost": whole_total,
        "difference": whole_total - sums,
        "reason": pd.Series([None if each.sum_of_parts == total else each.reason for each in totals], dtype="str"),
        **{name: np.repeat(whole[name].to_numpy(), len(totals)) for name in ("coverage", "coverage_bytes")},
    }
    return CONTROL.build(frames, values)


def _totals(frames: Frames) -> Iterator[Total]:
    yield Total("participant", "participants", exact_sum(spend(frames, by="participant")["total_traffic_cost"]))
    yield Total("template", "kinds and templates", exact_sum(spend(frames, by="template")["total_traffic_cost"]))
    yield Total("period", "days", exact_sum(spend(frames, every="1d")["total_traffic_cost"]))
    yield _party_total(frames)
    yield _envelope_total(frames)
    yield _wasted_total(frames)


def _party_total(frames: Frames) -> Total:
    """Return the requests of one party, those of several once, and those without a party."""
    parties = spend(frames, by="party")
    without_party = parties.loc[parties["party"].isna(), "total_traffic_cost"]
    parts = pd.concat([parties["single_party_traffic_cost"], parties["shared_traffic_cost"], without_party])
    return Total("party", "requests of one party, of several once, and of none", exact_sum(parts))


def _envelope_total(frames: Frames) -> Total:
    kinds = overhead(frames).set_index("kind")
    parts = kinds.loc[["with views", "without views"], "traffic_cost"]
    coverage = kinds["coverage"].iloc[0]
    reason = (
        "some requests have no envelopes"
        if coverage < spend(frames)["coverage"].iloc[0]
        else "some totals are not the sum of envelopes"
    )
    return Total("envelopes", "envelopes with views and without", exact_sum(parts), reason)


def _wasted_total(frames: Frames) -> Total:
    result = wasted(frames, every=None, accept_survivorship=True)
    parts = pd.concat([result["wasted_traffic_cost"], result["useful_traffic_cost"]])
    return Total("wasted", "wasted and useful cost", exact_sum(parts))
