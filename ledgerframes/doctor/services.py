"""Checks of the configured services, with small requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from ledgerframes.api.history_snapshots import parse_record_time
from ledgerframes.api.names import Api
from ledgerframes.api.response import Response
from ledgerframes.api.status_errors import service_error
from ledgerframes.api.transport import Transport, host_of
from ledgerframes.api.versions import TRIED, is_newer, met_version, service_info
from ledgerframes.api.vocabularies import find_vocabulary
from ledgerframes.doctor.checks import Check, Result, failed_check, run_check
from ledgerframes.errors import DecodeError, NotFoundError, ServiceError, TransportError, UsageError, WrongUrlError
from ledgerframes.network import Network, connect
from ledgerframes.settings import load_settings
from ledgerframes.values.windows import iso

MAX_TIMEOUT = 10.0  # seconds: a check that hangs is of no help
CLOCK_TOLERANCE = 5.0  # seconds; a Date header has whole seconds


def check_services(net: Network, overrides: Mapping[str, Any]) -> list[Check]:
    """Check each host of the history API, its clock, its version and its list of events.

    The overrides are the keywords of the network's :func:`ledgerframes.connect`.
    """
    if net.offline:
        message = "Offline: the services were not checked."
        return [Check("service", "history", "warning", message, "Run again without --offline.")]
    urls = net.settings.history_url
    if not urls and (net.settings.ledger_url or net.settings.wallet_url):
        return []  # a profile of only a participant
    if not urls:
        step = f"Add history_url to [{net.settings.profile}] in ledgerframes.toml, or set LEDGERFRAMES_HISTORY_URL."
        return [Check("configuration", "history_url", "failed", "Not configured.", step)]
    if not load_settings(net.settings.profile, overrides).history_url:
        return _check_host(net, urls[0])  # The embedded sandbox has no configured URL.
    checks = []
    for url in urls:
        with _reconnect(net, overrides, history_url=url) as single:
            checks += _check_host(single, url)
    return checks


def _reconnect(net: Network, overrides: Mapping[str, Any], **settings: str) -> Network:
    """Return the same network with a short timeout and no retries."""
    timeout = min(MAX_TIMEOUT, net.settings.limits.timeout)
    return connect(net.settings.profile, **{**overrides, **settings, "timeout": timeout, "retries": 0})


def _check_host(net: Network, url: str) -> list[Check]:
    host = host_of(url)
    try:
        transport = net.history.transport
        response = transport.status(url, "/readyz")
    except UsageError as error:
        return [failed_check("configuration", f"{host} reachable", error)]
    except TransportError as error:
        return [failed_check("service", f"{host} reachable", error)]
    checks: dict[str, Callable[[], Result]] = {
        "ready": lambda: _ready(response),
        "alive": lambda: _alive(transport, url),
        "version": lambda: _version(transport, url),
        "clock": lambda: _clock(response, datetime.now(UTC)),
        "events": lambda: _listing(net),
        "completeness": lambda: _completeness(net),
    }
    service = [run_check("service", f"{host} {subject}", check) for subject, check in checks.items()]
    return [*service, run_check("configuration", f"{host} vocabulary", lambda: _vocabulary(net))]


def _ready(response: Response) -> Result:
    if response.status == 200:
        return "ok", "Ready."
    if response.status == 404:
        return "warning", "/readyz does not exist.", "Check that history_url is the API's base URL, with its path."
    if response.status // 100 == 3:
        raise service_error(response)
    step = "Try again later, or add a second host to the profile."
    return "failed", f"Not ready (status {response.status}).", step


def _alive(transport: Transport, url: str) -> Result:
    status = transport.status(url, "/livez").status
    if status == 200:
        return "ok", "Alive."
    return "warning", f"/livez returned {status}.", "If other checks of this host fail, too, ask the operator."


def _version(transport: Transport, url: str) -> Result:
    try:
        content = service_info(transport, url, "history")
    except TransportError:
        content = {}
    if not content:
        return "warning", "The version is not available.", "Continue, unless responses cannot be decoded."
    date = str(content.get("commit_ts", ""))[:10]
    return _compare("history", f"{content['version']}{f' of {date}' if date else ''}", content["version"])


def _compare(api: Api, text: str, version: str) -> Result:
    """Compare a version with the versions that this release was tried with."""
    message = f"{text}. This release was tried with {', '.join(TRIED[api])}."
    if not is_newer(api, version):
        return "ok", message
    return "warning", message, "Continue, and upgrade ledgerframes if a load says that the service sends new members."


def _clock(response: Response, now: datetime) -> Result:
    """Check this machine's clock, on which date words and the provisional cutoff depend."""
    try:
        ahead = (now - parsedate_to_datetime(response.headers.get("Date", ""))).total_seconds()
    except (ValueError, TypeError):
        return "ok", "The host's time is not available."
    if abs(ahead) <= CLOCK_TOLERANCE:
        return "ok", f"Within {CLOCK_TOLERANCE:g} s of this machine's clock."
    message = f"This machine's clock is {abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} the host's."
    return "warning", message, "Set this machine's clock: words such as yesterday depend on it."


def _listing(net: Network) -> Result:
    try:
        events = net.history.events(page_size=1)
    except WrongUrlError:
        raise
    except NotFoundError:
        step = "Load committed updates by id with update_ids= or --update-ids. Rejected requests are not visible."
        return "warning", "Events cannot be listed.", step
    return "ok", "Events can be listed." if events else "Events can be listed, but there are none."


def _completeness(net: Network) -> Result:
    """Check what the host reports to the network's own nodes, which an operator may hide."""
    try:
        is_complete, upgrade = net.history.is_backfilled(), net.history.upgrade()
        ahead = f", which is upgraded at {iso(parse_record_time(upgrade.upgrade_time))}" if upgrade else ""
    except WrongUrlError:
        raise
    except (ServiceError, DecodeError):
        return "ok", "The host does not say whether it has all of the history."
    if not is_complete:
        return "warning", "A part of the history is missing on this host.", "Load that part from a second host, or later."
    return "ok", f"The host has all of the history of the synchronizer{ahead}."


def _vocabulary(net: Network) -> Result:
    """Check the word for the coin, without which analyses would find no coin at all."""
    own = net.settings.vocabulary
    accepted = find_vocabulary(net.history.transport, own)
    if accepted is None:
        return "ok", "The host does not say which words the network uses."
    if accepted.coin != own.coin:
        message = f"The network calls its coin {accepted.coin!r}, not {own.coin!r}."
        return "failed", message, f'Set vocabulary = "{accepted.setting}".'
    return "ok", f"The network calls its coin {own.coin!r}."


# -- ledger and wallet --------------------------------------------------------------------------------------------


def check_ledger_and_wallet(net: Network, overrides: Mapping[str, Any]) -> list[Check]:
    """Check the configured participant, wallet and token with small requests.

    The overrides are the keywords of the network's :func:`ledgerframes.connect`.
    """
    if net.offline:
        return []
    configured = load_settings(net.settings.profile, overrides)
    with _reconnect(net, overrides) as quick:
        ledger = [check for url in configured.ledger_url[:1] for check in _check_api(quick, "ledger", url, _offsets)]
        wallet = [check for url in configured.wallet_url[:1] for check in _check_api(quick, "wallet", url, _balance)]
    return ledger + wallet


def _check_api(net: Network, api: Literal["ledger", "wallet"], url: str, check: Callable[[Network], Result]) -> list[Check]:
    """Check one request, and the version if the host reports one."""
    subject = f"{host_of(url)} {api}"
    checks = [run_check("service", subject, lambda: check(net))]
    if checks[0].status == "ok" and (version := met_version(getattr(net, api).transport, url, api)):
        checks.append(Check("service", f"{subject} version", *_compare(api, version, version)))
    return checks


def _offsets(net: Network) -> Result:
    end, pruned = net.ledger.ledger_end(), net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    return "ok", f"Serves offsets after {pruned:,} through {end:,}."


def _balance(net: Network) -> Result:
    net.wallet.balance()
    return "ok", "The token is accepted."
