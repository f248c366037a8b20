"""Comparisons keep what does not match, and their totals are those of the sources."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.sandbox import Faults
from ledgerframes.testing import frames_of
from ledgerframes.values.windows import Window

OWN = "validator::1220aa"
DAY = datetime(2026, 11, 8, tzinfo=UTC)
WINDOW = Window(DAY, datetime(2026, 11, 9, tzinfo=UTC))


EMPTY_DIGEST = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
SYNCHRONIZER = "global::1220aa"


def at(minute: int) -> datetime:
    return DAY.replace(hour=1 + minute // 60, minute=minute % 60)


def ledger_of(
    *rows: tuple[str, int, int | None], gaps: tuple[tuple[int, int], ...] = (), synchronizers: Mapping[str, str] | None = None
) -> Frames:
    """Frames of a ledger with (update id, minute, paid cost), offsets in tens."""
    updates = [
        {
            "update_id": update_id,
            "offset": 10 * number,
            "record_time": at(minute),
            "kind": "transaction",
            "participant_id": OWN,
            "paid_traffic_cost": paid,
            "synchronizer_id": (synchronizers or {}).get(update_id, SYNCHRONIZER),
        }
        for number, (update_id, minute, paid) in enumerate(rows, start=1)
    ]
    coverage = [
        {"migration_id": None, "since": None, "until": None, "after": after, "through": through, "status": "gap", "rows": 0}
        for after, through in gaps
    ]
    return frames_of(coverage=coverage or None, ledger_updates=updates)


def history_of(*rows: tuple[str, int, str, str, int | None]) -> Frames:
    """Frames of a history with (update id, minute, participant, result, cost)."""
    verdicts = [
        {
            "update_id": update_id,
            "record_time": at(minute),
            "submitting_participant_uid": uid,
            "verdict_result": f"VERDICT_RESULT_{result}",
            "synchronizer_id": SYNCHRONIZER,
        }
        for update_id, minute, uid, result, _ in rows
    ]
    traffic = [
        {"update_id": update_id, "record_time": at(minute), "total_traffic_cost": cost}
        for update_id, minute, _, _, cost in rows
        if cost is not None
    ]
    return frames_of(window=WINDOW, verdicts=verdicts, traffic=traffic)


LEDGER = ("a", 0, 100), ("b", 1, 200), ("c", 2, 6609), ("z", 9, None)
HISTORY = (
    ("a", 0, f"PAR::{OWN}", "ACCEPTED", 100),
    ("b", 1, OWN, "ACCEPTED", 229),
    ("d", 3, OWN, "REJECTED", 50),
    ("e", 4, "other::1220bb", "ACCEPTED", 70),
    ("z", 9, "other::1220bb", "ACCEPTED", 1),
)


def test_what_only_one_source_has_stays() -> None:
    compared = lf.reconcile.paid_traffic(ledger_of(*LEDGER), history_of(*HISTORY)).set_index("update_id")
    assert compared["outcome"].astype(str).to_dict() == {
        "a": "equal",
        "b": "different",
        "c": "only in ledger",
        "d": "only in history",
        "e": "not comparable",
        "z": "not comparable",
    }
    assert compared.loc["b", "difference"] == -29 and compared.loc["d", "why"] == "rejected"
    assert compared.loc[["e", "z"], "why"].tolist() == ["request of another participant"] * 2
    assert compared["is_own"].tolist() == [True, True, True, True, False, False]
    assert compared["coverage"].iloc[0] == 2 / 4
    assert compared["paid_traffic_cost"].sum() == 6909
    assert compared.loc[compared["is_own"].fillna(False), "total_traffic_cost"].sum() == 379


def test_each_owner_of_a_ledger_is_compared_by_itself() -> None:
    """Both have the update, and only one of them paid for it."""
    update = {"update_id": "a", "record_time": at(0), "kind": "transaction", "synchronizer_id": SYNCHRONIZER}
    payers = [("other::1220bb", 1, None), (OWN, 7, 90)]
    updates = [{**update, "participant_id": owner, "offset": offset, "paid_traffic_cost": paid} for owner, offset, paid in payers]
    ledger, history = frames_of(ledger_updates=updates), history_of(("a", 0, OWN, "ACCEPTED", 90))
    for participant in (OWN, f"PAR::{OWN}"):
        row = lf.reconcile.paid_traffic(ledger, history, participant=participant).iloc[0]
        assert (row["offset"], row["paid_traffic_cost"], row["outcome"]) == (7, 90, "equal")
        totals = lf.reconcile.paid_traffic_totals(ledger, history, participant=participant)
        assert totals[["outcome", "paid_traffic_cost"]].values.tolist() == [["equal", 90]]
    assert lf.reconcile.paid_traffic(ledger, history, participant="other::1220bb")["why"].tolist() == [
        "request of another participant"
    ]
    with pytest.raises(UsageError, match=r"Unknown participant 'third'\. Choose from 'other::1220bb', '"):
        lf.reconcile.paid_traffic(ledger, history, participant="third")


def test_updates_of_another_synchronizer_are_in_no_history() -> None:
    ids = {"a": "global::1220aa::35-0", "p": "app::1220bb", "c": "global::1220aa"}
    ledger = ledger_of(("a", 0, 100), ("p", 1, 7000), ("c", 3, 700), synchronizers=ids)
    history = history_of(HISTORY[0], ("c", 3, OWN, "ACCEPTED", 700))
    compared = lf.reconcile.paid_traffic(ledger, history).set_index("update_id")
    assert compared.loc["p", ["outcome", "why"]].tolist() == ["not comparable", "another synchronizer"]
    assert compared.loc[["a", "c"], "outcome"].tolist() == ["equal", "equal"]
    assert compared["coverage"].iloc[0] == 1


def test_totals_account_for_every_byte() -> None:
    totals = lf.reconcile.paid_traffic_totals(ledger_of(*LEDGER), history_of(*HISTORY))
    assert (
        totals["updates"].sum() == 6 and totals["paid_traffic_cost"].sum() == 6909 and totals["total_traffic_cost"].sum() == 450
    )
    assert list(totals["outcome"].astype(str)) == ["equal", "different", "only in ledger", "only in history", "not comparable"]


def test_failed_commands_are_a_total_next_to_the_rejected_requests() -> None:
    """Of three commands, one failed with a cost, one failed without, and one is an update."""
    spec = testing.table("completions")
    rows = [
        {"offset": 1, "command_id": "x", "status_code": 9, "update_id": "", "paid_traffic_cost": 50},
        {"offset": 2, "command_id": "y", "status_code": 9, "update_id": None, "paid_traffic_cost": None},
        {"offset": 3, "command_id": "z", "status_code": 0, "update_id": "a", "paid_traffic_cost": 100},
    ]
    completions = spec.spec.to_pandas(spec.fill(rows))
    totals = lf.reconcile.paid_traffic_totals(ledger_of(*LEDGER), history_of(*HISTORY), completions=completions)
    totals = totals.assign(why=totals["why"].astype(object)).set_index("why")
    failed, rejected = totals.loc["failed command without an update id"], totals.loc["rejected"]
    assert (failed["outcome"], failed["updates"], failed["paid_traffic_cost"]) == ("only in ledger", 1, 50)
    assert rejected["total_traffic_cost"] == failed["paid_traffic_cost"]
    assert totals["paid_traffic_cost"].sum() == 6909 + 50
    text = "Own requests only in the ledger: 1. Only in the history: 1, 1 of them rejected."  # the same command, named once
    shown = lf.reconcile.paid_traffic_totals(ledger_of(*LEDGER), history_of(*HISTORY), completions=completions)
    assert text in lf.show(shown, picture=False).statement
    with pytest.raises(UsageError, match="completions= must be"):
        lf.reconcile.paid_traffic_totals(ledger_of(*LEDGER), history_of(*HISTORY), completions=pd.DataFrame())


def test_an_hour_of_history_against_a_whole_ledger_says_what_it_left_out() -> None:
    ledger = ledger_of(("early", 0, 100), ("inside", 70, 200), ("late", 130, 300))
    hour = Window(at(60), at(120))
    verdict = {"update_id": "inside", "record_time": at(70), "submitting_participant_uid": OWN, "synchronizer_id": SYNCHRONIZER}
    traffic = {"update_id": "inside", "record_time": at(70), "total_traffic_cost": 200}
    history = frames_of(window=hour, verdicts=[{**verdict, "verdict_result": "VERDICT_RESULT_ACCEPTED"}], traffic=[traffic])
    compared = lf.reconcile.paid_traffic(ledger, history).set_index("update_id")
    assert compared["outcome"].astype(str).tolist() == ["not comparable", "equal", "not comparable"]
    assert compared.loc[["early", "late"], "why"].tolist() == ["outside the common time"] * 2
    assert compared["coverage"].iloc[0] == 1.0


def test_time_that_is_not_final_is_not_compared() -> None:
    ledger = ledger_of(("a", 0, 100), ("late", 30, 6609), ("z", 50, 300))
    history = history_of(("a", 0, OWN, "ACCEPTED", 100))
    coverage = [
        {"since": WINDOW.since, "until": at(10), "status": "final", "rows": 1},
        {"since": at(10), "until": WINDOW.until, "status": "provisional", "rows": 0},
    ]
    for parts, expected in ((coverage, ["equal", *["not comparable"] * 2]), (coverage[1:], ["not comparable"] * 3)):
        open_end = frames_of(window=WINDOW, coverage=parts, verdicts=history.verdicts, traffic=history.traffic)
        compared = lf.reconcile.paid_traffic(ledger, open_end)
        assert compared["outcome"].tolist() == expected
        assert set(compared["why"].dropna()) == {"outside the common time"}


@pytest.mark.parametrize("is_limited", [False, True])
def test_a_pruned_range_is_outside_the_common_time(is_limited: bool) -> None:
    ledger = ledger_of(("a", 0, 1), ("b", 20, 1), gaps=((10, 15),))
    ledger = ledger.between(WINDOW.since, WINDOW.until) if is_limited else ledger
    history = history_of(("a", 0, OWN, "ACCEPTED", 1), ("gone", 10, OWN, "ACCEPTED", 5), ("b", 20, OWN, "ACCEPTED", 1))
    compared = lf.reconcile.paid_traffic(ledger, history).set_index("update_id")
    assert compared.loc["gone", "why"] == "outside the common time"


@pytest.mark.parametrize(
    ("ledger", "history"), [((), ()), (LEDGER, ()), ((), HISTORY)], ids=["nothing", "only a ledger", "only a history"]
)
def test_sources_without_rows(ledger: tuple[Any, ...], history: tuple[Any, ...]) -> None:
    compared = lf.reconcile.paid_traffic(ledger_of(*ledger), history_of(*history))
    assert len(compared) == len(ledger) + len(history)
    lf.reconcile.paid_traffic_totals(ledger_of(*ledger), history_of(*history))


def test_the_sandbox_agrees_but_for_its_own_rejections(sandbox_net: lf.Network, sandbox_history: Frames) -> None:
    ledger, history = lf.load_updates(sandbox_net), sandbox_history.between("2026-11-07", "2026-11-09T06:00:00Z")
    compared = lf.reconcile.paid_traffic(ledger, history)
    own = compared[compared["is_own"].fillna(False) & (compared["why"] != "outside the common time")]
    rejected = own[own["verdict_result"] == "VERDICT_RESULT_REJECTED"]
    assert len(rejected) > 0 and (rejected["why"] == "rejected").all()
    paid = ledger.ledger_updates["paid_traffic_cost"]
    assert lf.reconcile.paid_traffic_totals(ledger, history)["paid_traffic_cost"].sum() == paid.sum()


def test_offset_ranges_that_do_not_join() -> None:
    ranges = [(0, 10, "final"), (10, 20, "final"), (25, 30, "provisional"), (28, 40, "gap")]
    coverage = [{"after": after, "through": through, "status": status} for after, through, status in ranges]
    update = {"update_id": "u", "participant_id": OWN}
    result = lf.reconcile.bounds(frames_of(coverage=coverage, ledger_updates=[update]))
    assert result["participant_id"].tolist() == [OWN] * 4
    assert lf.reconcile.bounds(frames_of(coverage=coverage))["participant_id"].isna().all()
    with pytest.raises(UsageError, match="The ledger has 2 owners"):
        lf.reconcile.bounds(frames_of(coverage=coverage, ledger_updates=[update, {"update_id": "v", "participant_id": "other"}]))
    assert result["gap_before"].tolist() == [0, 0, 5, 0]
    assert lf.show(result).statement.startswith("The copy has the offsets after 0 through 40 (ranges: 4). Missing in between: 5.")
    assert result["overlap_before"].tolist() == [0, 0, 0, 2]
    assert result["is_pruned"].tolist() == [False, False, False, True]
    with pytest.raises(UsageError, match="participant's ledger"):
        lf.reconcile.bounds(frames_of(window=WINDOW))


def test_nodes_that_tell_different_histories() -> None:
    first = history_of(("1", 0, OWN, "ACCEPTED", 5), ("2", 1, OWN, "ACCEPTED", 6), ("3", 2, OWN, "ACCEPTED", 7))
    second = history_of(("2", 1, OWN, "ACCEPTED", 6), ("3", 2, OWN, "REJECTED", None), ("4", 3, OWN, "ACCEPTED", 8))
    result = lf.reconcile.nodes(first, second).set_index("aspect")
    assert result.loc["presence", ["equal", "different", "only_a", "only_b"]].tolist() == [2, 0, 1, 1]
    assert result.loc["verdict", ["equal", "different"]].tolist() == [1, 1]
    assert result.loc["traffic cost", ["equal", "different", "only_a", "only_b"]].tolist() == [1, 0, 1, 0]
    assert result.loc["verdict", "first_difference"] == pd.Timestamp(at(2))
    assert pd.isna(result.loc["presence", "comparable_from"])
    assert lf.reconcile.nodes(first, first)["comparable_from"].iloc[0] == pd.Timestamp(DAY.replace(hour=1))


def test_a_period_is_as_partial_as_at_the_node_that_covers_less() -> None:
    window = Window(DAY, DAY + timedelta(days=2))
    first = frames_of(window=window, updates=[{"update_id": "1", "record_time": DAY + timedelta(hours=25)}])
    second = frames_of(window=window, coverage=[{"since": DAY, "until": DAY + timedelta(days=1), "status": "final"}])
    for a, b in ((first, second), (second, first)):
        days = lf.reconcile.nodes(a, b, every="1d").drop_duplicates("period_start")
        assert days["coverage_time"].tolist() == [1, 0]
        assert days["is_partial"].tolist() == [False, True]
        assert set(lf.reconcile.nodes(a, b)["coverage_time"]) == {0.5}


def test_medians_of_two_nodes_are_compared_and_single_times_are_not() -> None:
    def node(count: int, milliseconds: int) -> Frames:
        heads = [{"update_id": f"{number}", "record_time": at(number)} for number in range(count)]
        final = [{"finalization_time": head["record_time"] + timedelta(milliseconds=milliseconds)} for head in heads]
        facts = {"verdict_result": "VERDICT_RESULT_ACCEPTED", "submitting_participant_uid": OWN}
        return frames_of(window=WINDOW, verdicts=[{**head, **time, **facts} for head, time in zip(heads, final, strict=True)])

    names = ["latency_difference", "latency_low", "latency_high"]
    result = lf.reconcile.nodes(node(40, 500), node(41, 750))
    assert result[names].drop_duplicates().values.tolist() == [[pd.Timedelta(milliseconds=250)] * 3]
    assert result["different"].sum() == 0
    assert lf.reconcile.nodes(node(29, 500), node(40, 750))[names].isna().all(axis=None)  # 29 requests are too few
    hours = lf.reconcile.nodes(node(100, 500), node(100, 400), every="1h").drop_duplicates("period_start")
    assert hours[names[0]].tolist()[1:3] == [pd.Timedelta(milliseconds=-100)] * 2
    assert hours[names[0]].iloc[[0, 3]].isna().all()


def objects_of(**digests: str) -> pd.DataFrame:
    return pd.DataFrame({"object_key": list(digests), "sha256": list(digests.values()), "until": pd.Timestamp(DAY)})


def test_digests_of_three_nodes() -> None:
    nodes = {
        "a": objects_of(same="x", odd="x", empty="x", late="x"),
        "b": objects_of(same="x", odd="x", empty=EMPTY_DIGEST),
        "c": objects_of(same="x", odd="y", empty="x", late="x"),
    }
    result = lf.reconcile.digests(nodes).set_index("object_key")
    assert result["outcome"].astype(str).to_dict() == {
        "empty": "empty digest",
        "late": "missing",
        "odd": "different",
        "same": "equal",
    }
    assert result.loc["odd", ["majority_sha256", "dissenters"]].tolist() == ["x", "c"]
    assert result.loc["late", "missing_at"] == "b"
    young = lf.reconcile.digests(nodes, now="2026-11-09")
    assert (young["outcome"] == "not settled").all()
    with pytest.raises(UsageError, match="at least two nodes"):
        lf.reconcile.digests({"a": nodes["a"]})
    with pytest.raises(UsageError, match=r"of node '.', got a DataFrame without column 'sha256'"):
        lf.reconcile.digests({"a": nodes["a"], "b": pd.DataFrame({"object_key": []})})
    for until in ("2026-11-08", pd.Timestamp("2026-11-08")):
        with pytest.raises(UsageError, match=r"must have times in UTC in until, got .* of node 'b'"):
            lf.reconcile.digests({"a": nodes["a"], "b": nodes["b"].assign(until=until)}, now="2026-11-09")


def test_an_object_whose_listed_digest_is_that_of_empty_bytes_is_compared_by_its_bytes() -> None:
    good, other = objects_of(k="x", l="x"), objects_of(k="x", l="y")
    nodes = {"a": good.assign(digest_status="matched"), "b": other.assign(digest_status="empty_digest"), "c": good}
    result = lf.reconcile.digests(nodes).set_index("object_key")
    assert result["outcome"].astype(str).to_dict() == {"k": "empty digest", "l": "different"}
    assert set(result["empty_digests"]) == set(result["coverage"]) == {1}
    assert result.loc["l", ["majority_sha256", "dissenters"]].tolist() == ["x", "b"]
    unknown = good.assign(digest_status=pd.Categorical(["unknown", None], ["matched", "empty_digest", "unknown"]))
    assert set(lf.reconcile.digests({"a": good, "b": unknown})["outcome"]) == {"equal"}


@pytest.mark.parametrize(
    ("listed", "outcome", "coverage"),
    [
        (["x", None, None], "unknown", 1 / 3),
        ([None, None, None], "unknown", 0),
        (["x", "x", None], "equal", 2 / 3),
        (["x", "y", None], "different", 2 / 3),
        ([EMPTY_DIGEST, None, None], "empty digest", 1 / 3),
    ],
)
def test_fewer_than_two_digests_say_nothing(listed: list[str | None], outcome: str, coverage: float) -> None:
    tables = [objects_of(k="x").assign(sha256=pd.Series([digest], dtype="str")) for digest in listed]
    rows = lf.reconcile.digests(dict(zip("abc", tables, strict=True)))
    assert rows["outcome"].tolist() == [outcome]
    assert rows["coverage"].tolist() == [coverage]
    said = lf.show(rows, picture=False).statement
    assert ("Fewer than two known digests: 1 object." in said) == (outcome == "unknown")


def test_the_fault_of_a_service_that_lists_digests_of_empty_bytes(tmp_path: Path) -> None:
    def objects(name: str, faults: Faults | None) -> pd.DataFrame:
        net = lf.connect("sandbox", events=400, days=1, store=tmp_path / name, faults=faults)
        return lf.load_bulk(net, since="2026-11-08", until="2026-11-09").bulk_objects

    good, faulty = objects("good", None), objects("faulty", Faults(digest_of_nothing=1))
    rows = lf.reconcile.digests({"good": good, "faulty": faulty})
    assert set(rows["outcome"]) == {"empty digest"}
    assert set(rows["empty_digests"]) == set(rows["coverage"]) == {1}
    assert set(rows["majority_sha256"]) == set(good["sha256"])
