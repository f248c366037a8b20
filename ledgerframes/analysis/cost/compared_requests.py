"""The requests before and after of each kind, with their costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.analysis.groups import Integers, group_by, known
from ledgerframes.analysis.measures import COST
from ledgerframes.statistics.percentiles import percentile


@dataclass(frozen=True)
class Requests:
    """Some requests, with their known costs.

    Attributes
    ----------
    known_costs : array of int
        Known costs that occur, in ascending order [bytes].
    counts : array of int
        Number of requests with each of these costs.
    unknown : int
        Number of requests with an unknown cost.
    package_ids : sequence of str
        The known packages of the requests, each once, in alphabetical order.
    """

    known_costs: Integers
    counts: Integers
    unknown: int
    package_ids: Sequence[str]

    @property
    def costs(self) -> Integers:
        """The known cost of each request, in ascending order.

        It is as long as there are requests, so nothing keeps it.
        """
        return np.repeat(self.known_costs, self.counts)

    @property
    def known(self) -> int:
        """Number of requests with a known cost."""
        return int(self.counts.sum())

    @property
    def count(self) -> int:
        """Number of requests."""
        return self.known + self.unknown

    @property
    def total(self) -> int:
        """Sum of the known costs."""
        return sum(map(mul, self.known_costs.tolist(), self.counts.tolist()))

    @property
    def median(self) -> int | None:
        """Median of the known costs. None if there are none."""
        return percentile(self.costs, 50, min_count=1).value

    @property
    def known_share(self) -> float:
        """Share of the requests with a known cost, which is missing without requests."""
        return self.known / self.count if self.count else np.nan

    def known_share_of_bytes(self, median_of_all: int | None) -> float:
        """Return known bytes over known and estimated ones.

        A request with an unknown cost counts as the median of its kind, or of all requests if its kind has no known cost.
        """
        if not self.unknown:
            return 1.0 if self.count else np.nan
        median = self.median if self.known else median_of_all
        if median is None:
            return np.nan
        known_bytes = float(self.total)
        all_bytes = known_bytes + self.unknown * float(median)
        return known_bytes / all_bytes if all_bytes else np.nan


@dataclass(frozen=True)
class Pair:
    """The requests of one row of the result.

    Attributes
    ----------
    keys : dict
        The values that name the row.
    before, after : Requests
        The requests of each side.
    both : Requests
        The requests of both sides together.
    """

    keys: dict[str, Any]
    before: Requests
    after: Requests
    both: Requests


class Sides:
    """Each cost that occurs on the two sides, with its number of requests.

    It has arrays, because to slice a data frame takes longer than all else that is done for one kind.

    Parameters
    ----------
    before, after : DataFrame
        One row per cost, kind and package, with the number of requests.
    """

    def __init__(self, before: pd.DataFrame, after: pd.DataFrame) -> None:
        rows = pd.concat([before.assign(is_after=False), after.assign(is_after=True)]).sort_values(COST, ignore_index=True)
        self._rows = rows
        self._is_after: npt.NDArray[np.bool_] = rows["is_after"].to_numpy(dtype=bool)
        self._is_known = known(rows[COST])
        self._costs = rows[COST].to_numpy("int64", na_value=0)
        self._counts = rows["requests"].to_numpy("int64")
        self._packages = rows["package_id"].astype("object").where(known(rows["package_id"]), None).to_numpy()

    def all_requests(self) -> Pair:
        """Return all requests."""
        return self._pair({}, *self._split(np.arange(len(self._rows))))

    def kinds(self, names: Sequence[str]) -> Iterator[Pair]:
        """Yield the requests of each kind, even if one side has none."""
        for keys, before, after in self._groups(names):
            yield self._pair(keys, before, after)

    def versions(self, names: Sequence[str]) -> Iterator[Pair]:
        """Yield the requests of each kind, for each package before and each package after."""
        for keys, before, after in self._groups(names):
            for first, rows_before in self._by_package(before):
                for second, rows_after in self._by_package(after):
                    versions = {"package_id_before": first, "package_id_after": second}
                    yield self._pair({**keys, **versions}, rows_before, rows_after)

    def _groups(self, names: Sequence[str]) -> Iterator[tuple[dict[str, Any], Integers, Integers]]:
        """Yield the keys of each kind, with the positions of its rows before and after."""
        groups = group_by(self._rows, names)
        positions = np.argsort(groups.codes, kind="stable")
        edges = np.append(0, np.cumsum(groups.count()))
        for values, (start, end) in zip(groups.keys.itertuples(index=False), pairwise(edges), strict=True):
            yield dict(zip(names, values, strict=True)), *self._split(positions[start:end])

    def _split(self, positions: Integers) -> tuple[Integers, Integers]:
        is_after = self._is_after[positions]
        return positions[~is_after], positions[is_after]

    def _by_package(self, positions: Integers) -> list[tuple[str | None, Integers]]:
        """Return the positions of each package.

        The unknown one is the last. Without rows, there is one group without a package.
        """
        packages = self._packages[positions]
        names = sorted(set(packages), key=lambda name: (name is None, name))
        return [(name, positions[packages == name]) for name in names] or [(None, positions)]

    def _pair(self, keys: dict[str, Any], before: Integers, after: Integers) -> Pair:
        return Pair(keys, self._requests(before), self._requests(after), self._requests(np.sort(np.append(before, after))))

    def _requests(self, positions: Integers) -> Requests:
        """Return the requests at some positions, which are in ascending order."""
        is_known = self._is_known[positions]
        of_known, of_unknown = positions[is_known], positions[~is_known]
        packages = sorted({name for name in self._packages[positions] if name is not None})
        return Requests(self._costs[of_known], self._counts[of_known], int(self._counts[of_unknown].sum()), packages)
