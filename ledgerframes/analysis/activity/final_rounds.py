"""Rounds whose records are all in the frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis.coverage import covered_time, has_times
from ledgerframes.analysis.groups import is_true, microseconds
from ledgerframes.analysis.state.network_state import FOREVER, starts_and_ends
from ledgerframes.engine import Query, run
from ledgerframes.engine.published_weights import PUBLISHED_ROUNDS
from ledgerframes.frames import Frames


def round_values(frames: Frames, rounds: pd.DataFrame | None, numbers: pd.Series) -> dict[str, Any]:
    """Return the columns that say how much of each round the frames have, where it is known.

    The covered time counts while the round is the lowest open one, if that time has ended. The frames have all records of a
    round if all of this time is covered and the round lies between the first and the last round with records, because a host
    withholds the records before and after (docs/facts.md#activity-weights). Frames with a part of the updates have a part of
    the records.
    """
    unknown = pd.Series(pd.NA, numbers.index, "boolean")
    if rounds is None:
        return {"is_partial": unknown, "coverage_time": np.full(len(numbers), np.nan)}
    lives = lowest_open_times(rounds)
    since, until = lives["since"].to_numpy(), lives["until"].to_numpy()
    indexes, covered = pd.Index(lives["round_number"], dtype="Int64").get_indexer(numbers), covered_time(frames)
    shares = np.where(until < FOREVER, covered.share(since, until), np.nan)
    is_covered = np.append(~covered.is_partial(since, until) & (until < FOREVER), False)[indexes]
    first, last = published_rounds(frames)
    is_whole = is_covered & is_true((numbers >= first) & (numbers <= last)) & (not frames.is_filtered)
    has_all = pd.Series(is_whole, numbers.index, dtype="boolean")
    return {"is_partial": ~has_all if has_times(frames) else unknown, "coverage_time": np.append(shares, np.nan)[indexes]}


def lowest_open_times(rounds: pd.DataFrame) -> pd.DataFrame:
    """Return when each round starts and stops being the lowest open one [microseconds]."""
    readable = rounds[rounds["round_number"].notna() & rounds["opens_at"].notna()]
    created, ends = starts_and_ends(readable)
    lives = pd.DataFrame({"round_number": readable["round_number"].to_numpy("int64"), "until": ends})
    lives["since"] = np.maximum(created, microseconds(readable["opens_at"]))
    lives = lives.sort_values(["round_number", "since"], ignore_index=True).drop_duplicates("round_number", ignore_index=True)
    before = lives["until"].shift(fill_value=np.iinfo(np.int64).min)
    lives["since"] = np.maximum(lives["since"], before)
    return lives


def published_rounds(frames: Frames) -> tuple[int, int]:
    """Return the first and the last round with records, or an empty range if there are none."""
    rows = run(frames, Query("FROM published_rounds", (PUBLISHED_ROUNDS,)))
    return int(rows["first"][0]), int(rows["last"][0])
