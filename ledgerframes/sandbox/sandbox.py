"""The sandbox: a whole network in the process, reached as if over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from .app import HISTORY_PREFIX, make_app
from .faults import Faults, FaultyApp, WSGIApp
from .times import moment
from .words import words_of
from .world import World

WORLD_VERSION = 1  # raise it when the same seed gives other bytes: stores are named by it
HOST = "http://sandbox.invalid"


class Sandbox:
    """A seeded ledger network; making one costs nothing, its parts are generated when asked for.

    Parameters
    ----------
    seed
        Seed; equal seed, events and days give equal bytes, on any machine.
    events
        Number of event items in the whole world, at least some 200 a day.
    days
        Whole days before the last six hours.
    vocabulary
        "neutral", "canton", or a table with the keys "coin" and "lang".
    faults
        What shall go wrong; nothing when None.

    Attributes
    ----------
    app
        The WSGI app, for ``httpx.WSGITransport(app=box.app)``.
    world
        Direct access to the events.
    start, now
        Beginning and end of the world, UTC.
    name
        Folder-safe name of the shape of the world.
    history_url
        Base address of the history API inside the process.
    """

    def __init__(
        self,
        seed: int = 1,
        events: int = 24_000,
        days: int = 8,
        vocabulary: str | Mapping[str, str] = "neutral",
        faults: Faults | None = None,
    ) -> None:
        if events < 1 or days < 1:
            raise ValueError(f"events={events}, days={days}: a world has at least one event and one day")
        words = words_of(vocabulary)
        self.faults = faults
        self.world = World(seed, events, days, words)
        self.start: datetime = moment(self.world.timeline.start)
        self.now: datetime = moment(self.world.timeline.now)
        self.history_url = HOST + HISTORY_PREFIX
        self.name = f"sandbox-v{WORLD_VERSION}-seed{seed}-events{events}-days{days}"
        if words.name != "neutral":
            self.name += f"-{words.name}"
        app = make_app(self.world, words)
        self.app: WSGIApp = FaultyApp(app, faults) if faults else app

    def __repr__(self) -> str:
        """Say what kind of world it is."""
        set_faults = {name: value for name, value in asdict(self.faults).items() if value} if self.faults else {}
        faults = f", faults {set_faults}" if set_faults else ""
        return f"<Sandbox {self.name}, {self.start:%Y-%m-%d %H:%M} to {self.now:%Y-%m-%d %H:%M} UTC{faults}>"
