"""The sentence that answers with a result, also for results of one row, of unknown values and of nothing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.activity import _answers as activity
from ledgerframes.analysis.cost import _answers as cost
from ledgerframes.analysis.economy import _answers as economy
from ledgerframes.analysis.empty_results import NO_COST, NO_PROVIDER, NO_QUORUM, NO_RECORD
from ledgerframes.analysis.reconcile import _answers as reconcile
from ledgerframes.analysis.state import payloads
from ledgerframes.analysis.verdict import _answers as verdict

MONDAY = pd.Timestamp("2026-11-02", tz="UTC")
Answer = Callable[[pd.DataFrame], str]


def rows_of(*rows: dict[str, Any], columns: str = "") -> pd.DataFrame:
    """A result of some rows, or one of these columns without rows."""
    return pd.DataFrame(list(rows), columns=columns.split() or None)


@pytest.mark.parametrize(
    ("answer", "columns", "sentence"),
    [
        (activity.of_weights, "party weight", NO_RECORD),
        (activity.of_reconcile_totals, "outcome reason records", NO_RECORD),
        (activity.of_rewards, "round_number amount", activity.NO_ROUND),
        (activity.of_what_if, "party share_before share_after", activity.NO_WEIGHT),
        (cost.of_spend, "requests", NO_COST),
        (cost.of_anatomy, "part traffic_cost", "The cost of the envelopes of this request is not known."),
        (cost.of_estimate, "outcome actual estimated", "No accepted request has an estimated and an actual cost."),
        (cost.of_statement, "currency", NO_COST),
        (cost.of_journal, "debit", "No entry."),
        (economy.of_flows, "round_number", "No round in this window."),
        (economy.of_flows, "period_start", "No period in this window."),
        (economy.of_balance, "party balance", ""),
        (verdict.of_quorums, "parties share", NO_QUORUM),
        (verdict.of_quorums, "period_start parties share", ""),
    ],
)
def test_no_rows_say_what_there_is_none_of(answer: Answer, columns: str, sentence: str) -> None:
    assert answer(rows_of(columns=columns)) == sentence


# -- activity ---------------------------------------------------------------------------------------------------------------


def weights_of(*rounds: tuple[int, int, float | None, bool]) -> pd.DataFrame:
    """Weights of one app provider by round."""
    names = ("round_number", "weight", "share", "is_partial")
    return pd.DataFrame([{"party": "app", **dict(zip(names, each, strict=True))} for each in rounds])


def test_shares_of_activity_by_round() -> None:
    result = weights_of((7, 10, 0.25, False), (8, 30, 0.5, False), (9, 5, 0.9, True))
    assert activity.of_weights(result) == (
        "The share of app was between 25.0 % (round 7) and 50.0 % (round 8), with weight in 2 of 2 whole rounds."
    )
    other = rows_of({"party": "other", "round_number": 1, "weight": 1, "share": 1.0, "is_partial": False})
    assert activity.of_weights(pd.concat([weights_of((9, 5, 0.9, True)), other])) == (
        "The largest app provider has no record in a whole period of this window."
    )


def test_the_share_of_the_largest_needs_one_row_with_app_providers() -> None:
    assert activity.of_concentration(rows_of({"parties": 3}, {"parties": 4})) == ""
    assert activity.of_concentration(rows_of({"parties": 0, "top_3": None})) == NO_PROVIDER
    assert activity.of_concentration(rows_of({"parties": 4, "top_5": 0.5})) == ""


def test_weights_that_follow_from_requests() -> None:
    equal = {"outcome": "equal", "reason": None, "records": 1}
    other = {"outcome": "different", "reason": "outside the window", "records": 1_200}
    assert activity.of_reconcile_totals(rows_of(equal)) == "1 weight is equal to the byte. Mismatches: none."
    assert activity.of_reconcile_totals(rows_of(equal, equal, other)) == (
        "2 weights are equal to the byte. Mismatches: 1,200 outside the window."
    )


def test_rewards_that_are_known_of_some_rounds_or_providers() -> None:
    known, unknown = ({"round_number": n, "amount": amount} for n, amount in ((1, Decimal("1200.5")), (2, None)))
    assert activity.of_rewards(rows_of(unknown, unknown)) == "None of 2 rounds has all its records and a known reward."
    assert activity.of_rewards(rows_of(known, unknown)) == (
        "1 of 2 rounds have all their records and a known reward. Together: 1,200.50 coin."
    )
    text = "No reward of a provider is known in these rounds."
    assert activity.of_rewards(rows_of({"party": "app", "amount": None, "below_threshold": None})) == text


def test_a_change_by_round_names_no_provider() -> None:
    assert activity.of_what_if(rows_of({"round_number": 1, "party": "app", "share_before": 0.5, "share_after": 0.6})) == ""


# -- cost -------------------------------------------------------------------------------------------------------------------


def test_a_total_whose_costs_are_all_known() -> None:
    assert cost.of_spend(rows_of({"requests": 2, "requests_with_cost": 2, "total_traffic_cost": 3_000})) == (
        "2 confirmation requests cost 3.00 kB."
    )


def test_the_only_known_group_has_a_share() -> None:
    row = {"party": "alice", "requests": 2, "total_traffic_cost": 3_000, "share": 1.0}
    assert cost.of_spend(rows_of(row, {**row, "party": None})) == "1 party, with 100 % of the known cost."


def test_an_overhead_of_groups_that_overlap_is_no_sum() -> None:
    assert cost.of_overhead(rows_of({"party": "alice", "kind": "with views", "traffic_cost": 1})) == ""


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        (["not a whole period"], "This window has no whole period, so there is no usual range."),
        (["too few weeks before"], "No period has a usual range: too few weeks before."),
        ([None], "No period has a usual range."),
    ],
)
def test_periods_without_a_usual_range(reasons: list[str | None], sentence: str) -> None:
    row = {"period_start": MONDAY, "upper": None, "is_above": None, "wasted_traffic_cost": 1, "rejected": 1}
    assert cost.of_wasted(pd.DataFrame([{**row, "reason": reason} for reason in reasons])) == sentence


def test_the_largest_envelope_of_a_request() -> None:
    envelopes = [{"part": "envelope", "traffic_cost": cost} for cost in (1_000, 3_000, None)]
    assert cost.of_anatomy(rows_of(*envelopes, {"part": "view", "traffic_cost": 9_000})) == (
        "2 envelopes cost 4.00 kB. The largest cost 3.00 kB, 75.0 % of it."
    )


def test_nothing_before_compares() -> None:
    text = "No request before has a known cost, so nothing compares."
    assert cost.of_compare(rows_of({"requests_before": 0, "judgment": "new"})) == text


def test_sums_of_parts_that_are_not_the_total() -> None:
    row = {"total_traffic_cost": 10, "difference": 0, "reason": None, "control": "parties"}
    assert cost.of_control(rows_of(row)) == "1 of 1 sum of parts is the total."
    others = [{**row, "difference": 5, "reason": "some overlap"}, {**row, "difference": None, "reason": "one is unknown"}]
    assert cost.of_control(rows_of(row, row, *others)) == (
        "2 of 4 sums of parts are the total. "
        "Not equal: parties, by 5 bytes, because some overlap; parties, because one is unknown."
    )


def test_estimates_next_to_actual_costs() -> None:
    row = {"outcome": "matched", "requests": 100, "over_10_percent": 30, "actual": 2_000, "estimated": 1_500}
    assert cost.of_estimate(rows_of(row, {**row, "outcome": "rejected"})) == (
        "100 requests cost 2.00 kB instead of the estimated 1.50 kB. 30.0 % (30 of 100) cost over a tenth more."
    )


def test_entries_debit_what_they_credit() -> None:
    debit = {"entry_id": "e1", "debit": Decimal("1000.10"), "credit": None, "currency_code": "USD"}
    credit = {"entry_id": "e1", "debit": None, "credit": Decimal("1000.10"), "currency_code": "USD"}
    assert cost.of_journal(rows_of(debit, credit)) == (
        "1 entry debits 1,000.10 USD and credits 1,000.10 USD, a difference of 0.00."
    )


# -- verdicts and the economy -------------------------------------------------------------------------------------------------


def test_the_only_group_with_a_median() -> None:
    medians = [pd.Timedelta("1.5s"), pd.NaT]
    assert verdict.of_latency(pd.DataFrame({"hour": [1, 2], "p50": medians})) == (
        "The median of the only group with enough accepted requests is 1.50 s."
    )


def test_few_different_quorums() -> None:
    result = pd.DataFrame({"parties": [["alice"], ["bob"]], "share": [0.75, 0.25]})
    assert verdict.of_quorums(result) == "2 different quorums, with 100 % of all quorums."


def test_balances_next_to_the_sums_of_the_network() -> None:
    row = {"party": "alice", "balance": Decimal("12.5"), "node_sums": 0, "differing_sums": 0, "is_lower_bound": False}
    assert economy.of_balance(rows_of(row)).startswith("1 party owns ")
    both = economy.of_balance(rows_of(row, {**row, "party": "bob", "node_sums": 3, "differing_sums": 1}))
    assert both.startswith("2 parties own ")
    assert both.endswith(" at the end. Of 3 sums of the network, 1 differs from the history.")
    assert economy.of_balance(rows_of({**row, "period_start": MONDAY})) == ""


# -- reconciliations and votes ------------------------------------------------------------------------------------------------


def test_nodes_that_have_no_hour_in_common() -> None:
    row = {"aspect": "presence", "equal": 1, "different": 2, "only_a": 3, "only_b": 0, "comparable_from": pd.NaT}
    assert reconcile.of_nodes(rows_of(row)) == (
        "The two nodes have 1 common request, with 5 differences in 1 aspect. No hour has enough common ids to compare."
    )
    assert reconcile.of_nodes(rows_of({**row, "period_start": MONDAY})) == ""


def test_a_copy_of_a_ledger_without_offsets() -> None:
    assert reconcile.of_bounds(rows_of(columns="after through")) == "The store has no offset of this ledger."


def test_votes_without_a_price() -> None:
    answer = FIGURES["votes.price"].answer
    assert answer is not None
    assert answer(rows_of({"median": None})) == "No vote has a price."


# -- values of contracts ------------------------------------------------------------------------------------------------------


def test_a_contract_without_its_values_is_no_round_and_no_rules() -> None:
    opens_at = "2026-11-08T00:00:00Z"
    assert payloads.read_round({"round": {"number": "7"}}) == payloads.read_round({"opensAt": opens_at}) == []
    assert payloads.read_round({"round": {"number": "7"}, "opensAt": opens_at})[0]["round_number"] == 7
    assert payloads.read_rules({"configSchedule": {"initialValue": "none"}}) == []
