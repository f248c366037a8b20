"""Costs of kinds of request next to their budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call
from ledgerframes.analysis.arguments import is_choice
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.groups import as_integers, ratio
from ledgerframes.analysis.measures import COST, IS_KNOWN, Count, Expression, Largest, Measure, Percentile
from ledgerframes.engine import Query, run
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.checks import is_integer

STATISTICS: dict[str, Measure] = {
    "median": Percentile(COST, 50),
    "p90": Percentile(COST, 90),
    "p95": Percentile(COST, 95),
    "p99": Percentile(COST, 99),
    "max": Largest(COST),
}
COUNTS: dict[str, Measure] = {"requests": Count(), "requests_with_cost": Count(where=IS_KNOWN)}
MEASURES: dict[str, Measure] = {
    **COUNTS,
    "value": STATISTICS["max"],
    "worst_update_id": Expression("arg_min(update_id, (-cost, record_time, update_id)) FILTER (is_known)"),
}


def _queries(frames: Frames, statistic: str, **_: object) -> list[Query]:
    return [_kinds_query(frames, statistic)]


BUDGET = declare.Figure(
    "cost.budget",
    caption="Requests and their budgets",
    answer=answers.of_budget,
    main_columns=("template_name", "choice", "value", "budget", "is_within", "requests"),
    rows="One row per kind in `budgets`, even without requests; sorted by template and choice.",
    columns=(
        grouping.TEMPLATE_NAME,
        grouping.CHOICE,
        declare.count("requests", "Requests whose first root node is of this kind."),
        declare.count("requests_with_cost", "Requests with a known cost."),
        declare.choice("statistic", STATISTICS),
        declare.cost("value", "Statistic of the known costs. Missing with too few requests.", "Traffic cost"),
        declare.cost("budget", "Highest value allowed.", "Budget"),
        declare.flag("is_within", "Whether the value is at most the budget. Missing where the value is."),
        declare.text("worst_update_id", "Request with the highest cost, or the first of several. Missing if no cost is known."),
    ),
    queries=_queries,
)
KINDS = replace(BUDGET, by={"kind": declare.Grouping((grouping.TEMPLATE_NAME, grouping.CHOICE), rows=grouping.TEMPLATE.rows)})


@BUDGET.register
def budget(
    frames: Frames, budgets: Mapping[str, int], *, network: str, statistic: Literal["median", "p90", "p95", "p99", "max"] = "p95"
) -> pd.DataFrame:
    """Return the cost of kinds of request next to their budgets.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    budgets : mapping of str to int
        Bytes allowed for each kind, ``"Module:Entity/Choice"``, or ``"Module:Entity"`` for a create.
    network : str
        Network that the budgets are for. The same transaction has a different cost on another network.
    statistic : {"median", "p90", "p95", "p99", "max"}, optional
        Statistic that the budget limits (default: p95). The median needs 6 requests, p90 36, p95 72, p99 368, max 1.

    Returns
    -------
    DataFrame
        One row per kind in `budgets`, even without requests; sorted by template and choice.

        Columns:

        - ``template_name`` (str): Module and entity of the root node. Missing without a visible tree.
        - ``choice`` (str): Choice that the root node exercises. Missing for a create.
        - ``requests`` (int64, requests): Requests whose first root node is of this kind.
        - ``requests_with_cost`` (int64, requests): Requests with a known cost.
        - ``statistic`` (category): median, p90, p95, p99, or max.
        - ``value`` (Int64, bytes): Statistic of the known costs. Missing with too few requests.
        - ``budget`` (Int64, bytes): Highest value allowed.
        - ``is_within`` (boolean): Whether the value is at most the budget. Missing where the value is.
        - ``worst_update_id`` (str): Request with the highest cost, or the first of several. Missing if no cost is known.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    UsageError
        If the frames are of another network, a budget is not a count of bytes, or the statistic is unknown.

    Notes
    -----
    Source: traffic summaries and root nodes of history events. Costs depend on the number of validators
    (docs/facts.md#costs-per-network).

    Picture, by :func:`ledgerframes.plot`: Value over budget [%], highest first, one bar for each of the 15 kinds with the
    highest, with a line at 100 %. Its texts say limit, because a budget can come from other weeks instead of from somebody
    who set it.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> kind = lf.cost.spend(day, by="template").query("kind == 'transaction' and choice.notna()").iloc[0]
    >>> limits = {f"{kind['template_name']}/{kind['choice']}": 1_000_000}
    >>> bool(lf.cost.budget(day, limits, network=day.network, statistic="max")["is_within"].all())
    True
    """
    BUDGET.check(frames)
    _check(frames, budgets, network, statistic)
    limits = sorted((*kind_of(name), int(limit)) for name, limit in budgets.items())
    costs = run(frames, _kinds_query(frames, statistic))
    costs = costs[
        costs["choice"] != ""
    ]  # In a budget, an empty choice stands for a create, so a choice without a name has no budget.
    names = pd.MultiIndex.from_arrays([costs["template_name"], costs["choice"].fillna("")])
    kinds = pd.MultiIndex.from_tuples([(template, choice) for template, choice, _ in limits], names=names.names)
    measured = costs.set_index(names)[list(MEASURES)].reindex(kinds).reset_index(drop=True)
    measured = measured.fillna(dict.fromkeys(COUNTS, 0))
    highest = as_integers([limit for *_, limit in limits], "budget")
    values: dict[str, Any] = {
        **measured,
        "template_name": [template for template, _, _ in limits],
        "choice": pd.Series([choice or None for _, choice, _ in limits], dtype="str"),
        "statistic": statistic,
        "budget": highest,
        "is_within": measured["value"] <= highest,
        "coverage": ratio(measured["requests_with_cost"], measured["requests"]),
    }
    return BUDGET.build(frames, values)


def _kinds_query(frames: Frames, statistic: str) -> Query:
    """Return the query of the costs of all kinds."""
    return Call(KINDS, frames, "kind").parts_query([], MEASURES | {"value": STATISTICS[statistic]})


def assert_budget(
    frames: Frames, budgets: Mapping[str, int], *, network: str, statistic: Literal["median", "p90", "p95", "p99", "max"] = "p95"
) -> None:
    """Raise an AssertionError unless every kind of request is within its budget.

    Parameters
    ----------
    frames, budgets, network, statistic
        As for :func:`ledgerframes.cost.budget`.

    Raises
    ------
    AssertionError
        If a kind exceeds its budget, or has too few requests for the statistic. The message has the table.
    UsageError
        If an argument is not valid.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> lf.cost.assert_budget(day, {"No.Such:Template/Choice": 5_000}, network=day.network)
    Traceback (most recent call last):
    AssertionError: 1 of 1 budgets is not kept:
    ...
    """
    result = budget(frames, budgets, network=network, statistic=statistic)
    broken = result[~result["is_within"].fillna(value=False).astype(bool)]
    if broken.empty:
        return
    names = ["template_name", "choice", "requests", "statistic", "value", "budget", "worst_update_id"]
    verb = "is" if len(broken) == 1 else "are"
    raise AssertionError(f"{len(broken)} of {len(result)} budgets {verb} not kept:\n{broken[names].to_string(index=False)}")


def _check(frames: Frames, budgets: Mapping[str, int], network: str, statistic: str) -> None:
    if not is_choice(statistic, STATISTICS):
        raise UsageError(f"Unknown statistic {statistic!r}. Choose from {', '.join(map(repr, STATISTICS))}.")
    if network != frames.network:
        raise UsageError(f"network= must be the network of the frames, {frames.network!r}, got {network!r}.")
    if not isinstance(budgets, Mapping) or not all(isinstance(name, str) for name in budgets):
        raise UsageError(f"budgets= must be bytes by kind, such as {{'Main:Asset/Transfer': 5_000}}, got {budgets!r}.")
    for name, limit in budgets.items():
        if not is_integer(limit) or limit < 0:
            raise UsageError(f"budgets= must be bytes of at least 0, got {limit!r} for {name!r}.")
        kind_of(name)


def kind_of(name: str) -> tuple[str, str]:
    """Return template and choice of a name, with an empty choice for a create."""
    template, has_choice, choice = name.partition("/")
    if ":" not in template.strip(":") or (has_choice and not choice):
        raise UsageError(f"budgets= must have names like 'Module:Entity/Choice', got {name!r}.")
    return template, choice
