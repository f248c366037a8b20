"""Choices of the wallet, of its offers and subscriptions, and of names."""

from __future__ import annotations

from ...payloads import UNIT, Each, Optional, Variant, contract, duration, party, text, time
from ...times import DAY
from ..parts import BATCH_RESULT, PRICE_PER_UNIT, ROUND, TRACKING
from ..specs import ChoiceSpec, Keyed
from ..templates.wallet import WALLET

WALLET_APP_INSTALL_EXECUTE_BATCH = ChoiceSpec(
    "WalletAppInstall_ExecuteBatch",
    contract=Keyed(WALLET, "sender"),
    actors=("sender",),
    argument={"context": {"memo": Optional(text("note"))}, "operations": [Variant("CO_Transfer", UNIT)]},
    result=BATCH_RESULT,
)
WALLET_APP_INSTALL_EXECUTE_BATCH_COLLECT = ChoiceSpec(
    "WalletAppInstall_ExecuteBatch",
    contract=Keyed(WALLET, "owner"),
    actors=("owner",),
    argument={"context": {"memo": None}, "operations": []},
    result=BATCH_RESULT,
)
WALLET_APP_INSTALL_CREATE_TRANSFER_OFFER = ChoiceSpec(
    "WalletAppInstall_CreateTransferOffer",
    contract=Keyed(WALLET, "sender"),
    actors=("sender",),
    argument={
        "receiver": party(),
        "amount": PRICE_PER_UNIT,
        "description": text(),
        "expiresAt": time("now", after=7 * DAY),
        "trackingId": text("tracking_id"),
    },
    result={"transferOffer": contract("offer")},
)
TRANSFER_OFFER_ACCEPT = ChoiceSpec(
    "TransferOffer_Accept",
    contract="offer",
    actors=("receiver",),
    argument=UNIT,
    result={"acceptedTransferOffer": contract("accepted"), "trackingInfo": TRACKING},
    is_consuming=True,
)
ACCEPTED_TRANSFER_OFFER_COMPLETE = ChoiceSpec(
    "AcceptedTransferOffer_Complete",
    contract="accepted",
    actors=("sender",),
    argument={"walletProvider": party("host")},
    result={"transferResult": {"round": ROUND}, "trackingInfo": TRACKING},
    is_consuming=True,
)
ANS_RULES_REQUEST_ENTRY = ChoiceSpec(
    "AnsRules_RequestEntry",
    contract="name_rules",
    actors=("user",),
    argument={"name": text(), "url": text(), "description": text(), "user": party()},
    result={"entryCid": contract("context"), "requestCid": contract("request")},
)
ANS_RULES_COLLECT_INITIAL_ENTRY_PAYMENT = ChoiceSpec(
    "AnsRules_CollectInitialEntryPayment",
    contract="name_rules",
    actors=("dso",),
    argument={"entryContextCid": contract("context"), "user": party()},
    result={"entryCid": contract("entry"), "subscriptionStateCid": None},
)
ANS_RULES_COLLECT_ENTRY_RENEWAL_PAYMENT = ChoiceSpec(
    "AnsRules_CollectEntryRenewalPayment",
    contract="name_rules",
    actors=("dso",),
    argument={"entryCid": contract("old"), "user": party()},
    result={"entryCid": contract("entry"), "subscriptionStateCid": None},
)
ANS_ENTRY_RENEW = ChoiceSpec(
    "AnsEntry_Renew",
    contract="old",
    actors=("user", "dso"),
    argument={"extension": duration(90 * DAY)},
    result={"entryCid": contract("entry")},
    is_consuming=True,
)
ANS_ENTRY_EXPIRE = ChoiceSpec(
    "AnsEntry_Expire", contract="old", actors=("dso",), argument={"actor": party("dso")}, result=UNIT, is_consuming=True
)
DSO_RULES_EXPIRE_ANS_ENTRY = ChoiceSpec(
    "DsoRules_ExpireAnsEntry",
    contract="dso_rules",
    actors=("sv",),
    argument={"ansEntryCid": contract("old"), "choiceArg": {"actor": party("dso")}, "sv": party()},
    result=UNIT,
)
SUBSCRIPTION_IDLE_STATE_MAKE_PAYMENT = ChoiceSpec(
    "SubscriptionIdleState_MakePayment",
    contract="old",
    actors=("payer",),
    argument={"inputs": [Each("inputs", contract())]},
    result={"newState": contract("new")},
    is_consuming=True,
)
