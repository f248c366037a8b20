"""Checks whether a URL is the base of an API, for routes that were not found."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ledgerframes.api.status_errors import is_unknown_id
from ledgerframes.api.transport import Transport, host_of
from ledgerframes.api.versions import service_info
from ledgerframes.errors import NotFoundError, TransportError, WrongUrlError

if TYPE_CHECKING:
    from ledgerframes.api.names import Api

__all__ = ["wrong_url_error"]

WALLET_PATH = "/v0/wallet/balance"


def wrong_url_error(transport: Transport, api: Api, path: str, error: NotFoundError) -> WrongUrlError | None:
    """Return the error for a wrong base URL, or None if only the route is missing.

    `path` is one that every version of the API has. Without it, the result is None.
    """
    if not path:
        return None
    urls = [url for url in transport.urls if host_of(url) == error.host]
    url = next((url for url in urls if not _is_base(transport, url, api, path)), None)
    if url is None:
        return None
    parts, reason = urlsplit(url), f" ({error.detail})" if error.detail else ""
    routes = f"no {error.endpoint}{reason}" if error.endpoint == f"GET {path}" else f"neither {error.endpoint}{reason} nor {path}"
    message = (
        f"{parts.scheme}://{error.host}{parts.path} is not the base URL of a {api} API: it has {routes}. "
        f"Set {api}_url= to the API's base, with its path."
    )
    return WrongUrlError(message, endpoint=error.endpoint, host=error.host, status=error.status, detail=error.detail)


def _is_base(transport: Transport, url: str, api: Api, path: str) -> bool:
    """Return whether a URL is a base, and remember the result."""
    if url in transport.base_urls:
        return True
    try:
        response = transport.status(url, path)
        # An API that answers is there: a wallet returns 404 to a user without one (docs/facts.md#transfer-offers).
        is_base = response.status != 404 or is_unknown_id(transport.error_factory(response)) or _is_known(transport, url, api)
    except TransportError:
        return True  # for all that is known
    if is_base:
        transport.base_urls.add(url)
    return is_base


def _is_known(transport: Transport, url: str, api: Api) -> bool:
    """Return whether a host has a version, and is not a wallet, which has one, too."""
    return api != "wallet" and bool(service_info(transport, url, api)) and transport.status(url, WALLET_PATH).status == 404
