"""The state of the network as small tables, which the engine joins with requests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis.coverage import covered_time, timed_segments
from ledgerframes.analysis.groups import Integers, microseconds
from ledgerframes.analysis.state.network_state import (
    FOREVER,
    NEVER,
    Members,
    NetworkState,
    RoundLookup,
    featured_members,
    validator_members,
)
from ledgerframes.frames import Frames
from ledgerframes.values.decimals import AMOUNT


def state_tables(state: NetworkState, prefix: str = "") -> dict[str, pa.Table]:
    """Return the tables that relations of weights read."""
    rounds, featured, validators = (
        RoundLookup.of(state.rounds),
        featured_members(state.rights),
        validator_members(state.validators),
    )
    tables = {
        "open_rounds": _open_rounds(rounds, featured, validators),
        "rights": _rights(state.rights, featured),
        "super_validators": _lifetimes(validators, "participant"),
        "round_openings": _openings(state.rounds),
    }
    return {f"{prefix}{name}": table for name, table in tables.items()}


def reason_tables(frames: Frames, state: NetworkState) -> dict[str, pa.Table]:
    """Return the further tables that reasons of mismatches follow from."""
    numbers = state.rounds.loc[state.rounds["until"].isna(), "round_number"].dropna().unique()
    factors = state.rights[["party", "weight"]].dropna().drop_duplicates()
    covered = covered_time(frames)
    return {
        "living_rounds": pa.table({"round_number": pa.array(numbers, pa.int64())}),
        "factors": pa.table({"party": pa.array(factors["party"], pa.string()), "factor": pa.array(factors["weight"], AMOUNT)}),
        "final_times": pa.table({"since": covered.starts, "until": covered.ends}),
        "coverage": pa.table(
            {"is_known": [not timed_segments(frames).empty], "rights_known_from": pa.array([state.rights_known_from], pa.int64())}
        ),
    }


def _open_rounds(rounds: RoundLookup, featured: Members, validators: Members) -> pa.Table:
    """Return the lowest open round at all times, missing where none is open."""
    edges = rounds.segments.edges
    rows = rounds.at(np.append(NEVER, edges))
    has_round = rows >= 0
    opens_at, numbers = (np.append(values, 0)[rows] for values in (rounds.opens_at, rounds.numbers))
    has_state = featured.is_known[featured.segments.at(opens_at)] & validators.is_known[validators.segments.at(opens_at)]
    return pa.table(
        {
            "round_number": pa.array(numbers, pa.int64(), mask=~has_round),
            "opens_at": pa.array(opens_at, pa.int64(), mask=~has_round),
            "has_state": has_state,
            "since": np.append(NEVER, edges),
            "until": np.append(edges, FOREVER),
        }
    )


def _rights(rights: pd.DataFrame, featured: Members) -> pa.Table:
    lifetimes = _lifetimes(featured, "party")
    factors = pa.array(rights["weight"], AMOUNT).take(lifetimes["value"])
    numbers = pa.array(np.arange(len(lifetimes)), pa.int32())
    return lifetimes.drop_columns("value").append_column("factor", factors).append_column("right_number", numbers)


def _lifetimes(members: Members, name: str) -> pa.Table:
    """Return each name and value with the time in which it counts."""
    width = max(len(members.names), 1)
    segments, codes, values = members.keys // width, members.keys % width, members.values
    order = np.lexsort((segments, codes))
    segments, codes, values = segments[order], codes[order], values[order]
    # Adjacent lifetimes with the same value are one.
    is_other = (np.diff(codes) != 0) | (np.diff(values) != 0) | (np.diff(segments) != 1)
    firsts = np.flatnonzero(np.append(True, is_other)[: len(codes)])
    lasts = np.flatnonzero(np.append(is_other, True)[: len(codes)])
    starts, ends = np.append(NEVER, members.segments.edges), np.append(members.segments.edges, FOREVER)
    return pa.table(
        {
            name: members.names.take(pa.array(codes[firsts])),
            "value": values[firsts],
            "since": starts[segments[firsts]],
            "until": ends[segments[lasts]],
        }
    )


def _openings(rounds: pd.DataFrame) -> pa.Table:
    readable = rounds[rounds["round_number"].notna() & rounds["opens_at"].notna()].drop_duplicates("round_number")
    opens_at: Integers = microseconds(readable["opens_at"])
    return pa.table({"round_number": readable["round_number"].to_numpy("int64"), "opens_at": opens_at})
