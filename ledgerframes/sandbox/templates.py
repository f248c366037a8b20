"""The templates of the network's packages: their names are public facts, their package ids our hashes."""

from __future__ import annotations

from .ledger import Template
from .randomness import digest
from .words import Words


class Templates:
    """Every template and interface that this world uses, in the network's words.

    Parameters
    ----------
    words
        The vocabulary; package ids do not depend on it.
    """

    def __init__(self, words: Words) -> None:
        coin = _Package(f"splice-{words.coin}", "splice-coin")
        governance = _Package("splice-dso-governance")
        wallet = _Package("splice-wallet")
        self.coin = coin.template(f"Splice.{words.Coin}:{words.Coin}")
        self.locked_coin = coin.template(f"Splice.{words.Coin}:Locked{words.Coin}")
        self.coin_rules = coin.template(f"Splice.{words.Coin}Rules:{words.Coin}Rules")
        self.featured_right = coin.template(f"Splice.{words.Coin}:FeaturedAppRight")
        self.activity_marker = coin.template(f"Splice.{words.Coin}:FeaturedAppActivityMarker")
        self.reward_coupon = coin.template(f"Splice.{words.Coin}:AppRewardCoupon")
        self.open_round = coin.template("Splice.Round:OpenMiningRound")
        self.summarizing_round = coin.template("Splice.Round:SummarizingMiningRound")
        self.issuing_round = coin.template("Splice.Round:IssuingMiningRound")
        self.closed_round = coin.template("Splice.Round:ClosedMiningRound")
        self.validator_license = coin.template("Splice.ValidatorLicense:ValidatorLicense")
        self.liveness_record = coin.template("Splice.ValidatorLicense:ValidatorLivenessActivityRecord")
        self.dso_rules = governance.template("Splice.DsoRules:DsoRules")
        self.confirmation = governance.template("Splice.DsoRules:Confirmation")
        self.price_vote = governance.template(f"Splice.DSO.{words.Coin}Price:{words.Coin}PriceVote")
        self.status_report = governance.template("Splice.DSO.SvState:SvStatusReport")
        names = _Package(f"splice-{words.coin}-name-service", "splice-coin-name-service")
        self.name_rules = names.template("Splice.Ans:AnsRules")
        self.name_entry = names.template("Splice.Ans:AnsEntry")
        self.wallet = wallet.template("Splice.Wallet.Install:WalletAppInstall")
        self.transfer_offer = wallet.template("Splice.Wallet.TransferOffer:TransferOffer")
        self.accepted_offer = wallet.template("Splice.Wallet.TransferOffer:AcceptedTransferOffer")
        payments = _Package("splice-wallet-payments")
        self.subscription = payments.template("Splice.Wallet.Subscriptions:SubscriptionIdleState")
        self.subscription_payment = payments.template("Splice.Wallet.Subscriptions:SubscriptionPayment")
        standard = _Package("splice-api-token-allocation-v1")
        self.allocation_interface = standard.template("Splice.Api.Token.AllocationV1:Allocation")
        holdings = _Package("splice-api-token-holding-v1")
        self.holding_interface = holdings.template("Splice.Api.Token.HoldingV1:Holding")
        apps = _Package("meadow-settlement")
        self.trade = apps.template("Meadow.Settlement.Trade:Trade")
        self.allocation = apps.template("Meadow.Settlement.Allocation:LockedAllocation")
        self.venue = apps.template("Meadow.Settlement.Venue:Venue")
        tokens = _Package("meadow-token")
        self.token = tokens.template("Meadow.Token.Holding:Holding")
        self.locked_token = tokens.template("Meadow.Token.Holding:LockedHolding")
        self.registry = tokens.template("Meadow.Token.Registry:Registry")
        self.batch = apps.template("Meadow.Settlement.Batch:BatchRunner")
        self.ticket = apps.template("Meadow.Settlement.Batch:Ticket")


class _Package:
    def __init__(self, name: str, neutral_name: str = "") -> None:
        self._name = name
        self._identifier = digest("package", neutral_name or name)

    def template(self, qualified_name: str) -> Template:
        return Template(f"{self._identifier}:{qualified_name}", self._name)
