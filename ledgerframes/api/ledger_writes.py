"""The ledger API's operations that have an effect: the body is passed on as it is, and sent once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgerframes.api.ledger_calls import LedgerCalls
from ledgerframes.errors import UsageError

Json = Mapping[str, Any]

__all__ = ["LedgerWrites"]


class LedgerWrites(LedgerCalls):
    """Operations with an effect: sent once, to the first host; an error leaves open whether it was done.

    The bodies are those of the ledger API's own reference, passed on untouched; the answers are the decoded JSON
    (docs/facts.md#ledger-operations).
    """

    # -- commands -----------------------------------------------------------------------------------------------------

    def submit_and_wait(self, commands: Json) -> Any:
        """Submit a command (JsCommands) and wait: ``updateId`` and ``completionOffset``.

        Raises
        ------
        LedgerError
            If it failed; ``definite_answer`` says whether it certainly had no effect, and the completion tells in any case.
        """
        return self.call("submit_and_wait", body=commands)

    def submit_and_wait_for_transaction(self, request: Json) -> Any:
        """Submit ``commands`` (with an optional ``transactionFormat``) and wait: the ``transaction``."""
        return self.call("submit_and_wait_for_transaction", body=request)

    def submit_and_wait_for_reassignment(self, request: Json) -> Any:
        """Submit ``reassignmentCommands`` (with an optional ``eventFormat``) and wait: the ``reassignment``."""
        return self.call("submit_and_wait_for_reassignment", body=request)

    def submit_and_wait_for_transaction_tree(self, commands: Json) -> Any:
        """Submit a command and wait for the tree; deprecated for :meth:`submit_and_wait_for_transaction`."""
        return self.call("submit_and_wait_for_transaction_tree", body=commands)

    def async_submit(self, commands: Json) -> Any:
        """Submit a command (JsCommands) without waiting; its completion tells how it ended."""
        return self.call("async_submit", body=commands)

    def async_submit_reassignment(self, request: Json) -> Any:
        """Submit ``reassignmentCommands`` without waiting."""
        return self.call("async_submit_reassignment", body=request)

    # -- parties ------------------------------------------------------------------------------------------------------

    def allocate_party(self, request: Json) -> Any:
        """Allocate a party on this participant."""
        return self.call("allocate_party", body=request)

    def update_party(self, party: str, request: Json) -> Any:
        """Change the participant-local attributes of a party."""
        return self.call("update_party", body=request, party=party)

    def external_party_topology(self, request: Json) -> Any:
        """Generate the topology transactions that an external party signs; changes nothing, so it is tried again."""
        return self.call("external_party_topology", body=request)

    def allocate_external_party(self, request: Json) -> Any:
        """Allocate an external party, with its signed topology transactions."""
        return self.call("allocate_external_party", body=request)

    # -- packages -----------------------------------------------------------------------------------------------------

    def upload_dar(self, dar: bytes, *, vet_all_packages: bool | None = None, synchronizer_id: str | None = None) -> Any:
        """Upload a DAR.

        Parameters
        ----------
        dar : bytes
        vet_all_packages : bool, optional
            Vet its packages too; the participant's default if not given.
        synchronizer_id : str, optional
            Where to vet them.
        """
        return self.call("upload_dar", params=_dar_query(vet_all_packages, synchronizer_id), body=_dar(dar))

    def upload_package(self, dar: bytes, *, vet_all_packages: bool | None = None, synchronizer_id: str | None = None) -> Any:
        """Upload a DAR under its old path; deprecated for :meth:`upload_dar`."""
        return self.call("upload_package", params=_dar_query(vet_all_packages, synchronizer_id), body=_dar(dar))

    def validate_dar(self, dar: bytes, *, synchronizer_id: str | None = None) -> Any:
        """Check a DAR, and whether it can upgrade what is vetted on a synchronizer; nothing is uploaded."""
        return self.call("validate_dar", params={"synchronizerId": synchronizer_id}, body=_dar(dar))

    def update_vetting(self, request: Json) -> Any:
        """Change which packages the participant has vetted: ``pastVettedPackages`` and ``newVettedPackages``."""
        return self.call("update_vetting", body=request)

    def post_package_vetting(self, request: Json) -> Any:
        """POST /v2/package-vetting, which the order lists without a description."""
        return self.call("post_package_vetting", body=request)


def _dar_query(vet_all_packages: bool | None, synchronizer_id: str | None) -> dict[str, Any]:
    return {"vetAllPackages": vet_all_packages, "synchronizerId": synchronizer_id}


def _dar(dar: bytes) -> bytes:
    if not isinstance(dar, bytes) or not dar:
        raise UsageError("A DAR is given as its bytes, such as Path('app.dar').read_bytes().")
    return dar
