"""Rewards of the sandbox: every round's chain holds, whatever the window."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.frames import Frames


@pytest.fixture(scope="module")
def links(sandbox_history: Frames) -> pd.DataFrame:
    return lf.reconcile.rewards(sandbox_history)


def test_every_link_of_every_round_holds(links: pd.DataFrame) -> None:
    assert set(links["status"]) == {"equal", "unknown"}
    unknown = links[links["status"] == "unknown"]
    reasons = {
        "the round does not reward traffic",
        "records of the round can be missing",
        "it is not processed by the end of the frames",
        "no root is in the frames",
    }
    assert set(unknown["reason"]) == reasons
    is_usual = unknown["reason"] == "the round does not reward traffic"
    assert len(unknown[~is_usual]) < len(links) / 20
    equal = links[links["status"] == "equal"]
    assert set(equal["link"]) == {"weights", "amounts", "leaves", "root", "confirmations", "coupons"}
    assert set(equal["is_dry_run"]) == {True, False}
    assert {"1", "2"} <= set(equal["found"][equal["link"] == "leaves"])


def test_coupons_are_used_expire_or_stay_open(links: pd.DataFrame) -> None:
    found = " ".join(links["found"][links["link"] == "coupons"].dropna())
    assert "used" in found and "open" in found and "expired" in found


@pytest.mark.exhaustive
def test_every_party_can_prove_its_reward(sandbox_history: Frames) -> None:
    rows = lf.reconcile.rewards(sandbox_history, by="party")
    assert set(rows["status"]) == {"equal", "unknown"}
    coupons = sandbox_history.tree_events[lambda nodes: nodes["template_name"].eq("Splice.Coin:RewardCouponV2")]
    paid = rows[~rows["is_dry_run"].astype(bool)]
    assert 0 < len(paid) <= len(coupons)
    for row in rows.iloc[:: max(1, len(rows) // 10)].itertuples():
        proof = lf.reconcile.reward_proof(sandbox_history, row.round_number, row.party)
        assert proof.verify()
        assert (proof.amount, proof.position) == (Decimal(row.amount), row.position)


@pytest.mark.parametrize("seed", range(4))
def test_no_window_makes_a_difference(sandbox_history: Frames, links: pd.DataFrame, seed: int) -> None:
    """A window that starts or ends within a round leaves links unknown. Those that it tells are those of the history."""
    assert sandbox_history.window is not None
    draws = random.Random(seed)
    begin = sandbox_history.coverage["until"].max().to_pydatetime() - timedelta(hours=30)
    since = begin + timedelta(minutes=draws.uniform(0, 20 * 60))
    part = lf.reconcile.rewards(sandbox_history.between(since, since + timedelta(minutes=draws.uniform(30, 9 * 60))))
    assert set(part["status"]) <= {"equal", "unknown"}
    keys = ["round_number", "link", "is_dry_run"]
    both = part[part["status"] == "equal"].merge(links, on=keys, suffixes=("", "_all"))
    assert len(both) == (part["status"] == "equal").sum() > 0
    assert (both["status_all"] == "equal").all()
    is_root = both["link"] == "root"
    assert both["found"][is_root].tolist() == both["found_all"][is_root].tolist()


@pytest.mark.exhaustive
def test_the_words_of_a_network_make_no_difference(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=600, days=1, vocabulary="canton", store=tmp_path)
    links = lf.reconcile.rewards(lf.load_events(net, since="0001-01-01", until=net.now()))
    assert set(links["status"]) == {"equal", "unknown"}
    assert (links["status"] == "equal").mean() > 0.5
