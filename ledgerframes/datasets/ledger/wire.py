"""Structs of the ledger API's update pages, in the one-of encoding of the specification.

Some one-ofs wrap their content in ``value`` and some do not (docs/facts.md#one-of-encodings),
and some services do the opposite. :func:`decode_page` rewrites their pages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ledgerframes.datasets.boundary import DATA_ERRORS, decode_boundary
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.structs import ABSENT, Offset, OneOf, Wire, join_members
from ledgerframes.errors import DecodeError


class LedgerStruct(Wire, rename="camel"):
    """A JSON object of the ledger API."""


class LedgerEventBody(LedgerStruct):
    """A created, archived or exercised event, with the members of all three."""

    contract_id: str
    template_id: str
    offset: int | None = None
    node_id: int | None = None
    package_name: str | None = None
    witness_parties: list[str] | None = None
    implemented_interfaces: list[str] | None = None
    acs_delta: bool | None = None
    # created
    contract_key: msgspec.Raw = ABSENT
    contract_key_hash: str | None = None
    create_argument: msgspec.Raw = ABSENT
    created_event_blob: str | None = None
    interface_views: msgspec.Raw = ABSENT
    signatories: list[str] | None = None
    observers: list[str] | None = None
    created_at: str | None = None
    representative_package_id: str | None = None
    # exercised
    interface_id: str | None = None
    choice: str | None = None
    choice_argument: msgspec.Raw = ABSENT
    acting_parties: list[str] | None = None
    consuming: bool | None = None
    last_descendant_node_id: int | None = None
    exercise_result: msgspec.Raw = ABSENT


class LedgerEvent(OneOf):
    """A one-of of the three kinds of event."""

    created: LedgerEventBody | None = msgspec.field(default=None, name="CreatedEvent")
    archived: LedgerEventBody | None = msgspec.field(default=None, name="ArchivedEvent")
    exercised: LedgerEventBody | None = msgspec.field(default=None, name="ExercisedEvent")


class TraceContext(LedgerStruct):
    """Trace context of the submission."""

    traceparent: str | None = None
    tracestate: str | None = None


class LedgerUpdate(LedgerStruct, kw_only=True):
    """Members that transactions, reassignments and topology transactions share."""

    update_id: str
    offset: int
    record_time: str
    synchronizer_id: str
    command_id: str | None = None
    workflow_id: str | None = None
    trace_context: TraceContext | None = None
    paid_traffic_cost: int | None = None


class LedgerTransaction(LedgerUpdate, kw_only=True):
    """A transaction as visible to the participant's parties."""

    events: list[LedgerEvent]
    effective_at: str
    external_transaction_hash: str | None = None
    transaction_hash: str | None = None


class Unassigned(LedgerStruct):
    """An unassignment, by which a contract leaves a synchronizer."""

    reassignment_id: str
    contract_id: str
    template_id: str
    source: str
    target: str
    reassignment_counter: int
    submitter: str | None = None
    assignment_exclusivity: str | None = None
    witness_parties: list[str] | None = None
    package_name: str | None = None
    offset: int | None = None
    node_id: int | None = None


class Assigned(LedgerStruct):
    """An assignment, by which a contract arrives at a synchronizer.

    The id of the contract is in the created event only.
    """

    reassignment_id: str
    source: str
    target: str
    reassignment_counter: int
    created_event: LedgerEventBody
    submitter: str | None = None


class UnassignedValue(Wire):
    """The wrapper of an unassignment."""

    value: Unassigned


class LedgerReassignmentEvent(OneOf):
    """A one-of of the two kinds, of which only the first is wrapped."""

    unassignment: UnassignedValue | None = msgspec.field(default=None, name="JsUnassignedEvent")
    assignment: Assigned | None = msgspec.field(default=None, name="JsAssignmentEvent")


class LedgerReassignment(LedgerUpdate):
    """A reassignment as visible to the participant's parties."""

    events: list[LedgerReassignmentEvent]


class Authorization(LedgerStruct):
    """A party's permission on a participant."""

    party_id: str
    participant_id: str
    participant_permission: str | None = None


class AuthorizationValue(Wire):
    """The wrapper of an authorization."""

    value: Authorization


class EmptyValue(Wire):
    """Nothing, in a wrapper."""


class EmptyContent(Wire):
    """The content of a one-of without content, in a wrapper or not."""

    value: EmptyValue | None = None


class TopologyChange(OneOf):
    """A one-of of the kinds of topology event."""

    added: AuthorizationValue | None = msgspec.field(default=None, name="ParticipantAuthorizationAdded")
    changed: AuthorizationValue | None = msgspec.field(default=None, name="ParticipantAuthorizationChanged")
    revoked: AuthorizationValue | None = msgspec.field(default=None, name="ParticipantAuthorizationRevoked")
    onboarding: AuthorizationValue | None = msgspec.field(default=None, name="ParticipantAuthorizationOnboarding")
    empty: EmptyContent | None = msgspec.field(default=None, name="Empty")


class TopologyEvent(Wire):
    """A change of a party's permission on a participant."""

    event: TopologyChange | None = None


class LedgerTopology(LedgerUpdate):
    """A topology transaction, whose record time is the time at which it becomes effective."""

    events: list[TopologyEvent]


class SynchronizerTime(LedgerStruct):
    """The latest record time of a synchronizer."""

    synchronizer_id: str
    record_time: str


class OffsetCheckpoint(LedgerStruct):
    """An offset to resume from, which lists contain and pages do not."""

    offset: int
    synchronizer_times: list[SynchronizerTime] | None = None


class TransactionValue(Wire):
    """The wrapper of a transaction."""

    value: LedgerTransaction


class ReassignmentValue(Wire):
    """The wrapper of a reassignment."""

    value: LedgerReassignment


class TopologyValue(Wire):
    """The wrapper of a topology transaction."""

    value: LedgerTopology


class CheckpointValue(Wire):
    """The wrapper of a checkpoint."""

    value: OffsetCheckpoint


class UpdateOneOf(OneOf):
    """A one-of of the four kinds of update."""

    transaction: TransactionValue | None = msgspec.field(default=None, name="Transaction")
    reassignment: ReassignmentValue | None = msgspec.field(default=None, name="Reassignment")
    topology: TopologyValue | None = msgspec.field(default=None, name="TopologyTransaction")
    checkpoint: CheckpointValue | None = msgspec.field(default=None, name="OffsetCheckpoint")


class UpdateItem(Wire):
    """An item of a page or of a list of updates."""

    update: UpdateOneOf | None = None


class UpdatesPage(LedgerStruct):
    """A page of updates, whose bounds meet those of the pages before and after it."""

    lowest_page_offset_exclusive: Offset
    highest_page_offset_inclusive: Offset
    updates: list[UpdateItem] | None = None
    next_page_token: str | None = None


class ActiveContract(LedgerStruct):
    """An active or partly reassigned contract, with the members of all three kinds."""

    created_event: LedgerEventBody | None = None
    synchronizer_id: str | None = None
    reassignment_counter: int | None = None
    assigned_event: Assigned | None = None
    unassigned_event: Unassigned | None = None


class ContractContent(ActiveContract):
    """An active contract, which some services wrap (docs/facts.md#one-of-encodings)."""

    value: ActiveContract | None = None


class ContractEntry(OneOf):
    """A one-of of the kinds of active contract."""

    active: ContractContent | None = msgspec.field(default=None, name="JsActiveContract")
    incomplete_assigned: ContractContent | None = msgspec.field(default=None, name="JsIncompleteAssigned")
    incomplete_unassigned: ContractContent | None = msgspec.field(default=None, name="JsIncompleteUnassigned")
    empty: EmptyContent | None = msgspec.field(default=None, name="JsEmpty")


class ActiveContractItem(LedgerStruct):
    """An item of the active contracts."""

    contract_entry: ContractEntry | None = None
    workflow_id: str | None = None
    stream_continuation_token: str | None = None


PAGE = "POST /v2/updates/get-updates-page"
WRAPPED = ("JsUnassignedEvent",)  # events of transactions and reassignments whose content the specification wraps


def decode_page(body: bytes, endpoint: str = PAGE) -> UpdatesPage:
    """Decode a page of updates, with its one-ofs in either encoding.

    The page may come from the response of another operation. Errors then name the route of that one.

    Raises
    ------
    DecodeError
        If it is not a page.
    """
    try:
        return decode(body, UpdatesPage, endpoint)
    except DecodeError:
        page = _parsed(body)
        if not isinstance(page, dict) or not isinstance(page.get("updates"), list):
            raise
        with decode_boundary(endpoint):
            page["updates"] = [_as_documented(item) for item in page["updates"]]
            return decode(msgspec.json.encode(page), UpdatesPage, endpoint)


# -- one-ofs in the other encoding ----------------------------------------------------------------------------------


def _parsed(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except DATA_ERRORS:
        return None


def _as_documented(item: Any) -> Any:
    """Return an update item with ``value`` where the specification has it, and nowhere else."""
    if not isinstance(item, dict) or not isinstance(item.get("update"), dict):
        return item
    return {**item, "update": _kinds_changed(item["update"], lambda kind, content: {"value": _with_events(_unwrapped(content))})}


def _with_events(update: Any) -> Any:
    if not isinstance(update, dict) or not isinstance(update.get("events"), list):
        return update
    return {**update, "events": [_event_as_documented(event) for event in update["events"]]}


def _event_as_documented(event: Any) -> Any:
    if not isinstance(event, dict):
        return event
    if any(kind.startswith("ParticipantAuthorization") for kind in event):
        event = {"event": event}  # this encoding omits the level between
    if isinstance(event.get("event"), dict):
        return {**event, "event": _kinds_changed(event["event"], _topology_as_documented)}
    return _kinds_changed(event, lambda kind, part: {"value": _unwrapped(part)} if kind in WRAPPED else _unwrapped(part))


def _topology_as_documented(kind: str, change: Any) -> Any:
    return change if kind == "Empty" else {"value": _unwrapped(change)}


def _kinds_changed(one_of: dict[str, Any], change: Callable[[str, Any], Any]) -> dict[str, Any]:
    """Return a one-of with the content of its kinds changed.

    Kinds have a capital letter. Other members stay as they are.
    """
    return {name: change(name, content) if name[:1].isupper() else content for name, content in one_of.items()}


def _unwrapped(content: Any) -> Any:
    """Return the content of ``value``, with the other members."""
    if not isinstance(content, dict) or not isinstance(content.get("value"), dict):
        return content
    return join_members({name: member for name, member in content.items() if name != "value"}, content["value"])
