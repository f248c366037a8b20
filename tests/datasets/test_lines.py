from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.events.wire import ActivityRecord, Event, Update, header_of
from ledgerframes.errors import DecodeError

VERDICT = {
    "update_id": "a",
    "migration_id": 4,
    "domain_id": "d",
    "record_time": "2026-11-01T00:00:00.000000Z",
    "finalization_time": "2026-11-01T00:00:01.000000Z",
    "verdict_result": "VERDICT_RESULT_ACCEPTED",
    "submitting_participant_uid": "p",
}
RECORD = b'{"party":"a","weight":3}\n'
TRANSACTION = {
    "update_id": "a",
    "record_time": VERDICT["record_time"],
    "migration_id": 4,
    "events_by_id": {"a:0": {"event_id": "a:0", "contract_id": "c", "template_id": "p:M:E", "choice_argument": {"x": 1}}},
}
REASSIGNMENT = {
    "update_id": "a",
    "record_time": VERDICT["record_time"],
    "event": {
        "source_synchronizer": "x",
        "target_synchronizer": "y",
        "migration_id": 4,
        "unassign_id": "u",
        "reassignment_counter": 1,
        "contract_id": "c",
    },
}


@given(st.lists(st.integers(0, 2**63 - 1)))
def test_lines_become_structs_in_order(weights: list[int]) -> None:
    block = b"".join(b'{"party":"a","weight":%d}\n' % weight for weight in weights)
    assert [record.weight for record in decode_lines(block, ActivityRecord, "x")] == weights
    assert decode_lines(memoryview(block), ActivityRecord, "x") == decode_lines(block, ActivityRecord, "x")


@pytest.mark.parametrize("block", [b"", b"\n", b"\n \n\r\n"])
def test_nothing_but_blank_lines_is_no_struct(block: bytes) -> None:
    assert decode_lines(block, ActivityRecord, "x") == []


@pytest.mark.parametrize("strange", [b"", b'{"party":"b","weight":1,"mood":1}\n'])
def test_blank_lines_are_skipped(strange: bytes) -> None:
    block = b"\n" + RECORD + b"\n  \n" + RECORD + strange
    assert len(decode_lines(block, ActivityRecord, "x")) == 2 + bool(strange)


def test_unknown_members_are_kept_line_by_line() -> None:
    block = RECORD + b'{"party":"b","weight":4,"mood":"good"}\n' + RECORD
    records = decode_lines(memoryview(block), ActivityRecord, "x")
    assert [bytes(record.extra) for record in records] == [b"", b'{"mood":"good"}', b""]


@pytest.mark.parametrize(
    ("bad", "path", "reason"),
    [
        (b'{"party":"a","weight":"many"}', "$.weight", "Unexpected line"),
        (b'{"party":"a","new":1}', "$", "missing required field"),
        (b"[]", "$", "Unexpected line"),
        (b'{"party":"a","weig', "$", "not JSON"),
        (b"<html>busy</html>", "$", "not JSON"),
        (b'{"party":"\xff","weight":1}', "$", "not JSON"),
    ],
)
def test_a_bad_line_is_named_by_file_number_and_path(bad: bytes, path: str, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason) as caught:
        decode_lines(RECORD + b"\n" + bad + b"\n" + RECORD, ActivityRecord, "updates_3.zstd", first_line=100)
    assert "ine 102 of updates_3.zstd" in str(caught.value)
    assert (caught.value.endpoint, caught.value.json_path) == ("updates_3.zstd", path)


def test_a_line_cut_off_at_the_end_of_a_block_is_named() -> None:
    with pytest.raises(DecodeError, match="Line 2 of x"):
        decode_lines(RECORD + RECORD[:-5], ActivityRecord, "x")


def test_lines_of_bulk_objects_are_updates() -> None:
    block = b"".join(json.dumps(line).encode() + b"\n" for line in (TRANSACTION, REASSIGNMENT))
    transaction, reassignment = decode_lines(block, Update, "x")
    assert transaction.events_by_id is not None
    assert bytes(transaction.events_by_id["a:0"].choice_argument) == b'{"x": 1}'
    assert reassignment.event is not None


@pytest.mark.parametrize("update", [None, TRANSACTION, REASSIGNMENT])
def test_an_event_has_the_position_of_its_update_or_verdict(update: dict[str, object] | None) -> None:
    [event] = decode_lines(json.dumps({"update": update, "verdict": VERDICT}).encode(), Event, "x")
    assert header_of(event) == (4, VERDICT["record_time"], "a")
