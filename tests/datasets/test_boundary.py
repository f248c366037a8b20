"""Whatever a body does, it is rows or a DecodeError that says where."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from ledgerframes.api.history import History
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.wallet import Wallet
from ledgerframes.datasets.arrays import parse_amounts
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.bulk.wire import UpdatesListing
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.wire import ActivityRecord, Event, EventsPage
from ledgerframes.datasets.ledger.build import ledger_tables
from ledgerframes.datasets.ledger.wire import ActiveContractItem, decode_page
from ledgerframes.datasets.reference.network_build import featured_app_table
from ledgerframes.datasets.reference.wire import Contract
from ledgerframes.datasets.state.build import active_contract_table, completion_table, party_table
from ledgerframes.datasets.state.wire import (
    ActiveContractsPage,
    Completion,
    CompletionItem,
    PartiesPage,
    PartyDetails,
    UserRights,
    VettedPackagesPage,
)
from ledgerframes.errors import DecodeError

DEEP = b'{"a":' * 1_100 + b"1" + b"}" * 1_100
DEEPEST = b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000  # Python 3.14 limits the depth by the size of the stack
TIME = "2026-11-01T00:00:00.000001Z"
DOCUMENTS = [
    EventsPage, ActiveContractsPage, PartiesPage, VettedPackagesPage, UserRights, UpdatesListing,
    *(Ledger.operations[name].returns for name in ("packages", "connected_synchronizers")),
    Wallet.operations["offers"].returns, History.operations["name_rules"].returns,
]  # fmt: skip


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("body", [b"{}", b'{"error":"not now"}', DEEP, b"\xff\xfe\x00", b'{"\xff":1}', b"", b"null", b"9" * 400])
def test_an_answer_without_what_it_must_have_is_never_empty(kind: type, body: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(body, kind, "GET /thing")
    assert caught.value.endpoint == "GET /thing"
    assert caught.value.json_path.startswith("$")


def test_nesting_is_named() -> None:
    with pytest.raises(DecodeError, match="nested deeper"):
        decode(b'{"events":[{"update":%s}]}' % DEEPEST, EventsPage, "POST /v0/events")
    with pytest.raises(DecodeError, match="line 7 of x: it is nested deeper"):
        decode_lines(DEEPEST, ActivityRecord, "x", first_line=7)


def transaction(**members: Any) -> dict[str, Any]:
    node = {"event_id": "a:0", "contract_id": "c", "template_id": "p:M:E", "create_arguments": {}}
    update = {"update_id": "a", "record_time": TIME, "migration_id": 1, "synchronizer_id": "s", "effective_at": TIME}
    return {**update, "root_event_ids": ["a:0"], "events_by_id": {"a:0": node}, **members}


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"migration_id": 2**70}, "larger|expected"),
        ({"record_time": "soon"}, "record_time is not a time"),
        ({"effective_at": "+99999999-01-01T00:00:00Z"}, "effective_at is not a time"),
        ({"root_event_ids": ["\ud800"]}, "JSON|UTF-8|surrogate"),
    ],
)
def test_values_that_no_column_can_contain(members: dict[str, Any], reason: str) -> None:
    line = json.dumps(transaction(**members)).encode()
    with pytest.raises(DecodeError, match=reason) as caught:
        updates = decode(b'{"events":[{"update":%s}]}' % line, EventsPage, "POST /v0/events").events
        event_tables(updates, "listing")
    if "is not a time" in reason:
        assert caught.value.column == reason.split()[0]


def test_an_amount_that_is_none_is_named() -> None:
    for text in ("many", "9" * 29):
        reason = f"view is not an amount of at most 28 digits and ten decimal places, got '{text}'."
        with pytest.raises(DecodeError, match=f"^{re.escape(reason)}$"):
            parse_amounts(["1.5", text], "view")


def test_an_outer_boundary_names_the_operation_and_the_next_step() -> None:
    rights = [Contract("p:M:E", "00", msgspec.Raw(b'{"activityWeight":"much"}'), TIME)]
    with pytest.raises(DecodeError, match=r"^activityWeight is not an amount") as caught:
        featured_app_table(rights, datetime(2026, 11, 1, tzinfo=UTC))
    assert caught.value.endpoint == ""
    with pytest.raises(DecodeError) as caught, decode_boundary("GET /other"), decode_boundary("GET /thing"):
        featured_app_table(rights, datetime(2026, 11, 1, tzinfo=UTC))
    assert str(caught.value).startswith("Unexpected response from GET /thing: activityWeight is not an amount")
    assert str(caught.value).endswith("got 'much'. Run `ledgerframes doctor` to check the service's version.")
    assert caught.value.endpoint == "GET /thing"


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3\x28", b"\xed\xa0\x80"])
def test_bad_utf8_in_a_payload_names_the_column(bad: bytes) -> None:
    line = json.dumps(transaction()).encode().replace(b'"create_arguments": {}', b'"create_arguments": {"x": "%s"}' % bad)
    with pytest.raises(DecodeError) as caught:
        event_tables([decode(b'{"update":%s}' % line, Event, "x")], "bulk")
    assert caught.value.column == "create_arguments"


@pytest.mark.parametrize("offset", [2**63, 2**64, -(2**63) - 1, 10**400])
def test_offsets_beyond_64_bits(offset: int) -> None:
    value = {"updateId": "1", "offset": offset, "recordTime": TIME, "effectiveAt": TIME, "synchronizerId": "s", "events": []}
    body = {"updates": [{"update": {"Transaction": {"value": value}}}], "lowestPageOffsetExclusive": 0}
    text = json.dumps({**body, "highestPageOffsetInclusive": 9}) if offset < 10**300 else '{"updates":[{"offset":' + "9" * 400
    with pytest.raises(DecodeError):
        ledger_tables(decode_page(text.encode()).updates, "p", trees=False)


@pytest.mark.parametrize("entry", [{}, {"contractEntry": {}}, {"contractEntry": {"JsNew": {}}}, {"contractEntry": None}])
def test_an_active_contract_of_no_kind_is_refused(entry: dict[str, Any]) -> None:
    items = decode(json.dumps([entry]).encode(), list[ActiveContractItem], "x")
    with pytest.raises(DecodeError, match="kind"):
        active_contract_table(items, "p", 1)


def test_an_empty_entry_is_no_contract() -> None:
    items = decode(b'[{"contractEntry":{"JsEmpty":{}}}]', list[ActiveContractItem], "x")
    assert active_contract_table(items, "p", 1).num_rows == 0


@pytest.mark.parametrize("response", [b'{"New":{}}', b"{}", b"null", b'{"Completion":{},"OffsetCheckpoint":{}}'])
def test_a_completion_of_no_known_kind_is_refused(response: bytes) -> None:
    item = decode(b'{"completionResponse":%s}' % response, CompletionItem, "x")
    with pytest.raises(DecodeError):
        item.content("x")


def test_builders_of_a_participants_state_have_the_same_boundary() -> None:
    with pytest.raises(DecodeError):
        completion_table([Completion(command_id="c", offset=2**70)], "p")
    with pytest.raises(DecodeError):
        party_table([PartyDetails(party="\ud800")], "p")
