"""Endpoints of commands and completions.

Submissions are recorded, but do not change the seeded world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import flask

from ..builder import Event, decode_object
from ..endpoints import endpoint
from ..identifiers import PREFIX, contract_id
from ..participant.filters import DELTA, EventFormat, Filters, TransactionFormat, UpdateFormat
from ..participant.projection import Node, Update, command_id_of, cost_of
from ..participant.rendering import UpdateRenderer, trace_context
from ..randomness import digest, number
from ..requests import Wrapped
from ..responses import Json, LedgerApiError
from ..times import instant
from ..users import check_rights
from .requests.commands import (
    AssignCommand,
    Command,
    CompletionByHashRequest,
    CompletionsRequest,
    CreateCommand,
    ExerciseCommand,
    JsCommands,
    ReassignmentCommands,
    ReassignmentSubmission,
    TransactionSubmission,
    UnassignCommand,
    UserCompletionsRequest,
)
from .service import LedgerEndpoints, limited

if TYPE_CHECKING:
    from ..network import SimulatedNetwork

BASE_COST, COST_PER_COMMAND = 900, 40
ANY_PARTY = EventFormat(filters_for_any_party=Filters())
ANY_UPDATE = UpdateFormat(TransactionFormat(ANY_PARTY, DELTA), ANY_PARTY)
FAILURES = (
    (10, "LOCAL_VERDICT_LOCKED_CONTRACTS: a contract that the request uses is locked by another"),
    (10, "LOCAL_VERDICT_INACTIVE_CONTRACTS: a contract that the request uses is archived already"),
    (4, "MEDIATOR_SAYS_TX_TIMED_OUT: not enough confirmations arrived in time"),
)
USER = "ledger-api-user"
NO_COMPLETION = "there is no completion of this transaction hash that the request may see"
DEDUPLICATION_PERIOD = {"DeduplicationDuration": {"value": {"seconds": 86_400, "nanos": 0}}}


class Commands(LedgerEndpoints):
    """Endpoints of commands and completions."""

    def __init__(self, box: SimulatedNetwork) -> None:
        super().__init__(box)
        self._submissions: dict[tuple[str, frozenset[str], str], JsCommands | ReassignmentCommands] = {}

    @endpoint("POST", "/v2/commands/submit-and-wait", JsCommands)
    def _wait(self, request: JsCommands) -> Json:
        update = self._submit(request)
        return {"updateId": update.update_id, "completionOffset": update.offset}

    @endpoint("POST", "/v2/commands/submit-and-wait-for-transaction", TransactionSubmission)
    def _wait_for_transaction(self, request: TransactionSubmission) -> Json:
        return {"transaction": self._renderer().transaction(self._submit(request.commands))}

    @endpoint("POST", "/v2/commands/submit-and-wait-for-transaction-tree", JsCommands)
    def _wait_for_tree(self, request: JsCommands) -> Json:
        return {"transactionTree": self._renderer().tree(self._submit(request))}

    @endpoint("POST", "/v2/commands/async/submit", JsCommands)
    def _async_submit(self, request: JsCommands) -> Json:
        self._submit(request)
        return {}

    def _renderer(self) -> UpdateRenderer:
        return UpdateRenderer(ANY_UPDATE, self.ledger.registry, has_hash=self.minor >= 6)

    def _submit(self, request: JsCommands) -> Update:
        """Check and record commands, and return the update that they would make."""
        check_rights(flask.g.user, request.act_as, False)
        now, synchronizer = self.clock.now(), self.world.parties.synchronizer
        body = {"workflow_id": request.workflow_id or "", "effective_at": instant(now), "synchronizer_id": synchronizer}
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

    @endpoint("POST", "/v2/commands/async/submit-reassignment", ReassignmentSubmission)
    def _submit_reassignment(self, request: ReassignmentSubmission) -> Json:
        self._reassign(request.reassignment_commands)
        return {}

    @endpoint("POST", "/v2/commands/submit-and-wait-for-reassignment", ReassignmentSubmission)
    def _wait_for_reassignment(self, request: ReassignmentSubmission) -> Json:
        return {"reassignment": self._renderer().reassignment(self._reassign(request.reassignment_commands))}

    def _reassign(self, commands: ReassignmentCommands) -> Update:
        """Record the commands of a reassignment, and return the unassignment that they would make."""
        content = commands.commands[0].command.content()
        if not isinstance(content, Wrapped):
            raise LedgerApiError("INVALID_ARGUMENT", "a reassignment command is empty")
        update = self._recorded("reassignment", commands, [commands.submitter], {"workflow_id": commands.workflow_id or ""})
        value: AssignCommand | UnassignCommand = content.value
        if isinstance(value, AssignCommand):
            unassign_id, identifier = value.reassignment_id, contract_id("submitted", update.update_id)
        else:
            unassign_id, identifier = "00" + digest("reassigned", update.update_id, size=20), value.contract_id
        update.body["event"] = {
            "source_synchronizer": value.source,
            "target_synchronizer": value.target,
            "unassign_id": unassign_id,
            "submitter": commands.submitter,
            "reassignment_counter": 1,
        }
        parties = update.submitters
        body = {"contract_id": identifier, "template_id": "", "package_name": ""}
        update.nodes = [Node(0, 0, body, parties, parties)]
        return update

    @endpoint("POST", "/v2/commands/completions", UserCompletionsRequest)
    @endpoint("POST", "/v2/commands/command-completions", CompletionsRequest, since=5)
    def _completions(self, request: CompletionsRequest | UserCompletionsRequest) -> list[Json]:
        parties = frozenset(request.parties or flask.g.user.reads)
        check_rights(flask.g.user, parties, False)
        begin = self.check_begin(request.begin_exclusive, "Command completions request")
        end = self.check_end(request.begin_exclusive, None)
        return limited({"completionResponse": value} for value in self._with_checkpoint(begin, end, parties))

    def _with_checkpoint(self, begin: int, end: int, parties: frozenset[str]) -> Iterator[Json]:
        for completion in self._completions_within(begin, end, parties):
            yield {"Completion": {"value": completion}}
        yield self.checkpoint(end, self.clock.now())

    def _completions_within(self, begin: int, end: int, parties: frozenset[str]) -> Iterator[Json]:
        for offset, event in self.ledger.submissions(begin, end):
            verdict = decode_object(event.verdict)
            act_as = [party for party in verdict["submitting_parties"] if party in parties]
            if verdict["submitting_participant_uid"] == self.ledger.participant and act_as:
                rejected = not verdict["verdict_result"].endswith("ACCEPTED")
                yield self._completion(offset, event, rejected, act_as)

    @endpoint("POST", "/v2/commands/completion-by-hash", CompletionByHashRequest, since=6)
    def _completion_by_hash(self, request: CompletionByHashRequest) -> Json:
        """Return the accepted completion with a hash, which no rejected request of the world has."""
        offset = self.box.hashes.offset(request.transaction_hash, self.ledger.end()) or 0
        completions = self._completions_within(offset - 1, offset, flask.g.user.reads)
        accepted = next(completions, None) if offset > self.ledger.pruned_through else None
        if accepted is None:
            resources = [("TRANSACTION_HASH", request.transaction_hash)]
            raise LedgerApiError("COMPLETION_NOT_FOUND", NO_COMPLETION, resources=resources)
        return {"acceptedCompletion": accepted, "lastRejectedCompletions": []}

    def _completion(self, offset: int, event: Event, rejected: bool, act_as: list[str]) -> Json:
        code, message = FAILURES[number("failure", event.update_id) % len(FAILURES)] if rejected else (0, "")
        synchronizer = self.world.parties.synchronizer
        update = None if rejected else self.ledger.at(offset)
        completion = {
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
        if self.minor >= 6:
            completion["transactionHash"] = update.body.get("external_transaction_hash") if update else None
        return completion


def _node_body(command: Command, act_as: list[str], new_id: str) -> Json:
    """Return a create for a create command, and a consuming exercise for any other."""
    value = command.content()
    common = {
        "contract_id": value.contract_id if isinstance(value, ExerciseCommand) else new_id,
        "template_id": value.template_id,
        "package_name": value.template_id.partition(":")[0].lstrip("#"),
    }
    if isinstance(value, CreateCommand):
        arguments = value.create_arguments
        return {**common, "create_arguments": arguments, "signatories": act_as, "observers": [], "created_at": ""}
    return {
        **common,
        "interface_id": None,
        "choice": value.choice,
        "choice_argument": value.choice_argument,
        "acting_parties": act_as,
        "consuming": True,
        "exercise_result": {},
    }
