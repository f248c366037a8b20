"""Rewards of rounds as a node computes them, kept over time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from test_network_reference import REWARDS, answering

import ledgerframes as lf
from ledgerframes.datasets import TABLES
from ledgerframes.errors import DecodeError, NotFoundError, UsageError
from ledgerframes.loaders import reward_accounting

TOTALS = {
    "status": "Ok", "round_number": 7, "total_app_activity_weight": 5000, "active_parties_count": 3,
    "activity_records_count": 4, "total_app_reward_minting_allowance": "3.5", "total_app_reward_thresholded": "0.0",
    "total_app_reward_unclaimed": "1.25", "rewarded_app_provider_parties_count": 2,
}  # fmt: skip
ROOT = {"status": "Ok", "round_number": 7, "root_hash": "aa"}
LEAF = {"batch_type": "BatchOfMintingAllowances", "minting_allowances": [{"provider": "a", "amount": "3.5"}]}
NODE = {"batch_type": "BatchOfBatches", "child_hashes": ["bb", "cc"]}
GOOD = {
    f"{REWARDS}/7/activity-totals": TOTALS,
    f"{REWARDS}/7/root-hash": ROOT,
    f"{REWARDS}/7/batches/aa": NODE,
    f"{REWARDS}/7/batches/bb": LEAF,
}


def load(store: Path, answers: dict[str, Any], rounds: Any = (7,)) -> pd.DataFrame:
    return lf.load_reward_accounting(answering(store, {**GOOD, **answers}), rounds=rounds)


def test_an_answer_has_totals_root_and_batches(tmp_path: Path) -> None:
    (row,) = load(tmp_path, {}).itertuples()
    assert (row.total_app_activity_weight, row.activity_records_count, row.root_hash) == (5000, 4, "aa")
    assert str(row.total_app_reward_unclaimed) == "1.2500000000"
    assert json.loads(str(row.batches)) == {"aa": NODE, "bb": LEAF, "cc": None}  # the node has no batch cc


def test_no_round_gives_an_empty_frame(tmp_path: Path) -> None:
    pd.testing.assert_frame_equal(load(tmp_path, {}, []), TABLES["reward_accounting"].empty())


def test_by_default_rounds_that_are_not_open_any_more(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=600, days=1, store=tmp_path)
    rounds = lf.load_mining_rounds(net)
    ended = rounds["round_number"][rounds["round_state"] != "open"]
    assert lf.load_reward_accounting(net)["round_number"].tolist() == sorted(ended) != []


def test_other_rows_of_the_same_moment_are_another_observation(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=600, days=1, store=tmp_path)
    first = lf.load_reward_accounting(net)
    one = first["round_number"].iloc[:1].tolist()
    both = lf.load_reward_accounting(net, rounds=one)
    assert both["round_number"].tolist() == [*first["round_number"], *one]
    assert both["observed_at"].drop_duplicates().diff().dropna().tolist() == [pd.Timedelta(microseconds=1)]
    assert len(lf.load_reward_accounting(net, rounds=one)) == len(both)  # nothing is new


def test_rounds_can_be_those_of_a_result(tmp_path: Path) -> None:
    for number, rounds in enumerate([np.array([7, 7]), pd.Series([7], dtype="Int64"), iter([7]), {7}]):
        assert load(tmp_path / str(number), {}, rounds)["round_number"].tolist() == [7]


@pytest.mark.parametrize("rounds", ["7", 7, [7.5], [None], ["7"], [pd.NA]])
def test_what_are_no_rounds_is_refused(tmp_path: Path, rounds: Any) -> None:
    with pytest.raises(UsageError, match="rounds= must be a list of mining rounds"):
        load(tmp_path, {}, rounds)


@pytest.mark.parametrize(
    ("path", "answer", "reason"),
    [
        ("activity-totals", {**TOTALS, "round_number": 8}, "for round 7 is about round 8"),
        ("root-hash", {**ROOT, "round_number": 8}, "for round 7 is about round 8"),
        ("activity-totals", {"status": "Ok"}, "has the status Ok, and no total_app_activity_weight"),
        ("root-hash", {"status": "Ok"}, "has the status Ok, and no root_hash"),
        ("activity-totals", {**TOTALS, "total_app_reward_unclaimed": "much"}, "much"),
        ("activity-totals", {**TOTALS, "total_app_activity_weight": 2**63}, "larger"),
        ("batches/aa", {**LEAF, "minting_allowances": [{"provider": "a", "amount": "much"}]}, "much"),
        ("batches/aa", {"batch_type": "BatchOfBatches", "child_hashes": [5]}, "child_hashes"),
        ("batches/aa", {"child_hashes": []}, "batch_type"),
    ],
)
def test_malformed_answers_are_refused_and_not_stored(tmp_path: Path, path: str, answer: Any, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        load(tmp_path, {f"{REWARDS}/7/{path}": answer})
    assert lf.load_reward_accounting(answering(tmp_path, {}), refresh=False).empty


def test_a_service_without_these_operations_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load(tmp_path, {}, [9])


def test_a_batch_that_a_proxy_does_not_find_is_not_one_that_the_node_does_not_have(tmp_path: Path) -> None:
    net = answering(tmp_path, {**GOOD, f"{REWARDS}/7/batches/cc": httpx.Response(404, text="404 page not found")})
    with pytest.raises(NotFoundError, match="404 page not found"):
        lf.load_reward_accounting(net, rounds=[7])
    assert lf.load_reward_accounting(net, refresh=False).empty


def test_batches_in_a_circle_end(tmp_path: Path) -> None:
    (row,) = load(tmp_path, {f"{REWARDS}/7/batches/bb": {**NODE, "child_hashes": ["aa", "bb"]}}).itertuples()
    assert set(json.loads(str(row.batches))) == {"aa", "bb", "cc"}


def test_batches_without_an_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reward_accounting, "MAX_BATCHES", 2)
    with pytest.raises(DecodeError, match="Round 7 has more than 2 batches of rewards"):
        load(tmp_path, {})


def test_new_members_are_kept(tmp_path: Path) -> None:
    allowance = {"provider": "a", "amount": "3.5", "new": 3}
    answers = {
        f"{REWARDS}/7/activity-totals": {**TOTALS, "new": 1},
        f"{REWARDS}/7/root-hash": {**ROOT, "new": 2},
        f"{REWARDS}/7/batches/bb": {**LEAF, "minting_allowances": [allowance]},
    }
    net = answering(tmp_path, {**GOOD, **answers})
    (row,) = lf.load_reward_accounting(net, rounds=[7]).itertuples()
    assert json.loads(str(row.extra)) == {"new": 1, "root": {"new": 2}}
    route = f"GET {REWARDS}/{{round_number}}/batches/{{batch_hash}}"
    assert net.extra_members == {f"{route}.minting_allowances[...].new": "3"}
