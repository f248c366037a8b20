"""Pages of ledger updates: bounds, tokens, refusals.

See docs/facts.md#update-page-request and docs/facts.md#update-page-response.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.sandbox import Faults, Sandbox

from .conftest import DAYS, DELTA, EVENTS, PAGE, ledger_of, read_pages, update_format, updates_of


def refusal(answer: httpx.Response) -> tuple[int, str, int]:
    error = answer.json()
    assert set(error) == {
        "code", "cause", "correlationId", "traceId", "context", "resources",
        "errorCategory", "grpcCodeValue", "retryInfo", "definiteAnswer",
    }  # fmt: skip
    assert error["correlationId"] is None
    if error["code"] != "NA":
        assert error["context"]["category"] == str(error["errorCategory"])
        assert error["context"]["tid"] == error["traceId"]
        assert {"participant", "definite_answer"} <= set(error["context"])
    assert all(isinstance(value, str) for value in error["context"].values())
    return answer.status_code, error["code"], error["errorCategory"]


def ask(client: httpx.Client, **request: Any) -> httpx.Response:
    return client.post(PAGE, json={"updateFormat": update_format(), **request})


def page(client: httpx.Client, **request: Any) -> dict[str, Any]:
    results: dict[str, Any] = ask(client, **request).raise_for_status().json()
    return results


def test_offsets_rise_and_stay_below_the_end(box: Sandbox, effects: Any) -> None:
    offsets = [value["offset"] for _, value in effects]
    assert all(before < after for before, after in pairwise(offsets))
    assert offsets[0] > 0
    assert offsets[-1] <= box.ledger.end()
    assert len(offsets) > 900


@settings(max_examples=5, deadline=None)
@given(size=st.integers(1, 2000), descending=st.booleans(), split=st.integers(1, 900))
def test_any_size_order_and_split_shows_the_same(
    ledger: httpx.Client, box: Sandbox, effects: Any, size: int, descending: bool, split: int
) -> None:
    size = max(size, 40)
    middle, end = effects[split][1]["offset"], box.ledger.end()
    older = read_pages(ledger, size, endOffsetInclusive=middle, descendingOrder=descending)
    newer = read_pages(ledger, size, beginOffsetExclusive=middle, endOffsetInclusive=end, descendingOrder=descending)
    ranges = [updates_of(older), updates_of(newer)]
    if descending:
        ranges = [results[::-1] for results in ranges]
    assert ranges[0] + ranges[1] == effects


def test_ascending_pages_tile(ledger: httpx.Client, box: Sandbox) -> None:
    end = box.ledger.end()
    pages = read_pages(ledger, 300, endOffsetInclusive=end)
    assert pages[0]["lowestPageOffsetExclusive"] == 0
    assert pages[-1]["highestPageOffsetInclusive"] == end
    assert pages[-1]["nextPageToken"] is None
    for before, after in pairwise(pages):
        assert before["highestPageOffsetInclusive"] == after["lowestPageOffsetExclusive"]
        (_, first), *_ = updates_of([after])
        assert before["highestPageOffsetInclusive"] == first["offset"] - 1
        assert before["nextPageToken"]


def test_descending_pages_tile(ledger: httpx.Client, box: Sandbox) -> None:
    pages = read_pages(ledger, 300, descendingOrder=True)
    assert pages[0]["highestPageOffsetInclusive"] == box.ledger.end()
    assert (pages[-1]["lowestPageOffsetExclusive"], pages[-1]["nextPageToken"]) == (0, None)
    for before, after in pairwise(pages):
        assert before["lowestPageOffsetExclusive"] == after["highestPageOffsetInclusive"]
        (_, first), *_ = updates_of([after])
        assert before["lowestPageOffsetExclusive"] == first["offset"]


def test_a_tail_keeps_its_token(ledger: httpx.Client, box: Sandbox) -> None:
    end = box.ledger.end()
    first = page(ledger, beginOffsetExclusive=end)
    assert first["updates"] == []
    assert first["lowestPageOffsetExclusive"] == first["highestPageOffsetInclusive"] == end
    repeated = page(ledger, beginOffsetExclusive=end, pageToken=first["nextPageToken"])
    assert repeated["nextPageToken"]
    past = page(ledger, beginOffsetExclusive=end - 1, endOffsetInclusive=end)
    assert past["nextPageToken"] is None


def test_page_sizes(ledger: httpx.Client) -> None:
    assert len(page(ledger)["updates"]) == 100
    assert len(page(ledger, maxPageSize=None)["updates"]) == 100
    assert len(page(ledger, maxPageSize=7)["updates"]) == 7
    for size in (0, -1, 2001):
        assert refusal(ask(ledger, maxPageSize=size)) == (400, "INVALID_ARGUMENT", 8)
    small = ledger_of(Sandbox(1, EVENTS, DAYS, max_page_size=50))
    assert len(page(small)["updates"]) == 50
    assert refusal(ask(small, maxPageSize=51)) == (400, "INVALID_ARGUMENT", 8)


@pytest.mark.parametrize(
    "other",
    [
        {"maxPageSize": 6},
        {"beginOffsetExclusive": 3},
        {"descendingOrder": True},
        {"updateFormat": update_format(DELTA)},
        {"endOffsetInclusive": 900_000},
        {"pageToken": "bm90IGEgdG9rZW4="},
        {"pageToken": "?"},
    ],
)
def test_a_token_belongs_to_its_request(ledger: httpx.Client, other: dict[str, Any]) -> None:
    request = {"maxPageSize": 5}
    request["pageToken"] = page(ledger, **request)["nextPageToken"]
    assert page(ledger, **request)["updates"]
    assert refusal(ask(ledger, **{**request, **other})) == (400, "INVALID_UPDATES_PAGE_TOKEN", 8)


def test_a_token_belongs_to_its_participant(ledger: httpx.Client, box: Sandbox) -> None:
    token = page(ledger)["nextPageToken"]
    other = Sandbox(1, EVENTS, DAYS, participant=box.world.parties.validators[7].participant)
    assert other.participant != box.participant
    assert refusal(ask(ledger_of(other), pageToken=token)) == (400, "INVALID_UPDATES_PAGE_TOKEN", 8)


def test_bad_offsets(ledger: httpx.Client, box: Sandbox) -> None:
    end = box.ledger.end()
    assert refusal(ask(ledger, beginOffsetExclusive=-1)) == (400, "NEGATIVE_OFFSET", 8)
    assert refusal(ask(ledger, endOffsetInclusive=0)) == (400, "NON_POSITIVE_OFFSET", 8)
    assert refusal(ask(ledger, endOffsetInclusive=-5)) == (400, "NON_POSITIVE_OFFSET", 8)
    past = ask(ledger, endOffsetInclusive=end + 1)
    assert refusal(past) == (400, "OFFSET_AFTER_LEDGER_END", 12)
    assert (past.json()["grpcCodeValue"], past.json()["retryInfo"]) == (11, "1 second")
    assert refusal(ask(ledger, beginOffsetExclusive=end + 1)) == (400, "OFFSET_AFTER_LEDGER_END", 12)
    assert refusal(ask(ledger, beginOffsetExclusive=9, endOffsetInclusive=8)) == (400, "INVALID_ARGUMENT", 8)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"beginOffsetExclusive":"x"}', b'{"updateFormat":7}', b'{"maxPageSize":1.5}'],
)
def test_a_misshapen_body_is_refused_in_plain_text(ledger: httpx.Client, body: bytes) -> None:
    answer = ledger.post(PAGE, content=body)
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.startswith("Invalid value for: body")


def test_decoding_is_relaxed(ledger: httpx.Client) -> None:
    assert refusal(ledger.post(PAGE, json={"updateFormatt": {}})) == (400, "MISSING_FIELD", 8)
    assert page(ledger, unknown=[1])["updates"]
    misspelt = {"includeTransaction": {}, "includeReassignments": {"filtersForAnyParty": {}}}
    kinds = {kind for kind, _ in updates_of([page(ledger, updateFormat=misspelt, maxPageSize=2000)])}
    assert kinds == {"Reassignment"}


def test_pruning(box: Sandbox, effects: Any) -> None:
    pruned = Sandbox(1, EVENTS, DAYS, pruned_through=0.4)
    through = pruned.ledger.pruned_through
    client = ledger_of(pruned)
    assert abs(through - 0.4 * box.ledger.end()) < 2
    assert client.get("/v2/state/latest-pruned-offsets").json() == {
        "participantPrunedUpToInclusive": through,
        "allDivulgedContractsPrunedUpToInclusive": through,
    }
    below = ask(client, beginOffsetExclusive=through - 1)
    assert refusal(below) == (400, "PARTICIPANT_PRUNED_DATA_ACCESSED", 9)
    assert below.json()["context"]["earliest_offset"] == str(through)
    for begin in ({}, {"beginOffsetExclusive": 0}, {"beginOffsetExclusive": through}):
        pages = read_pages(client, 2000, **begin)
        assert pages[0]["lowestPageOffsetExclusive"] == through
        assert updates_of(pages) == [entry for entry in effects if entry[1]["offset"] > through]
    down = read_pages(client, 2000, descendingOrder=True)
    assert down[-1]["lowestPageOffsetExclusive"] == through


@pytest.mark.parametrize("begin", [0, 5])
@pytest.mark.parametrize("descending", [False, True])
def test_pruning_overtakes_a_pager(begin: int, descending: bool) -> None:
    box = Sandbox(1, EVENTS, DAYS)
    client = ledger_of(box)
    request = {"beginOffsetExclusive": begin, "descendingOrder": descending, "maxPageSize": 50}
    request["pageToken"] = page(client, **request)["nextPageToken"]
    box.prune(0.9999)
    assert refusal(ask(client, **request)) == (400, "PARTICIPANT_PRUNED_DATA_ACCESSED", 9)


def test_faults_of_paging() -> None:
    for fault, code in (
        ("token_mismatch", "INVALID_UPDATES_PAGE_TOKEN"),
        ("pruning_overtakes", "PARTICIPANT_PRUNED_DATA_ACCESSED"),
    ):
        client = ledger_of(Sandbox(1, EVENTS, DAYS, faults=Faults(**{fault: 1})))
        first = page(client, maxPageSize=5)
        assert first["updates"]
        assert refusal(ask(client, maxPageSize=5, pageToken=first["nextPageToken"]))[:2] == (400, code)


def test_overload_is_a_409(box: Sandbox) -> None:
    loaded = Sandbox(1, EVENTS, DAYS, faults=Faults(overload_409=1))
    answer = ask(ledger_of(loaded))
    assert refusal(answer) == (409, "PARTICIPANT_BACKPRESSURE", 2)
    assert answer.json()["grpcCodeValue"] == 10
    assert (
        httpx.Client(transport=httpx.WSGITransport(app=loaded.app))
        .post(loaded.history_url + "/v0/events", json={"page_size": 1})
        .is_success
    )


@pytest.mark.exhaustive
@pytest.mark.usefixtures("own_worlds")
def test_the_same_seed_gives_the_same_ledger(effects: Any) -> None:
    repeated = ledger_of(Sandbox(1, EVENTS, DAYS))
    begin = effects[700][1]["offset"]
    assert updates_of(read_pages(repeated, 2000, beginOffsetExclusive=begin)) == effects[701:]
    assert updates_of(read_pages(repeated, 2000, endOffsetInclusive=begin)) == effects[:701]


@pytest.mark.usefixtures("own_worlds")
def test_a_page_builds_only_what_it_shows() -> None:
    box = Sandbox(1, 24_000, 8)
    page(ledger_of(box), beginOffsetExclusive=box.ledger.end() // 2, maxPageSize=20)
    assert box.world.generated <= 3


@pytest.mark.parametrize("content", [{}, {"value": {}}, {"value": None}])
def test_a_filter_without_content_has_defaults(content: dict[str, Any], box: Sandbox) -> None:
    events = {"filtersForAnyParty": {"cumulative": [{"identifierFilter": {"WildcardFilter": content}}]}}
    response = ledger_of(box).post(PAGE, json={"updateFormat": {"includeReassignments": events}})
    assert response.status_code == 200
