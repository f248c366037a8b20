"""The doctor: looks at configuration, store and services, and says what to do. It prints nothing."""

from __future__ import annotations

import importlib.util
import json
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

from ledgerframes.api.transport import Probe, Transport, host_of
from ledgerframes.errors import LedgerframesError, NotFoundError, StoreError, TransportError, UsageError
from ledgerframes.network import Network, connect
from ledgerframes.settings import ENVIRONMENT, GROUPS, SANDBOX, Settings, load_settings, profiles
from ledgerframes.store import Location

__all__ = ["Check", "Setting", "check_ledger_and_wallet", "check_services", "check_software", "check_store", "settings_in_use"]

Kind = Literal["configuration", "software", "store", "service"]
Status = Literal["ok", "warning", "failed"]

SECRET = "set, not shown"  # noqa: S105  (what is shown instead of a secret)
PATIENCE = 10.0  # seconds to wait for a host: a doctor that hangs helps nobody
CLOCK_TOLERANCE = 5.0  # seconds; a Date header is cut to the second
LITTLE_SPACE = 1_000_000_000  # bytes
PROBE = "ledgerframes-doctor-probe"
EXTRAS = {"report": "nbclient", "lab": "jupyterlab"}


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes
    ----------
    kind : {"configuration", "software", "store", "service"}
    subject : str
        What was looked at, such as a host.
    status : {"ok", "warning", "failed"}
    message : str
        What was found.
    next_step : str
        What to do about it; empty when all is well.
    """

    kind: Kind
    subject: str
    status: Status
    message: str
    next_step: str = ""


@dataclass(frozen=True)
class Setting:
    """One setting in use, and where it came from; a secret is not shown."""

    name: str
    value: str
    origin: str


# -- configuration ------------------------------------------------------------------------------------------------


def settings_in_use(settings: Settings, overrides: Mapping[str, Any]) -> list[Setting]:
    """Every setting with its value and origin.

    Parameters
    ----------
    settings : Settings
        As :func:`ledgerframes.settings.load_settings` put them together.
    overrides : mapping
        What was given by keyword or on the command line.
    """
    section = profiles().get(settings.profile, {})
    named = section | {name: value for group in GROUPS for name, value in section.get(group, {}).items()}
    rows = []
    for name, value in _values(settings):
        variable = f"{ENVIRONMENT}{name.upper()}"
        # The same order as in load_settings.
        if name in overrides:
            origin = "command line"
        elif os.environ.get(variable):
            origin = variable
        elif name in named:
            origin = f"ledgerframes.toml, [{settings.profile}]"
        else:
            origin = "default"
        rows.append(Setting(name, _shown(name, value), origin))
    return rows


def _values(settings: Settings) -> Iterator[tuple[str, Any]]:
    for name in Settings.model_fields:
        if name in GROUPS:
            if name != "sandbox" or settings.profile == SANDBOX:
                yield from getattr(settings, name)
        else:
            yield name, getattr(settings, name)


def _shown(name: str, value: Any) -> str:
    if name == "token":
        return SECRET if value else ""
    if name.endswith("_url"):
        # Without the query: it may hold a key.
        return ", ".join(f"{parts.scheme}://{host_of(url)}{parts.path}" for url in value if (parts := urlsplit(url)))
    if name == "vocabulary":
        return f"coin={value.coin}, lang={value.lang}"
    return "" if value is None else str(value)


def check_software() -> list[Check]:
    """Versions, and which optional parts are installed."""
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
            Check("software", "extras", "warning", f"Not installed: {', '.join(missing)}.", f"To have them: {command}.")
        )
    return checks


# -- store --------------------------------------------------------------------------------------------------------


def check_store(net: Network) -> list[Check]:
    """Whether the store can be read and written, and how much room it has. Creates nothing that stays."""
    folder = net.store.location.local_path
    return [_catalog(net), _object_store(net.store.location) if folder is None else _writable(folder)]


def _catalog(net: Network) -> Check:
    try:
        stored = net.store.migrations() or net.store.participant()
    except StoreError as error:
        return _failure("store", "catalog", error)
    return Check("store", "catalog", "ok", "Readable." if stored else "Nothing is stored yet.")


def _object_store(place: Location) -> Check:
    """Whether a small object can be written; it is deleted again."""
    try:
        with place.write(PROBE) as file:
            file.write(b"ledgerframes doctor")
        place.remove(PROBE)
    except StoreError as error:
        return _failure("store", "writable", error)
    return Check("store", "writable", "ok", f"{place}.")


def _writable(folder: Path) -> Check:
    """The folder itself, or the nearest one above it: the store's folder appears at its first write."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".ledgerframes-doctor-"):
            free = shutil.disk_usage(place).free
    except OSError as error:
        step = "Set LEDGERFRAMES_STORE, or store= in the profile, to a folder that can be written."
        return Check("store", "writable", "failed", f"{place} cannot be written ({error.strerror or error}).", step)
    message = f"{folder}, {free / 1e9:,.1f} GB free."
    if free < LITTLE_SPACE:
        return Check("store", "writable", "warning", message, "Make room, or move the store with LEDGERFRAMES_STORE.")
    return Check("store", "writable", "ok", message)


# -- services -----------------------------------------------------------------------------------------------------


def check_services(net: Network, overrides: Mapping[str, Any]) -> list[Check]:
    """Ask each host of the history API whether it is there, ready and alive, its version, its time, and for one event.

    Parameters
    ----------
    net : Network
    overrides : mapping
        What the network was connected with.
    """
    if net.offline:
        return [Check("service", "history", "warning", "Offline: the services were not asked.", "Run again without offline.")]
    urls = net.settings.history_url
    if not urls:
        step = f"Add history_url to [{net.settings.profile}] in ledgerframes.toml, or set LEDGERFRAMES_HISTORY_URL."
        return [Check("configuration", "history_url", "failed", "Not configured.", step)]
    if not load_settings(net.settings.profile, overrides).history_url:
        return _check_host(net, urls[0])  # the embedded sandbox: it has an address, but nobody configured it
    checks = []
    for url in urls:
        with _alone(net, url, overrides) as alone:
            checks += _check_host(alone, url)
    return checks


def _alone(net: Network, url: str, overrides: Mapping[str, Any]) -> Network:
    """The same network, with one host and little patience."""
    patience = min(PATIENCE, net.settings.limits.timeout)
    return connect(net.settings.profile, **{**overrides, "history_url": url, "timeout": patience, "retries": 0})


def _check_host(net: Network, url: str) -> list[Check]:
    host = host_of(url)
    try:
        transport = net.history.transport
        ready = transport.look(url, "/readyz")
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


def _ready(host: str, probe: Probe) -> Check:
    subject = f"{host} ready"
    if probe.status == 200:
        return Check("service", subject, "ok", "Ready.")
    if probe.status == 404:
        return Check(
            "service", subject, "warning", "It has no /readyz.", "Check that history_url is the API's base, with its path."
        )
    return Check(
        "service", subject, "failed", f"Not ready (status {probe.status}).", "Try later, or name a second host in the profile."
    )


def _alive(host: str, transport: Transport, url: str) -> Check:
    subject = f"{host} alive"
    try:
        status = transport.look(url, "/livez").status
    except TransportError as error:
        return _failure("service", subject, error)
    if status == 200:
        return Check("service", subject, "ok", "Alive.")
    return Check(
        "service",
        subject,
        "warning",
        f"/livez answers with status {status}.",
        "Ask the operator, if the other lines are not well either.",
    )


def _version(host: str, transport: Transport, url: str) -> Check:
    subject = f"{host} version"
    try:
        probe = transport.look(url, "/version")
        said = json.loads(probe.body) if probe.status == 200 else {}
        found = str(said["version"])[:100]
    except (TransportError, ValueError, KeyError, TypeError):
        return Check(
            "service", subject, "warning", "It does not say its version.", "Nothing to do, unless answers cannot be decoded."
        )
    when = str(said.get("commit_ts", ""))[:10]
    return Check("service", subject, "ok", f"{found}{f' of {when}' if when else ''}.")


def _clock(host: str, probe: Probe, ours: datetime) -> Check:
    """The difference of clocks: date words and the settling time are read against ours."""
    subject = f"{host} clock"
    try:
        ahead = (ours - parsedate_to_datetime(probe.date)).total_seconds()
    except (ValueError, TypeError):
        return Check("service", subject, "ok", "It does not say its time.")
    if abs(ahead) <= CLOCK_TOLERANCE:
        return Check("service", subject, "ok", f"Within {CLOCK_TOLERANCE:g} s of ours.")
    message = f"This machine's clock is {abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} it."
    return Check("service", subject, "warning", message, "Set this machine's clock; words such as yesterday are read against it.")


def _listing(host: str, net: Network) -> Check:
    subject = f"{host} events"
    try:
        events = net.history.events(page_size=1)
    except NotFoundError:
        return Check(
            "service", subject, "warning", "It does not list events by range.", "Load events by id: update_ids=, or --update-ids."
        )
    except LedgerframesError as error:
        return _failure("service", subject, error)
    return Check("service", subject, "ok", "Lists events by range." if events else "Lists events by range; it has none yet.")


# -- ledger and wallet --------------------------------------------------------------------------------------------


def check_ledger_and_wallet(net: Network, overrides: Mapping[str, Any]) -> list[Check]:
    """Ask a participant and a wallet that are configured for something small: that shows the token, too.

    Parameters
    ----------
    net : Network
    overrides : mapping
        What the network was connected with.
    """
    if net.offline:
        return []
    configured = load_settings(net.settings.profile, overrides)
    patience = min(PATIENCE, net.settings.limits.timeout)
    checks = []
    with connect(net.settings.profile, **{**overrides, "timeout": patience, "retries": 0}) as patient:
        if configured.ledger_url:
            checks.append(_small_question(f"{host_of(configured.ledger_url[0])} ledger", lambda: _ledger_facts(patient)))
        if configured.wallet_url:
            checks.append(_small_question(f"{host_of(configured.wallet_url[0])} wallet", lambda: _wallet_facts(patient)))
    return checks


def _small_question(subject: str, ask: Callable[[], str]) -> Check:
    try:
        return Check("service", subject, "ok", ask())
    except LedgerframesError as error:
        return _failure("service", subject, error)


def _ledger_facts(net: Network) -> str:
    end, pruned = net.ledger.ledger_end(), net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    return f"Version {net.ledger.version().version[:100]}; offsets after {pruned:,} through {end:,}."


def _wallet_facts(net: Network) -> str:
    net.wallet.balance()
    return "Answers to the token."


def _failure(kind: Kind, subject: str, error: LedgerframesError) -> Check:
    """A check from an error, whose last sentence is the next step."""
    message, _, step = str(error).rstrip(".").rpartition(". ")
    return Check(kind, subject, "failed", f"{message}.", f"{step}.") if message else Check(kind, subject, "failed", str(error))
