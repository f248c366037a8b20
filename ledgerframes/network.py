"""connect(): one network, with its APIs, its vocabulary and its store."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerframes.api.history import History
from ledgerframes.api.transport import BaseTransport, Transport, host_of, in_process
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.settings import SANDBOX, Settings, World, load_settings
from ledgerframes.store import EVENTS, EVENTS_BY_ID, Store

if TYPE_CHECKING:
    from ledgerframes.sandbox import Faults

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
    ) -> None:
        self.settings = settings
        self.name = settings.network
        self.offline = offline
        self.store = Store(settings.store.expanduser(), settings.network, catalog)
        self._transport = transport
        self._clock = clock

    def now(self) -> datetime:
        """The time that date words are read against: the wall clock, or the end of the sandbox's world."""
        return self._clock() if self._clock else datetime.now(UTC)

    @cached_property
    def history(self) -> History:
        """Client of the history API: one method per operation.

        Raises
        ------
        CoverageError
            If this network is offline.
        UsageError
            If the profile has no history_url.
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

    @property
    def requests(self) -> int:
        """Requests made so far by this object."""
        return self.history.transport.requests if "history" in self.__dict__ else 0

    def _facts(self) -> list[tuple[str, str]]:
        segments = [segment for stream in (EVENTS, EVENTS_BY_ID) for segment in self.store.segments(stream)]
        size = sum(file.bytes for segment in segments for file in segment.files.values())
        provisional = sum(segment.rows for segment in segments if not segment.final)
        return [
            ("history", ", ".join(host_of(url) for url in self.settings.history_url) or "not configured"),
            ("mode", "offline" if self.offline else "online"),
            ("store", f"{self.store.folder} ({size / 1e6:,.1f} MB)"),
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
        If the profile is not known, or a value makes no sense.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.connect("sandbox", seed=7, events=100_000, days=30).name
    'sandbox-v1-seed7-events100000-days30'
    """
    settings = load_settings(profile, overrides)
    frozen = snapshot or os.environ.get("LEDGERFRAMES_SNAPSHOT") or None
    without_requests = bool(frozen) or (_flag("LEDGERFRAMES_OFFLINE") if offline is None else offline)
    if settings.profile == SANDBOX and not settings.history_url:
        return _embedded(settings, overrides, faults, without_requests, frozen)
    if faults or not World.model_fields.keys().isdisjoint(overrides):
        raise UsageError(f"seed, events, days and faults shape the sandbox; profile {settings.profile} is a network of its own.")
    return Network(settings, transport=transport, offline=without_requests, catalog=Path(frozen) if frozen else None)


def _embedded(
    settings: Settings, overrides: dict[str, Any], faults: Faults | None, offline: bool, frozen: str | Path | None
) -> Network:
    """The sandbox in this process; imported only here, when asked for."""
    from ledgerframes.sandbox import Sandbox

    vocabulary = "canton" if settings.vocabulary.coin == "amulet" else "neutral"
    try:
        box = Sandbox(**settings.world.model_dump(), vocabulary=vocabulary, faults=faults)
    except ValueError as error:
        raise UsageError(f"The sandbox cannot be made: {error}.") from None
    # The sandbox needs no gentle pace, unless one is asked for to see it.
    pace = settings.limits.requests_per_second if "requests_per_second" in overrides else 0.0
    limits = settings.limits.model_copy(update={"requests_per_second": pace})
    return Network(
        settings.model_copy(update={"network": box.name, "history_url": (box.history_url,), "limits": limits}),
        transport=in_process(box.app),
        clock=lambda: box.now,
        offline=offline,
        catalog=Path(frozen) if frozen else None,
    )


def _flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "true", "yes", "on")
