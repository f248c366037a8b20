"""Verdicts, traffic, and the parts of events that are not there."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from ledgerframes.sandbox import Planted, Sandbox
from ledgerframes.sandbox.cases import OTHER_TOTAL
from ledgerframes.sandbox.transactions.governance import UNKNOWN_VIEWS as PLANTED_VIEWS

Items = list[dict[str, Any]]
ACCEPTED, REJECTED = "VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED"


def judged(items: Items, result: str = "") -> Items:
    return [item for item in items if item["verdict"] and item["verdict"]["verdict_result"].endswith(result)]


def latency(item: dict[str, Any]) -> float:
    verdict = item["verdict"]
    end, begin = (datetime.fromisoformat(verdict[name]) for name in ("finalization_time", "record_time"))
    return (end - begin).total_seconds()


def test_every_item_has_all_four_keys(items: Items) -> None:
    parts = ["update", "verdict", "traffic_summary", "app_activity_records"]
    assert all(list(item) == parts for item in items)


def test_verdict_and_update_name_the_same_thing(items: Items) -> None:
    for item in judged(items):
        verdict, update = item["verdict"], item["update"]
        if update:
            assert (verdict["update_id"], verdict["record_time"]) == (
                update["update_id"],
                update["record_time"],
            )
        if update and "events_by_id" in update:
            assert verdict["migration_id"] == update["migration_id"]
            assert verdict["domain_id"] == update["synchronizer_id"]


def test_the_share_of_rejected_is_the_networks(items: Items) -> None:
    assert 0.10 < len(judged(items, REJECTED)) / len(judged(items)) < 0.15


def test_rejected_requests_have_no_update_and_no_activity_but_cost(items: Items) -> None:
    rejected = judged(items, REJECTED)
    assert not [item for item in rejected if item["update"] or item["app_activity_records"]]
    assert sum(item["traffic_summary"] is not None for item in rejected) > 0.9 * len(rejected)


def test_some_accepted_requests_are_private(items: Items) -> None:
    private = [item for item in judged(items, ACCEPTED) if item["update"] is None]
    assert 0.01 < len(private) / len(judged(items)) < 0.03
    assert any(item["traffic_summary"] for item in private)


def test_what_the_history_shows_the_dso_has_seen(items: Items, box: Sandbox) -> None:
    dso = box.world.parties.dso
    for item in judged(items):
        informees = [view["informees"] for view in item["verdict"]["transaction_views"]["views"]]
        private = item["update"] is None and item["verdict"]["verdict_result"] == ACCEPTED
        assert any(dso in parties for parties in informees) != private


def test_rejections_are_contention_or_time_outs(items: Items) -> None:
    latencies = [latency(item) for item in judged(items, REJECTED)]
    timeouts = [seconds for seconds in latencies if seconds >= 30]
    assert 0 < len(timeouts) < 0.2 * len(latencies)
    assert all(30 < seconds <= 30.01 for seconds in timeouts)
    assert all(0.06 <= seconds <= 1.5 for seconds in latencies if seconds < 30)


def test_more_confirmers_take_longer(items: Items) -> None:
    by_views: dict[bool, list[float]] = {True: [], False: []}
    for item in judged(items, ACCEPTED):
        by_views[len(item["verdict"]["transaction_views"]["views"]) > 2].append(latency(item))
    medians = {many: sorted(values)[len(values) // 2] for many, values in by_views.items()}
    assert medians[True] > medians[False]
    assert 0.5 < sorted(by_views[True] + by_views[False])[len(judged(items, ACCEPTED)) // 2] < 0.75


def test_busy_hours_and_careless_validators_are_rejected_more() -> None:
    world = Sandbox(seed=3, events=6_000, days=3).world
    hours: Counter[tuple[bool, bool]] = Counter()
    validators: Counter[tuple[bool, bool]] = Counter()
    careless = {party.participant for party in world.parties.validators[5:][3::7]}
    for number in range(20, world.timeline.count):
        busy = world.timeline.busyness(number) > 500
        for event in world.slice(number):
            rejected = REJECTED.encode() in event.verdict
            hours[busy, rejected] += 1
            submitter = event.verdict.partition(b'"submitting_participant_uid":"')[2].partition(b'"')[0].decode()
            validators[submitter in careless, rejected] += 1
    for counter in (hours, validators):
        share = {flag: counter[flag, True] / (counter[flag, True] + counter[flag, False]) for flag in (True, False)}
        assert share[True] > share[False]


def test_views_form_trees_with_dense_ids(items: Items) -> None:
    counts: Counter[int] = Counter()
    for item in judged(items):
        transaction_views = item["verdict"]["transaction_views"]
        views = transaction_views["views"]
        assert [view["view_id"] for view in views] == list(range(len(views)))
        below = [child for view in views for child in view["sub_views"]]
        assert sorted(below + transaction_views["root_views"]) == list(range(len(views)))
        counts[len(views)] += 1
        for view in views:
            assert view["view_hash"] == ""
            assert view["informees"] == sorted(set(view["informees"]))
            for quorum in view["confirming_parties"]:
                assert set(quorum["parties"]) <= set(view["informees"])
                assert len(quorum["parties"]) - quorum["threshold"] in (0, len(quorum["parties"]) > 1)
    assert (min(counts), max(counts)) == (1, 46)
    by_size = sorted(counts.elements())
    assert 18 <= by_size[len(by_size) * 9 // 10] <= 26


def test_a_fifth_of_the_views_has_two_quorums(items: Items) -> None:
    quorums = Counter(
        len(view["confirming_parties"]) for item in judged(items) for view in item["verdict"]["transaction_views"]["views"]
    )
    assert set(quorums) == {1, 2}
    assert 0.1 < quorums[2] / quorums.total() < 0.3


def views_of(item: dict[str, Any]) -> list[dict[str, Any]]:
    views: list[dict[str, Any]] = item["verdict"]["transaction_views"]["views"]
    return views


def test_costs_add_up_and_envelopes_carry_views_of_the_verdict(items: Items, planted: dict[str, list[Planted]]) -> None:
    without_views: Counter[int] = Counter()
    differing = []
    unknown = 0
    for item in judged(items):
        traffic = item["traffic_summary"]
        if traffic is None:
            continue
        envelopes = traffic["envelope_traffic_summaries"]
        if traffic["total_traffic_cost"] != sum(envelope["traffic_cost"] for envelope in envelopes):
            differing.append(item["verdict"]["update_id"])
        carried = [view_id for envelope in envelopes for view_id in envelope["view_ids"]]
        assert [view_id for view_id in carried if view_id not in PLANTED_VIEWS] == list(range(len(views_of(item))))
        unknown += any(view_id in PLANTED_VIEWS for view_id in carried)
        without_views[sum(not envelope["view_ids"] for envelope in envelopes)] += 1
    assert without_views[2] > 0.8 * without_views.total()
    assert differing == [update_id for entry in planted[OTHER_TOTAL] for update_id in entry.update_ids]
    assert unknown == 1  # by the script of planted cases


def test_the_planted_request_can_be_found(items: Items) -> None:
    planted = [(1444, []), (146, []), (3565, [0])]
    found = [
        item["traffic_summary"]["total_traffic_cost"]
        for item in items
        if item["traffic_summary"]
        and [tuple(envelope.values()) for envelope in item["traffic_summary"]["envelope_traffic_summaries"]] == planted
    ]
    assert found
    assert set(found) == {5155}


def test_a_few_validators_make_most_of_the_traffic(items: Items) -> None:
    cost: Counter[str] = Counter()
    for item in judged(items):
        if item["traffic_summary"]:
            cost[item["verdict"]["submitting_participant_uid"]] += item["traffic_summary"]["total_traffic_cost"]
    shares = sorted(cost.values(), reverse=True)
    assert len(shares) == 30
    assert sum(shares[:6]) > 0.5 * sum(shares)


def test_the_youth_of_the_network_has_no_verdicts(items: Items, box: Sandbox) -> None:
    since = box.start + timedelta(microseconds=(box.world.timeline.switch - box.world.timeline.start) // 10)
    for item in items:
        part = item["verdict"] or item["update"]
        young = datetime.fromisoformat(part["record_time"]) < since
        assert (item["verdict"] is None) == young
        if young:
            assert item["traffic_summary"] is None
            assert item["app_activity_records"] is None


def test_traffic_is_missing_now_and_then_and_activity_with_it(items: Items) -> None:
    unjoined = [item for item in judged(items) if item["traffic_summary"] is None]
    assert 0.01 < len(unjoined) / len(judged(items)) < 0.06
    assert not [item for item in unjoined if item["app_activity_records"]]
