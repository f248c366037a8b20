"""Rounds whose records are all in the frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis._coverage import covered_time
from ledgerframes.analysis._groups import Rates, microseconds
from ledgerframes.analysis._requests import positions
from ledgerframes.analysis.state._network_state import FOREVER, starts_and_ends
from ledgerframes.frames import Frames


def has_all_records(frames: Frames, rounds: pd.DataFrame | None, numbers: pd.Series) -> pd.Series | None:
    """Return whether the frames have all records of each round, None if unknown.

    They do if final segments cover the time in which it is the lowest open round, and it lies between the first and the last
    round with records: a host withholds those before and after (docs/facts.md#activity-weights).
    """
    if rounds is None or frames.window is None or frames.coverage.empty:
        return None
    lives = lowest_open_times(rounds)
    indexes = positions(numbers, lives["round_number"])
    since, until = lives["since"].to_numpy(), lives["until"].to_numpy()
    is_covered = np.append(~covered_time(frames).is_partial(since, until) & (until < FOREVER), False)[indexes]
    first, last = published_rounds(frames)
    is_published = ((numbers >= first) & (numbers <= last)).to_numpy(dtype=bool)
    return pd.Series(is_covered & is_published, numbers.index, dtype="boolean")


def round_values(frames: Frames, rounds: pd.DataFrame | None, numbers: pd.Series) -> dict[str, Any]:
    """Return the columns that say how much of each round the frames have."""
    is_full = has_all_records(frames, rounds, numbers)
    is_partial = pd.Series(pd.NA, numbers.index, "boolean") if is_full is None else ~is_full
    return {"is_partial": is_partial, "coverage_time": covered_shares(frames, rounds, numbers)}


def covered_shares(frames: Frames, rounds: pd.DataFrame | None, numbers: pd.Series) -> Rates:
    """Return the covered share of each round's time as the lowest open one, if that has ended."""
    if rounds is None:
        return np.full(len(numbers), np.nan)
    lives = lowest_open_times(rounds)
    shares = covered_time(frames).share(lives["since"].to_numpy(), lives["until"].to_numpy())
    shares[lives["until"] == FOREVER] = np.nan
    return np.append(shares, np.nan)[positions(numbers, lives["round_number"])]


def lowest_open_times(rounds: pd.DataFrame) -> pd.DataFrame:
    """Return since when and until when [microseconds] each round is the lowest open one."""
    readable = rounds[rounds["round_number"].notna() & rounds["opens_at"].notna()]
    created, ends = starts_and_ends(readable)
    lives = pd.DataFrame({"round_number": readable["round_number"].to_numpy("int64"), "until": ends})
    lives["since"] = np.maximum(created, microseconds(readable["opens_at"]))
    lives = lives.sort_values(["round_number", "since"], ignore_index=True).drop_duplicates("round_number", ignore_index=True)
    before = lives["until"].shift(fill_value=np.iinfo(np.int64).min)
    lives["since"] = np.maximum(lives["since"], before)
    return lives


def published_rounds(frames: Frames) -> tuple[int, int]:
    """Return the first and the last round with records, an empty range without records."""
    numbers = frames.read("activity_records", ["round_number"])["round_number"]
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else (1, 0)
