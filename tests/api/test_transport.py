from __future__ import annotations

import gzip
import json
import logging
import socket
import socketserver
import ssl
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator

import httpx
import pytest
from virtual_clock import VirtualClock

import ledgerframes as lf
from ledgerframes.api.certificates import _cached_context
from ledgerframes.api.history import Cursor
from ledgerframes.api.transport import Transport, host_of
from ledgerframes.errors import (
    AuthenticationError,
    BadRequestError,
    BusyError,
    ConflictError,
    DecodeError,
    HostUnreachableError,
    InternalServerError,
    NotFoundError,
    PermissionDeniedError,
    RequestTimeoutError,
    ServiceError,
    ServiceUnavailableError,
    UsageError,
)
from ledgerframes.settings import Limits
from ledgerframes.values.windows import instant

Handler = Callable[[httpx.Request], httpx.Response]
ONE, TWO = "http://one.invalid/api", "http://two.invalid/api"


def transport(handler: Handler, *urls: str, **limits: float) -> Transport:
    quick = Limits(requests_per_second=0, **limits)  # type: ignore[arg-type]
    return Transport(urls or (ONE,), quick, httpx.MockTransport(handler))


def history(handler: Handler, **overrides: object) -> lf.Network:
    return lf.connect("sandbox", history_url=ONE, transport=httpx.MockTransport(handler), requests_per_second=0, **overrides)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequestError),
        (401, AuthenticationError),
        (403, PermissionDeniedError),
        (404, NotFoundError),
        (405, BadRequestError),
        (408, ServiceUnavailableError),
        (409, ConflictError),
        (429, BusyError),
        (499, ServiceUnavailableError),
        (500, InternalServerError),
        (502, ServiceUnavailableError),
        (503, ServiceUnavailableError),
        (504, ServiceUnavailableError),
    ],
)
def test_every_bad_status_has_its_error_with_facts_and_next_step(status: int, kind: type[ServiceError]) -> None:
    with pytest.raises(kind) as caught:
        transport(lambda _: httpx.Response(status, json={"error": "it is so."})).request("GET", "/thing")
    error = caught.value
    assert (error.endpoint, error.status, error.host, error.detail) == ("GET /thing", status, "one.invalid", "it is so")
    assert str(error).startswith(f"one.invalid returned {status} for GET /thing: it is so. ")
    assert len(str(error).split(". ")) >= 2, "no next step"


@pytest.mark.parametrize(
    ("target", "shown", "url"),
    [
        (
            "https://me:geheim@two.invalid/base/thing?key=geheim",
            "a redirect to https://two.invalid/base/thing",
            "https://two.invalid/base",
        ),
        ("https://login.invalid/page?next=/thing", "a redirect to https://login.invalid/page", "one that does not redirect"),
        ("/thing/", "a redirect to /thing/", "one that does not redirect"),
        ("", "a redirect", "one that does not redirect"),
    ],
)
def test_a_redirect_names_the_url_to_configure(target: str, shown: str, url: str) -> None:
    with pytest.raises(ServiceError) as caught:
        transport(lambda _: httpx.Response(302, headers={"Location": target})).request("GET", "/thing")
    step = f"Set the URL of this API in the profile to {url}."
    assert str(caught.value) == f"one.invalid returned 302 for GET /thing: {shown}. {step}"
    assert not isinstance(caught.value, BadRequestError)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<html><body>gateway</body></html>", "a web page instead of JSON"),
        ("Too Many Requests: Server is busy", "Too Many Requests: Server is busy"),
        ("", ""),
        ('["strange"]', "['strange']"),
    ],
)
def test_errors_that_are_not_json_are_put_into_one_line(body: str, shown: str) -> None:
    with pytest.raises(ServiceUnavailableError) as caught:
        transport(lambda _: httpx.Response(503, text=body)).request("GET", "/thing")
    assert caught.value.detail == shown


@pytest.mark.parametrize(
    "failure",
    [
        408,
        429,
        499,
        500,
        502,
        503,
        504,
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("late"),
        httpx.RemoteProtocolError("half"),
    ],
)
def test_what_may_pass_is_tried_again(failure: int | Exception) -> None:
    answers: list[int | Exception] = [failure, failure, 200]

    def handler(_: httpx.Request) -> httpx.Response:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer, json={})

    sender = transport(handler)
    assert sender.request("GET", "/thing").body == b"{}"
    assert sender.request_count == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409])
def test_what_will_not_pass_is_not_tried_again(status: int) -> None:
    sender = transport(lambda _: httpx.Response(status))
    with pytest.raises(ServiceError):
        sender.request("GET", "/thing")
    assert sender.request_count == 1


def test_a_transport_without_a_host_says_so() -> None:
    with pytest.raises(UsageError, match="The API has no host"):
        Transport((), Limits()).request("GET", "/thing")


def test_tries_are_bounded() -> None:
    sender = transport(lambda _: httpx.Response(502), retries=2)
    with pytest.raises(ServiceUnavailableError):
        sender.request("GET", "/thing")
    assert sender.request_count == 3


def test_retry_after_is_kept() -> None:
    with pytest.raises(BusyError) as caught:
        transport(lambda _: httpx.Response(429, headers={"Retry-After": "7"}), retries=0).request("GET", "/thing")
    assert caught.value.retry_after == 7.0


def test_the_next_host_is_asked_when_the_first_gives_up() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={}) if request.url.host == "two.invalid" else httpx.Response(503)

    assert transport(handler, ONE, TWO, retries=1).request("GET", "/thing").host == "two.invalid"


def test_a_host_that_failed_comes_last_and_is_tried_once_after_a_while(clock: VirtualClock) -> None:
    asked = Counter[str]()
    is_down = True

    def handler(request: httpx.Request) -> httpx.Response:
        asked[request.url.host] += 1
        return httpx.Response(500 if is_down and request.url.host == "one.invalid" else 200, json={})

    sender = transport(handler, ONE, TWO, retries=2)

    def attempts_at_the_first(requests: int) -> int:
        before = asked["one.invalid"]
        for _ in range(requests):
            sender.request("GET", "/thing")
        return asked["one.invalid"] - before

    assert attempts_at_the_first(50) == 3
    for seconds in (60, 120, 240, 480, 600, 600):
        clock.time += seconds - 1
        assert attempts_at_the_first(1) == 0
        clock.time += 1
        assert attempts_at_the_first(50) == 1
    clock.time += 600
    is_down = False
    assert attempts_at_the_first(50) == 50


def test_requests_that_fail_together_count_as_one_failure(clock: VirtualClock) -> None:
    together = threading.Barrier(4)
    is_down = True

    def handler(request: httpx.Request) -> httpx.Response:
        if is_down and request.url.host == "one.invalid":
            together.wait()
            raise httpx.ConnectError("down")
        return httpx.Response(200, json={})

    sender = transport(handler, ONE, TWO, retries=0)
    threads = [threading.Thread(target=sender.request, args=("GET", "/thing")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    is_down = False
    assert sender.request("GET", "/thing").host == "two.invalid"
    clock.time += 60
    assert sender.request("GET", "/thing").host == "one.invalid"


def test_hosts_that_all_failed_are_tried_in_order() -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(500)

    sender = transport(handler, ONE, TWO, retries=1)
    for _ in range(2):
        with pytest.raises(InternalServerError):
            sender.request("GET", "/thing")
    assert asked == ["one.invalid"] * 2 + ["two.invalid"] * 2 + ["one.invalid"] + ["two.invalid"] * 2


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, json={"error": "not found"}),
        httpx.Response(409, json={"error": "exists"}),
        httpx.Response(400, text="The request content was malformed:\nNo usable value for page_size"),
    ],
)
def test_another_host_is_not_asked_about_what_the_first_has_answered(answer: httpx.Response) -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return answer

    with pytest.raises(ServiceError):
        transport(handler, ONE, TWO).request("GET", "/thing")
    assert asked == ["one.invalid"]


GONE = {
    "default backend": httpx.Response(404, text="default backend - 404"),
    "empty": httpx.Response(404),
    "page": httpx.Response(404, text="<html>not here</html>"),
    "no route": httpx.Response(404, json={"message": "no Route matched with those values"}),
    "gone": httpx.Response(410, text="gone"),
    "misdirected": httpx.Response(421, text="Misdirected Request"),
    "moved": httpx.Response(301, headers={"Location": "https://parked.invalid/"}),
    "bad gateway": httpx.Response(400, text="<html>bad</html>"),
    "nothing": httpx.Response(200),
}


@pytest.mark.parametrize("answer", GONE.values(), ids=GONE)
def test_the_next_host_is_asked_if_the_first_is_gone(answer: httpx.Response) -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return answer if request.url.host == "one.invalid" else httpx.Response(200, json={})

    sender = transport(handler, ONE, TWO, retries=0)
    for _ in range(2):
        assert sender.request("GET", "/thing").host == "two.invalid"
    assert asked == ["one.invalid", "two.invalid", "two.invalid"], "it comes last for a while"


@pytest.mark.parametrize("status", [401, 403, 405])
def test_a_host_that_refuses_a_request_stays_the_first(status: int) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        is_refused = request.url.host == "one.invalid" and request.url.path == "/api/new"
        return httpx.Response(status, json={"error": "no"}) if is_refused else httpx.Response(200, json={})

    sender = transport(handler, ONE, TWO)
    assert sender.request("POST", "/new").host == "two.invalid"
    assert sender.request("GET", "/old").host == "one.invalid"


UNKNOWN = httpx.Response(404, json={"error": "not found"})


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([UNKNOWN, UNKNOWN, httpx.Response(200, json={})], 200),
        ([UNKNOWN, UNKNOWN, UNKNOWN], 404),
        ([UNKNOWN, httpx.Response(503), httpx.Response(200, json={})], 200),
        ([UNKNOWN, httpx.Response(404, text="The requested resource could not be found."), httpx.Response(503)], 404),
        ([httpx.Response(503), httpx.Response(403, json={"error": "no"}), UNKNOWN], 404),
        ([httpx.Response(503), httpx.Response(503), httpx.Response(503)], 503),
    ],
)
def test_every_host_is_asked_for_an_id_that_the_hosts_know_in_part(answers: list[httpx.Response], outcome: int) -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return next(by_host)

    by_host = iter(answers)
    sender = transport(handler, ONE, TWO, "http://three.invalid/api", retries=0)
    try:
        status = sender.request("GET", "/thing", varies_by_host=True).status
    except ServiceError as error:
        status = error.status
        assert outcome != 404 or error.detail == "not found"
    assert status == outcome
    assert asked == ["one.invalid", "two.invalid", "three.invalid"]


def test_a_host_that_does_not_know_an_id_stays_the_first() -> None:
    sender = transport(lambda request: UNKNOWN if request.url.path == "/api/id" else httpx.Response(200, json={}), ONE, TWO)
    with pytest.raises(NotFoundError):
        sender.request("GET", "/id", varies_by_host=True)
    assert sender.request("GET", "/thing").host == "one.invalid"


@pytest.mark.parametrize("body", ["", "<html>not here</html>", "404 page not found", '{"status": 404, "error": "Not Found"}'])
def test_a_404_that_is_not_the_apis_own_is_no_unknown_id(body: str) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return UNKNOWN if request.url.host == known_to_be_unknown_on else httpx.Response(404, text=body)

    known_to_be_unknown_on = ""
    with pytest.raises(NotFoundError, match="that the network has this operation") as caught:
        transport(handler, ONE, TWO).request("GET", "/id", varies_by_host=True)
    assert (caught.value.host, caught.value.is_from_api) == ("two.invalid", False)
    for known_to_be_unknown_on in ("one.invalid", "two.invalid"):
        with pytest.raises(NotFoundError, match="not found") as caught:
            transport(handler, ONE, TWO).request("GET", "/id", varies_by_host=True)
        assert (caught.value.host, caught.value.is_from_api) == (known_to_be_unknown_on, True)


ABSENT = {
    "unknown route": httpx.Response(404, text="The requested resource could not be found."),
    "not implemented": httpx.Response(501, json={"error": "no"}),
    "unimplemented": httpx.Response(400, json={"error": "UNIMPLEMENTED: no"}),
    "not configured": httpx.Response(400, json={"error": "Bulk storage is not configured"}),
}


@pytest.mark.parametrize("answer", ABSENT.values(), ids=ABSENT)
def test_the_next_host_is_asked_for_an_operation_that_the_first_does_not_have(answer: httpx.Response) -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host + request.url.path)
        return answer if request.url.path == "/api/new" and request.url.host in absent_on else httpx.Response(200, json={})

    absent_on = ["one.invalid"]
    sender = transport(handler, ONE, TWO)
    assert sender.request("POST", "/new").host == "two.invalid"
    assert sender.request("GET", "/old").host == "one.invalid", "it has the other operations"
    assert asked == ["one.invalid/api/new", "two.invalid/api/new", "one.invalid/api/old"]
    absent_on += ["two.invalid"]
    with pytest.raises(ServiceError) as caught:
        sender.request("POST", "/new")
    assert (caught.value.host, caught.value.status) == ("two.invalid", answer.status_code)
    with pytest.raises(ServiceError):
        sender.request("POST", "/new", retry=False)
    assert asked[-1] == "one.invalid/api/new", "what may have an effect is sent once"


def test_timeout_and_broken_connection_name_host_and_next_step() -> None:
    def late(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("late", request=request)

    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.RemoteProtocolError("peer closed connection", request=request)

    with pytest.raises(RequestTimeoutError, match=r"one\.invalid did not respond to GET /thing within 60 s\. Raise timeout="):
        transport(late).request("GET", "/thing")
    with pytest.raises(RequestTimeoutError, match=r"GET /readyz within 60 s\. Check the scheme and the port of the URL"):
        transport(late).request("GET", "/readyz")
    with pytest.raises(HostUnreachableError, match=r"did not complete GET /thing: peer closed connection\. Check the URL"):
        transport(broken).request("GET", "/thing")


def test_requests_say_who_asks() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=request.headers["user-agent"])

    assert transport(handler).request("GET", "/thing").body.startswith(b'"ledgerframes/')


def test_no_more_requests_at_once_than_allowed() -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    def handler(_: httpx.Request) -> httpx.Response:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.02)
        with lock:
            under_way -= 1
        return httpx.Response(200, json={})

    sender = transport(handler, max_concurrency=2)
    threads = [threading.Thread(target=sender.request, args=("GET", "/thing")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most <= 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSL_CERT_FILE", "no-such-file.pem"),
        ("SSL_CERT_FILE", __file__),
        ("SSL_CERT_DIR", "no-such-folder"),
        ("HTTPS_PROXY", "ftp://user:secret@proxy.invalid"),
        ("HTTPS_PROXY", "ftp://secret@proxy.invalid"),
        ("HTTP_PROXY", "http://user:secret#1@proxy.invalid"),
        ("NO_PROXY", "localhost,fe80::/10"),
    ],
)
def test_what_the_environment_names_and_cannot_be_used_is_said(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=f"Check .*{name}") as caught:
        Transport((ONE,), Limits())
    assert "secret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.loopback
def test_a_failure_names_the_proxy_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:secret@127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(HostUnreachableError, match=r"far.invalid did .* through the proxy 127.0.0.1:\d+ of the") as caught:
            Transport(("https://far.invalid",), Limits(retries=0)).request("GET", "/thing")
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_certificates_are_read_once_while_the_environment_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(httpx, "create_ssl_context", lambda: read.append(1) or ssl.create_default_context())
    _cached_context.cache_clear()
    for _ in range(2):
        Transport((ONE,), Limits()).close()
    assert len(read) == 1
    monkeypatch.setenv("SSL_CERT_FILE", "another.pem")
    Transport((ONE,), Limits()).close()
    assert len(read) == 2
    _cached_context.cache_clear()


def test_only_host_and_port_of_a_url_are_shown() -> None:
    assert host_of("https://user:secret@host.invalid:8443/api?token=secret") == "host.invalid:8443"


@pytest.mark.parametrize(("vocabulary", "name"), [("neutral", "lang_value_encoding"), ("canton", "daml_value_encoding")])
def test_vocabulary_names_the_encoding(vocabulary: str, name: str) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"events": []} if request.method == "POST" else {})

    net = history(handler, vocabulary=vocabulary)
    net.history.event("1220aa", value_encoding="protobuf_json")
    net.history.events(Cursor(4, instant("2026-11-01")), page_size=7)
    assert seen[0].url.params[name] == "protobuf_json"
    body = json.loads(seen[1].content)
    assert body == {
        "after": {"after_migration_id": 4, "after_record_time": "2026-11-01T00:00:00.000000Z"},
        "page_size": 7,
        name: "compact_json",
    }


def test_any_text_is_one_segment_of_the_path() -> None:
    seen: list[bytes] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path)
        return httpx.Response(404, json={"error": "no"})

    for update_id in ("a/b", "../v2/updates", "a?b#c", "%2F"):
        with pytest.raises(NotFoundError):
            history(handler).history.event(update_id)
    paths = [path.split(b"?")[0] for path in seen]
    assert paths == [
        b"/api/v0/events/a%2Fb",
        b"/api/v0/events/..%2Fv2%2Fupdates",
        b"/api/v0/events/a%3Fb%23c",
        b"/api/v0/events/%252F",
    ]


@pytest.mark.parametrize("update_id", ["", ".", ".."])
def test_what_is_no_segment_is_refused(update_id: str) -> None:
    with pytest.raises(UsageError, match="update_id= must be text"):
        history(lambda _: httpx.Response(200, json={})).history.event(update_id)


@pytest.mark.parametrize("page_size", [0, -1, 1001, True, "5"])
def test_page_size_outside_the_limits_is_refused_before_sending(page_size: object) -> None:
    with pytest.raises(UsageError, match=r"page_size= must be a whole number of at (least 1|most 1,000), got"):
        history(lambda _: pytest.fail("sent")).history.events(page_size=page_size)  # type: ignore[arg-type]


def test_unknown_encoding_is_refused_before_sending() -> None:
    with pytest.raises(UsageError, match="Unknown value_encoding 'xml'"):
        history(lambda _: pytest.fail("sent")).history.event("1220aa", value_encoding="xml")  # type: ignore[arg-type]


def test_html_with_status_200_is_a_decode_error() -> None:
    with pytest.raises(DecodeError, match=r"not JSON.*<html>"):
        history(lambda _: httpx.Response(200, text="<html>login</html>")).history.events()


def test_retries_are_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ServiceUnavailableError):
        history(lambda _: httpx.Response(503), token="very-secret", retries=1).history.events()
    assert "one.invalid" in caplog.text
    assert "very-secret" not in caplog.text


@pytest.mark.parametrize("streamed", [True, False])
def test_a_compressed_answer_is_read_whole(streamed: bool) -> None:
    packed = gzip.compress(b'{"events":[]}' + b" " * 1000)  # shorter than what it holds, as Content-Length says
    headers = {"Content-Encoding": "gzip", "Content-Length": str(len(packed))}
    content = iter([packed[:20], packed[20:]]) if streamed else packed
    assert history(lambda _: httpx.Response(200, content=content, headers=headers)).history.events() == []


@pytest.mark.parametrize("streamed", [True, False])
def test_half_a_body_is_no_answer(streamed: bool) -> None:
    body = b'{"events":[]}'
    content = iter([body]) if streamed else body
    answer = httpx.Response(200, content=content, headers={"Content-Length": "1000"})
    with pytest.raises(HostUnreachableError, match="did not complete"):
        history(lambda _: answer, retries=0).history.events()


class HalfAnAnswer(socketserver.StreamRequestHandler):
    """Promises more bytes than it sends."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Type: application/json\r\n\r\n{"events":[')


class Silence(socketserver.StreamRequestHandler):
    """Takes a request and never answers."""

    def handle(self) -> None:
        self.rfile.readline()
        time.sleep(3)


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[str]:
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), request.param)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.loopback
@pytest.mark.parametrize("served", [HalfAnAnswer], indirect=True)
def test_half_a_body_over_a_real_socket(served: str) -> None:
    with (
        lf.connect("sandbox", history_url=served, retries=0) as net,
        pytest.raises(HostUnreachableError, match="did not complete"),
    ):
        net.history.events()


@pytest.mark.loopback
@pytest.mark.parametrize("served", [Silence], indirect=True)
def test_a_host_that_never_answers_over_a_real_socket(served: str) -> None:
    with (
        lf.connect("sandbox", history_url=served, retries=0, timeout=0.2) as net,
        pytest.raises(RequestTimeoutError, match=r"within 0\.2 s"),
    ):
        net.history.events()


@pytest.mark.loopback
def test_a_host_that_is_down_over_a_real_socket() -> None:
    with (
        lf.connect("sandbox", history_url="http://127.0.0.1:1", retries=0) as net,
        pytest.raises(HostUnreachableError, match="Check the URL"),
    ):
        net.history.events()
