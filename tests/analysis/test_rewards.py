"""Rewards of rounds made by hand: what holds, and each error at its link and nowhere else."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

import pandas as pd
import pytest
from cases import every_nth, only
from network_world import DSO
from reward_world import Node, RewardWorld, amounts_of, leaf_hash, node_hash, tree_of
from trees_by_hand import create, exercise

import ledgerframes as lf
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames

TWO, THREE = {f"app-{n}": 10_000 + n for n in range(3)}, {f"app-{n}": 10_000 + n for n in range(7)}
LINKS = ["weights", "amounts", "leaves", "root", "confirmations", "coupons"]
STEP = Decimal("1E-10")
WRONG = "ab" * 32


def links(world: RewardWorld) -> pd.DataFrame:
    return of_round_1(lf.reconcile.rewards(world.frames()))


def of_round_1(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["round_number"] == 1].set_index("link")


def faults(rows: pd.DataFrame) -> dict[str, str]:
    """Return the links of all rounds that are neither equal nor unknown."""
    rows = rows[~rows["status"].isin(["equal", "unknown"])]
    assert set(rows["round_number"]) <= {1}
    return dict(zip(rows["link"], rows["status"], strict=True))


def changed(weights: dict[str, int], amount: Decimal) -> list[tuple[str, str]]:
    """Return allowances of which the second has another amount."""
    pairs = amounts_of(weights)
    return [(party, f"{Decimal(value) + amount:.10f}" if n == 1 else value) for n, (party, value) in enumerate(pairs)]


@pytest.mark.parametrize("is_dry_run", every_nth([False, True], 2))
@pytest.mark.parametrize(
    ("weights", "size", "leaves"), [({}, 2, 1), ({"app-0": 9_000}, 2, 1), (TWO, 2, 2), (THREE, 2, 4), (THREE, 7, 1)]
)
def test_a_chain_holds_link_by_link(weights: dict[str, int], size: int, leaves: int, is_dry_run: bool) -> None:
    rows = links(RewardWorld(weights, size, is_dry_run))
    assert rows.index.tolist() == LINKS
    assert set(rows["status"]) == {"equal"}
    assert rows["found"]["leaves"] == str(leaves)
    assert rows["found"]["root"] == tree_of(amounts_of(weights), size).digest
    assert rows["found"]["confirmations"] == "5 agree"
    assert rows["expected"]["coupons"] == str(0 if is_dry_run else len(weights))
    assert set(rows["is_dry_run"]) == {is_dry_run}


def test_a_small_weight_has_no_allowance() -> None:
    rows = links(RewardWorld({"app-0": 4_166, "app-1": 4_167}))
    assert set(rows["status"]) == {"equal"}
    assert rows["found"]["amounts"] == "3.1252500000"


PAIRS = amounts_of(THREE)
LEFT_OUT = [pair for pair in PAIRS if pair[0] != "app-2"]
SWAPPED = [PAIRS[1], PAIRS[0], *PAIRS[2:]]
MOVED = [*PAIRS[2:], *PAIRS[:2]]
PLANTED: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "a published weight": ({"published": {"app-1": 10_002}}, {"weights": "differs"}),
    "an amount, hashed": ({"allowances": changed(THREE, STEP)}, {"amounts": "differs"}),
    "an amount, not hashed": ({"arguments": {"p00": changed(THREE, STEP)[:2]}}, {"amounts": "differs"}),
    "a party left out, hashed": ({"allowances": LEFT_OUT}, {"amounts": "differs"}),
    "a party left out, not hashed": ({"arguments": {"p00": PAIRS[:1]}}, {"amounts": "differs"}),
    "a party more": ({"allowances": [*PAIRS, ("app-9", "5.0000000000")]}, {"amounts": "differs"}),
    "an order, hashed": ({"allowances": SWAPPED}, {"leaves": "differs"}),
    "an order of batches": ({"allowances": MOVED}, {"leaves": "differs"}),
    "an order, not hashed": ({"arguments": {"p00": SWAPPED[:2]}}, {"leaves": "differs"}),
    "a hash of a leaf": ({"committed": {"p01": WRONG}}, {"leaves": "differs"}),
    "a hash of a node": ({"committed": {"p1": WRONG}}, {"root": "differs"}),
    "a hash in a batch": ({"elements": {"p01": WRONG}}, {"root": "differs"}),
    "a hash in the root": ({"elements": {"p1": WRONG}}, {"root": "differs"}),
    "a root": ({"root": WRONG}, {"root": "differs"}),
    "a root of the contract": ({"committed": {"p": WRONG}}, {"root": "differs"}),
    "a coupon too few": ({"coupons": lambda pairs: [pair for pair in pairs if pair[0] != "app-3"]}, {"coupons": "missing"}),
    "a coupon too many": (
        {"coupons": lambda pairs: [*pairs, *(pair for pair in pairs if pair[0] == "app-3")]},
        {"coupons": "differs"},
    ),
    "an amount of a coupon": (
        {"coupons": lambda pairs: [(party, "1.0") if party == "app-3" else (party, amount) for party, amount in pairs]},
        {"coupons": "differs"},
    ),
    "a confirmer that differs": ({"confirmed": {"sv-3": WRONG}}, {"confirmations": "differs"}),
    "no confirmer": ({"confirmed": dict.fromkeys((f"sv-{n}" for n in range(5)), "")}, {"confirmations": "missing"}),
    "a dry run": ({"flag": True}, {"coupons": "differs"}),
    "a dry run that pays": ({"is_dry_run": True, "flag": False}, {"coupons": "differs"}),
    "a leaf never processed": ({"unprocessed": ["p01"]}, {"leaves": "missing"}),
    "a batch never processed": ({"unprocessed": ["p1"]}, {"leaves": "missing"}),
    "a root never processed": ({"unprocessed": ["p"]}, {"leaves": "missing"}),
    "a round never started": ({"is_started": False}, {"root": "missing"}),
}


# What other errors show as well: the same comparison in another batch, or of another value of its argument.
OTHER_BATCHES = ("a hash in the root", "a batch never processed", "a party left out, not hashed")


@cache
def equal_frames() -> Frames:
    """Frames of a ledger without an error, whose state is computed once."""
    return RewardWorld(THREE).frames()


@cache
def planted_frames(error: str) -> Frames:
    options, _ = PLANTED[error]
    return RewardWorld(THREE, **options).frames()


@cache
def planted(error: str) -> pd.DataFrame:
    """The links of all rounds of a ledger with an error."""
    return lf.reconcile.rewards(planted_frames(error))


@pytest.mark.parametrize("error", only(lambda error: error not in OTHER_BATCHES, PLANTED))
def test_each_error_is_found_at_its_link_and_nowhere_else(error: str) -> None:
    _, expected = PLANTED[error]
    assert faults(planted(error)) == expected


OF_A_BATCH = {"arguments", "committed", "elements", "unprocessed"}  # options that name a batch
OF_TWO_LEVELS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    **{error: planted for error, planted in PLANTED.items() if not OF_A_BATCH & {*planted[0]}},
    "an amount, not hashed": ({"arguments": {"p0": changed(THREE, STEP)[:4]}}, {"amounts": "differs"}),
    "an order, not hashed": ({"arguments": {"p0": [*SWAPPED[:4]]}}, {"leaves": "differs"}),
    "a hash of a leaf": ({"committed": {"p1": WRONG}}, {"leaves": "differs"}),
    "a hash in the root": ({"elements": {"p1": WRONG}}, {"root": "differs"}),
    "a root of the contract": ({"committed": {"p": WRONG}}, {"root": "differs"}),
    "a leaf never processed": ({"unprocessed": ["p1"]}, {"leaves": "missing"}),
}


OF_THE_TREE = ("an order of batches", "an amount, not hashed", "a leaf never processed")


@pytest.mark.parametrize("error", only(lambda error: error in OF_THE_TREE, OF_TWO_LEVELS))
def test_errors_in_a_tree_of_two_levels(error: str) -> None:
    options, expected = OF_TWO_LEVELS[error]
    assert faults(lf.reconcile.rewards(RewardWorld(THREE, 4, **options).frames())) == expected


WITHOUT_REWARD: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "a party more": ({"allowances": [("app-9", "5.0000000000")]}, {"amounts": "differs"}),
    "a party more, not hashed": ({"arguments": {"p": [("app-9", "5.0000000000")]}}, {"amounts": "differs"}),
    "a root": ({"root": WRONG}, {"root": "differs"}),
    "a root of the contract": ({"committed": {"p": WRONG}}, {"root": "differs"}),
    "a confirmer that differs": ({"confirmed": {"sv-3": WRONG}}, {"confirmations": "differs"}),
    "a coupon too many": ({"coupons": lambda _: [("app-9", "5.0000000000")]}, {"coupons": "differs"}),
    "a dry run": ({"flag": True}, {"coupons": "differs"}),
    "a root never processed": ({"unprocessed": ["p"]}, {"leaves": "missing"}),
    "a round never started": ({"is_started": False}, {"root": "missing"}),
}


@pytest.mark.parametrize("error", every_nth(WITHOUT_REWARD, 4))
def test_errors_in_a_round_with_no_rewarded_party(error: str) -> None:
    options, expected = WITHOUT_REWARD[error]
    assert faults(lf.reconcile.rewards(RewardWorld({}, **options).frames())) == expected


@pytest.mark.parametrize(
    "error", every_nth(["an amount, hashed", "a root", "a published weight", "a dry run", "a confirmer that differs"], 5)
)
def test_errors_in_a_tree_of_one_batch(error: str) -> None:
    options, expected = PLANTED[error]
    assert faults(lf.reconcile.rewards(RewardWorld(THREE, 100, **options).frames())) == expected


def test_an_error_has_its_difference_and_an_example() -> None:
    amount = of_round_1(planted("an amount, hashed")).loc["amounts"]
    assert (amount["difference"], amount["example"]) == (STEP, "app-1")
    left_out = of_round_1(planted("a party left out, hashed")).loc["amounts"]
    assert (left_out["difference"], left_out["example"]) == (Decimal("7.5015"), "app-2")
    confirmer = links(RewardWorld(THREE, confirmed={"sv-3": WRONG, "sv-4": ""})).loc["confirmations"]
    assert (confirmer["found"], confirmer["example"]) == ("3 agree, 1 differ, 1 silent", "sv-3")
    coupon = links(RewardWorld(THREE, coupons=lambda pairs: pairs[1:])).loc["coupons"]
    assert (coupon["expected"], coupon["found"], coupon["example"]) == (
        "7",
        "3 (3 open)".replace(" (3 open)", ", 3 open"),
        "app-0",
    )
    leaf = of_round_1(planted("a hash of a leaf")).loc["leaves"]
    assert (leaf["expected"], leaf["found"], leaf["example"]) == (leaf_hash(PAIRS[2:4]), WRONG, "p01-1")
    node = of_round_1(planted("a hash in a batch")).loc["root"]
    assert (node["expected"], node["found"], node["example"]) == (leaf_hash(PAIRS[2:4]), WRONG, "p0-1")
    order = of_round_1(planted("an order, hashed")).loc["leaves"]
    assert (order["reason"], order["expected"], order["found"]) == ("parties are not sorted", "app-0", "app-1")


class WorldWithStranger(RewardWorld):
    """Somebody has contracts of their own, with choices that are named like those of the network."""

    def _process(self, number: int, tree: Node, minutes: float, *, is_later: bool = False) -> None:
        super()._process(number, tree, minutes, is_later=is_later)
        if is_later:
            return
        places = [("Splice.CoinRules:CoinRules", "splice-coin"), ("Mine:Rules", "splice-coin"), ("Mine:Rules", "splice-mine")]
        for position, (template, package) in enumerate(places):
            contract, (party, amount) = f"mine-{position}", PAIRS[position]
            self._update(f"made-{position}", minutes - 2, create(template, contract, package, signed=["eve"]))
            argument = {"calculateRewardsCid": "calculate-1", "batchHash": {"value": WRONG}}
            start = exercise(template, contract, "CoinRules_StartProcessingRewardsV2", package=package, argument=argument)
            self._update(f"start-{position}", minutes + 1.5, start)
            used = exercise("Splice.Coin:RewardCouponV2", f"coupon-{party}-{amount}", "Archive", consuming=True)
            claim = exercise(template, contract, "CoinRules_ClaimExpiredRewardsV2", used, package=package)
            self._update(f"claim-{position}", minutes + 5, claim)


def test_choices_of_a_stranger_are_none_of_the_network() -> None:
    rows = links(WorldWithStranger(THREE))
    assert rows["status"].tolist() == ["equal"] * 6
    assert rows["found"]["coupons"] == "7, 3 used, 4 open"


class WorldWithCouponsCreatedAgain(RewardWorld):
    """Coupons are created again: one that expires, one that is used, one with another amount, and one twice."""

    def _process(self, number: int, tree: Node, minutes: float, *, is_later: bool = False) -> None:
        super()._process(number, tree, minutes, is_later=is_later)
        if is_later:
            return
        coupon, rules = "Splice.Coin:RewardCouponV2", "Splice.CoinRules:CoinRules"
        payload = {"dso": DSO, "round": {"number": "1"}, "kind": None, "providerIsObserver": True}
        nodes = [exercise(coupon, f"coupon-{party}-{amount}", "Archive", consuming=True) for party, amount in PAIRS[:4]]
        again = [PAIRS[0], PAIRS[1], (PAIRS[2][0], "1.0000000000"), PAIRS[3], PAIRS[3]]
        for position, (party, amount) in enumerate(again):
            nodes.append(create(coupon, f"again-{position}", signed=[DSO], **payload, provider=party, amount=amount))
        self._update("unhide", minutes + 5, exercise(rules, "rules", "CoinRules_UnhideRewardCouponsV2", *nodes))
        expired, *used = (exercise(coupon, f"again-{n}", "Archive", consuming=True) for n in range(4))
        self._update("expired", minutes + 6, exercise(rules, "rules", "CoinRules_ClaimExpiredRewardsV2", expired))
        self._update("used", minutes + 7, exercise(rules, "rules", "CoinRules_Transfer", *used))


def test_a_coupon_that_is_created_again_ends_as_the_new_one() -> None:
    rows = links(WorldWithCouponsCreatedAgain(THREE))
    assert rows["status"].tolist() == ["equal"] * 6
    assert rows["found"]["coupons"] == "7, 1 expired, 1 used, 5 open"


def test_a_round_that_is_the_last_can_still_be_processed() -> None:
    rows = links(RewardWorld(THREE, unprocessed=["p1"], is_followed=False))
    assert (rows["status"]["leaves"], rows["reason"]["leaves"]) == ("unknown", "it is not processed by the end of the frames")
    rows = links(RewardWorld(THREE, is_started=False, is_followed=False))
    assert set(rows.drop("weights")["status"]) == {"unknown"}


def test_an_order_of_a_locale_is_an_order() -> None:
    weights = {"B-app": 9_000, "a-app": 9_001, "c_app": 9_002}
    pairs = dict(amounts_of(weights))
    by_locale = [(party, pairs[party]) for party in ("a-app", "B-app", "c_app")]
    rows = links(RewardWorld(weights, allowances=by_locale))
    assert set(rows["status"]) == {"equal"}
    assert rows["reason"]["leaves"] == "parties are sorted as in a locale"


def test_validators_have_hashes_and_coupons_but_no_amounts() -> None:
    world = RewardWorld(THREE, kind="RewardKind_Validator")
    rows = lf.reconcile.rewards(world.frames())
    rows = rows[(rows["kind"] == "validator") & (rows["round_number"] == 1)].set_index("link")
    assert rows["status"].tolist() == ["unknown", "unknown", "equal", "equal", "equal", "equal"]
    assert rows["reason"]["amounts"] == "how amounts of validators come about is not public"


def test_a_round_before_rewards_by_traffic_is_unknown() -> None:
    world = RewardWorld(THREE)
    frames = world.frames()
    tables = {name: getattr(frames, name) for name in ("activity_records", "tree_events", "updates", "verdicts")}
    nodes = tables["tree_events"]
    nodes["create_arguments"] = nodes["create_arguments"].str.replace("TrafficBasedAppRewards", "FeaturedAppMarkers")
    tables["tree_events"] = nodes[~nodes["update_id"].str.startswith(("close", "confirm", "start", "batch"))]
    rows = lf.reconcile.rewards(lf.testing.frames_of(window=frames.window, **tables))
    assert set(rows["status"]) == {"unknown"}
    assert rows.groupby("round_number")["reason"].first().to_dict() == {
        0: "the start of the round is not in the frames",
        **dict.fromkeys((1, 2, 3), "the round does not reward traffic"),
    }


def test_a_window_that_starts_inside_a_round_leaves_it_unknown() -> None:
    frames = equal_frames()
    for since in ("2026-11-08T00:05:30Z", "2026-11-08T00:12:45Z", "2026-11-08T00:13:30Z"):
        rows = lf.reconcile.rewards(frames.between(since, "2026-11-08T01:00:00Z"))
        assert not set(rows["status"]) & {"differs", "missing"}
        assert "unknown" in set(rows["status"][rows["round_number"] == 1]) or 1 not in set(rows["round_number"])


def test_missing_history_is_no_difference() -> None:
    world = RewardWorld(THREE, unprocessed=["p1"])
    frames = world.frames()
    tables = {name: getattr(frames, name) for name in ("activity_records", "tree_events", "updates", "verdicts")}
    assert frames.window is not None
    parts = [(frames.window.since, "2026-11-08T00:11:30Z"), ("2026-11-08T00:12:10Z", frames.window.until)]
    coverage = [
        {"since": pd.Timestamp(since).to_pydatetime(), "until": pd.Timestamp(until).to_pydatetime(), "status": "final", "rows": 1}
        for since, until in parts
    ]
    rows = lf.reconcile.rewards(lf.testing.frames_of(window=frames.window, coverage=coverage, **tables))
    rows = rows[rows["round_number"] == 1].set_index("link")
    assert (rows["status"]["leaves"], rows["reason"]["leaves"]) == ("unknown", "history of its time is missing")


def test_the_weights_are_unknown_without_the_rights_of_the_network() -> None:
    frames = equal_frames()
    tables = {
        name: getattr(frames, name) for name in ("activity_records", "tree_events", "updates", "verdicts", "views", "quorums")
    }
    rules = tables["tree_events"]["template_name"].eq("Splice.DsoRules:DsoRules") & tables["tree_events"]["choice"].isna()
    tables["tree_events"] = tables["tree_events"][~rules]
    rows = lf.reconcile.rewards(lf.testing.frames_of(window=frames.window, **tables))
    assert rows.set_index(["round_number", "link"])["status"][1].tolist() == ["unknown", *["equal"] * 5]


def without_costs(frames: Frames, update_id: str) -> Frames:
    names = ("activity_records", "tree_events", "updates", "verdicts", "views", "quorums", "traffic", "envelopes")
    tables = {name: getattr(frames, name) for name in names}
    for name in ("traffic", "envelopes"):
        tables[name] = tables[name][tables[name]["update_id"] != update_id]
    return lf.testing.frames_of(window=frames.window, network="memory", **tables)


def test_a_weight_that_cannot_be_computed_is_unknown_and_no_finding() -> None:
    frames = without_costs(RewardWorld(TWO).frames(), "request-00000")
    rows = lf.reconcile.rewards(frames)
    first = rows[rows["round_number"] == 1].set_index("link")
    assert (first["status"]["weights"], first["reason"]["weights"]) == ("unknown", "no envelopes")
    assert (first["found"]["weights"], first["status"]["amounts"]) == (str(sum(TWO.values())), "equal")
    assert lf.findings(frames, rewards=rows).empty


def test_a_fault_counts_beside_a_weight_that_cannot_be_computed() -> None:
    frames = without_costs(RewardWorld(TWO, published={"app-1": 10_002}).frames(), "request-00000")
    row = lf.reconcile.rewards(frames).set_index(["round_number", "link"]).loc[(1, "weights")]
    expected = (str(sum(TWO.values())), str(sum(TWO.values()) + 1), "app-1")
    assert (row["status"], row["expected"], row["found"], row["example"]) == ("differs", *expected)


def test_each_party_has_its_own_proof() -> None:
    frames = equal_frames()
    rows = lf.reconcile.rewards(frames, by="party")
    assert rows["party"].tolist() == list(THREE)
    assert rows["position"].tolist() == list(range(7))
    assert rows["weight"].tolist() == list(THREE.values())
    assert [f"{amount:.10f}" for amount in rows["amount"]] == [amount for _, amount in PAIRS]
    assert rows["link"].isna().all()
    leaves = [leaf_hash(PAIRS[start : start + 2]) for start in (0, 2, 4, 6)]
    nodes = [node_hash(leaves[:2]), node_hash(leaves[2:])]
    assert rows["leaf"].tolist() == [leaves[n // 2] for n in range(7)]
    assert rows["path"].tolist() == [f"{nodes[n // 4]} {node_hash(nodes)}" for n in range(7)]
    for party in THREE:
        proof = lf.reconcile.reward_proof(frames, 1, party)
        assert proof.verify()
        assert proof == lf.reconcile.reward_tree([(name, Decimal(amount)) for name, amount in PAIRS], 2).proof(party)


@pytest.mark.parametrize(
    ("error", "party", "link"),
    [
        ("a published weight", "app-1", "weights"),
        ("an amount, hashed", "app-1", "amounts"),
        ("a party left out, hashed", "app-2", "amounts"),
        ("a coupon too few", "app-3", "coupons"),
    ],
)
def test_the_proof_of_a_party_names_the_first_link_that_does_not_hold(error: str, party: str, link: str) -> None:
    rows = lf.reconcile.rewards(planted_frames(error), by="party").set_index("party")
    assert rows["link"].dropna().to_dict() == {party: link}
    assert set(rows["status"].drop(party)) == {"equal"}


def test_no_proof_leads_to_a_root_that_differs() -> None:
    frames = planted_frames("a root")
    assert set(lf.reconcile.rewards(frames, by="party")["link"]) == {"root"}
    assert not lf.reconcile.reward_proof(frames, 1, "app-1").verify()


def test_a_proof_needs_a_reward_and_its_batches() -> None:
    frames = equal_frames()
    with pytest.raises(UsageError, match="Party 'nobody' has no reward in the batches of round 1"):
        lf.reconcile.reward_proof(frames, 1, "nobody")
    with pytest.raises(CoverageError, match="The batches of round 7 are not in these frames"):
        lf.reconcile.reward_proof(frames, 7, "app-1")
    with pytest.raises(UsageError, match=r"Unknown kind 'apps'\. Choose from app, validator"):
        lf.reconcile.reward_proof(frames, 1, "app-1", kind="apps")  # type: ignore[arg-type]


@pytest.mark.parametrize("by", [None, "party"])
def test_frames_without_rounds_have_no_rows(build: Any, by: Any) -> None:
    rows = lf.reconcile.rewards(build([]), by=by)
    assert rows.empty
    columns = lf.analysis.FIGURES["reconcile.rewards"].result_columns(by)
    assert [(name, str(dtype)) for name, dtype in rows.dtypes.items()] == [(each.name, each.dtype) for each in columns]


def test_a_part_of_the_updates_is_refused() -> None:
    frames = equal_frames()
    with pytest.raises(CoverageError, match=r"lf\.reconcile\.rewards needs all updates of its time"):
        lf.reconcile.rewards(frames.where("updates", update_id="start-1"))
