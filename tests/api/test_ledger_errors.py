from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

import ledgerframes as lf
from ledgerframes import errors
from ledgerframes.api import ledger_errors
from ledgerframes.api.ledger_errors import (
    BY_CATEGORY,
    BY_CODE,
    BY_STATUS,
    has_too_many_elements,
    is_invalid_page_token,
    is_invalid_request,
    ledger_error_factory,
)
from ledgerframes.api.response import Response
from ledgerframes.api.transport import Transport
from ledgerframes.errors import ServiceError
from ledgerframes.errors._removed import EARLIER_NAMES
from ledgerframes.settings import Limits

CHANGES = (Path(__file__).parents[2] / "CHANGELOG.md").read_text().partition("### Removed")[2].partition("###")[0]
Handler = Callable[[httpx.Request], httpx.Response]
GENERAL = {
    400: errors.BadRequestError,
    401: errors.AuthenticationError,
    403: errors.PermissionDeniedError,
    404: errors.NotFoundError,
    413: errors.BadRequestError,
    429: errors.BusyError,
    500: errors.InternalServerError,
    503: errors.ServiceUnavailableError,
    504: errors.ServiceUnavailableError,
}


def body(code: str = "SOME_CODE", category: int = 8, **more: Any) -> dict[str, Any]:
    empty = {"correlationId": None, "traceId": None, "resources": [], "retryInfo": None, "definiteAnswer": None}
    return {"code": code, "cause": "it is so", "context": {}, "errorCategory": category, "grpcCodeValue": 3, **empty, **more}


def transport(handler: Handler, **limits: Any) -> Transport:
    quick = Limits(requests_per_second=0, **limits)
    return Transport(
        ("http://one.invalid",), quick, httpx.MockTransport(handler), error_factory=ledger_error_factory(lambda: None)
    )


def refused(status: int, content: dict[str, Any] | str, headers: dict[str, str] | None = None) -> ServiceError:
    text = content if isinstance(content, str) else json.dumps(content)
    return ledger_error_factory(lambda: None)(Response(text.encode(), "one.invalid", "POST /v2/thing", status, headers or {}))


@pytest.fixture(scope="module")
def made(fixtures: Path) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads((fixtures / "made" / "canton_errors.json").read_text())
    return content


@pytest.mark.parametrize(
    ("name", "kind", "retryable", "step"),
    [
        ("pruned_http_400", errors.PrunedOffsetError, False, "Pass after=17 or later."),
        ("page_token_http_400", errors.BadRequestError, False, "Start again without a token, "),
        ("after_end_http_400", errors.OffsetAfterEndError, True, "Request offsets up to ledger_end(), "),
        ("not_found_http_404", errors.NotFoundError, False, "Check the id or offset, and that the token's user may read "),
        ("unauthenticated_http_401", errors.AuthenticationError, False, "No token was sent: "),
        ("permission_denied_http_403", errors.PermissionDeniedError, False, "Ask the operator for CanReadAs "),
        ("too_many_http_413", errors.BadRequestError, False, "List operations return 200 elements "),
    ],
)
def test_each_known_refusal_has_the_class_of_its_status(
    made: dict[str, Any], name: str, kind: type[ServiceError], retryable: bool, step: str
) -> None:
    status, content = int(name.rpartition("_")[2]), made[name]
    error = refused(status, content)
    assert type(error) is kind
    assert f". {step}" in str(error)
    assert isinstance(error, GENERAL[status])
    assert (error.code, error.category, error.trace_id) == (content["code"], content["errorCategory"], content["traceId"])
    assert error.cause == content["cause"]
    assert error.is_from_api
    assert error.context == content["context"]
    assert error.correlation_id is None
    assert error.resources == tuple(tuple(pair) for pair in content["resources"])
    assert (error.endpoint, error.host, error.status) == ("POST /v2/thing", "one.invalid", status)
    assert error.retryable is retryable


def test_pruned_says_from_where_the_ledger_can_be_read(made: dict[str, Any]) -> None:
    error = refused(400, made["pruned_http_400"])
    assert isinstance(error, errors.PrunedOffsetError)
    assert error.earliest_offset == 17
    assert "after=17" in str(error)
    assert error.definite_answer is False


def test_past_the_end_says_when_to_ask_again(made: dict[str, Any]) -> None:
    error = refused(400, made["after_end_http_400"])
    assert (error.retry_after, error.retry_info) == (1.0, "1 second")


@pytest.mark.parametrize(("status", "step"), [(401, "token=, token_file= or token_env="), (403, "CanReadAsAnyParty")])
def test_redacted_refusals_say_so(made: dict[str, Any], status: int, step: str) -> None:
    name = {401: "unauthenticated_http_401", 403: "permission_denied_http_403"}[status]
    message = str(refused(status, made[name]))
    assert "details withheld (code NA)" in message
    assert step in message
    assert f"trace id {made[name]['traceId']}" in message
    assert ("(code NA), invalid token," in message) is (status == 401)


def test_the_list_limit_is_explained(made: dict[str, Any]) -> None:
    message = str(refused(413, made["too_many_http_413"]))
    assert "200 elements" in message
    assert "active_contracts_page" in message


@pytest.mark.parametrize("code", ["PARTICIPANT_BACKPRESSURE", "MAXIMUM_NUMBER_OF_STREAMS", "HEAP_MEMORY_OVER_LIMIT"])
def test_overload_is_409_and_tried_again(code: str) -> None:
    error = refused(409, body(code, 2))
    assert type(error) is errors.BusyError
    assert error.code == code
    answers = [httpx.Response(409, json=body(code, 2)), httpx.Response(200, json={})]
    assert transport(lambda _: answers.pop(0)).request("GET", "/thing").body == b"{}"


def test_what_exists_is_409_and_not_tried_again() -> None:
    sender = transport(lambda _: httpx.Response(409, json=body("PARTY_ALREADY_EXISTS", 10)))
    with pytest.raises(errors.ConflictError, match="Check what exists before you retry") as caught:
        sender.request("GET", "/thing")
    assert caught.value.code == "PARTY_ALREADY_EXISTS"
    assert sender.request_count == 1


@pytest.mark.parametrize(
    ("category", "status", "kind", "retryable", "step"),
    [
        (1, 503, errors.ServiceUnavailableError, True, "Try again later."),
        (3, 504, errors.ServiceUnavailableError, True, "Try again later."),
        (4, 500, errors.InternalServerError, False, "Ask the operator, or try again later."),
        (5, 400, errors.BadRequestError, False, "Check the arguments of the call."),
        (6, 401, errors.AuthenticationError, False, "No token was sent: "),
        (7, 403, errors.PermissionDeniedError, False, "Ask the operator for CanReadAs "),
        (8, 400, errors.BadRequestError, False, "Check the arguments of the call."),
        (9, 400, errors.BadRequestError, False, "Check the state of the ledger before you retry."),
        (11, 404, errors.NotFoundError, False, "Check the id, and that the token's user may see it."),
        (12, 400, errors.OffsetAfterEndError, True, "Request offsets up to ledger_end(), "),
        (14, 501, errors.InternalServerError, False, "This host does not have the operation"),
    ],
)
def test_a_code_that_nobody_knows_goes_by_its_category(
    category: int, status: int, kind: type[ServiceError], retryable: bool, step: str
) -> None:
    error = refused(status, body("NEVER_SEEN", category))
    assert type(error) is kind
    assert error.retryable is retryable
    assert f"NEVER_SEEN: it is so. {step}" in str(error)
    assert (error.code, error.category) == ("NEVER_SEEN", category)


@pytest.mark.parametrize(
    ("status", "grpc", "kind", "retryable"),
    [
        (429, 8, errors.BusyError, True),
        (408, 4, errors.ServiceUnavailableError, True),
        (499, 1, errors.ServiceUnavailableError, True),
        (500, 13, errors.InternalServerError, True),
        (409, 10, errors.BusyError, True),
        (409, 6, errors.ConflictError, False),
        (418, 2, errors.BadRequestError, False),
    ],
)
def test_without_a_category_the_status_decides(status: int, grpc: int, kind: type[ServiceError], retryable: bool) -> None:
    error = refused(status, body("NA", -1, grpcCodeValue=grpc))
    assert type(error) is kind
    assert error.retryable is retryable


@pytest.mark.parametrize("code", ["NEGATIVE_OFFSET", "NON_POSITIVE_OFFSET"])
def test_bad_offsets(code: str) -> None:
    error = refused(400, body(code))
    assert type(error) is errors.BadRequestError
    assert "Use offsets from 1" in str(error)


@pytest.mark.parametrize("code", ["TEMPLATES_OR_INTERFACES_NOT_FOUND", "PACKAGE_NAMES_NOT_FOUND"])
def test_unknown_templates(code: str) -> None:
    error = refused(404, body(code, 11))
    assert type(error) is errors.NotFoundError
    assert "package-name:Module:Entity" in str(error)


def test_a_token_that_ended_is_not_overload() -> None:
    error = refused(409, body("ACCESS_TOKEN_EXPIRED", 2))
    assert type(error) is errors.AuthenticationError
    assert not error.retryable


def test_recorded_refusals(fixtures: Path) -> None:
    for name, code, step in (
        ("events_by_contract_id_404", "CONTRACT_EVENTS_NOT_FOUND", "whether the contract was archived and pruned."),
        ("user_rights_404", "USER_NOT_FOUND", "Check the id, and that the token's user may see it."),
    ):
        error = refused(404, json.loads((fixtures / f"{name}.json").read_text())["details"]["response"])
        assert type(error) is errors.NotFoundError
        assert error.code == code
        assert str(error).endswith(step)
        assert error.resources[0][0].startswith("ErrorResource(")
        assert error.definite_answer is False


def test_a_text_400_keeps_its_text(fixtures: Path) -> None:
    text = (fixtures / "malformed_body_400.txt").read_text()
    error = refused(400, text)
    assert type(error) is errors.BadRequestError
    assert (error.code, error.category, error.cause) == ("", -1, " ".join(text.split()))
    assert "Missing required field" in str(error)


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, "<html>bad gateway</html>", errors.BadRequestError),
        (502, "<html>bad gateway</html>", errors.ServiceUnavailableError),
        (503, "upstream connect error", errors.ServiceUnavailableError),
        (429, "local_rate_limited", errors.BusyError),
        (404, "The requested resource could not be found.", errors.NotFoundError),
        (403, '{"error": "not here"}', errors.PermissionDeniedError),
        (400, '["strange"]', errors.BadRequestError),
        (401, "", errors.AuthenticationError),
    ],
)
def test_what_stands_before_the_participant_answers_as_any_service(status: int, text: str, kind: type[ServiceError]) -> None:
    error = refused(status, text)
    assert type(error) is kind
    assert (error.code, error.category, error.cause, error.context, error.definite_answer) == ("", -1, "", {}, None)
    assert not error.is_from_api


@pytest.mark.parametrize(
    "content",
    [
        {"code": "X"},
        {"code": "X", "cause": None, "context": None, "resources": "?", "errorCategory": "8", "traceId": 7},
        {"code": "X", "context": {"a": 1, "earliest_offset": "soon"}, "resources": [["a"], 3, ["a", "b"]], "retryInfo": "later"},
    ],
)
def test_a_refusal_out_of_shape_is_still_one(content: dict[str, Any]) -> None:
    error = refused(400, content)
    assert type(error) is errors.BadRequestError
    assert error.code == "X"
    assert error.retry_after is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("1 second", 1.0), ("500 milliseconds", 0.5), ("2 minutes", 120.0), ("1.5 s", 1.5), ("soon", None)]
)
def test_the_time_to_ask_again_is_read(text: str, seconds: float | None) -> None:
    assert refused(503, body("SERVICE_NOT_RUNNING", 1, retryInfo=text)).retry_after == seconds


def test_the_header_goes_before_the_words() -> None:
    error = refused(503, body("SERVICE_NOT_RUNNING", 1, retryInfo="1 second"), {"Retry-After": "9"})
    assert error.retry_after == 9.0


def test_every_kind_has_a_next_step_of_its_own_and_the_class_of_a_status() -> None:
    kinds = {*BY_CODE.values(), *BY_CATEGORY.values(), *BY_STATUS.values()}
    assert kinds == {kind for kind in vars(ledger_errors).values() if isinstance(kind, ledger_errors.Kind)}
    assert len({kind.next_step for kind in kinds}) == len(kinds)
    for kind in kinds:
        assert kind.next_step.endswith(".")
        assert issubclass(kind.error, (*GENERAL.values(), errors.ConflictError))


@pytest.mark.parametrize(
    ("status", "content", "expected"),
    [
        (400, body("INVALID_UPDATES_PAGE_TOKEN"), [is_invalid_page_token, is_invalid_request]),
        (400, body("INVALID_ACS_PAGE_TOKEN"), [is_invalid_page_token, is_invalid_request]),
        (400, body("INVALID_CONTINUATION_TOKEN"), [is_invalid_page_token, is_invalid_request]),
        (413, body("JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", 2), [has_too_many_elements]),
        (413, body("NA", -1), [has_too_many_elements]),
        (400, body("NEGATIVE_OFFSET"), [is_invalid_request]),
        (400, body("INVALID_ARGUMENT"), [is_invalid_request]),
        (400, "Invalid value for: body", [is_invalid_request]),
        (400, body("JSON_API_PACKAGE_SELECTION_FAILED", 9), []),
        (400, body("OFFSET_AFTER_LEDGER_END", 12), []),
        (404, body("USER_NOT_FOUND", 11), []),
        (400, "<html>bad gateway</html>", []),
        (413, "<html>too large</html>", []),
    ],
)
def test_loaders_tell_apart_what_has_one_class(
    status: int, content: dict[str, Any] | str, expected: list[Callable[[Exception], bool]]
) -> None:
    error = refused(status, content)
    assert [holds for holds in (has_too_many_elements, is_invalid_page_token, is_invalid_request) if holds(error)] == expected


def test_the_tree_at_the_top_names_every_class() -> None:
    tree = (errors.__doc__ or "").split("Facts are attributes")[0]
    drawn = {name for line in tree.splitlines() if "─ " in line for name in line.split("─ ")[1].split("  ")[0].split(", ")}
    assert drawn | {"LedgerframesError"} == set(errors.__all__)
    assert {kind.__name__ for kind in _below(ServiceError)} <= drawn


def _below(kind: type) -> set[type]:
    return {kind}.union(*(_below(lower) for lower in kind.__subclasses__()))


@pytest.mark.parametrize("name", EARLIER_NAMES)
def test_an_earlier_name_says_what_to_write(name: str) -> None:
    for module in (lf, errors):
        with pytest.raises(AttributeError, match=rf"^lf\.errors\.{name} was removed\. Write \w+Error") as caught:
            getattr(module, name)
        message = str(caught.value)
        assert not message.endswith("..")
        [instead] = re.findall(r"Write (\w+)", message)
        assert instead in errors.__all__
        for code in re.findall(r'"(\w+)"', message):
            assert BY_CODE[code].error is getattr(errors, instead)
    assert f"`{name}`" in CHANGES


def test_a_name_of_no_error_is_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match=r"^lf\.errors has no attribute 'UnheardError'"):
        _ = lf.UnheardError  # type: ignore[attr-defined]


def test_a_cause_of_several_lines_is_one() -> None:
    error = refused(400, {"code": "X", "cause": "first\n  second\r\nthird", "errorCategory": 8})
    assert error.cause == "first second third"


@pytest.mark.parametrize("category", [-1, 14])
def test_what_the_participant_does_not_implement_is_not_tried_again(category: int) -> None:
    error = refused(501, {"code": "NA", "cause": "no", "errorCategory": category})
    assert not error.retryable
    assert "does not have the operation" in str(error) and "later" not in str(error)
