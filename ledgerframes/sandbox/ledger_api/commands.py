"""Commands and completions: what is submitted here is answered and noted, but the seeded world stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from flask import Blueprint, Response

from ..canton import CantonError
from ..identifiers import PREFIX, contract_id
from ..participant.paging import check_begin, check_end
from ..participant.rendering import trace_context
from ..participant.state import checkpoint
from ..randomness import digest
from ..times import instant
from ..users import check_rights
from .service import LedgerService, answer, listed, missing

Json = dict[str, Any]


class JsCommands(msgspec.Struct, rename="camel"):
    """Commands, as far as the sandbox looks at them."""

    commands: list[Json] = []
    command_id: str = ""
    act_as: list[str] = []
    workflow_id: str = ""


class Wrapped(msgspec.Struct, rename="camel"):
    """Commands with a format, or a reassignment."""

    commands: JsCommands | None = None
    reassignment_commands: Json | None = None


class CompletionRequest(msgspec.Struct, rename="camel"):
    """The body of the completions' operations."""

    parties: list[str] = []
    begin_exclusive: int = 0
    user_id: str = ""


def add_routes(api: Blueprint, service: LedgerService) -> None:
    """Add the routes to the API."""
    _add_submissions(api, service)
    _add_reassignments(api, service)
    _add_completions(api, service)


def _submitted(service: LedgerService, asked: JsCommands | None) -> tuple[JsCommands, str]:
    """Check and note commands; return them with the id of the update they would make."""
    user = service.user()
    if asked is None or not asked.commands:
        raise missing("commands")
    if not asked.command_id:
        raise missing("command_id")
    if not asked.act_as:
        raise missing("act_as")
    check_rights(user, asked.act_as, False)
    service.written(asked)
    return asked, PREFIX + digest("submitted", len(service.writes), asked.command_id)


def _add_submissions(api: Blueprint, service: LedgerService) -> None:
    @api.post("/v2/commands/submit-and-wait")
    def wait() -> Response:
        _, update_id = _submitted(service, service.body(JsCommands))
        return answer({"updateId": update_id, "completionOffset": service.ledger.end()})

    @api.post("/v2/commands/submit-and-wait-for-transaction")
    def transaction() -> Response:
        asked, update_id = _submitted(service, service.body(Wrapped).commands)
        return answer({"transaction": _transaction(service, asked, update_id)})

    @api.post("/v2/commands/submit-and-wait-for-transaction-tree")
    def tree() -> Response:
        asked, update_id = _submitted(service, service.body(JsCommands))
        shown = _transaction(service, asked, update_id)
        events = [next(iter(event.items())) for event in shown.pop("events")]
        shown["eventsById"] = {
            str(position): {kind.replace("Event", "TreeEvent"): {"value": value}} for position, (kind, value) in enumerate(events)
        }
        for name in ("externalTransactionHash", "paidTrafficCost"):
            shown.pop(name, None)
        return answer({"transactionTree": shown})

    @api.post("/v2/commands/async/submit")
    def submit() -> Response:
        _submitted(service, service.body(JsCommands))
        return answer({})


def _transaction(service: LedgerService, asked: JsCommands, update_id: str) -> Json:
    ledger = service.ledger
    now = ledger.clock.now()
    shown: Json = {
        "updateId": update_id,
        "commandId": asked.command_id,
        "workflowId": asked.workflow_id,
        "effectiveAt": instant(now),
        "events": [_event(service, asked, update_id, position, now) for position in range(len(asked.commands))],
        "offset": ledger.end(),
        "synchronizerId": ledger.world.people.synchronizer,
        "traceContext": trace_context(update_id),
        "recordTime": instant(now),
    }
    if service.version.has(4):
        shown["externalTransactionHash"] = None
    if service.version.has(5):
        shown["paidTrafficCost"] = 900 + 40 * len(asked.commands)
    return shown


def _event(service: LedgerService, asked: JsCommands, update_id: str, position: int, now: int) -> Json:
    """Return what a command does: a create makes a created event, anything else an archived one."""
    kind = next(iter(asked.commands[position]), "")
    value: Json = asked.commands[position].get(kind, {})
    template = str(value.get("templateId", ""))
    common = {
        "offset": service.ledger.end(),
        "nodeId": position,
        "contractId": value.get("contractId") or contract_id("submitted", update_id, position),
        "templateId": template,
        "witnessParties": asked.act_as,
        "packageName": template.partition(":")[0].lstrip("#"),
    }
    if kind != "CreateCommand":
        return {"ArchivedEvent": {**common, "implementedInterfaces": []}}
    created = {
        **common,
        "contractKey": None,
        "createArgument": value.get("createArguments", {}),
        "createdEventBlob": "",
        "interfaceViews": [],
        "signatories": asked.act_as,
        "observers": [],
        "createdAt": instant(now),
    }
    if service.version.has(4):
        created |= {"representativePackageId": template.partition(":")[0], "acsDelta": True}
    if service.version.has(5):
        created["contractKeyHash"] = ""
    return {"CreatedEvent": created}


def _add_reassignments(api: Blueprint, service: LedgerService) -> None:
    def submitted() -> tuple[Json, str]:
        service.user()
        asked = service.body(Wrapped).reassignment_commands
        if not asked:
            raise missing("reassignment_commands")
        service.written(asked)
        return asked, PREFIX + digest("submitted", len(service.writes), asked.get("commandId"))

    @api.post("/v2/commands/async/submit-reassignment")
    def submit_reassignment() -> Response:
        submitted()
        return answer({})

    @api.post("/v2/commands/submit-and-wait-for-reassignment")
    def wait_for_reassignment() -> Response:
        asked, update_id = submitted()
        return answer({"reassignment": _reassignment(service, asked, update_id)})


def _reassignment(service: LedgerService, asked: Json, update_id: str) -> Json:
    ledger, people = service.ledger, service.ledger.world.people
    command: Json = next(iter((asked.get("commands") or [{}])[0].get("command", {}).values()), {})
    value = command.get("value", command)
    event = {
        "reassignmentId": value.get("reassignmentId") or "00" + digest("reassigned", update_id, size=20),
        "contractId": value.get("contractId") or contract_id("submitted", update_id),
        "templateId": "",
        "source": value.get("source", people.synchronizer),
        "target": value.get("target", people.app_synchronizer),
        "submitter": asked.get("submitter", ""),
        "reassignmentCounter": 1,
        "assignmentExclusivity": None,
        "witnessParties": [asked["submitter"]] if asked.get("submitter") else [],
        "packageName": "",
        "offset": ledger.end(),
        "nodeId": 0,
    }
    shown: Json = {
        "updateId": update_id,
        "commandId": asked.get("commandId", ""),
        "workflowId": asked.get("workflowId", ""),
        "offset": ledger.end(),
        "events": [{"JsUnassignedEvent": {"value": event}}],
        "traceContext": trace_context(update_id),
        "recordTime": instant(ledger.clock.now()),
        "synchronizerId": event["source"],
    }
    return shown | ({"paidTrafficCost": None} if service.version.has(5) else {})


def _add_completions(api: Blueprint, service: LedgerService) -> None:
    @api.post("/v2/commands/command-completions")
    def newer() -> Response:
        service.since(5)
        return listed(_completions(service, service.body(CompletionRequest)))

    @api.post("/v2/commands/completions")
    def older() -> Response:
        asked = service.body(CompletionRequest)
        if not asked.parties:
            raise CantonError("MISSING_FIELD", "The submitted request is missing a mandatory field: parties")
        return listed(_completions(service, asked))


def _completions(service: LedgerService, asked: CompletionRequest) -> Iterator[Json]:
    user, ledger = service.user(), service.ledger
    parties = frozenset(asked.parties or user.reads)
    check_rights(user, parties, False)
    check_begin(ledger, asked.begin_exclusive, "Command completions request")
    end = check_end(ledger, asked.begin_exclusive, None)
    after = asked.begin_exclusive or ledger.pruned_through
    found = ({"completionResponse": shown} for shown in service.state.completions(after, parties))
    return _with_checkpoint(service, found, end)


def _with_checkpoint(service: LedgerService, found: Iterator[Json], end: int) -> Iterator[Json]:
    yield from found
    yield {"completionResponse": checkpoint(service.ledger, end, service.ledger.clock.now())}
