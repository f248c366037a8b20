"""Recurring events by formula, and the plan of each slice.

Rounds, price votes, status and liveness reports and subscription payments recur. Each occurrence replaces a
contract that the one before it created. Because its time is a formula, the contract that is active at any time
is known without reading the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from .parties import SV_NAMES, VALIDATOR_NAMES
from .planted import SCRIPT, Script
from .randomness import Draws, lookup_table, number
from .timeline import FIRST_MIGRATION, SECOND_MIGRATION, Timeline
from .times import DAY, HOUR, MINUTE, SECOND

if TYPE_CHECKING:
    from .cases import Cases

TICK = 10 * MINUTE
RACE_EVERY = 4  # every fourth round a second SV tries the same and loses
SUBSCRIBERS = 12
LIVENESS_SHARE, SUBSCRIPTION_SHARE, STATUS_SHARE, RACE_SHARE = 12, 60, 60, 60  # at most one event in so many
GENESIS_STEPS = 9
OUTLIER_VOTER, STALE_VOTER = 3, 4  # of the SVs, whose prices are far from the others, and who votes only once
OPEN_AT_ONCE = 3  # rounds
SETTLEMENT_SHARE, SV_REWARD_SHARE, PURCHASE_SHARE, NAME_SHARE = 50, 120, 80, 200  # at most one event in so many
SETTLED_AFTER = 3 * MINUTE  # after a tick
SPLIT_AFTER = 2 * MINUTE  # after a settlement
NAME_OWNERS, DUST_OWNERS = 4, 2
CONFIG_LEAD = 4 * MINUTE  # from a new configuration to the tick that makes the first round with it
FEATURED_LATER_PERCENT = 55
CONFIG_CHANGE = -1  # in place of a step of the script
ACCEPTED, PRIVATE, CONTENTION, TIMEOUT = "accepted", "private", "contention", "timeout"
REJECTED = (CONTENTION, TIMEOUT)
QUIET_REJECTS, BUSY_REJECTS, BUSIEST = 0.105, 0.09, 1220  # rejected at night, and what a busy hour adds, of those not scheduled
TIMED_OUT = 0.08  # of those rejected
PRIVATE_ABOVE = 0.965  # draws above it are requests without an update in the history
PRIVATE_KIND = "private exchange"
CLOCK_MARGIN = 1000  # microseconds free at the end of a slice, so that telling equal times apart never leaves it
MAX_CACHED_PLANS = 4


class PlannedEvent(NamedTuple):
    """One planned event."""

    time: int  # record time, microseconds since 1970
    kind: str
    member: int = 0  # who of those that recur
    occurrence: int = 0
    outcome: str = ACCEPTED
    case: int | None = None  # of the planted cases, whose request this is


class RecurringEvent(NamedTuple):
    """An event that recurs at first + n * period, plus less than `jitter`.

    Times are microseconds since 1970; the jitter is shorter than the period, so that order is kept.
    """

    seed: int
    kind: str
    member: int
    first: int
    period: int
    jitter: int

    def time(self, occurrence: int) -> int:
        """Return when an occurrence (0, 1, …) happens."""
        scheduled = self.first + occurrence * self.period
        return scheduled + number(self.seed, self.kind, self.member, occurrence) % self.jitter

    def count_before(self, time: int) -> int:
        """Return how many occurrences happen before a time."""
        count = (time - self.first - 1) // self.period + 1
        if count <= 0:
            return 0
        latest = self.first + (count - 1) * self.period + self.jitter
        return count if latest <= time else count - (self.time(count - 1) >= time)


class Schedule:
    """All scheduled events of a world.

    Parameters
    ----------
    seed
        Seed of the world.
    timeline
        Timeline of the world.
    events
        Number of events of the world; a small one reports less often.
    """

    def __init__(self, seed: int, timeline: Timeline, events: int) -> None:
        start, length = timeline.start, timeline.now - timeline.start
        self._seed, self._timeline = seed, timeline
        self.events_per_day = max(1, events * DAY // length)
        self.ticks = RecurringEvent(seed, "round tick", 0, start + TICK, TICK, SECOND)
        race = max(RACE_EVERY, RACE_SHARE * length // TICK // events) * TICK
        races = RecurringEvent(seed, "round race", 0, start + race + SECOND, race, SECOND)
        svs, validators = len(SV_NAMES), len(SV_NAMES) + len(VALIDATOR_NAMES)
        status = max(4 * HOUR, svs * length * STATUS_SHARE // events)
        liveness = max(TICK, validators * length * LIVENESS_SHARE // events)
        payment = max(TICK, SUBSCRIBERS * length * SUBSCRIPTION_SHARE // events)
        self.votes = _members(seed, "price vote", start + HOUR, 6 * HOUR, svs)
        self.votes[STALE_VOTER] = self.votes[STALE_VOTER]._replace(period=2 * length)
        purchase = max(2 * HOUR, validators * length * PURCHASE_SHARE // events)
        name, dust = (max(2 * HOUR, owners * length * NAME_SHARE // events) for owners in (NAME_OWNERS, DUST_OWNERS))
        self.purchases = _members(seed, "traffic purchase", start + 7 * MINUTE, purchase, validators)
        featured = start + length * FEATURED_LATER_PERCENT // 100
        self.late_feature = RecurringEvent(seed, "feature", 0, featured, 2 * length, HOUR)
        self.settle_every = max(1, SETTLEMENT_SHARE * length // TICK // events)  # rounds
        self._plan_rewards(seed, start, length, events)
        self.genesis = RecurringEvent(seed, "genesis", 0, start + SECOND // 4, SECOND // 4, SECOND // 8)
        self._recurring = [
            self.ticks,
            races,
            *self.votes,
            *_members(seed, "status report", start + HOUR, status, svs),
            *_members(seed, "liveness", start + 5 * MINUTE, liveness, validators),
            *_members(seed, "subscription", start + 5 * MINUTE, payment, SUBSCRIBERS),
            self.late_feature,
            self.settlements,
            self.splits,
            *self.sv_rewards,
            *self.sv_collections,
            *self.purchases,
            *_members(seed, "name term", start + 20 * MINUTE, name, NAME_OWNERS),
            *_members(seed, "dust", start + 40 * MINUTE, dust, DUST_OWNERS),
        ]
        self.script = Script((timeline.now - start) // TICK, events)
        self.script.schedule(start, TICK, {position: self.opens_at(position) for position in self.script.openings()})
        self.config_changes = [
            start + (position - OPEN_AT_ONCE + 1) * TICK - CONFIG_LEAD for position in self.first_positions()[1:]
        ]

    def within(self, begin: int, end: int) -> list[PlannedEvent]:
        """Return the scheduled events of a half-open range of time in order, all accepted."""
        events = [
            PlannedEvent(recurring.time(occurrence), recurring.kind, recurring.member, occurrence)
            for recurring in self._recurring
            for occurrence in range(recurring.count_before(begin), recurring.count_before(end))
        ]
        events += [PlannedEvent(time, SCRIPT[step].kind, step, cycle) for time, step, cycle in self.script.within(begin, end)]
        events += [
            PlannedEvent(time, "state change", CONFIG_CHANGE, n)
            for n, time in enumerate(self.config_changes)
            if begin <= time < end
        ]
        if begin <= self._timeline.start:
            events += [PlannedEvent(self.genesis.time(n), "genesis", 0, n) for n in range(GENESIS_STEPS)]
        return sorted(events)

    def total(self) -> int:
        """Return the number of scheduled events of the world."""
        planted = len(self.script.within(0, self._timeline.now)) + len(self.config_changes)
        return GENESIS_STEPS + planted + sum(recurring.count_before(self._timeline.now) for recurring in self._recurring)

    def effective_at_tick(self, tick: int) -> int:
        """Return the ledger effective time of a tick, 80 to 400 ms before its record time."""
        return self.ticks.time(tick) - 80_000 - number(self._seed, "tick delay", tick) % 320_000

    def opens_at(self, position: int) -> int:
        """Return the opening of a round by its position, in microseconds since 1970."""
        if position < OPEN_AT_ONCE:
            return self.genesis.time(0) + position * TICK
        return self.effective_at_tick(position - OPEN_AT_ONCE) + TICK

    def first_positions(self) -> tuple[int, int, int]:
        """Return the first round of each release (no settings, markers, traffic)."""
        return 0, max(OPEN_AT_ONCE + 1, self.script.switch // 2), max(OPEN_AT_ONCE + 2, self.script.switch)

    def _plan_rewards(self, seed: int, start: int, length: int, events: int) -> None:
        svs, batch = len(SV_NAMES), self.settle_every * TICK
        period = max(TICK, svs * length * SV_REWARD_SHARE // events)
        self.settlements = RecurringEvent(seed, "round settlement", 0, start + batch + SETTLED_AFTER, batch, SECOND)
        split = max(batch, batch * (length * SV_REWARD_SHARE // events // batch))
        self.splits = RecurringEvent(seed, "reward split", 0, start + batch + SETTLED_AFTER + SPLIT_AFTER, split, SECOND)
        self.sv_rewards = [
            RecurringEvent(seed, "sv reward", n, start + MINUTE + period * n // svs, period, MINUTE) for n in range(svs)
        ]
        collected = batch + TICK + 6 * MINUTE  # then the round is issuing
        self.sv_collections = [
            RecurringEvent(seed, "sv collection", n, event.first + collected, period, MINUTE)
            for n, event in enumerate(self.sv_rewards[:-1])  # the last one never collects
        ]


def _members(seed: int, kind: str, first: int, period: int, count: int) -> list[RecurringEvent]:
    # Members take turns over the period, so that they do not all report in the same minute.
    return [RecurringEvent(seed, kind, n, first + period * n // count, period, period // 8) for n in range(count)]


class SlicePlanner:
    """Planner of slices, whose plans tell the next slice which contracts are left for it.

    Parameters
    ----------
    seed
        Seed of the world.
    timeline, schedule, cases
        Timeline, scheduled events and planted cases of the world.
    events
        Number of event items of the world.
    weights
        Weight of each kind among the events that are not scheduled.
    """

    def __init__(
        self, seed: int, timeline: Timeline, schedule: Schedule, cases: Cases, events: int, weights: Mapping[str, int]
    ) -> None:
        self.timeline, self.cases = timeline, cases
        self._seed, self._schedule = seed, schedule
        self._kinds = lookup_table(list(weights), list(weights.values()))
        self._unscheduled = events - schedule.total() - cases.total()
        self._cache: tuple[tuple[int, list[PlannedEvent]], ...] = ()

    def plan(self, slice_number: int) -> list[PlannedEvent]:
        """Return the planned events of a slice, with strictly increasing record times."""
        for number_, events in self._cache:
            if number_ == slice_number:
                return events
        plan = self._plan(slice_number)
        self._cache = (*self._cache[1 - MAX_CACHED_PLANS :], (slice_number, plan))
        return plan

    def position_of(self, event: PlannedEvent) -> tuple[int, int]:
        """Return slice and index of a scheduled or planted event."""
        migration_id = FIRST_MIGRATION if event.time < self.timeline.switch else SECOND_MIGRATION
        slice_number = self.timeline.number_at(migration_id, event.time)
        identity = event[1:]
        return slice_number, next(n for n, planned in enumerate(self.plan(slice_number)) if planned[1:] == identity)

    def planned(self, event: PlannedEvent) -> PlannedEvent:
        """Return a scheduled or planted event as the plan has it."""
        slice_number, index = self.position_of(event)
        return self.plan(slice_number)[index]

    def _plan(self, slice_number: int) -> list[PlannedEvent]:
        slice_ = self.timeline.slice(slice_number)
        draws = Draws(number(self._seed, "plan", slice_number))
        count = self.timeline.share(slice_number, self._unscheduled)
        space = slice_.end - slice_.begin - count - CLOCK_MARGIN
        times = sorted(draws.below(space) for _ in range(count))
        reject = QUIET_REJECTS + BUSY_REJECTS * self.timeline.busyness(slice_number) / BUSIEST
        reject *= self.cases.rejection_factor(slice_.begin)
        unscheduled = [self._unscheduled_event(draws, reject, slice_.begin + time + n) for n, time in enumerate(times)]
        # While the migrations overlap, what is scheduled already happens in the second one.
        end = min(slice_.end, self.timeline.switch) if slice_.migration_id == FIRST_MIGRATION else slice_.end
        plan: list[PlannedEvent] = []
        scheduled = self._schedule.within(slice_.begin, end) + self.cases.within(slice_.begin, end)
        for event in sorted(scheduled + unscheduled, key=lambda event: event.time):
            if event.kind == "round race" and event.time >= self.timeline.verdicts_since:
                event = event._replace(outcome=CONTENTION)
            if plan and event.time <= plan[-1].time:  # of two at the same microsecond the unscheduled one gives way
                event = event._replace(time=plan[-1].time + 1)
            plan.append(event)
        return plan

    def _unscheduled_event(self, draws: Draws, reject: float, time: int) -> PlannedEvent:
        kind, fate, outcome = draws.pick(self._kinds), draws.random(), ACCEPTED
        if time >= self.timeline.verdicts_since:
            if fate < reject:
                outcome = TIMEOUT if fate < reject * TIMED_OUT else CONTENTION
            elif fate > PRIVATE_ABOVE:
                kind, outcome = PRIVATE_KIND, PRIVATE
        return PlannedEvent(time, kind, outcome=outcome)
