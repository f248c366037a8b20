"""Faulty answers of services, made from the good ones, and the middleware that gives them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx
from werkzeug.wrappers import Response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

JSON, HTML = "application/json", "text/html"
PAGE = b"<!DOCTYPE html><html><body><h1>We will be back soon</h1></body></html>"
TOKENS = ("nextPageToken", "next_page_token")
PAYLOADS = (
    "create_arguments", "choice_argument", "exercise_result", "payload", "createArgument", "choiceArgument", "exerciseResult",
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a service answers."""

    status: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def is_json(self) -> bool:
        return self.status == 200 and self.content_type == JSON


Change = Callable[[Answer], Answer]


def status(code: int, body: bytes = b"{}", content_type: str = JSON, *headers: tuple[str, str]) -> Change:
    return lambda answer: Answer(code, body, content_type, headers)


def body(content: bytes, content_type: str = JSON) -> Change:
    return lambda answer: replace(answer, body=content, content_type=content_type)


def raising(error: Exception) -> Change:
    def change(answer: Answer) -> Answer:
        raise error

    return change


def of_bytes(change: Callable[[bytes], bytes]) -> Change:
    return lambda answer: replace(answer, body=change(answer.body))


def compact(document: Any) -> bytes:
    """JSON as the services write it, because payloads keep their bytes."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def of_json(change: Callable[[Any], Any]) -> Change:
    """A change of the document of a good answer; others stay."""

    def changed(answer: Answer) -> Answer:
        if not answer.is_json:
            return answer
        return replace(answer, body=compact(change(json.loads(answer.body))))

    return changed


def everywhere(change: Callable[[Any], Any]) -> Change:
    """A change of every scalar."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: walk(part) for name, part in value.items()}
        return [walk(part) for part in value] if isinstance(value, list) else change(value)

    return of_json(walk)


def of_objects(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Change:
    """A change of every object outside of payloads, which are data."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return change({name: part if name in PAYLOADS else walk(part) for name, part in value.items()})
        return [walk(part) for part in value] if isinstance(value, list) else value

    return of_json(walk)


def is_one_of(value: dict[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value))[:1].isupper()


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def without_lists(document: Any) -> Any:
    return (
        {name: part for name, part in document.items() if not isinstance(part, list)} if isinstance(document, dict) else document
    )


def first_item(change: Callable[[Any], Any]) -> Change:
    """A change of the first item of every list at the top."""

    def of_document(document: Any) -> Any:
        for name, part in document.items() if isinstance(document, dict) else ():
            if isinstance(part, list) and part:
                document[name] = [change(part[0]), *part[1:]]
        return document

    return of_json(of_document)


def spoiled_text(content: bytes) -> bytes:
    """A byte in the middle that no UTF-8 has, in a text if there is one."""
    middle = content.rfind(b'"', 0, len(content) // 2)
    return content[: middle + 1] + b"\xff\xfe" + content[middle + 1 :]


def bomb(answer: Answer) -> Answer:
    """Sixty megabytes of spaces around a good body, as sixty kilobytes."""
    packed = gzip.compress(b" " * 60_000_000 + answer.body, 6)
    return Answer(200, packed, answer.content_type, (("Content-Encoding", "gzip"),))


def broken_gzip(answer: Answer) -> Answer:
    return Answer(200, gzip.compress(answer.body)[:-9], answer.content_type, (("Content-Encoding", "gzip"),))


def with_other_token(token: str) -> Change:
    return of_json(
        lambda document: (
            {**document, **{name: token for name in TOKENS if name in document}} if isinstance(document, dict) else document
        )
    )


def emptied(document: Any) -> Any:
    """A page without items whose token leads to itself."""
    if not isinstance(document, dict) or not any(name in document for name in TOKENS):
        return document
    bounds = {"highestPageOffsetInclusive": document.get("lowestPageOffsetExclusive")}
    page = {name: [] if isinstance(part, list) else "again" if name in TOKENS else part for name, part in document.items()}
    return {**page, **{name: bound for name, bound in bounds.items() if name in page}}


NESTED = b"[" * 1100 + b"]" * 1100

FAULTS: dict[str, Change] = {
    "status 302": status(302, b"", HTML, ("Location", "http://elsewhere.invalid/")),
    "status 401": status(401),
    "status 403": status(403, b'{"error":"no"}'),
    "status 404 of a proxy": status(404, PAGE, HTML),
    "status 413": status(413, b""),
    "status 429": status(429, b"Too Many Requests", "text/plain"),
    "status 500": status(500, b'{"error":"x"}'),
    "status 502": status(502, PAGE, HTML),
    "status 503": status(503, PAGE, HTML),
    "status 204": status(204, b""),
    "connection refused": raising(httpx.ConnectError("refused")),
    "timeout": raising(httpx.ReadTimeout("slow")),
    "connection closed": raising(OSError("closed")),
    "broken protocol": raising(httpx.RemoteProtocolError("half a header")),
    "web page with 200": body(PAGE, HTML),
    "web page as JSON": body(PAGE),
    "no body": body(b""),
    "half of a body": of_bytes(lambda content: content[: len(content) // 2]),
    "empty object": body(b"{}"),
    "empty list": body(b"[]"),
    "null": body(b"null"),
    "number": body(b"5"),
    "text": body(b'"events"'),
    "error with 200": body(b'{"error":"overloaded"}'),
    "code and cause with 200": body(b'{"code":"NA","cause":"overloaded"}'),
    "bad UTF-8": of_bytes(spoiled_text),
    "UTF-16": of_bytes(lambda content: content.decode("utf-8", "replace").encode("utf-16")),
    "nested 1,100 deep": body(NESTED),
    "nested item": first_item(lambda item: json.loads(NESTED[600:-600])),
    "nested member": of_bytes(lambda content: content.replace(b"{", b'{"deep":' + NESTED + b",", 1)),
    "gzip bomb": bomb,
    "broken gzip": broken_gzip,
    "huge integers": everywhere(lambda value: 2**70 if is_int(value) else value),
    "integers of 400 digits": everywhere(lambda value: 10**400 if is_int(value) else value),
    "fractions": everywhere(lambda value: value + 0.5 if is_int(value) else value),
    "numbers as words": everywhere(lambda value: "many" if is_int(value) else value),
    "texts as numbers": everywhere(lambda value: 7 if isinstance(value, str) else value),
    "nulls": everywhere(lambda value: None),
    "lists as objects": of_objects(lambda value: {n: {"0": p} if isinstance(p, list) else p for n, p in value.items()}),
    "objects as lists": first_item(lambda item: [item]),
    "no list": of_json(without_lists),
    "null item": first_item(lambda item: None),
    "empty item": first_item(lambda item: {}),
    "item of another kind": first_item(lambda item: {"update": 5}),
    "unknown kind": of_objects(lambda value: {f"New{name}": part for name, part in value.items()} if is_one_of(value) else value),
    "two kinds": of_objects(lambda value: {**value, "OffsetCheckpoint2": {"value": {}}} if is_one_of(value) else value),
    "two known kinds": of_objects(
        lambda value: {**value, **{n: {"value": {}} for n in ("Transaction", "OffsetCheckpoint")}} if is_one_of(value) else value
    ),
    "the same token for ever": with_other_token("again"),
    "empty page that leads to itself": of_json(emptied),
}


class Spoiler:
    """A WSGI app whose answers are spoiled while it is on.

    Parameters
    ----------
    app
        The app without faults.
    fault
        A name in `FAULTS`, or ``the same page twice``.
    strikes
        Whether the request with this number is struck.
    """

    def __init__(self, app: WSGIApplication, fault: str, strikes: Callable[[int], bool]) -> None:
        self.app, self.fault, self.strikes = app, fault, strikes
        self.requests = self.struck = 0
        self.first: dict[str, Answer] = {}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        good = Response.from_app(self.app, environ, buffered=True)
        answer = Answer(good.status_code, good.data, good.content_type or "", tuple(good.headers.items()))
        changed = self.changed(environ["PATH_INFO"], answer)
        headers = [(n, v) for n, v in changed.headers if n.lower() not in ("content-length", "content-type")]
        response = Response(changed.body, changed.status, headers, content_type=changed.content_type)
        return response(environ, start_response)

    def changed(self, path: str, answer: Answer) -> Answer:
        number, self.requests = self.requests, self.requests + 1
        first = self.first.setdefault(path, answer)
        if not self.strikes(number):
            return answer
        if self.fault == REPEATED:
            changed = first
        else:
            try:
                changed = FAULTS[self.fault](answer)
            except Exception:
                self.struck += 1
                raise
        self.struck += changed != answer
        return changed


REPEATED = "the same page twice"
SCHEDULES: dict[str, Callable[[int], bool]] = {
    "always": lambda number: True,
    "once": lambda number: number == 1,
    "now and then": lambda number: number % 3 == 2,
}
