"""Relations of transfers and allocations of the token standard."""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, exact, member
from ledgerframes.engine.relation import Relation

CHOICES = """
        'TransferFactory_Transfer', 'TransferInstruction_Accept', 'TransferInstruction_Reject', 'TransferInstruction_Withdraw',
        'TransferInstruction_Update', 'AllocationFactory_Allocate', 'AllocationInstruction_Withdraw',
        'AllocationInstruction_Update', 'Allocation_ExecuteTransfer', 'Allocation_Cancel', 'Allocation_Withdraw'
        """


def _of_transfer(path: str) -> str:
    """Return a member of the transfer in an argument, whose place depends on the choice."""
    members = (member("argument", f"'$.{above}.{path}'") for above in ("transfer", "allocation.transferLeg"))
    return f"coalesce({', '.join(members)})"


TOKEN_EXERCISES = Relation(
    "token_exercises",
    "One row per transfer or allocation exercise, with the transfer in its argument and the contract that waits afterwards.",
    f"""
    SELECT
        * EXCLUDE (argument, result),
        {_of_transfer("sender")} AS sender,
        {_of_transfer("receiver")} AS receiver,
        {_of_transfer("amount")} AS amount_text,
        {_of_transfer("instrumentId.admin")} AS instrument_admin,
        {_of_transfer("instrumentId.id")} AS instrument_id,
        {member("result", "'$.output.tag'")} AS output,
        coalesce(
            {member("result", "'$.output.value.transferInstructionCid'")},
            {member("result", "'$.output.value.allocationInstructionCid'")},
            {member("result", "'$.output.value.allocationCid'")}
        ) AS waiting_contract_id
    FROM (
        SELECT
            migration_id,
            record_time,
            update_id,
            node_index,
            contract_id,
            package_name,
            template_name,
            choice,
            {exact("choice_argument")} AS argument,
            {exact("exercise_result")} AS result
        FROM tree_events
        WHERE choice IN ({CHOICES}) AND contains(interface_id, ':Splice.Api.Token.')
    )
    """,
    tables=("tree_events",),
    is_materialized=True,
)
CREATED_BY = Relation(
    "created_by",
    "One row per waiting contract: the exercise that created it, or of several the first, if possible with a transfer.",
    """
    SELECT DISTINCT ON (waiting_contract_id) *
    FROM token_exercises
    WHERE waiting_contract_id IS NOT NULL
    ORDER BY sender IS NULL, migration_id, record_time, update_id, node_index
    """,
    relations=(TOKEN_EXERCISES,),
    is_materialized=True,
)
STARTS = Relation(
    "starts",
    "One row per waiting contract whose transfer started in the frames, with this transfer.",
    """
    WITH RECURSIVE steps AS (
        SELECT waiting_contract_id, waiting_contract_id AS first_contract_id
        FROM created_by
        WHERE sender IS NOT NULL
        UNION ALL
        -- A contract has one row, so a cycle is not reached from a start.
        SELECT created_by.waiting_contract_id, steps.first_contract_id
        FROM steps
        JOIN created_by ON created_by.contract_id = steps.waiting_contract_id AND created_by.sender IS NULL
    )
    SELECT
        steps.waiting_contract_id,
        sender,
        receiver,
        instrument_admin,
        instrument_id,
        amount_text,
        update_id
    FROM steps
    JOIN created_by ON created_by.waiting_contract_id = steps.first_contract_id
    """,
    relations=(CREATED_BY,),
)
TOKEN_TRANSFERS = Relation(
    "token_transfers",
    "One row per transfer or allocation exercise. On a waiting contract, it has the transfer that started before.",
    f"""
    SELECT
        exercises.record_time,
        exercises.update_id,
        exercises.contract_id,
        exercises.package_name,
        exercises.template_name,
        exercises.choice,
        coalesce(exercises.sender, started.sender) AS sender,
        coalesce(exercises.receiver, started.receiver) AS receiver,
        coalesce(exercises.instrument_admin, started.instrument_admin) AS instrument_admin,
        coalesce(exercises.instrument_id, started.instrument_id) AS instrument_id,
        {amount_of("coalesce(exercises.amount_text, started.amount_text)")} AS amount,
        exercises.output,
        started.update_id AS started_in_update_id
    FROM token_exercises AS exercises
    LEFT JOIN starts AS started ON started.waiting_contract_id = exercises.contract_id
    ORDER BY exercises.migration_id, exercises.record_time, exercises.update_id, exercises.node_index
    """,
    relations=(TOKEN_EXERCISES, STARTS),
)
