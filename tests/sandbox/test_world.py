"""The world as a whole: same bytes everywhere, the order of the history, laziness."""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from campaign import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.sandbox.builder import build
from ledgerframes.sandbox.identifiers import UpdateIds
from ledgerframes.sandbox.participant.contracts import Contracts
from ledgerframes.sandbox.participant.ledger import ParticipantLedger
from ledgerframes.sandbox.sandbox import WORLD_VERSION
from ledgerframes.sandbox.timeline import PARTS_OF_AN_HOUR, Timeline
from ledgerframes.sandbox.times import DAY, HOUR, SECOND, Clock, to_datetime
from ledgerframes.sandbox.values import ENCODINGS, LEDGER
from ledgerframes.sandbox.vocabulary import vocabulary_of
from ledgerframes.sandbox.world import World, world_of

from .conftest import EVENTS, client_of, cursor_of

pytestmark = pytest.mark.usefixtures("own_worlds")
SMALL = (1, 400, 1)
PROMISED = "338150d15602d634"  # of the world with seed 7, 300 events, one day


def all_bytes(box: Sandbox) -> list[bytes]:
    return [event.item() for event in box.world.events()]


@pytest.fixture(scope="module")
def small() -> Sandbox:
    """A sandbox of a world that is made quickly."""
    return Sandbox(*SMALL)


def test_equal_shapes_give_equal_bytes_whatever_the_faults(small: Sandbox) -> None:
    assert all_bytes(Sandbox(*SMALL, faults=Faults(too_many_requests=0.5))) == all_bytes(small)


def test_another_seed_gives_another_world(small: Sandbox) -> None:
    other = {event.update_id for event in Sandbox(2, *SMALL[1:]).world.events()}
    assert other.isdisjoint(event.update_id for event in small.world.events())


def test_the_order_of_requests_does_not_matter(small: Sandbox) -> None:
    fresh = Sandbox(*SMALL).world
    for number in reversed(range(fresh.timeline.count)):
        assert [event.item() for event in fresh.slice(number)] == [event.item() for event in small.world.slice(number)]


def test_threads_see_one_world(small: Sandbox) -> None:
    fresh = Sandbox(*SMALL)
    numbers = [number for number in range(fresh.world.timeline.count) for _ in range(3)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fresh.world.slice, numbers))
    for number, events in zip(numbers, found, strict=True):
        assert [event.item() for event in events] == [event.item() for event in small.world.slice(number)]


def test_the_bytes_of_a_seed_are_promised() -> None:
    """Stores are named by WORLD_VERSION: when this fails and the change is meant, raise it."""
    text = b"\n".join(all_bytes(Sandbox(7, 300, 1)))
    assert hashlib.sha256(text).hexdigest()[:16] == PROMISED, "raise WORLD_VERSION, and put the new digest into PROMISED"


def test_the_number_of_events_is_exact(items: list[dict[str, Any]]) -> None:
    assert len(items) == EVENTS


@given(st.integers(1, 10**6), st.integers(1, 60), st.integers(1, 10**9))
@example(40_000_000, 1, 10**9)  # the shortest slices, of one second
@settings(max_examples=examples(6), deadline=None)
def test_slices_share_out_every_event(events: int, days: int, shared: int) -> None:
    timeline = Timeline(events, days)
    assert sum(timeline.share(number, shared) for number in range(timeline.count)) == shared


def test_slices_are_whole_seconds_that_divide_an_hour() -> None:
    assert all(HOUR // SECOND % parts == 0 for parts in PARTS_OF_AN_HOUR)


@pytest.mark.parametrize("days", [1, 8, 60])
def test_a_world_too_small_names_a_number_that_works(days: int) -> None:
    with pytest.raises(ValueError, match="Use more events or fewer days") as caught:
        Sandbox(events=100, days=days)
    match = re.search(r"events=100 is below the (\d+) that", str(caught.value))
    assert match
    Sandbox(events=int(match[1]), days=days)
    with pytest.raises(ValueError, match="Use more events"):
        Sandbox(events=int(match[1]) * 3 // 4, days=days)


def test_record_times_rise_strictly_inside_a_migration(items: list[dict[str, Any]]) -> None:
    places = [tuple(cursor_of(item).values()) for item in items]
    assert places == sorted(set(places))
    assert all(len(str(time)) == len("2026-11-07T00:00:00.000000Z") for _, time in places)


def test_both_migrations_have_events_while_they_overlap(box: Sandbox) -> None:
    switch = box.start + timedelta(microseconds=box.world.timeline.switch - box.world.timeline.start)
    both = [event.migration_id for event in box.world.events(switch, switch + timedelta(minutes=20))]
    assert {3, 4} == set(both)
    assert box.start + (box.now - box.start) * 0.35 < switch < box.start + (box.now - box.start) * 0.45
    assert not [event for event in box.world.events(switch + timedelta(minutes=20)) if event.migration_id == 3]


def test_the_world_has_a_beginning_and_an_end() -> None:
    box = Sandbox()
    assert box.start == datetime(2026, 9, 18, tzinfo=UTC)
    assert box.now == datetime(2026, 11, 9, 6, tzinfo=UTC)
    assert box.name == f"sandbox-v{WORLD_VERSION}-seed1-events52000-days52"
    assert "seed1" in repr(box)


def test_six_whole_weeks_lie_before_the_last_whole_week() -> None:
    """The week before the present is reported, and the weeks before it give the usual range."""
    timeline = Sandbox().world.timeline
    assert to_datetime(timeline.midnight).weekday() == 0
    assert timeline.midnight - timeline.verdicts_since > 7 * 7 * DAY


def test_days_are_busier_than_nights_and_workdays_than_weekends() -> None:
    timeline = Timeline(24_000, 8)
    counts = [timeline.share(number, 24_000) for number in range(timeline.count)]
    sunday_noon, monday_night, monday_noon = counts[12], counts[24 + 3], counts[24 + 12]
    assert monday_noon > 2 * monday_night
    assert monday_noon > 1.4 * sunday_noon


def test_a_huge_world_answers_from_its_middle_at_once() -> None:
    box = Sandbox(events=10_000_000)
    assert box.world.generated == 0
    after = {"after_migration_id": 4, "after_record_time": "2026-11-06T12:00:00Z"}
    page = client_of(box).post("/v0/events", json={"page_size": 300, "after": after}).json()["events"]
    assert len(page) == 300
    assert box.world.generated <= 3
    found = client_of(box).get(f"/v0/events/{page[-1]['verdict']['update_id']}").json()
    assert found == page[-1]
    assert box.world.generated <= 3


def test_a_process_has_one_world_of_the_same_figures() -> None:
    vocabulary = vocabulary_of("neutral")
    assert world_of(1, 700, 3, vocabulary) is world_of(1, 700, 3, vocabulary)
    assert world_of(1, 700, 3, vocabulary) is not world_of(2, 700, 3, vocabulary)


@pytest.mark.exhaustive
def test_a_small_world_is_made_once_and_a_large_one_is_not_kept() -> None:
    shapes, words = ((6, 700, 3), (6, 2_400, 8)), vocabulary_of("neutral")
    small, large = (World(*shape, words, max_cached_events=1_000) for shape in shapes)
    for world in (small, large):
        for number in (*range(world.timeline.count), 0):
            world.slice(number)
    assert small.generated == small.timeline.count
    assert large.generated == large.timeline.count + 1


@pytest.mark.exhaustive
def test_a_small_world_is_kept_in_each_encoding() -> None:
    world, encodings = World(1, 400, 1, vocabulary_of("neutral"), max_cached_events=400), (*ENCODINGS, LEDGER.name)
    for encoding in encodings * 2:
        for number in range(world.timeline.count):
            world.slice(number, encoding)
    assert world.generated == world.timeline.count * len(encodings)


@pytest.mark.exhaustive
def test_what_a_participant_sees_of_a_small_world_is_kept(box: Sandbox) -> None:
    slices = [box.ledger.slice(number) for number in range(box.world.timeline.count)]
    assert all(box.ledger.slice(number) is updates for number, updates in enumerate(slices))


@pytest.mark.parametrize("encoding", [*ENCODINGS, LEDGER.name])
def test_a_settlement_reads_the_activity_of_what_is_built(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    builds = []
    monkeypatch.setattr("ledgerframes.sandbox.world.build", lambda state: builds.append(state.number) or build(state))
    world = World(1, 400, 1, vocabulary_of("neutral"), max_cached_totals=10)
    for number in range(world.timeline.count):
        world.slice(number, encoding)
        assert len(world._totals) <= 10
    assert builds == list(range(world.timeline.count))


def test_sandboxes_of_one_world_share_what_a_participant_sees() -> None:
    world = Sandbox(6, 400, 1).world
    first, second = (ParticipantLedger(world, Clock(world.timeline.now, world.timeline.now)) for _ in range(2))
    assert first.slice(3) is second.slice(3)
    assert first.slice(3) is not ParticipantLedger(world, first.clock, world.parties.svs[0].participant).slice(3)
    assert world.derived(Contracts, first.participant) is world.derived(Contracts, second.participant)


@given(st.integers(), st.integers(0, 2**40 - 1), st.integers(0, 2**24 - 1))
def test_an_update_id_says_where_it_stands(seed: int, slice_number: int, index: int) -> None:
    identifiers = UpdateIds(seed)
    update_id = identifiers.at(slice_number, index)
    assert len(update_id) == 68
    assert identifiers.position(update_id) == (slice_number, index)
    assert UpdateIds(seed + 1).position(update_id) is None


@given(st.text(max_size=70))
def test_no_other_text_is_an_update_id(text: str) -> None:
    assert UpdateIds(1).position(text) is None
