"""A whole network in this process, reached as if over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from .app import HISTORY_PREFIX, LEDGER_PREFIX, WALLET_PREFIX, make_app
from .bulk import BulkStorage
from .cases import Planted
from .faults import FaultMiddleware, Faults
from .ledger_api.service import MAX_UPDATES_PAGE
from .network import Write
from .participant.contracts import Contracts
from .participant.hashes import TransactionHashes
from .participant.ledger import ParticipantLedger, PlantedMismatch
from .script import PlantedCase
from .times import Clock, to_datetime
from .users import Users
from .versions import history_release_of, minor_of, release_of
from .vocabulary import vocabulary_of
from .wallet import Offer, OfferBook
from .world import world_of

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

WORLD_VERSION = 3  # raise it when the same seed gives other bytes: stores are named by it
HOST = "http://sandbox.invalid"


class Sandbox:
    """A seeded ledger network in this process, generated as it is read.

    Parameters
    ----------
    seed
        Seed; equal seed, events and days give equal bytes, on any machine.
    events
        Number of event items in the world, at least about 200 per day.
    days
        Whole days before the last six hours.
    vocabulary
        "neutral", "canton", or a table with the keys "coin" and "lang".
    faults
        Faults to inject; none by default.
    participant
        Id of the participant whose ledger the ledger API shows; by default the one that hosts most parties.
    ledger_version
        Version of the ledger API, 3.3 to 3.7 or a release such as 3.6.2, with its routes, members and page tokens.
    history_version
        Version of the history API, 0.7 to 0.9 or a release such as 0.8.1, with its routes and page tokens.
    require_token
        Whether the ledger and the wallet API require a bearer token.
    token
        The bearer token of the main user, which makes both APIs require one. Never shown.
    pruned_through
        Offset through which the ledger is pruned, or a share of the ledger if below 1.
    max_page_size
        The largest page of ledger updates.
    grows
        Whether the clock runs, from three quarters of the timeline to its end.
    speed
        Seconds that a running clock advances per second.

    Attributes
    ----------
    app
        The WSGI app, for ``httpx.WSGITransport(app=box.app)``.
    world
        Direct access to the events.
    clock
        The clock, which tests may set.
    start
        Start of the world, UTC.
    name
        Name of the world's shape, safe in paths.
    participant
        Id of the participant whose ledger the ledger API shows.
    user_parties
        The parties that the participant hosts, and that the default token may read as.
    token
        The bearer token that may read everything, with the wallet of the first of `user_parties`.
    limited_token
        A bearer token that may read as one party only, the second of `user_parties`.
    expired_token
        A bearer token that has expired.
    token_of
        Returns the bearer token of the user with the wallet of a party.
    history_url, ledger_url, wallet_url
        Base addresses of the APIs inside the process.
    ledger
        Direct access to the updates of `participant`.
    wallet
        The transfer offers, with the steps that the wallets of other parties would take.
    writes
        The writes that the ledger and the wallet API accepted.
    bulk
        The bulk objects.
    """

    def __init__(
        self,
        seed: int = 1,
        events: int = 52_000,
        days: int = 52,
        vocabulary: str | Mapping[str, str] = "neutral",
        faults: Faults | None = None,
        *,
        participant: str | None = None,
        ledger_version: str = "3.5.14",
        history_version: str = "0.7.4",
        require_token: bool = False,
        token: str | None = None,
        pruned_through: float = 0,
        max_page_size: int = MAX_UPDATES_PAGE,
        grows: bool = False,
        speed: float = 60,
    ) -> None:
        if events < 1 or days < 1:
            raise ValueError(f"events={events} and days={days} must both be at least 1.")
        network_vocabulary = vocabulary_of(vocabulary)
        self.faults = faults or Faults()
        self.ledger_version, self.max_page_size = release_of(ledger_version), max_page_size
        self.history_version = history_release_of(history_version)
        self.world = world_of(seed, events, days, network_vocabulary)
        begin, end = self.world.timeline.start, self.world.timeline.now
        self.start: datetime = to_datetime(begin)
        self.clock = Clock(begin + (end - begin) * 3 // 4, end, speed) if grows else Clock(end, end)
        self.history_url, self.ledger_url, self.wallet_url = (
            HOST + prefix for prefix in (HISTORY_PREFIX, LEDGER_PREFIX, WALLET_PREFIX)
        )
        self.name = f"sandbox-v{WORLD_VERSION}-seed{seed}-events{events}-days{days}"
        if network_vocabulary.name != "neutral":
            self.name += f"-{network_vocabulary.name}"
        self.ledger = ParticipantLedger(self.world, self.clock, participant)
        if pruned_through:
            self.prune(pruned_through)
        self.participant, self.user_parties = self.ledger.participant, self.ledger.party_names
        may_act_as_any = minor_of(self.ledger_version) >= 6
        self.users = users = Users(seed, self.user_parties, require_token, token, may_act_as_any)
        self.token, self.limited_token = users.token(users.main), users.token(users.limited)
        self.expired_token, self.token_of = users.expired_token, users.token_of
        self.wallet = OfferBook(self.clock)
        self.writes: list[Write] = []
        self.bulk = BulkStorage(self.world, self.clock)
        self.contracts = self.world.derived(Contracts, self.participant)
        self.hashes = self.world.derived(TransactionHashes, self.participant)
        app = make_app(self)
        self.app: WSGIApplication = FaultMiddleware(app, faults) if faults else app

    @property
    def now(self) -> datetime:
        """The time of the clock, UTC (by default the end of the world)."""
        return self.clock.time

    @property
    def offers(self) -> list[Offer]:
        """All transfer offers in their current state, which reading does not advance."""
        return self.wallet.offers

    def at(self, time: datetime) -> Sandbox:
        """Set the clock to a time, and return the sandbox."""
        self.clock.set(time)
        return self

    def prune(self, through: float) -> int:
        """Prune the ledger through an offset, or a share of it if below 1, and return the offset."""
        return self.ledger.prune(through)

    def key(self) -> list[Planted]:
        """Return what was planted in the world, by time, with what an analysis is to say about it.

        See :meth:`planted_traffic_mismatches` for costs that differ, which depend on the participant.
        """
        return self.world.key()

    def planted_traffic_mismatches(self) -> list[PlantedMismatch]:
        """Return the updates whose paid traffic cost differs from the history."""
        return self.ledger.planted()

    def planted_cases(self) -> list[PlantedCase]:
        """Return the cases around rights, super validators and rounds, with what each must earn."""
        return self.world.planted_cases()

    def __repr__(self) -> str:
        """Return the shape of the world and its faults."""
        defaults = asdict(Faults())
        set_faults = {name: value for name, value in asdict(self.faults).items() if value != defaults[name]}
        faults = f", faults {set_faults}" if set_faults else ""
        return f"<Sandbox {self.name}, {self.start:%Y-%m-%d %H:%M} to {self.now:%Y-%m-%d %H:%M} UTC{faults}>"
