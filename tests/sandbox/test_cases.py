"""What is planted: each case is in the world as the key says, in small worlds as in large ones."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.sandbox import Planted, Sandbox
from ledgerframes.sandbox.cases import CASES, RAISED_BY, Cases
from ledgerframes.sandbox.timeline import Timeline
from ledgerframes.sandbox.transactions.templates.apps import TICKET
from ledgerframes.sandbox.vocabulary import vocabulary_of
from ledgerframes.sandbox.world import World

from .conftest import client_of, events_of, read_pages, update_format, updates_of

Items = list[dict[str, Any]]
Key = dict[str, list[Planted]]
KINDS = {case.kind for case in CASES}


def time_of(item: dict[str, Any], name: str = "record_time") -> datetime:
    return datetime.fromisoformat(item["verdict"][name])


def latency(item: dict[str, Any]) -> float:
    return (time_of(item, "finalization_time") - time_of(item)).total_seconds()


def result(item: dict[str, Any]) -> str:
    return str(item["verdict"]["verdict_result"]).removeprefix("VERDICT_RESULT_")


def planted_items(planted: Key, kind: str, by_id: dict[str, dict[str, Any]]) -> Items:
    assert planted[kind]
    return [by_id[update_id] for entry in planted[kind] for update_id in entry.update_ids]


def by_first(world_items: Items) -> dict[str, dict[str, Any]]:
    return {(item["verdict"] or item["update"])["update_id"]: item for item in reversed(world_items)}


def kind_key(box: Sandbox) -> Key:
    return {kind: [entry for entry in box.key() if entry.kind == kind] for kind in {entry.kind for entry in box.key()}}


@pytest.mark.parametrize(("events", "days"), [(300, 1), (400, 1), (900, 3), pytest.param(2_500, 9, marks=pytest.mark.exhaustive)])
def test_small_worlds_have_every_case_and_exactly_their_events(events: int, days: int) -> None:
    box = Sandbox(5, events, days)
    everything = [json.loads(event.item()) for event in box.world.events()]
    assert len(everything) == events
    first = by_first(everything)
    key = kind_key(box)
    assert set(key) >= KINDS
    for kind in KINDS - {"only in the ledger"}:
        for entry in key[kind]:
            assert time_of(first[entry.update_ids[0]]) == entry.time
    assert not {entry.update_ids[0] for entry in key["only in the ledger"]} & set(first)


def test_cases_recur_every_week() -> None:
    times = [entry.time for entry in Sandbox().key() if entry.kind == "negative cost"]
    assert len(times) == 7
    steps = [later - earlier for earlier, later in pairwise(times)]
    assert all(timedelta(days=6, hours=18) < step < timedelta(days=7, hours=6) for step in steps)
    begin, end = (datetime(2026, 11, day, tzinfo=UTC) for day in (2, 9))
    assert {entry.kind for entry in Sandbox().key() if begin <= entry.time < end} >= KINDS


@pytest.mark.usefixtures("own_worlds")
def test_the_key_needs_no_events_and_does_not_depend_on_reading() -> None:
    fresh, used = Sandbox(5, 3_500, 9), Sandbox(5, 3_500, 9)
    for number in random.Random(3).sample(range(used.world.timeline.count), 20):
        used.world.slice(number)
    assert fresh.key() == used.key()
    assert fresh.world.generated == 0


@pytest.mark.exhaustive
@given(st.randoms(use_true_random=False), st.integers(0, 3))
@settings(max_examples=3)
def test_any_order_of_access_gives_the_same_bytes(order: random.Random, seed: int) -> None:
    plain, shuffled = (World(seed, 500, 1, vocabulary_of("neutral")) for _ in range(2))
    numbers = list(range(plain.timeline.count))
    expected = [[event.item() for event in plain.slice(number)] for number in numbers]
    order.shuffle(numbers)
    for number in numbers:
        if order.random() < 0.02:
            shuffled.key()
        assert [event.item() for event in shuffled.slice(number)] == expected[number]


def test_second_verdicts_share_id_views_and_cost_with_the_first(items: Items, planted: Key) -> None:
    repeats: dict[str, Items] = {}
    for item in items:
        repeats.setdefault((item["verdict"] or item["update"])["update_id"], []).append(item)
    repeats = {update_id: both for update_id, both in repeats.items() if len(both) > 1}
    entries = {entry.update_ids[0]: entry for entry in planted["second verdict"]}
    assert set(repeats) == set(entries)
    assert len(repeats) == 3
    results: Counter[tuple[str, str]] = Counter()
    for update_id, both in repeats.items():
        first, second = both
        assert (time_of(first), time_of(second)) == entries[update_id].times
        assert second["update"] is None
        assert second["app_activity_records"] is None
        assert first["traffic_summary"] == second["traffic_summary"] is not None
        for name in ("submitting_parties", "submitting_participant_uid", "transaction_views", "migration_id"):
            assert first["verdict"][name] == second["verdict"][name]
        assert time_of(second, "finalization_time") > time_of(first, "finalization_time")
        results[result(first), result(second)] += 1
    assert results == {("ACCEPTED", "REJECTED"): 2, ("REJECTED", "REJECTED"): 1}


def test_a_look_up_of_a_request_with_two_verdicts_returns_the_first(client: httpx.Client, planted: Key, by_id: Any) -> None:
    for entry in planted["second verdict"]:
        (update_id,) = entry.update_ids
        assert client.get(f"/v0/events/{update_id}").json() == by_id[update_id]


def test_neighbors_are_one_microsecond_apart(items: Items, planted: Key, by_id: Any) -> None:
    first, second = planted_items(planted, "one microsecond apart", by_id)
    assert time_of(second) - time_of(first) == timedelta(microseconds=1)
    assert items.index(second) == items.index(first) + 1


def test_a_verdict_can_be_unspecified(items: Items, planted: Key, by_id: Any) -> None:
    (item,) = planted_items(planted, "unspecified verdict", by_id)
    assert (item["update"], item["app_activity_records"]) == (None, None)
    assert [item] == [each for each in items if each["verdict"] and result(each) == "UNSPECIFIED"]


def test_one_total_is_not_the_sum_of_its_envelopes(planted: Key, by_id: Any) -> None:
    (item,) = planted_items(planted, "total is not the sum of the envelopes", by_id)
    envelopes = item["traffic_summary"]["envelope_traffic_summaries"]
    assert item["traffic_summary"]["total_traffic_cost"] == 137 + sum(envelope["traffic_cost"] for envelope in envelopes)


def test_one_cost_is_negative_and_one_verdict_early(items: Items, planted: Key, by_id: Any) -> None:
    (negative,) = planted_items(planted, "negative cost", by_id)
    assert negative["traffic_summary"]["total_traffic_cost"] == -500
    assert [negative] == [each for each in items if each["traffic_summary"] and each["traffic_summary"]["total_traffic_cost"] < 0]
    (early,) = planted_items(planted, "verdict before its record time", by_id)
    assert latency(early) == -0.25
    assert [early] == [each for each in items if each["verdict"] and latency(each) < 0]


def test_requests_behind_a_time_out_wait_and_are_accepted(planted: Key, by_id: Any) -> None:
    culprit, *victims = planted_items(planted, "requests behind a timeout", by_id)
    assert (result(culprit), len(victims)) == ("REJECTED", 4)
    assert 30 < latency(culprit) <= 30.01
    for victim in victims:
        assert result(victim) == "ACCEPTED"
        assert time_of(culprit) < time_of(victim) < time_of(culprit, "finalization_time")
        assert 30 <= latency(victim) <= 60
        assert victim["verdict"]["submitting_participant_uid"] == culprit["verdict"]["submitting_participant_uid"]


def test_accepted_requests_can_be_slow(items: Items, planted: Key) -> None:
    victims = {update_id for entry in planted["requests behind a timeout"] for update_id in entry.update_ids}
    accepted = [item for item in items if item["verdict"] and result(item) == "ACCEPTED"]
    latencies = sorted(latency(item) for item in accepted if item["verdict"]["update_id"] not in victims)
    assert 7 < latencies[len(latencies) * 9 // 10] < 9
    assert 19 < latencies[-1] <= 22


def test_requests_with_the_slow_confirmer_take_longer(items: Items, planted: Key) -> None:
    slow = {True: 0, False: 0}
    total = {True: 0, False: 0}
    for item in items:
        if item["verdict"] and result(item) == "ACCEPTED":
            views = item["verdict"]["transaction_views"]["views"]
            confirmers = {party for view in views for quorum in view["confirming_parties"] for party in quorum["parties"]}
            is_concerned = planted["slow confirmer"][0].subject in confirmers
            total[is_concerned] += 1
            slow[is_concerned] += latency(item) > 4
    assert total[True] > 40
    assert slow[True] / total[True] > 0.45 > 0.2 > slow[False] / total[False]


def test_some_requests_have_two_submitting_parties_at_one_participant(items: Items, box: Sandbox) -> None:
    hosts = box.world.parties.by_identifier
    counts: Counter[int] = Counter()
    for item in items:
        if item["verdict"]:
            parties = item["verdict"]["submitting_parties"]
            counts[len(parties)] += 1
            assert len(set(parties)) == len(parties)
            assert {hosts[party].participant for party in parties} == {item["verdict"]["submitting_participant_uid"]}
            assert set(parties) <= {
                party for view in item["verdict"]["transaction_views"]["views"] for party in view["informees"]
            }
    assert set(counts) == {1, 2}
    assert 0.015 < counts[2] / counts.total() < 0.05


def test_some_thresholds_are_below_the_number_of_parties(items: Items) -> None:
    below: Counter[bool] = Counter()
    for item in items:
        for view in item["verdict"]["transaction_views"]["views"] if item["verdict"] else ():
            for quorum in view["confirming_parties"]:
                if len(quorum["parties"]) > 1:
                    below[quorum["threshold"] < len(quorum["parties"])] += 1
    assert 0.1 < below[True] / below.total() < 0.2


@pytest.mark.exhaustive
def test_a_newer_version_comes_with_costs_that_are_18_percent_higher() -> None:
    box = Sandbox(1, 9_000, 8)
    (entry,) = [entry for entry in box.key() if entry.kind == "newer version of a package"]
    per_view: dict[bool, list[float]] = {True: [], False: []}
    for event in box.world.events():
        item = json.loads(event.item())
        if item["update"] and item["update"].get("workflow_id") == "meadow-batch":
            nodes = item["update"]["events_by_id"].values()
            packages = {node["template_id"].partition(":")[0] for node in nodes}
            is_newer = datetime.fromisoformat(item["update"]["record_time"]) >= entry.time
            assert (packages == {entry.subject}) == is_newer
            assert {node["package_name"] for node in nodes} == {"meadow-batch"}
            if item["traffic_summary"]:
                envelopes = item["traffic_summary"]["envelope_traffic_summaries"]
                per_view[is_newer] += [one["traffic_cost"] / len(one["view_ids"]) for one in envelopes if one["view_ids"]]
    assert min(map(len, per_view.values())) > 200
    assert 1.13 < median(per_view[True]) / median(per_view[False]) < 1.23


@pytest.mark.parametrize("package", ["#meadow-batch", "first", "newer"])
def test_a_filter_matches_a_template_in_both_versions(ledger: httpx.Client, planted: Key, box: Sandbox, package: str) -> None:
    newer = planted["newer version of a package"][0].subject
    first = box.world.constants().templates[TICKET].package_id
    assert {first, newer} <= set(ledger.get("/v2/packages").json()["packageIds"])
    package = {"first": first, "newer": newer}.get(package, package)
    template = {"templateId": f"{package}:Meadow.Settlement.Batch:Ticket"}
    filters = {"cumulative": [{"identifierFilter": {"TemplateFilter": {"value": template}}}]}
    pages = read_pages(ledger, 2000, updateFormat=update_format(events={"filtersForAnyParty": filters}))
    events = [event for kind, value in updates_of(pages) if kind == "Transaction" for _, event in events_of(value)]
    assert {event["templateId"].partition(":")[0] for event in events} == {first, newer}


def test_one_update_is_only_in_the_ledger_and_one_only_in_the_history(box: Sandbox, planted: Key, by_id: Any) -> None:
    (only_in_ledger,) = planted["only in the ledger"][0].update_ids
    (only_in_history,) = planted["only in the history"][0].update_ids
    update = box.ledger.find(only_in_ledger)
    assert update is not None
    assert update.paid is not None
    assert update.submitters
    assert only_in_ledger not in by_id
    assert client_of(box).get(f"/v0/events/{only_in_ledger}").status_code == 404
    assert box.ledger.find(only_in_history) is None
    item = by_id[only_in_history]
    assert item["verdict"]["submitting_participant_uid"] == box.participant
    assert item["traffic_summary"]["total_traffic_cost"] > 0
    assert client_of(box).get(f"/v0/events/{only_in_history}").json() == item


@pytest.mark.exhaustive
def test_one_weekday_of_the_last_week_has_twice_the_waste() -> None:
    (entry,) = [entry for entry in Sandbox(1, 16_000, 8).key() if entry.kind == "weekday with more waste"]
    assert entry.time == datetime(2026, 11, 4, tzinfo=UTC)
    assert not [entry for entry in Sandbox(1, 3_000, 6).key() if entry.kind == "weekday with more waste"]
    waste: Counter[int] = Counter()
    for seed in (1, 2):
        world = Sandbox(seed, 8_000, 8).world
        for event in world.events(datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 11, 7, tzinfo=UTC)):
            if b"RESULT_REJECTED" in event.verdict and event.traffic_summary != b"null":
                day = datetime.fromtimestamp(event.record_time // 10**6, UTC).weekday()
                waste[day] += json.loads(event.traffic_summary)["total_traffic_cost"]
    usual = sum(waste[day] for day in (0, 1, 3, 4)) / 4
    assert 1.8 < waste[2] / usual < 2.4


def test_only_the_raised_day_is_raised() -> None:
    cases = Cases(1, Timeline(52_000, 52))
    day = 24 * 3_600_000_000
    assert cases.raised_day is not None
    edges = (cases.raised_day - 1, cases.raised_day, cases.raised_day + day - 1, cases.raised_day + day)
    assert [cases.rejection_factor(time) for time in edges] == [1, RAISED_BY, RAISED_BY, 1]
