"""Requests are checked as the published descriptions demand, a test for each rule (docs/facts.md#request-checks)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ledgerframes.api.update_format import event_format, update_format
from ledgerframes.sandbox import Sandbox

from .conftest import ANYBODY, DAYS, DELTA, EVENTS, PAGE, client_of, ledger_of, wallet_of
from .test_ledger_writes import KEY, external, reassignment
from .test_served_pages import refusal
from .test_wallet import OFFERS, offer

Json = dict[str, Any]
EVERYTHING = update_format().as_json()
TRANSACTIONS = {"transactionShape": DELTA, "eventFormat": ANYBODY}
LEGACY = {"filtersForAnyParty": {"cumulative": []}}
CREATE = {"CreateCommand": {"templateId": "#p:M:E", "createArguments": {}}}
EXERCISE = {"ExerciseCommand": {"templateId": "#p:M:E", "contractId": "00", "choice": "Go", "choiceArgument": {}}}
COMMANDS: Json = {"commands": [CREATE, EXERCISE], "commandId": "c", "actAs": ["me"]}
VET = {"changes": [{"operation": {"Vet": {"value": {"packages": [{"packageId": "00"}]}}}}]}
ALLOCATION = {"synchronizer": "s", "onboardingTransactions": [{"transaction": "AA=="}]}
SUBMIT, HALF = "/v2/commands/submit-and-wait", "/v2/commands/async/submit-reassignment"
# A good body of each operation of the ledger API that has one.
BODIES: dict[str, Json] = {
    PAGE: {"updateFormat": EVERYTHING, "endOffsetInclusive": 900, "maxPageSize": 9, "descendingOrder": False, "pageToken": ""},
    "/v2/updates": {"beginExclusive": 0, "endInclusive": 900, "updateFormat": EVERYTHING},
    "/v2/updates/flats": {"beginExclusive": 0, "endInclusive": 900, "updateFormat": EVERYTHING},
    "/v2/updates/trees": {"beginExclusive": 0, "endInclusive": 900, "filter": LEGACY, "verbose": True},
    "/v2/updates/update-by-id": {"updateId": "1220ab", "updateFormat": EVERYTHING},
    "/v2/updates/update-by-offset": {"offset": 3, "updateFormat": EVERYTHING},
    "/v2/updates/transaction-by-id": {"updateId": "1220ab", "transactionFormat": TRANSACTIONS},
    "/v2/updates/transaction-by-offset": {"offset": 3, "requestingParties": ["me"]},
    "/v2/state/active-contracts": {"activeAtOffset": 900, "eventFormat": ANYBODY},
    "/v2/state/active-contracts-page": {"eventFormat": ANYBODY, "activeAtOffset": 900, "maxPageSize": 9},
    "/v2/events/events-by-contract-id": {"contractId": "00ab", "eventFormat": ANYBODY},
    "/v2/contracts/contract-by-id": {"contractId": "00ab", "queryingParties": ["me"]},
    SUBMIT: {**COMMANDS, "deduplicationPeriod": {"DeduplicationDuration": {"value": {"seconds": 9, "nanos": 0}}}},
    "/v2/commands/submit-and-wait-for-transaction": {"commands": {**COMMANDS, "commandId": "c-2"}},
    "/v2/commands/submit-and-wait-for-transaction-tree": {**COMMANDS, "commandId": "c-3"},
    "/v2/commands/async/submit": {**COMMANDS, "commandId": "c-4"},
    HALF: reassignment("r", "me"),
    "/v2/commands/submit-and-wait-for-reassignment": reassignment("r-2", "me"),
    "/v2/commands/completions": {"parties": ["me"]},
    "/v2/commands/command-completions": {"parties": ["me"], "beginExclusive": 0},
    "/v2/parties": {"partyIdHint": "fresh", "localMetadata": {"annotations": {}}},
    "/v2/parties/external/generate-topology": external(KEY),
    "/v2/parties/external/allocate": ALLOCATION,
    "/v2/package-vetting": VET,
    "/v2/package-vetting/update": VET,
    "/v2/package-vetting/list": {"packageMetadataFilter": {"packageNamePrefixes": ["a"]}, "pageSize": 3},
}
OPTIONAL = {
    "endOffsetInclusive", "maxPageSize", "descendingOrder", "pageToken", "endInclusive", "verbose", "queryingParties",
    "deduplicationPeriod", "partyIdHint", "localMetadata", "packageMetadataFilter", "pageSize",
}  # fmt: skip


@pytest.fixture(scope="module")
def fresh() -> Sandbox:
    return Sandbox(1, EVENTS, DAYS)


@pytest.fixture(scope="module")
def client(fresh: Sandbox) -> httpx.Client:
    return ledger_of(fresh)


def is_refusal(answer: httpx.Response) -> bool:
    """Return whether an answer is the participant's error body, or the plain text of its decoder."""
    if answer.headers["content-type"].startswith("text/plain"):
        return answer.status_code == 400 and answer.text.startswith("Invalid value for: body (")
    status, _, category = refusal(answer)
    return (status, category) == (400, 8)


def members(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Iterate over the paths of all members of a body."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        yield (*path, key)
        yield from members(member, (*path, key))


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of a body with another value at a path."""
    if not path:
        return value
    key, *rest = path
    copy = dict(body) if isinstance(body, dict) else list(body)
    copy[key] = replaced(body[key], tuple(rest), value)
    return copy


@pytest.mark.parametrize("path", BODIES)
def test_good_bodies_are_taken(client: httpx.Client, path: str) -> None:
    assert client.post(path, json=BODIES[path]).status_code in (200, 404)  # some ids are of nothing


@pytest.mark.parametrize("path", BODIES)
def test_required_members(client: httpx.Client, fresh: Sandbox, path: str) -> None:
    before = len(fresh.writes)
    optional = {*OPTIONAL, *(("activeAtOffset",) if path.endswith("page") else ())}
    optional |= {"parties", "beginExclusive"} if path.endswith("command-completions") else set()
    for member in BODIES[path].keys() - optional:
        short = {name: value for name, value in BODIES[path].items() if name != member}
        assert is_refusal(client.post(path, json=short)), member
    assert len(fresh.writes) == before


@pytest.mark.parametrize("path", BODIES)
def test_types_of_members(client: httpx.Client, fresh: Sandbox, path: str) -> None:
    before = len(fresh.writes)
    for member in members(BODIES[path]):
        if member[-1] in ("createArguments", "choiceArgument"):  # values of any type
            continue
        wrong = replaced(BODIES[path], member, 1.5)
        assert is_refusal(client.post(path, json=wrong)), member
    assert len(fresh.writes) == before


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SUBMIT, {"readAs": "me"}),
        (SUBMIT, {"userId": 7}),
        (SUBMIT, {"disclosedContracts": [{"contractId": "00"}]}),
        (SUBMIT, {"minLedgerTimeRel": {"seconds": "9", "nanos": 0}}),
        (SUBMIT, {"tapsMaxPasses": 2**31}),
        (PAGE, {"maxPageSize": 2**31}),
        (PAGE, {"beginOffsetExclusive": 2**63}),
        ("/v2/updates", {"verbose": "yes"}),
        ("/v2/state/active-contracts", {"streamContinuationToken": 7}),
        ("/v2/commands/completions", {"userId": ["me"]}),
        ("/v2/parties", {"userId": 7}),
        ("/v2/parties/external/allocate", {"multiHashSignatures": [{"format": "RAW"}]}),
        ("/v2/package-vetting/update", {"dryRun": 1}),
    ],
)
def test_optional_members_have_a_type_too(client: httpx.Client, path: str, body: Json) -> None:
    assert is_refusal(client.post(path, json={**BODIES[path], **body}))


@pytest.mark.parametrize("member", ["commandId", "commands", "actAs"])
def test_what_is_required_is_not_empty(client: httpx.Client, member: str) -> None:
    empty = {**COMMANDS, member: type(COMMANDS[member])()}
    assert refusal(client.post(SUBMIT, json=empty)) == (400, "MISSING_FIELD", 8)


def topology_of(party: str) -> Json:
    return {"updateFormat": {"includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": [party]}}}}


PARTIES = {
    "a party of a filter": (PAGE, lambda party: {"updateFormat": {"includeReassignments": {"filtersByParty": {party: {}}}}}),
    "a party of topology": (PAGE, topology_of),
    "who submits": (SUBMIT, lambda party: {"actAs": ["me", party]}),
    "who reads": (SUBMIT, lambda party: {"readAs": [party]}),
    "who reassigns": (HALF, lambda party: reassignment("r", party)),
    "whose completions": ("/v2/commands/command-completions", lambda party: {"parties": [party]}),
    "who looks up": ("/v2/contracts/contract-by-id", lambda party: {"queryingParties": [party]}),
    "the hint of a party": ("/v2/parties", lambda party: {"partyIdHint": party}),
}


@pytest.mark.parametrize("role", PARTIES)
@pytest.mark.parametrize("party", ["not a party!", "alice@1220", "ä::1220", "a" * 256])
def test_the_syntax_of_parties(client: httpx.Client, role: str, party: str) -> None:
    path, body = PARTIES[role]
    answer = client.post(path, json={**BODIES[path], **body(party)})
    assert refusal(answer) == (400, "INVALID_ARGUMENT", 8)
    assert party in answer.json()["cause"]


def test_the_syntax_of_parties_in_paths_and_queries(client: httpx.Client) -> None:
    for path in ("/v2/parties/not%20a%20party!", "/v2/state/connected-synchronizers?party=x!", "/v2/parties/a?parties=x!"):
        assert refusal(client.get(path)) == (400, "INVALID_ARGUMENT", 8)
    assert client.get("/v2/parties/Not_a-member%20of::1220").json() == {"partyDetails": []}


@pytest.mark.parametrize("name", ["Thing", "#p:Thing", "#:M:E", "#p:M:E:F", "#p:M:1", "p p/q:M:E", "##p:M:E"])
def test_the_syntax_of_templates(client: httpx.Client, name: str) -> None:
    selection = {"identifierFilter": {"TemplateFilter": {"value": {"templateId": name}}}}
    events = {"filtersForAnyParty": {"cumulative": [selection]}}
    assert refusal(client.post(PAGE, json={"updateFormat": {"includeReassignments": events}})) == (400, "INVALID_FIELD", 8)
    for command in (CREATE, EXERCISE):
        ((kind, content),) = command.items()
        body = {**COMMANDS, "commands": [{kind: {**content, "templateId": name}}]}
        assert refusal(client.post(SUBMIT, json=body)) == (400, "INVALID_FIELD", 8)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SUBMIT, {"commandId": "a\nb"}),
        (SUBMIT, {"workflowId": "ü"}),
        (SUBMIT, {"userId": "no user"}),
        ("/v2/updates/update-by-id", {"updateId": "1220!"}),
        ("/v2/contracts/contract-by-id", {"contractId": "zz"}),
    ],
)
def test_the_syntax_of_other_ids(client: httpx.Client, path: str, body: Json) -> None:
    assert refusal(client.post(path, json={**BODIES[path], **body})) == (400, "INVALID_FIELD", 8)


WILDCARD = {"WildcardFilter": {"value": {}}}
TEMPLATE = {"TemplateFilter": {"value": {"templateId": "#meadow-token:Meadow.Token.Holding:Holding"}}}


@pytest.mark.parametrize("chosen", [{}, WILDCARD | TEMPLATE, {"Empty": {}} | TEMPLATE, {"Wildcard": {}}, WILDCARD | {"more": {}}])
def test_exactly_one_kind_of_a_filter(client: httpx.Client, chosen: Json) -> None:
    events = {"filtersForAnyParty": {"cumulative": [{"identifierFilter": chosen}]}}
    answer = client.post(PAGE, json={"updateFormat": {"includeReassignments": events}})
    assert (answer.status_code, answer.text[:24]) == (400, "Invalid value for: body ")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SUBMIT, {"commands": [CREATE | EXERCISE]}),
        (SUBMIT, {"deduplicationPeriod": {"DeduplicationOffset": {"value": 1}, "Empty": {}}}),
        (HALF, {"reassignmentCommands": {"commandId": "r", "submitter": "me", "commands": [{"command": {}}]}}),
        ("/v2/package-vetting/update", {"changes": [{"operation": {"Approve": {}}}]}),
    ],
)
def test_exactly_one_kind_of_other_one_ofs(client: httpx.Client, path: str, body: Json) -> None:
    assert is_refusal(client.post(path, json={**BODIES[path], **body}))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (PAGE, {"updateFormat": {"includeTransactions": {**TRANSACTIONS, "transactionShape": "TRANSACTION_SHAPE_TREE"}}}),
        ("/v2/package-vetting/update", {"updateVettedPackagesForceFlags": ["FORCE"]}),
    ],
)
def test_unknown_values_of_an_enum(client: httpx.Client, path: str, body: Json) -> None:
    assert is_refusal(client.post(path, json={**BODIES[path], **body}))


def test_flat_updates_take_an_update_format_without_a_filter(client: httpx.Client) -> None:
    legacy = {"beginExclusive": 0, "endInclusive": 30_000, "filter": LEGACY, "verbose": True}
    newer = {"beginExclusive": 0, "endInclusive": 30_000, "updateFormat": {"includeTransactions": TRANSACTIONS}, "verbose": False}
    answers = [client.post("/v2/updates/flats", json=body, params={"limit": 50}).json() for body in (legacy, newer)]
    assert answers[0] == answers[1] != []


@pytest.mark.parametrize(
    ("path", "both", "missing"),
    [
        ("/v2/updates", {"filter": LEGACY, "updateFormat": EVERYTHING}, "update_format"),
        ("/v2/updates/flats", {"filter": LEGACY, "updateFormat": EVERYTHING}, "update_format"),
        ("/v2/state/active-contracts", {"filter": LEGACY, "eventFormat": ANYBODY}, "event_format"),
        (
            "/v2/updates/transaction-by-id",
            {"requestingParties": ["me"], "transactionFormat": TRANSACTIONS},
            "transaction_format",
        ),
    ],
)
def test_a_deprecated_member_and_its_successor_exclude_each_other(
    client: httpx.Client, path: str, both: Json, missing: str
) -> None:
    assert refusal(client.post(path, json={**BODIES[path], **both})) == (400, "INVALID_ARGUMENT", 8)
    neither = client.post(path, json={name: value for name, value in BODIES[path].items() if name not in both})
    assert refusal(neither) == (400, "MISSING_FIELD", 8)
    assert neither.json()["cause"].endswith(f": {missing}")


def test_trees_take_no_update_format(client: httpx.Client) -> None:
    assert is_refusal(client.post("/v2/updates/trees", json={**BODIES["/v2/updates/trees"], "updateFormat": EVERYTHING}))


@pytest.mark.parametrize(
    "path",
    [
        "/v2/parties?pageSize=many",
        "/v2/updates/transaction-tree-by-offset/x?parties=me",
        "/v2/updates/transaction-tree-by-offset/-1?parties=me",
    ],
)
def test_numbers_of_paths_and_queries(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.text[:19]) == (400, "Invalid value for: ")


@pytest.mark.parametrize("name", ["limit", "stream_idle_timeout_ms"])
def test_numbers_of_lists(client: httpx.Client, name: str) -> None:
    answer = client.post("/v2/updates", json=BODIES["/v2/updates"], params={name: "ten"})
    assert (answer.status_code, answer.text) == (400, f"Invalid value for: query parameter {name}")


def test_the_formats_of_this_library_are_taken(client: httpx.Client, fresh: Sandbox) -> None:
    party, template = fresh.user_parties[0], "meadow-token:Meadow.Token.Holding:Holding"
    interface = "splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding"
    for made in (update_format(), update_format([party], [template], [interface], topology=[party])):
        assert client.post(PAGE, json={"updateFormat": made.as_json(), "endOffsetInclusive": 900}).status_code == 200
    body = {"eventFormat": event_format([party], [template]).as_json(), "activeAtOffset": 900}
    assert client.post("/v2/state/active-contracts-page", json=body).status_code == 200


# -- wallet and history -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"receiver_party_id": "not a party!"},
        {"receiver_party_id": "not-a-party!::1220ab"},
        {"receiver_party_id": 7},
        {"amount": 1.5},
        {"description": None},
        {"expires_at": "tomorrow"},
        {"expires_at": 2**63},
        {"tracking_id": 7},
    ],
)
def test_offers_of_the_wallet(fields: Json) -> None:
    box = Sandbox(1, EVENTS, DAYS)
    answer = wallet_of(box).post(OFFERS, json=offer(box, **fields))
    assert (answer.status_code, box.offers, box.writes) == (400, [], [])


TIMES = {"start_record_time": "2026-11-07T00:00:00Z", "end_record_time": "2026-11-08T00:00:00Z"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v0/events", {}),
        ("/v0/events", {"page_size": "9"}),
        ("/v0/events", {"page_size": 9, "after": {"after_migration_id": 4}}),
        ("/v0/events", {"page_size": 9, "after": {"after_migration_id": "4", "after_record_time": TIMES["start_record_time"]}}),
        ("/v0/events", {"page_size": 9, "after": {"after_migration_id": 2**63, "after_record_time": "2026-11-07T00:00:00Z"}}),
        ("/v2/updates", {"page_size": 9, "after": {"after_migration_id": 4, "after_record_time": 7}}),
        ("/v2/updates", {"page_size": 9, "lang_value_encoding": "xml"}),
        ("/v0/ans-rules", {"cached_ans_rules_contract_id": 7}),
        ("/v0/history/bulk/updates", {"page_size": 9, "start_record_time": TIMES["start_record_time"]}),
        ("/v0/history/bulk/updates", {"page_size": 9, **TIMES, "next_page_token": 7}),
        ("/v0/history/bulk/checksums", {}),
        ("/v0/history/bulk/checksums", {"object_keys": [7]}),
    ],
)
def test_bodies_of_the_history(fresh: Sandbox, path: str, body: Json) -> None:
    assert client_of(fresh).post(path, json=body).status_code == 400


@pytest.mark.parametrize("path", ["/v2/packages//status", "/v2/users//rights"])
def test_an_empty_id_is_an_unknown_route(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.text) == (404, "The requested resource could not be found.")
