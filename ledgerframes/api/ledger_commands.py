"""The ledger API's operations on commands and packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledgerframes.api.ledger_checks import require_page_size
from ledgerframes.api.ledger_client import LedgerClient
from ledgerframes.api.operation import Request, members, operation
from ledgerframes.datasets.state.wire import VettedPackages, VettedPackagesPage
from ledgerframes.errors import UsageError

__all__ = ["LedgerCommands"]

Json = Mapping[str, Any]


class LedgerCommands(LedgerClient):
    """Operations on commands, interactive submissions and packages.

    Bodies are those of the ledger API's reference, and responses are decoded JSON.
    """

    # -- commands -----------------------------------------------------------------------------------------------------

    @operation("POST /v2/commands/submit-and-wait", since="3.4", changed="3.5")
    def submit_and_wait(self, commands: Json) -> Any:
        """Submit a command and wait for its result.

        Parameters
        ----------
        commands : mapping
            ``JsCommands``. The result has ``updateId`` and ``completionOffset``.

        Raises
        ------
        ServiceError
            If the command failed. ``definite_answer`` is True if it certainly had no effect.

        Notes
        -----
        ``POST /v2/commands/submit-and-wait``, since 3.4.
        """

    @operation("POST /v2/commands/submit-and-wait-for-transaction", since="3.4", changed="3.5")
    def submit_and_wait_for_transaction(self, request: Json) -> Any:
        """Submit a command, with an optional transaction format, and wait for the transaction.

        Notes
        -----
        ``POST /v2/commands/submit-and-wait-for-transaction``, since 3.4.
        """

    @operation("POST /v2/commands/submit-and-wait-for-reassignment", since="3.4", changed="3.5")
    def submit_and_wait_for_reassignment(self, request: Json) -> Any:
        """Submit a reassignment, with an optional event format, and wait for the reassignment.

        Notes
        -----
        ``POST /v2/commands/submit-and-wait-for-reassignment``, since 3.4.
        """

    @operation(
        "POST /v2/commands/submit-and-wait-for-transaction-tree",
        deprecated="submit_and_wait_for_transaction, with a transaction format",
    )
    def submit_and_wait_for_transaction_tree(self, commands: Json) -> Any:
        """Submit a command and wait for the transaction tree.

        Notes
        -----
        ``POST /v2/commands/submit-and-wait-for-transaction-tree``, deprecated.
        """

    @operation("POST /v2/commands/async/submit", since="3.4", changed="3.5")
    def async_submit(self, commands: Json) -> Any:
        """Submit a command without waiting for its completion.

        Notes
        -----
        ``POST /v2/commands/async/submit``, since 3.4.
        """

    @operation("POST /v2/commands/async/submit-reassignment", since="3.4", changed="3.5")
    def async_submit_reassignment(self, request: Json) -> Any:
        """Submit a reassignment without waiting for its completion.

        Notes
        -----
        ``POST /v2/commands/async/submit-reassignment``, since 3.4.
        """

    # -- interactive submission ---------------------------------------------------------------------------------------

    @operation("POST /v2/interactive-submission/prepare", read_only=True)
    def prepare_submission(self, request: Json) -> Any:
        """Prepare a transaction for external signing.

        Notes
        -----
        ``POST /v2/interactive-submission/prepare``.
        """

    @operation("POST /v2/interactive-submission/execute")
    def execute_submission(self, request: Json) -> Any:
        """Submit a signed transaction.

        Notes
        -----
        ``POST /v2/interactive-submission/execute``.
        """

    @operation("POST /v2/interactive-submission/executeAndWait")
    def execute_and_wait(self, request: Json) -> Any:
        """Submit a signed transaction and wait for its result.

        Notes
        -----
        ``POST /v2/interactive-submission/executeAndWait``.
        """

    @operation("POST /v2/interactive-submission/executeAndWaitForTransaction")
    def execute_and_wait_for_transaction(self, request: Json) -> Any:
        """Submit a signed transaction and wait for the transaction.

        Notes
        -----
        ``POST /v2/interactive-submission/executeAndWaitForTransaction``.
        """

    @operation("POST /v2/interactive-submission/preferred-packages", read_only=True)
    def preferred_packages(self, request: Json) -> Any:
        """Return the preferred packages for a submission.

        Notes
        -----
        ``POST /v2/interactive-submission/preferred-packages``.
        """

    @operation("GET /v2/interactive-submission/preferred-package-version", until="3.6", deprecated="preferred_packages")
    def preferred_package_version(self, query: Json) -> Any:
        """Return the preferred version of one package.

        Notes
        -----
        ``GET /v2/interactive-submission/preferred-package-version``, removed in 3.6, deprecated.
        """

    # -- packages -----------------------------------------------------------------------------------------------------

    @operation("GET /v2/packages", returns=list[str], member="packageIds")
    def packages(self) -> Any:
        """List the ids of all packages that the participant supports.

        Notes
        -----
        ``GET /v2/packages``.
        """

    @operation("GET /v2/packages/{package-id}", returns=bytes)
    def package(self, package_id: str) -> Any:
        """Download one package.

        Notes
        -----
        ``GET /v2/packages/{package-id}``.
        """

    @operation("GET /v2/packages/{package-id}/status", returns=str, member="packageStatus")
    def package_status(self, package_id: str) -> Any:
        """Return the status of a package, such as PACKAGE_STATUS_REGISTERED.

        Notes
        -----
        ``GET /v2/packages/{package-id}/status``.
        """

    @operation("POST /v2/dars")
    def upload_dar(self, dar: bytes, *, vet_all_packages: bool | None = None, synchronizer_id: str | None = None) -> Request:
        """Upload a DAR.

        Parameters
        ----------
        dar : bytes
        vet_all_packages : bool, optional
            Also vet the packages of the DAR; by default as the participant is configured.
        synchronizer_id : str, optional
            Synchronizer to vet them on.

        Notes
        -----
        ``POST /v2/dars``.
        """
        return _dar_request(dar, vetAllPackages=vet_all_packages, synchronizerId=synchronizer_id)

    @operation("POST /v2/dars/validate", read_only=True)
    def validate_dar(self, dar: bytes, *, synchronizer_id: str | None = None) -> Request:
        """Check a DAR and its upgrades of vetted packages, without uploading it.

        Notes
        -----
        ``POST /v2/dars/validate``.
        """
        return _dar_request(dar, synchronizerId=synchronizer_id)

    @operation("POST /v2/packages", deprecated="upload_dar")
    def upload_package(self, dar: bytes, *, vet_all_packages: bool | None = None, synchronizer_id: str | None = None) -> Request:
        """Upload a DAR through the old path.

        Notes
        -----
        ``POST /v2/packages``, deprecated.
        """
        return _dar_request(dar, vetAllPackages=vet_all_packages, synchronizerId=synchronizer_id)

    @operation("POST /v2/package-vetting/list", returns=VettedPackagesPage, read_only=True)
    def vetted_packages_page(
        self,
        *,
        page_token: str | None = None,
        page_size: int | None = None,
        package_filter: Json | None = None,
        topology_filter: Json | None = None,
    ) -> Request:
        """Return a page of the packages that each participant vetted on each synchronizer.

        Any authenticated user may call this operation.

        Parameters
        ----------
        page_token : str, optional
            From the page before.
        page_size : int, optional
        package_filter, topology_filter : mapping, optional
            ``packageMetadataFilter`` and ``topologyStateFilter``.

        Notes
        -----
        ``POST /v2/package-vetting/list``.
        """
        body = members(
            packageMetadataFilter=package_filter,
            topologyStateFilter=topology_filter,
            pageToken=page_token,
            pageSize=require_page_size(page_size, "page_size"),
        )
        return Request(body=body)

    def vetted_packages(
        self, *, page_size: int | None = None, package_filter: Json | None = None, topology_filter: Json | None = None
    ) -> Iterator[VettedPackages]:
        """Iterate over all vetted packages, page by page as in :meth:`vetted_packages_page`."""
        filters = {"package_filter": package_filter, "topology_filter": topology_filter}
        return self._iter_items("vetted_packages_page", "vetted_packages", page_size=page_size, **filters)

    @operation("GET /v2/package-vetting", until="3.6", deprecated="vetted_packages_page")
    def vetted_packages_page_by_get(self, request: Json | None = None) -> Request:
        """Return a page of vetted packages by GET with a body.

        Notes
        -----
        ``GET /v2/package-vetting``, removed in 3.6, deprecated.
        """
        return Request(body=request or {})

    @operation("POST /v2/package-vetting/update")
    def update_vetting(self, request: Json) -> Any:
        """Change the vetted packages, and return the past and the new ones.

        Notes
        -----
        ``POST /v2/package-vetting/update``.
        """

    @operation("POST /v2/package-vetting", until="3.6", deprecated="update_vetting")
    def post_package_vetting(self, request: Json) -> Any:
        """Call an operation that the API lists without a description.

        Notes
        -----
        ``POST /v2/package-vetting``, removed in 3.6, deprecated.
        """


def _dar_request(dar: bytes, **query: object) -> Request:
    if not isinstance(dar, bytes) or not dar:
        raise UsageError(f"dar= must be bytes, such as Path('app.dar').read_bytes(), got {type(dar).__name__}.")
    return Request(query=query, body=dar)
