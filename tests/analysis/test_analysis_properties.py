"""What holds for any events: every combination of what an event can be in one frame, and some events by chance."""

from __future__ import annotations

import random
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from campaign import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ledgerframes.analysis import FIGURES, cost, verdict
from ledgerframes.datasets import TABLES

PARTIES = st.lists(st.sampled_from(["alice", "bob", "carol"]), max_size=3)
VIEWS = st.lists(st.tuples(PARTIES, st.lists(st.tuples(st.just(1), PARTIES), max_size=2)), max_size=2)
ENVELOPES = st.lists(st.tuples(st.integers(0, 5_000), st.lists(st.integers(0, 1), max_size=2, unique=True)), max_size=3)
FACTS = st.fixed_dictionaries(
    {
        "at": st.floats(0, 23.99),
        "cost": st.none() | st.integers(0, 2**40),
        "result": st.sampled_from(["ACCEPTED", "REJECTED", "UNSPECIFIED"]),
        "visible": st.booleans(),
        "participant": st.sampled_from(["val-a", "val-b", "val-c"]),
        "parties": st.none() | PARTIES,
        "seconds": st.floats(0, 60),
        "views": VIEWS,
        "envelopes": ENVELOPES,
        "nodes": st.lists(st.tuples(st.just(0), st.sampled_from(["A:A", "B:B"]), st.none() | st.just("Go")), max_size=2),
    }
)
MANY = st.lists(FACTS, max_size=12)
TWO_VIEWS = [(["alice"], [(1, ["alice"])]), (["bob", "carol"], [(1, ["bob"]), (1, ["bob", "carol"])])]
COMBINATIONS = product(
    (None, 0, 700, 2**40),
    ("ACCEPTED", "REJECTED", "UNSPECIFIED"),
    (False, True),
    (None, [], ["alice"], ["bob", "carol"]),
    (([], []), ([], [(300, [])]), (TWO_VIEWS[:1], [(5, []), (0, [0])]), (TWO_VIEWS, [(700, [0, 1])])),
    ([], [(0, "A:A", None)], [(0, "B:B", "Go"), (0, "A:A", None)]),
)
EVERY = [
    {
        "at": number % 2399 / 100, "cost": cost, "result": result, "visible": visible, "participant": f"val-{number % 7}",
        "parties": parties, "seconds": number % 61, "views": views, "envelopes": envelopes, "nodes": nodes,
    }
    for number, (cost, result, visible, parties, (views, envelopes), nodes) in enumerate(COMBINATIONS)
]  # fmt: skip
EXAMPLES = examples(1)  # a frame of few events takes as long as one of all combinations
LABELS = pd.DataFrame({"id": ["alice", "val-a"], "name": ["Alice", "A"], "group": ["people", "nodes"]}, dtype="str")
COMPLETIONS = TABLES["completions"].empty()
SPEND = {by: partial(cost.spend, by=by, labels=LABELS, completions=COMPLETIONS) for by in (None, *FIGURES["cost.spend"].by)}
OTHERS = (cost.overhead, cost.wasted, verdict.outcomes, verdict.latency, verdict.rejections, verdict.quorums)


@pytest.fixture(scope="session")
def frames_from(build, event):
    return lambda facts: build([event(f"u{number}", **with_envelopes(fact)) for number, fact in enumerate(facts)])


def with_envelopes(fact):
    """A request without a traffic summary has no envelopes."""
    return fact if fact["cost"] is not None else fact | {"envelopes": []}


def known_total(facts):
    costs = [fact["cost"] for fact in facts if fact["cost"] is not None]
    return sum(costs) if costs else None


def sum_of(values):
    total = values.sum(min_count=1)
    return None if pd.isna(total) else int(total)


@settings(max_examples=EXAMPLES)
@given(facts=MANY)
@example(facts=EVERY)
@example(facts=[])
def test_groups_add_up_to_the_whole(frames_from, facts):
    frames = frames_from(facts)
    hours = (cost.spend(frames, every="1h"), cost.spend(frames, by="result", every="6h"))
    for grouped in (SPEND[None](frames), SPEND["participant"](frames), SPEND["template"](frames), *hours):
        assert sum_of(grouped["total_traffic_cost"]) == known_total(facts)
        assert grouped["requests"].sum() == len(facts)
    for grouped in (*(SPEND[by](frames) for by in ("participant", "template", "view")), cost.overhead(frames)):
        shares = grouped["share"].dropna()
        assert shares.empty or shares.sum() == pytest.approx(1)


@settings(max_examples=EXAMPLES)
@given(facts=MANY)
@example(facts=EVERY)
@example(facts=[])
def test_views_and_overhead_hold_every_envelope(frames_from, facts):
    frames = frames_from(facts)
    counted = SPEND["view"](frames)["envelopes"].sum() + cost.overhead(frames)["envelopes"].iloc[1]
    assert counted == sum(len(with_envelopes(fact)["envelopes"]) for fact in facts)


@settings(max_examples=EXAMPLES)
@given(facts=MANY)
@example(facts=EVERY)
@example(facts=[])
def test_control_totals_add_up(frames_from, facts):
    """Also where totals are not the sum of their envelopes, which is the only difference, with a reason."""
    totals = cost.control(frames_from(facts)).set_index("control")
    differences = totals["difference"].drop("envelopes")
    assert (differences.dropna() == 0).all()
    assert differences.isna().all() == (known_total(facts) is None)
    assert totals["reason"].notna().sum() == totals["reason"].notna()["envelopes"]


@settings(max_examples=EXAMPLES)
@given(facts=MANY)
@example(facts=EVERY)
@example(facts=[])
def test_single_party_cost_never_exceeds_all_cost(frames_from, facts):
    parties = SPEND["party"](frames_from(facts))
    assert (parties["single_party_requests"] <= parties["requests"]).all()
    assert (parties["single_party_traffic_cost"] <= parties["total_traffic_cost"]).fillna(value=True).all()


@pytest.mark.exhaustive
@settings(max_examples=EXAMPLES)
@given(facts=MANY, seed=st.randoms())
@example(facts=EVERY, seed=random.Random(1))
def test_the_order_of_the_input_does_not_matter(build, event, facts, seed):
    events = [event(f"u{number}", **fact) for number, fact in enumerate(facts)]
    frames, shuffled = build(events), build(seed.sample(events, len(events)))
    for analysis in (*SPEND.values(), *OTHERS):
        pd.testing.assert_frame_equal(analysis(frames), analysis(shuffled))


@settings(max_examples=EXAMPLES)
@given(facts=MANY)
@example(facts=EVERY)
def test_the_interval_holds_the_rate(frames_from, facts):
    frames = frames_from(facts)
    for by in (None, *FIGURES["verdict.outcomes"].by):
        rates = verdict.outcomes(frames, by=by).dropna(subset=["rejection_rate"])
        assert ((rates["low"] <= rates["rejection_rate"]) & (rates["rejection_rate"] <= rates["high"])).all()
        assert rates[["low", "high"]].stack().between(0, 1).all()


@settings(max_examples=EXAMPLES)
@given(facts=MANY)
@example(facts=EVERY)
def test_percentiles_rise_and_are_latencies_that_occurred(frames_from, facts):
    frames = frames_from(facts)
    occurred = (frames.verdicts["finalization_time"] - frames.verdicts["record_time"]).astype("int64")
    names = ["p50_low", "p50", "p50_high", "max"]
    for by in (None, *FIGURES["verdict.latency"].by):
        rows = verdict.latency(frames, by=by).dropna(subset=["max"])
        for row in rows[names].itertuples(index=False):
            values = [value // pd.Timedelta(1, "us") for value in row if value is not pd.NaT]
            assert values == sorted(values) and np.isin(values, occurred).all()
