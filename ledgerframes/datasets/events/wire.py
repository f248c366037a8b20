"""Structs of the history API for event items and update items.

Times stay text, because they are parsed a column at a time, and payloads stay JSON bytes.
`null` and absent mean the same.
"""

from __future__ import annotations

import msgspec

from ledgerframes.datasets.arrays import parse_timestamps
from ledgerframes.datasets.structs import ABSENT, Wire
from ledgerframes.errors import DecodeError

REJECTED = "VERDICT_RESULT_REJECTED"


class Node(Wire):
    """A node of a transaction tree, or the created event of an assignment.

    This is one struct for all kinds of node, because a tagged union is slower.
    """

    event_id: str
    contract_id: str
    template_id: str
    event_type: str | None = None
    package_name: str | None = None
    choice: str | None = None
    consuming: bool | None = None
    acting_parties: list[str] | None = None
    interface_id: str | None = None
    created_at: str | None = None
    signatories: list[str] | None = None
    observers: list[str] | None = None
    create_arguments: msgspec.Raw = ABSENT
    choice_argument: msgspec.Raw = ABSENT
    exercise_result: msgspec.Raw = ABSENT
    child_event_ids: list[str] | None = None


class Reassignment(Wire):
    """An assignment with a created event, or an unassignment with a contract id.

    See docs/facts.md#reassignment-item.
    """

    source_synchronizer: str
    target_synchronizer: str
    migration_id: int
    unassign_id: str
    reassignment_counter: int
    submitter: str | None = None
    contract_id: str | None = None
    created_event: Node | None = None


class Update(Wire):
    """A transaction with `events_by_id`, or a reassignment with `event`.

    Items of the first version have an offset too.
    """

    update_id: str
    record_time: str
    migration_id: int | None = None
    workflow_id: str | None = None
    synchronizer_id: str | None = None
    effective_at: str | None = None
    root_event_ids: list[str] | None = None
    events_by_id: dict[str, Node] | None = None
    external_transaction_hash: str | None = None
    offset: str | int | None = None
    event: Reassignment | None = None


class Quorum(Wire):
    """A group of parties, a number of which must confirm."""

    parties: list[str]
    threshold: int


class View(Wire):
    """A view of a confirmation request."""

    view_id: int
    informees: list[str] | None = None
    confirming_parties: list[Quorum] | None = None
    sub_views: list[int] | None = None
    view_hash: str | None = None


class TransactionViews(Wire):
    """The views of a confirmation request."""

    views: list[View]
    root_views: list[int] | None = None


class Verdict(Wire):
    """The mediator's decision on a confirmation request."""

    update_id: str
    migration_id: int
    domain_id: str
    record_time: str
    finalization_time: str
    verdict_result: str
    submitting_participant_uid: str
    submitting_parties: list[str] | None = None
    mediator_group: int | None = None
    transaction_views: TransactionViews | None = None


class Envelope(Wire):
    """Cost of an envelope of a request."""

    traffic_cost: int
    view_ids: list[int] | None = None


class TrafficSummary(Wire):
    """Cost of a confirmation request.

    Early versions had another name for the list of envelopes (docs/facts.md#envelope-list-name).
    """

    total_traffic_cost: int
    envelope_traffic_summaries: list[Envelope] | None = None
    envelope_traffic_costs: list[Envelope] | None = None


class ActivityRecord(Wire):
    """Activity weight of an app provider."""

    party: str
    weight: int


class ActivityRecords(Wire):
    """Activity weights that a request earned."""

    round_number: int
    records: list[ActivityRecord] | None = None


class Event(Wire):
    """An event item, of which any of the four parts may be absent."""

    update: Update | None = None
    verdict: Verdict | None = None
    traffic_summary: TrafficSummary | None = None
    app_activity_records: ActivityRecords | None = None


class EventsPage(Wire):
    """Response of the event listing."""

    events: list[Event]


def header_of(event: Event) -> tuple[int, str, str]:
    """Return migration id, record time and update id of an event.

    See docs/facts.md#history-paging.

    Raises
    ------
    DecodeError
        If it has neither update nor verdict, or the two contradict each other.
    """
    update, verdict = event.update, event.verdict
    if update is None:
        if verdict is None:
            raise DecodeError("An event has neither update nor verdict, so its id and time are unknown.", json_path="$")
        return verdict.migration_id, verdict.record_time, verdict.update_id
    migration_id = _migration_id(update)
    if verdict is not None:
        _require_agreement(update, migration_id, verdict)
    return migration_id, update.record_time, update.update_id


def _require_agreement(update: Update, migration_id: int, verdict: Verdict) -> None:
    """Refuse an event whose update and verdict are not of the same request."""
    if verdict.update_id != update.update_id:
        raise DecodeError(
            f"One event has update {update.update_id} and the verdict on {verdict.update_id}.", json_path="$.verdict.update_id"
        )
    if verdict.migration_id != migration_id:
        raise DecodeError(
            f"Update {update.update_id} is of migration {migration_id}, but its verdict is of migration {verdict.migration_id}.",
            json_path="$.verdict.migration_id",
        )
    if verdict.record_time != update.record_time and not _are_equal_times(verdict.record_time, update.record_time):
        raise DecodeError(
            f"Update {update.update_id} has the record time {update.record_time}, but its verdict {verdict.record_time}.",
            json_path="$.verdict.record_time",
        )


def _are_equal_times(*texts: str) -> bool:
    """Return whether texts with another number of digits are the same time."""
    first, second = parse_timestamps(texts, "record_time").to_pylist()
    return bool(first == second)


def _migration_id(update: Update) -> int:
    if update.event is not None and update.events_by_id:
        reason = "both a transaction (events_by_id) and a reassignment (event)"
        raise DecodeError(f"Update {update.update_id} is {reason}.", json_path="$.update")
    if update.event is not None:
        return update.event.migration_id  # docs/facts.md#reassignment-item
    if update.migration_id is None or update.events_by_id is None:
        reason = "neither a transaction (migration_id and events_by_id) nor a reassignment (event)"
        raise DecodeError(f"Update {update.update_id} is {reason}.", json_path="$.update")
    return update.migration_id
