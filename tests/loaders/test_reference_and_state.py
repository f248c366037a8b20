from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.api.response import Response
from ledgerframes.api.transport import in_process
from ledgerframes.datasets import TABLES, Table
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.errors import BadRequestError, DecodeError, UsageError
from ledgerframes.loaders import state
from ledgerframes.sandbox import Sandbox

WORLD = {"events": 600, "days": 1}
PAYLOADS = ["create_arguments", "choice_argument", "exercise_result"]
STATE = ["active_contracts", "completions", "parties", "packages", "synchronizers"]


def connect(store: Path, box: Sandbox | None = None, **overrides: Any) -> lf.Network:
    if box is None:
        return lf.connect("sandbox", **{**WORLD, "store": store, **overrides})
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    options = {"transport": in_process(box.app), "requests_per_second": 0, **urls, **overrides}
    return lf.connect("sandbox", store=store, **options)


def table_of(name: str) -> Table:
    """The table that a loader of state gives; plain ``active_contracts`` are the network's own, from bulk objects."""
    return TABLES["ledger_active_contracts" if name == "active_contracts" else name]


def answering(store: Path, body: object, **overrides: Any) -> lf.Network:
    """A network whose every answer is the same."""
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=body))
    urls = {"history_url": "http://one.invalid", "ledger_url": "http://one.invalid"}
    return lf.connect("sandbox", transport=transport, store=store, **{**urls, **overrides})


# -- price votes and name rules -------------------------------------------------------------------------------------


def test_snapshots_of_votes_are_kept_over_time(tmp_path: Path) -> None:
    box = Sandbox(events=2000, days=5)
    start = pd.Timestamp("2026-11-05T00:00:00Z")
    for day in range(4):
        moment = (start + pd.Timedelta(days=day)).to_pydatetime()
        net = connect(tmp_path, box.at(moment))
        net._clock = lambda moment=moment: moment
        kept = lf.load_price_votes(net)
        assert kept["observed_at"].nunique() == day + 1
    assert kept["contract_id"].nunique() > kept.groupby("observed_at").size().max(), "no vote has changed"
    assert str(kept["price"].dtype) == "decimal128(38, 10)[pyarrow]"
    assert kept["price"].isna().any(), "a new super validator has not voted"
    summary = lf.votes.price(kept)
    assert len(summary) == 4
    first = kept[kept["observed_at"] == summary["observed_at"][0]]["price"].dropna().tolist()
    ordered = sorted(first)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    assert summary["median"][0] == median.quantize(Decimal("1e-10"))
    offline = connect(tmp_path, box, offline=True)
    pd.testing.assert_frame_equal(lf.load_price_votes(offline), kept)


def test_stale_votes_are_counted(tmp_path: Path) -> None:
    votes = lf.load_price_votes(connect(tmp_path))
    named = int(votes["price"].notna().sum())
    assert lf.votes.price(votes, stale_days=10_000)["stale_votes"].tolist() == [0]
    assert lf.votes.price(votes, stale_days=0)["stale_votes"].tolist() == [named]


def test_a_cache_hit_repeats_the_contract_of_the_snapshot_before(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    for hour in (10, 11):
        net = connect(tmp_path, box)
        net._clock = lambda hour=hour: pd.Timestamp(f"2026-11-08T{hour}:00:00Z").to_pydatetime()
        rules = lf.load_name_rules(net)
    assert rules["cache_hit"].tolist() == [False, True]
    assert rules["contract_id"].nunique() == 1
    same = rules.drop(columns=["observed_at", "cache_hit"])
    pd.testing.assert_series_equal(same.iloc[0], same.iloc[1], check_names=False)


def test_recorded_votes_and_rules_load(tmp_path: Path, fixtures: Path) -> None:
    recorded = json.loads((fixtures / "made" / "scan_amulet_price_votes.json").read_text())
    votes = lf.load_price_votes(answering(tmp_path / "votes", recorded, vocabulary="canton"))
    assert votes["price"].dropna().tolist() == [Decimal("0.1746240000")]
    rules = json.loads((fixtures / "made" / "scan_ans_rules.json").read_text())["fresh"]
    assert lf.load_name_rules(answering(tmp_path / "rules", rules))["entry_fee"].tolist() == [Decimal("1.0000000000")]


def test_no_votes_give_an_empty_frame(tmp_path: Path) -> None:
    votes = lf.load_price_votes(answering(tmp_path, {"coin_price_votes": []}))
    pd.testing.assert_frame_equal(votes, TABLES["price_votes"].empty())
    assert len(lf.votes.price(votes)) == 0


@pytest.mark.parametrize(
    "payload", [{"sv": "a", "coinPrice": "cheap"}, {"sv": "a", "coinPrice": "0.12345678901"}, {"coinPrice": "1"}, "text", None]
)
def test_a_vote_that_is_none_is_refused(tmp_path: Path, payload: object) -> None:
    contract = {"template_id": "p:M:E", "contract_id": "00", "payload": payload, "created_at": "2026-11-01T00:00:00Z"}
    with pytest.raises(DecodeError):
        lf.load_price_votes(answering(tmp_path, {"coin_price_votes": [contract]}))


def test_a_vote_that_occurs_twice_is_refused_and_not_stored(tmp_path: Path) -> None:
    payload = {"sv": "a", "coinPrice": "1"}
    contract = {"template_id": "p:M:E", "contract_id": "00", "payload": payload, "created_at": "2026-11-01T00:00:00Z"}
    net = answering(tmp_path, {"coin_price_votes": [contract, contract]})
    with pytest.raises(DecodeError, match="Table price_votes: two rows have the key contract_id 00, "):
        lf.load_price_votes(net)
    assert lf.load_price_votes(net, refresh=False).empty


# -- vocabulary and encodings ---------------------------------------------------------------------------------------


def test_a_network_with_its_own_words_gives_the_same_frames(tmp_path: Path) -> None:
    neutral, canton = connect(tmp_path), connect(tmp_path, vocabulary="canton")
    assert canton.name.endswith("canton")
    whole = {"since": "2026-11-08", "until": "2026-11-09"}
    left, right = lf.load_events(neutral, **whole), lf.load_events(canton, **whole)
    for name in ("verdicts", "traffic", "envelopes", "activity_records", "quorums"):
        pd.testing.assert_frame_equal(left.read(name), right.read(name), obj=name)
    assert any("Amulet" in template for template in right.tree_events["template_name"])
    assert not any("Amulet" in template for template in left.tree_events["template_name"])
    assert len(lf.load_price_votes(canton)) == len(lf.load_price_votes(neutral)) > 0


def test_both_encodings_give_the_same_columns_but_for_payloads(tmp_path: Path) -> None:
    net = connect(tmp_path)
    compact, verbose = (
        event_tables(net.history.events(page_size=300, value_encoding=encoding), "listing")
        for encoding in ("compact_json", "protobuf_json")
    )
    assert compact["tree_events"].num_rows > 100
    for name, rows in compact.items():
        payloads = [column for column in PAYLOADS if column in rows.column_names]
        assert rows.drop_columns(payloads).equals(verbose[name].drop_columns(payloads)), name
    assert "record" in verbose["tree_events"]["create_arguments"].drop_null()[0].as_py()
    first = net.history.events(page_size=1)[0].update
    assert first is not None
    with pytest.warns(DeprecationWarning, match="History operation update_v1 .* is deprecated. Use update instead"):
        v1 = net.history.update_v1(first.update_id, lossless=True)
    assert [node.lstrip("#") for node in v1.root_event_ids or []] == first.root_event_ids


# -- state of the ledger --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STATE)
def test_state_has_its_declared_columns_and_keys(tmp_path: Path, name: str) -> None:
    net = connect(tmp_path)
    frame = getattr(lf, f"load_{name}")(net, **({"limit": 100} if name == "completions" else {}))
    assert len(frame)
    assert frame.dtypes.map(str).to_dict() == {column.name: column.pandas_dtype for column in table_of(name).columns}
    assert not frame.duplicated(list(table_of(name).key)).any()


class Slow(httpx.BaseTransport):
    """A participant that needs longer for the first element of a list than the default idle time."""

    def __init__(self, box: Sandbox) -> None:
        self._inner = in_process(box.app)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_list = request.url.path.endswith(("completions", "active-contracts"))
        if is_list and int(request.url.params.get("stream_idle_timeout_ms", 500)) < 700:
            return httpx.Response(200, json=[])
        return self._inner.handle_request(request)


@pytest.mark.parametrize(
    ("version", "load"),
    [
        ("3.7", lambda net, party: lf.load_completions(net, parties=[party])),
        ("3.4", lambda net, party: lf.load_completions(net, parties=[party])),
        ("3.4", lambda net, party: lf.load_active_contracts(net, parties=[party])),
    ],
)
def test_a_participant_that_pauses_does_not_end_a_list(tmp_path: Path, version: str, load: Any) -> None:
    box = Sandbox(**WORLD, ledger_version=version)
    rows = load(connect(tmp_path, box), box.users.main.party)
    assert len(rows)
    pd.testing.assert_frame_equal(load(connect(tmp_path, box, transport=Slow(box)), box.users.main.party), rows)


def test_offsets_and_parties_of_a_frame_are_arguments(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    net = connect(tmp_path, box)
    offset = lf.load_updates(net).ledger_updates["offset"].iloc[-3]
    pd.testing.assert_frame_equal(
        lf.load_active_contracts(net, active_at_offset=offset), lf.load_active_contracts(net, active_at_offset=int(offset))
    )
    parties = pd.Series([box.users.main.party])
    for version in ("3.4", "3.7"):
        older = connect(tmp_path, Sandbox(**WORLD, ledger_version=version))
        completions = lf.load_completions(older, parties=parties, after=offset)
        pd.testing.assert_frame_equal(completions, lf.load_completions(older, parties=list(parties), after=int(offset)))


def test_no_parties_are_not_all_parties(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"parties= must be a list of one or more parties, got \[\]\."):
        lf.load_completions(connect(tmp_path), parties=pd.Series([], dtype="str"))


def test_completions_of_an_older_participant_need_no_parties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "LIST_SIZE", 2)
    box = Sandbox(**WORLD, ledger_version="3.4")
    seen: list[str] = []
    net = connect(tmp_path, box)
    send = net.ledger.transport.request

    def note(method: str, path: str, **options: Any) -> Response:
        seen.append(path)
        return send(method, path, **options)

    net.ledger.transport.request = note  # type: ignore[method-assign]
    submitters = net.ledger.acting_parties()
    assert submitters == [box.users.main.party]
    seen.clear()
    frame = lf.load_completions(net)
    assert seen.count("/v2/commands/completions") > 2
    assert seen.count("/v2/authenticated-user") == 1
    pd.testing.assert_frame_equal(frame, lf.load_completions(net, parties=submitters))
    assert set(frame["act_as"].explode()) == set(submitters)
    newer = connect(tmp_path, Sandbox(**WORLD, ledger_version="3.5"))
    assert lf.load_completions(newer, parties=submitters)["command_id"].tolist() == frame["command_id"].tolist()


def test_completions_of_an_older_participant_without_rights_need_parties(tmp_path: Path) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        contents = {
            "/v2/version": {"version": "3.4.1"},
            "/v2/authenticated-user": {"user": {"id": "me"}},
            "/v2/users/me/rights": {"rights": []},
            "/v2/parties/participant-id": {"participantId": "p"},
        }
        if request.url.path in contents:
            return httpx.Response(200, json=contents[request.url.path])
        return httpx.Response(404, text="The requested resource could not be found.")

    urls = {"history_url": "http://one.invalid", "ledger_url": "http://one.invalid"}
    net = lf.connect("sandbox", transport=httpx.MockTransport(answer), store=tmp_path, **urls)
    with pytest.raises(UsageError, match=r"may act as no party\. Pass parties="):
        lf.load_completions(net)


EMPTY = {
    "offset": 0,
    "participantId": "p",
    "activeContracts": [],
    "partyDetails": [],
    "nextPageToken": "",
    "packageIds": [],
    "vettedPackages": [],
    "connectedSynchronizers": [],
}


@pytest.mark.parametrize("name", ["active_contracts", "parties", "packages", "synchronizers"])
def test_empty_state_gives_an_empty_frame(tmp_path: Path, name: str) -> None:
    # One answer for every question: each struct takes its own members, and keeps the others as extra.
    frame = getattr(lf, f"load_{name}")(answering(tmp_path, EMPTY))
    pd.testing.assert_frame_equal(frame, table_of(name).empty())


@pytest.mark.parametrize("name", STATE)
def test_malformed_state_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DecodeError):
        getattr(lf, f"load_{name}")(answering(tmp_path, {"participantId": 7, "offset": "x"}))


def test_an_error_in_a_state_names_its_operation(tmp_path: Path) -> None:
    completion = {
        "commandId": "c",
        "offset": 7,
        "status": {"code": 0},
        "synchronizerTime": {"synchronizerId": "s", "recordTime": "soon"},
    }
    body = [{"completionResponse": {"Completion": {"value": completion}}}]
    transport = httpx.MockTransport(
        lambda request: httpx.Response(200, json=body if "completions" in request.url.path else {"participantId": "p"})
    )
    net = lf.connect(
        "sandbox", history_url="http://one.invalid", ledger_url="http://one.invalid", transport=transport, store=tmp_path
    )
    with pytest.raises(DecodeError, match="from POST /v2/commands/command-completions: recordTime is not a time"):
        lf.load_completions(net, limit=1)


def test_active_contracts_are_creates_without_archives(tmp_path: Path) -> None:
    net = connect(tmp_path)
    events = lf.load_updates(net).ledger_events
    archived = set(events.loc[events["event_type"] == "archived_event", "contract_id"])
    created = set(events.loc[events["event_type"] == "created_event", "contract_id"]) - archived
    active = lf.load_active_contracts(net)
    here = set(active.loc[active["reassignment_counter"] == 0, "contract_id"])
    assert created - set(active["contract_id"]) <= set(lf.load_updates(net).ledger_reassignments["contract_id"])
    assert here <= created


def test_before_3_5_the_list_is_the_fallback(tmp_path: Path) -> None:
    box = Sandbox(events=3_000, days=2, ledger_version="3.4.11")
    net = connect(tmp_path, box)
    rules = lf.load_active_contracts(net, templates=["splice-dso-governance:Splice.DsoRules:DsoRules"])
    assert set(rules["template_name"]) <= {"Splice.DsoRules:DsoRules"}
    with pytest.raises(BadRequestError) as caught:
        lf.load_active_contracts(net)
    assert caught.value.code == "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
