"""The ledger of a participant, compared with the history and with its own offsets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._arguments import require_columns
from ledgerframes.analysis._coverage import timed_segments
from ledgerframes.analysis._groups import Flags, group_by, microseconds, ratio
from ledgerframes.analysis._requests import HEAD, PARTICIPANT_PREFIX, REJECTED, not_negative, positions, requests, take_or_missing
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.frames import Frames

OUTCOMES = ("equal", "different", "only in ledger", "only in history", "not comparable")
EQUAL, DIFFERENT, ONLY_LEDGER, ONLY_HISTORY, NOT_COMPARABLE = OUTCOMES
OUTSIDE = "outside the common time"
OTHERS = "request of another participant"
NO_VERDICT = "no verdict, so the participant is unknown"
TOPOLOGY = "topology transaction"
NOT_PAID = "no paid cost in the ledger"
NO_SUMMARY = "no traffic summary in the history"
WAS_REJECTED = "rejected"
FAILED = "failed command without an update id"
REASONS = (OUTSIDE, OTHERS, NO_VERDICT, TOPOLOGY, NOT_PAID, NO_SUMMARY, WAS_REJECTED, FAILED)

COST_COLUMNS = (
    declare.cost("paid_traffic_cost", "Cost that the participant paid. Missing for others' requests and for old ones."),
    declare.cost("total_traffic_cost", "Cost in the history. Missing without a traffic summary."),
    declare.integer("difference", "Paid minus total cost. Missing if one of them is missing.", "bytes"),
)
KEYS = (
    declare.choice("outcome", OUTCOMES),
    declare.choice("why", REASONS, "Reason for the outcome. Missing if there is none, or both costs are known."),
)
PAID_TRAFFIC = declare.Figure(
    "reconcile.paid_traffic",
    rows="One row per update or request in either source; sorted by record time and update id.",
    columns=(
        declare.text("update_id", "Update or confirmation request."),
        declare.integer("offset", "Offset on the participant's ledger. Missing if it is not there."),
        declare.time("record_time", "Sequencing time."),
        declare.flag("is_own", "Whether the participant submitted the request. Missing if neither source says so."),
        declare.label("verdict_result", "Verdict in the history. Missing without a verdict."),
        *COST_COLUMNS,
        *KEYS,
    ),
    condition="with a known cost in both sources",
    unit="participant's own requests in the common time",
)
TOTALS = declare.Figure(
    "reconcile.paid_traffic_totals",
    rows="One row per outcome and reason that occurs; sorted by outcome and reason, a missing reason last.",
    like="reconcile.paid_traffic",
    columns=(*KEYS, declare.count("updates", "Updates and requests.", "updates"), *COST_COLUMNS),
    condition="with a known cost in both sources",
    unit="participant's own requests in the common time",
)


@PAID_TRAFFIC.document
def paid_traffic(ledger: Frames, history: Frames, *, participant: str | None = None) -> pd.DataFrame:
    """Compare the cost that a participant paid with the cost in the history.

    Parameters
    ----------
    ledger : Frames
        From :func:`ledgerframes.load_updates`.
    history : Frames
        From :func:`ledgerframes.load_events`.
    participant : str, optional
        Uid of the participant (default: the owner of the ledger).

    Raises
    ------
    UsageError
        If `ledger` or `history` are not Frames, are of two networks, or the ledger has several owners.

    Notes
    -----
    Costs are compared in the time that both sources hold: what lies outside is not comparable. Only the participant's own
    requests have a paid cost (docs/facts.md#paid-cost-missing). A rejected request is on no ledger
    (docs/facts.md#survivorship), although it was paid for. Source of the costs: docs/facts.md#traffic-fields.

    >>> compared = lf.reconcile.paid_traffic(lf.load_updates(net), lf.load_events(net, since="2026-11-08"))
    >>> list(compared["outcome"].cat.categories)
    ['equal', 'different', 'only in ledger', 'only in history', 'not comparable']
    """
    PAID_TRAFFIC.check(ledger)
    PAID_TRAFFIC.check(history)
    declare.require_one_network(PAID_TRAFFIC.name, ledger, history)
    paid = ledger.read("ledger_updates", ["update_id", "offset", "record_time", "kind", "participant_id", "paid_traffic_cost"])
    rows = _full_join(paid, requests(history, ["verdict_result", "submitting_participant_uid"]))
    rows["is_own"] = _is_own(rows, participant or owner_of(paid, "Pass participant=."))
    rows["is_inside"] = _is_inside(rows["record_time"], _ledger_times(ledger, paid)) & _is_inside(
        rows["record_time"], _history_times(history)
    )
    rows["difference"] = rows["paid_traffic_cost"] - rows["total_traffic_cost"]
    rows = rows.join(_outcomes(rows)).sort_values(["record_time", "update_id"], ignore_index=True)
    is_own = (rows["is_own"].fillna(False) & rows["is_inside"]).to_numpy(dtype=bool)
    coverage = ratio([int(rows["difference"].notna()[is_own].sum())], [int(is_own.sum())])[0]
    return PAID_TRAFFIC.build(history, {**rows, "coverage": coverage})


@TOTALS.document
def paid_traffic_totals(
    ledger: Frames, history: Frames, *, participant: str | None = None, completions: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the totals of :func:`paid_traffic`, which account for every byte of both sources.

    Parameters
    ----------
    completions : DataFrame, optional
        From :func:`ledgerframes.load_completions` for the time of `history`. A failed command has a cost but no update id, so its
        cost is a total next to that of the rejected requests.

    Raises
    ------
    UsageError
        If `completions` are none.
    IntegrityError
        If the totals of the outcomes are not the totals of the sources.

    Source: docs/facts.md#traffic-fields, docs/facts.md#paid-cost-missing.

    >>> ledger, history = lf.load_updates(net), lf.load_events(net, since="2026-11-08")
    >>> totals = lf.reconcile.paid_traffic_totals(ledger, history)
    >>> int(totals["paid_traffic_cost"].sum()) == int(ledger.ledger_updates["paid_traffic_cost"].sum())
    True
    """
    failed = _failed_commands(completions)
    rows = pd.concat([paid_traffic(ledger, history, participant=participant), failed], ignore_index=True)
    groups = group_by(rows, ["outcome", "why"])
    costs = {column.name: groups.total(rows[column.name]) for column in COST_COLUMNS}
    paid = [ledger.read("ledger_updates", ["paid_traffic_cost"])["paid_traffic_cost"], failed["paid_traffic_cost"]]
    _require_total("paid_traffic_cost", costs, pd.concat(paid))
    total = not_negative(history.read("traffic", ["total_traffic_cost"])["total_traffic_cost"])
    _require_total("total_traffic_cost", costs, total)
    coverage = rows["coverage"].iloc[0] if len(rows) else np.nan
    return TOTALS.build(history, {**groups.keys, "updates": groups.count(), **costs, "coverage": coverage})


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
            "outcome": pd.Categorical([ONLY_LEDGER] * len(costs), list(OUTCOMES)),
            "why": pd.Categorical([FAILED] * len(costs), list(REASONS)),
        }
    )


def _require_total(name: str, costs: dict[str, pd.Series], source: pd.Series) -> None:
    compared, expected = int(costs[name].sum()), int(source.sum())
    if compared != expected:
        raise IntegrityError(
            f"The outcomes add up to {compared:,} bytes of {name}, but the source has {expected:,}. "
            "An update id can occur twice: run `ledgerframes store verify`."
        )


def _full_join(paid: pd.DataFrame, history: pd.DataFrame) -> pd.DataFrame:
    """Return one row per update id of either source, with the columns of both."""
    only_paid = paid[positions(paid["update_id"], history["update_id"]) < 0]
    rows = pd.concat([history.drop(columns="migration_id"), only_paid[["update_id", "record_time"]]], ignore_index=True)
    in_ledger = positions(rows["update_id"], paid["update_id"])
    for name in ("offset", "kind", "paid_traffic_cost"):
        rows[name] = take_or_missing(paid[name], in_ledger)
    rows["in_ledger"] = in_ledger >= 0
    rows["in_history"] = np.arange(len(rows)) < len(history)
    rows["has_verdict"] = rows["has_verdict"].astype("boolean").fillna(False)
    return rows.astype({"total_traffic_cost": declare.INTEGER, "paid_traffic_cost": declare.INTEGER})


def owner_of(updates: pd.DataFrame, advice: str) -> str | None:
    """Return the only participant of a ledger's updates, None without updates."""
    owners = updates["participant_id"].unique()
    if len(owners) > 1:
        raise UsageError(f"The ledger has {len(owners)} owners: {', '.join(owners)}. {advice}")
    return str(owners[0]) if len(owners) else None


def _is_own(rows: pd.DataFrame, participant: str | None) -> pd.Series:
    """Return whether the participant submitted or paid each request."""
    uids = rows["submitting_participant_uid"].astype("str").str.removeprefix(PARTICIPANT_PREFIX)
    is_own = (uids == (participant or "").removeprefix(PARTICIPANT_PREFIX)).astype("boolean").mask(uids.isna())
    return is_own.mask(is_own.isna() & rows["paid_traffic_cost"].notna(), True)


def _outcomes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the outcome and the reason of each row, from the first condition that it meets."""
    in_ledger, in_history, is_own = rows["in_ledger"], rows["in_history"], rows["is_own"].fillna(False)
    has_paid, has_total = rows["paid_traffic_cost"].notna(), rows["total_traffic_cost"].notna()
    cases = [
        (~rows["is_inside"], NOT_COMPARABLE, OUTSIDE),
        (in_ledger & (rows["kind"] == "topology").fillna(False), NOT_COMPARABLE, TOPOLOGY),
        (rows["is_own"].notna() & ~is_own, NOT_COMPARABLE, OTHERS),
        (~in_ledger & rows["is_own"].isna(), NOT_COMPARABLE, NO_VERDICT),
        (~in_ledger & (rows["verdict_result"] == REJECTED).fillna(False), ONLY_HISTORY, WAS_REJECTED),
        (~in_ledger, ONLY_HISTORY, ""),
        (~in_history, ONLY_LEDGER, ""),
        (~has_paid, NOT_COMPARABLE, NOT_PAID),
        (~has_total, NOT_COMPARABLE, NO_SUMMARY),
        ((rows["difference"] == 0).fillna(False), EQUAL, ""),
    ]
    conditions = [condition.to_numpy(dtype=bool) for condition, _, _ in cases]
    outcome = np.select(conditions, [OUTCOMES.index(each) for _, each, _ in cases], OUTCOMES.index(DIFFERENT))
    why = np.select(conditions, [REASONS.index(each) if each else -1 for _, _, each in cases], -1)
    values = {
        "outcome": pd.Categorical.from_codes(outcome, pd.Index(OUTCOMES)),
        "why": pd.Categorical.from_codes(why, pd.Index(REASONS)),
    }
    return pd.DataFrame(values, index=rows.index)


# -- time that a source holds -------------------------------------------------------------------------------------------


def _history_times(history: Frames) -> list[tuple[int, int]]:
    """Return the intervals of the history, both ends included."""
    covered = timed_segments(history)
    if history.window is None or covered.empty:
        return _extremes(history.read("verdicts", HEAD)["record_time"], history.read("updates", HEAD)["record_time"])
    ends = microseconds(covered["until"]) - 1
    return list(zip(microseconds(covered["since"]).tolist(), ends.tolist(), strict=True))


def _ledger_times(ledger: Frames, paid: pd.DataFrame) -> list[tuple[int, int]]:
    """Return the intervals of a ledger between its gaps, from first to last update."""
    covered = ledger.coverage
    gaps = covered[covered["status"] == "gap"] if "after" in covered else covered.iloc[:0]
    part = np.searchsorted(np.sort(gaps["through"].to_numpy(dtype="int64")), paid["offset"].to_numpy(dtype="int64"))
    return [interval for _, times in paid["record_time"].groupby(part) for interval in _extremes(times)]


def _extremes(*times: pd.Series) -> list[tuple[int, int]]:
    numbers = np.concatenate([microseconds(each) for each in times])
    return [(int(numbers.min()), int(numbers.max()))] if len(numbers) else []


def _is_inside(times: pd.Series, intervals: list[tuple[int, int]]) -> Flags:
    """Return which times are in one of the intervals, both ends included."""
    numbers = microseconds(times)
    is_inside: Flags = np.zeros(len(numbers), dtype=bool)
    for start, end in intervals:
        is_inside |= (numbers >= start) & (numbers <= end)
    return is_inside


# -- offset ranges ------------------------------------------------------------------------------------------------------

BOUNDS = declare.Figure(
    "reconcile.bounds",
    rows="One row per stored range; sorted by offset.",
    columns=(
        declare.ResultColumn("after", "int64", "Offset before the range.", "offset"),
        declare.ResultColumn("through", "int64", "Last offset of the range.", "offset"),
        declare.flag("is_pruned", "Whether the range was pruned before it could be fetched."),
        declare.count("gap_before", "Offsets between the ranges before and this one that no range covers.", "offsets"),
        declare.count("overlap_before", "Offsets of this range that ranges before cover as well.", "offsets"),
        declare.label("status", "final, provisional or gap."),
        declare.text("participant_id", "Participant whose ledger it is. Missing without an update."),
    ),
    condition="with a known update page",
    unit="offsets of this row",
)


@BOUNDS.document
def bounds(ledger: Frames) -> pd.DataFrame:
    """Return the offset ranges of a ledger, with the gaps and overlaps between them.

    Parameters
    ----------
    ledger : Frames
        From :func:`ledgerframes.load_updates`.

    Raises
    ------
    UsageError
        If `ledger` is not Frames of one participant's updates.

    Notes
    -----
    Offsets of one participant join as ``after < offset <= through`` (docs/facts.md#offsets-per-participant).

    >>> int(lf.reconcile.bounds(lf.load_updates(net))["gap_before"].sum())
    0
    """
    BOUNDS.check(ledger)
    covered = ledger.coverage
    if not {"after", "through"} <= set(covered) or covered["through"].isna().any():
        raise UsageError("lf.reconcile.bounds needs frames of a participant's ledger. Pass the result of lf.load_updates(net).")
    owner = owner_of(ledger.read("ledger_updates", ["participant_id"]), "Load the updates of each by itself.")
    rows = covered.astype({"after": "int64", "through": "int64"}).sort_values(["after", "through"], ignore_index=True)
    reached = rows["through"].cummax().shift(fill_value=int(rows["after"].min()) if len(rows) else 0)
    is_pruned = rows["status"] == "gap"
    values = {
        "after": rows["after"],
        "through": rows["through"],
        "is_pruned": is_pruned,
        "gap_before": (rows["after"] - reached).clip(lower=0),
        "overlap_before": (reached.clip(upper=rows["through"]) - rows["after"]).clip(lower=0),
        "status": rows["status"],
        "participant_id": owner,
        "coverage": (~is_pruned).astype("float64"),
    }
    return BOUNDS.build(ledger, values)
