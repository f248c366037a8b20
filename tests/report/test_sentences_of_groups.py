"""A sentence is about all of its result: groups in periods, unknown costs, chosen rows, and rows of several results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes.analysis.activity._answers import of_what_if
from ledgerframes.errors import UsageError

from .stored import weight_of

NO_COST = "No request with a known cost in this window."


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> lf.Frames:
    net = lf.connect("sandbox", events=3_000, days=14, store=tmp_path_factory.mktemp("store"))
    return lf.load_events(net, since="0001-01-01")


@pytest.fixture(scope="module")
def week(history: lf.Frames) -> lf.Frames:
    return history.between("2026-11-02", "2026-11-09")


@pytest.fixture(scope="module")
def spent(week: lf.Frames) -> pd.DataFrame:
    return lf.cost.spend(week, by="participant")


@pytest.mark.parametrize("by", every_nth(["participant", "template", "result"], 3))
def test_the_highest_period_is_that_of_all_groups_together(week: lf.Frames, by: Any) -> None:
    costs = week.traffic.set_index("record_time")["total_traffic_cost"].resample("1D").sum()
    statement = lf.show(lf.cost.spend(week, by=by, every="1d")).statement
    assert f"days, {costs.idxmax():%A %Y-%m-%d} has the highest cost" in statement
    assert statement == lf.show(lf.cost.spend(week, every="1d")).statement


@pytest.mark.parametrize(
    "call",
    [
        lambda week: lf.cost.spend(week, by="party", every="1d"),
        lambda week: lf.cost.spend(week, by="view", every="1d"),
        lambda week: lf.verdict.quorums(week, every="1d"),
        lambda week: lf.verdict.quorums(week, by="participant"),
        lambda week: lf.verdict.outcomes(week, by="party"),
        lambda week: lf.verdict.outcomes(week, by="participant", every="1d"),
    ],
)
def test_groups_that_share_requests_or_repeat_have_no_sentence(week: lf.Frames, call: Any) -> None:
    assert lf.show(call(week), picture=False).statement == ""


def test_hours_of_the_week_are_none_of_the_day(week: lf.Frames) -> None:
    outcomes = lf.verdict.outcomes(week, by="weekday_hour")
    assert "of 168 hours of the week" in lf.show(outcomes).statement
    outcomes.loc[0, "differs"] = True
    outcomes.loc[0, "difference"] = 0.5
    hour = f"{('Monday', 'Tuesday')[outcomes['weekday'][0]]} {outcomes['hour'][0]:02d}:00"
    assert lf.show(outcomes, picture=False).statement.endswith(f"{hour} (higher).")


def test_purchases_in_groups_of_both_do_not_say_for_whom(history: lf.Frames) -> None:
    single, grouped = lf.economy.purchases(history), lf.economy.purchases(history, by="buyer")
    assert grouped["for_whom"].isna().any()
    sentence = lf.show(single, picture=False).statement
    assert "for somebody else" in sentence
    final = " Of the window, 99.7 % is final."
    assert lf.show(grouped, picture=False).statement == sentence.partition(" coin.")[0] + " coin." + final


@pytest.mark.parametrize(
    "call",
    [
        lambda week: lf.activity.weights(week, every=None),
        lambda week: lf.cost.requests(week),
        lambda week: lf.cost.spend(week, by="participant"),
        lambda week: lf.cost.spend(week, by="template"),
        lambda week: lf.verdict.latency(week, by="hour"),
        lambda week: lf.verdict.quorums(week),
    ],
)
def test_the_order_of_rows_does_not_change_a_sentence(week: lf.Frames, call: Any) -> None:
    result = call(week)
    statement = lf.show(result, picture=False).statement
    assert lf.show(result[::-1], picture=False).statement == statement
    nothing = lf.show(result[:0], picture=False).statement
    assert not any(letter.isdigit() and letter != "0" for letter in nothing)


def test_weights_of_some_providers_are_not_all(week: lf.Frames) -> None:
    weights = lf.activity.weights(week, every=None)
    some = weights.tail(3).reset_index(drop=True)
    assert lf.show(some, picture=False).statement == f"3 of {len(weights)} rows of the result."
    whole = lf.activity.weights(week, by=None, every=None)
    assert lf.show(whole).statement == f"Requests earned a weight of {weight_of(int(whole['weight'].sum()))}."
    assert lf.show(lf.activity.weights(week, by=None, every="1d"), picture=False).statement == ""


def test_a_change_that_only_rises_or_falls_has_no_other_side() -> None:
    parties = pd.Series(["a::1220", "b::1220", "c::1220"])
    change = pd.DataFrame({"party": parties, "share_before": [0.5, 0.3, 0.2], "share_after": [0.6, 0.25, 0.16]})
    assert of_what_if(change) == "The share of a::1220 would rise by 10.0 points, and that of b::1220 would fall by 5.0 points."
    assert of_what_if(change[:1]) == "The share of a::1220 would rise by 10.0 points."
    assert of_what_if(change[1:]) == "The share of b::1220 would fall by 5.0 points."


def test_some_links_do_not_say_that_a_chain_holds() -> None:
    history = lf.load_events(lf.connect("sandbox", events=600, days=1), since="0001-01-01")
    links = lf.reconcile.rewards(history)
    assert "follow from the records to the last hash" in lf.show(links, picture=False).statement
    assert lf.show(links[links["link"] == "coupons"], picture=False).statement == ""
    assert lf.show(links[links["link"] != "weights"], picture=False).statement == ""
    first = links.iloc[0]
    with pytest.raises(UsageError, match="round_number= must be a whole number of at least 0, got '"):
        lf.reconcile.reward_proof(history, str(first["round_number"]), "x")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"top= must be whole numbers from 1, got 3"):
        lf.activity.concentration(history, top=3)  # type: ignore[arg-type]


def test_costs_that_are_unknown_are_not_0(week: lf.Frames) -> None:
    known = set(week.traffic["update_id"])
    unknown = week.where("verdicts", update_id=[name for name in week.verdicts["update_id"] if name not in known])
    assert len(unknown.verdicts) > 1
    assert lf.show(lf.cost.spend(unknown)).statement == f"Of the requests chosen: {NO_COST}"
    for by in ("participant", "template"):
        assert "account for" not in lf.show(lf.cost.spend(unknown, by=by)).statement


def test_a_sentence_on_chosen_rows_says_so(week: lf.Frames, spent: pd.DataFrame) -> None:
    assert lf.show(spent.sort_values("requests")).statement == lf.show(spent).statement
    some = spent[spent["requests"] > 1].iloc[1:]
    assert lf.show(some).statement == f"{len(some)} of {len(spent)} rows of the result."
    rejected = week.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED")
    assert lf.show(lf.verdict.outcomes(rejected)).statement.startswith("Of the requests chosen: ")


def test_rows_of_several_results_have_a_table_only(week: lf.Frames, spent: pd.DataFrame) -> None:
    total = lf.cost.spend(week)
    for rows in (pd.concat([spent, spent]), pd.concat([total, total]), spent.assign(network=["a", *["b"] * (len(spent) - 1)])):
        answer = lf.show(rows)
        assert answer.statement == "" and answer.draw is None
        assert "<table" in answer._repr_html_() and repr(answer)


@pytest.mark.parametrize(
    "changed",
    [
        lambda rows: rows.astype(object),
        lambda rows: rows.reset_index(),
    ],
)
def test_rows_in_another_form_have_no_sentence_that_could_be_wrong(spent: pd.DataFrame, changed: Any) -> None:
    answer = lf.show(changed(spent))
    assert answer.statement == "" and answer.draw is None
    assert "<table" in answer._repr_html_()


@pytest.mark.parametrize(
    ("changed", "step"),
    [
        (
            lambda rows: rows.set_index("submitting_participant_uid"),
            r"the index submitting_participant_uid\. Call reset_index\(\)",
        ),
        (lambda rows: rows.reset_index(), r"Call reset_index\(drop=True\) instead of reset_index\(\)\."),
        (lambda rows: rows.astype(object), r"column 'requests' as object, not int64\. Save results with to_parquet"),
        (lambda rows: rows.astype({"requests": "str"}), r"column 'requests' as str, not int64\. Save results with to_parquet"),
    ],
)
def test_a_plot_of_rows_in_another_form_says_what_to_do(spent: pd.DataFrame, changed: Any, step: str) -> None:
    with pytest.raises(UsageError, match=step):
        lf.plot(changed(spent))


@pytest.mark.parametrize(
    ("argument", "value"), [("max_rows", -3), ("max_rows", "5"), ("max_rows", True), ("columns", "requests")]
)
def test_arguments_that_are_wrong_are_named(spent: pd.DataFrame, argument: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"{argument}= must be"):
        lf.show(spent, **{argument: value})  # type: ignore[arg-type]


def test_a_change_of_nothing_changes_nothing() -> None:
    net = lf.connect("sandbox", events=400, days=1)
    history = lf.load_events(net, since="0001-01-01")
    same = lf.activity.what_if(history, featured_after=lf.state.featured(history))
    assert lf.show(same, picture=False).statement == "No share changes. Of the window, 96.7 % is final."


def test_providers_without_a_label_are_not_a_label(history: lf.Frames, tmp_path: Path) -> None:
    weights = lf.activity.weights(history, by="party", every=None).set_index("party")["weight"]
    file = tmp_path / "labels.csv"
    file.write_text(f"id,name,group\n{weights.index[1]},Second,second\n")
    labels = lf.labels.read(file)
    statement = lf.show(lf.activity.weights(history, by="label", every=None, labels=labels)).statement
    assert statement.startswith(
        f"App providers of 1 label and without one earned a weight of {weight_of(int(weights.sum()))}. Providers without"
    )
    assert "second" in lf.show(lf.activity.weights(history, by="label", every="1d", labels=labels)).statement
    file.write_text("id,name,group\nnobody::1220,Nobody,nobody\n")
    nobody = lf.activity.weights(history, by="label", every="1d", labels=lf.labels.read(file))
    assert lf.show(nobody, picture=False).statement == ""
