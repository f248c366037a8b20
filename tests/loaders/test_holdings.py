"""Sums of coin at snapshots: those of the sandbox, and good, empty and malformed answers."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.datasets import TABLES
from ledgerframes.errors import CoverageError, DecodeError, UsageError

TIME = "2026-11-08T21:00:00Z"
VERDICT = {
    "update_id": "1220aa", "record_time": TIME, "migration_id": 4, "finalization_time": TIME, "domain_id": "d",
    "submitting_parties": [], "submitting_participant_uid": "p", "verdict_result": "VERDICT_RESULT_ACCEPTED",
    "mediator_group": 0, "transaction_views": {"views": [], "root_views": []},
}  # fmt: skip
SUMS = {"party_id": "a", "total_unlocked_coin": "1.5", "total_locked_coin": "0E-10", "total_coin_holdings": "1.5"}


def answering(store: Path, *summaries: Any, seen: list[Any] | None = None, whole: Any = None) -> lf.Network:
    """A network with one migration, one snapshot, and these sums."""

    def handler(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else {}
        if seen is not None and request.url.path.endswith("summary"):
            seen.append(body)
        answers: dict[str, Any] = {
            "/v0/events": {"events": [] if "after" in body else [{"update": None, "verdict": VERDICT}]},
            "/v0/state/acs/snapshot-timestamp": {"record_time": TIME},
            "/v1/holdings/summary": whole or {"record_time": TIME, "migration_id": 4, "summaries": summaries},
        }
        return httpx.Response(200, json=answers[request.url.path])

    transport = httpx.MockTransport(handler)
    return lf.connect("sandbox", history_url="http://one.invalid", transport=transport, store=store, requests_per_second=0)


def test_sums_of_the_sandbox_are_those_of_its_coins(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=600, days=1, store=tmp_path)
    sums = lf.load_holdings_summary(net)
    assert sums.dtypes.map(str).to_dict() == {each.name: each.pandas_dtype for each in TABLES["holdings_summary"].columns}
    assert net.extra_members == {}
    own = lf.load_parties(net).query("is_local")["party"]
    assert set(sums["party"]) == set(own)
    party = sums.loc[sums["total_coin_holdings"].notna(), "party"].iloc[0]
    coins = lf.load_contracts(net, owners=[party])["create_arguments"].map(json.loads)
    amounts = [Decimal((coin.get("coin") or coin)["amount"]["initialAmount"]) for coin in coins]
    assert sums.set_index("party")["total_coin_holdings"][party] == sum(amounts)


def test_good_sums(tmp_path: Path) -> None:
    sums = lf.load_holdings_summary(answering(tmp_path, {**SUMS, "new": 5}), owners=["b", "a", "a"])
    assert sums["party"].tolist() == ["a", "b"]
    assert sums["total_unlocked_coin"].tolist()[0] == Decimal("1.5")
    assert sums["total_locked_coin"].tolist()[0] == 0
    assert sums["extra"].tolist()[0] == '{"new":5}'
    assert sums[["total_unlocked_coin", "total_locked_coin", "total_coin_holdings", "extra"]].isna().all(axis=1).tolist()[1]


def test_no_sums(tmp_path: Path) -> None:
    assert lf.load_holdings_summary(answering(tmp_path), owners=["a"])["total_coin_holdings"].isna().all()


@pytest.mark.parametrize(
    "summaries",
    [
        [{**SUMS, "total_locked_coin": "much"}],
        [{**SUMS, "total_locked_coin": 5}],
        [{**SUMS, "total_locked_coin": "0.00000000001"}],
        [{"party_id": "a"}],
        [{**SUMS, "party_id": "c"}],
        [SUMS, SUMS],
        ["a"],
    ],
)
def test_malformed_sums_are_refused(tmp_path: Path, summaries: list[Any]) -> None:
    with pytest.raises(DecodeError):
        lf.load_holdings_summary(answering(tmp_path, *summaries), owners=["a", "b"])


@pytest.mark.parametrize("whole", [{"summaries": []}, [], {"record_time": TIME, "migration_id": 4}])
def test_malformed_answers_are_refused(tmp_path: Path, whole: Any) -> None:
    with pytest.raises(DecodeError):
        lf.load_holdings_summary(answering(tmp_path, whole=whole or [1]), owners=["a"])


def test_owners_are_sent_in_parts_and_a_snapshot_is_asked_once(tmp_path: Path) -> None:
    seen: list[Any] = []
    owners = [f"p{number}" for number in range(1_500)]
    sums = lf.load_holdings_summary(answering(tmp_path, seen=seen), owners=owners, at=["2026-11-09", "2026-11-10"])
    assert len(sums) == 1_500
    assert [len(each["owner_party_ids"]) for each in seen] == [1_000, 500]


@pytest.mark.parametrize("owners", ["a", [], ["a", 5]])
def test_owners_are_a_list_of_parties(tmp_path: Path, owners: Any) -> None:
    with pytest.raises(UsageError, match="owners= must be a list"):
        lf.load_holdings_summary(answering(tmp_path), owners=owners)


def test_a_time_of_numpy_has_no_zone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at= must be a time"):
        lf.load_holdings_summary(answering(tmp_path), owners=["a"], at=np.datetime64("2026-11-08T12:00"))  # type: ignore[arg-type]


def test_owners_of_a_frame_are_a_list(tmp_path: Path) -> None:
    seen: list[Any] = []
    for owners in (pd.Series(["a", "b"]), np.array(["a", "b"])):
        lf.load_holdings_summary(answering(tmp_path, seen=seen), owners=owners)
        assert seen.pop()["owner_party_ids"] == ["a", "b"]
    with pytest.raises(UsageError, match="owners= must be a list"):
        lf.load_holdings_summary(answering(tmp_path), owners=pd.Series([], dtype=str))


def test_sums_are_not_stored(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=600, days=1, store=tmp_path)
    lf.load_holdings_summary(net)
    with pytest.raises(CoverageError, match="is offline, and sums of coin are not in the store"):
        lf.load_holdings_summary(lf.connect("sandbox", events=600, days=1, store=tmp_path, offline=True))
