"""Bodies of submissions and of requests for completions."""

from __future__ import annotations

from typing import Any

import msgspec

from ...participant.filters import EventFormat, TransactionFormat
from ...requests import ContractId, Int32, Int64, LedgerString, OneOf, PartyId, Request, TemplateId, UserId, Wrapped
from ...responses import Json


class CreateCommand(Request):
    """Creation of a contract."""

    template_id: TemplateId
    create_arguments: Any


class ExerciseCommand(Request):
    """Exercise of a choice on a contract."""

    template_id: TemplateId
    contract_id: ContractId
    choice: str
    choice_argument: Any


class CreateAndExerciseCommand(Request):
    """Creation of a contract, and exercise of a choice on it."""

    template_id: TemplateId
    create_arguments: Any
    choice: str
    choice_argument: Any


class ExerciseByKeyCommand(Request):
    """Exercise of a choice on the contract with a key."""

    template_id: TemplateId
    contract_key: Any
    choice: str
    choice_argument: Any


class Command(OneOf):
    """Command by its kind."""

    create_command: CreateCommand | None = None
    exercise_command: ExerciseCommand | None = None
    create_and_exercise_command: CreateAndExerciseCommand | None = None
    exercise_by_key_command: ExerciseByKeyCommand | None = None


class Duration(Request):
    """A duration."""

    seconds: Int64
    nanos: Int32


class DeduplicationPeriod(OneOf):
    """Period of deduplication by its kind."""

    deduplication_duration: Wrapped[Duration] | None = None
    deduplication_offset: Wrapped[Int64] | None = None
    empty: Json | None = None


class DisclosedContract(Request):
    """A contract that a submission brings along."""

    created_event_blob: str
    template_id: TemplateId | None = None
    contract_id: ContractId | None = None
    synchronizer_id: str | None = None


class PrefetchKey(Request):
    """A contract key to prefetch."""

    template_id: TemplateId
    contract_key: Any
    limit: Int32 | None = None


class JsCommands(Request, kw_only=True):
    """Commands of one submission."""

    commands: list[Command]
    command_id: LedgerString
    act_as: list[PartyId]
    user_id: UserId | None = None
    read_as: list[PartyId] | None = None
    workflow_id: LedgerString | None = None
    deduplication_period: DeduplicationPeriod | None = None
    min_ledger_time_abs: str | None = None
    min_ledger_time_rel: Duration | None = None
    submission_id: LedgerString | None = None
    disclosed_contracts: list[DisclosedContract] | None = None
    synchronizer_id: str | None = None
    package_id_selection_preference: list[str] | None = None
    prefetch_contract_keys: list[PrefetchKey] | None = None
    taps_max_passes: Int32 | None = None


class TransactionSubmission(Request):
    """Body of the operation that returns the transaction."""

    commands: JsCommands
    transaction_format: TransactionFormat | None = None


class UnassignCommand(Request):
    """First half of a reassignment."""

    contract_id: ContractId
    source: str
    target: str


class AssignCommand(Request):
    """Second half of a reassignment."""

    reassignment_id: LedgerString
    source: str
    target: str


class ReassignmentKind(OneOf):
    """Command of a reassignment by its kind."""

    assign_command: Wrapped[AssignCommand] | None = None
    unassign_command: Wrapped[UnassignCommand] | None = None
    empty: Json | None = None


class ReassignmentCommand(Request):
    """One command of a reassignment."""

    command: ReassignmentKind


class ReassignmentCommands(Request, kw_only=True):
    """Commands of a reassignment."""

    command_id: LedgerString
    submitter: PartyId
    commands: list[ReassignmentCommand]
    workflow_id: LedgerString | None = None
    user_id: UserId | None = None
    submission_id: LedgerString | None = None


class ReassignmentSubmission(Request):
    """Body of the operations that reassign a contract."""

    reassignment_commands: ReassignmentCommands
    event_format: EventFormat | None = None


class CompletionsRequest(Request):
    """Body of the request for completions."""

    parties: list[PartyId] = msgspec.field(default_factory=list)
    begin_exclusive: Int64 = 0


class UserCompletionsRequest(Request, kw_only=True):
    """Body of the deprecated request for completions."""

    parties: list[PartyId]
    user_id: UserId | None = None
    begin_exclusive: Int64 = 0


class CompletionByHashRequest(Request):
    """Body of the request for completions by the hash of their transaction."""

    transaction_hash: str
