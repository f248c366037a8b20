"""Sums of the flows of coin by kind and by round or period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis._amounts import SCALE, from_scaled, scaled, sum_if_known
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis.coverage import covered_time
from ledgerframes.analysis.economy.network import Network, Rounds
from ledgerframes.analysis.economy.periods import period_of
from ledgerframes.analysis.groups import Flags, Rates, as_integers, ratio
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.flows import FLOWS, FLOWS_AND_COUPONS, SUMS_BY_ROUND
from ledgerframes.frames import Frames
from ledgerframes.values.extents import microseconds

ISSUED = ("issued_app", "issued_validator", "issued_sv")
MINTED = ("minted_app", "minted_validator", "minted_sv", "minted_other")
ISSUES, EXPIRES = "can be issued", "can expire"  # kinds of rows on rounds whose coupons are not final
BURNED = ("burned_traffic", "burned_preapproval", "burned_names", "burned_dust")


@dataclass(frozen=True)
class Sums:
    """Sums of the flows of each row of a result, by kind, or None if an amount is unknown."""

    units: Mapping[tuple[Any, str], int | None]
    flows: Mapping[Any, int]
    known: Mapping[Any, int]

    @classmethod
    def of(cls, parts: pd.DataFrame, rows: Sequence[Any]) -> Sums:
        """Add up parts of flows, each in its row."""
        units: dict[tuple[Any, str], int | None] = {}
        flows, known = Counter[Any](), Counter[Any]()
        columns = (parts["kind"], scaled(parts["amount"]), parts["flows"].tolist(), parts["known"].tolist())
        for row, kind, amount, flow_count, known_count in zip(rows, *columns, strict=True):
            before = units.get((row, kind), 0)
            units[row, kind] = None if before is None or known_count < flow_count else before + (amount or 0)
            flows[row] += flow_count
            known[row] += known_count
        return cls(units, flows, known)


def queries_of_rounds(network: Network, every: str | None) -> list[Query]:
    """Return the queries of the sums by round or period."""
    return [_sums_by_round_query(network) if every == "round" else sums_query(network, FLOWS_AND_COUPONS, every)]


def sums_query(network: Network, flows: Relation, every: str | None) -> Query:
    """Return the query of the sums of flows by kind and by parts of periods."""
    select = f"""
SELECT
    kind,
    {period_of(every)} AS period,
    min(record_time) AS record_time,
    sum(amount) AS amount,
    count(*) AS flows,
    count(amount) AS known
FROM {flows.name}
GROUP BY kind, period"""
    return network.query(select, flows)


def _sums_by_round_query(network: Network) -> Query:
    """Return the query of the sums of flows by kind and round."""
    return network.query("FROM sums_by_round", SUMS_BY_ROUND)


def sums_by_round(network: Network) -> tuple[dict[str, Any], list[int | None]]:
    """Return the sums and number of each round, None for flows before the first known round.

    After a round ends, its coupons are still issued for a while, and expire even later.
    """
    frames, rounds = network.frames, network.rounds
    parts = run(frames, _sums_by_round_query(network))
    is_state = parts["kind"].isin([ISSUES, EXPIRES])
    states = parts[is_state]
    unsettled: dict[int | None, bool] = dict(zip(states["round_number"], states["kind"] == ISSUES, strict=True))
    parts = parts[~is_state]
    of_parts = [None if pd.isna(number) else int(number) for number in parts["round_number"]]
    numbers = sorted({number for number in of_parts if number is not None} | set(rounds.opened))
    rows: list[int | None] = [*numbers, *([None] if None in of_parts else [])]
    keys = pd.DataFrame({"round_number": pd.array(rows, "Int64")})
    keys["coverage_time"], has_time = _coverage(frames, rows, rounds)
    assert frames.window is not None
    since = microseconds(frames.window.since)
    has_all_coupons = [number in rounds.ended and not unsettled.get(number, False) for number in rows]
    is_opened = [_is_opened_since(rounds, number, since) for number in rows]
    is_whole = np.array(has_all_coupons, dtype=bool) & np.array(is_opened, dtype=bool)
    keys["is_partial"] = pd.array(~is_whole | (keys["coverage_time"] < 1), "boolean")
    values = _columns(keys, rows, Sums.of(parts, of_parts), has_time)
    values |= {name: values[name].where(is_whole) for name in ISSUED}
    are_final = [is_known and number not in unsettled for number, is_known in zip(rows, has_all_coupons, strict=True)]
    values["expired"] = values["expired"].where(are_final)
    return values, rows


def _is_opened_since(rounds: Rounds, number: int | None, since: int) -> bool:
    opened = rounds.opened.get(number)
    return opened is not None and opened.time is not None and opened.time >= since


def _coverage(frames: Frames, numbers: Iterable[int | None], rounds: Rounds) -> tuple[Rates, Flags]:
    """Return the covered share of the time of each round, and whether any of it is covered.

    It is the time in which the round is the lowest open one. The share is missing if the start or the end is unknown.
    """
    assert frames.window is not None
    spans = np.array([[-1 if time is None else time for time in rounds.span(number)] for number in numbers], dtype=np.int64)
    spans = spans.reshape(-1, 2)
    window = [microseconds(frames.window.since), microseconds(frames.window.until)]
    shares = covered_time(frames).share(*np.where(spans < 0, window, spans).T)
    return np.where((spans < 0).any(axis=1), np.nan, shares), shares != 0


def sums_by_period(network: Network, flows: Relation, every: str | None) -> dict[str, Any]:
    """Return the sums of each period."""
    parts = run(network.frames, sums_query(network, flows, every))
    groups = group_rows(network.frames, parts, [], every)
    has_time = np.ones(len(groups), dtype=bool) if every is None else groups.keys["coverage_time"].to_numpy() != 0
    return _columns(groups.keys, range(len(groups)), Sums.of(parts, groups.codes.tolist()), has_time)


def sums_of_all(network: Network) -> tuple[dict[str, int | None], Rates]:
    """Return the sums of all flows by kind, and the share of known amounts.

    A sum is None if an amount is unknown.
    """
    parts = run(network.frames, sums_query(network, FLOWS, None))
    sums = Sums.of(parts, [0] * len(parts))
    return {kind: number for (_, kind), number in sums.units.items()}, ratio([sums.known[0]], [sums.flows[0]])


def _columns(keys: pd.DataFrame, rows: Iterable[int | None], sums: Sums, has_time: Flags) -> dict[str, Any]:
    """Return the sums of each row by kind, and the control total.

    Sums without flows are 0 in covered time, and otherwise missing.
    """
    rows = list(rows)
    has_facts = [row in sums.flows or is_covered for row, is_covered in zip(rows, has_time, strict=True)]
    kinds: dict[str, tuple[str, ...]] = {
        kind: (kind,) for kind in (*ISSUED, "expired", *MINTED, *BURNED, "fees", "to_dso", "net")
    }
    kinds |= {"traffic_bought": ("traffic_bought",), "minted": MINTED, "burned": (*BURNED, "fees")}
    units = {
        name: [
            sum_if_known(sums.units.get((row, kind), 0) for kind in parts) if is_known else None
            for row, is_known in zip(rows, has_facts, strict=True)
        ]
        for name, parts in kinds.items()
    }
    rest = zip(units["net"], units["minted"], units["burned"], strict=True)
    units["unexplained"] = [None if None in row else row[0] - row[1] + row[2] for row in rest]  # type: ignore[operator]
    traffic = [None if number is None else number // SCALE for number in units.pop("traffic_bought")]
    return {
        **keys,
        **{name: from_scaled(values) for name, values in units.items()},
        "traffic_bought": as_integers(traffic, "traffic_bought"),
        "coverage": ratio([sums.known[row] for row in rows], [sums.flows[row] for row in rows]),
    }
