"""What traffic costs, and who pays it: ``Frames`` -> tidy DataFrame, pure.

All costs are bytes, as integers, and missing where they are not known: history older than the traffic summaries has none, and
missing is not 0. So every result has a ``coverage``: the share of the requests behind a row whose cost is known. A sum with
a coverage below 1 is a lower bound.

A request is a verdict, an update whose verdict is missing (old history), or both. Percentiles are by nearest rank, so they are
costs that occurred.
"""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis._anatomy import ANATOMY, anatomy
from ledgerframes.analysis._columns import COVERAGE, LABEL, PERIOD, TEXT, ResultColumn, cost, count, shaped, share
from ledgerframes.analysis._envelopes import BY_VIEW, OVERHEAD, by_view, costs_without_views, overhead
from ledgerframes.analysis._groups import Groups, by_columns, known, periods, shares
from ledgerframes.analysis._requests import (
    first_roots,
    is_rejected,
    looked_up,
    per_party,
    positions,
    requests,
)
from ledgerframes.analysis._wasted import WASTED, wasted
from ledgerframes.frames import Frames

__all__ = [
    "COLUMNS",
    "anatomy",
    "by_participant",
    "by_party",
    "by_template",
    "by_view",
    "over_time",
    "overhead",
    "wasted",
]

OVER_TIME = (
    *PERIOD,
    count("requests", "Confirmation requests."),
    count("requests_with_cost", "Those of them whose cost is known."),
    cost("total_traffic_cost", "Cost of all requests."),
    cost("rejected_traffic_cost", "The part of it spent on rejected requests."),
    cost("overhead_traffic_cost", "The part of it spent on envelopes without views: mediator and root-hash messages."),
    cost("median_traffic_cost", "Cost of the middle request."),
    COVERAGE,
)
BY_PARTICIPANT = (
    ResultColumn("submitting_participant_uid", TEXT, "Validator that submitted and pays; missing where no verdict is known."),
    count("requests", "Confirmation requests."),
    count("rejected", "Those of them that were rejected."),
    cost("total_traffic_cost", "Cost of all of them."),
    share("Share of the cost of all participants."),
    cost("median_traffic_cost", "Cost of the middle request."),
    cost("p95_traffic_cost", "Cost that 95 % of the requests do not exceed."),
    cost("max_traffic_cost", "Cost of the dearest request."),
    COVERAGE,
)
BY_PARTY = (
    ResultColumn("party", TEXT, "Submitting party; missing where none is known."),
    count("requests", "Confirmation requests that it submitted, alone or with others."),
    count("sole_requests", "Those that it submitted alone."),
    count("rejected", "Those that were rejected."),
    cost("total_traffic_cost", "Cost of all of them, each counted in full."),
    cost("sole_traffic_cost", "Cost of those that it submitted alone."),
    cost("median_traffic_cost", "Cost of the middle request."),
    COVERAGE,
)
BY_TEMPLATE = (
    ResultColumn("kind", LABEL, "Transaction, reassignment, or not visible (rejected or private)."),
    ResultColumn("package_name", TEXT, "Package of the root node's template; missing where no tree is visible."),
    ResultColumn("template_name", TEXT, "Module and entity of the root node's template; missing where no tree is visible."),
    ResultColumn("choice", TEXT, "Choice that the root node exercises; missing for a create."),
    count("requests", "Confirmation requests."),
    cost("median_traffic_cost", "Cost of the middle request."),
    cost("p95_traffic_cost", "Cost that 95 % of the requests do not exceed."),
    cost("max_traffic_cost", "Cost of the dearest request."),
    cost("total_traffic_cost", "Cost of all of them."),
    share("Share of the cost of all requests."),
    COVERAGE,
)
COLUMNS: dict[str, tuple[ResultColumn, ...]] = {
    "over_time": OVER_TIME,
    "by_participant": BY_PARTICIPANT,
    "by_party": BY_PARTY,
    "by_template": BY_TEMPLATE,
    "by_view": BY_VIEW,
    "overhead": OVERHEAD,
    "wasted": WASTED,
    "anatomy": ANATOMY,
}
KINDS = ("transaction", "reassignment", "not visible")


def over_time(frames: Frames, every: str = "1h") -> pd.DataFrame:
    """What traffic cost, period by period.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates``, ``traffic`` and ``envelopes``.
    every : str
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"`` or ``"7d"``. Periods begin on full hours, days and Mondays, so
        the first and the last one may reach beyond the window.

    Returns
    -------
    DataFrame
        One row per period of the whole window, those without requests included (their costs are missing), sorted by time:
        ``period_start`` and ``period_end`` [UTC], ``requests``, ``requests_with_cost``, ``total_traffic_cost`` [bytes],
        ``rejected_traffic_cost`` [bytes], ``overhead_traffic_cost`` [bytes], ``median_traffic_cost`` [bytes], ``coverage``.

    Raises
    ------
    UsageError
        If `every` is not a period, or cuts the window into more than a million.

    Notes
    -----
    Source: the verdicts and traffic summaries of history events. Compare within one network only: costs depend on the
    number of its validators.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> len(lf.cost.over_time(frames, "1h"))
    24
    """
    rows = requests(frames, ["verdict_result"])
    cut = periods(frames, rows["record_time"], every)
    groups = cut.group(rows["record_time"])
    costs = rows["total_traffic_cost"]
    envelopes = frames.read("envelopes", ["record_time", "traffic_cost", "view_ids"])
    (median,) = groups.nearest_rank(costs, [50])
    return shaped(
        OVER_TIME,
        {
            **groups.keys,
            "requests": groups.count(),
            "requests_with_cost": groups.count(known(costs)),
            "total_traffic_cost": groups.total(costs),
            "rejected_traffic_cost": groups.part_total(costs, is_rejected(rows)),
            "overhead_traffic_cost": costs_without_views(cut.group(envelopes["record_time"]), envelopes),
            "median_traffic_cost": median,
            "coverage": groups.share_known(known(costs)),
        },
    )


def by_participant(frames: Frames) -> pd.DataFrame:
    """Who pays: the cost of traffic per submitting validator.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.

    Returns
    -------
    DataFrame
        One row per validator, and one for requests without a verdict, sorted by cost, dearest first:
        ``submitting_participant_uid``, ``requests``, ``rejected``, ``total_traffic_cost`` [bytes], ``share``,
        ``median_traffic_cost`` [bytes], ``p95_traffic_cost`` [bytes], ``max_traffic_cost`` [bytes], ``coverage``.

    Notes
    -----
    Source: ``submitting_participant_uid`` of the verdict, ``total_traffic_cost`` of the traffic summary.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> payers = lf.cost.by_participant(frames)
    >>> bool(payers["total_traffic_cost"].sum() == frames.traffic["total_traffic_cost"].sum())
    True
    """
    rows = requests(frames, ["submitting_participant_uid", "verdict_result"])
    groups = by_columns(rows, ["submitting_participant_uid"])
    result = shaped(BY_PARTICIPANT, {**groups.keys, **_figures(groups, rows), "rejected": groups.count(is_rejected(rows))})
    return _dearest_first(result, ["submitting_participant_uid"])


def by_party(frames: Frames) -> pd.DataFrame:
    """The cost of traffic per submitting party.

    A request that several parties submitted counts in full for each of them, so **the sums exceed the cost of all requests**.
    ``sole_traffic_cost`` holds what a party submitted alone.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.

    Returns
    -------
    DataFrame
        One row per party, and one for requests whose parties are not known, sorted by cost, dearest first: ``party``,
        ``requests``, ``sole_requests``, ``rejected``, ``total_traffic_cost`` [bytes], ``sole_traffic_cost`` [bytes],
        ``median_traffic_cost`` [bytes], ``coverage``.

    Notes
    -----
    Source: ``submitting_parties`` of the verdict. The validator pays, not the party: see :func:`by_participant`.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> parties = lf.cost.by_party(frames)
    >>> bool((parties["sole_requests"] <= parties["requests"]).all())
    True
    """
    rows = requests(frames, ["submitting_parties", "verdict_result"])
    expanded, is_sole = per_party(rows)
    groups = by_columns(expanded, ["party"])
    result = shaped(
        BY_PARTY,
        {
            **groups.keys,
            **_figures(groups, expanded),
            "sole_requests": groups.count(is_sole),
            "rejected": groups.count(is_rejected(expanded)),
            "sole_traffic_cost": groups.part_total(expanded["total_traffic_cost"], is_sole),
        },
    )
    return _dearest_first(result, ["party"])


def by_template(frames: Frames) -> pd.DataFrame:
    """What each kind of transaction costs, by the template and choice of its first root node.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates``, ``traffic`` and ``tree_events``.

    Returns
    -------
    DataFrame
        One row per root template and choice; requests without a visible update are one row of their own, and so are
        reassignments, both without a template name. Sorted by cost, dearest first: ``kind``, ``package_name``,
        ``template_name``, ``choice``, ``requests``, ``median_traffic_cost`` [bytes], ``p95_traffic_cost`` [bytes],
        ``max_traffic_cost`` [bytes], ``total_traffic_cost`` [bytes], ``share``, ``coverage``.

    Notes
    -----
    Source: tree nodes of depth 0 (the first of several), traffic summaries. A rejected request never shows its template.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> templates = lf.cost.by_template(frames)
    >>> bool(abs(templates["share"].sum() - 1) < 1e-9)
    True
    """
    rows = requests(frames)
    updates = frames.read("updates", ["update_id", "kind"])
    kinds = looked_up(updates["kind"].astype("str"), positions(rows["update_id"], updates["update_id"])).fillna("not visible")
    rows = rows.assign(kind=pd.Categorical(kinds, categories=KINDS))
    roots = first_roots(frames, rows["update_id"])
    rows = pd.concat([rows, roots], axis=1)
    names = ["kind", "package_name", "template_name", "choice"]
    groups = by_columns(rows, names)
    return _dearest_first(shaped(BY_TEMPLATE, {**groups.keys, **_figures(groups, rows)}), names)


# -- helpers ----------------------------------------------------------------------------------------------------------


def _figures(groups: Groups, rows: pd.DataFrame) -> dict[str, object]:
    """The figures that every grouping of requests has in common."""
    costs = rows["total_traffic_cost"]
    median, p95, largest = groups.nearest_rank(costs, [50, 95, 100])
    total = groups.total(costs)
    return {
        "requests": groups.count(),
        "median_traffic_cost": median,
        "p95_traffic_cost": p95,
        "max_traffic_cost": largest,
        "total_traffic_cost": total,
        "share": shares(total),
        "coverage": groups.share_known(known(costs)),
    }


def _dearest_first(result: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Sort by cost; names decide between equals, so that the order never depends on the order of the input."""
    ascending = [False, *[True] * len(names)]
    return result.sort_values(["total_traffic_cost", *names], ascending=ascending, na_position="last", ignore_index=True)
