from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from answering import URL, Handler, answering, completion, ledger, sent

import ledgerframes as lf
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.operation import Operation
from ledgerframes.api.operations import OPERATIONS
from ledgerframes.api.update_format import event_format, update_format
from ledgerframes.datasets.state.wire import Completion, LedgerVersion
from ledgerframes.errors import (
    BadRequestError,
    CoverageError,
    DecodeError,
    NotFoundError,
    ServiceUnavailableError,
    UnsupportedOperationError,
    UsageError,
    WrongUrlError,
)

LEDGER = [entry for entry in OPERATIONS if entry.api == "ledger"]
UNKNOWN_ROUTE = httpx.Response(404, text="The requested resource could not be found.")
EVERYTHING = update_format()


# -- requests as they are sent -----------------------------------------------------------------------------------------

EVENTS = event_format().as_json()
READS: list[tuple[Callable[[Ledger], Any], Any, tuple[str, str, dict[str, str], Any]]] = [
    (lambda it: it.ledger_end(), {"offset": 9}, ("GET", "/v2/state/ledger-end", {}, b"")),
    (lambda it: it.participant_id(), {"participantId": "p"}, ("GET", "/v2/parties/participant-id", {}, b"")),
    (
        lambda it: it.connected_synchronizers(party="alice"),
        {"connectedSynchronizers": []},
        ("GET", "/v2/state/connected-synchronizers", {"party": "alice"}, b""),
    ),
    (
        lambda it: it.parties_page(page_token="t", page_size=5, filter_party="a"),
        {"partyDetails": [], "nextPageToken": ""},
        ("GET", "/v2/parties", {"pageToken": "t", "pageSize": "5", "filter-party": "a"}, b""),
    ),
    (lambda it: it.party("a::1/2"), {"partyDetails": []}, ("GET", "/v2/parties/a::1/2", {}, b"")),
    (lambda it: it.package_status("ab"), {"packageStatus": "x"}, ("GET", "/v2/packages/ab/status", {}, b"")),
    (
        lambda it: it.vetted_packages_page(page_size=3, package_filter={"packageNamePrefixes": ["a"]}),
        {"vettedPackages": [], "nextPageToken": ""},
        ("POST", "/v2/package-vetting/list", {}, {"pageSize": 3, "packageMetadataFilter": {"packageNamePrefixes": ["a"]}}),
    ),
    (
        lambda it: it.active_contracts_page(event_format(), active_at_offset=7, max_page_size=10, page_token="t"),
        {"activeContracts": []},
        (
            "POST",
            "/v2/state/active-contracts-page",
            {},
            {"eventFormat": EVENTS, "activeAtOffset": 7, "maxPageSize": 10, "pageToken": "t"},
        ),
    ),
    (
        lambda it: it.active_contracts(event_format(), active_at_offset=0, limit=5, idle_ms=100),
        [],
        (
            "POST",
            "/v2/state/active-contracts",
            {"limit": "5", "stream_idle_timeout_ms": "100"},
            {"activeAtOffset": 0, "eventFormat": EVENTS},
        ),
    ),
    (
        lambda it: it.events_by_contract_id("00aa", event_format()),
        {},
        ("POST", "/v2/events/events-by-contract-id", {}, {"contractId": "00aa", "eventFormat": EVENTS}),
    ),
    (
        lambda it: it.contract_by_id("00aa", querying_parties=["alice"]),
        {},
        ("POST", "/v2/contracts/contract-by-id", {}, {"contractId": "00aa", "queryingParties": ["alice"]}),
    ),
    (
        lambda it: it.command_completions("alice"),
        [],
        ("POST", "/v2/commands/command-completions", {}, {"parties": ["alice"], "beginExclusive": 0}),
    ),
    (
        lambda it: it.command_completions(["alice"], after=4, limit=9),
        [],
        ("POST", "/v2/commands/command-completions", {"limit": "9"}, {"parties": ["alice"], "beginExclusive": 4}),
    ),
    (
        lambda it: it.updates(EVERYTHING, after=1, through=5, descending=True),
        [],
        (
            "POST",
            "/v2/updates",
            {},
            {"beginExclusive": 1, "endInclusive": 5, "descendingOrder": True, "updateFormat": EVERYTHING.as_json()},
        ),
    ),
    (
        lambda it: it.update_by_id("1220aa", EVERYTHING),
        {},
        ("POST", "/v2/updates/update-by-id", {}, {"updateId": "1220aa", "updateFormat": EVERYTHING.as_json()}),
    ),
    (
        lambda it: it.update_by_offset(5, EVERYTHING),
        {},
        ("POST", "/v2/updates/update-by-offset", {}, {"offset": 5, "updateFormat": EVERYTHING.as_json()}),
    ),
    (
        lambda it: it.get_updates_page({"updateFormat": EVERYTHING, "maxPageSize": 3, "endOffsetInclusive": None}),
        {},
        ("POST", "/v2/updates/get-updates-page", {}, {"updateFormat": EVERYTHING.as_json(), "maxPageSize": 3}),
    ),
    (
        lambda it: it.update_by_hash("EiA=", EVERYTHING),
        {},
        ("POST", "/v2/updates/update-by-hash", {}, {"transactionHash": "EiA=", "updateFormat": EVERYTHING.as_json()}),
    ),
    (
        lambda it: it.completion_by_hash("EiA="),
        {},
        ("POST", "/v2/commands/completion-by-hash", {}, {"transactionHash": "EiA="}),
    ),
    (lambda it: it.users({"pageSize": 5}), {}, ("GET", "/v2/users", {"pageSize": "5"}, b"")),
    (lambda it: it.user("a"), {}, ("GET", "/v2/users/a", {}, b"")),
    (lambda it: it.identity_providers(), {}, ("GET", "/v2/idps", {}, b"")),
    (lambda it: it.identity_provider("i"), {}, ("GET", "/v2/idps/i", {}, b"")),
    (
        lambda it: it.prepare_submission({"commands": []}),
        {},
        ("POST", "/v2/interactive-submission/prepare", {}, {"commands": []}),
    ),
    (
        lambda it: it.preferred_packages({"packageVettingRequirements": []}),
        {},
        ("POST", "/v2/interactive-submission/preferred-packages", {}, {"packageVettingRequirements": []}),
    ),
]


@pytest.mark.parametrize(("call", "answer", "expected"), READS, ids=lambda value: value[1] if isinstance(value, tuple) else "")
def test_reads_as_they_are_sent_and_tried_again(
    call: Callable[[Ledger], Any], answer: Any, expected: tuple[str, str, dict[str, str], Any]
) -> None:
    seen: list[httpx.Request] = []
    call(ledger(answering(answer, seen)))
    assert sent(seen) == expected
    failures = [503, 503]
    tried = ledger(lambda _: httpx.Response(failures.pop()) if failures else httpx.Response(200, json=answer))
    call(tried)
    assert tried.transport.request_count == 3


JSON = {"any": ["thing"]}
WRITES: list[tuple[Callable[[Ledger], Any], tuple[str, str, dict[str, str], Any]]] = [
    (lambda it: it.submit_and_wait(JSON), ("POST", "/v2/commands/submit-and-wait", {}, JSON)),
    (
        lambda it: it.submit_and_wait_for_transaction(JSON),
        ("POST", "/v2/commands/submit-and-wait-for-transaction", {}, JSON),
    ),
    (
        lambda it: it.submit_and_wait_for_reassignment(JSON),
        ("POST", "/v2/commands/submit-and-wait-for-reassignment", {}, JSON),
    ),
    (lambda it: it.async_submit(JSON), ("POST", "/v2/commands/async/submit", {}, JSON)),
    (lambda it: it.async_submit_reassignment(JSON), ("POST", "/v2/commands/async/submit-reassignment", {}, JSON)),
    (lambda it: it.allocate_party(JSON), ("POST", "/v2/parties", {}, JSON)),
    (lambda it: it.update_party("alice::1", JSON), ("PATCH", "/v2/parties/alice::1", {}, JSON)),
    (lambda it: it.allocate_external_party(JSON), ("POST", "/v2/parties/external/allocate", {}, JSON)),
    (lambda it: it.update_vetting(JSON), ("POST", "/v2/package-vetting/update", {}, JSON)),
    (lambda it: it.post_package_vetting(JSON), ("POST", "/v2/package-vetting", {}, JSON)),
    (
        lambda it: it.upload_dar(b"PK", vet_all_packages=True, synchronizer_id="s"),
        ("POST", "/v2/dars", {"vetAllPackages": "true", "synchronizerId": "s"}, b"PK"),
    ),
    (lambda it: it.validate_dar(b"PK", synchronizer_id="s"), ("POST", "/v2/dars/validate", {"synchronizerId": "s"}, b"PK")),
    (lambda it: it.create_user(JSON), ("POST", "/v2/users", {}, JSON)),
    (lambda it: it.update_user("a b", JSON), ("PATCH", "/v2/users/a b", {}, JSON)),
    (lambda it: it.delete_user("a b"), ("DELETE", "/v2/users/a b", {}, b"")),
    (lambda it: it.grant_rights("a", JSON), ("POST", "/v2/users/a/rights", {}, JSON)),
    (lambda it: it.revoke_rights("a", JSON), ("PATCH", "/v2/users/a/rights", {}, JSON)),
    (
        lambda it: it.update_user_identity_provider("a", JSON),
        ("PATCH", "/v2/users/a/identity-provider-id", {}, JSON),
    ),
    (lambda it: it.create_identity_provider(JSON), ("POST", "/v2/idps", {}, JSON)),
    (lambda it: it.update_identity_provider("i", JSON), ("PATCH", "/v2/idps/i", {}, JSON)),
    (lambda it: it.delete_identity_provider("i"), ("DELETE", "/v2/idps/i", {}, b"")),
    (lambda it: it.execute_submission(JSON), ("POST", "/v2/interactive-submission/execute", {}, JSON)),
    (lambda it: it.execute_and_wait(JSON), ("POST", "/v2/interactive-submission/executeAndWait", {}, JSON)),
    (
        lambda it: it.execute_and_wait_for_transaction(JSON),
        ("POST", "/v2/interactive-submission/executeAndWaitForTransaction", {}, JSON),
    ),
    (lambda it: it.call("create_user", body=JSON), ("POST", "/v2/users", {}, JSON)),
]


@pytest.mark.filterwarnings("ignore:Ledger operation post_package_vetting:DeprecationWarning")
@pytest.mark.parametrize(("call", "expected"), WRITES, ids=lambda value: value[1] if isinstance(value, tuple) else "")
def test_writes_are_passed_on_as_they_are_and_sent_once(
    call: Callable[[Ledger], Any], expected: tuple[str, str, dict[str, str], Any]
) -> None:
    seen: list[httpx.Request] = []
    assert call(ledger(answering({"updateId": "u"}, seen))) == {"updateId": "u"}
    assert sent(seen) == expected
    assert call(ledger(answering(b""))) is None
    failing = ledger(answering({"code": "SERVICE_NOT_RUNNING", "errorCategory": 1, "cause": "down", "context": {}}, status=503))
    with pytest.raises(ServiceUnavailableError):
        call(failing)
    assert failing.transport.request_count == 1


def test_generating_topology_changes_nothing_so_it_is_tried_again() -> None:
    failures = [503]
    it = ledger(lambda _: httpx.Response(failures.pop()) if failures else httpx.Response(200, json={"topologyTransactions": []}))
    assert it.external_party_topology(JSON) == {"topologyTransactions": []}
    assert it.transport.request_count == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("entry", LEDGER, ids=lambda entry: entry.name)
def test_every_operation_can_be_called_by_name(entry: Operation) -> None:
    seen: list[httpx.Request] = []
    in_path = {name.replace("-", "_"): "a/b" for name in entry.path_names}
    content = b"bytes" if entry.returns is bytes else b"{}"
    answer = ledger(answering(content, seen)).call(entry.name, params={"q": True, "none": None}, **in_path)
    assert answer == (b"bytes" if entry.returns is bytes else {})
    path = entry.path
    for name in entry.path_names:
        path = path.replace("{" + name + "}", "a%2Fb")
    assert (seen[0].method, seen[0].url.raw_path.decode()) == (entry.method, f"/prefix{path}?q=true")


@pytest.mark.parametrize("entry", LEDGER, ids=lambda entry: entry.name)
def test_every_operation_is_a_method_with_signature_and_completion(entry: Operation) -> None:
    it = ledger(answering({}))
    assert entry.name in dir(it)
    method = getattr(it, entry.name)
    assert (inspect.getdoc(method) or "").startswith(entry.purpose)
    assert f"``{entry.method} {entry.path}``" in (inspect.getdoc(method) or "")
    parameters = inspect.signature(method).parameters
    assert {name.replace("-", "_") for name in entry.path_names} <= parameters.keys()
    assert "self" not in parameters


def test_signatures_show_the_result() -> None:
    it = ledger(answering({}))
    assert str(inspect.signature(it.user)) == "(user_id: 'str') -> Any"
    assert inspect.signature(it.version).return_annotation is LedgerVersion


def test_a_list_in_the_query_is_repeated() -> None:
    seen: list[httpx.Request] = []
    with pytest.warns(DeprecationWarning):
        ledger(answering({}, seen)).transaction_tree_by_offset(4, parties=["alice", "bob"])
    assert seen[0].url.query == b"parties=alice&parties=bob"


# -- before anything is sent ---------------------------------------------------------------------------------------------


def only_version(request: httpx.Request) -> httpx.Response:
    """A participant that may be asked for its version, because a newer one may know more members, and for nothing else."""
    assert request.url.path.endswith("/v2/version"), "sent"
    return httpx.Response(200, json={"version": "3.5.14"})


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        ({}, "updateFormat= must be the result of update_format"),
        ({"updateFormat": "x"}, "updateFormat= must be"),
        ({"updateFormat": EVERYTHING, "begin": 1}, "Unknown member begin of the request.*beginOffsetExclusive"),
        ({"updateFormat": {"includeTransaction": {}}}, "Unknown member includeTransaction of updateFormat,"),
        (
            {"updateFormat": {"includeReassignments": {"filtersByParty": {"alice": {"cumulated": []}}}}},
            r"member cumulated of updateFormat\.includeReassignments\.filtersByParty\.alice",
        ),
        (
            {"updateFormat": {"includeReassignments": {"filtersForAnyParty": {"cumulative": [{"identifierfilter": {}}]}}}},
            r"member identifierfilter of .*cumulative\[0\]",
        ),
        (
            {"updateFormat": EVERYTHING, "beginOffsetExclusive": -1},
            "beginOffsetExclusive= must be a whole number of at least 0, got -1",
        ),
        ({"updateFormat": EVERYTHING, "beginOffsetExclusive": 1.5}, "must be a whole number"),
        ({"updateFormat": EVERYTHING, "beginOffsetExclusive": 2**63}, "must be a whole number"),
        ({"updateFormat": EVERYTHING, "endOffsetInclusive": 0}, "whole number of at least 1"),
        (
            {"updateFormat": EVERYTHING, "beginOffsetExclusive": 9, "endOffsetInclusive": 8},
            "at least .*=9, got 8",
        ),
        ({"updateFormat": EVERYTHING, "maxPageSize": 0}, "maxPageSize= must be a whole number of at least 1, got 0"),
    ],
)
def test_an_invalid_page_request(request_: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        ledger(only_version).get_updates_page(request_)


def test_integers_of_a_frame_are_sent_as_numbers() -> None:
    seen: list[httpx.Request] = []
    it = ledger(answering({"ok": 1}, seen))
    offsets = {"beginOffsetExclusive": np.int64(3), "endOffsetInclusive": np.int64(9)}
    it.get_updates_page({"updateFormat": EVERYTHING, **offsets, "maxPageSize": np.int64(2)})
    it.update_by_offset(np.int64(5), EVERYTHING)
    it.active_contracts_page(event_format(), active_at_offset=np.int64(7), max_page_size=np.int64(2))
    bodies = [json.loads(request.content) for request in seen]
    assert (bodies[0]["beginOffsetExclusive"], bodies[0]["endOffsetInclusive"]) == (3, 9)
    assert (bodies[1]["offset"], bodies[2]["activeAtOffset"]) == (5, 7)
    assert bodies[0]["maxPageSize"] == bodies[2]["maxPageSize"] == 2


def test_the_json_of_a_filter_is_as_good_as_the_filter() -> None:
    made = update_format(["alice"], ["p:M:E"], ["q:M:I"], topology=["bob"]).as_json()
    assert ledger(answering({"ok": 1})).get_updates_page({"updateFormat": made}).body == b'{"ok":1}'


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda it: it.call("nothing"), "Unknown ledger operation 'nothing'"),
        (lambda it: it.call("user"), "Operation 'user' needs the path parameter user_id, got none"),
        (lambda it: it.call("users", user_id="a"), "Operation 'users' has no path parameters, got user_id"),
        (lambda it: it.party(".."), "party= must be text that a URL path can contain"),
        (lambda it: it.package(""), "package_id= must be text"),
        (lambda it: it.party("x" * 70_000), "Cannot send GET /v2/parties/x+ to .*: URL too long"),
        (lambda it: it.user(None), "user_id= must be text"),
        (lambda it: it.user(7), "user_id= must be text"),
        (lambda it: it.command_completions(7), "parties= must be text"),
        (lambda it: it.command_completions(["a", None]), "parties= must be text"),
        (lambda it: it.get_updates_page(None), "request= must be a mapping"),
        (lambda it: it.update_by_offset(0, EVERYTHING), "offset= must be a whole number of at least 1, got 0"),
        (lambda it: it.update_by_id("", EVERYTHING), "update_id"),
        (lambda it: it.events_by_contract_id(" ", event_format()), "contract_id"),
        (lambda it: it.active_contracts_page({"verbos": True}), "Unknown member verbos of eventFormat"),
        (lambda it: it.active_contracts_page(event_format(), max_page_size=0), "max_page_size"),
        (lambda it: it.active_contracts(event_format(), active_at_offset=-1), "active_at_offset"),
        (lambda it: it.upload_dar("path.dar"), "dar= must be bytes"),
        (lambda it: it.parties_page(page_size=-1), "page_size"),
    ],
)
def test_invalid_arguments_are_refused_before_anything_is_sent(call: Callable[[Ledger], Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        call(ledger(only_version))


def test_a_network_without_the_ledger_says_what_to_set() -> None:
    net = lf.connect("sandbox", history_url="http://one.invalid")
    with pytest.raises(UsageError, match="LEDGERFRAMES_LEDGER_URL"):
        _ = net.ledger
    with pytest.raises(CoverageError, match="is offline"):
        _ = lf.connect("sandbox", ledger_url=URL, offline=True).ledger


def test_a_network_counts_the_requests_of_its_ledger() -> None:
    transport = httpx.MockTransport(answering({"offset": 0}))
    net = lf.connect("sandbox", ledger_url=URL, transport=transport, requests_per_second=0)
    assert net.request_count == 0
    assert net.ledger.ledger_end() == 0
    assert net.request_count == 1


# -- refusals ------------------------------------------------------------------------------------------------------------


def test_recorded_refusals_arrive_with_their_class_and_code(fixtures: Path) -> None:
    def recorded(name: str) -> Handler:
        return answering(json.loads((fixtures / name).read_text())["details"]["response"], status=404)

    with pytest.raises(NotFoundError, match="CONTRACT_EVENTS_NOT_FOUND: "):
        ledger(recorded("events_by_contract_id_404.json")).events_by_contract_id("00aa", event_format())
    with pytest.raises(NotFoundError, match="USER_NOT_FOUND: "):
        ledger(recorded("user_rights_404.json")).user_rights("nobody")
    made = json.loads((fixtures / "made" / "canton_errors.json").read_text())
    with pytest.raises(NotFoundError, match="UPDATE_NOT_FOUND: "):
        ledger(answering(made["not_found_http_404"], status=404)).update_by_id("1220", EVERYTHING)
    with pytest.raises(BadRequestError, match="active_contracts_page"):
        ledger(answering(made["too_many_http_413"], status=413)).active_contracts(event_format(), active_at_offset=1)


# -- versions ------------------------------------------------------------------------------------------------------------


def older(version: str | None, seen: list[str], also: dict[str, Any] | None = None) -> Handler:
    """A participant that has /v2/version, if it names one, and nothing else but what is said."""

    def handler(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/prefix")
        seen.append(path)
        if path == "/v2/version" and version is not None:
            return httpx.Response(200, json={"version": version})
        return httpx.Response(200, json=(also or {})[path]) if path in (also or {}) else UNKNOWN_ROUTE

    return handler


def test_an_operation_newer_than_the_participant_says_so() -> None:
    seen: list[str] = []
    it = ledger(older("3.4.2", seen))
    for _ in range(2):
        with pytest.raises(
            UnsupportedOperationError, match=r"get_updates_page .* requires ledger API 3\.5, but one\.invalid runs 3\.4\.2\."
        ) as caught:
            it.get_updates_page({"updateFormat": EVERYTHING})
    assert isinstance(caught.value, NotFoundError)
    assert (caught.value.required_version, caught.value.actual_version) == ("3.5", "3.4.2")
    assert seen.count("/v2/version") == 1


REMOVED = [entry for entry in LEDGER if entry.until]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("entry", REMOVED, ids=lambda entry: entry.name)
@pytest.mark.parametrize("version", ["3.6.0", "3.7.4"])
def test_an_operation_that_was_removed_says_so_and_names_what_to_use(entry: Operation, version: str) -> None:
    path = {name.replace("-", "_"): "a" for name in entry.path_names}
    with pytest.raises(
        UnsupportedOperationError,
        match=rf"was removed in ledger API 3\.6, and one\.invalid runs {version}\. Use {entry.deprecated} instead\.",
    ) as caught:
        ledger(older(version, [])).call(entry.name, **path)
    assert (caught.value.removed_version, caught.value.actual_version) == ("3.6", version)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_operation_that_is_removed_later_is_blocked_if_it_is_not_there() -> None:
    with pytest.raises(UnsupportedOperationError, match=r"runs 3\.5\.14, which supports flat_updates .* a proxy blocks it"):
        ledger(older("3.5.14", [])).flat_updates({})


def test_the_first_call_of_an_operation_that_is_removed_later_warns() -> None:
    with pytest.warns(DeprecationWarning, match=r"tree_updates .* is removed in ledger API 3\.6\. Use updates instead\."):
        ledger(answering([])).tree_updates({})


@pytest.mark.parametrize(
    ("version", "name", "supported"),
    [
        ("3.4.9", "get_updates_page", False),
        ("3.5.14", "get_updates_page", True),
        ("3.5.14", "flat_updates", True),
        ("3.6.2", "flat_updates", False),
        ("3.6.2", "update_by_hash", True),
        ("3.5.14", "update_by_hash", False),
        ("SNAPSHOT", "update_by_hash", True),
        (None, "update_by_hash", True),
    ],
)
def test_a_participant_supports_the_operations_of_its_version(version: str | None, name: str, supported: bool) -> None:
    assert ledger(older(version, [])).supports(name) is supported


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("3.5.14", r"runs 3\.5\.14, which supports .*, but the route"),
        ("SNAPSHOT", "requires ledger API"),
    ],
)
def test_an_operation_that_should_be_there_says_so(version: str | None, message: str) -> None:
    with pytest.raises(UnsupportedOperationError, match=message):
        ledger(older(version, [])).get_updates_page({"updateFormat": EVERYTHING})


def test_a_host_without_a_version_is_not_the_base_of_a_ledger_api() -> None:
    it = ledger(older(None, []))
    for _ in range(2):
        with pytest.raises(WrongUrlError, match=r"is not the base URL of a ledger API: it has neither POST .* nor /v2/version"):
            it.get_updates_page({"updateFormat": EVERYTHING})


def test_a_version_that_cannot_be_fetched_does_not_make_a_url_wrong() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/version"):
            raise httpx.ConnectError("gone")
        return UNKNOWN_ROUTE

    with pytest.raises(UnsupportedOperationError, match="its version is unknown"):
        ledger(handler).get_updates_page({"updateFormat": EVERYTHING})


INCOMPLETE = {**EVERYTHING.as_json(), "includeIncompleteReassignments": EVENTS}


def test_a_member_that_a_newer_participant_may_know_is_sent_with_a_warning() -> None:
    bodies: list[Any] = []

    def newer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/v2/version"):
            return httpx.Response(200, json={"version": "3.8.0"})
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json={})

    with pytest.warns(
        UserWarning, match=r"includeIncompleteReassignments of updateFormat is unknown to .* runs 3\.8\.0"
    ) as caught:
        ledger(newer).get_updates_page({"updateFormat": INCOMPLETE, "beginOffsetExclusive": 4})
    assert bodies == [{"updateFormat": INCOMPLETE, "beginOffsetExclusive": 4}]
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("version", ["3.5.14", "3.4.0", "3.5.99", "SNAPSHOT", None])
def test_a_member_is_refused_unless_the_participant_is_known_to_be_newer(version: str | None) -> None:
    with pytest.raises(UsageError, match="Unknown member includeIncompleteReassignments of updateFormat"):
        ledger(older(version, [])).update_by_id("1220", INCOMPLETE)


def test_a_version_that_is_not_there_is_a_plain_not_found() -> None:
    with pytest.raises(NotFoundError, match="/v2/version") as caught:
        ledger(older(None, [])).version()
    assert not isinstance(caught.value, UnsupportedOperationError)


def test_a_wrong_method_on_a_known_path_is_an_operation_not_offered() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        version = httpx.Response(200, json={"version": "3.4.0"})
        return version if request.url.path.endswith("/version") else httpx.Response(405, text="Method Not Allowed")

    with pytest.raises(UnsupportedOperationError, match=r"requires ledger API 3\.5"):
        ledger(handler).active_contracts_page(event_format())


def test_completions_of_an_older_participant_come_from_the_older_operation() -> None:
    seen: list[str] = []
    it = ledger(older("3.4.2", seen, {"/v2/commands/completions": [completion(wrapped=True)]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = it.completions(["alice"])
    assert isinstance(found, Completion)
    assert seen[0] == "/v2/commands/command-completions"
    assert seen[-1] == "/v2/commands/completions"


USER, RIGHTS = "/v2/authenticated-user", "/v2/users/me/rights"


def right(kind: str, **content: str) -> dict[str, Any]:
    return {"kind": {kind: {"value": content}}}


def older_with_rights(user: httpx.Response, rights: list[dict[str, Any]], bodies: list[Any]) -> Ledger:
    """A participant of version 3.4 whose user has these rights."""
    contents: dict[str, Any] = {
        "/v2/version": {"version": "3.4.2"},
        RIGHTS: {"rights": rights},
        "/v2/commands/completions": [completion(wrapped=True)],
    }

    def handler(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/prefix")
        if path == "/v2/commands/completions":
            bodies.append(json.loads(request.content))
        if path == USER:
            return user
        return httpx.Response(200, json=contents[path]) if path in contents else UNKNOWN_ROUTE

    return ledger(handler)


ME = httpx.Response(200, json={"user": {"id": "me", "primaryParty": "alice"}})
RIGHTS_OF_ME = [
    right("CanReadAs", party="reader"), right("CanActAs", party="alice"), right("ParticipantAdmin"), right("Empty"),
    right("CanActAs", party="bob"), right("CanExecuteAs", party="carol"),
]  # fmt: skip


def test_completions_of_an_older_participant_are_those_of_the_parties_that_the_user_may_act_as() -> None:
    bodies: list[Any] = []
    it = older_with_rights(ME, RIGHTS_OF_ME, bodies)
    assert it.acting_parties() == ["alice", "bob"]
    assert len(it.completions(after=3)) == 1
    assert len(it.completions(["carol"])) == 1
    assert bodies == [
        {"parties": ["alice", "bob"], "beginExclusive": 3},
        {"parties": ["carol"], "beginExclusive": 0},
    ]


@pytest.mark.parametrize(
    ("user", "rights", "reason"),
    [
        (ME, [], "may act as no party"),
        (ME, [right("CanReadAs", party="alice"), right("ParticipantAdmin")], "may act as no party"),
        (ME, [right("CanActAs", party="")], "may act as no party"),
        (ME, [right("CanActAsAnyParty")], "may act as any party"),
        (httpx.Response(400, json={"code": "INVALID_ARGUMENT", "cause": "no user"}), [], "does not say which parties"),
        (httpx.Response(403, json={"code": "NA", "cause": "denied"}), [], "does not say which parties"),
        (UNKNOWN_ROUTE, [], "does not say which parties"),
    ],
)
def test_without_parties_to_act_as_an_older_participant_needs_parties(user: httpx.Response, rights: Any, reason: str) -> None:
    bodies: list[Any] = []
    with pytest.raises(UsageError, match=rf"{reason}.*Pass parties="):
        older_with_rights(user, rights, bodies).completions()
    assert bodies == []


@pytest.mark.parametrize("content", [{}, {"user": {}}, {"user": {"id": 5}}, []])
def test_a_malformed_user_is_no_user_without_rights(content: Any) -> None:
    with pytest.raises(DecodeError, match="authenticated-user"):
        older_with_rights(httpx.Response(200, json=content), RIGHTS_OF_ME, []).completions()


def test_a_wrong_url_is_no_user_without_rights() -> None:
    with pytest.raises(WrongUrlError, match="is not the base URL"):
        ledger(lambda _: UNKNOWN_ROUTE).acting_parties()


def test_dars_are_sent_as_bytes() -> None:
    seen: list[httpx.Request] = []
    it = ledger(answering({}, seen))
    it.upload_dar(b"PK")
    it.validate_dar(b"PK")
    assert [request.headers["content-type"] for request in seen] == ["application/octet-stream"] * 2


# -- deprecated ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "successor"),
    [
        (lambda it: it.flat_updates({}), "Use updates instead"),
        (lambda it: it.tree_updates({}), "Use updates instead"),
        (lambda it: it.submit_and_wait_for_transaction_tree({}), "Use submit_and_wait_for_transaction,"),
        (lambda it: it.active_contracts_page_by_get({"maxPageSize": 1}), "Use active_contracts_page"),
        (lambda it: it.vetted_packages_page_by_get(), "Use vetted_packages_page"),
        (lambda it: it.upload_package(b"PK"), "Use upload_dar"),
        (lambda it: it.transaction_by_id("1220", {}), "Use update_by_id"),
        (lambda it: it.transaction_by_offset(4, {}), "Use update_by_offset"),
        (lambda it: it.transaction_tree_by_id("1220"), "Use update_by_id"),
    ],
)
def test_what_is_deprecated_warns_once_and_names_the_successor(call: Callable[[Ledger], Any], successor: str) -> None:
    it = ledger(answering({}))
    with pytest.warns(DeprecationWarning, match=successor) as caught:
        call(it)
        call(it)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_get_with_a_body_carries_it() -> None:
    seen: list[httpx.Request] = []
    with pytest.warns(DeprecationWarning):
        ledger(answering({}, seen)).active_contracts_page_by_get({"maxPageSize": 1})
    assert sent(seen) == ("GET", "/v2/state/active-contracts-page", {}, {"maxPageSize": 1})
