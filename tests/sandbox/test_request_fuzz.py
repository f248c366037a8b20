"""Mutated requests to every route of the sandbox: an answer, or the error body of that API, and never a failure of the sandbox.

The requests of a run are those of the run before, because hypothesis draws them from the test alone.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import httpx
import pytest
from cases import every_nth
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.api.transport import in_process
from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.app import APIS, HISTORY_PREFIX, LEDGER_PREFIX, WALLET_PREFIX

from .conftest import DAYS, EVENTS
from .test_request_checks import BODIES, TIMES, members, replaced
from .test_served_pages import refusal
from .test_wallet import OFFERS, offer

REQUESTS = 6  # to each route
CURSOR = {"after_migration_id": 4, "after_record_time": TIMES["start_record_time"]}
GOOD_BODIES: dict[tuple[str, str], Any] = {
    **{(LEDGER_PREFIX, path): body for path, body in BODIES.items()},
    (HISTORY_PREFIX, "/v0/events"): {"page_size": 9, "after": CURSOR},
    (HISTORY_PREFIX, "/v2/updates"): {"page_size": 9, "after": CURSOR, "lang_value_encoding": "compact_json"},
    (HISTORY_PREFIX, "/v0/ans-rules"): {"cached_ans_rules_contract_id": "00", "cached_ans_rules_domain_id": "d"},
    (HISTORY_PREFIX, "/v0/history/bulk/updates"): {"page_size": 9, **TIMES},
    (HISTORY_PREFIX, "/v0/history/bulk/checksums"): {"object_keys": ["a"]},
    (WALLET_PREFIX, OFFERS): offer(Sandbox(1, EVENTS, DAYS)),
}
NAMES = (
    "limit", "stream_idle_timeout_ms", "pageSize", "pageToken", "filter-party", "identity-provider-id", "parties", "party",
    "package-name", "synchronizer-id", "vetAllPackages", "vetting_valid_at", "at_or_before_record_time", "lossless", "page_size",
    "lang_value_encoding", "participantId", "new",
)  # fmt: skip
SCALARS = (
    None, True, 0, -1, 7, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**400, 1.5, "", "0", "-0", "1e3", "00ab", "\x00",
    "é" * 300, "\u202e", "2026-11-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01", "me", "a::1220ab", "..", "a/b", "%", [],
    {}, [[]], [None], {"": None}, {"value": {}},
)  # fmt: skip
VALUES = st.sampled_from(SCALARS) | st.text(max_size=9)
TEXTS = st.sampled_from([str(value) for value in SCALARS if not isinstance(value, list | dict)]) | st.text(max_size=9)


class Route(NamedTuple):
    """A route of one API, and a version of the ledger API that has it."""

    method: str
    prefix: str
    path: str
    version: str


ROUTES = sorted(
    Route(declared.method, prefix, declared.path, "3.5.14" if declared.is_in(5) else "3.7.4")
    for api, prefix in APIS
    for _, _, declared in api.endpoints()
)


@st.composite
def bodies(draw: st.DrawFn, good: Any) -> bytes:
    """A body with some members that are replaced or missing, or bytes of any kind."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=20) | VALUES.map(lambda value: json.dumps(value).encode()))
    body = good if good is not None else draw(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3))
    for _ in range(draw(st.integers(0, 3))):
        places = list(members(body))
        if places:
            body = replaced(body, draw(st.sampled_from(places)), draw(VALUES))
    if isinstance(body, dict) and body and draw(st.booleans()):
        body = {name: value for name, value in body.items() if name != draw(st.sampled_from(sorted(body)))}
    return json.dumps(body).encode()


@st.composite
def urls(draw: st.DrawFn, route: Route) -> str:
    """The URL of a route with values in its path and its query."""
    path = route.path.replace("{coin}", "coin")
    path = re.sub(r"<[^>]+>", lambda _: quote(draw(TEXTS).encode("utf-8", "replace"), safe=""), path)
    query = draw(st.lists(st.tuples(st.sampled_from(NAMES), TEXTS), max_size=3))
    return f"{route.prefix}{path}?{urlencode([(name, text.encode('utf-8', 'replace')) for name, text in query])}"


def require_error_of(prefix: str, answer: httpx.Response) -> None:
    """Refuse an answer that is not an error of the API."""
    if answer.headers["content-type"].startswith("text/plain"):
        assert answer.status_code in (400, 404, 405) and answer.text
    elif prefix == LEDGER_PREFIX:
        assert refusal(answer)[0] == answer.status_code
    else:
        (message,) = answer.json().values()
        assert answer.json().keys() == {"error"} and message


@pytest.mark.parametrize("route", every_nth(ROUTES, 4), ids=lambda route: f"{route.method} {route.path}")
def test_a_mutated_request_gets_an_answer_or_an_error_of_its_api(route: Route) -> None:
    box = Sandbox(1, EVENTS, DAYS, ledger_version=route.version)
    client = httpx.Client(transport=in_process(box.app), base_url="http://sandbox.invalid")

    @settings(max_examples=REQUESTS, derandomize=True, database=None)
    @given(urls(route), bodies(GOOD_BODIES.get((route.prefix, route.path))))
    def send(url: str, body: bytes) -> None:
        answer = client.request(route.method, url, content=body)
        assert answer.status_code < 500, answer.text
        if answer.status_code != 200:
            require_error_of(route.prefix, answer)

    send()
