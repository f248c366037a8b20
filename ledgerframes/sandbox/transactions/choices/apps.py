"""Choices of the apps and the interfaces of the network that they use."""

from __future__ import annotations

from ...payloads import UNIT, Each, TextMap, amount, constructor, contract, integer, party, text, time
from ...times import DAY, SECOND
from ..parts import TOKENS
from ..specs import ChoiceSpec, Keyed
from ..templates.apps import ALLOCATION_INTERFACE, BATCH, HOLDING_INTERFACE, TRANSFER_INTERFACE, VENUE

TRANSFER_FACTORY_TRANSFER = ChoiceSpec(
    "TransferFactory_Transfer",
    contract="coin_rules",
    actors=("sender",),
    argument={
        "expectedAdmin": party("dso"),
        "transfer": {
            "sender": party(),
            "receiver": party("dso"),
            "amount": amount("spent"),
            "instrumentId": {"admin": party("dso"), "id": "$Coin"},
            "meta": {"values": TextMap({"splice.traffic.member": text("member_id")})},
        },
    },
    result={"output": {"receiverHoldingCids": []}, "meta": None},
    interface=TRANSFER_INTERFACE,
)
BATCH_RUNNER_RUN = ChoiceSpec(
    "BatchRunner_Run",
    contract=Keyed(BATCH, "operator"),
    actors=("operator",),
    argument={"steps": integer(), "dryRun": False},
    result=UNIT,
)
TICKET_PROCESS = ChoiceSpec(
    "Ticket_Process",
    contract="ticket",
    actors=("operator",),
    argument={"step": integer()},
    result=contract("stamped"),
    is_consuming=True,
)
REGISTRY_MINT = ChoiceSpec(
    "Registry_Mint",
    contract="registry",
    actors=("owner", "issuer"),
    argument={"receiver": party("owner"), "amount": amount("units")},
    result=contract("token"),
)
REGISTRY_TRANSFER = ChoiceSpec(
    "Registry_Transfer",
    contract="registry",
    actors=("sender", "receiver"),
    argument={
        "sender": party(),
        "receiver": party(),
        "amount": amount("units"),
        "holdings": [Each("tokens", contract())],
        "requestedAt": time("now", after=-SECOND),
        "executeBefore": time("second", after=DAY),
    },
    result=[Each("outputs", contract())],
    interface=HOLDING_INTERFACE,
)
REGISTRY_BURN = ChoiceSpec("Registry_Burn", contract="registry", actors=("owner",), argument=TOKENS, result=None)
REGISTRY_LOCK = ChoiceSpec("Registry_Lock", contract="registry", actors=("owner",), argument=TOKENS, result=UNIT)
VENUE_ALLOCATE = ChoiceSpec(
    "Venue_Allocate",
    contract=Keyed(VENUE, "operator"),
    actors=("owner",),
    argument={"sender": party("owner"), "amount": amount("units")},
    result={"allocation": contract(), "senderChange": []},
)
VENUE_SETTLE = ChoiceSpec(
    "Venue_Settle",
    contract=Keyed(VENUE, "operator"),
    actors=("operator",),
    argument={"trade": contract(), "batchId": integer("index")},
    result=constructor("Trade_SettleResult"),
)
TRADE_SETTLE = ChoiceSpec(
    "Trade_Settle",
    contract="trade",
    actors=("operator",),
    argument={"allocation": contract(), "extraArgs": TextMap({})},
    result=constructor("Trade_SettleResult"),
    is_consuming=True,
)
ALLOCATION_EXECUTE_TRANSFER = ChoiceSpec(
    "Allocation_ExecuteTransfer",
    contract="allocation",
    actors=("buyer", "seller"),
    argument={"extraArgs": {"context": TextMap({}), "meta": TextMap({"app": "dvp"})}},
    result={"receiverHoldingCids": [], "meta": TextMap({})},
    is_consuming=True,
    interface=ALLOCATION_INTERFACE,
)
