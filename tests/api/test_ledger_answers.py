"""What the ledger API answers, as recorded and as it may be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from answering import URL, answering, completion, ledger

from ledgerframes.api.ledger import Ledger
from ledgerframes.api.update_format import event_format
from ledgerframes.datasets.ledger.wire import OffsetCheckpoint
from ledgerframes.datasets.state.wire import Completion, one_of
from ledgerframes.errors import DecodeError, NotFoundError


def test_version_as_recorded(fixtures: Path) -> None:
    found = ledger(answering((fixtures / "version_3_3.json").read_bytes())).version()
    assert (found.version, found.release) == ("3.3.0-SNAPSHOT", (3, 3))
    assert msgspec.json.decode(found.features)["userManagement"]["supported"] is True


def test_packages_as_recorded(fixtures: Path) -> None:
    content = (fixtures / "packages.json").read_bytes()
    assert ledger(answering(content)).packages() == json.loads(content)["packageIds"]


def test_contract_events_as_recorded(fixtures: Path) -> None:
    content = (fixtures / "events_by_contract_id_ok.json").read_bytes()
    events = Ledger.decode_contract_events(ledger(answering(content)).events_by_contract_id("00aa", event_format()))
    recorded = json.loads(content)
    assert events.created is not None
    assert msgspec.json.decode(events.created.created_event) == recorded["created"]["createdEvent"]
    assert events.created.synchronizer_id == recorded["created"]["synchronizerId"]
    assert (events.archived is None) == (recorded.get("archived") is None)


def test_active_contracts_as_recorded(fixtures: Path) -> None:
    content = (fixtures / "active_contracts.json").read_bytes()
    assert ledger(answering(content)).active_contracts(event_format(), active_at_offset=5).body == content
    page = b'{"activeContracts":' + content + b',"activeAtOffset":"432","nextPageToken":null}'
    head = Ledger.decode_active_contracts(ledger(answering(page)).active_contracts_page(event_format()))
    assert (head.active_at_offset, head.next_page_token) == (432, None)
    assert msgspec.json.decode(head.active_contracts) == json.loads(content)


@pytest.mark.parametrize("number", [7, "7"])
def test_numbers_may_be_text(number: int | str) -> None:
    assert ledger(answering({"offset": number})).ledger_end() == 7
    both = {"participantPrunedUpToInclusive": number, "allDivulgedContractsPrunedUpToInclusive": number, "new": 1}
    pruned = ledger(answering(both)).latest_pruned_offsets()
    assert (pruned.participant_pruned_up_to_inclusive, pruned.all_divulged_contracts_pruned_up_to_inclusive) == (7, 7)
    assert msgspec.json.decode(pruned.extra) == {"new": 1}


def test_never_pruned_may_be_left_out() -> None:
    assert ledger(answering({})).latest_pruned_offsets().participant_pruned_up_to_inclusive == 0


@pytest.mark.parametrize("wrapped", [True, False])
def test_completions_with_and_without_the_wrapper(wrapped: bool) -> None:
    checkpoint = {"completionResponse": {"OffsetCheckpoint": {"value": {"offset": 13, "synchronizerTimes": []}}}}
    items = [completion(wrapped), checkpoint, {"completionResponse": {"Empty": {}}}]
    first, second = ledger(answering(items)).command_completions(["alice"])
    assert isinstance(first, Completion)
    assert (first.command_id, first.offset, first.paid_traffic_cost, first.act_as) == ("c", 12, None, ["alice"])
    assert isinstance(second, OffsetCheckpoint)
    assert second.offset == 13


def test_a_one_of_with_two_keys_is_a_decode_error() -> None:
    with pytest.raises(DecodeError, match="exactly one key, got A, B"):
        one_of(msgspec.Raw(b'{"A":1,"B":2}'), "x")


def test_rights_of_a_user() -> None:
    kinds = [{"CanReadAs": {"value": {"party": "alice"}}}, {"ParticipantAdmin": {"value": {}}}, {"CanActAs": {"party": "bob"}}]
    rights = ledger(answering({"rights": [{"kind": kind} for kind in kinds]})).user_rights("me")
    assert [(right.kind, right.party) for right in rights] == [
        ("CanReadAs", "alice"),
        ("ParticipantAdmin", None),
        ("CanActAs", "bob"),
    ]


BESIDE = {"new": 1}


@pytest.mark.parametrize("wrapped", [True, False])
def test_unknown_members_around_a_completion_are_in_its_extra(wrapped: bool) -> None:
    item = completion(wrapped)
    item["completionResponse"]["beside"] = BESIDE
    item["completionResponse"]["Completion"]["within"] = 2
    item["around"] = 3
    checkpoint = {"completionResponse": {"OffsetCheckpoint": {"value": {"offset": 13}, "within": 4}, "beside": 5}}
    first, second = ledger(answering([item, checkpoint])).command_completions(["alice"])
    assert isinstance(first, Completion)
    assert first.command_id == "c"
    assert json.loads(bytes(first.extra)) == {"within": 2, "completionResponse": {"beside": BESIDE}, "item": {"around": 3}}
    assert (second.offset, json.loads(bytes(second.extra))) == (13, {"within": 4, "completionResponse": {"beside": 5}})


def test_unknown_members_around_a_right_are_in_its_extra() -> None:
    items = [
        {"kind": {"CanReadAs": {"value": {"party": "alice", "until": "2027"}, "within": 1}, "beside": 2}, "around": 3},
        {"kind": {"CanActAsAnyParty": {"value": {}}}},
    ]
    reading, acting = ledger(answering({"rights": items})).user_rights("me")
    assert (reading.kind, reading.party) == ("CanReadAs", "alice")
    assert json.loads(bytes(reading.extra)) == {"until": "2027", "within": 1, "right": {"beside": 2}, "item": {"around": 3}}
    assert (acting.kind, acting.party, bytes(acting.extra)) == ("CanActAsAnyParty", None, b"")


def test_the_end_of_a_ledger_has_the_times_of_its_synchronizers() -> None:
    times = [{"synchronizerId": "s", "recordTime": "2026-11-01T00:00:00Z"}]
    it = ledger(answering({"offset": 7, "synchronizerTimes": times}))
    assert it.ledger_end() == 7
    end = it.ledger_end_times()
    assert end.synchronizer_times is not None
    assert [(each.synchronizer_id, each.record_time) for each in end.synchronizer_times] == [("s", "2026-11-01T00:00:00Z")]
    assert ledger(answering({"offset": 7})).ledger_end_times().synchronizer_times is None  # before 3.6


def test_completions_of_a_hash() -> None:
    accepted = {"commandId": "a", "offset": 7, "transactionHash": "EiA=", "updateId": "1220"}
    rejected = {"commandId": "r", "offset": 5, "transactionHash": "EiA=", "status": {"code": 10, "message": "late"}}
    found = ledger(answering({"acceptedCompletion": accepted, "lastRejectedCompletions": [rejected]})).completion_by_hash("EiA=")
    assert found.accepted_completion is not None and found.last_rejected_completions is not None
    assert (found.accepted_completion.update_id, found.accepted_completion.transaction_hash) == ("1220", "EiA=")
    assert [each.status.code for each in found.last_rejected_completions if each.status] == [10]
    assert ledger(answering({"acceptedCompletion": None})).completion_by_hash("EiA=").accepted_completion is None
    missing = {"code": "COMPLETION_NOT_FOUND", "cause": "none", "context": {}, "errorCategory": 11, "grpcCodeValue": 5}
    with pytest.raises(NotFoundError) as caught:
        ledger(answering(missing, status=404)).completion_by_hash("EiA=")
    assert (caught.value.code, caught.value.grpc_code_value) == ("COMPLETION_NOT_FOUND", 5)


@pytest.mark.parametrize("last", ["", None])
def test_all_pages_of_parties_and_vetted_packages(last: str | None) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            token = request.url.params.get("pageToken")
            party = {"party": f"p{token}", "isLocal": True, "localMetadata": None, "identityProviderId": ""}
            return httpx.Response(200, json={"partyDetails": [party], "nextPageToken": last if token else "t"})
        token = json.loads(request.content).get("pageToken")
        vetted = {"packages": [{"packageId": "a"}], "participantId": f"p{token}", "synchronizerId": "s", "topologySerial": 1}
        return httpx.Response(200, json={"vettedPackages": [vetted], "nextPageToken": last if token else "t"})

    it = ledger(handler)
    assert [details.party for details in it.parties()] == ["pNone", "pt"]
    assert [vetted.participant_id for vetted in it.vetted_packages()] == ["pNone", "pt"]


def test_a_token_that_stays_the_same_is_noticed() -> None:
    with pytest.raises(DecodeError, match="the token of an earlier page"):
        list(ledger(answering({"partyDetails": [], "nextPageToken": "t"})).parties())


def test_packages_are_bytes() -> None:
    assert ledger(answering(b"\x00\xff")).package("ab") == b"\x00\xff"


@pytest.mark.parametrize(
    "call",
    [
        lambda it: it.ledger_end(),
        lambda it: it.version(),
        lambda it: it.packages(),
        lambda it: it.command_completions(),
        lambda it: it.user_rights("me"),
        lambda it: it.call("users"),
    ],
)
def test_malformed_answers_are_decode_errors(call: Callable[[Ledger], Any]) -> None:
    with pytest.raises(DecodeError):
        call(ledger(answering(b"<html>")))


def test_ready_and_live_are_below_the_base() -> None:
    seen: list[httpx.Request] = []
    it = ledger(answering(b"ok", seen, 503))
    assert (it.ready(), it.live()) == ({URL: 503}, {URL: 503})
    assert [request.url.path for request in seen] == ["/prefix/readyz", "/prefix/livez"]
