"""Templates of the wallet, of its offers and subscriptions, and of names."""

from __future__ import annotations

from decimal import Decimal

from ...payloads import amount, constructor, contract, duration, party, text, time
from ...times import DAY
from ..parts import PRICE_PER_UNIT, ROUND
from ..specs import TemplateSpec

NAME_PACKAGE = "splice-$coin-name-service"
WALLET_PACKAGE = "splice-wallet"
PAYMENTS_PACKAGE = "splice-wallet-payments"

NAME_RULES = TemplateSpec(
    NAME_PACKAGE,
    "Splice.Ans:AnsRules",
    {
        "dso": party(),
        "config": {
            "renewalDuration": duration(30 * DAY),
            "entryLifetime": duration(90 * DAY),
            "entryFee": Decimal("1.0"),
            "descriptionPrefix": "name entry: ",
        },
    },
    key_word="name rules",
)
NAME_ENTRY = TemplateSpec(
    NAME_PACKAGE,
    "Splice.Ans:AnsEntry",
    {"user": party(), "dso": party(), "name": text(), "url": text(), "description": text(), "expiresAt": time("expires")},
    signatories=("user", "dso"),
    key_word="name entry",
)
NAME_CONTEXT = TemplateSpec(
    NAME_PACKAGE,
    "Splice.Ans:AnsEntryContext",
    {"dso": party(), "user": party(), "name": text(), "url": text(), "description": text(), "reference": contract("request")},
    signatories=("dso", "user"),
)
WALLET = TemplateSpec(WALLET_PACKAGE, "Splice.Wallet.Install:WalletAppInstall", signatories=("dso", "owner"), key_word="wallet")
TRANSFER_OFFER = TemplateSpec(
    WALLET_PACKAGE,
    "Splice.Wallet.TransferOffer:TransferOffer",
    {
        "sender": party(),
        "receiver": party(),
        "dso": party(),
        "amount": PRICE_PER_UNIT,
        "description": text(),
        "expiresAt": time("now", after=7 * DAY),
        "trackingId": text("tracking_id"),
    },
    signatories=("sender", "dso"),
    observers=("receiver",),
    owner="receiver",
)
ACCEPTED_OFFER = TemplateSpec(
    WALLET_PACKAGE,
    "Splice.Wallet.TransferOffer:AcceptedTransferOffer",
    {
        "sender": party(),
        "receiver": party(),
        "dso": party(),
        "amount": PRICE_PER_UNIT,
        "expiresAt": time("now", after=7 * DAY),
        "trackingId": text("tracking_id"),
    },
    signatories=("sender", "receiver", "dso"),
    owner="sender",
)
SUBSCRIPTION = TemplateSpec(
    PAYMENTS_PACKAGE,
    "Splice.Wallet.Subscriptions:SubscriptionIdleState",
    {
        "subscription": {"sender": party("payer"), "provider": party(), "dso": party(), "description": text()},
        "payData": {
            "paymentAmount": {"amount": Decimal("2.5"), "unit": constructor("$CoinUnit")},
            "paymentInterval": duration(30 * DAY),
            "paymentDuration": duration(DAY),
        },
        "nextPaymentDueAt": time("now", after=30 * DAY),
        "reference": None,
    },
    signatories=("payer", "provider"),
    key_word="subscription",
)
SUBSCRIPTION_REQUEST = TemplateSpec(
    PAYMENTS_PACKAGE,
    "Splice.Wallet.Subscriptions:SubscriptionRequest",
    {
        "subscriptionData": {
            "sender": party("user"),
            "receiver": party("dso"),
            "provider": party("dso"),
            "dso": party(),
            "description": text(),
        },
        "payData": {
            "paymentAmount": {"amount": Decimal("1.0"), "unit": constructor("USDUnit")},
            "paymentInterval": duration(90 * DAY),
            "paymentDuration": duration(30 * DAY),
        },
    },
    signatories=("user", "dso"),
)
SUBSCRIPTION_PAYMENT = TemplateSpec(
    PAYMENTS_PACKAGE,
    "Splice.Wallet.Subscriptions:SubscriptionPayment",
    {"subscriptionState": contract("old"), "amount": amount("units"), "round": ROUND},
    signatories=("payer", "provider"),
)
