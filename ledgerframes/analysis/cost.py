"""Traffic costs by period, payer and purpose.

All costs are bytes, as integers. Without a traffic summary, as in older history, a cost is missing, never 0. A sum
with a ``known_share`` below 1 is therefore a lower bound. Percentiles are by nearest rank, so they are costs that occurred.

A request is a verdict, an update or a traffic summary, whichever of them exist.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Groups, Rates, known, ratio, shares
from ledgerframes.analysis._requests import is_rejected, missing_if_committed, positions, require_rejections
from ledgerframes.analysis._views import has_no_views, overhead_totals, views_by
from ledgerframes.analysis.anatomy import anatomy
from ledgerframes.frames import Frames

__all__ = ["anatomy", "overhead", "spend", "waste"]

SPEND = declare.Figure(
    "cost.spend",
    by={
        "participant": grouping.PARTICIPANT,
        "party": replace(
            grouping.PARTY,
            extra=(
                declare.count("single_party_requests", "Requests that the party submitted alone."),
                declare.cost("single_party_traffic_cost", "Cost of the requests that the party submitted alone."),
            ),
        ),
        "template": grouping.KIND_AND_TEMPLATE,
        "view": declare.Grouping(
            (
                grouping.TEMPLATE_NAME,
                grouping.CHOICE,
                declare.ResultColumn("view_id", declare.INTEGER, "Number of the view in its request, from 0."),
            ),
            (
                declare.count("envelopes", "Envelopes whose lowest view is this one.", "envelopes"),
                declare.ResultColumn(
                    "confirmers", declare.INTEGER, "Median number of parties that can confirm the view.", "parties"
                ),
                declare.ResultColumn("informees", declare.INTEGER, "Median number of parties that see the view.", "parties"),
            ),
        ),
        "result": grouping.RESULT,
    },
    columns=(
        declare.count("requests", "Confirmation requests."),
        declare.count("requests_with_cost", "Requests with a known cost."),
        declare.ResultColumn(
            "rejected",
            declare.INTEGER,
            "Rejected requests. Missing if these are committed updates.",
            "requests",
            "Rejected",
        ),
        declare.cost("total_traffic_cost", "Cost of all requests. By view, cost of the envelopes counted for the view."),
        declare.cost("rejected_traffic_cost", "Part of the cost that rejected requests caused. Missing like their number."),
        declare.cost("overhead_traffic_cost", "Part of the cost of envelopes without views."),
        declare.share("Share of the known cost of all requests. By party, the shares can add up to more than 1."),
        declare.cost("median", "Median cost per request.", "Median traffic cost"),
        declare.cost("p95", "95th percentile of the cost per request.", "95th percentile of the traffic cost"),
        declare.cost("max", "Highest cost of a request.", "Highest traffic cost"),
        declare.known_share("cost"),
    ),
    has_periods=True,
)
OVERHEAD_KINDS = ("with views", "without views")
OVERHEAD = declare.Figure(
    "cost.overhead",
    by={"participant": grouping.PARTICIPANT, "template": grouping.TEMPLATE, "view_count": grouping.VIEWS},
    columns=(
        declare.ResultColumn("kind", declare.LABEL, "with views, or without views: messages to the mediator and root hashes."),
        declare.count("envelopes", "Envelopes of this kind.", "envelopes"),
        declare.cost("traffic_cost", "Cost of these envelopes."),
        declare.share("Share of the cost of the envelopes of both kinds."),
        declare.known_share("cost"),
    ),
    has_periods=True,
)
WASTE = declare.Figure(
    "cost.waste",
    by={"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "hour": grouping.HOUR},
    columns=(
        declare.count("requests", "Confirmation requests."),
        declare.count("rejected", "Rejected requests."),
        declare.cost("wasted_traffic_cost", "Cost of the rejected requests. 0 with known costs but no rejected request."),
        declare.cost("total_traffic_cost", "Cost of all requests."),
        declare.share("Wasted part of the total cost.", title="Share of the cost that was wasted"),
        declare.share("Median share of all periods of the group. Missing with fewer than 7 periods.", "center"),
        declare.share("Center minus 3 median absolute deviations, at least 0.", "lower"),
        declare.share("Center plus 3 median absolute deviations, at most 1.", "upper"),
        declare.ResultColumn(
            "is_outside", declare.FLAG, "Whether the share is outside the limits. Missing without share or limits."
        ),
        declare.known_share("cost"),
    ),
    has_periods=True,
)
MIN_PERIODS_FOR_LIMITS = 7
DEVIATIONS = 3


@SPEND.document
def spend(frames: Frames, *, by: str | None = None, every: str | None = None) -> pd.DataFrame:
    """Return the traffic cost of all requests, per group and per period.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {None, "participant", "party", "template", "view", "result"}, optional
        Submitting participant, who pays. Submitting party, where a request of several parties counts in full for each.
        Kind, and template and choice of the first root node; a rejected request never shows its template. View of each
        template and choice, where an envelope counts once, for the lowest of its views. Verdict.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours,
        days, Mondays or months.

    Returns
    -------
    DataFrame
        One row per period and group, periods without requests included; sorted by time, then by total cost, highest first.

    Notes
    -----
    Source: verdicts, traffic summaries and tree nodes of history events. Compare within one network only: costs depend on
    the number of its validators (docs/facts.md#costs-per-network).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> len(lf.cost.spend(day, every="1h"))
    24
    >>> payers = lf.cost.spend(day, by="participant")
    >>> bool(payers["total_traffic_cost"].sum() == day.traffic["total_traffic_cost"].sum())
    True
    """
    keys = SPEND.check(frames, by).key_names
    if by == "view":
        rows, groups = views_by(frames, keys, every, ["verdict_result"])
        is_known = rows["is_known"].to_numpy(dtype=bool)
    else:
        rows, groups = grouping.requests_by(frames, keys, every, ["verdict_result"])
        is_known = known(rows["total_traffic_cost"])
    costs, rejected = rows["total_traffic_cost"], is_rejected(rows)
    once = ~rows["request"].duplicated() if by == "party" else slice(None)
    total = groups.total(costs)
    median, p95, largest = groups.percentiles(costs, [50, 95, 100])
    values = {
        **groups.keys,
        "requests": groups.count(),
        "requests_with_cost": groups.count(is_known),
        "rejected": missing_if_committed(frames, groups.count(rejected)),
        "total_traffic_cost": total,
        "rejected_traffic_cost": missing_if_committed(frames, groups.masked_total(costs, rejected)),
        "overhead_traffic_cost": overhead_totals(frames, rows, groups, keys, every),
        "share": shares(total, costs[once].sum(min_count=1)),
        "median": median,
        "p95": p95,
        "max": largest,
        "known_share": groups.known_share(is_known),
    }
    if by == "party":
        is_single = rows["is_single_party"].to_numpy(dtype=bool)
        values["single_party_requests"] = groups.count(is_single)
        values["single_party_traffic_cost"] = groups.masked_total(costs, is_single)
    if by == "view":
        values["envelopes"] = groups.total(rows["envelopes"]).fillna(0)
        values["confirmers"], values["informees"] = (
            groups.percentiles(rows[name], [50])[0] for name in ("confirmers", "informees")
        )
    return _sort_by_cost(SPEND.build(values, by, every=every), keys, every)


@OVERHEAD.document
def overhead(frames: Frames, *, by: str | None = None, every: str | None = None) -> pd.DataFrame:
    """Return the cost of envelopes with views, and of those without.

    Envelopes without views are messages to the mediator and root hashes.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {None, "participant", "template", "view_count"}, optional
        Submitting participant, template and choice of the first root node, or number of views of the request.
    every : str, optional
        Length of a period, such as ``"1h"`` or ``"1d"``.

    Returns
    -------
    DataFrame
        Two rows per period and group; sorted by time and group, envelopes with views first.

    Notes
    -----
    Source: the envelopes of traffic summaries. An envelope whose views the history service could not match looks as if it
    carried none, so the overhead is an upper bound (docs/facts.md#envelopes-without-views).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> lf.cost.overhead(day)["kind"].tolist()
    ['with views', 'without views']
    """
    keys = OVERHEAD.check(frames, by).key_names
    rows, groups = grouping.requests_by(frames, keys, every)
    envelopes = frames.read("envelopes", ["update_id", "traffic_cost", "view_ids"])
    owners = positions(envelopes["update_id"], rows["update_id"])
    envelopes, owners = envelopes[owners >= 0].reset_index(drop=True), owners[owners >= 0]
    kinds = pd.DataFrame({"kind": pd.Categorical(OVERHEAD_KINDS)})
    pairs = groups.keys.merge(kinds, how="cross") if len(groups.keys.columns) else kinds
    by_kind = Groups(pairs, groups.codes[owners] * 2 + has_no_views(envelopes))
    total = by_kind.total(envelopes["traffic_cost"])
    both = total.groupby(np.arange(len(total)) // 2).transform("sum", min_count=1) if len(total) else total
    values = {
        **by_kind.keys,
        "envelopes": by_kind.count(),
        "traffic_cost": total,
        "share": ratio(total, both),
        "known_share": np.repeat(groups.known_share(known(rows["total_traffic_cost"])), 2),
    }
    return OVERHEAD.build(values, by, every=every)


@WASTE.document
def waste(frames: Frames, *, by: str | None = None, every: str | None = "1d", accept_survivorship: bool = False) -> pd.DataFrame:
    """Return the cost of rejected requests, with the limits of a control chart.

    Some waste is normal, a rise is not. The limits are the median share of all periods ± 3 median absolute deviations.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.
    by : {None, "participant", "party", "hour"}, optional
        Submitting participant, submitting party, or hour of the day [UTC]. Each group has its own limits.
    every : str, optional
        Length of a period, such as ``"1h"``, ``"1d"`` or ``"7d"``; None for the whole window in one row, without limits.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per period and group, periods without requests included; sorted by time and group.

    Raises
    ------
    CoverageError
        If the frames hold committed updates, so that the waste would be 0 by construction.

    Notes
    -----
    Source: verdicts with result rejected, traffic summaries (docs/facts.md#survivorship).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> hours = lf.cost.waste(day, every="1h")
    >>> len(hours), bool((hours["rejected"] <= hours["requests"]).all())
    (24, True)
    """
    keys = WASTE.check(frames, by).key_names
    require_rejections(frames, accept_survivorship, "the waste")
    rows, groups = grouping.requests_by(frames, keys, every, ["verdict_result"])
    costs, rejected = rows["total_traffic_cost"], is_rejected(rows)
    wasted, total = groups.masked_total(costs, rejected), groups.total(costs)
    wasted_share = ratio(wasted, total)
    center, lower, upper = _control_limits(wasted_share, groups, every)
    is_outside = pd.array((wasted_share < lower) | (wasted_share > upper), dtype="boolean")
    is_outside[np.isnan(wasted_share) | np.isnan(center)] = pd.NA
    values = {
        **groups.keys,
        "requests": groups.count(),
        "rejected": groups.count(rejected),
        "wasted_traffic_cost": wasted,
        "total_traffic_cost": total,
        "share": wasted_share,
        "center": center,
        "lower": lower,
        "upper": upper,
        "is_outside": is_outside,
        "known_share": groups.known_share(known(costs)),
    }
    return WASTE.build(values, by, every=every)


# -- helpers ------------------------------------------------------------------------------------------------------------


def _sort_by_cost(result: pd.DataFrame, keys: list[str], every: str | None) -> pd.DataFrame:
    """Sort by period, then by cost, then by name.

    The names make the order independent of the order of the input.
    """
    names = [*(["period_start"] if every else []), "total_traffic_cost", *keys]
    ascending = [name != "total_traffic_cost" for name in names]
    return result.sort_values(names, ascending=ascending, na_position="last", ignore_index=True)


def _control_limits(values: Rates, groups: Groups, every: str | None) -> tuple[Rates, Rates, Rates]:
    """Return center, lower and upper limit of each row.

    They are those of its group, over all periods.
    """
    period_count = groups.keys["period_start"].nunique() if every else 1
    by_group = values.reshape(period_count, -1).T if len(values) else values.reshape(0, 0)
    limits = np.array([_limits(group) for group in by_group]).reshape(-1, 3)
    center, lower, upper = np.tile(limits, (period_count, 1)).T if len(values) else np.empty((3, 0))
    return center, lower, upper


def _limits(values: Rates) -> tuple[float, float, float]:
    present = values[~np.isnan(values)]
    if len(present) < MIN_PERIODS_FOR_LIMITS:
        return np.nan, np.nan, np.nan
    center = float(np.median(present))
    spread = DEVIATIONS * float(np.median(np.abs(present - center)))
    return center, max(center - spread, 0.0), min(center + spread, 1.0)
