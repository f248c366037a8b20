"""Recurring events by formula, and the plan of each slice.

Rounds, price votes, status and liveness reports and subscription payments recur. Each occurrence replaces a
contract that the one before it created. Because its time is a formula, the contract that is active at any time
is known without reading the history.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter

from .cases import Cases, is_in_history
from .parties import SVS, VALIDATORS
from .randomness import Draws, lookup_table, number
from .script import STATE_CHANGE, Script
from .timeline import ACCEPTED, CONTENTION, PRIVATE, TIMEOUT, PlannedEvent, RecurringEvent, Timeline
from .times import DAY, HOUR, MINUTE, SECOND

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
QUIET_REJECTS, BUSY_REJECTS, BUSIEST = 0.105, 0.09, 1220  # rejected at night, and what a busy hour adds, of those not scheduled
TIMED_OUT = 0.08  # of those rejected
PRIVATE_ABOVE = 0.965  # draws above it are requests without an update in the history
PRIVATE_KIND = "private exchange"
CLOCK_MARGIN = 1000  # microseconds free at the end of a slice, so that telling equal times apart never leaves it
MAX_CACHED_PLANS = 4


_time = attrgetter("time")


class Scheduled(StrEnum):
    """Kinds of transactions that happen at times by formula."""

    GENESIS = "genesis"
    ROUND_TICK = "round tick"
    ROUND_RACE = "round race"
    ROUND_SETTLEMENT = "round settlement"
    FEATURE = "feature"
    PRICE_VOTE = "price vote"
    STATUS_REPORT = "status report"
    LIVENESS = "liveness"
    SUBSCRIPTION = "subscription"
    REWARD_SPLIT = "reward split"
    SV_REWARD = "sv reward"
    SV_COLLECTION = "sv collection"
    TRAFFIC_PURCHASE = "traffic purchase"
    NAME_TERM = "name term"
    DUST = "dust"


class Schedule:
    """Schedule of a world, of which a small one has fewer events, and the plans of its slices.

    A plan tells the next slice which contracts are left for it. `weights` are those of each kind among the events that are
    not scheduled.
    """

    def __init__(self, seed: int, events: int, days: int, weights: Mapping[str, int]) -> None:
        self.timeline = timeline = Timeline(events, days)
        self.cases = Cases(seed, timeline)
        self._seed, self._events, self._length = seed, events, timeline.now - timeline.start
        self.events_per_day = max(1, events * DAY // self._length)
        self.settle_every = max(1, SETTLEMENT_SHARE * self._length // TICK // events)  # rounds
        self._batch = self.settle_every * TICK
        self.genesis = self._one(Scheduled.GENESIS, SECOND // 4, SECOND // 4, SECOND // 8)
        self.ticks = self._one(Scheduled.ROUND_TICK, TICK, TICK)
        self.late_feature = self._one(Scheduled.FEATURE, self._length * FEATURED_LATER_PERCENT // 100, 2 * self._length, HOUR)
        self.settlements = self._one(Scheduled.ROUND_SETTLEMENT, self._batch + SETTLED_AFTER, self._batch)
        self.votes = self._members(Scheduled.PRICE_VOTE, HOUR, 6 * HOUR, SVS)
        self.votes[STALE_VOTER] = self.votes[STALE_VOTER]._replace(period=2 * self._length)
        self.purchases = self._members(Scheduled.TRAFFIC_PURCHASE, 7 * MINUTE, 2 * HOUR, VALIDATORS, PURCHASE_SHARE)
        self.sv_rewards = self._members(Scheduled.SV_REWARD, MINUTE, TICK, SVS, SV_REWARD_SHARE, MINUTE)
        collected = self._batch + TICK + 6 * MINUTE  # then the round is issuing
        self.sv_collections = [
            reward._replace(kind=Scheduled.SV_COLLECTION, first=reward.first + collected)
            for reward in self.sv_rewards[:-1]  # the last one never collects
        ]
        self._recurring = self._recurring_events()
        self.script = Script(self._length // TICK, events, timeline.start, TICK, self.opens_at)
        first_ticks = [position - OPEN_AT_ONCE for position in self.first_positions()[1:]]
        self.config_changes = [timeline.start + (tick + 1) * TICK - CONFIG_LEAD for tick in first_ticks]  # of the coin rules
        self._planted = self._planted_events()
        self._kinds = lookup_table(list(weights), list(weights.values()))
        self._unscheduled = events - self.total()
        self.plan = lru_cache(MAX_CACHED_PLANS)(self._plan)

    def _one(self, kind: str, first: int, period: int, jitter: int = SECOND) -> RecurringEvent:
        return RecurringEvent(self._seed, kind, 0, self.timeline.start + first, period, jitter)

    def _members(self, kind: str, first: int, shortest: int, count: int, share: int = 0, jitter: int = 0) -> list[RecurringEvent]:
        """Return an event for each member.

        They take turns over the period, so that they do not all report in the same minute.
        """
        period = max(shortest, count * self._length * share // self._events)
        starts = [self.timeline.start + first + period * n // count for n in range(count)]
        return [RecurringEvent(self._seed, kind, n, start, period, jitter or period // 8) for n, start in enumerate(starts)]

    def _recurring_events(self) -> list[RecurringEvent]:
        """Return all recurring events except those of the genesis."""
        race = max(RACE_EVERY, RACE_SHARE * self._length // TICK // self._events) * TICK
        split = max(self._batch, self._batch * (self._length * SV_REWARD_SHARE // self._events // self._batch))
        return [
            self.ticks,
            self._one(Scheduled.ROUND_RACE, race + SECOND, race),
            *self.votes,
            *self._members(Scheduled.STATUS_REPORT, HOUR, 4 * HOUR, SVS, STATUS_SHARE),
            *self._members(Scheduled.LIVENESS, 5 * MINUTE, TICK, VALIDATORS, LIVENESS_SHARE),
            *self._members(Scheduled.SUBSCRIPTION, 5 * MINUTE, TICK, SUBSCRIBERS, SUBSCRIPTION_SHARE),
            self.late_feature,
            self.settlements,
            self._one(Scheduled.REWARD_SPLIT, self._batch + SETTLED_AFTER + SPLIT_AFTER, split),
            *self.sv_rewards,
            *self.sv_collections,
            *self.purchases,
            *self._members(Scheduled.NAME_TERM, 20 * MINUTE, 2 * HOUR, NAME_OWNERS, NAME_SHARE),
            *self._members(Scheduled.DUST, 40 * MINUTE, 2 * HOUR, DUST_OWNERS, NAME_SHARE),
        ]

    def _planted_events(self) -> list[PlannedEvent]:
        """Return the events of the genesis, of the script and of the cases, by time."""
        planted = [PlannedEvent(self.genesis.time(n), Scheduled.GENESIS, 0, n) for n in range(GENESIS_STEPS)]
        planted += [PlannedEvent(time, STATE_CHANGE, CONFIG_CHANGE, n) for n, time in enumerate(self.config_changes)]
        planted += [request for requests in self.cases.occurrences for request in requests]
        return sorted(planted + self.script.planned, key=_time)

    def within(self, begin: int, end: int) -> list[PlannedEvent]:
        """Return the scheduled and planted events with begin <= time < end."""
        first, last = (bisect_left(self._planted, time, key=_time) for time in (begin, end))
        return [event for recurring in self._recurring for event in recurring.within(begin, end)] + self._planted[first:last]

    def total(self) -> int:
        """Return the number of scheduled and planted events that the history shows."""
        recurring = sum(event.count_before(self.timeline.now) for event in self._recurring)
        return recurring + sum(map(is_in_history, self._planted))

    def record_times(self, slice_number: int) -> list[int]:
        """Return the record times of a slice's events, in microseconds since 1970."""
        return [event.time for event in self.plan(slice_number)]

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

    def position_of(self, event: PlannedEvent) -> tuple[int, int]:
        """Return slice and index of a scheduled or planted event, by all but its time."""
        slice_number = self.timeline.number_of(event.time)
        identity = event[1:]
        return slice_number, next(n for n, planned in enumerate(self.plan(slice_number)) if planned[1:] == identity)

    def _plan(self, slice_number: int) -> list[PlannedEvent]:
        """Return the planned events of a slice, with strictly increasing record times."""
        slice_ = self.timeline.slice(slice_number)
        draws = Draws(number(self._seed, "plan", slice_number))
        count = self.timeline.share(slice_number, self._unscheduled)
        space = slice_.end - slice_.begin - count - CLOCK_MARGIN
        times = sorted(draws.below(space) for _ in range(count))
        reject = QUIET_REJECTS + BUSY_REJECTS * self.timeline.busyness(slice_number) / BUSIEST
        reject *= self.cases.rejection_factor(slice_.begin)
        unscheduled = [self._unscheduled_event(draws, reject, slice_.begin + time + n) for n, time in enumerate(times)]
        # While the migrations overlap, what is scheduled already happens in the second one.
        end = min(slice_.end, self.timeline.switch) if slice_number < self.timeline.first_count else slice_.end
        plan: list[PlannedEvent] = []
        for event in sorted(self.within(slice_.begin, end) + unscheduled, key=_time):
            if event.kind == Scheduled.ROUND_RACE and event.time >= self.timeline.verdicts_since:
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
