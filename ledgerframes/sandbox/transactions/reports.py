"""What validators and subscribers do by the clock: liveness reports and subscription payments."""

from __future__ import annotations

from ..draft import Draft, view
from ..ledger import Contract, Node, archive, create, exercise
from ..parties import Party
from ..rounds import FIRST_ROUND
from ..scene import Scene
from ..times import DAY
from . import coins


def license_contract(scene: Scene, member: int, occurrence: int) -> Contract:
    """Make the licence of a validator; occurrence -1 is the one granted at the start."""
    value, validator = scene.value, scene.people.validators[member].identifier
    sponsor = scene.people.svs[member % len(scene.people.svs)].identifier
    fields = {
        "validator": value.party(validator),
        "sponsor": value.party(sponsor),
        "dso": value.party(scene.dso),
        "faucetState": value.optional(
            value.record(
                {
                    "firstReceivedFor": coins.round_value(scene, FIRST_ROUND),
                    "lastReceivedFor": coins.round_value(scene, scene.round_number),
                    "numCouponsMissed": value.integer(member % 4),
                }
            )
        ),
        "metadata": value.optional(
            value.record(
                {
                    "lastUpdatedAt": value.time(scene.scenery.rounds.start),
                    "version": value.text("0.7.4"),
                    "contactPoint": value.text(f"operations+{member}@validators.invalid"),
                }
            )
        ),
        "lastActiveAt": value.optional(value.time(scene.effective_at)),
    }
    template = scene.templates.validator_license
    identifier = scene.scenery.lasting(template, "licence", member, occurrence).identifier
    return scene.make(template, fields, (scene.dso,), (validator,), identifier=identifier)


def liveness(scene: Scene) -> Draft:
    """A validator reports that it is alive: its licence is replaced and a record is left for the round."""
    validator = scene.people.validators[scene.member]

    def tree() -> list[Node]:
        value = scene.value
        old = license_contract(scene, scene.member, scene.occurrence - 1)
        new = license_contract(scene, scene.member, scene.occurrence)
        fields = {
            "dso": value.party(scene.dso),
            "validator": value.party(validator.identifier),
            "round": coins.round_value(scene, scene.round_number),
        }
        record = scene.make(scene.templates.liveness_record, fields, (scene.dso,), (validator.identifier,))
        round_id = coins.open_round_id(scene.scenery, scene.round_number)
        argument = value.record({"openRoundCid": value.contract(round_id)})
        result = value.record({"licenseCid": value.contract(new.identifier), "couponCid": value.contract(record.identifier)})
        actors, children = [validator.identifier], [create(new), create(record)]
        choice = "ValidatorLicense_RecordValidatorLivenessActivity"
        return [exercise(old, choice, argument, result, actors, children, consuming=True)]

    return Draft(validator, [view([scene.dso, validator.identifier])], tree, bytes_per_view=2000)


def subscriber(scene: Scene, member: int) -> Party:
    """Return the user who pays a subscription."""
    return scene.people.users[member * 3]


def subscription_contract(scene: Scene, member: int, occurrence: int) -> Contract:
    """Make the idle state of a subscription; occurrence -1 is the one made at the start."""
    value, payer = scene.value, subscriber(scene, member).identifier
    provider = scene.people.providers[member % len(scene.people.providers)].party.identifier
    fields = {
        "subscription": value.record(
            {
                "sender": value.party(payer),
                "provider": value.party(provider),
                "dso": value.party(scene.dso),
                "description": value.text(f"reading room, seat {member + 1}"),
            }
        ),
        "payData": value.record(
            {
                "paymentAmount": value.record({"amount": value.numeric("2.5"), "unit": value.enum(f"{scene.words.Coin}Unit")}),
                "paymentInterval": value.duration(30 * DAY),
                "paymentDuration": value.duration(DAY),
            }
        ),
        "nextPaymentDueAt": value.time(scene.effective_at + 30 * DAY),
        "reference": value.optional(None),
    }
    template = scene.templates.subscription
    identifier = scene.scenery.lasting(template, "subscription", member, occurrence).identifier
    return scene.make(template, fields, (payer, provider), identifier=identifier)


def subscription(scene: Scene) -> Draft:
    """A subscriber's wallet pays: the idle state becomes a payment, and the provider renews it at once."""
    payer = subscriber(scene, scene.member)
    provider = scene.people.providers[scene.member % len(scene.people.providers)].party

    def tree() -> list[Node]:
        value = scene.value
        old = subscription_contract(scene, scene.member, scene.occurrence - 1)
        new = subscription_contract(scene, scene.member, scene.occurrence)
        inputs, minted = coins.funds(scene, payer.identifier)
        paid = min(inputs[0].units, 25 * 10**9)
        moved = coins.transfer(scene, payer.identifier, provider, inputs, [(provider.identifier, paid)])
        fields = {
            "subscriptionState": value.contract(old.identifier),
            "amount": value.amount(paid),
            "round": coins.round_value(scene, scene.round_number),
        }
        stakeholders = (payer.identifier, provider.identifier)
        payment = scene.make(scene.templates.subscription_payment, fields, stakeholders)
        collected = archive(payment, value.unit())
        argument = value.record({"inputs": value.list(value.contract(coin.identifier) for coin in inputs)})
        result = value.record({"newState": value.contract(new.identifier)})
        children = [create(payment), moved, collected, create(new)]
        choice = "SubscriptionIdleState_MakePayment"
        return [
            *minted,
            exercise(old, choice, argument, result, [payer.identifier], children, consuming=True),
        ]

    root = view([payer.identifier, provider.identifier], view([scene.dso, payer.identifier]))
    return Draft(payer, [root], tree, workflow_id="subscription-payment")
