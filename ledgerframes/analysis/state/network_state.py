"""Round, rights and super validators at a time, as activity weights need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._amounts import amounts, to_decimal
from ledgerframes.analysis.arguments import Snapshot, require_columns, require_network_of, to_times
from ledgerframes.analysis.groups import Flags, Integers, microseconds
from ledgerframes.analysis.state._declarations import FEATURED, ROUNDS, SUPER_VALIDATORS
from ledgerframes.analysis.state._tables import tables_of
from ledgerframes.analysis.state.payloads import MAX_FACTOR
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.values import extents

NEVER, FOREVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max
DERIVED = {"rounds": ROUNDS, "featured": FEATURED, "sv_participants": SUPER_VALIDATORS}
COLUMNS = {"rounds": ("round_number", "opens_at"), "featured": ("party", "weight"), "sv_participants": ("participant",)}


@dataclass(frozen=True)
class Segments:
    """Times of changes, in order. Segment n starts at edge n - 1."""

    edges: Integers

    def at(self, times: Integers) -> Integers:
        """Return the segment of each time."""
        numbers: Integers = np.searchsorted(self.edges, times, side="right").astype(np.int64)
        return numbers

    def span(self, since: int, until: int) -> tuple[int, int]:
        """Return the first segment of a lifetime and the first one after it."""
        return int(np.searchsorted(self.edges, since)) + 1, int(np.searchsorted(self.edges, until)) + 1


@dataclass(frozen=True)
class NetworkState:
    """Rounds, rights and super validators with their lifetimes.

    The tables have the columns of :mod:`ledgerframes.analysis.state`. Rights that ended before `rights_known_from` can be absent
    [microseconds since 1970].
    """

    rounds: pd.DataFrame
    rights: pd.DataFrame
    validators: pd.DataFrame
    rights_known_from: int = NEVER

    def effective(self) -> NetworkState:
        """Return the state with ledger effective times where they are known."""
        rounds, rights, validators = (_with_effective_times(each) for each in (self.rounds, self.rights, self.validators))
        return NetworkState(rounds, rights, validators, self.rights_known_from)


def network_state(
    frames: Frames,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> NetworkState:
    """Return the state from a snapshot and the frames, or from tables that replace it."""
    arguments = {"rounds": rounds, "featured": featured, "sv_participants": sv_participants}
    tables = {name: checked(frames, name, table) for name, table in arguments.items() if table is not None}
    if len(tables) < len(arguments):
        derived = tables_of(frames, base)
        tables = {name: derived[figure.name].copy(deep=False) for name, figure in DERIVED.items()} | tables
    return NetworkState(tables["rounds"], tables["featured"], tables["sv_participants"], _rights_known_from(tables))


def _rights_known_from(tables: Mapping[str, pd.DataFrame]) -> int:
    """Return the time before which rights that ended can be absent [microseconds since 1970]."""
    if "known_from" not in tables["featured"]:
        return NEVER
    # A network without rights has it in its other tables.
    times = [table["known_from"].max() for table in tables.values() if "known_from" in table]
    return max((extents.microseconds(time) for time in times if pd.notna(time)), default=NEVER)


def checked(frames: Frames, name: str, table: pd.DataFrame, argument: str = "") -> pd.DataFrame:
    """Return a table of the caller in the dtypes of this module.

    `argument` is the name of the argument if it is not that of the table.
    """
    argument = argument or name
    columns = (*COLUMNS[name], "from", "until")
    if isinstance(table, pd.DataFrame):
        table = table.rename(columns={"created_at": "from", "archived_at": "until"})
    require_columns(table, columns, f"{argument}= must be a DataFrame with the columns {', '.join(columns)}")
    require_network_of(frames, argument, table)
    times = [name for name in ("opens_at", "from", "until", "known_from", "effective_from", "effective_until") if name in table]
    table = table.assign(**{name: to_times(table[name], argument) for name in times})
    if "round_number" in columns:
        table = table.assign(round_number=_round_numbers(argument, table["round_number"]))
    if "weight" in columns:
        factors = [_factor(argument, weight) for weight in table["weight"]]
        table = table.reset_index(drop=True).assign(weight=amounts(factors))
    if "contract_id" not in table:
        table = table.assign(contract_id="")
    return table.reset_index(drop=True)


def _round_numbers(argument: str, numbers: pd.Series) -> pd.Series:
    try:
        return pd.to_numeric(numbers).astype("Int64")
    except (ValueError, TypeError):
        raise UsageError(f"{argument}= must have whole numbers in round_number, got {list(numbers.head(3))}.") from None


def _factor(argument: str, weight: object) -> Decimal:
    factor = Decimal(1) if pd.isna(weight) else to_decimal(str(weight))  # type: ignore[call-overload]
    if factor is None or not 0 <= factor <= MAX_FACTOR:
        raise UsageError(f"{argument}= must have weights from 0 to {MAX_FACTOR:,} with at most 10 places, got {weight!r}.")
    return factor


def _with_effective_times(table: pd.DataFrame) -> pd.DataFrame:
    if "effective_from" not in table:
        return table
    until = table["effective_until"].where(table["effective_until"].notna(), table["until"])
    since = table["effective_from"].where(table["effective_from"].notna(), table["from"])
    return table.assign(**{"from": since, "until": until})


# -- as of a time -------------------------------------------------------------------------------------------------------


def starts_and_ends(table: pd.DataFrame) -> tuple[Integers, Integers]:
    """Return start and end of each lifetime in microseconds since 1970."""
    since, until = table["from"], table["until"]
    ends = np.where(until.isna(), FOREVER, microseconds(until.fillna(pd.Timestamp(0, tz="UTC"))))
    return microseconds(since), ends.astype(np.int64)


@dataclass(frozen=True)
class RoundLookup:
    """Lowest open round of each time."""

    # Round number and opening time [microseconds since 1970] of each row of the rounds that can be read.
    numbers: Integers
    opens_at: Integers
    segments: Segments
    lowest: Integers  # row of the lowest open round in each segment, -1 without one

    @classmethod
    def of(cls, rounds: pd.DataFrame) -> RoundLookup:
        """Return the lookup of rounds with their lifetimes."""
        is_known = rounds["round_number"].notna() & rounds["opens_at"].notna()
        readable = rounds[is_known]
        opens_at, numbers = microseconds(readable["opens_at"]), readable["round_number"].to_numpy("int64")
        created, ends = starts_and_ends(readable)
        starts = np.maximum(created, opens_at)
        unknown_starts, unknown_ends = starts_and_ends(rounds[~is_known])
        segments = Segments(np.unique(np.concatenate([starts, ends, unknown_starts, unknown_ends])))
        lowest = np.full(len(segments.edges) + 1, -1, dtype=np.int64)
        for row in np.lexsort((created, -numbers)):  # The lowest number comes last, so that it overwrites all others.
            first, after = segments.span(starts[row], ends[row])
            lowest[first:after] = row
        for since, until in zip(unknown_starts, unknown_ends, strict=True):  # it could be the lowest
            first, after = segments.span(since, until)
            lowest[first:after] = -1
        return cls(numbers, opens_at, segments, lowest)

    def at(self, times: Integers) -> Integers:
        """Return the row of the lowest open round at each time, or -1 if none is open."""
        rows: Integers = self.lowest[self.segments.at(times)]
        return rows


@dataclass(frozen=True)
class Members:
    """Names of the members at a time, each with a number."""

    names: pa.Array  # all names, in alphabetical order
    segments: Segments
    is_known: Flags  # for each segment, whether its members are known
    keys: Integers  # segment times the number of names, plus the number of the name; in order
    values: Integers  # of each key

    @classmethod
    def of(cls, table: pd.DataFrame, column: str, values: Integers) -> Members:
        """Return the members of lifetimes. If a name has several, the one created last counts."""
        starts, ends = starts_and_ends(table)
        names = pa.array(sorted(table[column].dropna().unique()), pa.string())
        codes = pc.index_in(pa.array(table[column], pa.string()), value_set=names).fill_null(-1).to_numpy(zero_copy_only=False)
        segments = Segments(np.unique(np.concatenate([starts, ends])))
        is_known = np.ones(len(segments.edges) + 1, dtype=bool)
        alive: dict[tuple[int, int], int] = {}
        contract_ids = table["contract_id"].astype("str").to_numpy()
        for row in sorted(range(len(table)), key=lambda row: (starts[row], contract_ids[row])):
            first, after = segments.span(starts[row], ends[row])
            if codes[row] < 0:
                is_known[first:after] = False
            else:
                alive.update(dict.fromkeys(((segment, int(codes[row])) for segment in range(first, after)), int(values[row])))
        keys = np.array([segment * max(len(names), 1) + code for segment, code in alive], dtype=np.int64)
        order = np.argsort(keys)
        return cls(names, segments, is_known, keys[order], np.array(list(alive.values()), dtype=np.int64)[order])


def featured_members(rights: pd.DataFrame) -> Members:
    """Return the featured parties, each with the row of the right that counts."""
    return Members.of(rights, "party", np.arange(len(rights), dtype=np.int64))


def validator_members(validators: pd.DataFrame) -> Members:
    """Return the participants of super validators. Without any, the state is unknown."""
    _require_one_at_a_time(validators)
    members = Members.of(validators, "participant", np.zeros(len(validators), dtype=np.int64))
    starts, ends = starts_and_ends(validators)
    is_alive = np.zeros(len(members.segments.edges) + 1, dtype=bool)
    for since, until in set(zip(starts.tolist(), ends.tolist(), strict=True)):
        first, after = members.segments.span(since, until)
        is_alive[first:after] = True
    return replace(members, is_known=members.is_known & is_alive)


def _require_one_at_a_time(validators: pd.DataFrame) -> None:
    lives = validators[validators["contract_id"] != ""].drop_duplicates("contract_id").sort_values("from", ignore_index=True)
    starts, ends = starts_and_ends(lives)
    overlaps = np.flatnonzero(starts[1:] < ends[:-1])
    if len(overlaps):
        pair = ", ".join(lives["contract_id"].iloc[[overlaps[0], overlaps[0] + 1]])
        raise IntegrityError(
            f"Two contracts with the network's rules are alive at {lives['from'].iloc[overlaps[0] + 1]}: {pair}. "
            "Load the history of both again."
        )
