"""Costs of the same kinds of request before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes import decimals
from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._coverage import window_share
from ledgerframes.analysis._groups import as_integers, single_group
from ledgerframes.analysis._requests import requests, root_templates
from ledgerframes.analysis.eras import breaks_between
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.money import NetworkRate, TrafficPrice, require_one_currency, require_price, require_traffic_price
from ledgerframes.statistics import PercentileDifference, difference_of_percentiles, percentile
from ledgerframes.statistics.differences import LEAST_COUNT

VERDICTS = ("dearer", "cheaper", "no clear change", "too few", "new", "gone")
LEVEL = 0.05
MAX_COVERAGE_DIFFERENCE = 0.01
VERSION_KEYS = (
    declare.text("package_id_before", "Package of the requests before. Missing if the kind is new."),
    declare.text("package_id_after", "Package of the requests after. Missing if the kind is gone."),
)
COMPARE = declare.Figure(
    "cost.compare",
    rows="One row per kind of request; sorted by the size of its change in total cost, largest first.",
    by={"template": grouping.TEMPLATE, "version": declare.Grouping((*grouping.TEMPLATE.keys, *VERSION_KEYS))},
    columns=(
        declare.text("package_ids_before", "Packages before, separated by commas. Missing without any."),
        declare.text("package_ids_after", "Packages after, separated by commas. Missing without any."),
        declare.count("requests_before", "Requests with a known cost before."),
        declare.count("requests_after", "Requests with a known cost after."),
        declare.cost("median_before", "Median cost before. Missing below 6 requests.", "Median traffic cost"),
        declare.cost("median_after", "Median cost after. Missing below 6 requests.", "Median traffic cost"),
        declare.cost("p95_before", "95th percentile before. Missing below 72 requests.", "95th percentile"),
        declare.cost("p95_after", "95th percentile after. Missing below 72 requests.", "95th percentile"),
        declare.cost("difference", "Median after minus median before. Missing with too few requests.", "Change of the median"),
        declare.cost("low", "Low end of the 95 % interval of the difference. Missing with it.", "Change of the median"),
        declare.cost("high", "High end of the 95 % interval of the difference. Missing with it.", "Change of the median"),
        declare.rate("relative", "Difference over the median before. Missing if that is 0.", declare.SHARE),
        declare.label("verdict", "dearer, cheaper, no clear change, too few, new, or gone."),
        declare.flag(
            "is_clear_after_correction",
            "Whether the interval excludes 0 also for all kinds together. Missing with the difference.",
        ),
        declare.amount("coin_difference", "Difference in coin, at the list price. Missing without prices.", "coin"),
        declare.cost("change", "Total cost after minus total cost before.", "Change of the total"),
        declare.rate(
            "contribution",
            "Change as a share of the change of all. Missing without one, or if coverage differs by over 0.01.",
            declare.SHARE,
        ),
        declare.text("era", "Eras that begin between the start of the first and the end of the second side. Missing without."),
    ),
)


@COMPARE.document
def compare(
    before: Frames,
    after: Frames,
    *,
    by: str = "template",
    min_requests: int = LEAST_COUNT,
    price: TrafficPrice | None = None,
    rate: NetworkRate | None = None,
    eras: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the cost of each kind of request before and after, with its difference.

    Parameters
    ----------
    before, after : Frames
        With the tables of :func:`ledgerframes.load_events`, of one network and one population.
    by : {"template", "version"}, optional
        Kind, template and choice of the first root node, or these for each pair of package ids. With versions, a request
        is in as many rows as the other side has versions.
    min_requests : int, optional
        Least number of requests on both sides for a difference, at least 30 (default: 30).
    price : TrafficPrice, optional
        List price of traffic, for the difference in coin.
    rate : NetworkRate, optional
        The network's own rate, for the difference in coin.
    eras : DataFrame, optional
        From :func:`ledgerframes.eras.table` (default: the main network's). A cost before a break and one after it differ for
        another reason than the app.

    Raises
    ------
    UsageError
        If the frames are of two networks or populations, or a price is of another kind.

    Source: traffic summaries and root nodes of history events. The interval is that of the percentile bootstrap with infinitely
    many resamples. Costs depend on the number of validators, so a change need not come from the app
    (docs/facts.md#costs-per-network).

    >>> noon = "2026-11-08T12:00:00Z"
    >>> compared = lf.cost.compare(day.between("2026-11-08", noon), day.between(noon, "2026-11-09"))
    >>> bool((compared["low"] <= compared["high"]).all())
    True
    """
    COMPARE.check(before, by)
    COMPARE.check(after, by)
    _check(before, after, by, min_requests)
    kinds = grouping.TEMPLATE.key_names
    sides = [_rows(frames, kinds) for frames in (before, after)]
    pairs = _pairs(sides, kinds, by_version=by == "version")
    values = _columns(pairs, min_requests)
    values["coin_difference"] = _coin_difference(values["difference"], price, rate)
    coverages = [rows["total_traffic_cost"].notna().mean() for rows in sides]
    total, differ = values["change"].sum(), abs(coverages[0] - coverages[1]) > MAX_COVERAGE_DIFFERENCE
    has_contribution = by == "template" and total != 0 and not differ
    values["contribution"] = [float(Fraction(int(each), int(total))) if has_contribution else np.nan for each in values["change"]]
    values["era"] = pd.Series([_eras_between(before, after, eras)] * len(pairs), dtype="str")
    result = COMPARE.build(after, {**values, **_tail(pairs, min(map(window_share, (before, after))))}, by)
    order = result["change"].abs().rename("size")
    keys = COMPARE.grouping(by).key_names
    ordered = pd.concat([order, result[keys]], axis=1).sort_values(["size", *keys], ascending=[False, *[True] * len(keys)])
    return result.loc[ordered.index].reset_index(drop=True)


def _check(before: Frames, after: Frames, by: str | None, min_requests: int) -> None:
    if by is None:
        raise UsageError("lf.cost.compare cannot group by=None. Choose from 'template', 'version'.")
    if min_requests < LEAST_COUNT:
        raise UsageError(f"min_requests= must be at least {LEAST_COUNT}, got {min_requests!r}.")
    declare.require_one_network(COMPARE.name, before, after)
    if before.population != after.population:
        raise UsageError(
            f"before= and after= must have one population, got {before.population!r} and {after.population!r}. "
            "Load both in the same manner."
        )


def _eras_between(before: Frames, after: Frames, eras: pd.DataFrame | None) -> str | None:
    windows = [frames.window for frames in (before, after) if frames.window is not None]
    if not windows:
        return None
    since, until = min(each.since for each in windows), max(each.until for each in windows)
    names = breaks_between(pd.Timestamp(since), pd.Timestamp(until), eras)["name"]
    return ", ".join(names.astype("str")) or None


def _rows(frames: Frames, kinds: Sequence[str]) -> pd.DataFrame:
    """Return the requests of one side, with the columns that name their kind."""
    rows = grouping.with_keys(frames, requests(frames), kinds)
    return rows.join(root_templates(frames, rows["update_id"], ["package_id"]))


@dataclass(frozen=True)
class Pair:
    """Keys of one row of the result, and the requests on both sides."""

    keys: dict[str, Any]
    before: pd.DataFrame
    after: pd.DataFrame

    @property
    def costs(self) -> tuple[pd.Series, pd.Series]:
        """Known costs on both sides [bytes]."""
        first, second = (rows["total_traffic_cost"].dropna().astype("int64") for rows in (self.before, self.after))
        return first, second


def _pairs(sides: Sequence[pd.DataFrame], kinds: Sequence[str], *, by_version: bool) -> list[Pair]:
    rows = pd.concat([side.assign(side=number) for number, side in enumerate(sides)], ignore_index=True)
    pairs = []
    for values, part in rows.groupby(list(kinds), dropna=False, observed=True, sort=True):
        keys = dict(zip(kinds, values, strict=True))
        pair = Pair(keys, part[part["side"] == 0], part[part["side"] == 1])
        pairs += _versions(pair) if by_version else [pair]
    return pairs


def _versions(pair: Pair) -> list[Pair]:
    """Return a pair for each combination of package ids, also where one side has none."""
    first, second = (_by_package(rows) for rows in (pair.before, pair.after))
    return [
        replace(pair, keys={**pair.keys, "package_id_before": a, "package_id_after": b}, before=before, after=after)
        for a, before in first
        for b, after in second
    ]


def _by_package(rows: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    by_package: list[tuple[Any, pd.DataFrame]] = list(rows.groupby("package_id", dropna=False, sort=True))
    return by_package or [(None, rows)]


def _columns(pairs: Sequence[Pair], min_requests: int) -> dict[str, Any]:
    """Return the columns that need no price."""
    costs = [pair.costs for pair in pairs]
    judged = [min(len(first), len(second)) >= min_requests for first, second in costs]
    differences, strict = (
        [
            difference_of_percentiles(*each, 50, confidence=confidence) if ok else None
            for each, ok in zip(costs, judged, strict=True)
        ]
        for confidence in (1 - LEVEL, 1 - LEVEL / max(1, sum(judged)))
    )
    medians, p95s = ([[percentile(side, percent).value for side in each] for each in costs] for percent in (50, 95))
    columns: dict[str, Any] = {
        "package_ids_before": pd.Series([_packages(pair.before) for pair in pairs], dtype="str"),
        "package_ids_after": pd.Series([_packages(pair.after) for pair in pairs], dtype="str"),
        "requests_before": [len(first) for first, _ in costs],
        "requests_after": [len(second) for _, second in costs],
        "median_before": [first for first, _ in medians],
        "median_after": [second for _, second in medians],
        "p95_before": [first for first, _ in p95s],
        "p95_after": [second for _, second in p95s],
        **{name: [each and getattr(each, name) for each in differences] for name in ("difference", "low", "high")},
        "relative": [
            each.difference / median[0] if each and each.difference is not None and median[0] else np.nan
            for each, median in zip(differences, medians, strict=True)
        ],
        "verdict": pd.Categorical(
            [_verdict(pair, each) for pair, each in zip(pairs, differences, strict=True)], categories=list(VERDICTS)
        ),
        "is_clear_after_correction": pd.array(
            [None if each is None else _excludes_zero(each) for each in strict], dtype="boolean"
        ),
        "change": [sum(second.tolist()) - sum(first.tolist()) for first, second in costs],
    }
    names = ["median_before", "median_after", "p95_before", "p95_after", "difference", "low", "high", "change"]
    return {**_key_columns(pairs), **columns, **{name: as_integers(columns[name], name) for name in names}}


def _key_columns(pairs: Sequence[Pair]) -> dict[str, pd.Series]:
    names = [*grouping.TEMPLATE.key_names, *(column.name for column in VERSION_KEYS)]
    columns = {name: pd.Series([pair.keys.get(name) for pair in pairs], dtype="str") for name in names}
    return {**columns, "kind": pd.Series(pd.Categorical(columns["kind"], categories=list(grouping.KINDS)))}


def _excludes_zero(difference: PercentileDifference) -> bool:
    return difference.low is not None and difference.high is not None and (difference.low > 0 or difference.high < 0)


def _verdict(pair: Pair, difference: PercentileDifference | None) -> str:
    if pair.before.empty or pair.after.empty:
        return "new" if pair.before.empty else "gone"
    if difference is None or difference.difference is None:
        return "too few"
    if not _excludes_zero(difference):
        return "no clear change"
    return "dearer" if difference.low and difference.low > 0 else "cheaper"


def _packages(rows: pd.DataFrame) -> str | None:
    return ", ".join(sorted(rows["package_id"].dropna().unique())) or None


def _coin_difference(differences: pd.Series, price: TrafficPrice | None, rate: NetworkRate | None) -> pd.Series:
    if price is None and rate is None:
        return pd.Series(pd.NA, index=differences.index, dtype=decimals.DTYPE)
    price, rate = require_traffic_price(price), require_price(rate, NetworkRate, "rate")
    if rate is None:
        raise UsageError("Pass rate= too, because coin_difference follows from price= and rate=.")
    require_one_currency(price, rate)
    return rate.coins(price.of_bytes(differences))


def _tail(pairs: Sequence[Pair], coverage_time: float) -> dict[str, Any]:
    """Return the coverage of both sides together."""
    both = [pd.concat([pair.before["total_traffic_cost"], pair.after["total_traffic_cost"]]) for pair in pairs]
    return {
        "coverage": [float(costs.notna().mean()) for costs in both],
        "coverage_bytes": [
            single_group(len(costs)).coverage_bytes(costs.reset_index(drop=True), costs.notna().to_numpy(bool))[0]
            for costs in both
        ],
        "coverage_time": np.full(len(pairs), coverage_time),
    }
