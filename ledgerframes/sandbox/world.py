"""A seeded ledger network, generated slice by slice as it is read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache, partial
from itertools import starmap
from operator import attrgetter
from threading import RLock
from typing import TypeVar, cast

from ledgerframes.gc_pause import pause_gc

from .builder import Event, build, write
from .cases import CASES, Case, Planted, first_of
from .formulas import RoundTotals
from .parties import WorldParties
from .rounds import Rounds
from .schedule import OUTLIER_VOTER, STALE_VOTER, Schedule
from .script import SCRIPT, PlantedCase
from .timeline import PlannedEvent
from .times import micros, to_datetime
from .transactions.constants import RISE_PERCENT, WorldConstants, newer
from .transactions.draft import DraftTransaction, SliceState
from .transactions.kinds import WEIGHTS
from .transactions.templates.apps import TICKET
from .values import ENCODINGS, LEDGER
from .vocabulary import Vocabulary

SLOW_CONFIRMER, STALE_VOTE, OUTLIER = "slow confirmer", "stale price vote", "price vote far from the others"
NEW_VERSION, RAISED_WASTE = "newer version of a package", "weekday with more waste"
MAX_CACHED_WORLDS = 4
MAIN_ENCODING = "compact_json"
MAX_CACHED_TOTALS = 2000  # slices
MIN_CACHED_SLICES = 12  # enough for four readers at different positions
MAX_CACHED_EVENTS = 10_000  # of a large world; a smaller one is built once in each encoding

T = TypeVar("T")
_record_time = attrgetter("record_time")


@lru_cache(maxsize=MAX_CACHED_WORLDS)
def world_of(seed: int, events: int, days: int, vocabulary: Vocabulary) -> World:
    """Return the world of this shape. It is shared, because a world never changes."""
    return World(seed, events, days, vocabulary)


def enough_events(seed: int, events: int, days: int) -> int:
    """Return a number of events that a world can have, which is the given one if possible.

    A world with more events reports more often, so the number that it needs grows.
    """
    while (needed := Schedule(seed, events, days, WEIGHTS).total()) > events:
        events = needed
    return events


class World:
    """All events of a network, in the order of its history, with random access.

    The parameters are those of `Sandbox`. About `max_cached_events` events stay in memory, and the totals of `max_cached_totals`
    slices.
    """

    def __init__(
        self,
        seed: int,
        events: int,
        days: int,
        vocabulary: Vocabulary,
        *,
        max_cached_events: int = MAX_CACHED_EVENTS,
        max_cached_totals: int = MAX_CACHED_TOTALS,
    ) -> None:
        self.seed, self.event_count, self.vocabulary = seed, events, vocabulary
        self.parties = WorldParties(seed)
        self.schedule = Schedule(seed, events, days, WEIGHTS)
        self.timeline = self.schedule.timeline
        if (needed := self.schedule.total()) > events:
            raise ValueError(
                f"events={events} is below the {enough_events(seed, needed, days)} that rounds, votes, reports and planted "
                "cases need. Use more events or fewer days."
            )
        self.rounds = Rounds(seed, self.schedule, self.parties)
        self._constants = {
            encoding.name: WorldConstants(seed, self.parties, self.rounds, vocabulary, encoding)
            for encoding in (*ENCODINGS.values(), LEDGER)
        }
        self.identifiers = self.constants().identifiers
        self.generated = 0  # slices so far, which tests of laziness read
        self._totals: dict[int, RoundTotals] = {}  # by slice
        self._max_cached_totals = max_cached_totals
        self.is_small = events <= max_cached_events
        count = self.timeline.count
        whole, part = count * len(self._constants), max(MIN_CACHED_SLICES, max_cached_events * count // events)
        self._slice = lru_cache(whole if self.is_small else part)(self._build)
        self._derived: dict[tuple[object, ...], object] = {}
        self._lock = RLock()

    def slice(self, number: int, encoding: str = MAIN_ENCODING) -> list[Event]:
        """Return the events of one slice, built at first use and cached for a while.

        The encoding "ledger_json" also contains what only the ledger API shows.
        """
        with self._lock:
            return self._slice(number, encoding)

    def _build(self, number: int, encoding: str) -> list[Event]:
        with pause_gc():  # transactions leave no cycles
            events = [write(draft, self._constants[encoding]) for draft in self._drafts(number)]
        self.generated += 1
        return events

    def drafts(self, number: int) -> list[DraftTransaction]:
        """Return the transactions of one slice, not written in any encoding yet."""
        with self._lock:
            return [*self._drafts(number)]

    def _drafts(self, number: int) -> Iterator[DraftTransaction]:
        state = SliceState(self.constants(), number, partial(self._totals_of, number))
        yield from build(state)
        self._keep_totals(number, state.totals)

    def _totals_of(self, building: int, round_number: int, built: RoundTotals) -> RoundTotals:
        """Return the activity of a round, of which the slice that is being built may have a part."""
        begin, end = self.rounds.window(round_number)
        totals = RoundTotals()
        for number in self.timeline.numbers_between(begin, end + 1):
            totals.add(built if number == building else self._slice_totals(number), round_number)
        return totals

    def requests(self) -> Iterator[tuple[int, str, int]]:
        """Iterate over (record time, participant, bytes) of all requests with a known cost.

        Each slice that was not built yet is built now.
        """
        for number in range(self.timeline.count):
            with self._lock:
                requests = self._slice_totals(number).requests
            yield from requests

    def _slice_totals(self, number: int) -> RoundTotals:
        if number not in self._totals:
            state = SliceState(self._constants[MAIN_ENCODING], number)
            for _ in build(state):  # each adds to the totals
                pass
            self._keep_totals(number, state.totals)
        return self._totals[number]

    def _keep_totals(self, number: int, totals: RoundTotals) -> None:
        self._totals[number] = totals
        while len(self._totals) > self._max_cached_totals:
            self._totals.pop(next(iter(self._totals)))

    def after(self, migration_id: int, record_time: int, until: int, encoding: str = MAIN_ENCODING) -> Iterator[Event]:
        """Iterate over the events after a position in the history and before a time.

        They are those of its migration with a later record time, and those of later migrations
        (docs/facts.md#history-paging).
        """
        for number in range(self.timeline.number_at(migration_id, record_time), self.timeline.count):
            slice_ = self.timeline.slice(number)
            if slice_.begin >= until:
                continue
            events = self.slice(number, encoding)
            first = bisect_right(events, record_time, key=_record_time) if slice_.migration_id == migration_id else 0
            last = bisect_left(events, until, key=_record_time)
            yield from (event for event in events[first:last] if event.is_shown)

    def events(
        self, since: datetime | None = None, until: datetime | None = None, encoding: str = MAIN_ENCODING
    ) -> Iterator[Event]:
        """Iterate over the events with since <= record time < until, migration after migration."""
        begin = micros(since) if since else self.timeline.start
        end = micros(until) if until else self.timeline.now
        for number in self.timeline.numbers_between(begin, end):
            for event in self.slice(number, encoding):
                if begin <= event.record_time < end and event.is_shown:
                    yield event

    def constants(self, encoding: str = MAIN_ENCODING) -> WorldConstants:
        """Return what all slices share in an encoding."""
        return self._constants[encoding]

    def derived(self, make: Callable[..., T], *arguments: str | int) -> T:
        """Return what follows from the world and arguments, such as a participant, made once."""
        with self._lock:
            key = make, *arguments
            if key not in self._derived:
                self._derived[key] = make(self, *arguments)
            return cast("T", self._derived[key])

    def planted_cases(self) -> list[PlantedCase]:
        """Return the steps of the script with their updates, in the order of their times."""
        return [self._planted_case(event) for event in self.schedule.script.planned]

    def _planted_case(self, event: PlannedEvent) -> PlantedCase:
        step = SCRIPT[event.member]
        party = self.parties.planted[step.action[1] if len(step.action) > 1 else step.party].identifier
        update_id = self.identifiers.at(*self.schedule.position_of(event))
        return PlantedCase(update_id, step.case, step.kind, step.expected, party, step.weight)

    def find(self, update_id: str, encoding: str = MAIN_ENCODING) -> Event | None:
        """Return the event with an update id, or None."""
        position = self.identifiers.position(update_id)
        if position is None or position[0] >= self.timeline.count:
            return None
        events = self.slice(position[0], encoding)
        event = events[position[1]] if position[1] < len(events) else None
        # A second verdict has the id of the first, so that nothing is at its own position.
        return event if event and event.update_id == update_id and event.is_shown else None

    def key(self) -> list[Planted]:
        """Return what was planted, by time, without generating any event."""
        requests = (self._planted(CASES[events[0].case or 0], events) for events in self.schedule.cases.occurrences)
        return sorted([*requests, *self._lasting_entries()], key=attrgetter("time"))

    def _planted(self, case: Case, events: list[PlannedEvent]) -> Planted:
        planned = (self.schedule.plan(number)[index] for number, index in map(self.schedule.position_of, events))
        times = tuple(to_datetime(event.time) for event in planned)
        positions = [self.schedule.position_of(first_of(event)) for event in events]
        update_ids = dict.fromkeys(starmap(self.identifiers.at, positions))
        return Planted(case.kind, times, case.reason, tuple(update_ids))

    def _lasting_entries(self) -> Iterator[Planted]:
        """Iterate over what is planted once in a world."""
        cases, parties, start = self.schedule.cases, self.parties, (to_datetime(self.timeline.start),)
        yield Planted(SLOW_CONFIRMER, start, "its requests take longer", subject=parties.slow_confirmer.identifier)
        for kind, member, reason in (
            (STALE_VOTE, STALE_VOTER, "the SV votes once and never again"),
            (OUTLIER, OUTLIER_VOTER, "the SV's price is more than twice that of the others"),
        ):
            time = to_datetime(self.schedule.votes[member].time(0))
            yield Planted(kind, (time,), reason, subject=parties.svs[member].identifier)
        package = newer(self.constants().templates[TICKET]).package_id
        upgrade = (to_datetime(cases.upgraded_at),)
        yield Planted(NEW_VERSION, upgrade, f"its requests cost {RISE_PERCENT} % more", subject=package)
        if cases.raised_day is not None:
            yield Planted(RAISED_WASTE, (to_datetime(cases.raised_day),), "twice the waste of other days")
