"""The participant with unusually many rejections at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.findings._weeks import IS_DECIDED
from ledgerframes.analysis.measures import IS_REJECTED
from ledgerframes.engine import Query, run
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.frames import Frames
from ledgerframes.values import extents


class Rejections(NamedTuple):
    """Rejections of a participant at a time.

    The excess is the number of rejections above those at its rate in the rest of the window, or at that of all if it has no
    request there. It is missing without a rest, like the excess of all participants above their rates.
    """

    participant: str
    rejected: int
    decided: int
    excess: float
    excess_of_all: float


@once_per_frames
def most_excess(frames: Frames, since: pd.Timestamp, until: pd.Timestamp) -> Rejections:
    """Return the participant with the largest excess of rejections at a time with some.

    A day can have a finding on its rejections, and one on their cost.
    """
    first, last = (extents.microseconds(time) for time in (since, until))
    select = f"""
    SELECT
        submitting_participant_uid AS participant,
        count(*) FILTER (is_inside) AS decided,
        count(*) FILTER (is_inside AND is_rejected) AS rejected,
        count(*) FILTER (NOT is_inside) AS other_decided,
        count(*) FILTER (NOT is_inside AND is_rejected) AS other_rejected
    FROM (
        SELECT
            submitting_participant_uid,
            {IS_REJECTED} AS is_rejected,
            epoch_us(record_time) >= {first} AND epoch_us(record_time) < {last} AS is_inside
        FROM requests
        WHERE {IS_DECIDED}
    )
    GROUP BY participant
    ORDER BY rejected DESC, participant
    """
    rows = run(frames, Query(select, (REQUESTS,)))
    names = ("rejected", "decided", "other_rejected", "other_decided")
    rejected, decided, other_rejected, other_decided = (rows[name].to_numpy("float64") for name in names)
    rate_of_all = other_rejected.sum() / other_decided.sum() if other_decided.any() else np.nan
    rates = np.divide(other_rejected, other_decided, out=np.full(len(rows), rate_of_all), where=other_decided > 0)
    excess = rejected - decided * rates
    position = int(np.where(rejected > 0, excess, -np.inf).argmax()) if other_decided.any() else 0
    participant, counts = str(rows["participant"].iloc[position]), (int(rejected[position]), int(decided[position]))
    return Rejections(participant, *counts, float(excess[position]), float(np.maximum(excess, 0).sum()))
