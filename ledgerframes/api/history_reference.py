"""The part of the history API on rounds, rights, names, rules, validators and upgrades."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ledgerframes.api.operation import Client, Request, list_of_texts, operation
from ledgerframes.api.paging import MAX_PAGE_SIZE
from ledgerframes.api.response import Response
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.reference.wire import (
    Contract,
    DomainScans,
    LicensesPage,
    MiningRounds,
    NameEntry,
    NetworkRules,
    NextUpgrade,
    RewardBatch,
    RewardRoot,
    RewardTotals,
    ValidatorFaucets,
)
from ledgerframes.errors import UsageError
from ledgerframes.values.checks import require_integer

__all__ = ["ReferenceClient"]

REWARDS = "/v0/internal/reward-accounting-process/rounds"


class ReferenceClient(Client):
    """Operations of the history API on the present state (docs/facts.md#reference-operations)."""

    api = "history"
    coin: str  # the network's word

    # -- rounds and rights --------------------------------------------------------------------------------------------

    @operation("POST /v0/open-and-issuing-mining-rounds", returns=MiningRounds, read_only=True)
    def open_and_issuing_rounds(self, cached_open: Sequence[str] = (), cached_issuing: Sequence[str] = ()) -> Request:
        """Return the mining rounds that are open or issuing, by contract id.

        Parameters
        ----------
        cached_open, cached_issuing : sequence of str
            Contract ids of the rounds that the caller already has, which come back without a contract.

        Notes
        -----
        ``POST /v0/open-and-issuing-mining-rounds``.
        """
        return Request(
            body={
                "cached_open_mining_round_contract_ids": list_of_texts(cached_open, "cached_open"),
                "cached_issuing_round_contract_ids": list_of_texts(cached_issuing, "cached_issuing"),
            }
        )

    @operation("GET /v0/closed-rounds", returns=list[Contract], member="rounds")
    def closed_rounds(self) -> Any:
        """List the closed mining rounds that are still in process, by round number.

        Notes
        -----
        ``GET /v0/closed-rounds``.
        """

    @operation("GET /v0/featured-apps", returns=list[Contract], member="featured_apps", internal=True)
    def featured_apps(self) -> Any:
        """List the rights of all featured apps.

        Notes
        -----
        ``GET /v0/featured-apps``, internal to the network, so it may change or disappear.
        """

    @operation(
        "GET /v0/featured-apps/by-provider/{provider_party_id}", returns=list[Contract], member="featured_apps", internal=True
    )
    def featured_apps_of(self, provider_party_id: str) -> Any:
        """List the rights of one featured app, none for an unknown one.

        Notes
        -----
        ``GET /v0/featured-apps/by-provider/{provider_party_id}``, internal to the network, so it may change or disappear.
        """

    # -- names --------------------------------------------------------------------------------------------------------

    @operation("GET /v0/ans-entries", returns=list[NameEntry], member="entries")
    def name_entries(self, name_prefix: str = "", *, page_size: int = MAX_PAGE_SIZE) -> Request:
        """List the entries of the name service that have not expired, the oldest first.

        There are no further pages, so a full list may not have all of them.

        Parameters
        ----------
        name_prefix : str
            Only names that start with it.
        page_size : int
            1 to 1000.

        Notes
        -----
        ``GET /v0/ans-entries``.
        """
        size = require_integer("page_size", page_size, 1, MAX_PAGE_SIZE)
        return Request(query={"name_prefix": name_prefix or None, "page_size": size})

    @operation("GET /v0/ans-entries/by-party/{party}", returns=NameEntry, member="entry")
    def name_entry_of_party(self, party: str) -> Any:
        """Look up the first name of a party in alphabetical order.

        Raises
        ------
        NotFoundError
            If it has none.

        Notes
        -----
        ``GET /v0/ans-entries/by-party/{party}``.
        """

    @operation("GET /v0/ans-entries/by-name/{name}", returns=NameEntry, member="entry")
    def name_entry(self, name: str) -> Any:
        """Look up the entry of a name.

        Raises
        ------
        NotFoundError
            If there is none.

        Notes
        -----
        ``GET /v0/ans-entries/by-name/{name}``.
        """

    # -- rules, hosts and validators ----------------------------------------------------------------------------------

    def network_rules(self) -> NetworkRules:
        """Return the rules of the network, its latest round, and its super validators."""
        response = self._network_rules()
        # The coin's rules have the network's word in their name.
        members = response.decode(dict[str, msgspec.Raw])
        renamed = {"coin_rules" if name == f"{self.coin}_rules" else name: value for name, value in members.items()}
        rules = decode(msgspec.json.encode(renamed), NetworkRules, response.endpoint)
        self.note_around(response.endpoint, unknown_members(rules, but=Contract))
        return rules

    @operation("GET /v0/dso", name="network_rules", returns=Response)
    def _network_rules(self) -> Any:
        """Fetch the rules."""

    @operation("GET /v0/scans", returns=list[DomainScans], member="scans")
    def scans(self) -> Any:
        """List the addresses of the history APIs of all super validators, by synchronizer.

        Notes
        -----
        ``GET /v0/scans``.
        """

    @operation("GET /v0/admin/validator/licenses", returns=LicensesPage)
    def validator_licenses(self, after: int | None = None, *, page_size: int = MAX_PAGE_SIZE) -> Request:
        """Return a page of the licenses of validators, the newest first.

        Parameters
        ----------
        after : int, optional
            ``next_page_token`` of the page before, from the same host.
        page_size : int
            1 to 1000.

        Notes
        -----
        ``GET /v0/admin/validator/licenses``.
        """
        return Request(query={"after": after, "limit": require_integer("page_size", page_size, 1, MAX_PAGE_SIZE)})

    @operation("GET /v0/validators/validator-faucets", returns=list[ValidatorFaucets], member="validatorsReceivedFaucets")
    def validator_faucets(self, validator_ids: Sequence[str]) -> Request:
        """Return in which rounds validators were active, without those that have no license.

        Parameters
        ----------
        validator_ids : sequence of str
            At least one party of a validator. A URL has room for a few dozen.

        Notes
        -----
        ``GET /v0/validators/validator-faucets``.
        """
        texts = list_of_texts(validator_ids, "validator_ids")
        if not texts:
            raise UsageError("validator_ids= must have at least one party, got none.")
        return Request(query={"validator_ids": texts})

    # -- upgrades and completeness ------------------------------------------------------------------------------------

    @operation("GET /v0/active-synchronizer-serial", returns=int, member="serial", internal=True)
    def synchronizer_serial(self) -> Any:
        """Return the serial of the synchronizer, which counts its upgrades.

        Facts: docs/facts.md#record-times-per-migration.

        Notes
        -----
        ``GET /v0/active-synchronizer-serial``, internal to the network, so it may change or disappear.
        """

    @operation("GET /v0/lsu", returns=NextUpgrade, unwrap=lambda response: response.lsu, internal=True)
    def upgrade(self) -> Any:
        """Return the next upgrade of the synchronizer, or None.

        Notes
        -----
        ``GET /v0/lsu``, internal to the network, so it may change or disappear.
        """

    @operation("GET /v0/backfilling/status", returns=bool, member="complete", internal=True)
    def is_backfilled(self) -> Any:
        """Return whether the node has all of the history, and not only the part since it joined.

        Notes
        -----
        ``GET /v0/backfilling/status``, internal to the network, so it may change or disappear.
        """

    # -- rewards as the node computes them ----------------------------------------------------------------------------

    @operation(f"GET {REWARDS}/earliest-available", returns=int, member="earliest_round", internal=True)
    def earliest_reward_round(self) -> Any:
        """Return the first round for which the node has complete activity records.

        Raises
        ------
        NotFoundError
            If there is none.

        Notes
        -----
        ``GET /v0/internal/reward-accounting-process/rounds/earliest-available``, internal to the network, so it may change
        or disappear.
        """

    @operation(f"GET {REWARDS}/{{round_number}}/activity-totals", returns=RewardTotals, internal=True)
    def reward_totals(self, round_number: int) -> Request:
        """Return the activity and the rewards of a round as the node computes them.

        The status is ``Ok``, ``Undetermined`` or ``CannotProvide``
        (docs/facts.md#reward-accounting).

        Notes
        -----
        ``GET /v0/internal/reward-accounting-process/rounds/{round_number}/activity-totals``, internal to the network, so it
        may change or disappear.
        """
        return Request(path={"round_number": str(require_integer("round_number", round_number, 0))})

    @operation(f"GET {REWARDS}/{{round_number}}/root-hash", returns=RewardRoot, internal=True)
    def reward_root(self, round_number: int) -> Request:
        """Return the root hash of a round's rewards as the node computes it.

        The status is ``Ok``, ``Undetermined`` or ``CannotProvide``
        (docs/facts.md#reward-accounting).

        Notes
        -----
        ``GET /v0/internal/reward-accounting-process/rounds/{round_number}/root-hash``, internal to the network, so it may
        change or disappear.
        """
        return Request(path={"round_number": str(require_integer("round_number", round_number, 0))})

    @operation(f"GET {REWARDS}/{{round_number}}/batches/{{batch_hash}}", returns=RewardBatch, internal=True)
    def reward_batch(self, round_number: int, batch_hash: str) -> Request:
        """Return a batch of a round's rewards by its hash, with hashes or allowances.

        Raises
        ------
        NotFoundError
            If the node has no such batch.

        Notes
        -----
        ``GET /v0/internal/reward-accounting-process/rounds/{round_number}/batches/{batch_hash}``, internal to the network,
        so it may change or disappear.
        """
        return Request(path={"round_number": str(require_integer("round_number", round_number, 0)), "batch_hash": batch_hash})
