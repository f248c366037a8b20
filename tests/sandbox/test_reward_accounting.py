"""Rewards of rounds as the node computes them (docs/facts.md#reward-accounting)."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.errors import NotFoundError, UsageError
from ledgerframes.sandbox import Sandbox

PREFIX = "/v0/internal/reward-accounting-process/rounds"


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    box = Sandbox(events=2_000, days=1)
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url}
    store: Path = tmp_path_factory.mktemp("store")
    return lf.connect("sandbox", transport=in_process(box.app), store=store, requests_per_second=0, **urls)


@pytest.fixture(scope="module")
def rounds(net: lf.Network) -> pd.DataFrame:
    """The rounds with a reward, by another computation."""
    history = lf.load_events(net, since="0001-01-01")
    table = lf.activity.rewards(history)
    rules = lf.state.rounds(history).drop_duplicates("round_number").set_index("round_number")
    table = table[~table["is_partial"].astype(bool) & table["amount"].notna()]
    return table[table["round_number"].map(rules["minting_version"]).notna()]


@pytest.mark.exhaustive
def test_totals_and_roots_are_those_of_our_own_formula(net: lf.Network, rounds: pd.DataFrame) -> None:
    by_party = lf.activity.rewards(lf.load_events(net, since="0001-01-01"), by="party")
    compared = 0
    for row in rounds.tail(30).itertuples():
        number = int(row.round_number)
        totals, root = net.history.reward_totals(number), net.history.reward_root(number)
        assert (totals.status, totals.round_number, root.status) == ("Ok", number, "Ok")
        assert totals.total_app_activity_weight == row.weight
        assert Decimal(str(totals.total_app_reward_minting_allowance)) == row.amount
        # Ours is the rest of the total, so that it has the rounding of each allowance.
        rounding = Decimal("1e-10") * int(totals.active_parties_count or 0)
        assert abs(Decimal(str(totals.total_app_reward_thresholded)) - row.thresholded) <= rounding
        assert Decimal(str(totals.total_app_reward_unclaimed)) == row.unclaimed
        of_round = by_party[(by_party["round_number"] == number) & by_party["amount"].notna()]
        paid = [pair for pair in zip(of_round["party"], of_round["amount"], strict=True) if pair[1] > 0]
        assert totals.rewarded_app_provider_parties_count == len(paid)
        tree = lf.reconcile.reward_tree(paid, batch_size=2)
        assert root.root_hash == tree.root
        compared += len(paid)
    assert compared > 30


def test_batches_lead_from_the_root_to_every_allowance(net: lf.Network, rounds: pd.DataFrame) -> None:
    number = int(rounds["round_number"].iloc[-1])
    waiting, allowances = [str(net.history.reward_root(number).root_hash)], []
    while waiting:
        batch = net.history.reward_batch(number, waiting.pop(0))
        assert batch.batch_type == ("BatchOfBatches" if batch.child_hashes else "BatchOfMintingAllowances")
        waiting += batch.child_hashes or []
        allowances += batch.minting_allowances or []
    totals = net.history.reward_totals(number)
    assert sum(Decimal(each.amount) for each in allowances) == Decimal(str(totals.total_app_reward_minting_allowance))
    assert [each.provider for each in allowances] == sorted(each.provider for each in allowances)
    for unknown in ("00ab", "x"):
        with pytest.raises(NotFoundError, match="No batch"):
            net.history.reward_batch(number, unknown)


def test_rounds_without_rewards_say_so(net: lf.Network) -> None:
    first = net.history.earliest_reward_round()
    for number, status in ((first - 100, "CannotProvide"), (0, "CannotProvide"), (10**9, "Undetermined")):
        assert net.history.reward_totals(number).status == status
        root = net.history.reward_root(number)
        assert (root.status, root.root_hash) == (status, None)
        with pytest.raises(NotFoundError):
            net.history.reward_batch(number, "00")


@pytest.mark.parametrize("number", [-1, "1", True, 1.0, 2**63])
def test_what_is_no_round_is_refused_before_it_is_sent(net: lf.Network, number: Any) -> None:
    for call in (net.history.reward_totals, net.history.reward_root):
        with pytest.raises(UsageError, match="round_number= must be"):
            call(number)


def test_a_path_without_a_round_is_unknown() -> None:
    box = Sandbox(events=300, days=1)
    client = httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.history_url)
    assert client.get(f"{PREFIX}/first/root-hash").status_code == 404
