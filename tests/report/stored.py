"""Rows of a window read from the files of a store, and what a page says, both without the analyses."""

from __future__ import annotations

import html
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from ledgerframes.datasets.registry import EVENTS
from ledgerframes.network import Network
from ledgerframes.report import ReportResult

Row = dict[str, Any]
ACCEPTED, REJECTED = "VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED"
Z = 1.959963984540054
TIMEOUT, SUSPECT = timedelta(seconds=29.9), timedelta(seconds=20)


class Stored:
    """The rows of one window, read from the files of a store, each request once."""

    def __init__(self, root: Path, since: datetime, until: datetime) -> None:
        self._root, self.since, self.until = root, since, until
        self._read: dict[str, list[Row]] = {}
        self.begin = min(time.as_py() for time in ds.dataset(root / "verdicts", format="parquet").to_table()["record_time"])
        heads = [row for table in ("verdicts", "updates", "traffic") for row in self._files(table)]
        self._first: dict[str, tuple[int, datetime]] = {}
        for row in heads:
            position = row["migration_id"], row["record_time"]
            self._first[row["update_id"]] = min(position, self._first.get(row["update_id"], position))
        self.verdicts = {row["update_id"]: row for row in self.rows("verdicts")}
        costs = {row["update_id"]: row["total_traffic_cost"] for row in self.rows("traffic")}
        self.costs = {update_id: cost for update_id, cost in costs.items() if cost >= 0}
        self.ids = list(self._first)

    def _files(self, table: str) -> list[Row]:
        if table not in self._read:
            is_inside = (ds.field("record_time") >= self.since) & (ds.field("record_time") < self.until)
            self._read[table] = ds.dataset(self._root / table, format="parquet").to_table(filter=is_inside).to_pylist()
        return self._read[table]

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table that belong to the first event of their request."""
        rows = self._files(table)
        return [row for row in rows if (row["migration_id"], row["record_time"]) == self._first[row["update_id"]]]

    def left_out(self) -> dict[str, int]:
        """Count the rows of each table that belong to a second verdict."""
        names = [table.name for table in EVENTS.tables if (self._root / table.name).is_dir() and self._has_events(table.name)]
        counts = Counter({name: len(self._files(name)) - len(self.rows(name)) for name in names})
        if (self._root / "dropped_rows").is_dir():  # of events at the very time of the first one
            for row in self._files("dropped_rows"):
                counts[row["table"]] += row["rows"]
        return {name: counts[name] for name in sorted(counts) if counts[name]}

    def _has_events(self, table: str) -> bool:
        return {"migration_id", "record_time", "update_id"} <= set(ds.dataset(self._root / table, format="parquet").schema.names)

    def result(self, update_id: str) -> str | None:
        """Return the verdict result of a request."""
        verdict = self.verdicts.get(update_id)
        return verdict["verdict_result"] if verdict else None

    def cost_of(self, update_ids: Iterable[str]) -> int:
        """Return the known cost of requests."""
        return sum(self.costs.get(update_id, 0) for update_id in update_ids)


# -- numbers as text ----------------------------------------------------------------------------------------------------


def percent(part: int, whole: int) -> str:
    if not whole:
        return "–"
    value = Fraction(100 * part, whole)
    if value in (0, 100):
        return f"{value} %"
    if value < Fraction(1, 10):
        return "< 0.1 %"
    if Fraction(999, 10) < value < 100:
        return "> 99.9 %"
    return f"{tenths(math.floor(value * 10 + Fraction(1, 2)))} %"


def tenths(number: int) -> str:
    return f"{'−' if number < 0 else ''}{abs(number) // 10:,}.{abs(number) % 10}"


def size_of(number: int) -> str:
    return _size(number, ROUND_HALF_UP)


def weight_of(number: int) -> str:
    return size_of(number).replace(" ", " weighted ")


def least_size_of(number: int) -> str:
    return _size(number, ROUND_FLOOR)


def _size(number: int, rounding: str) -> str:
    if number < 1000:
        return f"{number} {'byte' if number == 1 else 'bytes'}"
    rounded = Context(prec=3, rounding=rounding).create_decimal(number)
    power = rounded.adjusted() // 3
    return f"{rounded.scaleb(-3 * power):f} {('kB', 'MB', 'GB')[power - 1]}"


def shortened(name: str) -> str:
    hint, _, fingerprint = name.partition("::")
    return f"{hint}::{fingerprint[:6]}…{fingerprint[-4:]}" if fingerprint else name


def seconds(latency: timedelta) -> str:
    exact = Decimal(latency // timedelta(microseconds=1)).scaleb(-6)
    return f"{Context(prec=3, rounding=ROUND_HALF_UP).create_decimal(exact):f}"


def middle(values: Iterable[Any]) -> Any:
    """The lower median."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2]


# -- latency and rates ---------------------------------------------------------------------------------------------------


def latency_of(verdict: Row) -> timedelta:
    latency: timedelta = verdict["finalization_time"] - verdict["record_time"]
    return latency


def design_effect(decided: list[Row]) -> float:
    """Requests of one participant in one hour are a cluster."""
    clusters: defaultdict[str, defaultdict[datetime, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for verdict in decided:
        hour = verdict["record_time"].replace(minute=0, second=0, microsecond=0)
        clusters[verdict["submitting_participant_uid"]][hour].append(verdict["verdict_result"] == REJECTED)
    spread = expected = 0.0
    for hours in clusters.values():
        n = sum(map(len, hours.values()))
        rate = sum(map(sum, hours.values())) / n
        if len(hours) >= 2 and 0 < rate < 1:
            spread += sum((sum(hits) - len(hits) * rate) ** 2 for hits in hours.values())
            expected += sum(len(hits) * rate * (1 - rate) * (1 - len(hits) / n) for hits in hours.values())
    return max(1.0, spread / expected)


def wilson(hits: float, trials: float) -> tuple[float, float]:
    rate, square = hits / trials, Z * Z
    center = (rate + square / (2 * trials)) / (1 + square / trials)
    half = Z * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials)) / (1 + square / trials)
    return max(0.0, center - half), min(1.0, center + half)


def interval(ordered: list[timedelta], level: int) -> tuple[timedelta, timedelta] | None:
    """The values at ranks of the binomial distribution."""
    n, below, low, high = len(ordered), 0.0, 0, 0
    for count in range(n):  # P(B <= count)
        below += math.exp(
            math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
            + count * math.log(level / 100) + (n - count) * math.log(1 - level / 100)
        )  # fmt: skip
        low = count + 1 if below <= 0.025 else low
        high = count + 1 if below >= 0.975 and not high else high
    return (ordered[low - 1], ordered[high - 1]) if low and high else None


# -- what the page says --------------------------------------------------------------------------------------------------


def stored_of(result: ReportResult, net: Network) -> Stored:
    return Stored(root_of(net), *window_of(result))


def root_of(net: Network) -> Path:
    return Path(str(net.settings.store)) / net.name


def window_of(result: ReportResult) -> tuple[datetime, datetime]:
    since, until = (datetime.fromisoformat(time).astimezone(UTC) for time in result.run["window"].values())
    return since, until


def elements(page: str, kind: str) -> list[str]:
    """Return the text of all elements of a class, with plain spaces."""
    found = re.findall(rf'<(\w+) class="{kind}">(.*?)</\1>', page, re.DOTALL)
    return [text_of(element) for _, element in found]


def text_of(element: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", element)).replace("\N{NO-BREAK SPACE}", " ").strip()
