"""Rows that lack a fact, or that are a choice: what figures, sentences and pictures say of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.text import Text

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.errors import UsageError
from ledgerframes.values.windows import Window

DAY = datetime(2026, 11, 8, tzinfo=UTC)
WINDOW = Window(DAY, DAY + timedelta(days=1))
DSO = "DSO::1"
COIN = "splice-coin"


def head(update_id: str, hour: float) -> dict[str, Any]:
    return {"update_id": update_id, "record_time": DAY + timedelta(hours=hour), "migration_id": 4}


def statement(result: pd.DataFrame) -> str:
    return lf.show(result, picture=False).statement


def texts(result: pd.DataFrame) -> list[str]:
    figure = lf.plot(result).figure
    plt.close(figure)
    return [each.get_text() for each in figure.findobj(Text) if each.get_text().strip()]


def node(update_id: str, index: int, hour: float, **columns: Any) -> dict[str, Any]:
    names = {"event_id": f"{update_id}:{index}", "contract_id": f"{update_id}-{index}", "package_name": COIN}
    parents = {"depth": int(index > 0), "parent_event_id": f"{update_id}:0" if index else None}
    return {**head(update_id, hour), "node_index": index, **names, **parents, **columns}


def created(update_id: str, index: int, hour: float, template: str, package: str = COIN, **payload: Any) -> dict[str, Any]:
    values = {"event_type": "created_event", "template_name": template, "package_name": package, "signatories": [DSO]}
    return node(update_id, index, hour, **values, create_arguments=json.dumps({"dso": DSO, **payload}))


def purchase(update_id: str, hour: float, **changes: Any) -> list[dict[str, Any]]:
    facts = {"memberId": "PAR::app", "totalPurchased": "2000000", "coinSpent": "750.0", "usdSpent": "120.0", **changes}
    payload = {name: value for name, value in facts.items() if value is not None}
    choice = {"template_name": "Splice.CoinRules:CoinRules", "choice": "CoinRules_BuyMemberTraffic", "consuming": False}
    result = {"choice_argument": '{"provider":"app"}', "exercise_result": '{"round":{"number":"7"}}'}
    return [
        node(update_id, 0, hour, event_type="exercised_event", **choice, **result),
        created(update_id, 1, hour, "Splice.DecentralizedSynchronizer:MemberTraffic", **payload),
    ]


def network_start() -> list[dict[str, Any]]:
    prices = {"coinPrice": "0.16", "trafficPrice": "60.0", "opensAt": "2026-11-08T00:00:00Z"}
    rules = created("r", 0, 0, "Splice.DsoRules:DsoRules", "splice-dso-governance", svs=[])
    return [rules, created("q", 0, 0.1, "Splice.Round:OpenMiningRound", round={"number": "7"}, **prices)]


def purchases_of(*rows: dict[str, Any], **options: Any) -> pd.DataFrame:
    return lf.economy.purchases(testing.frames_of(window=WINDOW, tree_events=[*network_start(), *rows]), **options)


def test_a_request_is_a_verdict_an_update_or_a_summary() -> None:
    updates, verdicts = [head(f"u{each}", each) for each in range(3)], [head(f"v{each}", each) for each in range(2)]
    costs = [{**each, "total_traffic_cost": 5} for each in updates + verdicts]
    day = lf.reconcile.coverage(testing.frames_of(window=WINDOW, updates=updates, verdicts=verdicts, traffic=costs)).iloc[0]
    assert (day["requests"], day["with_cost"], day["coverage"]) == (5, 5, 1)


def ledger_and_history() -> tuple[lf.Frames, lf.Frames]:
    paid = [("a", 10), ("x", None), ("b", 10)]
    rows = [
        {**head(name, 1 + each), "participant_id": "me", "offset": each, "kind": "transaction", "paid_traffic_cost": cost}
        for each, (name, cost) in enumerate(paid)
    ]
    verdicts = [{**head(name, 1 + 2 * each), "submitting_participant_uid": "me"} for each, name in enumerate("ab")]
    traffic = [{**head(name, 1 + 2 * each), "total_traffic_cost": 10} for each, name in enumerate("ab")]
    history = testing.frames_of(window=WINDOW, verdicts=verdicts, traffic=traffic)
    return testing.frames_of(ledger_updates=[{k: v for k, v in row.items() if k != "migration_id"} for row in rows]), history


def test_an_update_without_a_paid_cost_is_nobody_s() -> None:
    ledger, history = ledger_and_history()
    rows = lf.reconcile.paid_traffic(ledger, history).set_index("update_id")
    assert rows.loc["x", ["outcome", "why"]].tolist() == ["not comparable", "no paid cost in the ledger"]
    assert "only in the ledger: 0." in statement(lf.reconcile.paid_traffic_totals(ledger, history))


def test_a_request_that_was_not_chosen_is_in_no_source_alone() -> None:
    ledger, history = ledger_and_history()
    rows = lf.reconcile.paid_traffic(ledger, history.where("verdicts", update_id="a")).set_index("update_id")
    assert rows["outcome"].astype("str").to_dict() == {"a": "equal", "x": "not comparable", "b": "not comparable"}
    assert rows.loc["b", "why"] == "not among the chosen requests of the history"


def test_a_comparison_with_chosen_requests_says_so() -> None:
    _, history = ledger_and_history()
    chosen = history.where("verdicts", update_id="a")
    for nodes in ((history, chosen), (chosen, history)):
        compared = lf.reconcile.nodes(*nodes)
        assert set(compared["population"]) == {"chosen"}
        assert statement(compared).startswith("Of the requests chosen: ")


def test_a_purchase_of_unknown_size_is_one() -> None:
    rows = [*purchase("b1", 1), *purchase("b2", 2, totalPurchased=None)]
    assert statement(purchases_of(*rows)).startswith("2 purchases of at least 2.00 MB burned 1,500.00 coin.")
    by_buyer = purchases_of(*rows, by="buyer")
    assert statement(by_buyer).startswith("2 purchases of an unknown size burned 1,500.00 coin.")
    assert "The size of 2 purchases is unknown." in texts(by_buyer)
    assert "Traffic bought: at least 2.0 MB" in " ".join(texts(purchases_of(*rows)))


def test_whether_the_price_of_a_purchase_of_unknown_coin_differs_is_unknown() -> None:
    (row,) = purchases_of(*purchase("b1", 1, coinSpent=None)).to_dict("records")
    assert pd.isna(row["price_differs"])
    assert row["coverage"] == 0


def test_a_negative_cost_is_unknown_in_an_anatomy() -> None:
    envelopes = [
        {**head("a", 1), "envelope_index": each, "traffic_cost": cost, "view_ids": []} for each, cost in enumerate((100, -30))
    ]
    cost = [{**head("a", 1), "total_traffic_cost": -500}]
    frames = testing.frames_of(window=WINDOW, verdicts=[head("a", 1)], traffic=cost, envelopes=envelopes)
    rows = lf.cost.anatomy(frames, "a")
    assert rows["part"].tolist() == ["envelope", "envelope"]
    assert rows["traffic_cost"].isna().tolist() == [False, True]
    assert rows["coverage"].tolist() == [0, 0]
    assert "cost unknown" in lf.anatomy(frames, "a").summary


def test_an_anatomy_gives_no_reason_that_it_does_not_know() -> None:
    updates = [{**head("a", 1), "kind": "transaction"}]
    frames = testing.frames_of(window=WINDOW, verdicts=[head("a", 1)], updates=updates)
    missing = lf.anatomy(frames, "a").missing
    assert missing["view"] == "No views: the verdict has none."
    assert missing["node"] == "No tree: the history has no nodes of the update."
    assert missing["activity"] == "No record: the history has none of the request."


@pytest.mark.parametrize("of", ["weight", "burn_bytes"])
def test_a_share_is_of_what_was_asked_for(of: Any, sandbox_history: lf.Frames) -> None:
    answer = lf.show(lf.activity.concentration(sandbox_history, of=of), picture=False)
    assert "of the total" in answer.statement and "weight" not in answer.statement
    assert "weight" not in lf.activity.lorenz(sandbox_history, of=of).attrs.get("caption", "")


def test_a_request_without_envelopes_has_a_known_cost() -> None:
    traffic = [{**head(name, 1), "total_traffic_cost": 100} for name in "ab"]
    envelopes = [{**head("a", 1), "envelope_index": 0, "traffic_cost": 100, "view_ids": []}]
    frames = testing.frames_of(window=WINDOW, verdicts=[head("a", 1), head("b", 2)], traffic=traffic, envelopes=envelopes)
    assert "Cost and envelopes known for 50.0 % of requests" in " ".join(texts(lf.cost.overhead(frames)))


def test_without_a_majority_no_node_differs_from_most() -> None:
    def objects(digest: str) -> pd.DataFrame:
        return pd.DataFrame({"object_key": ["k"], "sha256": [digest], "until": [pd.Timestamp("2026-11-02", tz="UTC")]})

    said = statement(lf.reconcile.digests({"a": objects("x"), "b": objects("y")}))
    assert "Nodes that differ from most: none. Without a majority: 1 object." in said
    assert "differ from most: a (1)." in statement(lf.reconcile.digests({"a": objects("x"), **{n: objects("y") for n in "bc"}}))


def test_an_estimate_without_a_size_is_none() -> None:
    verdicts = [{**head("a", 1), "verdict_result": "VERDICT_RESULT_REJECTED"}]
    frames = testing.frames_of(window=WINDOW, verdicts=verdicts, traffic=[{**head("a", 1), "total_traffic_cost": 100}])
    estimates = pd.DataFrame({"update_id": ["a", "unknown"], "request_bytes": pd.array([90, None], "Int64")})
    rows = lf.cost.estimate(frames, estimates, by=None)
    assert rows["requests"].sum() == 1
    assert statement(rows) == "No accepted request has an estimated and an actual cost."


def test_a_vote_of_nobody_is_no_voter() -> None:
    def vote(update_id: str, hour: float, argument: dict[str, str]) -> dict[str, Any]:
        choice = {"template_name": "Splice.DsoRules:DsoRules", "choice": "DsoRules_UpdateCoinPriceVote", "consuming": False}
        values = {"event_type": "exercised_event", "package_name": "splice-dso-governance", **choice}
        return node(update_id, 0, hour, **values | {"choice_argument": json.dumps(argument)})

    known, unreadable = vote("v1", 1, {"sv": "sv-a", "coinPrice": "0.15"}), vote("v2", 2, {"error": "x"})
    frames = testing.frames_of(window=WINDOW, tree_events=[*network_start(), known, unreadable])
    table = testing.table("price_votes")
    row = {"contract_id": "c", "sv": "sv-a", "dso": DSO, "price": Decimal("0.15"), "last_updated_at": DAY + timedelta(hours=1)}
    votes = table.spec.to_pandas(table.fill([{"observed_at": DAY + timedelta(hours=12), **row}]))
    prices = lf.votes.price(votes, frames=frames)
    assert set(prices["voters"]) == {1} and set(prices["coverage"]) == {1.0}


def test_a_rise_from_nothing_has_no_percentage() -> None:
    def side(cost: int) -> lf.Frames:
        updates = [{**head(f"u{each}", each / 10), "kind": "transaction"} for each in range(40)]
        traffic = [{**head(f"u{each}", each / 10), "total_traffic_cost": cost} for each in range(40)]
        return testing.frames_of(window=WINDOW, updates=updates, traffic=traffic)

    assert "1 dearer (transaction from 0)" in statement(lf.cost.compare(side(0), side(50)))


def test_a_bill_of_an_unknown_party_and_of_one_without_a_name_has_two_entries() -> None:
    traffic = [{**head(name, 1), "total_traffic_cost": 1000} for name in "ab"]
    verdicts = [{**head("a", 1), "submitting_participant_uid": ""}]
    frames = testing.frames_of(window=WINDOW, verdicts=verdicts, traffic=traffic)
    price = lf.TrafficPrice("500", "USD/MB")
    bill = lf.cost.statement(frames, by="participant", every="1d", price=price, min_coverage=0)
    entries = lf.cost.journal(bill, accounts={"traffic": ("1", "2")})
    assert entries["entry_id"].nunique() == 2
    assert entries["memo"].str.contains("party without a name").any() and entries["memo"].str.contains("unknown party").any()


@pytest.mark.parametrize("value", [float("nan"), 90, -0.1, True, "0.9", None])
def test_a_minimum_that_is_no_share_is_refused(value: Any, sandbox_history: lf.Frames) -> None:
    """Not a number is below nothing, so that every bill would pass."""
    price = lf.TrafficPrice("500", "USD/MB")
    with pytest.raises(UsageError, match="min_coverage= must be a number from 0 to 1"):
        lf.cost.statement(sandbox_history, by="participant", price=price, min_coverage=value)
    with pytest.raises(UsageError, match="min_coverage= must be a number from 0 to 1"):
        lf.grant.evidence_totals(
            sandbox_history, app={"packages": ["x"]}, exclude=[], since="2026-11-08", until="2026-11-09", min_coverage=value
        )


def test_a_wrong_kind_of_argument_is_named(sandbox_history: lf.Frames) -> None:
    result = lf.cost.spend(sandbox_history)
    with pytest.raises(UsageError, match=r"Pass Frames to lf\.export\.write_table, such as .+, got ResultFrame"):
        lf.export.write_table(result, "traffic", "t.csv")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="columns= must be a list of column names, got 'update_id'"):
        lf.export.write_table(sandbox_history, "traffic", "t.csv", columns="update_id")
    with pytest.raises(UsageError, match=r"figure= must be an analysis such as lf.cost.spend, without a call, got 'ResultFrame'"):
        lf.query(result, sandbox_history)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="values must be a Series of integers or amounts, got list"):
        lf.decimals.total([1, 2, 3])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="until= must be a time"):
        lf.reconcile.supply(sandbox_history, base=None, until=None)  # type: ignore[arg-type]
