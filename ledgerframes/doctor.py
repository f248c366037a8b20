"""Checks of configuration, software, store and services, each with a next step."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, Literal
from urllib.parse import urlsplit

from ledgerframes.api.history_snapshots import parse_record_time
from ledgerframes.api.names import Api
from ledgerframes.api.response import Response
from ledgerframes.api.status_errors import service_error
from ledgerframes.api.transport import Transport, host_of
from ledgerframes.api.versions import TRIED, is_newer, met_version, service_info
from ledgerframes.errors import (
    DecodeError,
    LedgerframesError,
    NotFoundError,
    ServiceError,
    TransportError,
    UsageError,
    WrongUrlError,
)
from ledgerframes.installation import EXTRAS
from ledgerframes.network import Network, connect
from ledgerframes.settings import (
    ENVIRONMENT,
    FILE_NAME,
    GROUPS,
    SANDBOX,
    SandboxShape,
    Settings,
    load_settings,
    setting_layers,
    unknown_variables,
    variable_of,
)
from ledgerframes.store import Location
from ledgerframes.store.scan import REPAIR_STEP
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.windows import iso
from ledgerframes.wallet import Journal

__all__ = ["Check", "Setting", "check_ledger_and_wallet", "check_services", "check_software", "check_store", "settings_in_use"]

Kind = Literal["configuration", "software", "store", "service"]
Status = Literal["ok", "warning", "failed"]

SECRET = "set, not shown"  # noqa: S105  (shown instead of a secret)
MAX_TIMEOUT = 10.0  # seconds: a check that hangs is of no help
CLOCK_TOLERANCE = 5.0  # seconds; a Date header has whole seconds
MIN_FREE_BYTES = 1_000_000_000
PROBE = "ledgerframes-doctor-probe"


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
    values = [pair for name, value in settings for pair in (value if name in GROUPS else [(name, value)])]
    if settings.profile != SANDBOX:
        values = [(name, value) for name, value in values if name not in SandboxShape.model_fields]
    return [Setting(name, _format(name, value), _origin(layers, name, settings.profile)) for name, value in values]


def _origin(layers: Mapping[str, Mapping[str, Any]], name: str, profile: str) -> str:
    names = {
        "keyword": "command line",
        "environment": variable_of(name),
        FILE_NAME: f"{FILE_NAME}, [{profile}]",
    }
    return next((names[layer] for layer in layers if name in layers[layer]), "default")


def _format(name: str, value: Any) -> str:
    if name == "token":
        return SECRET if value else ""
    if name.endswith("_url"):
        # The query is omitted, because it may contain a key.
        return ", ".join(f"{parts.scheme}://{host_of(url)}{parts.path}" for url in value if (parts := urlsplit(url)))
    if name == "vocabulary":
        return f"coin={value.coin}, lang={value.lang}"
    return "" if value is None else str(value)


def check_environment() -> list[Check]:
    """Check that every environment variable that begins like a setting is one."""
    return [
        Check("configuration", name, "warning", "No setting has this name.", f"Did you mean {near}?" if near else "Unset it.")
        for name, near in unknown_variables().items()
    ]


def check_software() -> list[Check]:
    """Check versions and optional packages."""
    names = ("ledgerframes", "pandas", "pyarrow")
    versions = ", ".join([f"Python {python_version()}", *(f"{name} {version(name)}" for name in names)])
    checks = [Check("software", "versions", "ok", versions)]
    if missing := sorted({extra for module, extra in EXTRAS.items() if importlib.util.find_spec(module) is None}):
        step = f"Install them with: pip install 'ledgerframes[{','.join(missing)}]'."
        checks.append(Check("software", "extras", "warning", f"Not installed: {', '.join(missing)}.", step))
    return checks


# Status, message and, unless the status is ok, the next step.
Result = tuple[Status, str] | tuple[Status, str, str]


def _run(kind: Kind, subject: str, check: Callable[[], Result]) -> Check:
    try:
        return Check(kind, subject, *check())
    except LedgerframesError as error:
        return _failure(kind, subject, error)


def _failure(kind: Kind, subject: str, error: LedgerframesError) -> Check:
    """Return a check from an error, whose last sentence is the next step."""
    message, _, step = str(error).rstrip(".").rpartition(". ")
    return Check(kind, subject, "failed", f"{message}.", f"{step}.") if message else Check(kind, subject, "failed", str(error))


# -- store --------------------------------------------------------------------------------------------------------


def check_store(net: Network) -> list[Check]:
    """Check catalog and journal, and that the store can be written."""
    location = net.store.location
    return [
        _run("store", "catalog", lambda: _catalog(net)),
        _run("store", "journal", lambda: _journal(Journal(net.local_dir))),
        _run("store", "writable", lambda: _writable(location.local_path) if location.local_path else _object_store(location)),
    ]


def _catalog(net: Network) -> Result:
    """Check the catalog file, and the record of each segment."""
    if problems := net.store.catalog.problems():
        return "failed", f"The catalog is damaged: {'; '.join(problems)}.", "Run `ledgerframes store rebuild`."
    unreadable = [each for dataset in net.store.datasets.values() for each in net.store.unreadable(dataset)]
    if unreadable:
        message = f"{pluralize(len(unreadable), 'segment')} of another version, the first is {unreadable[0].name}"
        return "warning", f"Cannot read {message} ({unreadable[0].reason}).", REPAIR_STEP
    segments = net.store.all_segments()
    return "ok", f"Intact. Segments: {len(segments):,}." if segments else "The store is empty."


def _journal(journal: Journal) -> Result:
    """Check the journal of offers, which ensures that no offer is made twice."""
    problems, offers = journal.problems(), len(journal.offers())
    if problems:
        step = f"Restore {journal.path} from a backup. Without it, an offer could be made twice."
        return "failed", f"The journal of offers is damaged: {'; '.join(problems)}.", step
    return "ok", f"Intact. Offers: {offers:,}." if journal.path.exists() else "No offers were made."


def _object_store(location: Location) -> Result:
    """Check that a small object can be written and deleted."""
    with location.write(PROBE) as file:
        file.write(b"ledgerframes doctor")
    location.remove(PROBE)
    return "ok", f"{location}."


def _writable(directory: Path) -> Result:
    """Check the directory, or its nearest parent if no write has created it yet."""
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=existing, prefix=".ledgerframes-doctor-"):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        step = "Set LEDGERFRAMES_STORE, or store in the profile, to a writable directory."
        return "failed", f"Cannot write {existing}: {error.strerror or error}.", step
    message = f"{directory}, {free / 1e9:,.1f} GB free."
    if free < MIN_FREE_BYTES:
        return "warning", message, "Free disk space, or move the store with LEDGERFRAMES_STORE."
    return "ok", message


# -- services -----------------------------------------------------------------------------------------------------


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
        return [_failure("configuration", f"{host} reachable", error)]
    except TransportError as error:
        return [_failure("service", f"{host} reachable", error)]
    checks: dict[str, Callable[[], Result]] = {
        "ready": lambda: _ready(response),
        "alive": lambda: _alive(transport, url),
        "version": lambda: _version(transport, url),
        "clock": lambda: _clock(response, datetime.now(UTC)),
        "events": lambda: _listing(net),
        "completeness": lambda: _completeness(net),
    }
    return [_run("service", f"{host} {subject}", check) for subject, check in checks.items()]


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
    checks = [_run("service", subject, lambda: check(net))]
    if checks[0].status == "ok" and (version := met_version(getattr(net, api).transport, url, api)):
        checks.append(Check("service", f"{subject} version", *_compare(api, version, version)))
    return checks


def _offsets(net: Network) -> Result:
    end, pruned = net.ledger.ledger_end(), net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    return "ok", f"Serves offsets after {pruned:,} through {end:,}."


def _balance(net: Network) -> Result:
    net.wallet.balance()
    return "ok", "The token is accepted."
