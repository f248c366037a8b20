"""A ledger API that answers as a test wants it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx

import ledgerframes as lf
from ledgerframes.api.ledger import Ledger

Handler = Callable[[httpx.Request], httpx.Response]
URL = "http://one.invalid/prefix"


def ledger(handler: Handler, **overrides: Any) -> Ledger:
    transport = httpx.MockTransport(handler)
    return lf.connect("sandbox", ledger_url=URL, transport=transport, requests_per_second=0, **overrides).ledger


def answering(content: Any, seen: list[httpx.Request] | None = None, status: int = 200) -> Handler:
    def handler(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        return httpx.Response(status, content=content) if isinstance(content, bytes) else httpx.Response(status, json=content)

    return handler


def sent(seen: list[httpx.Request]) -> tuple[str, str, dict[str, str], Any]:
    """Method, path, query and body of the one request."""
    (request,) = seen
    body = json.loads(request.content) if request.content[:1] == b"{" else request.content
    return request.method, request.url.path.removeprefix("/prefix"), dict(request.url.params), body


def completion(wrapped: bool) -> dict[str, Any]:
    content = {
        "commandId": "c",
        "status": {"code": 0, "message": "", "details": []},
        "updateId": "1220",
        "userId": "u",
        "actAs": ["alice"],
        "submissionId": "s",
        "deduplicationPeriod": {"Empty": {}},
        "traceContext": None,
        "offset": "12",
        "synchronizerTime": {"synchronizerId": "d", "recordTime": "2026-01-01T00:00:00Z"},
        "paidTrafficCost": None,
    }
    return {"completionResponse": {"Completion": {"value": content} if wrapped else content}}
