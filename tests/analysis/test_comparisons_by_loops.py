"""Comparisons of two sources, computed again by plain loops over random rows."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
from campaign import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.frames import Frames
from ledgerframes.testing import frames_of
from ledgerframes.values.windows import Window

DAY = datetime(2026, 11, 8, tzinfo=UTC)
WINDOW = Window(DAY, DAY + timedelta(days=1))
OWN, OTHER = "own::1220aa", "other::1220bb"
FACTS = st.tuples(st.sampled_from([OWN, OTHER]), st.sampled_from(["ACCEPTED", "REJECTED"]), st.none() | st.integers(0, 9))
HISTORY = st.dictionaries(st.sampled_from("abcdefgh"), FACTS)
LEDGER = st.dictionaries(st.sampled_from("abcdefgh"), st.none() | st.integers(0, 9))
EVERY = {"a": (OWN, "ACCEPTED", 5), "b": (OWN, "ACCEPTED", 6), "c": (OTHER, "ACCEPTED", 7), "d": (OWN, "REJECTED", 8)}


def at(name: str) -> datetime:
    return DAY + timedelta(hours=ord(name) - ord("a"))


def history_of(facts: dict[str, tuple[str, str, int | None]]) -> Frames:
    verdicts = [
        {
            "update_id": name,
            "record_time": at(name),
            "submitting_participant_uid": uid,
            "verdict_result": f"VERDICT_RESULT_{result}",
        }
        for name, (uid, result, _) in facts.items()
    ]
    costs = {name: cost for name, (_, _, cost) in facts.items() if cost is not None}
    traffic = [{"update_id": name, "record_time": at(name), "total_traffic_cost": cost} for name, cost in costs.items()]
    return frames_of(window=WINDOW, verdicts=verdicts, traffic=traffic)


@settings(max_examples=examples(5))
@given(ledger=LEDGER, facts=HISTORY)
@example(ledger={"a": 5, "b": 4, "c": None, "e": 9, "h": 1}, facts=EVERY)
def test_paid_traffic(ledger: dict[str, int | None], facts: dict[str, tuple[str, str, int | None]]) -> None:
    updates = [
        {
            "update_id": name,
            "offset": number + 1,
            "record_time": at(name),
            "kind": "transaction",
            "participant_id": OWN,
            "paid_traffic_cost": paid,
        }
        for number, (name, paid) in enumerate(sorted(ledger.items()))
    ]
    shown = lf.reconcile.paid_traffic(frames_of(ledger_updates=updates), history_of(facts), participant=OWN)
    outcomes = dict(zip(shown["update_id"], shown["outcome"].astype("str"), strict=True))
    assert outcomes == {name: outcome_of(name, ledger, facts) for name in ledger | facts}


def outcome_of(name: str, ledger: dict[str, int | None], facts: dict[str, Any]) -> str:
    """An update outside of the time of the ledger compares with nothing."""
    is_inside = bool(ledger) and min(ledger) <= name <= max(ledger)
    uid, _, cost = facts.get(name, (None, None, None))
    paid = ledger.get(name)
    if not is_inside or (uid == OTHER):
        return "not comparable"
    if name not in ledger:
        return "only in history"
    if name not in facts and paid is not None:
        return "only in ledger"
    if paid is None or cost is None:
        return "not comparable"
    return "equal" if paid == cost else "different"


@settings(max_examples=examples(5))
@given(a=HISTORY, b=HISTORY)
@example(a=EVERY, b=EVERY | {"b": (OWN, "REJECTED", None), "e": (OWN, "ACCEPTED", 1)})
def test_nodes(a: dict[str, tuple[str, str, int | None]], b: dict[str, tuple[str, str, int | None]]) -> None:
    shown = lf.reconcile.nodes(history_of(a), history_of(b)).set_index("aspect")
    columns = ["equal", "different", "only_a", "only_b"]
    both = a.keys() & b.keys()
    assert shown.loc["presence", columns].tolist() == [len(both), 0, len(a.keys() - both), len(b.keys() - both)]
    for aspect, index in (("participant", 0), ("verdict", 1), ("traffic cost", 2)):
        counts: Counter[str] = Counter()
        for name in both:
            pair = a[name][index], b[name][index]
            if pair[0] is None or pair[1] is None:
                counts["" if pair == (None, None) else "only_b" if pair[0] is None else "only_a"] += 1
            else:
                counts["equal" if pair[0] == pair[1] else "different"] += 1
        assert shown.loc[aspect, columns].tolist() == [counts[name] for name in columns]


@settings(max_examples=examples(10))
@given(ranges=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), min_size=1, max_size=6))
def test_bounds(ranges: list[tuple[int, int]]) -> None:
    coverage = [{"after": after, "through": after + length, "status": "final"} for after, length in ranges]
    shown = lf.reconcile.bounds(frames_of(coverage=coverage))
    covered: set[int] = set()
    for row in shown.itertuples():
        offsets = set(range(row.after + 1, row.through + 1))
        gap = set(range(max(covered) + 1, row.after + 1)) if covered else set()
        assert (row.gap_before, row.overlap_before) == (len(gap), len(offsets & set(range(max(covered, default=row.after) + 1))))
        covered |= offsets
    assert list(zip(shown["after"], shown["through"], strict=True)) == sorted((after, after + n) for after, n in ranges)


NODES = st.dictionaries(st.sampled_from("abcd"), st.dictionaries(st.sampled_from("kl"), st.sampled_from("xyz")), min_size=2)


@settings(max_examples=examples(5))
@given(listed=NODES)
@example(listed={"a": {"k": "x"}, "b": {"k": "x"}, "c": {"k": "y"}})
def test_digests(listed: dict[str, dict[str, str]]) -> None:
    tables = {
        node: pd.DataFrame({"object_key": list(keys), "sha256": list(keys.values()), "until": pd.Timestamp(DAY)})
        for node, keys in listed.items()
    }
    shown = lf.reconcile.digests(tables).set_index("object_key")
    for key in {key for keys in listed.values() for key in keys}:
        digests = {node: keys[key] for node, keys in listed.items() if key in keys}
        counts = Counter(digests.values())
        most, number = counts.most_common(1)[0]
        row = shown.loc[key]
        assert row["listed"] == len(digests)
        if 2 * number > len(digests):
            assert row["majority_sha256"] == most
            names = [node for node in listed if digests.get(node, most) != most]
            assert (row["dissenters"] if names else None) == (", ".join(names) or None)
        else:
            assert pd.isna(row["majority_sha256"])
        missing = len(digests) < len(listed)
        assert row["outcome"] == ("different" if len(counts) > 1 else "missing" if missing else "equal")


@settings(max_examples=examples(5))
@given(costs=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 10**7), min_size=1))
def test_journal(costs: dict[str, int]) -> None:
    """Each line of a bill is one entry that balances, except for lines of 0."""
    heads = [{"update_id": name, "record_time": at(name)} for name in costs]
    verdicts = [{**head, "submitting_participant_uid": head["update_id"]} for head in heads]
    traffic = [{**head, "total_traffic_cost": costs[head["update_id"]]} for head in heads]
    frames = frames_of(window=WINDOW, network="memory", verdicts=verdicts, traffic=traffic)
    bill = lf.cost.statement(frames, by="participant", every="1d", price=lf.TrafficPrice("60", "USD/MB"))
    entries = lf.cost.journal(bill, accounts={"traffic": ("5200", "1400")})
    lines = {row.submitting_participant_uid: row.currency for row in bill.itertuples() if row.currency}
    for side, account in (("debit", "5200"), ("credit", "1400")):
        part = entries[entries[side].notna()]
        assert dict(zip(part["party"], part[side], strict=True)) == lines
        assert set(part["account"]) <= {account}
    assert len(entries) == 2 * len(lines)
    assert entries["entry_id"].nunique() == len(lines)
