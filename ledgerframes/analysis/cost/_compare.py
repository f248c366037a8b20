"""Costs of the same kinds of request before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call
from ledgerframes.analysis._percentiles import FEW_REQUESTS, few_requests, needs, require_min_requests
from ledgerframes.analysis.arguments import require_one_network
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.cost.compare_totals import compare_totals
from ledgerframes.analysis.cost.compared_requests import Pair, Requests, Sides
from ledgerframes.analysis.eras import breaks_between
from ledgerframes.analysis.groups import as_integers, sort_largest_first
from ledgerframes.analysis.measures import COST, Count
from ledgerframes.analysis.state.traffic_prices import require_prices_of_rounds
from ledgerframes.engine import Query, run
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics.differences import LEAST_COUNT, PercentileDifference, difference_of_percentiles
from ledgerframes.statistics.percentiles import percentile
from ledgerframes.values import decimals
from ledgerframes.values.money import NetworkRate, TrafficPrice, require_one_currency, require_price

JUDGMENTS = ("dearer", "cheaper", "no clear change", "too few", "new", "gone")
LEVEL = 0.05
SIDES = ("before", "after")
NOTHING = np.zeros(0, dtype=np.int64)
PERCENTILES = tuple((name, percent, side) for name, percent in (("median", 50), ("p95", 95)) for side in SIDES)
VERSION_KEYS = (
    declare.text("package_id_before", "Package of the requests before. Missing if the kind is new."),
    declare.text("package_id_after", "Package of the requests after. Missing if the kind is gone."),
)
COMPARE = declare.Figure(
    "cost.compare",
    caption="Change of the traffic cost",
    answer=answers.of_compare,
    main_columns=(
        "change",
        "judgment",
        "requests_before",
        "requests_after",
        "median_before",
        "median_after",
        "low_all",
        "high_all",
    ),
    rows="One row per kind of request; sorted by the size of its change in total cost per day, largest first.",
    by={"template": grouping.TEMPLATE, "version": declare.Grouping((*grouping.TEMPLATE.keys, *VERSION_KEYS))},
    is_grouped=True,
    queries=lambda **arguments: _queries(**arguments),
    columns=(
        declare.text("package_ids_before", "Packages before, separated by commas. Missing if there are none."),
        declare.text("package_ids_after", "Packages after, separated by commas. Missing if there are none."),
        declare.count("requests_before", "Requests with a known cost before."),
        declare.count("requests_after", "Requests with a known cost after."),
        declare.rate("coverage_before", "Share of requests before with a known cost. Missing without any.", declare.SHARE),
        declare.rate("coverage_after", "Share of requests after with a known cost. Missing without any.", declare.SHARE),
        declare.cost("median_before", f"Median cost before. {needs(50)}", "Median traffic cost"),
        declare.cost("median_after", f"Median cost after. {needs(50)}", "Median traffic cost"),
        declare.cost("p95_before", f"95th percentile before. {needs(95)}", "95th percentile"),
        declare.cost("p95_after", f"95th percentile after. {needs(95)}", "95th percentile"),
        FEW_REQUESTS,
        declare.cost("difference", "Median after minus median before. Missing with too few requests.", "Change of the median"),
        declare.cost("low", "Low end of its 95 % interval. Missing where `difference` is.", "Change of the median"),
        declare.cost("high", "High end of its 95 % interval. Missing where `difference` is.", "Change of the median"),
        declare.cost(
            "low_all",
            "Low end of the 95 % interval for all judged kinds. Missing where `difference` is.",
            "Change of the median",
        ),
        declare.cost(
            "high_all",
            "High end of the 95 % interval for all judged kinds. Missing where `difference` is.",
            "Change of the median",
        ),
        declare.rate("relative", "Difference divided by the median before. Missing if that median is 0.", declare.SHARE),
        declare.choice(
            "judgment",
            JUDGMENTS,
            "dearer or cheaper if the interval for all judged kinds together excludes 0, no clear change, too few, new, or gone.",
        ),
        declare.amount("coin_difference", "Difference in coin, at the list price. Missing without prices.", "coin"),
        declare.cost(
            "change",
            "Total cost after minus total cost before. Missing if the windows differ in length.",
            "Change of the traffic cost",
        ),
        declare.integer(
            "change_per_day",
            "Total cost per day after minus total cost per day before, rounded half up. Missing without two windows.",
            "bytes per day",
            "Change of the traffic cost per day",
        ),
        declare.rate(
            "contribution",
            "Share in the change of all kinds. Missing without a change, or with a reason in `not_comparable`.",
            declare.SHARE,
        ),
        declare.duration("length_before", "Length of the window before. Missing without a window."),
        declare.duration("length_after", "Length of the window after. Missing without a window."),
        declare.text("not_comparable", "Why the totals of the two sides do not compare: length or coverage. Missing if they do."),
        declare.text("era", "Eras that begin between the start before and the end after. Missing if none does."),
    ),
)


@COMPARE.register
def compare(
    before: Frames,
    after: Frames,
    *,
    by: Literal["template", "version"] = "template",
    min_requests: int | None = None,
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
        Kind, template and choice of the first root node, or these and each pair of package ids. By version, a request is in
        one row for each version of the other side.
    min_requests : int, optional
        Smallest number of requests for which a median, a percentile or a difference is shown (default: as many as support it,
        which are 6 for the median, 72 for p95 and 30 on both sides for the difference). A difference never rests on fewer.
        ``few_requests_for`` names the percentiles that rest on fewer than these.
    price : TrafficPrice, optional
        List price of traffic on the side after, for the difference in coin.
    rate : NetworkRate, optional
        The network's own rate, for the difference in coin.
    eras : DataFrame, optional
        From :func:`ledgerframes.eras.table` (default: the main network's). Costs before and after a break differ for reasons
        other than the app.

    Returns
    -------
    DataFrame
        One row per kind of request; sorted by the size of its change in total cost per day, largest first.

        Columns:

        - ``kind`` (category, with by="template" or by="version"): transaction, reassignment, or not visible (rejected or
          private).
        - ``package_name`` (str, with by="template" or by="version"): Package of the root node. Missing without a visible tree.
        - ``template_name`` (str, with by="template" or by="version"): Module and entity of the root node. Missing without a
          visible tree.
        - ``choice`` (str, with by="template" or by="version"): Choice that the root node exercises. Missing for a create.
        - ``package_id_before`` (str, with by="version"): Package of the requests before. Missing if the kind is new.
        - ``package_id_after`` (str, with by="version"): Package of the requests after. Missing if the kind is gone.
        - ``package_ids_before`` (str): Packages before, separated by commas. Missing if there are none.
        - ``package_ids_after`` (str): Packages after, separated by commas. Missing if there are none.
        - ``requests_before`` (int64, requests): Requests with a known cost before.
        - ``requests_after`` (int64, requests): Requests with a known cost after.
        - ``coverage_before`` (float64, share of 1): Share of requests before with a known cost. Missing without any.
        - ``coverage_after`` (float64, share of 1): Share of requests after with a known cost. Missing without any.
        - ``median_before`` (Int64, bytes): Median cost before. Missing below 6 requests, or below min_requests=.
        - ``median_after`` (Int64, bytes): Median cost after. Missing below 6 requests, or below min_requests=.
        - ``p95_before`` (Int64, bytes): 95th percentile before. Missing below 72 requests, or below min_requests=.
        - ``p95_after`` (Int64, bytes): 95th percentile after. Missing below 72 requests, or below min_requests=.
        - ``few_requests_for`` (str): Percentiles that rest on fewer requests than support them. Missing if there are none, or
          without min_requests=.
        - ``difference`` (Int64, bytes): Median after minus median before. Missing with too few requests.
        - ``low`` (Int64, bytes): Low end of its 95 % interval. Missing where `difference` is.
        - ``high`` (Int64, bytes): High end of its 95 % interval. Missing where `difference` is.
        - ``low_all`` (Int64, bytes): Low end of the 95 % interval for all judged kinds. Missing where `difference` is.
        - ``high_all`` (Int64, bytes): High end of the 95 % interval for all judged kinds. Missing where `difference` is.
        - ``relative`` (float64, share of 1): Difference divided by the median before. Missing if that median is 0.
        - ``judgment`` (category): dearer or cheaper if the interval for all judged kinds together excludes 0, no clear change,
          too few, new, or gone.
        - ``coin_difference`` (decimal128(38, 10)[pyarrow], coin): Difference in coin, at the list price. Missing without
          prices.
        - ``change`` (Int64, bytes): Total cost after minus total cost before. Missing if the windows differ in length.
        - ``change_per_day`` (Int64, bytes per day): Total cost per day after minus total cost per day before, rounded half up.
          Missing without two windows.
        - ``contribution`` (float64, share of 1): Share in the change of all kinds. Missing without a change, or with a reason
          in `not_comparable`.
        - ``length_before`` (timedelta64[us], microseconds): Length of the window before. Missing without a window.
        - ``length_after`` (timedelta64[us], microseconds): Length of the window after. Missing without a window.
        - ``not_comparable`` (str): Why the totals of the two sides do not compare: length or coverage. Missing if they do.
        - ``era`` (str): Eras that begin between the start before and the end after. Missing if none does.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    UsageError
        If the frames are of two networks or populations, or a price is of another kind or differs from that of the rounds
        after.

    Notes
    -----
    Source: traffic summaries and root nodes of history events. The interval is that of the percentile bootstrap with infinitely
    many resamples. Among many kinds, some seem dearer by chance alone, so ``judgment`` follows from the interval for all
    kinds together. Costs depend on the number of validators, so a change is not necessarily due to the app
    (docs/facts.md#costs-per-network). If the windows differ in length, ``change_per_day`` compares the totals, and
    ``coverage_time`` is the part of the longer window that both cover.

    Picture, by :func:`ledgerframes.plot`: Change of the total cost [bytes, or bytes per day if the windows differ in
    length], one bar for each of the 15 kinds with the largest change, those with a clear change of the median among them,
    in a color. The last bar is the sum of all others. By version, where a request is in several rows, and without windows:
    the change of the median cost with its 95 % interval, which ``picture="cost.compare_medians"`` draws for any result.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> noon = "2026-11-08T12:00:00Z"
    >>> compared = lf.cost.compare(day.between("2026-11-08", noon), day.between(noon, "2026-11-09"))
    >>> bool((compared["low"] <= compared["high"]).all())
    True
    """
    COMPARE.check(before, by)
    COMPARE.check(after, by)
    _check(before, after, min_requests)
    kinds = grouping.TEMPLATE.key_names
    sides = Sides(*(run(frames, _costs_query(frames)) for frames in (before, after)))
    pairs = list(sides.versions(kinds) if by == "version" else sides.kinds(kinds))
    of_all = sides.all_requests()
    values = _columns(pairs, of_all.both.median, min_requests)
    values["coin_difference"] = _coin_difference(values["difference"], after, price, rate)
    spans = [Call(COMPARE, frames).bounds for frames in (before, after)]
    known_shares = [of_all.before.known_share, of_all.after.known_share]
    values |= compare_totals(values.pop("totals"), (before, after), spans, known_shares)
    if by == "version":  # a request is in several rows, so the changes do not add up
        values["contribution"] = np.nan
    values["era"] = _eras_between(before, after, eras)
    result = COMPARE.build(after, values, by)
    size = result["change_per_day"].fillna(result["change"]).abs()
    return sort_largest_first(result.assign(size=size), "size", *COMPARE.grouping(by).key_names).drop(columns="size")


def _check(before: Frames, after: Frames, min_requests: int | None) -> None:
    require_min_requests(min_requests)
    require_one_network(COMPARE.name, before, after)
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


def _costs_query(frames: Frames) -> Query:
    """Return the query of the costs that occur in each kind and package, with their counts."""
    call = Call(COMPARE, frames, "template")
    return call.parts_query(["package_id", COST], {"requests": Count()})


def _queries(before: Frames, after: Frames, **_: object) -> list[Query]:
    _check(before, after, None)
    query = _costs_query(after)
    return [_costs_query(before), replace(query, sources={name: (after, name) for name in query.tables})]


def _columns(pairs: Sequence[Pair], median_of_all: int | None, min_requests: int | None) -> dict[str, Any]:
    """Return the columns that need no price and no window, and the totals of both sides."""
    least = max(LEAST_COUNT, min_requests or 0)
    judged = [min(pair.before.known, pair.after.known) >= least for pair in pairs]
    rows = [_row(pair, is_judged, max(1, sum(judged)), min_requests) for pair, is_judged in zip(pairs, judged, strict=True)]
    names = [column.name for column in (*grouping.TEMPLATE.keys, *VERSION_KEYS, *COMPARE.columns)]
    table = pd.DataFrame(rows, columns=[*names, "coverage"], dtype="object")
    integers = [column.name for column in COMPARE.columns if column.dtype == declare.INTEGER]
    counts = [(f"{name}_{side}", table[f"requests_{side}"].to_numpy("int64"), percent) for name, percent, side in PERCENTILES]
    return {
        **table,
        **{name: as_integers(table[name].tolist(), name) for name in integers},
        "few_requests_for": few_requests(counts, min_requests),
        "totals": [(pair.before.total, pair.after.total) for pair in pairs],
        "coverage_bytes": [pair.both.known_share_of_bytes(median_of_all) for pair in pairs],
    }


def _row(pair: Pair, is_judged: bool, judged_count: int, min_requests: int | None) -> dict[str, Any]:
    """Return the figures of one kind, or of two of its versions."""
    sides = {"before": pair.before, "after": pair.after}
    costs = {side: requests.costs for side, requests in sides.items()}
    first, second = (costs[side] if is_judged else NOTHING for side in SIDES)
    difference, strict = (
        difference_of_percentiles(first, second, 50, confidence=1 - LEVEL / number) for number in (1, judged_count)
    )
    percentiles = {
        f"{name}_{side}": percentile(costs[side], percent, min_count=min_requests).value for name, percent, side in PERCENTILES
    }
    median_before = percentiles["median_before"]
    return {
        **pair.keys,
        **{f"package_ids_{side}": ", ".join(requests.package_ids) or None for side, requests in sides.items()},
        **{f"requests_{side}": requests.known for side, requests in sides.items()},
        **{f"coverage_{side}": requests.known_share for side, requests in sides.items()},
        **percentiles,
        **{name: getattr(difference, name) for name in ("difference", "low", "high")},
        "low_all": strict.low,
        "high_all": strict.high,
        "relative": difference.difference / median_before if difference.difference is not None and median_before else np.nan,
        "judgment": _judgment(pair.before, pair.after, strict),
        "coverage": pair.both.known_share,
    }


def _judgment(before: Requests, after: Requests, difference: PercentileDifference) -> str:
    """Return what the interval for all judged kinds together says of a kind."""
    if not before.count or not after.count:
        return "gone" if before.count else "new"
    if difference.low is None or difference.high is None:
        return "too few"
    return "dearer" if difference.low > 0 else "cheaper" if difference.high < 0 else "no clear change"


def _coin_difference(differences: pd.Series, after: Frames, price: TrafficPrice | None, rate: NetworkRate | None) -> pd.Series:
    if price is None and rate is None:
        return pd.Series(pd.NA, index=differences.index, dtype=decimals.DTYPE)
    price, rate = require_price(price, TrafficPrice, "price"), require_price(rate, NetworkRate, "rate")
    if price is None or rate is None:
        missing = "price" if price is None else "rate"
        raise UsageError(f"Pass {missing}= too, because coin_difference follows from price= and rate=.")
    require_one_currency(price, rate)
    require_prices_of_rounds(after, [price], "Pass that price, or compare with a part of the window.")
    return rate.coins(price.of_bytes(differences))
