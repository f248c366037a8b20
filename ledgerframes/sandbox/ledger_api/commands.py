"""Endpoints of commands and completions.

Submissions are recorded, but do not change the seeded world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import flask
import msgspec

from ..builder import Event, decode_object
from ..endpoints import endpoint
from ..identifiers import PREFIX, contract_id
from ..participant.filters import DELTA, EventFormat, Filters, TransactionFormat, UpdateFormat
from ..participant.projection import Node, Update, command_id_of, cost_of
from ..participant.rendering import UpdateRenderer, trace_context
from ..randomness import digest, number
from ..responses import Json, LedgerApiError, missing
from ..times import instant
from ..users import check_rights
from .service import LedgerEndpoints, limited

if TYPE_CHECKING:
    from ..sandbox import Sandbox

BASE_COST, COST_PER_COMMAND = 900, 40
ANY_PARTY = EventFormat(filters_for_any_party=Filters())
ANY_UPDATE = UpdateFormat(TransactionFormat(ANY_PARTY, DELTA), ANY_PARTY)
FAILURES = (
    (10, "LOCAL_VERDICT_LOCKED_CONTRACTS: a contract that the request uses is locked by another"),
    (10, "LOCAL_VERDICT_INACTIVE_CONTRACTS: a contract that the request uses is archived already"),
    (4, "MEDIATOR_SAYS_TX_TIMED_OUT: not enough confirmations arrived in time"),
)
USER = "ledger-api-user"
DEDUPLICATION_PERIOD = {"DeduplicationDuration": {"value": {"seconds": 86_400, "nanos": 0}}}

CommandKind = Literal["CreateCommand", "ExerciseCommand", "CreateAndExerciseCommand", "ExerciseByKeyCommand"]
Command = Annotated[dict[CommandKind, Json], msgspec.Meta(min_length=1, max_length=1)]  # the members by the kind


class JsCommands(msgspec.Struct, rename="camel"):
    """Commands, with the members that the sandbox reads."""

    commands: list[Command] = []
    command_id: str = ""
    act_as: list[str] = []
    workflow_id: str = ""


class Reassignment(msgspec.Struct, rename="camel"):
    """Members of the two kinds of reassignments."""

    contract_id: str = ""
    reassignment_id: str = ""
    source: str = ""
    target: str = ""


class WrappedReassignment(Reassignment):
    """A reassignment, whose members may be in a member value."""

    value: Reassignment | None = None


class ReassignmentCommand(msgspec.Struct):
    """One command of a reassignment, by its kind."""

    command: dict[str, WrappedReassignment] = {}


class ReassignmentCommands(msgspec.Struct, rename="camel"):
    """Commands of a reassignment, with the members that the sandbox reads."""

    commands: list[ReassignmentCommand] = []
    command_id: str = ""
    submitter: str = ""
    workflow_id: str = ""


class SubmissionRequest(msgspec.Struct, rename="camel"):
    """Body of the operations that wrap commands."""

    commands: JsCommands | None = None
    reassignment_commands: ReassignmentCommands | None = None


class CompletionRequest(msgspec.Struct, rename="camel"):
    """Body of the completions' operations."""

    parties: list[str] = []
    begin_exclusive: int = 0
    user_id: str = ""


class Commands(LedgerEndpoints):
    """Endpoints of commands and completions."""

    def __init__(self, box: Sandbox) -> None:
        super().__init__(box)
        self._submissions: dict[tuple[str, frozenset[str], str], JsCommands | ReassignmentCommands] = {}

    @endpoint("POST", "/v2/commands/submit-and-wait", JsCommands)
    def _wait(self, request: JsCommands) -> Json:
        update = self._submit(request)
        return {"updateId": update.update_id, "completionOffset": update.offset}

    @endpoint("POST", "/v2/commands/submit-and-wait-for-transaction", SubmissionRequest)
    def _wait_for_transaction(self, request: SubmissionRequest) -> Json:
        return {"transaction": self._renderer().transaction(self._submit(request.commands or JsCommands()))}

    @endpoint("POST", "/v2/commands/submit-and-wait-for-transaction-tree", JsCommands)
    def _wait_for_tree(self, request: JsCommands) -> Json:
        return {"transactionTree": self._renderer().tree(self._submit(request))}

    @endpoint("POST", "/v2/commands/async/submit", JsCommands)
    def _async_submit(self, request: JsCommands) -> Json:
        self._submit(request)
        return {}

    def _renderer(self) -> UpdateRenderer:
        return UpdateRenderer(ANY_UPDATE, self.ledger.registry)

    def _submit(self, request: JsCommands) -> Update:
        """Check and record commands, and return the update that they would make."""
        for member in ("commands", "command_id", "act_as"):
            if not getattr(request, member):
                raise missing(member)
        check_rights(flask.g.user, request.act_as, False)
        now, synchronizer = self.clock.now(), self.world.parties.synchronizer
        body = {"workflow_id": request.workflow_id, "effective_at": instant(now), "synchronizer_id": synchronizer}
        update = self._recorded("transaction", request, request.act_as, body)
        parties = update.submitters
        update.paid = BASE_COST + COST_PER_COMMAND * len(request.commands)
        for position, command in enumerate(request.commands):
            node = _node_body(command, request.act_as, contract_id("submitted", update.update_id, position))
            update.nodes.append(Node(position, position, node, parties, parties, node.get("consuming", False)))
        return update

    def _recorded(self, kind: str, request: JsCommands | ReassignmentCommands, submitters: Iterable[str], body: Json) -> Update:
        """Record a submission, or refuse a repeated command id (docs/facts.md#ledger-error-codes)."""
        command_id, parties = request.command_id, frozenset(submitters)
        if self._submissions.setdefault((flask.g.user.name, parties, command_id), request) is not request:
            raise LedgerApiError("DUPLICATE_COMMAND", f"the command id {command_id} was submitted before")
        self.record("ledger", request)
        update_id = PREFIX + digest("submitted", len(self.box.writes), command_id)
        return Update(self.ledger.end(), update_id, self.clock.now(), kind, body, submitters=parties, command=command_id)

    @endpoint("POST", "/v2/commands/async/submit-reassignment", SubmissionRequest)
    def _submit_reassignment(self, request: SubmissionRequest) -> Json:
        self._reassign(request)
        return {}

    @endpoint("POST", "/v2/commands/submit-and-wait-for-reassignment", SubmissionRequest)
    def _wait_for_reassignment(self, request: SubmissionRequest) -> Json:
        return {"reassignment": self._renderer().reassignment(self._reassign(request))}

    def _reassign(self, request: SubmissionRequest) -> Update:
        """Record the commands of a reassignment, and return the unassignment that they would make."""
        commands = request.reassignment_commands
        if not commands:
            raise missing("reassignment_commands")
        if not commands.command_id:
            raise missing("command_id")
        submitter = commands.submitter or flask.g.user.party
        update = self._recorded("reassignment", commands, [submitter], {"workflow_id": commands.workflow_id})
        wrapped = [each for command in commands.commands[:1] for each in command.command.values()]
        value = wrapped[0].value or wrapped[0] if wrapped else Reassignment()
        update.body["event"] = {
            "source_synchronizer": value.source or self.world.parties.synchronizer,
            "target_synchronizer": value.target or self.world.parties.app_synchronizer,
            "unassign_id": value.reassignment_id or "00" + digest("reassigned", update.update_id, size=20),
            "submitter": submitter,
            "reassignment_counter": 1,
        }
        identifier = value.contract_id or contract_id("submitted", update.update_id)
        parties = update.submitters
        body = {"contract_id": identifier, "template_id": "", "package_name": ""}
        update.nodes = [Node(0, 0, body, parties, parties)]
        return update

    @endpoint("POST", "/v2/commands/completions", CompletionRequest)
    def _user_completions(self, request: CompletionRequest) -> list[Json]:
        if not request.parties:
            raise missing("parties")
        return self._completions(request)

    @endpoint("POST", "/v2/commands/command-completions", CompletionRequest, since=5)
    def _completions(self, request: CompletionRequest) -> list[Json]:
        parties = frozenset(request.parties or flask.g.user.reads)
        check_rights(flask.g.user, parties, False)
        begin = self.check_begin(request.begin_exclusive, "Command completions request")
        end = self.check_end(request.begin_exclusive, None)
        return limited({"completionResponse": value} for value in self._with_checkpoint(begin, end, parties))

    def _with_checkpoint(self, begin: int, end: int, parties: frozenset[str]) -> Iterator[Json]:
        for offset, event in self.ledger.submissions(begin, end):
            verdict = decode_object(event.verdict)
            act_as = [party for party in verdict["submitting_parties"] if party in parties]
            if verdict["submitting_participant_uid"] == self.ledger.participant and act_as:
                rejected = not verdict["verdict_result"].endswith("ACCEPTED")
                yield {"Completion": {"value": self._completion(offset, event, rejected, act_as)}}
        yield self.checkpoint(end, self.clock.now())

    def _completion(self, offset: int, event: Event, rejected: bool, act_as: list[str]) -> Json:
        code, message = FAILURES[number("failure", event.update_id) % len(FAILURES)] if rejected else (0, "")
        synchronizer = self.world.parties.synchronizer
        update = None if rejected else self.ledger.at(offset)
        return {
            "commandId": command_id_of(event.update_id),
            "status": {"code": code, "message": message, "details": []},
            "updateId": "" if rejected else event.update_id,
            "userId": USER,
            "actAs": act_as,
            "submissionId": digest("submission", event.update_id, size=12),
            "deduplicationPeriod": DEDUPLICATION_PERIOD,
            "traceContext": trace_context(event.update_id),
            "offset": offset,
            "synchronizerTime": {"synchronizerId": synchronizer, "recordTime": instant(event.record_time)},
            "paidTrafficCost": update.paid if update else cost_of(event),
        }


def _node_body(command: Command, act_as: list[str], new_id: str) -> Json:
    """Return a create for a create command, and a consuming exercise for any other."""
    ((kind, value),) = command.items()
    template_id = str(value.get("templateId", ""))
    common = {
        "contract_id": value.get("contractId") or new_id,
        "template_id": template_id,
        "package_name": template_id.partition(":")[0].lstrip("#"),
    }
    if kind == "CreateCommand":
        arguments = value.get("createArguments", {})
        return {**common, "create_arguments": arguments, "signatories": act_as, "observers": [], "created_at": ""}
    return {
        **common,
        "interface_id": None,
        "choice": value.get("choice", "Archive"),
        "choice_argument": value.get("choiceArgument", {}),
        "acting_parties": act_as,
        "consuming": True,
        "exercise_result": {},
    }
