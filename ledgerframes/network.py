"""Networks, each with its APIs, its vocabulary and its store."""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ledgerframes.api.certificates import CertificateFiles
from ledgerframes.api.history import History
from ledgerframes.api.host_rates import HostRates, Wait, Waits
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.ledger_errors import ledger_error_factory
from ledgerframes.api.names import Api
from ledgerframes.api.operation import Client
from ledgerframes.api.status_errors import HISTORY_STEPS, WALLET_STEPS, error_factory
from ledgerframes.api.tokens import token_source, warn_of_exposure
from ledgerframes.api.transport import Transport, host_of, in_process
from ledgerframes.api.versions import PATHS, met_version
from ledgerframes.datasets.registry import DATASETS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.installation import extra_for
from ledgerframes.store import Store
from ledgerframes.store.catalog import FROZEN_DAMAGE_STEP, Catalog
from ledgerframes.store.rate_file import RateFile
from ledgerframes.texts.representation import as_html, as_text
from ledgerframes.wallet import Journal, OffersWallet

if TYPE_CHECKING:
    from ledgerframes.api.transport import BaseTransport
    from ledgerframes.sandbox import Faults
    from ledgerframes.settings import Settings

__all__ = ["Network", "connect"]

C = TypeVar("C", bound=Client)
ON, OFF = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")  # what a variable can be set to

# It computes in this process, so several ranges at once take longer than one after the other, and leave smaller segments.
SANDBOX_LIMITS: dict[str, object] = {"requests_per_second": 0.0, "max_concurrency": 1}


class Network:
    """One network, with clients of its APIs and its store, as :func:`connect` returns it.

    The first use of a client raises a CoverageError if the network is offline. It raises a UsageError if the profile has no
    URL for the API or no token for the wallet, or if the profile or the environment names certificates or a proxy that cannot
    be used.

    Attributes
    ----------
    name : str
    settings : Settings
    offline : bool
        Whether HTTP requests are refused.
    store : Store
        The data fetched from this network.
    waits : Waits
        What requests wait for.
    extra_members : dict of str to str
        Members of responses that this release does not know and that are in no row, each with its first value as JSON. The
        keys are the operation and the path, such as ``GET /v2/parties.mood``. Unknown members of rows are in the column
        ``extra`` of their tables.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        transport: BaseTransport | None = None,
        clock: Callable[[], datetime] | None = None,
        offline: bool = False,
        catalog: Path | None = None,
        origin: Callable[[], Network] | None = None,
    ) -> None:
        self.settings = settings
        self.name = settings.network
        self.offline = offline
        self.offline_setting = "offline=True"  # what made it offline, as errors name it
        self.store = Store(settings.store, settings.network, DATASETS, catalog)
        self.waits = Waits()
        self.extra_members: dict[str, str] = {}
        self._transport = transport
        self._rates = HostRates() if transport else shared_rates()
        self._clock = clock
        self._catalog = catalog
        self._origin = origin

    @property
    def in_process(self) -> bool:
        """True if the network runs in this process, as the embedded sandbox does."""
        return self._transport is not None

    def __reduce__(self) -> tuple[Callable[..., Network], tuple[object, ...]]:
        """Return the recipe for workers in other processes, without the token.

        Workers read a `token_file` or `token_env` by themselves.
        """
        if self._transport is not None and self._origin is None:
            raise UsageError("executor= cannot be combined with transport=: a custom transport cannot be pickled.")
        settings = _without_token(self.settings)
        return _network_in_worker, (pickle.dumps((settings, self.offline, self._catalog, self._origin)),)

    def with_store(self, root: Path) -> Network:
        """Return a network with the same services, and another store."""
        settings = self.settings.model_copy(update={"store": root})
        net = Network(settings, transport=self._transport, clock=self._clock)
        net.extra_members = self.extra_members
        return net

    def now(self) -> datetime:
        """Return the current time, or the end of the sandbox's world."""
        return self._clock() if self._clock else datetime.now(UTC)

    @functools.cached_property
    def history(self) -> History:
        """Client of the history API, with a method per operation."""
        transport = self._open(self._urls("history_url"), error_factory=error_factory(HISTORY_STEPS))
        return self._noting(History(transport, self.settings.vocabulary))

    @functools.cached_property
    def ledger(self) -> Ledger:
        """Client of the participant's ledger API, with a method per operation."""
        urls, token = self._urls("ledger_url"), token_source(self.settings)
        return self._noting(Ledger(self._open(urls, token=token, error_factory=ledger_error_factory(token))))

    @functools.cached_property
    def wallet(self) -> OffersWallet:
        """Client of the wallet API, with a method per operation and exactly-once transfer offers."""
        urls, settings = self._urls("wallet_url"), self.settings
        # The sandbox in this process needs no token.
        if self._clock is None and not (settings.token or settings.token_file or settings.token_env):
            raise UsageError(
                f"Profile {settings.profile} has no token, and the wallet at {host_of(urls[0])} belongs to the token's subject. "
                "Set token, token_file or token_env in ledgerframes.toml, or LEDGERFRAMES_TOKEN."
            )
        token = token_source(settings)
        transport = self._open(urls, token=token, error_factory=error_factory(WALLET_STEPS, token))
        return self._noting(OffersWallet(transport, Journal(self.local_dir), self.now, token))

    def _noting(self, client: C) -> C:
        """Return a client that keeps unknown members where those of all clients are."""
        client.extra_members = self.extra_members
        return client

    def _open(self, urls: tuple[str, ...], **options: Any) -> Transport:
        """Return a transport, which shares the rates of its hosts with the other APIs."""
        if not self.in_process:
            warn_of_exposure(self.settings, urls if "token" in options else ())
        options |= {"rates": self._rates, "waits": self.waits, "certificates": CertificateFiles.of(self.settings)}
        return Transport(urls, self.settings.limits, self._transport, **options)

    def _urls(self, name: str) -> tuple[str, ...]:
        """Return the URLs of an API, or raise an error if there are none."""
        if self.offline:
            raise CoverageError(
                f"{self.name} is offline, so no request is sent. Reconnect without {self.offline_setting}, "
                "or use what is in the store."
            )
        urls: tuple[str, ...] = getattr(self.settings, name)
        if not urls:
            raise UsageError(
                f"Profile {self.settings.profile} has no {name}. Add it to ledgerframes.toml, or set LEDGERFRAMES_{name.upper()}."
            )
        return urls

    @property
    def local_dir(self) -> Path:
        """Directory of the files that must be on this machine."""
        from ledgerframes.settings import local_dir

        return self.store.location.local_path or local_dir() / "local" / self.name

    @property
    def request_count(self) -> int:
        """Number of HTTP requests sent through this network."""
        return sum(transport.request_count for transport in self._opened().values())

    def _opened(self) -> dict[Api, Transport]:
        return {api: self.__dict__[api].transport for api in PATHS if api in self.__dict__}

    @property
    def wait(self) -> Wait | None:
        """The wait of all processes of this machine for a host of this network, or None."""
        settings = self.settings
        hosts = dict.fromkeys(map(host_of, (*settings.history_url, *settings.ledger_url, *settings.wallet_url)))
        waits = (self._rates.of(host, settings.limits.requests_per_second).wait for host in hosts)
        return next(filter(None, waits), None)

    def mean_interval(self, url: str) -> float:
        """Return the mean seconds from a request to the next at a host, or 0 if they are unknown.

        Earlier loads also count. A host that has not been used for a day may be forgotten.
        """
        return self._rates.of(host_of(url), self.settings.limits.requests_per_second).mean_interval

    def versions(self) -> dict[str, dict[str, str]]:
        """Return the versions of the hosts that have received requests, by API and host.

        This sends one more request to each host. Hosts without a version are omitted.
        """
        versions: dict[str, dict[str, str]] = {}
        for api, transport in self._opened().items():
            met = {host_of(url): met_version(transport, url, api) for url in transport.urls if host_of(url) in transport.hosts}
            if met:
                versions[api] = {host: version for host, version in met.items() if version}
        return versions

    def close(self) -> None:
        """Close the connections, which the next request opens again."""
        for api, transport in self._opened().items():
            del self.__dict__[api]
            transport.close()

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _facts(self) -> list[tuple[str, str]]:
        segments = self.store.all_segments()
        size = sum(segment.bytes for segment in segments)
        provisional = sum(segment.rows for segment in segments if not segment.final)
        return [
            ("history", ", ".join(host_of(url) for url in self.settings.history_url) or "not configured"),
            ("mode", "offline" if self.offline else "online"),
            ("store", f"{self.store.location} ({size / 1e6:,.1f} MB)"),
            ("rows", f"{sum(segment.rows for segment in segments):,} ({provisional:,} provisional)"),
        ]

    def __repr__(self) -> str:
        return as_text(f"Network {self.name}", self._facts(), 10)

    def _repr_html_(self) -> str:
        return as_html(f"Network {self.name}", self._facts())


@functools.cache
def shared_rates() -> HostRates:
    """Return the request rates of hosts, which all processes of this user share."""
    from ledgerframes.settings import local_dir

    return HostRates(RateFile(local_dir() / "host_rates.sqlite").record)


def connect(
    profile: str | None = None,
    *,
    offline: bool | None = None,
    snapshot: str | Path | None = None,
    transport: BaseTransport | None = None,
    faults: Faults | None = None,
    **overrides: Any,
) -> Network:
    """Return a network, without sending or writing anything.

    Parameters
    ----------
    profile : str, optional
        Section of ``ledgerframes.toml`` (default: ``LEDGERFRAMES_PROFILE``, or the sandbox, which is a network in this
        process).
    offline : bool, optional
        Send no requests, and use only the store (default: ``LEDGERFRAMES_OFFLINE``).
    snapshot : path, optional
        Frozen catalog to read instead of the live one. The network is then offline (default: ``LEDGERFRAMES_SNAPSHOT``).
    transport : httpx.BaseTransport, optional
        Replacement for the hosts of the URLs, for tests.
    faults : Faults, optional
        Faults that the sandbox simulates.
    **overrides
        Any setting, such as ``history_url=``, ``store=`` or ``page_size=``, and for the sandbox also ``seed=``, ``events=``
        and ``days=``.

    Raises
    ------
    UsageError
        If the profile or a setting is unknown, a value is invalid, the snapshot does not exist, or `transport` has no URL.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.connect("sandbox", seed=7, events=100_000, days=30).name
    'sandbox-v3-seed7-events100000-days30'
    """
    # Imported here, because pydantic builds the models of the settings at import.
    from ledgerframes.settings import load_settings

    if not isinstance(offline, bool | None):
        raise UsageError(f"offline= must be True or False, got {offline!r}.")
    settings = load_settings(profile, overrides)
    frozen = _frozen_catalog(snapshot or os.environ.get("LEDGERFRAMES_SNAPSHOT"))
    without_requests = bool(frozen) or (_flag("LEDGERFRAMES_OFFLINE") if offline is None else offline)
    net = _network_of(settings, transport, faults, overrides, without_requests, frozen)
    if frozen:
        net.offline_setting = "snapshot=" if snapshot else "LEDGERFRAMES_SNAPSHOT"
    elif offline is None:
        net.offline_setting = "LEDGERFRAMES_OFFLINE"
    return net


def _network_of(
    settings: Settings,
    transport: BaseTransport | None,
    faults: Faults | None,
    overrides: Mapping[str, Any],
    offline: bool,
    frozen: Path | None,
) -> Network:
    """Return the network of valid settings, which is the sandbox without a URL."""
    from ledgerframes.settings import SANDBOX, SandboxShape

    if settings.profile == SANDBOX and not (settings.history_url or settings.ledger_url or settings.wallet_url):
        if transport is not None:
            raise UsageError("transport= is not for the sandbox. Pass history_url=, ledger_url= or wallet_url=, too.")
        if overrides.get("network") is not None:
            raise UsageError("network= cannot name the embedded sandbox, which is named after its world. Omit network=.")
        return _embedded(settings, overrides, faults, offline, frozen)
    if faults or not SandboxShape.model_fields.keys().isdisjoint(overrides):
        raise UsageError(
            "seed=, events=, days= and faults= apply to the embedded sandbox only. "
            f"Omit them for profile {settings.profile}, or use profile sandbox without a URL."
        )
    return Network(settings, transport=transport, offline=offline, catalog=frozen)


def _frozen_catalog(snapshot: object) -> Path | None:
    if not snapshot:
        return None
    from ledgerframes.settings.addresses import is_file

    path = Path(snapshot).absolute() if isinstance(snapshot, str | Path) else None
    if not path or not is_file(path) or not Catalog(path, damage_step=FROZEN_DAMAGE_STEP).exists():
        raise UsageError(
            f"snapshot= must be the path of a frozen catalog, got {str(snapshot)!r}. Check LEDGERFRAMES_SNAPSHOT, too."
        )
    return path


@functools.cache
def _network_in_worker(recipe: bytes) -> Network:
    """Return the network of a task, one per process so that connections are reused."""
    # Made by Network.__reduce__ in the caller of this worker.
    settings, offline, catalog, origin = pickle.loads(recipe)  # noqa: S301
    return origin() if origin else Network(settings, offline=offline, catalog=catalog)


def _embedded(settings: Settings, overrides: Iterable[str], faults: Faults | None, offline: bool, frozen: Path | None) -> Network:
    """Return the sandbox in this process."""
    with extra_for("The sandbox"):
        from ledgerframes.sandbox import Faults, Sandbox

    if not isinstance(faults, Faults | None):
        raise UsageError(f"faults= must be ledgerframes.sandbox.Faults(...), got {faults!r}.")
    try:
        box = Sandbox(**settings.sandbox.model_dump(), vocabulary=settings.vocabulary.setting, faults=faults)
    except ValueError as error:
        raise UsageError(f"Cannot start the sandbox: {error}") from None
    # The sandbox needs no request rate and no concurrent ranges, unless the caller wants to see their effect.
    limit_overrides = SANDBOX_LIMITS.keys() & set(overrides)
    limits = {name: value for name, value in SANDBOX_LIMITS.items() if name not in limit_overrides}
    urls = {name: (getattr(box, name),) for name in ("history_url", "ledger_url", "wallet_url")}
    update = {"network": box.name, **urls, "limits": settings.limits.model_copy(update=limits)}
    return Network(
        settings.model_copy(update=update),
        transport=in_process(box.app),
        clock=lambda: box.now,
        offline=offline,
        catalog=frozen,
        origin=functools.partial(_embedded, _without_token(settings), limit_overrides, faults, offline, frozen),
    )


def _without_token(settings: Settings) -> Settings:
    return settings.model_copy(update={"token": None})


def _flag(name: str) -> bool:
    """Return whether a variable is on, or raise a UsageError if it is neither on nor off."""
    value = os.environ.get(name, "").strip().lower()
    if value not in ON and value not in OFF:
        raise UsageError(f"{name} must be 1 or 0, got {value!r}. Set it to 1, or unset it.")
    return value in ON
