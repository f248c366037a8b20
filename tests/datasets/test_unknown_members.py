"""Members that this version does not know: none is lost, at whatever level, and none is decoded twice for long."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, get_args, get_origin

import msgspec
import pyarrow as pa
import pytest
from campaign import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.datasets import _extensions
from ledgerframes.datasets._extensions import MAX_NAMES, REST, Extensions, extensions
from ledgerframes.datasets.bulk.build import ActiveContractTableBuilder
from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.bulk.wire import ActiveContract
from ledgerframes.datasets.decode import decode, without_none
from ledgerframes.datasets.events.build import EventTableBuilder, event_tables
from ledgerframes.datasets.events.wire import ActivityRecord, Event, Update, Verdict
from ledgerframes.datasets.ledger.build import ledger_tables
from ledgerframes.datasets.ledger.wire import ActiveContractItem, UpdateItem
from ledgerframes.datasets.reference.build import name_rules_table, price_vote_table
from ledgerframes.datasets.reference.wire import Contract
from ledgerframes.datasets.state.build import (
    active_contract_table,
    completion_table,
    package_table,
    party_table,
    synchronizer_table,
)
from ledgerframes.datasets.state.wire import Completion, PartyDetails, Synchronizer, VettedPackages
from ledgerframes.datasets.structs import Wire

NOW = datetime(2026, 11, 1, tzinfo=UTC)
TIME = "2026-11-01T00:00:00.000000Z"
ME = "participant::1"


@pytest.fixture(autouse=True)
def nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_extensions, "_learned", Extensions())


# -- documents in which every struct of a family occurs -----------------------------------------------------------------

NODE = {"event_id": "1220aa:0", "contract_id": "00", "template_id": "p:M:E", "create_arguments": {"a": 1}}
VERDICT = {
    "update_id": "1220aa",
    "migration_id": 4,
    "domain_id": "s",
    "record_time": TIME,
    "finalization_time": TIME,
    "verdict_result": "VERDICT_RESULT_ACCEPTED",
    "submitting_participant_uid": "p",
    "transaction_views": {"views": [{"view_id": 0, "confirming_parties": [{"parties": ["a"], "threshold": 1}]}]},
}
TRANSACTION = {"update_id": "1220aa", "record_time": TIME, "migration_id": 4, "events_by_id": {"1220aa:0": NODE}}
REASSIGNMENT = {
    "source_synchronizer": "x",
    "target_synchronizer": "y",
    "migration_id": 4,
    "unassign_id": "u",
    "reassignment_counter": 1,
}
EVENT = {
    "update": TRANSACTION,
    "verdict": VERDICT,
    "traffic_summary": {"total_traffic_cost": 9, "envelope_traffic_summaries": [{"traffic_cost": 9}]},
    "app_activity_records": {"round_number": 7, "records": [{"party": "a", "weight": 3}]},
}
EVENTS = [
    EVENT,
    {"verdict": {**VERDICT, "update_id": "1220ae"}, "app_activity_records": {"round_number": 7, "records": []}},
    {"verdict": {**VERDICT, "update_id": "1220ab"}},
    {"update": {"update_id": "1220ac", "record_time": TIME, "event": {**REASSIGNMENT, "created_event": NODE}}},
    {"update": {"update_id": "1220ad", "record_time": TIME, "event": {**REASSIGNMENT, "contract_id": "00"}}},
]
BODY = {"contractId": "00", "templateId": "p:M:E", "offset": 7, "nodeId": 0}
ASSIGNED = {"reassignmentId": "r", "source": "x", "target": "y", "reassignmentCounter": 1, "createdEvent": BODY}
UNASSIGNED = {"reassignmentId": "r", "contractId": "00", "templateId": "p:M:E", "source": "x", "target": "y"}
UNASSIGNED = {**UNASSIGNED, "reassignmentCounter": 1}
AUTHORIZATION = {"event": {"ParticipantAuthorizationAdded": {"value": {"partyId": "a", "participantId": "p"}}}}
TRACE = {"traceparent": "t"}


def ledger_update(kind: str, offset: int, *events: dict[str, Any]) -> dict[str, Any]:
    header = {"updateId": f"1220{offset}", "offset": offset, "recordTime": TIME, "synchronizerId": "s", "effectiveAt": TIME}
    if kind != "Transaction":
        del header["effectiveAt"]
    return {"update": {kind: {"value": {**header, "traceContext": TRACE, "events": list(events)}}}}


def node(number: int) -> dict[str, Any]:
    return {**BODY, "nodeId": number}


LEDGER = [
    ledger_update("Transaction", 7, {"CreatedEvent": BODY}, {"ArchivedEvent": node(1)}, {"ExercisedEvent": node(2)}),
    ledger_update("Reassignment", 8, {"JsUnassignedEvent": {"value": UNASSIGNED}}, {"JsAssignmentEvent": ASSIGNED}),
    ledger_update("TopologyTransaction", 9, {}, AUTHORIZATION, {"event": {}}),
]
ENTRY = {"createdEvent": BODY, "synchronizerId": "s", "reassignmentCounter": 0}
CONTRACTS = [
    {"contractEntry": {"JsActiveContract": ENTRY}},
    {"contractEntry": {"JsActiveContract": {"value": ENTRY}}},
    {"contractEntry": {"JsIncompleteAssigned": {"assignedEvent": ASSIGNED}}},
    {"contractEntry": {"JsIncompleteUnassigned": {"createdEvent": BODY, "unassignedEvent": UNASSIGNED}}},
]
COMPLETION = {"commandId": "c", "offset": 7, "status": {"code": 0}, "traceContext": TRACE}
COMPLETION = {**COMPLETION, "synchronizerTime": {"synchronizerId": "s", "recordTime": TIME}}
VOTE = {"template_id": "p:M:E", "contract_id": "00", "payload": {"sv": "sv"}, "created_at": TIME}
LINE = {"contract_id": "00", "template_id": "p:M:E", "created_at": TIME, "signatories": [], "observers": []}


def active_contracts(contracts: list[ActiveContract]) -> pa.Table:
    builder = ActiveContractTableBuilder(NOW)
    builder.add(contracts)
    return builder.tables()["active_contracts"]


Tables = Callable[[Any], list[pa.Table]]
FAMILIES: dict[str, tuple[Any, Any, Tables]] = {
    "events": (EVENTS, list[Event], lambda items: [*event_tables(items, "listing").values()]),
    "updates": (
        [item["update"] for item in EVENTS if "update" in item],
        list[Update],
        lambda updates: [*event_tables([Event(update=update) for update in updates], "bulk").values()],
    ),
    "bulk contracts": ([LINE], list[ActiveContract], lambda contracts: [active_contracts(contracts)]),
    "ledger": (LEDGER, list[UpdateItem], lambda items: [*ledger_tables(items, ME, trees=True).values()]),
    "active contracts": (CONTRACTS, list[ActiveContractItem], lambda items: [active_contract_table(items, ME, 9)]),
    "completions": ([COMPLETION], list[Completion], lambda each: [completion_table(each, ME)]),
    "parties": ([{"party": "a"}], list[PartyDetails], lambda parties: [party_table(parties, ME)]),
    "packages": (
        [{"participantId": ME, "synchronizerId": "s", "packages": [{"packageId": "p"}]}],
        list[VettedPackages],
        lambda vettings: [package_table(["p", "q"], vettings, ME)],
    ),
    "synchronizers": ([{"synchronizerId": "s"}], list[Synchronizer], lambda each: [synchronizer_table(each, ME)]),
    "price votes": ([VOTE], list[Contract], lambda votes: [price_vote_table(votes, NOW, "coin")]),
    "name rules": ([VOTE], list[Contract], lambda rules: [name_rules_table(rules[0], "s", NOW, cache_hit=False)]),
}


def objects_of(value: Any, kind: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document that a struct decodes."""
    kind = without_none(kind)
    if get_origin(kind) is list and isinstance(value, list):
        for each in value:
            yield from objects_of(each, get_args(kind)[0])
    elif get_origin(kind) is dict and isinstance(value, dict):
        for each in value.values():
            yield from objects_of(each, get_args(kind)[1])
    elif isinstance(kind, type) and issubclass(kind, Wire) and isinstance(value, dict):
        yield value
        for field in msgspec.structs.fields(kind):
            yield from objects_of(value.get(field.encode_name), field.type)


def levels() -> list[tuple[str, int]]:
    return [(name, number) for name, (value, kind, _) in FAMILIES.items() for number, _ in enumerate(objects_of(value, kind))]


def test_every_struct_with_rows_occurs() -> None:
    assert len(levels()) > 60


names = st.text(min_size=1, max_size=8).map(lambda text: f"new {text}")
payloads = st.none() | st.booleans() | st.text(max_size=5) | st.lists(st.integers(), max_size=2) | st.just({"a": None})


@settings(max_examples=examples(30))
@given(level=st.sampled_from(levels()), name=names, payload=payloads)
def test_an_unknown_member_at_any_level_is_in_an_extra_column(level: tuple[str, int], name: str, payload: object) -> None:
    value, kind, build = FAMILIES[level[0]]
    document = copy.deepcopy(value)
    for number, each in enumerate(objects_of(document, kind)):
        if number == level[1]:
            each[name] = payload
    tables = build(decode(json.dumps(document).encode(), kind, "test"))
    extras = [json.loads(text) for rows in tables for text in rows["extra"].to_pylist() if text]
    assert json.dumps({name: payload})[1:-1] in json.dumps(extras), extras
    for rows, known in zip(tables, build(decode(json.dumps(value).encode(), kind, "test")), strict=True):
        assert rows.drop_columns("extra").equals(known.drop_columns("extra"))


# -- what is learned ----------------------------------------------------------------------------------------------------


def records(count: int, *, first: int = 0) -> bytes:
    return b"".join(b'{"party":"a","weight":3,"new%d":%d}\n' % (number, number) for number in range(first, first + count))


def test_a_member_is_learned_once() -> None:
    before = extensions()
    assert bytes(decode_lines(records(1), ActivityRecord, "x")[0].extra) == b'{"new0":0}'
    learned = extensions()
    assert learned is not before
    assert learned.names(ActivityRecord) == ("new0",)
    [record] = decode_lines(records(1), ActivityRecord, "x")
    assert extensions() is learned
    assert isinstance(record, ActivityRecord)
    assert repr(record) == "ActivityRecord(party='a', weight=3, extra={\"new0\":0})"


def test_only_structs_around_a_learned_member_are_extended() -> None:
    line = json.dumps(EVENT)
    assert type(decode(line.encode(), Event, "x")) is Event
    event = decode(line.replace('"party"', '"mood":1,"party"').encode(), Event, "x")
    assert event.is_extended
    assert not bytes(event.extra)
    assert event.app_activity_records is not None
    assert event.app_activity_records.records[0].is_extended
    assert type(event.verdict) is Verdict


def test_more_members_than_a_struct_learns_are_kept_in_another_way() -> None:
    count = 3 * MAX_NAMES
    found = decode_lines(records(count), ActivityRecord, "x") + decode_lines(records(count), ActivityRecord, "x")
    assert [json.loads(bytes(record.extra)) for record in found] == [{f"new{number}": number} for number in range(count)] * 2
    assert extensions().names(ActivityRecord) == (*(f"new{number}" for number in range(MAX_NAMES)), REST)


@pytest.mark.parametrize("name", ["", '"', "\\", "\n", "é", "$extra", "extra", "party ", "x" * 500, "extra_0"])
def test_any_name_may_be_that_of_an_unknown_member(name: str) -> None:
    line = json.dumps({"party": "a", "weight": 3, name: {"a": [1, None]}, "other": None}).encode() + b"\n"
    for _ in range(3):
        [record] = decode_lines(line, ActivityRecord, "x")
        assert json.loads(bytes(record.extra)) == {name: {"a": [1, None]}, "other": None}


def test_structs_from_before_and_after_a_member_was_learned_make_one_table() -> None:
    lines = [json.dumps({**EVENT, "verdict": {**VERDICT, "update_id": f"1220{number}"}, "update": None}) for number in range(6)]
    lines[2] = lines[2].replace('"party"', '"mood":1,"party"')
    lines[4] = lines[4].replace('"party"', '"mood":2,"weather":"fine","party"')
    builder = EventTableBuilder("listing")
    for _ in range(2):
        builder.add(decode_lines("\n".join(lines).encode(), Event, "x"))
    extra = builder.tables()["activity_records"]["extra"].to_pylist()
    assert extra == [None, None, '{"mood":1}', None, '{"mood":2,"weather":"fine"}', None]


def test_threads_learn_together() -> None:
    lines = [records(3, first=number) for number in range(12)]
    found: dict[int, list[ActivityRecord]] = {}
    start = threading.Barrier(len(lines))

    def run(number: int) -> None:
        start.wait()
        found[number] = decode_lines(lines[number], ActivityRecord, "x")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(lines))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, structs in found.items():
        assert [json.loads(bytes(each.extra)) for each in structs] == [{f"new{at}": at} for at in range(number, number + 3)]
    assert len(extensions().names(ActivityRecord)) == len(lines) + 2


@pytest.mark.parametrize("family", ["ledger", "active contracts", "completions", "bulk contracts"])
def test_rows_with_a_new_member_do_not_read_the_types_of_their_struct_again(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """To read them takes longer than to decode a row, and a release with a new member has it in every row."""
    items, kind, tables_of = FAMILIES[family]
    pages = [decode(json.dumps(with_mood(items)).encode(), kind, "test") for _ in range(50)]
    fields, read = msgspec.structs.fields, []
    monkeypatch.setattr(msgspec.structs, "fields", lambda struct: (read.append(struct), fields(struct))[1])
    assert all("mood" in str([table.to_pylist() for table in tables_of(page)]) for page in pages)
    assert len(read) < 50


def with_mood(value: Any) -> Any:
    """Return a value with one more member in every object."""
    if isinstance(value, list):
        return [with_mood(item) for item in value]
    return {**{name: with_mood(item) for name, item in value.items()}, "mood": "new"} if isinstance(value, dict) else value
