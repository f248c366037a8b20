"""connect(): one network, with its APIs, its vocabulary and its store."""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerframes.api.history import History
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.ledger_refusals import ledger_refusal
from ledgerframes.api.tokens import token_source
from ledgerframes.api.transport import Transport, host_of, in_process
from ledgerframes.api.wallet import wallet_refusal
from ledgerframes.datasets.registry import DATASETS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.store import Store
from ledgerframes.wallet import Journal, OffersWallet

if TYPE_CHECKING:
    from httpx import BaseTransport

    from ledgerframes.sandbox import Faults, Sandbox
    from ledgerframes.settings import Settings

__all__ = ["Network", "connect"]


class Network:
    """One network: what it answers (:attr:`history`), and what is remembered of it (:attr:`store`).

    Made by :func:`connect`.
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
        self.store = Store(settings.store, settings.network, DATASETS, catalog)
        self._transport = transport
        self._clock = clock
        self._origin = origin

    @property
    def in_process(self) -> bool:
        """Whether it answers in this process, as the embedded sandbox does."""
        return self._transport is not None

    def __reduce__(self) -> tuple[Callable[..., Network], tuple[object, ...]]:
        """How a worker in another process gets the same network; tokens stay here, since the history needs none."""
        if self._transport is not None and self._origin is None:
            raise UsageError("A network with a transport of its own cannot be sent to other processes; leave out executor=.")
        settings = _without_token(self.settings)
        return _in_a_worker, (pickle.dumps((settings, self.offline, self._origin)),)

    def now(self) -> datetime:
        """The time that date words are read against: the wall clock, or the end of the sandbox's world."""
        return self._clock() if self._clock else datetime.now(UTC)

    @functools.cached_property
    def history(self) -> History:
        """Client of the history API: one method per operation.

        Raises
        ------
        CoverageError
            If this network is offline.
        UsageError
            If the profile has no history_url, or the environment names certificates or a proxy that cannot be used.
        """
        if self.offline:
            raise CoverageError(
                f"{self.name} is offline, so no request is made. Run again without offline, or ask for what the store holds."
            )
        if not self.settings.history_url:
            raise UsageError(
                f"Profile {self.settings.profile} has no history_url. "
                "Add it to ledgerframes.toml, or set LEDGERFRAMES_HISTORY_URL."
            )
        return History(Transport(self.settings.history_url, self.settings.limits, self._transport), self.settings.vocabulary)

    @functools.cached_property
    def ledger(self) -> Ledger:
        """Client of the participant's ledger API: one method per operation, and :meth:`Ledger.call` for the rest.

        Raises
        ------
        CoverageError
            If this network is offline.
        UsageError
            If the profile has no ledger_url, or the environment names certificates or a proxy that cannot be used.
        """
        if self.offline:
            raise CoverageError(
                f"{self.name} is offline, so no request is made. Run again without offline, or ask for what the store holds."
            )
        if not self.settings.ledger_url:
            raise UsageError(
                f"Profile {self.settings.profile} has no ledger_url. Add it to ledgerframes.toml, or set LEDGERFRAMES_LEDGER_URL."
            )
        token = token_source(self.settings)
        refusal = ledger_refusal(token)
        return Ledger(Transport(self.settings.ledger_url, self.settings.limits, self._transport, token=token, refusal=refusal))

    @functools.cached_property
    def wallet(self) -> OffersWallet:
        """Client of the wallet API: one method per operation, and transfer offers made exactly once.

        Raises
        ------
        CoverageError
            If this network is offline.
        UsageError
            If the profile has no wallet_url, or no token, or the environment names certificates or a proxy that cannot be used.
        """
        if self.offline:
            raise CoverageError(f"{self.name} is offline, so the wallet is not asked and nothing is sent. Run without offline.")
        settings = self.settings
        if not settings.wallet_url:
            raise UsageError(
                f"Profile {settings.profile} has no wallet_url. Add it to ledgerframes.toml, or set LEDGERFRAMES_WALLET_URL; "
                "the wallet also needs token, token_file or token_env."
            )
        # The sandbox in this process knows its caller.
        if self._clock is None and not (settings.token or settings.token_file or settings.token_env):
            raise UsageError(
                f"Profile {settings.profile} has no token, and the wallet at {host_of(settings.wallet_url[0])} is its subject's. "
                "Set token, token_file or token_env in ledgerframes.toml, or LEDGERFRAMES_TOKEN."
            )
        token = token_source(settings)
        transport = Transport(settings.wallet_url, settings.limits, self._transport, token=token, refusal=wallet_refusal)
        return OffersWallet(transport, settings.limits, Journal(self.local_dir), self.now, token)

    @property
    def local_dir(self) -> Path:
        """Where this network's files lie that must be on this machine: the store's folder, unless that is an object store."""
        from ledgerframes.settings import local_dir

        return self.store.location.local_path or local_dir() / "local" / self.name

    @property
    def request_count(self) -> int:
        """Requests made so far by this object."""
        clients = [self.__dict__[api] for api in ("history", "ledger", "wallet") if api in self.__dict__]
        return sum(client.transport.requests for client in clients)

    def close(self) -> None:
        """Close the connections; what is asked next opens new ones."""
        for api in ("history", "ledger", "wallet"):
            if client := self.__dict__.pop(api, None):
                client.transport.close()

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
        return f"Network {self.name}\n" + "\n".join(f"  {name:<10} {value}" for name, value in self._facts())

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self._facts()
        )
        return f"<table><caption>Network {escape(self.name)}</caption>{rows}</table>"


def connect(
    profile: str | None = None,
    *,
    offline: bool | None = None,
    snapshot: str | Path | None = None,
    transport: BaseTransport | None = None,
    faults: Faults | None = None,
    **overrides: Any,
) -> Network:
    """Connect to a network; nothing is asked or written yet.

    Parameters
    ----------
    profile : str, optional
        A section of ``ledgerframes.toml``. By default ``LEDGERFRAMES_PROFILE``, or the sandbox: a whole network in this process.
    offline : bool, optional
        Make no request; only what the store holds is there. By default ``LEDGERFRAMES_OFFLINE``.
    snapshot : path, optional
        A frozen catalog to read instead of the live one; it makes the network offline. By default ``LEDGERFRAMES_SNAPSHOT``.
    transport : BaseTransport, optional
        Where requests go instead of the network, for tests.
    faults : Faults, optional
        How the sandbox misbehaves.
    **overrides
        Any field of the settings, such as ``history_url=``, ``store=`` or ``page_size=``; for the sandbox also ``seed``,
        ``events`` (count) and ``days``.

    Returns
    -------
    Network

    Raises
    ------
    UsageError
        If the profile is not known, a value makes no sense, or there is no such snapshot.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.connect("sandbox", seed=7, events=100_000, days=30).name
    'sandbox-v1-seed7-events100000-days30'
    """
    # Only now: pydantic makes the models of the settings when it is imported.
    from ledgerframes.settings import SANDBOX, SandboxShape, load_settings

    settings = load_settings(profile, overrides)
    frozen = snapshot or os.environ.get("LEDGERFRAMES_SNAPSHOT") or None
    if frozen and not Path(frozen).is_file():
        raise UsageError(f"There is no frozen catalog {frozen}. Give another snapshot=, or unset LEDGERFRAMES_SNAPSHOT.")
    without_requests = bool(frozen) or (_flag("LEDGERFRAMES_OFFLINE") if offline is None else offline)
    if settings.profile == SANDBOX and not (settings.history_url or settings.ledger_url or settings.wallet_url):
        return _embedded(settings, overrides, faults, without_requests, frozen)
    if faults or not SandboxShape.model_fields.keys().isdisjoint(overrides):
        raise UsageError(f"seed, events, days and faults shape the sandbox; profile {settings.profile} is a network of its own.")
    return Network(settings, transport=transport, offline=without_requests, catalog=Path(frozen) if frozen else None)


@functools.cache
def _in_a_worker(recipe: bytes) -> Network:
    """The network that a task belongs to: one for each process, so that its connections are used again."""
    settings, offline, origin = pickle.loads(recipe)  # noqa: S301  (made by Network.__reduce__, of the caller of this worker)
    return origin() if origin else Network(settings, offline=offline)


def _embedded(
    settings: Settings, overrides: Iterable[str], faults: Faults | None, offline: bool, frozen: str | Path | None
) -> Network:
    """The sandbox in this process; imported only here, when asked for."""
    from ledgerframes.sandbox import Sandbox

    vocabulary = "canton" if settings.vocabulary.coin == "amulet" else "neutral"
    try:
        box = Sandbox(**settings.sandbox.model_dump(), vocabulary=vocabulary, faults=faults)
    except ValueError as error:
        raise UsageError(f"The sandbox cannot be made: {error}.") from None
    # The sandbox needs no gentle pace, unless one is asked for to see it.
    pace_given = {"requests_per_second"} & set(overrides)
    pace = settings.limits.requests_per_second if pace_given else 0.0
    limits = settings.limits.model_copy(update={"requests_per_second": pace})
    return Network(
        settings.model_copy(update={"network": box.name, **_addresses(box), "limits": limits}),
        transport=in_process(box.app),
        clock=lambda: box.now,
        offline=offline,
        catalog=Path(frozen) if frozen else None,
        origin=functools.partial(_embedded, _without_token(settings), pace_given, faults, offline, frozen),
    )


def _without_token(settings: Settings) -> Settings:
    return settings.model_copy(update=dict.fromkeys(("token", "token_file", "token_env")))


def _addresses(box: Sandbox) -> dict[str, tuple[str]]:
    return {"history_url": (box.history_url,), "ledger_url": (box.ledger_url,), "wallet_url": (box.wallet_url,)}


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "true", "yes", "on")
