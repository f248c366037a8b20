"""The ledger of a participant, compared with the history and with its own offsets."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._groupings import category_of
from ledgerframes.analysis.arguments import require_columns, require_one_network, require_participant
from ledgerframes.analysis.coverage import timed_segments
from ledgerframes.analysis.groups import group_by, microseconds, ratio
from ledgerframes.analysis.reconcile import _answers as answers
from ledgerframes.analysis.reconcile._answers import FAILED
from ledgerframes.analysis.requests import PARTICIPANT_PREFIX
from ledgerframes.datasets.schema import TIME
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.paid_costs import COMPARED_COSTS, HISTORY_TIME, LEDGER_PARTICIPANTS, LEDGER_PARTS, OWN_UPDATES
from ledgerframes.engine.query import Source
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.values import extents

OUTCOMES = ("equal", "different", "only in ledger", "only in history", "not comparable")
REASONS = (
    "another synchronizer",
    "outside the common time",
    "request of another participant",
    "no verdict, so the participant is unknown",
    "topology transaction",
    "no paid cost in the ledger",
    "no traffic summary in the history",
    "not among the chosen requests of the history",
    "rejected",
    FAILED,
)
Interval = tuple[int, int]  # first and last microsecond since 1970
TIMES = pa.schema({"first_time": TIME, "last_time": TIME})
TRAFFIC_SUMMARIES = Relation(
    "traffic_summaries",
    "One row per traffic summary with a known cost.",
    "FROM traffic WHERE total_traffic_cost >= 0",
    ("traffic",),
)
SELECT_ROWS = """SELECT
    update_id,
    "offset",
    record_time,
    is_own,
    is_inside,
    verdict_result,
    paid_traffic_cost,
    total_traffic_cost,
    difference,
    outcome,
    why
FROM compared_costs
ORDER BY record_time, update_id"""
SELECT_TOTALS = """SELECT
    outcome,
    why,
    count(*) AS updates,
    sum(paid_traffic_cost) AS paid_traffic_cost,
    sum(total_traffic_cost) AS total_traffic_cost,
    sum(difference) AS difference,
    -- Own requests in the common time, and those whose cost both sources know.
    count(*) FILTER (is_own AND is_inside) AS own,
    count(difference) FILTER (is_own AND is_inside) AS known
FROM compared_costs
GROUP BY ALL"""

COST_COLUMNS = (
    declare.cost("paid_traffic_cost", "Cost that the participant paid. Missing for requests of others and for old requests."),
    declare.cost("total_traffic_cost", "Cost in the history. Missing without a traffic summary."),
    declare.integer("difference", "Paid minus total cost. Missing if either is missing.", "bytes"),
)
KEYS = (
    declare.choice("outcome", OUTCOMES),
    declare.choice("why", REASONS, "Reason for the outcome. Missing if both costs are known, or there is no reason."),
)
PAID_TRAFFIC = declare.Figure(
    "reconcile.paid_traffic",
    caption="Costs of the ledger and of the history",
    rows="One row per update or request in either source; sorted by record time and update id.",
    columns=(
        declare.text("update_id", "Update or confirmation request."),
        declare.integer("offset", "Offset on the participant's ledger. Missing if the update is not on it."),
        declare.time("record_time", "Sequencing time."),
        declare.flag("is_own", "Whether the participant submitted the request. Missing if neither source says so."),
        declare.label("verdict_result", "Verdict in the history. Missing without a verdict."),
        *COST_COLUMNS,
        *KEYS,
    ),
    condition="with a known cost in both sources",
    unit="participant's own requests in the common time",
    queries=lambda ledger, history, participant: _queries(ledger, history, participant, SELECT_ROWS),
)
TOTALS = declare.Figure(
    "reconcile.paid_traffic_totals",
    caption="Costs of the ledger and of the history by outcome",
    answer=answers.of_paid_traffic_totals,
    rows="One row per outcome and reason that occurs; sorted by outcome and reason, missing reasons last.",
    columns=(*KEYS, declare.count("updates", "Updates and requests.", "updates"), *COST_COLUMNS),
    condition="with a known cost in both sources",
    unit="participant's own requests in the common time",
    queries=lambda ledger, history, participant, **_: _queries(ledger, history, participant, SELECT_TOTALS),
)


@PAID_TRAFFIC.register
def paid_traffic(ledger: Frames, history: Frames, *, participant: str | None = None) -> pd.DataFrame:
    """Compare the cost that a participant paid with the cost in the history.

    Parameters
    ----------
    ledger : Frames
        From :func:`ledgerframes.load_updates`.
    history : Frames
        From :func:`ledgerframes.load_events`.
    participant : str, optional
        Uid of the participant whose updates are compared (default: the owner of the ledger).

    Returns
    -------
    DataFrame
        One row per update or request in either source; sorted by record time and update id.

        Columns:

        - ``update_id`` (str): Update or confirmation request.
        - ``offset`` (Int64): Offset on the participant's ledger. Missing if the update is not on it.
        - ``record_time`` (datetime64[us, UTC]): Sequencing time.
        - ``is_own`` (boolean): Whether the participant submitted the request. Missing if neither source says so.
        - ``verdict_result`` (category): Verdict in the history. Missing without a verdict.
        - ``paid_traffic_cost`` (Int64, bytes): Cost that the participant paid. Missing for requests of others and for old
          requests.
        - ``total_traffic_cost`` (Int64, bytes): Cost in the history. Missing without a traffic summary.
        - ``difference`` (Int64, bytes): Paid minus total cost. Missing if either is missing.
        - ``outcome`` (category): equal, different, only in ledger, only in history, or not comparable.
        - ``why`` (category): Reason for the outcome. Missing if both costs are known, or there is no reason.
        - ``coverage`` (float64, share of 1): Share of the participant's own requests in the common time with a known cost in
          both sources. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `ledger` or `history` are not Frames, are of two networks, the ledger has several owners, or `participant` is none
        of them.

    Notes
    -----
    Costs are compared in the time that both sources cover, and that is final in the history, because costs at other times
    are not comparable. Only the participant's own requests have a paid cost (docs/facts.md#paid-cost-missing). A rejected
    request is on no ledger (docs/facts.md#survivorship), although the participant paid for it. Source of the costs:
    docs/facts.md#traffic-fields.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> compared = lf.reconcile.paid_traffic(lf.load_updates(net), lf.load_events(net, since="2026-11-08"))
    >>> list(compared["outcome"].cat.categories)
    ['equal', 'different', 'only in ledger', 'only in history', 'not comparable']
    """
    (query,) = _queries(ledger, history, participant, SELECT_ROWS)
    rows = run(ledger, query)
    rows["verdict_result"] = category_of("verdict_result", rows["verdict_result"], None)
    is_own = (rows["is_own"].fillna(False) & rows["is_inside"]).to_numpy(dtype=bool)
    coverage = ratio([int(rows["difference"].notna()[is_own].sum())], [int(is_own.sum())])[0]
    return PAID_TRAFFIC.build(history, {**rows, "coverage": coverage})


@TOTALS.register
def paid_traffic_totals(
    ledger: Frames, history: Frames, *, participant: str | None = None, completions: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the totals of :func:`paid_traffic`, which account for every byte of both sources.

    Parameters
    ----------
    ledger : Frames
        From :func:`ledgerframes.load_updates`.
    history : Frames
        From :func:`ledgerframes.load_events`.
    participant : str, optional
        Uid of the participant whose updates are compared (default: the owner of the ledger).
    completions : DataFrame, optional
        From :func:`ledgerframes.load_completions` for the time of `history`. A failed command has a cost but no update id, so
        the costs of failed commands are a total next to that of the rejected requests.

    Returns
    -------
    DataFrame
        One row per outcome and reason that occurs; sorted by outcome and reason, missing reasons last.

        Columns:

        - ``outcome`` (category): equal, different, only in ledger, only in history, or not comparable.
        - ``why`` (category): Reason for the outcome. Missing if both costs are known, or there is no reason.
        - ``updates`` (int64, updates): Updates and requests.
        - ``paid_traffic_cost`` (Int64, bytes): Cost that the participant paid. Missing for requests of others and for old
          requests.
        - ``total_traffic_cost`` (Int64, bytes): Cost in the history. Missing without a traffic summary.
        - ``difference`` (Int64, bytes): Paid minus total cost. Missing if either is missing.
        - ``coverage`` (float64, share of 1): Share of the participant's own requests in the common time with a known cost in
          both sources. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `ledger` or `history` are not Frames, are of two networks, the ledger has several owners, or `participant` is none
        of them.
    UsageError
        If `completions` are not completions.
    IntegrityError
        If the totals of the outcomes are not the totals of the sources.

    Notes
    -----
    Source: docs/facts.md#traffic-fields, docs/facts.md#paid-cost-missing.

    Picture, by :func:`ledgerframes.plot`: One bar per outcome and reason.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> ledger, history = lf.load_updates(net), lf.load_events(net, since="2026-11-08")
    >>> totals = lf.reconcile.paid_traffic_totals(ledger, history)
    >>> int(totals["paid_traffic_cost"].sum()) == int(ledger.ledger_updates["paid_traffic_cost"].sum())
    True
    """
    failed = _failed_commands(completions)
    owner = _owner(ledger, history, participant)
    sums = run(ledger, _costs_query(ledger, history, owner, SELECT_TOTALS))
    rows = pd.concat([sums, failed], ignore_index=True)
    rows = rows.assign(outcome=pd.Categorical(rows["outcome"], OUTCOMES), why=pd.Categorical(rows["why"], REASONS))
    groups = group_by(rows, ["outcome", "why"])
    costs = {column.name: groups.total(rows[column.name]) for column in COST_COLUMNS}
    paid, total = run(ledger, _sums_query(history, owner)).iloc[0]
    _require_total("paid_traffic_cost", costs, int(paid) + int(failed["paid_traffic_cost"].sum()))
    _require_total("total_traffic_cost", costs, int(total))
    coverage = ratio([sums["known"].sum()], [sums["own"].sum()])[0]
    return TOTALS.build(history, {**groups.keys, "updates": groups.total(rows["updates"]), **costs, "coverage": coverage})


def _queries(ledger: Frames, history: Frames, participant: str | None, select: str) -> list[Query]:
    return [_costs_query(ledger, history, _owner(ledger, history, participant), select)]


def _owner(ledger: Frames, history: Frames, participant: str | None) -> pa.Table:
    """Return the participant that pays, and whether the history has all requests of its time.

    The two sources and the participant are checked.
    """
    PAID_TRAFFIC.check(ledger)
    PAID_TRAFFIC.check(history)
    require_one_network(PAID_TRAFFIC.name, ledger, history)
    if participant is not None:
        require_participant(participant)
    owners = _owners_of(ledger)
    owner = (participant or _only_owner(owners, "Pass participant=.") or "").removeprefix(PARTICIPANT_PREFIX)
    if owners and owner not in [each.removeprefix(PARTICIPANT_PREFIX) for each in owners]:
        raise UsageError(f"Unknown participant {participant!r}. Choose from {', '.join(map(repr, owners))}.")
    has_all = history.population != "chosen" and not history.is_filtered
    return pa.table({"participant": [owner], "has_all": [has_all]})


def _costs_query(ledger: Frames, history: Frames, owner: pa.Table, select: str) -> Query:
    """Return a query of the updates and requests in two sources of one network."""
    times = common_times(_ledger_times(ledger, owner), _history_times(history))
    parameters = {"owner": owner, "common_times": pa.Table.from_pylist(times, TIMES)}
    return Query(select, (COMPARED_COSTS,), parameters, _sources(history))


def _sums_query(history: Frames, owner: pa.Table) -> Query:
    """Return the query of the total costs of both sources."""
    select = """
SELECT
    (SELECT coalesce(sum(paid_traffic_cost), 0) FROM own_updates) AS paid_traffic_cost,
    (SELECT coalesce(sum(total_traffic_cost), 0) FROM traffic_summaries) AS total_traffic_cost"""
    return Query(select.lstrip(), (OWN_UPDATES, TRAFFIC_SUMMARIES), {"owner": owner}, _sources(history))


def _sources(history: Frames) -> dict[str, Source]:
    return {name: (history, name) for name in ("verdicts", "updates", "traffic")}


def _failed_commands(completions: pd.DataFrame | None) -> pd.DataFrame:
    """Return the commands with a cost and without an update, as rows of :func:`paid_traffic`."""
    columns = ["status_code", "update_id", "paid_traffic_cost"]
    if completions is None:
        completions = pd.DataFrame({name: pd.Series(dtype="Int64") for name in columns})
    completions = require_columns(completions, columns, "completions= must be a result of lf.load_completions(net)")
    has_update = completions["update_id"].fillna("").astype("str") != ""
    costs = completions.loc[~has_update & completions["paid_traffic_cost"].notna(), "paid_traffic_cost"].astype("Int64")
    nothing = pd.array([pd.NA] * len(costs), "Int64")
    return pd.DataFrame(
        {
            "paid_traffic_cost": costs.array,
            "total_traffic_cost": nothing,
            "difference": nothing,
            "updates": pd.array([1] * len(costs), "Int64"),
            "outcome": "only in ledger",
            "why": FAILED,
        }
    )


def _require_total(name: str, costs: dict[str, pd.Series], expected: int) -> None:
    compared = int(costs[name].sum())
    if compared != expected:
        raise IntegrityError(
            f"The outcomes add up to {compared:,} bytes of {name}, but the source has {expected:,}. "
            "An update id can occur twice: run `ledgerframes store verify`."
        )


def owner_of(ledger: Frames, advice: str) -> str | None:
    """Return the only participant of a ledger's updates, or None without updates."""
    return _only_owner(_owners_of(ledger), advice)


def _only_owner(owners: list[str], advice: str) -> str | None:
    if len(owners) > 1:
        raise UsageError(f"The ledger has {len(owners)} owners: {', '.join(owners)}. {advice}")
    return owners[0] if owners else None


def _owners_of(ledger: Frames) -> list[str]:
    """Return the participants of a ledger's updates, in the order of their first offsets."""
    owners: list[str] = run(ledger, Query(f"FROM {LEDGER_PARTICIPANTS.name}", (LEDGER_PARTICIPANTS,)))["participant_id"].tolist()
    return owners


# -- time that a source holds -------------------------------------------------------------------------------------------


def _history_times(history: Frames) -> list[Interval]:
    """Return the intervals of the history that are final."""
    covered = timed_segments(history)
    if history.window is None or covered.empty:
        return _intervals(run(history, Query(f"FROM {HISTORY_TIME.name}", (HISTORY_TIME,))))
    covered = covered[covered["status"] == "final"]  # Requests of provisional time can still arrive.
    ends = microseconds(covered["until"]) - 1
    return list(zip(microseconds(covered["since"]).tolist(), ends.tolist(), strict=True))


def _ledger_times(ledger: Frames, owner: pa.Table) -> list[Interval]:
    """Return the intervals of a ledger between its gaps, from first to last update."""
    covered = ledger.coverage
    gaps = covered[covered["status"] == "gap"] if "after" in covered else covered.iloc[:0]
    through = pa.array([[int(each) for each in gaps.get("through", [])]], pa.list_(pa.int64()))
    parameters = {"pruned": pa.table({"through": through}), "owner": owner}
    return _intervals(run(ledger, Query(f"FROM {LEDGER_PARTS.name}", (LEDGER_PARTS,), parameters)))


def _intervals(rows: pd.DataFrame) -> list[Interval]:
    rows = rows.dropna(subset=["first_time"])
    return list(zip(microseconds(rows["first_time"]).tolist(), microseconds(rows["last_time"]).tolist(), strict=True))


def common_times(first: list[Interval], second: list[Interval]) -> list[dict[str, datetime]]:
    """Return the times that are in intervals of both, as separate intervals."""
    pairs = [(max(a, c), min(b, d)) for a, b in _merged(first) for c, d in _merged(second)]
    return [
        {"first_time": extents.from_microseconds(start), "last_time": extents.from_microseconds(end)}
        for start, end in pairs
        if start <= end
    ]


def _merged(intervals: list[Interval]) -> list[Interval]:
    """Return the intervals merged, so that no two of them touch."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start <= end:
            merged.append((start, end))
    return merged
