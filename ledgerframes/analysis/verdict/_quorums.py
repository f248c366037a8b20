"""Parties that confirm together."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._grouped import Call, measure
from ledgerframes.analysis._groups import sort_largest_first
from ledgerframes.analysis._measures import Count, Ratio, TotalCount
from ledgerframes.analysis.verdict import _answers as answers
from ledgerframes.analysis.verdict._share import share_with_verdict
from ledgerframes.engine import Query
from ledgerframes.engine.quorums import PARTY_SETS, PARTY_SETS_BY_PARTICIPANT, PARTY_SETS_BY_TEMPLATE
from ledgerframes.frames import Frames

PARTIES = (
    declare.text("parties", "Parties that can confirm, in alphabetical order, separated by commas."),
    declare.integer("threshold", "Confirmations needed.", "confirmations"),
    declare.integer("party_count", "Number of parties that can confirm.", "parties"),
)
COUNTS = (
    declare.count("quorums", "Quorums of these parties with this threshold.", "quorums", measure=TotalCount("quorums")),
    declare.count("views", "Views with such a quorum.", "views", measure=TotalCount("views")),
    declare.count("requests", "Confirmation requests with such a quorum.", measure=Count()),
    declare.share("Share of all quorums.", ratio=Ratio("groups.quorums", "overall.quorums")),
)


def queries(frames: Frames, by: str | None, every: str | None) -> list[Query]:
    """Return the queries of the figure."""
    return [Call(SETS, frames, by or "all", every).query]


QUORUMS = declare.Figure(
    "verdict.quorums",
    answer=answers.of_quorums,
    main_columns=("parties", "quorums", "share", "threshold", "views", "requests"),
    distinct=tuple(each.name for each in PARTIES),
    rows="One row per period, group, set of parties and threshold; sorted by time, then by quorums, most frequent first.",
    by={"participant": grouping.PARTICIPANT, "template": grouping.TEMPLATE},
    columns=(*PARTIES, *(replace(each, measure=None, ratio=None) for each in COUNTS)),
    queries=queries,
    has_periods=True,
    condition="with a known verdict",
    unit="requests of these frames",
)
# The figure as it is measured: the parties name a group, too.
SETS = replace(
    QUORUMS,
    by={
        "all": declare.Grouping(PARTIES, rows=PARTY_SETS),
        "participant": declare.Grouping((*grouping.PARTICIPANT.keys, *PARTIES), rows=PARTY_SETS_BY_PARTICIPANT),
        "template": declare.Grouping((*grouping.TEMPLATE.keys, *PARTIES), rows=PARTY_SETS_BY_TEMPLATE),
    },
    columns=COUNTS,
    known="true",
)


@QUORUMS.document
def quorums(frames: Frames, *, by: Literal["participant", "template"] | None = None, every: str | None = None) -> pd.DataFrame:
    """Return the parties that confirm together, and the number of confirmations needed.

    Source: ``confirming_parties`` of the views of verdicts. The order in which a verdict lists the parties does not matter.

    >>> groups = lf.verdict.quorums(day)
    >>> bool((groups["threshold"] <= groups["party_count"]).all())
    True
    """
    keys = QUORUMS.check(frames, by).key_names
    grouped = measure(Call(SETS, frames, by or "all", every))
    values = {**grouped.keys, **grouped.values, "coverage": share_with_verdict(frames)}
    result = QUORUMS.build(frames, values, by, every=every)
    return sort_largest_first(result, "quorums", *keys, "parties", "threshold", before=["period_start"] if every else [])
