"""Control totals of the cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, measure
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.cost._overhead import OVERHEAD
from ledgerframes.analysis.cost._spend import SPEND
from ledgerframes.analysis.cost._wasted import WASTED_AND_USEFUL
from ledgerframes.analysis.groups import as_integers
from ledgerframes.analysis.measures import BYTES, COST, Count, Measure, Total
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.envelopes import ENVELOPES_OF_KINDS
from ledgerframes.errors import IntegrityError
from ledgerframes.frames import Frames

PARTS = {
    "participant": "participants",
    "template": "kinds and templates",
    "period": "days",
    "party": "requests of one party, of several parties (counted once), and of none",
    "envelopes": "envelopes with views and without",
    "wasted": "wasted and useful cost",
}


def _queries(frames: Frames) -> list[Query]:
    return [Call(CONTROL, frames).query, _sums_query(frames)]


CONTROL = declare.Figure(
    "cost.control",
    caption="Totals that must agree",
    answer=answers.of_control,
    main_columns=("control", "parts", "sum_of_parts", "total_traffic_cost", "difference", "reason"),
    rows="One row per control total; sorted as in the description of ``control``.",
    columns=(
        declare.choice("control", PARTS),
        declare.text("parts", "Parts that add up."),
        declare.cost("sum_of_parts", "Sum of the parts."),
        declare.cost("total_traffic_cost", "Cost of all requests.", measure=Total(COST)),
        declare.cost("difference", "Total minus the sum of the parts."),
        declare.text("reason", "Reason for the difference. Missing if there is none."),
    ),
    unit="requests",
    joins=(ENVELOPES_OF_KINDS,),
    queries=_queries,
    others={
        **BYTES,
        **WASTED_AND_USEFUL,
        "requests_with_envelopes": Count(where=OVERHEAD.known),
        "with_views": OVERHEAD.others["with_views"],
        "without_views": OVERHEAD.others["without_views"],
    },
)
# The groups of ``cost.spend``, without what only its other columns need.
GROUPS = replace(SPEND, joins=())
SUMS = """
SELECT
    (SELECT sum(total_traffic_cost) FROM costs_of_participants) AS participant,
    (SELECT sum(total_traffic_cost) FROM costs_of_templates) AS template,
    (SELECT sum(total_traffic_cost) FROM costs_of_days) AS period,
    -- A shared request counts in full for each of its parties.
    (SELECT sum(part) FROM (
        SELECT unnest([
            single_party_traffic_cost,
            shared_traffic_cost,
            CASE WHEN party IS NULL THEN total_traffic_cost END
        ]) AS part
        FROM costs_of_parties
    )) AS party
"""


@CONTROL.register
def control(frames: Frames) -> pd.DataFrame:
    """Return sums of the parts of the cost next to its total.

    Participants, kinds with templates, days, parties, and wasted and useful cost each add up to the total. Envelopes need not,
    because a total can differ from the sum of its envelopes.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.

    Returns
    -------
    DataFrame
        One row per control total; sorted as in the description of ``control``.

        Columns:

        - ``control`` (category): participant, template, period, party, envelopes, or wasted.
        - ``parts`` (str): Parts that add up.
        - ``sum_of_parts`` (Int64, bytes): Sum of the parts.
        - ``total_traffic_cost`` (Int64, bytes): Cost of all requests.
        - ``difference`` (Int64, bytes): Total minus the sum of the parts.
        - ``reason`` (str): Reason for the difference. Missing if there is none.
        - ``coverage`` (float64, share of 1): Share of the requests with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    IntegrityError
        If parts that must add up do not. The error's ``failures`` contains the sums.

    Notes
    -----
    Source: the results of ``cost.spend``, ``cost.overhead`` and ``cost.wasted`` for the same frames.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> control = lf.cost.control(day)
    >>> bool((control["difference"].fillna(0) == 0)[control["reason"].isna()].all())
    True
    """
    CONTROL.check(frames)
    whole = measure(Call(CONTROL, frames)).overall
    total, parts = _integer(whole[COST]), _sums_of_parts(frames, whole)
    reasons = dict.fromkeys(name for name, part in parts.items() if part != total)
    if "envelopes" in reasons:
        has_fewer = whole["requests_with_envelopes"] < whole["known_rows"]
        reasons["envelopes"] = (
            "the envelopes of some requests are unknown" if has_fewer else "some totals are not the sum of envelopes"
        )
    failures = {name: f"{PARTS[name]} are {parts[name]}, the total is {total}" for name, why in reasons.items() if why is None}
    if failures:
        raise IntegrityError(
            f"Costs do not add up: {', '.join(failures.values())}. Report this as a defect of ledgerframes.", failures=failures
        )
    sum_of_parts = as_integers(list(parts.values()), "traffic_cost")
    totals = as_integers([total] * len(parts), COST)
    values = {
        "control": list(PARTS),
        "parts": list(PARTS.values()),
        "sum_of_parts": sum_of_parts,
        "total_traffic_cost": totals,
        "difference": totals - sum_of_parts,
        "reason": pd.Series([reasons.get(name) for name in parts], dtype="str"),
        **whole[["coverage", "coverage_bytes"]],
    }
    return CONTROL.build(frames, values)


def _sums_query(frames: Frames) -> Query:
    """Return the query of the sums over all groups of ``cost.spend``, for several groupings."""
    cost: dict[str, Measure] = {COST: Total(COST)}
    by_party = {column.name: column.measure for column in SPEND.grouping("party").extra if column.measure is not None}
    queries = {
        "costs_of_participants": Call(GROUPS, frames, "participant").parts_query([], cost),
        "costs_of_templates": Call(GROUPS, frames, "template").parts_query([], cost),
        "costs_of_days": Call(GROUPS, frames, every="1d").parts_query([], cost),
        "costs_of_parties": Call(GROUPS, frames, "party").parts_query([], cost | by_party),
    }
    groups = (Relation(name, "One row per group.", each.select, relations=each.relations) for name, each in queries.items())
    return Query(SUMS, tuple(groups))


def _sums_of_parts(frames: Frames, whole: pd.Series) -> dict[str, int | None]:
    """Return the sum of the parts of each control total."""
    (groups,) = run(frames, _sums_query(frames)).to_dict("records")
    sums = {**groups, "envelopes": _sum(whole, "with_views", "without_views"), "wasted": _sum(whole, *WASTED_AND_USEFUL)}
    return {name: _integer(sums[name]) for name in PARTS}


def _sum(whole: pd.Series, *names: str) -> int | None:
    """Return the sum of the measures that are not missing, or None if all are."""
    known = [int(whole[name]) for name in names if not pd.isna(whole[name])]
    return sum(known) if known else None


def _integer(number: Any) -> int | None:
    return None if pd.isna(number) else int(number)
