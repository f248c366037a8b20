"""Checks of configuration, software, store and services, each with a next step."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, Literal
from urllib.parse import urlsplit

from ledgerframes.api.operation import Api
from ledgerframes.api.response import Response
from ledgerframes.api.transport import Transport, host_of
from ledgerframes.api.versions import TRIED, is_newer, met_version, service_info
from ledgerframes.errors import LedgerframesError, NotFoundError, StoreError, TransportError, UsageError
from ledgerframes.network import Network, connect
from ledgerframes.settings import ENVIRONMENT, FILE_NAME, GROUPS, SANDBOX, Settings, load_settings, setting_layers
from ledgerframes.store import Location
from ledgerframes.wallet import Journal

__all__ = ["Check", "Setting", "check_ledger_and_wallet", "check_services", "check_software", "check_store", "settings_in_use"]

Kind = Literal["configuration", "software", "store", "service"]
Status = Literal["ok", "warning", "failed"]

SECRET = "set, not shown"  # noqa: S105  (shown instead of a secret)
MAX_TIMEOUT = 10.0  # seconds, because a check that hangs does not help
CLOCK_TOLERANCE = 5.0  # seconds; a Date header has whole seconds
MIN_FREE_BYTES = 1_000_000_000
PROBE = "ledgerframes-doctor-probe"
EXTRAS = {"report": "nbclient", "lab": "jupyterlab"}


@dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes
    ----------
    kind : {"configuration", "software", "store", "service"}
    subject : str
        Object of the check, such as a host.
    status : {"ok", "warning", "failed"}
    message : str
        Result of the check.
    next_step : str
        Advice; empty if the status is ok.
    """

    kind: Kind
    subject: str
    status: Status
    message: str
    next_step: str = ""


@dataclass(frozen=True)
class Setting:
    """One setting in use with its origin, and without its value if it is a secret."""

    name: str
    value: str
    origin: str


# -- configuration ------------------------------------------------------------------------------------------------


def settings_in_use(settings: Settings, overrides: Mapping[str, Any]) -> list[Setting]:
    """Return every setting with its value and origin.

    Parameters
    ----------
    settings : Settings
        From :func:`ledgerframes.settings.load_settings`.
    overrides : mapping
        Keywords, or options of the command line.
    """
    layers = setting_layers(settings.profile, overrides)
    if os.environ.get(f"{ENVIRONMENT}PROFILE") == settings.profile:
        layers["environment"]["profile"] = settings.profile
    return [
        Setting(
            name,
            _format(name, value),
            next((_origin(layer, name, settings) for layer in layers if name in layers[layer]), "default"),
        )
        for name, value in _values(settings)
    ]


def _origin(layer: str, name: str, settings: Settings) -> str:
    names = {
        "keyword": "command line",
        "environment": f"{ENVIRONMENT}{name.upper()}",
        FILE_NAME: f"{FILE_NAME}, [{settings.profile}]",
    }
    return names[layer]


def _values(settings: Settings) -> Iterator[tuple[str, Any]]:
    for name in Settings.model_fields:
        if name in GROUPS:
            if name != "sandbox" or settings.profile == SANDBOX:
                yield from getattr(settings, name)
        else:
            yield name, getattr(settings, name)


def _format(name: str, value: Any) -> str:
    if name == "token":
        return SECRET if value else ""
    if name.endswith("_url"):
        # The query is omitted, because it may contain a key.
        return ", ".join(f"{parts.scheme}://{host_of(url)}{parts.path}" for url in value if (parts := urlsplit(url)))
    if name == "vocabulary":
        return f"coin={value.coin}, lang={value.lang}"
    return "" if value is None else str(value)


def check_software() -> list[Check]:
    """Check versions and optional packages."""
    names = ("ledgerframes", "pandas", "pyarrow")
    checks = [
        Check(
            "software",
            "versions",
            "ok",
            ", ".join([f"Python {python_version()}", *(f"{name} {version(name)}" for name in names)]),
        )
    ]
    missing = [extra for extra, module in EXTRAS.items() if importlib.util.find_spec(module) is None]
    if missing:
        command = f"pip install 'ledgerframes[{','.join(missing)}]'"
        checks.append(
            Check("software", "extras", "warning", f"Not installed: {', '.join(missing)}.", f"Install them with: {command}.")
        )
    return checks


# -- store --------------------------------------------------------------------------------------------------------


def check_store(net: Network) -> list[Check]:
    """Check catalog and journal, and that the store can be written."""
    directory = net.store.location.local_path
    writable = _object_store(net.store.location) if directory is None else _writable(directory)
    return [_catalog(net), _journal(Journal(net.local_dir)), writable]


def _catalog(net: Network) -> Check:
    """Check the file, and the record of each segment."""
    step = "Run `ledgerframes store rebuild`."
    try:
        problems = net.store.catalog.problems()
        segments = [] if problems else net.store.all_segments()
    except StoreError as error:
        return _failure("store", "catalog", error)
    if problems:
        return Check("store", "catalog", "failed", f"The catalog is damaged: {'; '.join(problems)}.", step)
    message = f"Intact. Segments: {len(segments):,}." if segments else "The store is empty."
    return Check("store", "catalog", "ok", message)


def _journal(journal: Journal) -> Check:
    """Check the journal of offers, which makes sure that no offer is made twice."""
    try:
        problems, offers = journal.problems(), len(journal.offers())
    except StoreError as error:
        return _failure("store", "journal", error)
    if problems:
        step = f"Restore {journal.path} from a backup. Without it, an offer could be made twice."
        return Check("store", "journal", "failed", f"The journal of offers is damaged: {'; '.join(problems)}.", step)
    return Check("store", "journal", "ok", f"Intact. Offers: {offers:,}." if journal.path.exists() else "No offers were made.")


def _object_store(location: Location) -> Check:
    """Check that a small object can be written and deleted."""
    try:
        with location.write(PROBE) as file:
            file.write(b"ledgerframes doctor")
        location.remove(PROBE)
    except StoreError as error:
        return _failure("store", "writable", error)
    return Check("store", "writable", "ok", f"{location}.")


def _writable(directory: Path) -> Check:
    """Check the directory, or its nearest parent if no write has created it yet."""
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=existing, prefix=".ledgerframes-doctor-"):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        step = "Set LEDGERFRAMES_STORE, or store in the profile, to a writable directory."
        return Check("store", "writable", "failed", f"Cannot write {existing}: {error.strerror or error}.", step)
    message = f"{directory}, {free / 1e9:,.1f} GB free."
    if free < MIN_FREE_BYTES:
        return Check("store", "writable", "warning", message, "Free disk space, or move the store with LEDGERFRAMES_STORE.")
    return Check("store", "writable", "ok", message)


# -- services -----------------------------------------------------------------------------------------------------


def check_services(net: Network, overrides: Mapping[str, Any]) -> list[Check]:
    """Check each host of the history API, its clock, its version and its list of events.

    The overrides are the keywords of the network's :func:`ledgerframes.connect`.
    """
    if net.offline:
        message = "Offline: the services were not checked."
        return [Check("service", "history", "warning", message, "Run again without --offline.")]
    urls = net.settings.history_url
    if not urls:
        step = f"Add history_url to [{net.settings.profile}] in ledgerframes.toml, or set LEDGERFRAMES_HISTORY_URL."
        return [Check("configuration", "history_url", "failed", "Not configured.", step)]
    if not load_settings(net.settings.profile, overrides).history_url:
        return _check_host(net, urls[0])  # the embedded sandbox, whose URL is not configured
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
        ready = transport.status(url, "/readyz")
    except UsageError as error:
        return [_failure("configuration", f"{host} reachable", error)]
    except TransportError as error:
        return [_failure("service", f"{host} reachable", error)]
    return [
        _ready(host, ready),
        _alive(host, transport, url),
        _version(host, transport, url),
        _clock(host, ready, datetime.now(UTC)),
        _listing(host, net),
    ]


def _ready(host: str, response: Response) -> Check:
    subject = f"{host} ready"
    if response.status == 200:
        return Check("service", subject, "ok", "Ready.")
    if response.status == 404:
        step = "Check that history_url is the API's base URL, with its path."
        return Check("service", subject, "warning", "/readyz does not exist.", step)
    step = "Try again later, or add a second host to the profile."
    return Check("service", subject, "failed", f"Not ready (status {response.status}).", step)


def _alive(host: str, transport: Transport, url: str) -> Check:
    subject = f"{host} alive"
    try:
        status = transport.status(url, "/livez").status
    except TransportError as error:
        return _failure("service", subject, error)
    if status == 200:
        return Check("service", subject, "ok", "Alive.")
    step = "Ask the operator, if other checks of this host fail, too."
    return Check("service", subject, "warning", f"/livez returned {status}.", step)


def _version(host: str, transport: Transport, url: str) -> Check:
    subject = f"{host} version"
    try:
        content = service_info(transport, url, "history")
    except TransportError:
        content = {}
    if not content:
        step = "Continue, unless responses cannot be decoded."
        return Check("service", subject, "warning", "The version is not available.", step)
    date = str(content.get("commit_ts", ""))[:10]
    return _compare("history", subject, f"{content['version']}{f' of {date}' if date else ''}", content["version"])


def _compare(api: Api, subject: str, text: str, version: str) -> Check:
    """Compare a version with those that this release was tried with."""
    message = f"{text}; this release was tried with {', '.join(TRIED[api])}."
    if not is_newer(api, version):
        return Check("service", subject, "ok", message)
    step = "Continue, and upgrade ledgerframes if a load says that the service sends new members."
    return Check("service", subject, "warning", message, step)


def _clock(host: str, response: Response, now: datetime) -> Check:
    """Check this machine's clock, to which date words and the provisional cutoff are relative."""
    subject = f"{host} clock"
    try:
        ahead = (now - parsedate_to_datetime(response.headers.get("Date", ""))).total_seconds()
    except (ValueError, TypeError):
        return Check("service", subject, "ok", "The host's time is not available.")
    if abs(ahead) <= CLOCK_TOLERANCE:
        return Check("service", subject, "ok", f"Within {CLOCK_TOLERANCE:g} s of this machine's clock.")
    message = f"This machine's clock is {abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} the host's."
    step = "Set this machine's clock: words such as yesterday depend on it."
    return Check("service", subject, "warning", message, step)


def _listing(host: str, net: Network) -> Check:
    subject = f"{host} events"
    try:
        events = net.history.events(page_size=1)
    except NotFoundError:
        step = "Load committed updates by id with update_ids= or --update-ids. Rejected requests are not visible."
        return Check("service", subject, "warning", "Events cannot be listed.", step)
    except LedgerframesError as error:
        return _failure("service", subject, error)
    return Check("service", subject, "ok", "Events can be listed." if events else "Events can be listed; there are none.")


# -- ledger and wallet --------------------------------------------------------------------------------------------


def check_ledger_and_wallet(net: Network, overrides: Mapping[str, Any]) -> list[Check]:
    """Check the configured participant, wallet and token with small requests.

    The overrides are the keywords of the network's :func:`ledgerframes.connect`.
    """
    if net.offline:
        return []
    configured = load_settings(net.settings.profile, overrides)
    checks = []
    with _reconnect(net, overrides) as quick:
        if configured.ledger_url:
            checks += _check_ledger(quick, host_of(configured.ledger_url[0]))
        if configured.wallet_url:
            checks += _check_wallet(quick, configured.wallet_url[0])
    return checks


def _check_ledger(net: Network, host: str) -> list[Check]:
    offsets = _check_call(f"{host} ledger", lambda: _describe_ledger(net))
    if offsets.status != "ok":
        return [offsets]
    version = net.ledger.version().version[:100]
    return [offsets, _compare("ledger", f"{host} ledger version", version, version)]


def _check_wallet(net: Network, url: str) -> list[Check]:
    host = host_of(url)
    balance = _check_call(f"{host} wallet", lambda: _describe_wallet(net))
    version = met_version(net.wallet.transport, url, "wallet") if balance.status == "ok" else ""
    return [balance, *([_compare("wallet", f"{host} wallet version", version, version)] if version else [])]


def _check_call(subject: str, describe: Callable[[], str]) -> Check:
    try:
        return Check("service", subject, "ok", describe())
    except LedgerframesError as error:
        return _failure("service", subject, error)


def _describe_ledger(net: Network) -> str:
    end, pruned = net.ledger.ledger_end(), net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    return f"Serves offsets after {pruned:,} through {end:,}."


def _describe_wallet(net: Network) -> str:
    net.wallet.balance()
    return "The token is accepted."


def _failure(kind: Kind, subject: str, error: LedgerframesError) -> Check:
    """Return a check from an error, whose last sentence is the next step."""
    message, _, step = str(error).rstrip(".").rpartition(". ")
    return Check(kind, subject, "failed", f"{message}.", f"{step}.") if message else Check(kind, subject, "failed", str(error))
