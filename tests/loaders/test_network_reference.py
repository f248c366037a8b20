"""Rounds, rights, names, rules, validators, traffic and the synchronizer, kept over time."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.api.history_snapshots import HostChangedError
from ledgerframes.api.transport import in_process
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.reference.build import name_rules_table
from ledgerframes.datasets.reference.network_build import mining_round_table
from ledgerframes.datasets.reference.network_schema import NETWORK_TABLES
from ledgerframes.datasets.reference.wire import Contract, MiningRounds
from ledgerframes.errors import CoverageError, DecodeError, NotFoundError, ServiceError, UsageError
from ledgerframes.sandbox import Sandbox

WORLD: dict[str, Any] = {"events": 600, "days": 1}
NAMES = [table.name for table in NETWORK_TABLES]
TIME, NOW = "2026-11-08T01:00:00Z", datetime(2026, 11, 8, 1, tzinfo=UTC)
CONTRACT = {"template_id": "p:M:E", "contract_id": "00", "payload": {}, "created_event_blob": "AA==", "created_at": TIME}
STATE = {"contract": CONTRACT, "domain_id": "d"}
RULES = {
    "sv_user": "sv", "sv_party_id": "sv::1", "dso_party_id": "DSO::1", "voting_threshold": 3, "latest_mining_round": STATE,
    "coin_rules": STATE, "dso_rules": STATE, "sv_node_states": [], "initial_round": "0",
}  # fmt: skip
FAUCET = {
    "validator": "v", "numRoundsCollected": 3, "numRoundsMissed": 1, "firstCollectedInRound": 5, "lastCollectedInRound": 8,
}  # fmt: skip
TRAFFIC = {"actual": {"total_consumed": 30, "total_limit": 100}, "target": {"total_purchased": 150}}
UPGRADE = {"topologyFreezeTime": TIME, "upgradeTime": "2026-11-09T00:00:00Z", "successorPhysicalSynchronizerId": "d::35-1"}
ENTRY = {"user": "u", "name": "n", "url": "", "description": ""}
REWARDS = "/v0/internal/reward-accounting-process/rounds"
Answers = dict[str, Any]
EMPTY: Answers = {
    "/v0/open-and-issuing-mining-rounds": {
        "open_mining_rounds": {}, "issuing_mining_rounds": {}, "time_to_live_in_microseconds": 1,
    },
    "/v0/closed-rounds": {"rounds": []},
    "/v0/featured-apps": {"featured_apps": []},
    "/v0/ans-entries": {"entries": []},
    "/v0/dso": RULES,
    "/v0/scans": {"scans": []},
    "/v0/admin/validator/licenses": {"validator_licenses": []},
    "/v0/validators/validator-faucets": {"validatorsReceivedFaucets": []},
    "/v0/domains/d/members/PAR::p::1220/traffic-status": {"traffic_status": TRAFFIC},
    "/v0/active-synchronizer-serial": {"serial": 35},
    "/v0/lsu": {},
    "/v0/backfilling/status": {"complete": False},
    f"{REWARDS}/7/activity-totals": {"status": "Undetermined"},
    f"{REWARDS}/7/root-hash": {"status": "Undetermined"},
}  # fmt: skip


def load(name: str, net: lf.Network, **options: Any) -> pd.DataFrame:
    frame: pd.DataFrame = getattr(lf, f"load_{name}")(net, **options)
    return frame


def connect(store: Path, box: Sandbox | None = None, **overrides: Any) -> lf.Network:
    if box is None:
        return lf.connect("sandbox", **{**WORLD, "store": store, **overrides})
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url}
    return lf.connect("sandbox", transport=in_process(box.app), store=store, requests_per_second=0, **{**urls, **overrides})


def answering(store: Path, answers: Answers, *hosts: str, seen: list[httpx.Request] | None = None) -> lf.Network:
    def handler(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        answer = {**EMPTY, **answers}.get(request.url.path)
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(404, json={"error": "unknown"}) if answer is None else httpx.Response(200, json=answer)

    urls = [f"http://{host}.invalid" for host in hosts or ("one",)]
    transport = httpx.MockTransport(handler)
    return lf.connect("sandbox", history_url=urls, transport=transport, store=store, requests_per_second=0, retries=0)


# -- the sandbox --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_frames_have_their_declared_columns_and_keys(tmp_path: Path, name: str) -> None:
    net = connect(tmp_path)
    frame, table = load(name, net), TABLES[name]
    assert len(frame)
    assert frame.dtypes.map(str).to_dict() == {column.name: column.pandas_dtype for column in table.columns}
    assert not frame.duplicated(list(table.key)).any()
    assert net.extra_members == {}


@pytest.mark.parametrize("name", NAMES)
def test_each_load_is_an_observation(tmp_path: Path, name: str) -> None:
    box = Sandbox(**WORLD)
    for day, hour in ((8, 20), (9, 2)):
        moment = pd.Timestamp(f"2026-11-{day:02}T{hour:02}:00:00Z").to_pydatetime()
        net = connect(tmp_path, box.at(moment))
        net._clock = lambda moment=moment: moment
        frame = load(name, net)
    assert frame["observed_at"].nunique() == 2
    pd.testing.assert_frame_equal(load(name, connect(tmp_path, box, offline=True)), frame)
    assert lf.plan(getattr(lf, f"load_{name}"), net)["dataset"].tolist() == [name]


@pytest.mark.parametrize("name", [*NAMES, "price_votes", "name_rules"])
def test_offline_without_an_observation_is_an_error(tmp_path: Path, name: str) -> None:
    net = connect(tmp_path, offline=True)
    with pytest.raises(CoverageError, match=r"offline, and no observation of .* Reconnect without offline=True") as caught:
        load(name, net)
    assert caught.value.missing == (name,)


def test_observations_agree_with_the_state_from_a_snapshot(tmp_path: Path) -> None:
    box = Sandbox(events=1_000, days=2)
    net = connect(tmp_path, box.at(pd.Timestamp("2026-11-09T00:00:00Z").to_pydatetime()))
    net._clock = lambda: box.now
    rounds, rights, rules = (load(name, net) for name in ("mining_rounds", "featured_apps", "network_rules"))
    contracts = lf.load_contracts(connect(tmp_path / "later", Sandbox(events=1_000, days=2)), at="2026-11-09")
    state = lf.state.rounds(contracts)
    opened = rounds[rounds["round_state"] == "open"]
    assert opened["contract_id"].tolist() == state.sort_values("round_number")["contract_id"].tolist()
    assert opened["opens_at"].tolist() == state.sort_values("round_number")["opens_at"].tolist()
    featured = lf.state.featured(contracts)
    assert set(rights["contract_id"]) == set(featured["contract_id"])
    weights = rights.set_index("contract_id")["activity_weight"].fillna(Decimal(1))
    assert weights[featured["contract_id"]].tolist() == featured["weight"].tolist()
    assert set(rules.loc[rules["kind"] == "coin_rules", "contract_id"]) == set(lf.state.config(contracts)["contract_id"])
    hosts = rules[rules["kind"] == "sv_node_state"]["payload"].map(json.loads)
    assert {host["sv"] for host in hosts} == set(lf.state.super_validators(contracts)["party"])


def test_a_balance_needs_no_typing(tmp_path: Path) -> None:
    net = connect(tmp_path)
    (row,) = load("traffic_status", net).itertuples()
    assert lf.TrafficBalance(row.balance, row.observed_at).bytes == row.total_limit - row.total_consumed
    bare, prefixed = (
        load("traffic_status", net, members=[name]) for name in (row.member_id.removeprefix("PAR::"), row.member_id)
    )
    pd.testing.assert_frame_equal(bare, prefixed)
    with pytest.raises(NotFoundError, match="No traffic state of member"):
        load("traffic_status", net, members=["PAR::nobody::1220ab"])


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        *(
            ("traffic_status", {"members": members}, "members= must be a list of one or more")
            for members in ("nobody", 5, [None], [])
        ),
        ("validator_faucets", {"validators": "v"}, "validators= must be a list of one or more parties, got 'v'"),
        ("validator_faucets", {"validators": []}, "validators= must be a list of one or more"),
        ("name_entries", {"name_prefix": 5}, "name_prefix= must be text, got 5"),
    ],
)
def test_wrong_arguments_are_refused(tmp_path: Path, name: str, options: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        load(name, answering(tmp_path, {}), **options)


def test_validators_may_be_any_collection(tmp_path: Path) -> None:
    seen: list[httpx.Request] = []
    net = answering(tmp_path, EMPTY, seen=seen)
    for validators in ({"v"}, iter(["v"]), pd.Series(["v"])):
        load("validator_faucets", net, validators=validators)
        assert seen.pop().url.params.get_list("validator_ids") == ["v"]


# -- good, empty and malformed answers ----------------------------------------------------------------------------------

GOOD: dict[str, tuple[Answers, dict[str, Any]]] = {
    "mining_rounds": (
        {
            "/v0/open-and-issuing-mining-rounds": {
                "open_mining_rounds": {"00": {**STATE, "contract": {**CONTRACT, "payload": {"round": {"number": "7"}}}}},
                "issuing_mining_rounds": {},
                "time_to_live_in_microseconds": 1,
            }
        },
        {"round_state": "open", "round_number": 7, "synchronizer_id": "d", "contract_id": "00"},
    ),
    "featured_apps": (
        {"/v0/featured-apps": {"featured_apps": [{**CONTRACT, "payload": {"provider": "a", "activityWeight": "2.5"}}]}},
        {"provider": "a", "activity_weight": Decimal("2.5")},
    ),
    "name_entries": ({"/v0/ans-entries": {"entries": [ENTRY]}}, {"name": "n", "user": "u", "name_prefix": ""}),
    "network_rules": ({}, {"kind": "coin_rules", "dso": "DSO::1", "voting_threshold": 3}),
    "scans": (
        {"/v0/scans": {"scans": [{"domainId": "d", "scans": [{"publicUrl": "https://x", "svName": "s"}]}]}},
        {"synchronizer_id": "d", "sv_name": "s", "public_url": "https://x"},
    ),
    "validator_licenses": (
        {"/v0/admin/validator/licenses": {"validator_licenses": [{**CONTRACT, "payload": {"validator": "v"}}]}},
        {"validator": "v"},
    ),
    "validator_faucets": (
        {"/v0/validators/validator-faucets": {"validatorsReceivedFaucets": [FAUCET]}},
        {"validator": "v", "num_rounds_collected": 3, "last_collected_in_round": 8},
    ),
    "traffic_status": ({}, {"member_id": "PAR::p::1220", "balance": 70, "total_purchased": 150}),
    "synchronizer_status": (
        {"/v0/lsu": {"lsu": UPGRADE}},
        {"serial": 35, "is_backfilled": False, "successor_physical_synchronizer_id": "d::35-1"},
    ),
    "reward_accounting": (
        {
            f"{REWARDS}/7/activity-totals": {
                "status": "Ok",
                "round_number": 7,
                "total_app_activity_weight": 5,
                "total_app_reward_minting_allowance": "2.5",
            }
        },
        {
            "round_number": 7,
            "totals_status": "Ok",
            "total_app_reward_minting_allowance": Decimal("2.5"),
            "root_status": "Undetermined",
        },
    ),
}
NEVER_EMPTY = ("network_rules", "traffic_status", "synchronizer_status", "reward_accounting")  # of those that are asked for
OPTIONS: dict[str, dict[str, Any]] = {
    "traffic_status": {"members": ["p::1220"]},
    "validator_faucets": {"validators": ["v"]},
    "reward_accounting": {"rounds": [7]},
}


@pytest.mark.parametrize("name", NAMES)
def test_good_answers(tmp_path: Path, name: str) -> None:
    answers, expected = GOOD[name]
    row = load(name, answering(tmp_path, answers), **OPTIONS.get(name, {})).iloc[0]
    assert {column: row[column] for column in expected} == expected


@pytest.mark.parametrize(
    "name",
    [name for name in NAMES if name not in ("network_rules", "traffic_status", "synchronizer_status", "reward_accounting")],
)
def test_empty_answers_give_an_empty_frame(tmp_path: Path, name: str) -> None:
    pd.testing.assert_frame_equal(load(name, answering(tmp_path, {}), **OPTIONS.get(name, {})), TABLES[name].empty())


def test_without_a_planned_upgrade_its_columns_are_missing(tmp_path: Path) -> None:
    row = load("synchronizer_status", answering(tmp_path, {})).iloc[0]
    assert row[["topology_freeze_time", "upgrade_time", "successor_physical_synchronizer_id"]].isna().all()


SERIAL = "/v0/active-synchronizer-serial"


@pytest.mark.parametrize("body", [{"error": "No physical synchronizer"}, {"error": "d"}])
def test_without_a_serial_the_other_columns_are_known(tmp_path: Path, body: Any) -> None:
    net = answering(tmp_path, {SERIAL: httpx.Response(404, json=body), "/v0/lsu": {"lsu": UPGRADE}})
    row = load("synchronizer_status", net).iloc[0]
    assert pd.isna(row["serial"])
    assert not row["is_backfilled"]
    assert row["successor_physical_synchronizer_id"] == "d::35-1"
    assert pd.isna(load("synchronizer_status", net, refresh=False)["serial"].iloc[0])


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, text="The requested resource could not be found."),
        httpx.Response(404, text="<html>not here</html>"),
        httpx.Response(404, text="404 page not found"),
        httpx.Response(404, json={"cause": "unknown"}),
        httpx.Response(404),
        httpx.Response(500, json={"error": "internal"}),
        httpx.Response(403, json={"error": "internal to the network"}),
    ],
)
def test_other_errors_of_the_serial_are_not_stored(tmp_path: Path, answer: httpx.Response) -> None:
    net = answering(tmp_path, {SERIAL: answer})
    with pytest.raises(ServiceError):
        load("synchronizer_status", net)
    assert load("synchronizer_status", net, refresh=False).empty


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [{}, [], {"scans": [{"domainId": 5}]}, {"serial": "soon"}, None])
def test_malformed_answers_are_refused_and_not_stored(tmp_path: Path, name: str, bad: Any) -> None:
    paths = {path: bad for path in EMPTY if path != "/v0/lsu"}
    net = answering(tmp_path, {path: httpx.Response(200, json=bad) for path in paths})
    with pytest.raises(DecodeError):
        load(name, net, **OPTIONS.get(name, {}))
    assert load(name, net, refresh=False).empty


@pytest.mark.parametrize(
    ("name", "path", "payload"),
    [
        ("featured_apps", "/v0/featured-apps", {"featured_apps": [{**CONTRACT, "payload": {"activityWeight": "much"}}]}),
        ("featured_apps", "/v0/featured-apps", {"featured_apps": [{**CONTRACT, "payload": "text"}]}),
        ("mining_rounds", "/v0/closed-rounds", {"rounds": [{**CONTRACT, "payload": {"round": {"number": "x"}}}]}),
        ("mining_rounds", "/v0/closed-rounds", {"rounds": [{**CONTRACT, "payload": {"opensAt": "x"}}]}),
        ("network_rules", "/v0/dso", {**RULES, "dso_rules": {"domain_id": "d"}}),
        ("name_entries", "/v0/ans-entries", {"entries": [{**ENTRY, "expires_at": "never"}]}),
        ("synchronizer_status", "/v0/lsu", {"lsu": {**UPGRADE, "upgradeTime": "later"}}),
    ],
)
def test_malformed_contents_are_refused(tmp_path: Path, name: str, path: str, payload: Any) -> None:
    with pytest.raises(DecodeError, match=path) as caught:
        load(name, answering(tmp_path, {path: payload}))
    assert path in caught.value.endpoint


def test_new_members_are_kept(tmp_path: Path) -> None:
    answers = {
        "/v0/scans": {"scans": [{"domainId": "d", "zone": 1, "scans": [{"publicUrl": "u", "svName": "s", "new": 2}]}]},
        "/v0/closed-rounds": {"rounds": [{**CONTRACT, "new": 3}], "next": 4},
    }
    net = answering(tmp_path, answers)
    assert json.loads(load("scans", net)["extra"][0]) == {"new": 2, "domain": {"zone": 1}}
    assert json.loads(load("mining_rounds", net)["extra"][0]) == {"new": 3}
    assert net.extra_members == {"GET /v0/closed-rounds.next": "4"}


# -- several requests ---------------------------------------------------------------------------------------------------


def test_a_full_list_of_names_may_not_be_all(tmp_path: Path) -> None:
    full = {"entries": [{**ENTRY, "name": str(number)} for number in range(1000)]}
    with pytest.raises(CoverageError, match=r"returned 1,000 names that start with 'a', and may have more"):
        load("name_entries", answering(tmp_path, {"/v0/ans-entries": full}), name_prefix="a")


def test_licenses_come_in_pages_and_faucets_in_parts(tmp_path: Path) -> None:
    def licenses(request: httpx.Request) -> Any:
        first = int(request.url.params.get("after", 0))
        page = [{**CONTRACT, "contract_id": f"00{n:02x}", "payload": {"validator": f"v{n}"}} for n in range(first, first + 50)]
        return {"validator_licenses": page, **({"next_page_token": first + 50} if first < 50 else {})}

    seen: list[httpx.Request] = []
    net = answering(tmp_path, {"/v0/admin/validator/licenses": licenses}, seen=seen)
    assert load("validator_licenses", net)["validator"].nunique() == 100
    seen.clear()
    load("validator_faucets", net)
    asked = [request.url.params.get_list("validator_ids") for request in seen if "faucets" in request.url.path]
    assert [len(each) for each in asked] == [40, 40, 20]
    assert len({name for each in asked for name in each}) == 100


@pytest.mark.parametrize(
    ("second", "verb"),
    [({"validator_licenses": []}, "continued"), (httpx.Response(400, json={"error": "token"}), "cannot continue")],
)
def test_another_host_does_not_continue_the_licenses(tmp_path: Path, second: Any, verb: str) -> None:
    pages: list[Any] = [{"validator_licenses": [CONTRACT], "next_page_token": 1}, httpx.Response(503), second]
    answer: Callable[[httpx.Request], Any] = lambda _: pages.pop(0)  # noqa: E731
    with pytest.raises(HostChangedError, match=rf"two\.invalid {verb} a listing of one\.invalid"):
        load("validator_licenses", answering(tmp_path, {"/v0/admin/validator/licenses": answer}, "one", "two"))


def contract_of(payload: dict[str, Any]) -> Contract:
    return Contract("p:M:E", "00", msgspec.Raw(json.dumps(payload).encode()), TIME)


def test_a_round_number_with_a_fraction_is_refused() -> None:
    rounds = MiningRounds({}, {})
    closed = [contract_of({"round": {"number": number}}) for number in (7, "8")]
    assert mining_round_table(rounds, closed, NOW)["round_number"].to_pylist() == [7, 8]
    with pytest.raises(DecodeError, match=r"7\.5"):
        mining_round_table(rounds, [contract_of({"round": {"number": 7.5}})], NOW)


def test_a_duration_may_have_all_digits_of_64_bits() -> None:
    def durations(microseconds: int) -> list[Any]:
        rules = contract_of({"config": {"renewalDuration": {"microseconds": str(microseconds)}}})
        return list(name_rules_table(rules, None, NOW, cache_hit=False)["renewal_duration"].to_pylist())

    assert durations(2**63 - 1) == [2**63 - 1]
    assert name_rules_table(contract_of({"config": None}), None, NOW, cache_hit=False)["renewal_duration"].to_pylist() == [None]
    with pytest.raises(DecodeError, match="larger than the API allows"):
        durations(2**63)


@pytest.mark.parametrize("config", ["none", {"renewalDuration": "90d"}, {"entryLifetime": {"microseconds": "1.5"}}])
def test_a_duration_that_cannot_be_read_is_not_missing(config: Any) -> None:
    with pytest.raises(DecodeError, match=r"config of contract|Duration.microseconds is not|entryLifetime.microseconds is not"):
        name_rules_table(contract_of({"config": config}), None, NOW, cache_hit=False)
