"""Whether a URL is the base of an API, for routes that were not found."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ledgerframes.api.transport import Transport, host_of
from ledgerframes.api.versions import service_info
from ledgerframes.errors import NotFoundError, TransportError, WrongUrlError

if TYPE_CHECKING:
    from ledgerframes.api.operation import Api

__all__ = ["wrong_url_error"]


def wrong_url_error(transport: Transport, api: Api, path: str, error: NotFoundError) -> WrongUrlError | None:
    """Return the error for a wrong base URL, or None if only the route is missing.

    A host has its version, or `path`, below the base URL. Without a path, nothing can be said.
    """
    if not path:
        return None
    urls = [url for url in transport.urls if host_of(url) == error.host]
    url = next((url for url in urls if not _is_base(transport, url, api, path)), None)
    if url is None:
        return None
    parts, reason = urlsplit(url), f" ({error.detail})" if error.detail else ""
    message = (
        f"{parts.scheme}://{error.host}{parts.path} is not the base URL of a {api} API: it has neither {error.endpoint}{reason} "
        f"nor /version. Set {api}_url= to the API's base, with its path."
    )
    return WrongUrlError(message, endpoint=error.endpoint, host=error.host, status=error.status, detail=error.detail)


def _is_base(transport: Transport, url: str, api: Api, path: str) -> bool:
    """Return whether a URL is a base, which is remembered."""
    if url in transport.base_urls:
        return True
    try:
        is_base = bool(service_info(transport, url, api)) or transport.status(url, path).status != 404
    except TransportError:
        return True  # for all that is known
    if is_base:
        transport.base_urls.add(url)
    return is_base
