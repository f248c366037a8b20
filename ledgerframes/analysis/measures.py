"""Counts, sums and percentiles of figures, as expressions of the engine.

Each measure is an aggregate over the rows of a group. Sums and counts are exact, and percentiles are values that occur.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledgerframes.statistics.percentiles import least_count

COST = "total_traffic_cost"
IS_KNOWN = "is_known"
IS_ACCEPTED = "verdict_result = 'VERDICT_RESULT_ACCEPTED'"
IS_REJECTED = "verdict_result = 'VERDICT_RESULT_REJECTED'"
IS_UNSPECIFIED = "verdict_result NOT IN ('VERDICT_RESULT_ACCEPTED', 'VERDICT_RESULT_REJECTED')"
IS_REJECTED_IN_TIME = "outcome = 'rejected'"
IS_TIMEOUT = "outcome = 'timed out (by latency)'"
PERCENTS = (50, 90, 95, 99)


@dataclass(frozen=True)
class Options:
    """Choices of the caller of a figure.

    Attributes
    ----------
    min_requests : int, optional
        Smallest number of values for which a percentile is shown (default: as many as support it).
    is_committed : bool
        Whether the frames cannot hold rejected requests.
    """

    min_requests: int | None = None
    is_committed: bool = False


class Measure:
    """One aggregate over the rows of a group."""

    description: str = ""

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        raise NotImplementedError

    def counts(self, options: Options) -> bool:
        """Return whether it is a count, which is 0 without rows. Other measures are then missing."""
        return False


@dataclass(frozen=True)
class Count(Measure):
    """The number of rows, or of those that meet a condition or have a value in a column."""

    where: str = ""
    of: str = "*"

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        return f"count({self.of}){_filter(self.where)}"

    def counts(self, options: Options) -> bool:
        """Return whether it is a count."""
        return True


@dataclass(frozen=True)
class TotalCount(Measure):
    """The sum of a column of counts, 0 without rows."""

    of: str

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        return f"coalesce(sum({self.of}), 0)"

    def counts(self, options: Options) -> bool:
        """Return whether it is a count."""
        return True


@dataclass(frozen=True)
class Total(Measure):
    """The sum of a column, missing without a known value."""

    of: str

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        return f"sum({self.of})"


@dataclass(frozen=True)
class PartTotal(Measure):
    """The sum of a column over the rows that meet a condition.

    Without such rows, it is 0 if another row has a known value, because nothing is unknown then. If no such row has a known
    value, it is missing, because unknown is not 0.
    """

    of: str
    where: str

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        has_no_part = f"count(*){_filter(self.where)} = 0 AND count({self.of}) > 0"
        return f"CASE\n    WHEN {has_no_part} THEN 0\n    ELSE sum({self.of}){_filter(self.where)}\nEND"


@dataclass(frozen=True)
class Largest(Measure):
    """The largest value of a column, or of the rows that meet a condition."""

    of: str
    where: str = ""

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        return f"max({self.of}){_filter(self.where)}"


@dataclass(frozen=True)
class Percentile(Measure):
    """A percentile by nearest rank, missing with too few values."""

    of: str
    percent: int

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        least = least_count(self.percent) if options.min_requests is None else options.min_requests
        return f"CASE WHEN count({self.of}) >= {least} THEN {quantile(self.of, self.percent)} END"


@dataclass(frozen=True)
class Values(Measure):
    """All values of a column, or those of the rows that meet a condition, in any order.

    They are no column of the result, so `description` says in the query what becomes of them.
    """

    of: str
    where: str
    description: str

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        return f"list({self.of}){_filter(self.where)}"


@dataclass(frozen=True)
class Expression(Measure):
    """Any other aggregate."""

    sql: str

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        return self.sql


@dataclass(frozen=True)
class UnlessCommitted(Measure):
    """A measure of rejected requests, which is missing, not 0, if the frames cannot hold any."""

    measure: Measure

    def expression(self, options: Options) -> str:
        """Return the aggregate in SQL."""
        return "NULL::BIGINT" if options.is_committed else self.measure.expression(options)

    def counts(self, options: Options) -> bool:
        """Return whether it is a count."""
        return not options.is_committed and self.measure.counts(options)


@dataclass(frozen=True)
class Ratio(Measure):
    """One measure divided by another, missing where either is missing or the second is 0.

    It is not an aggregate of rows. It names measures of ``groups``, which has one row per group, and of ``overall``, which
    stands for all rows together.
    """

    part: str
    whole: str

    def expression(self, options: Options) -> str:
        """Return the ratio in SQL."""
        return f"CASE WHEN {self.whole} > 0 THEN {self.part}::DOUBLE / {self.whole}::DOUBLE END"


@dataclass(frozen=True)
class CoverageOfBytes(Measure):
    """Known bytes over known and estimated unknown ones.

    A row with an unknown cost counts as the median of its group, or of all rows if its group has no known cost. Parts of groups
    have no median. Like :class:`Ratio`, it names measures of its group.
    """

    def expression(self, options: Options) -> str:
        """Return the ratio in SQL."""
        known = "coalesce(groups.known_bytes, 0)::DOUBLE"
        median = "coalesce(groups.median_bytes, overall.median_bytes)::DOUBLE"
        unknown = f"(groups.row_count - groups.known_rows)::DOUBLE * {median}"
        return (
            "CASE\n"
            "    WHEN groups.is_part THEN NULL\n"
            "    WHEN groups.row_count = groups.known_rows THEN CASE WHEN groups.row_count > 0 THEN 1::DOUBLE END\n"
            f"    WHEN {known} + {unknown} > 0 THEN {known} / ({known} + {unknown})\n"
            "END"
        )


def quantile(of: str, percent: int) -> str:
    """Return the percentile of a column in SQL.

    All percentiles of a column are one aggregate, so that DuckDB keeps the values once. It cannot spill them to disk.
    """
    shares = ", ".join(f"{each / 100:.2f}" for each in PERCENTS)
    return f"quantile_disc({of}, [{shares}])[{PERCENTS.index(percent) + 1}]"


# Measures that the coverage of bytes needs.
BYTES: dict[str, Measure] = {"known_bytes": Total(COST), "median_bytes": Expression(quantile(COST, 50))}


def _filter(where: str) -> str:
    return f" FILTER (WHERE {where})" if where else ""
