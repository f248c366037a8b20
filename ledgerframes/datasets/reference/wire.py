"""Structs of the history API's reference data.

Payloads stay JSON bytes. A contract that is replaced gets a new ``contract_id``, so the id identifies a version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from ledgerframes.datasets.structs import Wire

__all__ = ["Contract", "StateContract"]


class Contract(Wire):
    """A contract of the history API (docs/facts.md#contract-object)."""

    template_id: str
    contract_id: str
    payload: msgspec.Raw
    created_at: str
    created_event_blob: str | None = None


class StateContract(Wire):
    """A contract with its synchronizer, or only the latter if the caller has the contract."""

    contract: Contract | None = None
    domain_id: str | None = None


class NameRules(Wire):
    """The rules of the name service, without a contract if the cached one is current.

    See docs/facts.md#name-rules-and-price-votes.
    """

    contract: Contract | None = None
    domain_id: str | None = None


class UsedTraffic(Wire):
    """Bytes of extra traffic that a member has used, and the limit of its use now."""

    total_consumed: int
    total_limit: int


class BoughtTraffic(Wire):
    """Bytes of extra traffic that were bought for a member.

    The latest may not be in the limit yet.
    """

    total_purchased: int


class TrafficStatus(Wire):
    """Extra traffic of a member of a synchronizer (docs/facts.md#traffic-balance)."""

    actual: UsedTraffic
    target: BoughtTraffic

    @property
    def balance(self) -> int:
        """Bytes of extra traffic that are left now."""
        return self.actual.total_limit - self.actual.total_consumed


class MiningRounds(Wire):
    """Open and issuing rounds by contract id (docs/facts.md#reference-operations)."""

    open_mining_rounds: dict[str, StateContract]
    issuing_mining_rounds: dict[str, StateContract]
    time_to_live_in_microseconds: int | None = None


class NetworkRules(Wire):
    """Rules of the network, its super validators' contracts, and who serves them."""

    sv_user: str
    sv_party_id: str
    dso_party_id: str
    voting_threshold: int
    latest_mining_round: StateContract
    coin_rules: StateContract
    dso_rules: StateContract
    sv_node_states: list[StateContract]
    initial_round: str | None = None


class NameEntry(Wire):
    """An entry of the name service. One of the network itself has no contract and no end."""

    user: str
    name: str
    url: str
    description: str
    contract_id: str | None = None
    expires_at: str | None = None


class Scan(Wire, rename="camel"):
    """The history API of a super validator."""

    public_url: str
    sv_name: str


class DomainScans(Wire, rename="camel"):
    """The history APIs of a synchronizer."""

    domain_id: str
    scans: list[Scan]


class LicensesPage(Wire):
    """A page of licenses, the newest first."""

    validator_licenses: list[Contract]
    next_page_token: int | None = None


class ValidatorFaucets(Wire, rename="camel"):
    """Rounds in which a validator was active."""

    validator: str
    num_rounds_collected: int
    num_rounds_missed: int
    first_collected_in_round: int
    last_collected_in_round: int


class Upgrade(Wire, rename="camel"):
    """The next upgrade of the synchronizer, after which its serial is higher."""

    topology_freeze_time: str
    upgrade_time: str
    successor_physical_synchronizer_id: str


class NextUpgrade(Wire):
    """The next upgrade, if one is planned."""

    lsu: Upgrade | None = None


class RewardTotals(Wire):
    """Activity and rewards of a round as a node has computed them, if the status is ``Ok``."""

    status: str
    round_number: int | None = None
    total_app_activity_weight: int | None = None
    active_parties_count: int | None = None
    activity_records_count: int | None = None
    total_app_reward_minting_allowance: str | None = None
    total_app_reward_thresholded: str | None = None
    total_app_reward_unclaimed: str | None = None
    rewarded_app_provider_parties_count: int | None = None


class RewardRoot(Wire):
    """Root hash of a round's rewards as a node has computed it, if the status is ``Ok``."""

    status: str
    round_number: int | None = None
    root_hash: str | None = None


class MintingAllowance(Wire):
    """An amount that a provider may mint for a round."""

    provider: str
    amount: str


class RewardBatch(Wire):
    """A batch of a round's rewards, with the hashes of its parts or with allowances."""

    batch_type: str
    child_hashes: list[str] | None = None
    minting_allowances: list[MintingAllowance] | None = None


@dataclass(frozen=True)
class RewardAccounting:
    """Responses of a node about one round."""

    round_number: int
    totals: RewardTotals
    root: RewardRoot
    batches: Mapping[str, RewardBatch | None]  # by hash, None if the node has no such batch
