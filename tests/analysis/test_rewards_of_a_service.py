"""The link to what a service says of a round: each planted difference there and nowhere else."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from typing import Any

import pandas as pd
import pytest
from cases import every_nth
from reward_world import RATE, THRESHOLD, Node, RewardWorld, amounts_of, leaf_hash, tree_of
from test_rewards import LINKS, PLANTED, THREE, TWO, WRONG, changed, planted_frames

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

STEP = Decimal("1E-10")
WEIGHTS = {**THREE, "small": 4_166}  # one below the threshold
TOTALS = [name for name in lf.TABLES["reward_accounting"].column_names if name.startswith("total_app") or name.endswith("_count")]
NOT_CHECKED = "not checked: the service "


def batches_of(node: Node) -> dict[str, Any]:
    """Batches by hash as a service returns them."""
    if not node.children:
        pairs = [{"provider": party, "amount": amount} for party, amount in node.allowances]
        return {node.digest: {"batch_type": "BatchOfMintingAllowances", "minting_allowances": pairs}}
    below = {digest: batch for child in node.children for digest, batch in batches_of(child).items()}
    return {node.digest: {"batch_type": "BatchOfBatches", "child_hashes": [child.digest for child in node.children]}} | below


@cache
def unclaimed(weights: tuple[tuple[str, int], ...]) -> Decimal:
    """What is beyond the cap, which another test compares with the sandbox's own formula."""
    rounds = lf.activity.rewards(RewardWorld(dict(weights)).frames())
    value: Decimal = rounds.set_index("round_number")["unclaimed"][1]
    return value


def answer(weights: dict[str, int], size: int = 2, *, number: int = 1, other: dict[str, Any] | None = None) -> pd.DataFrame:
    """What a service says of a round, with other values as a test wants them."""
    tree = tree_of(amounts_of(weights), size)
    below = [Decimal(weight) * RATE / 10**6 for weight in weights.values() if Decimal(weight) * RATE / 10**6 < THRESHOLD]
    row = {
        "observed_at": pd.Timestamp("2026-11-09T00:00:00Z"),
        "round_number": number,
        "totals_status": "Ok",
        "total_app_activity_weight": sum(weights.values()),
        "active_parties_count": len(weights),
        "activity_records_count": len(weights),
        "total_app_reward_minting_allowance": sum((Decimal(amount) for _, amount in amounts_of(weights)), Decimal(0)),
        "total_app_reward_thresholded": sum(below, Decimal(0)),
        "total_app_reward_unclaimed": unclaimed(tuple(weights.items())),
        "rewarded_app_provider_parties_count": len(amounts_of(weights)),
        "root_status": "Ok",
        "root_hash": tree.digest,
        "batches": json.dumps(batches_of(tree)),
        "extra": None,
    }
    assert set(row) == set(lf.TABLES["reward_accounting"].column_names)
    return pd.DataFrame([{**row, **(other or {})}])


@cache
def equal_frames() -> Frames:
    """Frames of a ledger without an error, whose other links are computed once."""
    return RewardWorld(WEIGHTS).frames()


def links(world: RewardWorld, service: pd.DataFrame | None) -> pd.DataFrame:
    return links_of(world.frames(), service)


def links_of(frames: Frames, service: pd.DataFrame | None) -> pd.DataFrame:
    rows = lf.reconcile.rewards(frames, service=service)
    return rows[rows["round_number"] == 1].set_index("link")


@pytest.mark.parametrize("is_dry_run", every_nth([False, True], 2))
@pytest.mark.parametrize(("weights", "size"), [({}, 2), ({"app-0": 9_000}, 2), (TWO, 2), (WEIGHTS, 2), (WEIGHTS, 100)])
def test_a_service_that_computes_the_same_agrees(weights: dict[str, int], size: int, is_dry_run: bool) -> None:
    rows = links(RewardWorld(weights, size, is_dry_run), answer(weights, size))
    assert rows.index.tolist() == [*LINKS, "service"]
    assert set(rows["status"]) == {"equal"}
    assert rows["found"]["service"] == rows["found"]["root"]


def test_without_answers_there_is_no_such_link() -> None:
    with_answers, without = (links_of(equal_frames(), service) for service in (answer(WEIGHTS), None))
    assert without.index.tolist() == LINKS
    pd.testing.assert_frame_equal(with_answers.loc[LINKS].drop(columns="coverage"), without.drop(columns="coverage"))


def total(name: str, difference: Decimal | int) -> dict[str, Any]:
    return {name: answer(WEIGHTS).iloc[0][name] + difference}


PAIRS = amounts_of(WEIGHTS)
TREE = tree_of(PAIRS, 2)
OTHER_AMOUNT = tree_of(changed(WEIGHTS, STEP), 2)
LEFT_OUT = tree_of([pair for pair in PAIRS if pair[0] != "app-2"], 2)
SWAPPED = tree_of([PAIRS[1], PAIRS[0], *PAIRS[2:]], 2)
FIRST_LEAF = leaf_hash(PAIRS[:2])


def with_batch(digest: str, batch: object) -> dict[str, Any]:
    return {"batches": json.dumps({**batches_of(TREE), digest: batch})}


def with_tree(node: Node) -> dict[str, Any]:
    return {"root_hash": node.digest, "batches": json.dumps(batches_of(node))}


DIFFERENCES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a weight": (total("total_app_activity_weight", 1), "differs", "it differs in: weight"),
    "a party": (total("active_parties_count", 1), "differs", "it differs in: parties"),
    "a record": (total("activity_records_count", -1), "differs", "it differs in: records"),
    "an amount": (total("total_app_reward_minting_allowance", STEP), "differs", "it differs in: amount"),
    "what is below": (total("total_app_reward_thresholded", Decimal("0.001")), "differs", "it differs in: below the threshold"),
    "what is beyond": (total("total_app_reward_unclaimed", STEP), "differs", "it differs in: unclaimed"),
    "rewarded parties": (total("rewarded_app_provider_parties_count", 1), "differs", "it differs in: rewarded parties"),
    "a root": ({"root_hash": WRONG}, "differs", "it differs in: root"),
    "an amount in the tree": (with_tree(OTHER_AMOUNT), "differs", "it differs in: root"),
    "a party left out of the tree": (with_tree(LEFT_OUT), "differs", "it differs in: root"),
    "an order in the tree": (with_tree(SWAPPED), "differs", "it differs in: root"),
    "a batch that is absent": (with_batch(FIRST_LEAF, None), "missing", "the service has no such batch"),
    "an amount in a batch": (
        with_batch(FIRST_LEAF, batches_of(OTHER_AMOUNT)[leaf_hash(changed(WEIGHTS, STEP)[:2])]),
        "differs",
        "a batch has another hash",
    ),
    "a hash in a batch": (
        with_batch(TREE.digest, {"batch_type": "BatchOfBatches", "child_hashes": [WRONG, TREE.children[1].digest]}),
        "differs",
        "a batch has another hash",
    ),
}


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_a_difference_of_the_service_is_found_at_its_link_and_nowhere_else(difference: str) -> None:
    other, status, reason = DIFFERENCES[difference]
    rows = links_of(equal_frames(), answer(WEIGHTS, other=other))
    assert rows["status"].to_dict() == {**dict.fromkeys(LINKS, "equal"), "service": status}
    assert rows["reason"]["service"] == reason


# One for each link and status; `test_rewards.py` plants all of them.
OF_THE_LEDGER = {str(expected): error for error, (_, expected) in PLANTED.items()}.values()


@pytest.mark.parametrize("error", every_nth(OF_THE_LEDGER, 4))
def test_an_error_of_the_ledger_is_none_of_the_service(error: str) -> None:
    _, expected = PLANTED[error]
    rows = links_of(planted_frames(error), answer(THREE))
    faults = rows["status"][~rows["status"].isin(["equal", "unknown"])]
    assert faults.to_dict() == expected
    assert rows["status"]["service"] == "equal"


MIXED = {"B-app": 9_000, "a-app": 9_001, "c_app": 9_002, "cab": 9_003}


@cache
def frames_without_a_root() -> Frames:
    return RewardWorld(MIXED, is_started=False, is_followed=False).frames()


def sorted_as(*parties: str) -> dict[str, Any]:
    """What a service says that numbers the parties in this order."""
    amounts = dict(amounts_of(MIXED))
    return with_tree(tree_of([(party, amounts[party]) for party in parties], 2))


@pytest.mark.parametrize(
    ("parties", "status", "reason"),
    [
        (("B-app", "a-app", "c_app", "cab"), "equal", None),
        (("a-app", "B-app", "cab", "c_app"), "equal", "parties are sorted as in a locale"),
        (("a-app", "B-app", "c_app", "cab"), "equal", "parties are sorted as in a locale"),
        (("cab", "B-app", "a-app", "c_app"), "differs", "it differs in: root"),
    ],
)
def test_before_the_ledger_has_a_root_a_service_can_sort_as_in_a_locale(
    parties: tuple[str, ...], status: str, reason: str | None
) -> None:
    row = links_of(frames_without_a_root(), answer(MIXED, other=sorted_as(*parties))).loc["service"]
    assert row["status"] == status
    assert row["reason"] == reason if reason else pd.isna(row["reason"])


def test_an_order_of_a_locale_is_said_beside_what_is_not_compared() -> None:
    silent = {**dict.fromkeys(TOTALS), "totals_status": "Undetermined", **sorted_as("a-app", "B-app", "cab", "c_app")}
    row = links_of(frames_without_a_root(), answer(MIXED, other=silent)).loc["service"]
    assert (row["status"], row["reason"]) == ("equal", "parties are sorted as in a locale, without the totals")


def test_an_order_of_a_locale_differs_from_another_order_on_the_ledger() -> None:
    service = answer(MIXED, other=sorted_as("a-app", "B-app", "cab", "c_app"))
    assert links_of(RewardWorld(MIXED).frames(), service)["status"]["service"] == "differs"


def test_a_difference_has_its_amount_and_its_party() -> None:
    row = links_of(equal_frames(), answer(WEIGHTS, other=with_tree(OTHER_AMOUNT))).loc["service"]
    assert (row["expected"], row["found"]) == (TREE.digest, OTHER_AMOUNT.digest)
    assert (row["difference"], row["example"]) == (STEP, "app-1")
    left_out = links_of(equal_frames(), answer(WEIGHTS, other=with_tree(LEFT_OUT))).loc["service"]
    assert (left_out["difference"], left_out["example"]) == (Decimal(dict(PAIRS)["app-2"]), "app-2")
    weight = links_of(equal_frames(), answer(WEIGHTS, other=total("total_app_activity_weight", 1))).loc["service"]
    assert (weight["expected"], weight["found"]) == (str(sum(WEIGHTS.values())), str(sum(WEIGHTS.values()) + 1))
    assert weight[["difference", "example"]].isna().all()


def test_a_service_can_have_what_is_published_or_what_is_computed() -> None:
    frames = planted_frames("a published weight")
    for weights in (THREE, {**THREE, "app-1": 10_002}):
        assert links_of(frames, answer(weights))["status"]["service"] == "equal"


@pytest.mark.parametrize("status", ["Undetermined", "CannotProvide", "Later"])
def test_an_absent_answer_says_not_checked_and_why(status: str) -> None:
    silent = {**dict.fromkeys([*TOTALS, "root_hash", "batches"]), "totals_status": status, "root_status": status}
    rows = links_of(equal_frames(), answer(WEIGHTS, other=silent))
    assert (rows["status"]["service"], rows["reason"]["service"]) == ("unknown", f"{NOT_CHECKED}answers {status}")
    assert set(rows["status"][LINKS]) == {"equal"}


def test_the_latest_answer_with_a_root_counts() -> None:
    silent = {**dict.fromkeys([*TOTALS, "root_hash", "batches"]), "totals_status": "Later", "root_status": "Later"}
    later = answer(WEIGHTS, other={**silent, "observed_at": pd.Timestamp("2026-11-10T00:00:00Z")})
    both = pd.concat([answer(WEIGHTS).astype("object"), later.astype("object")])
    assert links_of(equal_frames(), both)["status"]["service"] == "equal"


def test_what_is_not_asked_or_not_known_is_not_checked() -> None:
    rows = lf.reconcile.rewards(equal_frames(), service=answer(WEIGHTS, number=9))
    row = rows[rows["round_number"] == 1].set_index("link").loc["service"]
    assert (row["status"], row["reason"]) == ("unknown", f"{NOT_CHECKED}was not asked for the round")
    assert lf.show(rows, picture=False).statement == lf.show(lf.reconcile.rewards(equal_frames()), picture=False).statement
    validators = RewardWorld(WEIGHTS, kind="RewardKind_Validator")
    rows = lf.reconcile.rewards(validators.frames(), service=answer(WEIGHTS))
    rows = rows[(rows["kind"] == "validator") & (rows["link"] == "service") & (rows["round_number"] == 1)]
    assert rows["reason"].tolist() == [f"{NOT_CHECKED}has the rewards of apps only"]
    frames = RewardWorld(WEIGHTS, is_followed=False, is_started=False).frames()
    assert frames.window is not None
    rows = lf.reconcile.rewards(frames.between("2026-11-08T00:06:00Z", frames.window.until), service=answer(WEIGHTS))
    rows = rows[(rows["link"] == "service") & (rows["round_number"] == 1)]
    assert set(rows["status"]) <= {"unknown"}


def test_a_part_of_an_answer_is_compared_as_far_as_it_goes() -> None:
    rootless = {"root_status": "Undetermined", "root_hash": None, "batches": None}
    row = links_of(equal_frames(), answer(WEIGHTS, other=rootless)).loc["service"]
    assert (row["status"], row["reason"]) == ("equal", "without the root")
    totals = {**dict.fromkeys(TOTALS), "totals_status": "Undetermined"}
    row = links_of(equal_frames(), answer(WEIGHTS, other=totals)).loc["service"]
    assert (row["status"], row["reason"]) == ("equal", "without the totals")


def test_a_party_learns_that_the_service_differs() -> None:
    frames = equal_frames()
    rows = lf.reconcile.rewards(frames, by="party", service=answer(WEIGHTS, other=with_tree(OTHER_AMOUNT))).set_index("party")
    assert rows["link"].dropna().to_dict() == {"app-1": "service"}
    assert (rows["status"]["app-1"], rows["difference"]["app-1"]) == ("differs", STEP)
    assert set(rows["status"].drop("app-1")) == {"equal"}
    assert set(lf.reconcile.rewards(frames, by="party", service=answer(WEIGHTS))["status"]) == {"equal"}


@cache
def frames_without_rewards() -> Frames:
    return RewardWorld({}).frames()


@pytest.mark.parametrize("bad", [5, "text", pd.DataFrame({"round_number": [1]})])
def test_what_is_no_table_of_answers_is_refused(bad: Any) -> None:
    with pytest.raises(UsageError, match=r"service= must be a table of lf\.load_reward_accounting"):
        lf.reconcile.rewards(frames_without_rewards(), service=bad)


@pytest.mark.parametrize(
    "text", every_nth(["[1]", "{", '{"ab": 5}', '{"ab": {"batch_type": "BatchOfBatches"}}', "[" * 100_000], 2)
)
def test_batches_of_another_shape_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"service= must have batches as lf\.load_reward_accounting returns them"):
        lf.reconcile.rewards(frames_without_rewards(), service=answer({}, other={"batches": text}))


def test_batches_in_a_circle_end() -> None:
    circle = {"batch_type": "BatchOfBatches", "child_hashes": [WRONG, WRONG]}
    service = answer(WEIGHTS, other={"root_hash": WRONG, "batches": json.dumps({WRONG: circle})})
    assert links_of(equal_frames(), service)["status"]["service"] == "differs"


def test_answers_without_rows_leave_all_rounds_unchecked() -> None:
    rows = lf.reconcile.rewards(equal_frames(), service=lf.TABLES["reward_accounting"].empty())
    assert set(rows["status"][rows["link"] == "service"]) == {"unknown"}


def test_the_sandbox_and_its_service_agree(sandbox_net: lf.Network, sandbox_history: Frames) -> None:
    numbers = lf.activity.rewards(sandbox_history)["round_number"]
    service = lf.load_reward_accounting(sandbox_net, rounds=numbers)
    rows = lf.reconcile.rewards(sandbox_history, service=service)
    rows = rows[rows["link"] == "service"]
    assert set(rows["status"]) == {"equal", "unknown"}
    assert (rows["status"] == "equal").mean() > 0.6
    assert rows["found"][rows["status"] == "equal"].notna().all()
