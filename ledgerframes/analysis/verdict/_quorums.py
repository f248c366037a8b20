"""Parties that confirm together."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import ratio, sort_largest_first
from ledgerframes.analysis._requests import join_sorted, list_lengths, positions, requests, take_or_missing
from ledgerframes.frames import Frames

QUORUMS = declare.Figure(
    "verdict.quorums",
    distinct=("parties", "threshold", "party_count"),
    rows="One row per period, group, set of parties and threshold; sorted by time, then by quorums, most frequent first.",
    by={"participant": grouping.PARTICIPANT, "template": grouping.TEMPLATE},
    columns=(
        declare.text("parties", "Parties that can confirm, in alphabetical order, separated by commas."),
        declare.integer("threshold", "Confirmations needed.", "confirmations"),
        declare.integer("party_count", "Number of parties that can confirm.", "parties"),
        declare.count("quorums", "Quorums of these parties with this threshold.", "quorums"),
        declare.count("views", "Views with such a quorum.", "views"),
        declare.count("requests", "Confirmation requests with such a quorum."),
        declare.share("Share of all quorums."),
    ),
    has_periods=True,
    condition="with a known verdict",
    unit="requests of these frames",
)


@QUORUMS.document
def quorums(frames: Frames, *, by: Literal["participant", "template"] | None = None, every: str | None = None) -> pd.DataFrame:
    """Return the parties that confirm together, and the number of confirmations needed.

    Source: ``confirming_parties`` of the views of verdicts. The order in which a verdict lists the parties does not matter.

    >>> groups = lf.verdict.quorums(day)
    >>> bool((groups["threshold"] <= groups["party_count"]).all())
    True
    """
    by_keys = QUORUMS.check(frames, by).key_names
    rows = frames.read("quorums", ["update_id", "record_time", "view_id", "threshold", "parties"])
    rows["party_count"] = list_lengths(rows["parties"])
    rows["parties"] = join_sorted(rows["parties"])
    all_requests = requests(frames, [name for name in by_keys if name == "submitting_participant_uid"], cost=False)
    if by == "participant":
        indexes = positions(rows["update_id"], all_requests["update_id"])
        rows["submitting_participant_uid"] = take_or_missing(all_requests["submitting_participant_uid"], indexes)
    keys = [*by_keys, "parties", "threshold", "party_count"]
    groups = grouping.group_rows(frames, grouping.with_keys(frames, rows, keys), keys, every)
    numbers = pd.DataFrame({"group": groups.codes, "request": pd.factorize(rows["update_id"])[0], "view": rows["view_id"]})
    values = {
        **groups.keys,
        "quorums": groups.count(),
        "views": groups.count((~numbers.duplicated()).to_numpy()),
        "requests": groups.count((~numbers.duplicated(["group", "request"])).to_numpy()),
        "share": np.where(groups.count() > 0, ratio(groups.count(), np.full(len(groups), len(rows))), np.nan),
        "coverage": all_requests["has_verdict"].mean() if len(all_requests) else np.nan,
    }
    result = QUORUMS.build(frames, values, by, every=every)
    return sort_largest_first(result, "quorums", *by_keys, "parties", "threshold", before=["period_start"] if every else [])
