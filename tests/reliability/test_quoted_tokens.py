"""No error, log line or warning has the token, whatever a server quotes and however it writes it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import logging
import socketserver
import string
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.errors import LedgerframesError
from ledgerframes.texts.hidden_tokens import hide_tokens, remember_token

URL = "http://far.invalid"
TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlLW9mLWFsaWNl"

# -- how a server may write what it was sent ---------------------------------------------------------------------------------

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "with its scheme": lambda token: f"Bearer {token}",
    "escapes of JSON": lambda token: "".join(f"\\u{ord(each):04x}" for each in token),
    "some escapes of JSON": lambda token: "".join(f"\\u{ord(c):04X}" if n % 3 else c for n, c in enumerate(token)),
    "escaped slashes": lambda token: token.replace("/", "\\/"),
    "escapes of escapes": lambda token: json.dumps("".join(f"\\u{ord(each):04x}" for each in token))[1:-1],
    "percent": lambda token: "".join(f"%{ord(each):02x}" for each in token),
    "a URL": lambda token: quote(token, safe=""),
    "a URL in a URL": lambda token: quote(quote(token, safe=""), safe=""),
    "HTML": lambda token: "".join(f"&#{ord(each)};" for each in token),
    "HTML in hex": lambda token: "".join(f"&#x{ord(each):x};" for each in token),
    "HTML of a library": html.escape,
    "base64": lambda token: base64.b64encode(token.encode()).decode(),
    "base64 of the header": lambda token: base64.b64encode(f"Bearer {token}".encode()).decode(),
    "base64 of a pair": lambda token: base64.urlsafe_b64encode(f"u:{token}".encode()).decode(),
    "hex": lambda token: token.encode().hex(),
    "capitals": str.upper,
    "two lines": lambda token: f"{token[:14]}\n {token[14:]}",
    "UTF-16": lambda token: token.encode("utf-16-le").decode(),
    "cut at the end": lambda token: token[:-3],
    "cut at the start": lambda token: token[3:],
}
# Where it may stand in a body of any status. The mark is where the text goes, as JSON text or as it is.
BODIES: tuple[str, ...] = (
    "MARK",
    "no JSON MARK",
    '"MARK"',
    '["MARK"]',
    '{"error": "MARK"}',
    '{"error": "MARK',
    '{"a": 1, "MARK": 2',
    '{"offset": "MARK"}',
    '{"offset": 7, "MARK": "MARK"}',
    '{"participantId": "MARK"}',
    '{"partyDetails": [{"party": 5, "MARK": 1}]}',
    '{"partyDetails": "MARK"}',
    '{"round": "MARK", "effective_unlocked_qty": "MARK"}',
    '{"offers": [{"contract_id": "MARK", "payload": "MARK"}]}',
    '{"code": "MARK", "cause": "MARK"}',
    '{"code": "X", "cause": "MARK", "errorCategory": 8, "context": {"MARK": "MARK", "earliest_offset": "MARK"}}',
    '{"code": "X", "resources": [["MARK", "MARK"]], "traceId": "MARK", "correlationId": "MARK", "retryInfo": "MARK"}',
    '{"code": "NA", "cause": "MARK", "errorCategory": -1, "context": {"ledger_api_error": "MARK"}, "traceId": "MARK"}',
    "<html>MARK</html>",
    "\udcff MARK",  # no UTF-8
    '{"MARK": ' * 2000,
)
HEADERS = (
    "Location",
    "Retry-After",
    "Content-Encoding",
    "Content-Type",
    "Content-Length",
    "Date",
    "X-Request",
    "WWW-Authenticate",
)
CALLS: dict[str, Callable[[lf.Network], Any]] = {
    "ledger end": lambda net: net.ledger.ledger_end(),
    "any JSON": lambda net: net.ledger.user("alice"),
    "parties": lf.load_parties,
    "updates": lf.load_updates,
    "history": lambda net: net.history.events(),
    "balance": lambda net: net.wallet.balance(),
    "offers": lf.load_transfer_offers,
    "an offer": lambda net: net.wallet.create_offer(
        receiver_party_id="bob", amount="1", description="x", expires_at=1, tracking_id="t"
    ),
}


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error and those that it comes from."""
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is not None:
            yield each
            pending += [each.__cause__, each.__context__]


def said_by(error: BaseException) -> str:
    """All that an error says: a person, a notebook and a program that reports errors see no more."""
    parts = [traceback.format_exc(), *traceback.format_exception(error), repr(traceback.extract_tb(error.__traceback__))]
    for each in chain(error):
        attributes = {name: getattr(each, name, "") for name in dir(each) if not name.startswith("__")}
        parts += [str(each), repr(each), repr(each.args), repr(vars(each)), repr(attributes)]
    return "\n".join(parts)


def assert_without(token: str, spelling: str, text: str) -> None:
    """Neither the token nor its spelling is in a text, also if the text is a repr of a repr."""
    for each in {token, spelling, repr(spelling)[1:-1], repr(repr(spelling)[1:-1])[1:-1], spelling.replace("\n", " ")}:
        assert len(each) < 12 or each not in text, f"{each!r} in {text[:2000]}"


def collect(net: lf.Network, name: str, caplog: pytest.LogCaptureFixture) -> str:
    """All that a call says."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            CALLS[name](net)
        except LedgerframesError as error:
            text = said_by(error)
        else:
            text = ""
    return "\n".join([text, *(str(each.message) for each in told), *(f"{r.getMessage()} {vars(r)}" for r in caplog.records)])


tokens = st.binary(min_size=18, max_size=150).map(lambda content: base64.b64encode(content, altchars=b"/~").decode() + "_.-=+")


@pytest.mark.exhaustive
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    token=tokens,
    name=st.sampled_from(sorted(CALLS)),
    spell=st.sampled_from(sorted(SPELLINGS)),
    body=st.sampled_from(BODIES),
    status=st.sampled_from([200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 405, 409, 413, 429, 500, 501, 503]),
    header=st.sampled_from(HEADERS),
    is_packed=st.booleans(),
)
def test_no_token_in_what_is_said(
    token: str, name: str, spell: str, body: str, status: int, header: str, is_packed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    spelling = SPELLINGS[spell](token)
    content = body.replace("MARK", spelling).encode("utf-8", "surrogateescape")
    value = spelling.replace("\n", " ").replace("\0", "")

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.host == "far.invalid" and "authorization" in request.headers:
            assert request.headers["authorization"] == f"Bearer {token}"
        if is_packed:
            return httpx.Response(status, content=iter([gzip.compress(content)]), headers={"Content-Encoding": "gzip"})
        return httpx.Response(status, content=iter([content]), headers={header: value})

    caplog.set_level(logging.DEBUG)
    net = lf.connect(
        "sandbox", ledger_url=URL, history_url=URL, wallet_url=URL, token=token, transport=httpx.MockTransport(handler),
        requests_per_second=0, retries=1, max_wait_minutes=0, store="store",
    )  # fmt: skip
    with suppress(LedgerframesError):
        net.ledger.transport.status(URL, "/")  # the token is known from the first request that has it
    assert_without(token, value, collect(net, name, caplog))
    assert_without(token, spelling, collect(net, name, caplog))


@pytest.mark.parametrize("spell", SPELLINGS)
def test_the_text_around_a_token_stays(spell: str) -> None:
    remember_token(TOKEN)
    hidden = hide_tokens(f"one.invalid returned 400: {SPELLINGS[spell](TOKEN)}. Check the arguments of the call.")
    assert hidden.startswith("one.invalid returned 400: ") and hidden.endswith(". Check the arguments of the call.")
    assert "[token]" in hidden and len(hidden) < 90


def test_a_short_token_is_hidden_as_a_word() -> None:
    remember_token("other")
    assert hide_tokens("Bearer other: another host, other=x") == "Bearer [token]: another host, [token]=x"


def test_only_the_latest_tokens_are_remembered() -> None:
    names = [f"{letter * 20}" for letter in string.ascii_lowercase]
    for name in names:
        remember_token(name)
    remember_token(names[-8])
    remember_token("0" * 20)
    assert [name for name in names if "[token]" in hide_tokens(name)] == [names[-8], *names[-6:]]


# -- over a real socket, where the HTTP library quotes lines of a response and logs them -----------------------------------

RESPONSES = {
    "reason": b"HTTP/1.1 400 " + TOKEN.encode() + b"\r\nContent-Length: 0\r\n\r\n",
    "good reason": b"HTTP/1.1 200 " + TOKEN.encode() + b"\r\nContent-Length: 2\r\n\r\n{}",
    "header": b"HTTP/1.1 200 OK\r\nX-Echo: " + TOKEN.encode() + b"\r\nContent-Length: 1\r\n\r\n[",
    "no header": b"HTTP/1.1 200 OK\r\n" + TOKEN.encode() + b" no colon\r\n\r\n",
    "name of a header": b"HTTP/1.1 200 OK\r\n" + TOKEN.encode() + b"\x00: x\r\n\r\n",
    "no status line": b"Bearer " + TOKEN.encode() + b"\r\n\r\n",
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: " + TOKEN.encode() + b"\r\n\r\n",
    "size of a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + TOKEN.encode() + b"\r\n",
    "transfer encoding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + TOKEN.encode() + b"\r\n\r\n",
}


class Raw(socketserver.StreamRequestHandler):
    """Answers each request with the same bytes."""

    response = b""

    def handle(self) -> None:
        while line := self.rfile.readline():
            if line == b"\r\n":
                break
        self.wfile.write(type(self).response)


@pytest.mark.loopback
@pytest.mark.parametrize("place", RESPONSES)
def test_no_token_in_what_the_http_library_says(place: str, caplog: pytest.LogCaptureFixture) -> None:
    handler = type("Handler", (Raw,), {"response": RESPONSES[place]})
    caplog.set_level(logging.DEBUG)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        with lf.connect("sandbox", ledger_url=url, token=TOKEN, retries=0, requests_per_second=0, store="store") as net:
            said = collect(net, "ledger end", caplog)
        server.shutdown()
        thread.join()
    assert len(caplog.records) > 5, "the logs of the HTTP library are among them"
    assert TOKEN not in said and TOKEN.lower() not in said
    assert "c2lnbmF0dXJl" not in said
