"""Costs of the same kinds of request before and after."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes import decimals
from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._coverage import window_share
from ledgerframes.analysis._groups import as_integers, known, single_group, sort_largest_first
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
COST = "total_traffic_cost"
Pair = tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]  # keys of a row of the result, and the requests before and after
VERSION_KEYS = (
    declare.text("package_id_before", "Package of the requests before. Missing if the kind is new."),
    declare.text("package_id_after", "Package of the requests after. Missing if the kind is gone."),
)
COMPARE = declare.Figure(
    "cost.compare",
    rows="One row per kind of request; sorted by the size of its change in total cost, largest first.",
    by={"template": grouping.TEMPLATE, "version": declare.Grouping((*grouping.TEMPLATE.keys, *VERSION_KEYS))},
    is_grouped=True,
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
        declare.choice("verdict", VERDICTS),
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
    by: Literal["template", "version"] = "template",
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
    _check(before, after, min_requests)
    kinds = grouping.TEMPLATE.key_names
    sides = [_rows(frames, kinds) for frames in (before, after)]
    pairs = _pairs(sides, kinds, by_version=by == "version")
    values = _columns(pairs, min_requests)
    values["coin_difference"] = _coin_difference(values["difference"], price, rate)
    coverages = [rows[COST].notna().mean() for rows in sides]
    total, differ = values["change"].sum(), abs(coverages[0] - coverages[1]) > MAX_COVERAGE_DIFFERENCE
    has_contribution = by == "template" and total != 0 and not differ
    values["contribution"] = [float(Fraction(int(each), int(total))) if has_contribution else np.nan for each in values["change"]]
    values["era"] = _eras_between(before, after, eras)
    values["coverage_time"] = np.min([window_share(frames) for frames in (before, after)])
    result = COMPARE.build(after, values, by)
    keys = COMPARE.grouping(by).key_names
    return sort_largest_first(result.assign(size=result["change"].abs()), "size", *keys).drop(columns="size")


def _check(before: Frames, after: Frames, min_requests: int) -> None:
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


def _pairs(sides: Sequence[pd.DataFrame], kinds: Sequence[str], *, by_version: bool) -> list[Pair]:
    """Return a pair per kind, or per combination of package ids, also where one side has none."""
    rows = pd.concat([side.assign(side=number) for number, side in enumerate(sides)], ignore_index=True)
    pairs: list[Pair] = []
    for values, part in rows.groupby(list(kinds), dropna=False, observed=True, sort=True):
        keys = dict(zip(kinds, values, strict=True))
        first, second = (part[part["side"] == side] for side in (0, 1))
        if not by_version:
            pairs.append((keys, first, second))
            continue
        pairs += [
            ({**keys, "package_id_before": a, "package_id_after": b}, before, after)
            for a, before in _by_package(first)
            for b, after in _by_package(second)
        ]
    return pairs


def _by_package(rows: pd.DataFrame) -> list[tuple[Any, pd.DataFrame]]:
    by_package: list[tuple[Any, pd.DataFrame]] = list(rows.groupby("package_id", dropna=False, sort=True))
    return by_package or [(None, rows)]


def _columns(pairs: Sequence[Pair], min_requests: int) -> dict[str, Any]:
    """Return the columns that need no price."""
    judged = [min(before[COST].count(), after[COST].count()) >= min_requests for _, before, after in pairs]
    rows = [_row(*pair, is_judged, max(1, sum(judged))) for pair, is_judged in zip(pairs, judged, strict=True)]
    names = [column.name for column in (*grouping.TEMPLATE.keys, *VERSION_KEYS, *COMPARE.columns)]
    table = pd.DataFrame(rows, columns=[*names, "coverage", "coverage_bytes"], dtype="object")
    integers = [column.name for column in COMPARE.columns if column.dtype == declare.INTEGER]
    return {**table, **{name: as_integers(table[name].tolist(), name) for name in integers}}


def _row(keys: dict[str, Any], before: pd.DataFrame, after: pd.DataFrame, is_judged: bool, judged_count: int) -> dict[str, Any]:
    """Return the figures of one kind, or of two of its versions."""
    first, second = (rows[COST].dropna().astype("int64") for rows in (before, after))
    compared: tuple[Any, Any] = (first, second) if is_judged else ([], [])
    difference, strict = (difference_of_percentiles(*compared, 50, confidence=1 - LEVEL / number) for number in (1, judged_count))
    (median_before, p95_before), (median_after, p95_after) = (
        [percentile(costs, percent).value for percent in (50, 95)] for costs in (first, second)
    )
    both = pd.concat([before[COST], after[COST]], ignore_index=True)
    return {
        **keys,
        "package_ids_before": ", ".join(sorted(before["package_id"].dropna().unique())) or None,
        "package_ids_after": ", ".join(sorted(after["package_id"].dropna().unique())) or None,
        "requests_before": len(first),
        "requests_after": len(second),
        "median_before": median_before,
        "median_after": median_after,
        "p95_before": p95_before,
        "p95_after": p95_after,
        **{name: getattr(difference, name) for name in ("difference", "low", "high")},
        "relative": difference.difference / median_before if difference.difference is not None and median_before else np.nan,
        "verdict": _verdict(before, after, difference),
        "is_clear_after_correction": _excludes_zero(strict) if is_judged else None,
        "change": sum(second.tolist()) - sum(first.tolist()),
        "coverage": both.notna().mean(),
        "coverage_bytes": single_group(len(both)).coverage_bytes(both, known(both))[0],
    }


def _excludes_zero(difference: PercentileDifference) -> bool:
    return difference.low is not None and difference.high is not None and (difference.low > 0 or difference.high < 0)


def _verdict(before: pd.DataFrame, after: pd.DataFrame, difference: PercentileDifference) -> str:
    if before.empty or after.empty:
        return "new" if before.empty else "gone"
    if difference.difference is None:
        return "too few"
    if not _excludes_zero(difference):
        return "no clear change"
    return "dearer" if difference.low and difference.low > 0 else "cheaper"


def _coin_difference(differences: pd.Series, price: TrafficPrice | None, rate: NetworkRate | None) -> pd.Series:
    if price is None and rate is None:
        return pd.Series(pd.NA, index=differences.index, dtype=decimals.DTYPE)
    price, rate = require_traffic_price(price), require_price(rate, NetworkRate, "rate")
    if rate is None:
        raise UsageError("Pass rate= too, because coin_difference follows from price= and rate=.")
    require_one_currency(price, rate)
    return rate.coins(price.of_bytes(differences))
