"""Verdicts of each mediator group."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import known
from ledgerframes.analysis._requests import ACCEPTED, REJECTED, has_result, missing_if_committed
from ledgerframes.frames import Frames

MEDIATOR = declare.integer("mediator_group", "Mediator group that decided. Missing without a verdict.", "groups")
MEDIATORS = declare.Figure(
    "verdict.mediators",
    rows="One row per period and mediator group; sorted by time and group, missing last.",
    by={"mediator": declare.Grouping((MEDIATOR,))},
    columns=(
        declare.count("requests", "Confirmation requests."),
        declare.count("accepted", "Requests with an accepting verdict."),
        declare.integer("rejected", "Requests with a rejecting verdict. Missing for committed updates.", "requests", "Rejected"),
    ),
    has_periods=True,
    fact="verdict",
)


@MEDIATORS.document
def mediators(frames: Frames, *, by: str | None = None, every: str | None = None) -> pd.DataFrame:
    """Return the verdicts of each mediator group.

    Source: ``mediator_group`` and ``verdict_result`` of the verdicts (docs/facts.md#verdict-fields).

    >>> groups = lf.verdict.mediators(day, by="mediator")
    >>> bool((groups["accepted"] <= groups["requests"]).all())
    True
    """
    keys = MEDIATORS.check(frames, by).key_names
    rows, groups = grouping.requests_by(frames, keys, every, ["mediator_group", "verdict_result"], cost=False)
    values = {
        **groups.keys,
        "requests": groups.count(),
        "accepted": groups.count(has_result(rows, ACCEPTED)),
        "rejected": missing_if_committed(frames, groups.count(has_result(rows, REJECTED))),
        "coverage": groups.coverage(known(rows["verdict_result"])),
    }
    return MEDIATORS.build(frames, values, by, every=every)
