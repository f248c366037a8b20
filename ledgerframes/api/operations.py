"""Every operation of the three APIs, once: what it is called here and on the wire, since when, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import Literal

from ledgerframes.errors import UsageError

__all__ = ["OPERATIONS", "Operation", "operation"]

Api = Literal["ledger", "wallet", "history"]
Reply = Literal["json", "bytes", "empty"]


@dataclass(frozen=True)
class Operation:
    """One operation: a method and a path of one API.

    Attributes
    ----------
    name : str
        What the API's client calls it.
    api : {"ledger", "wallet", "history"}
    method, path : str
        As the order writes them, with names in braces and the neutral words.
    purpose : str
        What it does, in one sentence.
    since, changed : str
        Version of the API that has it first, and versions that changed it; empty where nobody says.
    deprecated : str
        What takes its place, or why it goes; empty if it stays.
    safe : bool
        Whether it only reads, so that asking again does no harm.
    reply : {"json", "bytes", "empty"}
        What a good answer holds.
    """

    name: str
    api: Api
    method: str
    path: str
    purpose: str
    since: str = ""
    changed: str = ""
    deprecated: str = ""
    safe: bool = False
    reply: Reply = "json"

    @property
    def path_names(self) -> tuple[str, ...]:
        """The names in the path, as they stand there."""
        return tuple(name for _, name, _, _ in Formatter().parse(self.path) if name)


def _read(api: Api, name: str, route: str, purpose: str, reply: Reply = "json", **more: str) -> Operation:
    method, path = route.split()
    return Operation(name, api, method, path, purpose, safe=True, reply=reply, **more)


def _write(api: Api, name: str, route: str, purpose: str, reply: Reply = "json", **more: str) -> Operation:
    method, path = route.split()
    return Operation(name, api, method, path, purpose, reply=reply, **more)  # type: ignore[arg-type]


TREE_GOES = "submit_and_wait_for_transaction, with a transaction format"
ONE_BY_OFFSET, ONE_BY_ID = "update_by_offset", "update_by_id"

UPDATES = (
    _read("ledger", "get_updates_page", "POST /v2/updates/get-updates-page", "Read a page of the filtered updates.", since="3.5"),
    _read("ledger", "updates", "POST /v2/updates", "List filtered updates, no more than the participant's list limit."),
    _read("ledger", "flat_updates", "POST /v2/updates/flats", "List flat transactions.", deprecated="updates"),
    _read("ledger", "tree_updates", "POST /v2/updates/trees", "List transaction trees.", deprecated="updates"),
    _read("ledger", "update_by_offset", "POST /v2/updates/update-by-offset", "Look one update up by its offset."),
    _read("ledger", "update_by_id", "POST /v2/updates/update-by-id", "Look one update up by its id."),
    _read(
        "ledger",
        "transaction_by_offset",
        "POST /v2/updates/transaction-by-offset",
        "Look one transaction up by its offset.",
        deprecated=ONE_BY_OFFSET,
    ),
    _read(
        "ledger",
        "transaction_by_id",
        "POST /v2/updates/transaction-by-id",
        "Look one transaction up by its id.",
        deprecated=ONE_BY_ID,
    ),
    _read(
        "ledger",
        "transaction_tree_by_offset",
        "GET /v2/updates/transaction-tree-by-offset/{offset}",
        "Look one transaction tree up by its offset.",
        deprecated=ONE_BY_OFFSET,
    ),
    _read(
        "ledger",
        "transaction_tree_by_id",
        "GET /v2/updates/transaction-tree-by-id/{update-id}",
        "Look one transaction tree up by its id.",
        deprecated=ONE_BY_ID,
    ),
)

COMMANDS = (
    _write(
        "ledger",
        "submit_and_wait",
        "POST /v2/commands/submit-and-wait",
        "Submit a command and wait for its result.",
        since="3.4",
        changed="3.5",
    ),
    _write(
        "ledger",
        "submit_and_wait_for_transaction",
        "POST /v2/commands/submit-and-wait-for-transaction",
        "Submit a command, wait, and get the transaction.",
        since="3.4",
        changed="3.5",
    ),
    _write(
        "ledger",
        "submit_and_wait_for_reassignment",
        "POST /v2/commands/submit-and-wait-for-reassignment",
        "Submit a reassignment command, wait, and get the reassignment.",
        since="3.4",
        changed="3.5",
    ),
    _write(
        "ledger",
        "submit_and_wait_for_transaction_tree",
        "POST /v2/commands/submit-and-wait-for-transaction-tree",
        "Submit a command, wait, and get the transaction tree.",
        deprecated=TREE_GOES,
    ),
    _write(
        "ledger",
        "async_submit",
        "POST /v2/commands/async/submit",
        "Submit a command without waiting; its completion tells the result.",
        since="3.4",
        changed="3.5",
    ),
    _write(
        "ledger",
        "async_submit_reassignment",
        "POST /v2/commands/async/submit-reassignment",
        "Submit a reassignment without waiting.",
        since="3.4",
        changed="3.5",
    ),
    _read(
        "ledger",
        "command_completions",
        "POST /v2/commands/command-completions",
        "List command completions, filtered by party.",
        since="3.5",
    ),
    _read(
        "ledger",
        "user_completions",
        "POST /v2/commands/completions",
        "List command completions of one user.",
        deprecated="command_completions",
    ),
)

STATE = (
    _read("ledger", "version", "GET /v2/version", "Read the version and the features of the ledger API."),
    _read("ledger", "ledger_end", "GET /v2/state/ledger-end", "Read the offset of the ledger's end."),
    _read("ledger", "latest_pruned_offsets", "GET /v2/state/latest-pruned-offsets", "Read up to where the ledger is pruned."),
    _read(
        "ledger",
        "connected_synchronizers",
        "GET /v2/state/connected-synchronizers",
        "List the synchronizers that the participant is connected to.",
    ),
    _read(
        "ledger",
        "active_contracts_page",
        "POST /v2/state/active-contracts-page",
        "Read a page of the contracts and incomplete reassignments at an offset.",
        since="3.5",
    ),
    _read(
        "ledger",
        "active_contracts_page_by_get",
        "GET /v2/state/active-contracts-page",
        "The same, as a GET with a body.",
        since="3.5",
        deprecated="active_contracts_page",
    ),
    _read(
        "ledger",
        "active_contracts",
        "POST /v2/state/active-contracts",
        "List the active contracts, no more than the participant's list limit.",
    ),
    _read(
        "ledger",
        "events_by_contract_id",
        "POST /v2/events/events-by-contract-id",
        "Look up the create and the consuming exercise of a contract.",
        since="3.4",
        changed="3.5",
    ),
    _read("ledger", "contract_by_id", "POST /v2/contracts/contract-by-id", "Look up the create of a contract by its id."),
    _read("ledger", "ready", "GET /readyz", "Ask whether the participant is ready.", "empty"),
    _read("ledger", "live", "GET /livez", "Ask whether the participant is alive.", "empty"),
)

PACKAGES = (
    _read("ledger", "packages", "GET /v2/packages", "List the ids of all packages."),
    _read("ledger", "package", "GET /v2/packages/{package-id}", "Download one package.", "bytes"),
    _read("ledger", "package_status", "GET /v2/packages/{package-id}/status", "Ask whether a package is registered."),
    _write("ledger", "upload_dar", "POST /v2/dars", "Upload a DAR."),
    _read("ledger", "validate_dar", "POST /v2/dars/validate", "Check a DAR and its upgrades without uploading it."),
    _write("ledger", "upload_package", "POST /v2/packages", "Upload a DAR under its old path.", deprecated="upload_dar"),
    _read(
        "ledger",
        "vetted_packages_page",
        "POST /v2/package-vetting/list",
        "List which participant vetted which packages on which synchronizer.",
    ),
    _read(
        "ledger",
        "vetted_packages_page_by_get",
        "GET /v2/package-vetting",
        "The same, as a GET with a body.",
        deprecated="vetted_packages_page",
    ),
    _write("ledger", "update_vetting", "POST /v2/package-vetting/update", "Change which packages the participant has vetted."),
    _write("ledger", "post_package_vetting", "POST /v2/package-vetting", "Listed without a description; taken for a write."),
)

PARTIES = (
    _read("ledger", "participant_id", "GET /v2/parties/participant-id", "Read the participant's id."),
    _read("ledger", "parties_page", "GET /v2/parties", "Read a page of the parties that the participant knows."),
    _read("ledger", "party", "GET /v2/parties/{party}", "Read the details of a party."),
    _write("ledger", "allocate_party", "POST /v2/parties", "Allocate a party."),
    _write("ledger", "update_party", "PATCH /v2/parties/{party}", "Change the local attributes of a party."),
    _read(
        "ledger",
        "external_party_topology",
        "POST /v2/parties/external/generate-topology",
        "Generate the topology transactions that an external party signs.",
    ),
    _write("ledger", "allocate_external_party", "POST /v2/parties/external/allocate", "Allocate an external party."),
)

USERS = (
    _read("ledger", "authenticated_user", "GET /v2/authenticated-user", "Read the user whom the token stands for."),
    _read("ledger", "users", "GET /v2/users", "List users."),
    _write("ledger", "create_user", "POST /v2/users", "Create a user."),
    _read("ledger", "user", "GET /v2/users/{user-id}", "Read a user."),
    _write("ledger", "update_user", "PATCH /v2/users/{user-id}", "Change a user."),
    _write("ledger", "delete_user", "DELETE /v2/users/{user-id}", "Delete a user."),
    _read("ledger", "user_rights", "GET /v2/users/{user-id}/rights", "List the rights of a user."),
    _write("ledger", "grant_rights", "POST /v2/users/{user-id}/rights", "Give rights to a user."),
    _write("ledger", "revoke_rights", "PATCH /v2/users/{user-id}/rights", "Take rights from a user."),
    _write(
        "ledger",
        "update_user_identity_provider",
        "PATCH /v2/users/{user-id}/identity-provider-id",
        "Move a user to another identity provider.",
    ),
    _read("ledger", "identity_providers", "GET /v2/idps", "List identity providers."),
    _write("ledger", "create_identity_provider", "POST /v2/idps", "Add an identity provider."),
    _read("ledger", "identity_provider", "GET /v2/idps/{idp-id}", "Read an identity provider."),
    _write("ledger", "update_identity_provider", "PATCH /v2/idps/{idp-id}", "Change an identity provider."),
    _write("ledger", "delete_identity_provider", "DELETE /v2/idps/{idp-id}", "Remove an identity provider."),
)

INTERACTIVE = (
    _read(
        "ledger", "prepare_submission", "POST /v2/interactive-submission/prepare", "Prepare a transaction for external signing."
    ),
    _write("ledger", "execute_submission", "POST /v2/interactive-submission/execute", "Submit a signed transaction."),
    _write(
        "ledger",
        "execute_and_wait",
        "POST /v2/interactive-submission/executeAndWait",
        "Submit a signed transaction and wait for its result.",
    ),
    _write(
        "ledger",
        "execute_and_wait_for_transaction",
        "POST /v2/interactive-submission/executeAndWaitForTransaction",
        "Submit a signed transaction, wait, and get the transaction.",
    ),
    _read(
        "ledger",
        "preferred_packages",
        "POST /v2/interactive-submission/preferred-packages",
        "Ask which packages to prefer for a submission.",
    ),
    _read(
        "ledger",
        "preferred_package_version",
        "GET /v2/interactive-submission/preferred-package-version",
        "Ask which version of one package to prefer.",
        deprecated="preferred_packages",
    ),
)

WALLET = (
    _write("wallet", "offer_transfer", "POST /v0/wallet/transfer-offers", "Offer a party a transfer of coin."),
    _read("wallet", "offers", "GET /v0/wallet/transfer-offers", "List the open offers, sent and received."),
    _read("wallet", "offer_status", "POST /v0/wallet/transfer-offers/{tracking_id}/status", "Ask how an offer fares."),
    _write("wallet", "accept", "POST /v0/wallet/transfer-offers/{contract_id}/accept", "Accept an offer."),
    _write("wallet", "reject", "POST /v0/wallet/transfer-offers/{contract_id}/reject", "Reject an offer.", "empty"),
    _write("wallet", "withdraw", "POST /v0/wallet/transfer-offers/{contract_id}/withdraw", "Withdraw an offer.", "empty"),
    _read("wallet", "accepted_offers", "GET /v0/wallet/accepted-transfer-offers", "List the accepted, unfinished offers."),
    _read("wallet", "balance", "GET /v0/wallet/balance", "Read the balance of the wallet."),
)

HISTORY = (
    _read("history", "event", "GET /v0/events/{update_id}", "Look one event up.", changed="0.5.15, 0.5.17, 0.6.0, 0.6.10"),
    _read("history", "events", "POST /v0/events", "List events.", since="0.4.21"),
    _read("history", "update", "GET /v2/updates/{update_id}", "Look one update up.", since="0.4.2"),
    _read("history", "updates", "POST /v2/updates", "List updates.", since="0.4.2"),
    _read(
        "history",
        "update_v1",
        "GET /v0/updates/{update_id}",
        "Look one update up in its old form, with an offset.",
        changed="0.5.17, 0.6.0",
        deprecated="update",
    ),
    _read("history", "name_rules", "POST /v0/ans-rules", "Read the rules of the name service."),
    _read("history", "price_votes", "GET /v0/coin-price/votes", "List the latest votes on the price of coin."),
    _read(
        "history",
        "bulk_object",
        "GET /v0/history/bulk/download/{object_key}",
        "Download a bulk object.",
        "bytes",
        since="0.5.16",
        changed="0.5.17",
    ),
    _read("history", "bulk_updates", "POST /v0/history/bulk/updates", "List bulk objects of updates.", since="0.5.16"),
    _read("history", "bulk_active_contracts", "GET /v0/history/bulk/acs", "List bulk objects of contracts.", since="0.5.16"),
    _read("history", "bulk_checksums", "POST /v0/history/bulk/checksums", "Read the digests of bulk objects.", since="0.5.16"),
    _read("history", "ready", "GET /readyz", "Ask whether the service is ready.", "empty"),
    _read("history", "live", "GET /livez", "Ask whether the service is alive.", "empty"),
)

OPERATIONS: tuple[Operation, ...] = (
    *UPDATES,
    *COMMANDS,
    *STATE,
    *PACKAGES,
    *PARTIES,
    *USERS,
    *INTERACTIVE,
    *WALLET,
    *HISTORY,
)

_BY_NAME = {(entry.api, entry.name): entry for entry in OPERATIONS}


def operation(api: Api, name: str) -> Operation:
    """Look an operation up by what the API's client calls it.

    Raises
    ------
    UsageError
        If the API has no such operation; the message lists what it has.
    """
    if (found := _BY_NAME.get((api, name))) is None:
        known = ", ".join(sorted(known for kind, known in _BY_NAME if kind == api))
        raise UsageError(f"The {api} API has no operation {name!r}. It has {known}.")
    return found
