"""Parties that confirm together."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, measure
from ledgerframes.analysis.groups import sort_largest_first
from ledgerframes.analysis.measures import Count, Ratio, TotalCount
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
    caption="Quorums of views",
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
# The figure as it is measured, where the parties also name a group.
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


@QUORUMS.register
def quorums(frames: Frames, *, by: Literal["participant", "template"] | None = None, every: str | None = None) -> pd.DataFrame:
    """Return the parties that confirm together, and the number of confirmations needed.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {"participant", "template"}, optional
        Grouping of the rows, with its columns below (default: None).
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).

    Returns
    -------
    DataFrame
        One row per period, group, set of parties and threshold; sorted by time, then by quorums, most frequent first.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``submitting_participant_uid`` (str, with by="participant"): Participant that submits and pays. Missing without a
          verdict.
        - ``kind`` (category, with by="template"): transaction, reassignment, or not visible (rejected or private).
        - ``package_name`` (str, with by="template"): Package of the root node. Missing without a visible tree.
        - ``template_name`` (str, with by="template"): Module and entity of the root node. Missing without a visible tree.
        - ``choice`` (str, with by="template"): Choice that the root node exercises. Missing for a create.
        - ``parties`` (str): Parties that can confirm, in alphabetical order, separated by commas.
        - ``threshold`` (Int64, confirmations): Confirmations needed.
        - ``party_count`` (Int64, parties): Number of parties that can confirm.
        - ``quorums`` (int64, quorums): Quorums of these parties with this threshold.
        - ``views`` (int64, views): Views with such a quorum.
        - ``requests`` (int64, requests): Confirmation requests with such a quorum.
        - ``share`` (float64, share of 1): Share of all quorums.
        - ``coverage`` (float64, share of 1): Share of the requests of these frames with a known verdict. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.

    Notes
    -----
    Source: ``confirming_parties`` of the views of verdicts. The order in which a verdict lists the parties does not matter.

    Picture, by :func:`ledgerframes.plot`: One bar per quorum, the 15 most frequent. Over time: a panel for each of the 12
    most frequent, all on one scale.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> groups = lf.verdict.quorums(day)
    >>> bool((groups["threshold"] <= groups["party_count"]).all())
    True
    """
    keys = QUORUMS.check(frames, by).key_names
    grouped = measure(Call(SETS, frames, by or "all", every))
    values = {**grouped.keys, **grouped.values, "coverage": share_with_verdict(frames)}
    result = QUORUMS.build(frames, values, by, every=every)
    return sort_largest_first(result, "quorums", *keys, "parties", "threshold", before=["period_start"] if every else [])
