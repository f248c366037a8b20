"""Whether a URL is the base of the history API, for routes that were not found."""

from __future__ import annotations

from urllib.parse import urlsplit

from ledgerframes.api.history import History
from ledgerframes.api.transport import host_of
from ledgerframes.api.versions import service_info
from ledgerframes.errors import ServiceError, TransportError, UsageError

__all__ = ["wrong_base_error"]


def wrong_base_error(history: History, error: ServiceError) -> UsageError | None:
    """Return the error for a wrong base URL, or None if only the route is missing."""
    if error.status != 404:
        return None
    url = next((url for url in history.transport.urls if host_of(url) == error.host), "")
    if not url or _is_base(history, url):
        return None
    parts = urlsplit(url)
    return UsageError(
        f"{parts.scheme}://{error.host}{parts.path} is not the base URL of a history API: it has neither {error.endpoint} nor "
        "/version. Set history_url= to the API's base, with its path."
    )


def _is_base(history: History, url: str) -> bool:
    """Return whether a version or the price votes are below a URL.

    Hosts had both before they listed events.
    """
    path = history.operations["price_votes"].fill_path({"coin": history.coin})
    try:
        return bool(service_info(history.transport, url, "history")) or history.transport.status(url, path).status != 404
    except TransportError:
        return True  # for all that is known
