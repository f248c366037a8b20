"""Control totals of the cost."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._groups import as_integers, exact_sum
from ledgerframes.analysis.cost._overhead import overhead
from ledgerframes.analysis.cost._spend import spend
from ledgerframes.analysis.cost._wasted import wasted
from ledgerframes.errors import IntegrityError
from ledgerframes.frames import Frames

CONTROLS = ("participant", "template", "period", "party", "envelopes", "wasted")
CONTROL = declare.Figure(
    "cost.control",
    rows="One row per control total; sorted as in the description of ``control``.",
    columns=(
        declare.choice("control", CONTROLS),
        declare.text("parts", "Parts that add up."),
        declare.cost("sum_of_parts", "Sum of the parts."),
        declare.cost("total_traffic_cost", "Cost of all requests."),
        declare.cost("difference", "Total less the sum of the parts."),
        declare.text("reason", "Reason for a difference. Missing without one."),
    ),
    unit="requests",
)
COST = "total_traffic_cost"


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
    whole, kinds = spend(frames), overhead(frames).set_index("kind")
    total, parts = exact_sum(whole[COST]), _parts(frames, kinds)
    sums = {name: exact_sum(pd.concat(columns)) for name, (_, *columns) in parts.items()}
    reasons = dict.fromkeys(name for name, part in sums.items() if part != total)
    if "envelopes" in reasons:
        has_fewer = kinds["coverage"].iloc[0] < whole["coverage"].iloc[0]
        reasons["envelopes"] = "some requests have no envelopes" if has_fewer else "some totals are not the sum of envelopes"
    failures = {name: f"{parts[name][0]} are {sums[name]}, the total is {total}" for name, why in reasons.items() if why is None}
    if failures:
        raise IntegrityError(
            f"Costs do not add up: {', '.join(failures.values())}. Report this as a defect of ledgerframes.", failures=failures
        )
    sum_of_parts = as_integers(list(sums.values()), "traffic_cost")
    totals = as_integers([total] * len(parts), COST)
    values = {
        "control": list(parts),
        "parts": [text for text, *_ in parts.values()],
        "sum_of_parts": sum_of_parts,
        "total_traffic_cost": totals,
        "difference": totals - sum_of_parts,
        "reason": pd.Series([reasons.get(name) for name in parts], dtype="str"),
        **whole[["coverage", "coverage_bytes"]].iloc[0],
    }
    return CONTROL.build(frames, values)


def _parts(frames: Frames, kinds: pd.DataFrame) -> dict[str, Any]:
    """Return what each control total adds up, in words and as columns."""
    parties, waste = spend(frames, by="party"), wasted(frames, every=None, accept_survivorship=True)
    of_none = parties.loc[parties["party"].isna(), COST]
    by_number = (parties["single_party_traffic_cost"], parties["shared_traffic_cost"], of_none)
    return {
        "participant": ("participants", spend(frames, by="participant")[COST]),
        "template": ("kinds and templates", spend(frames, by="template")[COST]),
        "period": ("days", spend(frames, every="1d")[COST]),
        "party": ("requests of one party, of several once, and of none", *by_number),
        "envelopes": ("envelopes with views and without", kinds.loc[["with views", "without views"], "traffic_cost"]),
        "wasted": ("wasted and useful cost", waste["wasted_traffic_cost"], waste["useful_traffic_cost"]),
    }
