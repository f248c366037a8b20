"""Every figure is computed again by other code: the name of the test that does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerframes.analysis import FIGURES

TESTS = Path(__file__).parents[1]
COSTS, LOOPS, COMPARISONS = (f"analysis/test_{name}_by_loops.py" for name in ("costs", "economy", "comparisons"))
VERDICTS = "analysis/test_verdicts_by_loops.py"
HISTORY, SENTENCES, REPORTS = "analysis/test_reconcile_history.py", "report/test_sentences.py", "report/test_weekly.py"
WEEK = f"{REPORTS}::test_a_second_run_shows_the_change_and_its_cause"
ACTIVITY, OPERATIONS = (f"{REPORTS}::test_the_report_on_{name}_runs_on_frozen_data" for name in ("activity", "operations"))
STATE, VECTORS = "analysis/test_activity.py::test_the_sandbox_by_other_code", "statistics/test_vectors.py::test_vector"
RECOMPUTED = {
    "state.rounds": STATE,
    "state.featured": STATE,
    "state.super_validators": STATE,
    "state.config": f"{LOOPS}::test_config",
    "state.ignored_contracts": f"{LOOPS}::test_problems_of_the_state",
    "activity.weights": "analysis/test_activity.py::test_weights_add_up_to_the_records",
    "activity.recompute": STATE,
    "activity.rewards": ACTIVITY,
    "activity.concentration": "analysis/test_activity_concentration.py::test_concentration_by_its_definition",
    "activity.lorenz": "analysis/test_activity_concentration.py::test_concentration_by_its_definition",
    "activity.reconcile": ACTIVITY,
    "activity.reconcile_totals": ACTIVITY,
    "activity.what_if": ACTIVITY,
    "cost.anatomy": f"{COSTS}::test_anatomy",
    "cost.budget": OPERATIONS,
    "cost.compare": WEEK,
    "cost.concentration": f"{COSTS}::test_concentration",
    "cost.control": "analysis/test_analysis_properties.py::test_control_totals_add_up",
    "cost.estimate": f"{COSTS}::test_estimate",
    "cost.journal": f"{COMPARISONS}::test_journal",
    "cost.overhead": f"{COSTS}::test_overhead",
    "cost.invalid_values": OPERATIONS,
    "cost.requests": f"{COSTS}::test_requests",
    "cost.runway": VECTORS,
    "cost.runway_end": VECTORS,
    "cost.spend": f"{COSTS}::test_spend",
    "cost.statement": "analysis/test_statement.py::test_lines_of_any_size_add_up",
    "cost.wasted": f"{COSTS}::test_wasted",
    "verdict.head_of_line": OPERATIONS,
    "verdict.head_of_line_victims": "analysis/test_head_of_line.py::test_random_requests_agree_with_loops",
    "verdict.latency": f"{VERDICTS}::test_latency",
    "verdict.outcomes": f"{VERDICTS}::test_outcomes",
    "verdict.quorums": f"{VERDICTS}::test_quorums",
    "verdict.rejections": f"{VERDICTS}::test_rejections",
    "verdict.waited_for": f"{VERDICTS}::test_waited_for",
    "economy.balance": f"{LOOPS}::test_balance",
    "economy.burn_mint": f"{LOOPS}::test_burn_and_mint",
    "economy.leaderboard": f"{LOOPS}::test_leaderboard",
    "economy.names": f"{LOOPS}::test_names",
    "economy.purchases": f"{LOOPS}::test_purchases",
    "economy.reward_split": f"{LOOPS}::test_reward_split",
    "economy.flows": "analysis/test_economy.py::test_the_sandbox_is_explained",
    "economy.transfers": "analysis/test_transfers.py::test_the_sandbox_by_a_plain_loop",
    "reconcile.rewards": "analysis/test_rewards.py::test_each_error_is_found_at_its_link_and_nowhere_else",
    "findings": "analysis/test_findings.py::test_a_bad_day_costs_what_its_requests_cost",
    "grant.evidence": "analysis/test_grant.py::test_the_evidence_of_the_sandbox_is_that_of_a_plain_loop",
    "grant.evidence_totals": "analysis/test_grant.py::test_the_evidence_of_the_sandbox_is_that_of_a_plain_loop",
    "grant.verify": "analysis/test_grant.py::test_every_change_of_a_directory_is_found",
    "reconcile.bounds": f"{COMPARISONS}::test_bounds",
    "reconcile.bulk": f"{HISTORY}::test_the_sandbox_writes_to_bulk_objects_what_it_lists",
    "reconcile.bulk_totals": f"{HISTORY}::test_the_sandbox_writes_to_bulk_objects_what_it_lists",
    "reconcile.contracts": "analysis/test_contracts.py::test_it_is_what_a_plain_loop_finds_with_any_base",
    "reconcile.coverage": f"{HISTORY}::test_a_calendar_of_the_sandbox",
    "reconcile.digests": f"{COMPARISONS}::test_digests",
    "reconcile.nodes": f"{COMPARISONS}::test_nodes",
    "reconcile.paid_traffic": f"{COMPARISONS}::test_paid_traffic",
    "reconcile.paid_traffic_totals": "analysis/test_reconcile.py::test_totals_account_for_every_byte",
    "reconcile.supply": f"{HISTORY}::test_the_supply_of_the_sandbox_is_explained",
    "votes.price": f"{LOOPS}::test_votes",
    "votes.stale": f"{LOOPS}::test_votes",
}


def test_every_figure_is_recomputed() -> None:
    assert set(RECOMPUTED) == set(FIGURES)


@pytest.mark.parametrize("place", sorted(set(RECOMPUTED.values())))
def test_the_test_exists(place: str) -> None:
    file, _, name = place.partition("::")
    assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")
