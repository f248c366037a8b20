"""Templates of the apps and the interfaces of the network that they use."""

from __future__ import annotations

from decimal import Decimal

from ...payloads import Optional, TextMap, Variant, amount, enum, integer, party, text, time
from ...times import DAY, HOUR
from ..specs import TemplateSpec

SETTLEMENT_PACKAGE = "meadow-settlement"
HOLDINGS_PACKAGE = "meadow-token"
BATCH_PACKAGE = "meadow-batch"
INSTRUCTION_PACKAGE = "splice-api-token-transfer-instruction-v1"

REWARD_INTERFACE = TemplateSpec("splice-api-reward-assignment-v1", "Splice.Api.RewardAssignmentV1:RewardCoupon")
TRANSFER_INTERFACE = TemplateSpec(INSTRUCTION_PACKAGE, "Splice.Api.Token.TransferInstructionV1:TransferFactory")
INSTRUCTION_INTERFACE = TemplateSpec(INSTRUCTION_PACKAGE, "Splice.Api.Token.TransferInstructionV1:TransferInstruction")
ALLOCATION_INTERFACE = TemplateSpec("splice-api-token-allocation-v1", "Splice.Api.Token.AllocationV1:Allocation")
HOLDING_INTERFACE = TemplateSpec("splice-api-token-holding-v1", "Splice.Api.Token.HoldingV1:Holding")
TRADE = TemplateSpec(
    SETTLEMENT_PACKAGE,
    "Meadow.Settlement.Trade:Trade",
    {
        "venue": party("operator"),
        "buyer": party(),
        "seller": party(),
        "price": Decimal("0.5"),
        "side": Variant("Limit", {"limit": Decimal("1.25")}),
        "settleAt": time("second"),
        "externalReference": None,
    },
    signatories=("operator", "buyer", "seller"),
)
ALLOCATION = TemplateSpec(
    SETTLEMENT_PACKAGE,
    "Meadow.Settlement.Allocation:LockedAllocation",
    {
        "executor": party("operator"),
        "sender": party("owner"),
        "amount": amount("units"),
        "settlement": {
            "reference": text(),
            "requestedAt": time("now"),
            "settleBefore": time("now", after=6 * HOUR),
            "note": Optional(text()),
        },
    },
    signatories=("owner", "operator"),
    has_note=True,
)
VENUE = TemplateSpec(
    SETTLEMENT_PACKAGE,
    "Meadow.Settlement.Venue:Venue",
    {"operator": party(), "name": text()},
    signatories=("operator",),
    key_word="venue",
)
TOKEN = TemplateSpec(
    HOLDINGS_PACKAGE,
    "Meadow.Token.Holding:Holding",
    {
        "owner": party(),
        "instrument": {"issuer": party(), "id": "MEADOW"},
        "amount": amount("units"),
        "meta": {"values": TextMap({"meadow.note": text("note")})},
        "lock": None,
    },
    signatories=("owner", "issuer"),
    has_note=True,
)
LOCKED_TOKEN = TemplateSpec(
    HOLDINGS_PACKAGE,
    "Meadow.Token.Holding:LockedHolding",
    {
        "owner": party(),
        "amount": amount("units"),
        "lock": {"holders": [party("issuer")], "expiresAt": time("now", after=3 * DAY), "optContext": Optional(text("note"))},
    },
    signatories=("owner",),
    has_note=True,
)
REGISTRY = TemplateSpec(
    HOLDINGS_PACKAGE,
    "Meadow.Token.Registry:Registry",
    {"issuer": party(), "id": "MEADOW"},
    signatories=("issuer",),
    key_word="registry",
)
BATCH = TemplateSpec(
    BATCH_PACKAGE,
    "Meadow.Settlement.Batch:BatchRunner",
    {"operator": party(), "name": text()},
    signatories=("operator",),
    key_word="batch",
)
TICKET = TemplateSpec(
    BATCH_PACKAGE,
    "Meadow.Settlement.Batch:Ticket",
    {"operator": party(), "customer": party(), "step": integer(), "state": enum()},
    signatories=("operator",),
    observers=("customer",),
)
