from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ledgerframes import errors
from ledgerframes.api.ledger_errors import BY_CATEGORY, BY_CODE, BY_STATUS, NEXT_STEP, ledger_error_factory
from ledgerframes.api.response import Response
from ledgerframes.api.transport import Transport
from ledgerframes.errors import LedgerError, ServiceError
from ledgerframes.settings import Limits

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
    ("name", "kind", "retryable"),
    [
        ("pruned_http_400", errors.PrunedOffsetError, False),
        ("page_token_http_400", errors.InvalidPageTokenError, False),
        ("after_end_http_400", errors.OffsetAfterEndError, True),
        ("not_found_http_404", errors.UpdateNotFoundError, False),
        ("unauthenticated_http_401", errors.LedgerAuthenticationError, False),
        ("permission_denied_http_403", errors.LedgerPermissionDeniedError, False),
        ("too_many_http_413", errors.TooManyElementsError, False),
    ],
)
def test_each_known_refusal_has_its_class(made: dict[str, Any], name: str, kind: type[LedgerError], retryable: bool) -> None:
    status, content = int(name.rpartition("_")[2]), made[name]
    error = refused(status, content)
    assert type(error) is kind
    assert isinstance(error, GENERAL[status])
    assert (error.code, error.category, error.trace_id) == (content["code"], content["errorCategory"], content["traceId"])
    assert error.cause == content["cause"]
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
    assert (error.retry_after, vars(error)["retry_info"]) == (1.0, "1 second")


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
    assert type(error) is errors.OverloadedError
    assert isinstance(error, errors.BusyError)
    assert not isinstance(error, errors.ConflictError)
    answers = [httpx.Response(409, json=body(code, 2)), httpx.Response(200, json={})]
    assert transport(lambda _: answers.pop(0)).request("GET", "/thing").body == b"{}"


def test_what_exists_is_409_and_not_tried_again() -> None:
    sender = transport(lambda _: httpx.Response(409, json=body("PARTY_ALREADY_EXISTS", 10)))
    with pytest.raises(errors.AlreadyExistsError) as caught:
        sender.request("GET", "/thing")
    assert isinstance(caught.value, errors.ConflictError)
    assert sender.request_count == 1


@pytest.mark.parametrize(
    ("category", "status", "kind", "retryable"),
    [
        (1, 503, errors.LedgerUnavailableError, True),
        (3, 504, errors.LedgerUnavailableError, True),
        (4, 500, errors.LedgerInternalError, False),
        (5, 400, errors.InvalidRequestError, False),
        (6, 401, errors.LedgerAuthenticationError, False),
        (7, 403, errors.LedgerPermissionDeniedError, False),
        (8, 400, errors.InvalidRequestError, False),
        (9, 400, errors.InvalidLedgerStateError, False),
        (11, 404, errors.LedgerNotFoundError, False),
        (12, 400, errors.OffsetAfterEndError, True),
        (14, 501, errors.LedgerInternalError, False),
    ],
)
def test_a_code_that_nobody_knows_goes_by_its_category(
    category: int, status: int, kind: type[LedgerError], retryable: bool
) -> None:
    error = refused(status, body("NEVER_SEEN", category))
    assert type(error) is kind
    assert error.retryable is retryable
    assert "NEVER_SEEN: it is so" in str(error)


@pytest.mark.parametrize(
    ("status", "grpc", "kind", "retryable"),
    [
        (429, 8, errors.OverloadedError, True),
        (408, 4, errors.LedgerUnavailableError, True),
        (499, 1, errors.LedgerUnavailableError, True),
        (500, 13, errors.LedgerInternalError, True),
        (409, 10, errors.OverloadedError, True),
        (409, 6, errors.AlreadyExistsError, False),
        (418, 2, errors.InvalidRequestError, False),
    ],
)
def test_without_a_category_the_status_decides(status: int, grpc: int, kind: type[LedgerError], retryable: bool) -> None:
    error = refused(status, body("NA", -1, grpcCodeValue=grpc))
    assert type(error) is kind
    assert error.retryable is retryable


@pytest.mark.parametrize("code", ["NEGATIVE_OFFSET", "NON_POSITIVE_OFFSET"])
def test_bad_offsets(code: str) -> None:
    assert type(refused(400, body(code))) is errors.InvalidOffsetError


@pytest.mark.parametrize("code", ["TEMPLATES_OR_INTERFACES_NOT_FOUND", "PACKAGE_NAMES_NOT_FOUND"])
def test_unknown_templates(code: str) -> None:
    error = refused(404, body(code, 11))
    assert type(error) is errors.UnknownTemplateError
    assert "package-name:Module:Entity" in str(error)


def test_a_token_that_ended_is_not_overload() -> None:
    error = refused(409, body("ACCESS_TOKEN_EXPIRED", 2))
    assert type(error) is errors.LedgerAuthenticationError
    assert not error.retryable


def test_recorded_refusals(fixtures: Path) -> None:
    for name, kind in (
        ("events_by_contract_id_404", errors.ContractNotFoundError),
        ("user_rights_404", errors.LedgerNotFoundError),
    ):
        error = refused(404, json.loads((fixtures / f"{name}.json").read_text())["details"]["response"])
        assert type(error) is kind
        assert isinstance(error, errors.NotFoundError)
        assert error.resources[0][0].startswith("ErrorResource(")
        assert error.definite_answer is False


def test_a_text_400_keeps_its_text(fixtures: Path) -> None:
    text = (fixtures / "malformed_body_400.txt").read_text()
    error = refused(400, text)
    assert type(error) is errors.InvalidRequestError
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
    assert type(refused(status, text)) is kind


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
    assert type(error) is errors.InvalidRequestError
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


def test_every_class_has_a_next_step_and_the_general_class_of_its_status() -> None:
    kinds = {*BY_CODE.values(), *BY_CATEGORY.values(), *BY_STATUS.values()}
    general = set(GENERAL.values()) | {errors.ConflictError}
    for kind in kinds:
        assert NEXT_STEP[kind].endswith(".")
        assert issubclass(kind, LedgerError)
        assert any(issubclass(kind, one) for one in general)


def test_the_tree_at_the_top_names_every_class() -> None:
    tree = (errors.__doc__ or "").split("Facts are attributes")[0]
    drawn = {name for line in tree.splitlines() if "─ " in line for name in line.split("─ ")[1].split("  ")[0].split(", ")}
    assert drawn | {"LedgerframesError"} == set(errors.__all__)
    assert {kind.__name__ for kind in _below(LedgerError)} <= drawn


def _below(kind: type) -> set[type]:
    return {kind}.union(*(_below(lower) for lower in kind.__subclasses__()))


def test_a_cause_of_several_lines_is_one() -> None:
    error = refused(400, {"code": "X", "cause": "first\n  second\r\nthird", "errorCategory": 8})
    assert error.cause == "first second third"


@pytest.mark.parametrize("category", [-1, 14])
def test_what_the_participant_does_not_implement_is_not_tried_again(category: int) -> None:
    error = refused(501, {"code": "NA", "cause": "no", "errorCategory": category})
    assert not error.retryable
    assert "does not have the operation" in str(error) and "later" not in str(error)
