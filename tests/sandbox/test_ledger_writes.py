"""Writes of the ledger API, and who may ask for what."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Dropped, Faults, Sandbox

from .conftest import DAYS, EVENTS, PAGE, ledger_of, read_pages, update_format
from .test_served_pages import refusal

Json = dict[str, Any]
KEY = base64.b64encode(bytes(range(44))).decode()


@pytest.fixture
def fresh() -> Sandbox:
    return Sandbox(1, EVENTS, DAYS)


def commands(box: Sandbox, command_id: str = "c-1") -> Json:
    create = {"CreateCommand": {"templateId": "#meadow-token:Meadow.Token.Holding:Holding", "createArguments": {"a": "1"}}}
    return {"commands": [create], "commandId": command_id, "actAs": box.user_parties[:1]}


def reassignment(command_id: str, submitter: str) -> Json:
    unassign = {"UnassignCommand": {"value": {"contractId": "00", "source": "here", "target": "there"}}}
    return {"reassignmentCommands": {"commandId": command_id, "submitter": submitter, "commands": [{"command": unassign}]}}


def test_submissions(fresh: Sandbox) -> None:
    client, body = ledger_of(fresh), commands(fresh)
    waited = client.post("/v2/commands/submit-and-wait", json=body).json()
    assert set(waited) == {"updateId", "completionOffset"}
    created = client.post("/v2/commands/submit-and-wait-for-transaction", json={"commands": commands(fresh, "c-2")}).json()[
        "transaction"
    ]
    assert created["commandId"] == "c-2"
    assert created["events"][0]["CreatedEvent"]["createArgument"] == {"a": "1"}
    tree = client.post("/v2/commands/submit-and-wait-for-transaction-tree", json=commands(fresh, "c-3")).json()["transactionTree"]
    assert set(tree["eventsById"]["0"]) == {"CreatedTreeEvent"}
    assert client.post("/v2/commands/async/submit", json=commands(fresh, "c-4")).json() == {}
    half = reassignment("r-1", fresh.user_parties[0])
    assert client.post("/v2/commands/async/submit-reassignment", json=half).json() == {}
    half["reassignmentCommands"]["commandId"] = "r-2"
    moved = client.post("/v2/commands/submit-and-wait-for-reassignment", json=half).json()["reassignment"]
    assert set(moved["events"][0]) == {"JsUnassignedEvent"}
    assert [write.operation.partition(" commands/")[2] for write in fresh.writes] == [
        "submit-and-wait",
        "submit-and-wait-for-transaction",
        "submit-and-wait-for-transaction-tree",
        "async/submit",
        "async/submit-reassignment",
        "submit-and-wait-for-reassignment",
    ]
    for missing in ("commands", "commandId", "actAs"):
        short = {key: value for key, value in body.items() if key != missing}
        assert refusal(client.post("/v2/commands/submit-and-wait", json=short)) == (400, "MISSING_FIELD", 8)
    assert len(fresh.writes) == 6


THING = {"templateId": "#p:M:E", "contractId": "00", "choice": "Go", "createArguments": {}, "choiceArgument": {}}


@pytest.mark.parametrize("kinds", [(), ("ArchiveCommand",), ("create",), ("CreateCommand", "ExerciseCommand")])
def test_a_command_of_an_unknown_kind_is_refused(fresh: Sandbox, kinds: tuple[str, ...]) -> None:
    body = {**commands(fresh), "commands": [dict.fromkeys(kinds, THING)]}
    answer = ledger_of(fresh).post("/v2/commands/submit-and-wait", json=body)
    assert (answer.status_code, answer.text[:24], fresh.writes) == (400, "Invalid value for: body ", [])


def test_a_repeated_command_id_is_refused(fresh: Sandbox) -> None:
    client, (first, second) = ledger_of(fresh), fresh.user_parties[:2]
    body = commands(fresh)
    assert client.post("/v2/commands/submit-and-wait", json=body).is_success
    assert refusal(client.post("/v2/commands/submit-and-wait", json=body)) == (409, "DUPLICATE_COMMAND", 10)
    assert refusal(client.post("/v2/commands/async/submit", json=body)) == (409, "DUPLICATE_COMMAND", 10)
    assert len(fresh.writes) == 1
    assert client.post("/v2/commands/submit-and-wait", json={**body, "actAs": [first, second]}).is_success
    half = reassignment("r-1", first)
    assert client.post(REASSIGNMENT, json=half).is_success
    assert refusal(client.post(REASSIGNMENT, json=half)) == (409, "DUPLICATE_COMMAND", 10)
    half["reassignmentCommands"]["commandId"] = ""
    assert refusal(client.post(REASSIGNMENT, json=half)) == (400, "MISSING_FIELD", 8)


VETTING, REASSIGNMENT = "/v2/package-vetting", "/v2/commands/submit-and-wait-for-reassignment"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v2/commands/submit-and-wait", lambda value: {"commands": [{"CreateCommand": value}]}),
        (REASSIGNMENT, lambda value: {"reassignmentCommands": {"commands": value}}),
        (REASSIGNMENT, lambda value: {"reassignmentCommands": {"commands": [{"command": {"UnassignCommand": value}}]}}),
        (f"{VETTING}/update", lambda value: {"changes": [{"operation": value}]}),
        (f"{VETTING}/update", lambda value: {"changes": [{"operation": {"Vet": {"value": value}}}]}),
        (f"{VETTING}/list", lambda value: {"packageMetadataFilter": {"packageNamePrefixes": [value, 7]}}),
        (f"{VETTING}/list", lambda value: {"topologyStateFilter": {"participantIds": value, "synchronizerIds": 7}}),
        ("/v2/parties", lambda value: {"localMetadata": {"annotations": value}}),
        (PAGE, lambda value: {"updateFormat": {"includeReassignments": any_party({"TemplateFilter": {"value": value}})}}),
    ],
)
def test_a_member_of_the_wrong_type_is_refused(fresh: Sandbox, path: str, body: Any) -> None:
    for value in (True, 7, "text", [7]):
        answer = ledger_of(fresh).post(path, json={"commandId": "c", "actAs": fresh.user_parties[:1], **body(value)})
        assert (answer.status_code, fresh.writes) == (400, []), value


def any_party(identifier_filter: Json) -> Json:
    return {"filtersForAnyParty": {"cumulative": [{"identifierFilter": identifier_filter}]}}


def test_allocated_parties_are_listed(fresh: Sandbox) -> None:
    client = ledger_of(fresh)
    created = client.post("/v2/parties", json={"partyIdHint": "zora"}).json()["partyDetails"]
    assert created["party"].startswith("zora::1220")
    assert client.get(f"/v2/parties/{created['party']}").json()["partyDetails"] == [created]
    assert created in client.get("/v2/parties").json()["partyDetails"]
    assert client.post("/v2/parties", json={"partyIdHint": "zora"}).status_code == 400
    assert client.post("/v2/parties", json={}).is_success
    details = {"party": created["party"], "localMetadata": {"annotations": {"desk": "4"}}}
    changed = {"partyDetails": details, "updateMask": {"paths": ["local_metadata.annotations"]}}
    patched = client.patch(f"/v2/parties/{created['party']}", json=changed).json()["partyDetails"]
    assert patched["localMetadata"] == {"resourceVersion": "1", "annotations": {"desk": "4"}}
    assert refusal(client.patch("/v2/parties/nobody::1220ab", json=changed))[:2] == (400, "INVALID_ARGUMENT")
    assert len(fresh.writes) == 3


def test_external_parties(fresh: Sandbox) -> None:
    client = ledger_of(fresh)
    topology = client.post("/v2/parties/external/generate-topology", json=external(KEY)).json()
    assert set(topology) == {"partyId", "publicKeyFingerprint", "topologyTransactions", "multiHash"}
    assert fresh.writes == []
    onboarding = [{"transaction": text} for text in topology["topologyTransactions"]]
    body = {"synchronizer": fresh.world.parties.synchronizer, "onboardingTransactions": onboarding}
    party = client.post("/v2/parties/external/allocate", json=body).json()["partyId"]
    assert client.get(f"/v2/parties/{party}").json()["partyDetails"][0]["party"] == party
    assert refusal(client.post("/v2/parties/external/allocate", json={}))[1] == "MISSING_FIELD"


def external(key_data: str) -> Json:
    key = {"format": "CRYPTO_KEY_FORMAT_RAW", "keyData": key_data, "keySpec": "SIGNING_KEY_SPEC_EC_CURVE25519"}
    return {"synchronizer": "global", "partyHint": "ext", "publicKey": key}


@pytest.mark.parametrize("key_data", ["", "AA==", "no base64", KEY[:40], base64.b64encode(bytes(161)).decode()])
def test_a_party_key_that_is_none_is_refused(fresh: Sandbox, key_data: str) -> None:
    answer = ledger_of(fresh).post("/v2/parties/external/generate-topology", json=external(key_data))
    assert refusal(answer)[:2] == (400, "INVALID_ARGUMENT" if key_data else "MISSING_FIELD")


def test_uploads(fresh: Sandbox) -> None:
    client, archive = ledger_of(fresh), b"PK\x03\x04 an archive"
    before = client.get("/v2/packages").json()["packageIds"]
    assert client.post("/v2/dars/validate", content=archive).content == b""
    assert client.get("/v2/packages").json()["packageIds"] == before
    assert client.post("/v2/dars", content=archive).json() == {}
    (added,) = set(client.get("/v2/packages").json()["packageIds"]) - set(before)
    assert client.get(f"/v2/packages/{added}").content == archive
    assert client.post("/v2/packages", content=archive).json() == {}
    assert client.post("/v2/dars", content=b"").headers["content-type"].startswith("text/plain")
    assert refusal(client.post("/v2/dars", content=b"text")) == (400, "INVALID_ARGUMENT", 8)
    vet = {"changes": [{"operation": {"Vet": {"value": {"packages": [{"packageId": added}]}}}}]}
    answer = client.post("/v2/package-vetting/update", json=vet).json()
    assert {"packageId": added} in answer["newVettedPackages"]["packages"]
    assert {"packageId": added} not in answer["pastVettedPackages"]["packages"]
    unvet = {"changes": [{"operation": {"Unvet": {"value": {"packages": [{"packageId": added}]}}}}]}
    answer = client.post("/v2/package-vetting", json=unvet).json()
    assert {"packageId": added} not in answer["newVettedPackages"]["packages"]
    assert len(fresh.writes) == 4


def test_a_drop_after_the_effect() -> None:
    box = Sandbox(1, EVENTS, DAYS, faults=Faults(dropped_after_write=1))
    client = ledger_of(box)
    with pytest.raises(Dropped):
        client.post("/v2/parties", json={"partyIdHint": "zora"})
    assert len(box.writes) == 1
    assert client.get("/v2/parties", params={"filter-party": "zora"}).json()["partyDetails"]


def test_a_refused_write_has_no_effect_to_drop_after() -> None:
    box = Sandbox(1, EVENTS, DAYS, faults=Faults(dropped_after_write=1))
    assert ledger_of(box).post("/v2/parties/external/allocate", json={}).status_code == 400
    assert not box.writes


@pytest.fixture(scope="module")
def guarded() -> Sandbox:
    return Sandbox(1, EVENTS, DAYS, require_token=True)


def ask(client: httpx.Client, events: Any) -> httpx.Response:
    return client.post(PAGE, json={"updateFormat": {"includeReassignments": events}, "endOffsetInclusive": 20_000})


def test_tokens(guarded: Sandbox) -> None:
    for token in (None, "nonsense", guarded.expired_token):
        client = ledger_of(guarded, token)
        for answer in (ask(client, {"filtersForAnyParty": {}}), client.get("/v2/state/ledger-end"), client.get("/v2/parties")):
            assert refusal(answer) == (401, "NA", -1)
            assert answer.json()["grpcCodeValue"] == 16
            assert answer.json()["cause"] == "A security-sensitive error has been received"
    good = ledger_of(guarded, guarded.token)
    assert ask(good, {"filtersForAnyParty": {}}).is_success
    assert ask(good, {"filtersByParty": {party: {} for party in guarded.user_parties}}).is_success
    assert ledger_of(guarded).get("/v2/version").is_success


def test_rights(guarded: Sandbox) -> None:
    client = ledger_of(guarded, guarded.limited_token)
    user = client.get("/v2/authenticated-user").json()["user"]
    ((right,), *_) = [[r["kind"]["CanReadAs"]["value"]["party"]] for r in
                      client.get(f"/v2/users/{user['id']}/rights").json()["rights"] if "CanReadAs" in r["kind"]]  # fmt: skip
    assert right == guarded.user_parties[1]
    assert ask(client, {"filtersByParty": {right: {}}}).is_success
    everything = update_format()
    for events in ({"filtersByParty": {guarded.user_parties[0]: {}}}, {"filtersForAnyParty": {}}):
        assert refusal(ask(client, events)) == (403, "NA", -1)
    assert refusal(client.post(PAGE, json={"updateFormat": everything})) == (403, "NA", -1)
    topology = {"includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": []}}}
    assert client.post(PAGE, json={"updateFormat": topology, "endOffsetInclusive": 20_000}).status_code == 403
    topology["includeTopologyEvents"]["includeParticipantAuthorizationEvents"]["parties"] = [right]
    assert client.post(PAGE, json={"updateFormat": topology, "endOffsetInclusive": 20_000}).is_success
    body = {"activeAtOffset": 100, "eventFormat": {"filtersForAnyParty": {}}}
    assert client.post("/v2/state/active-contracts", json=body).status_code == 403


def test_a_token_is_used_where_none_is_needed(box: Sandbox) -> None:
    assert ask(ledger_of(box, box.limited_token), {"filtersForAnyParty": {}}).status_code == 403
    assert ask(ledger_of(box, "nonsense"), {"filtersForAnyParty": {}}).is_success
    assert read_pages(ledger_of(box, box.token), 10, endOffsetInclusive=200)
