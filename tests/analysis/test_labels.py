"""Labels, trees and eras."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.testing import frames_of
from ledgerframes.values.windows import Window

LABELS = "id,name,group\nbank::1220aa,Bank,banks\nother::1220bb,Other,banks\nplain,,\n"


def write(path: Path, text: str) -> Path:
    file = path / "labels.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_labels_of_a_file(tmp_path: Path) -> None:
    labels = lf.labels.read(write(tmp_path, LABELS))
    assert labels["id"].tolist() == ["bank::1220aa", "other::1220bb", "plain"] and pd.isna(labels.loc[2, "name"])
    result = pd.DataFrame({"requests": [3, 2], "party": ["bank::1220aa", "new::1220cc"], "share": [0.6, 0.4]})
    labeled = lf.labels.apply(result, labels)
    assert list(labeled) == ["requests", "party", "party_name", "party_group", "share"]
    assert labeled.loc[0, ["party_name", "party_group"]].tolist() == ["Bank", "banks"]
    assert labeled.loc[1, ["party_name", "party_group"]].isna().all()
    assert list(result) == ["requests", "party", "share"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,name\na,b\n", "must have the columns id, name, group, got id, name"),
        ("id,name,group\na,1,x\nb,2,x\na,3,y\n", "Lines 2, 4 of .* have the same id 'a'"),
        ("id,name,group\n,1,x\n", "Line 2 of .* has no id"),
        ("id,name,group\n\na,1,x\n  \na,2,x\n", "Lines 3, 5 of .* have the same id 'a'"),
        ("\nid,name,group\n\n,1,x\n", "Line 4 of .* has no id"),
        ("id,name,group\na,Ann,customers,since 2024\nb,Bob,customers,\n", "a line has more than 3 fields. Pass a CSV file"),
        ("", "Cannot read labels"),
    ],
)
def test_files_that_are_no_labels(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        lf.labels.read(write(tmp_path, text))


def test_labels_that_match_nothing(tmp_path: Path) -> None:
    labels = lf.labels.read(write(tmp_path, LABELS))
    with pytest.raises(UsageError, match="No column of the result"):
        lf.labels.apply(pd.DataFrame({"party": ["x"]}), labels)
    assert lf.labels.apply(pd.DataFrame({"party": pd.Series([], dtype="str")}), labels).empty
    with pytest.raises(UsageError, match=r"lf\.labels\.read"):
        lf.labels.apply(pd.DataFrame(), pd.DataFrame({"id": []}))


def test_a_result_has_its_labels_once(tmp_path: Path) -> None:
    labels = lf.labels.read(write(tmp_path, LABELS))
    labeled = lf.labels.apply(pd.DataFrame({"party": labels["id"]}), labels)
    with pytest.raises(UsageError, match="has the column party_name already"):
        lf.labels.apply(labeled, labels)


@given(st.lists(st.tuples(st.sampled_from(["bank", "x"]), st.text("01ab", min_size=1, max_size=9)), unique=True))
def test_short_names_are_distinct(parts: list[tuple[str, str]]) -> None:
    ids = [f"{hint}::{fingerprint}" for hint, fingerprint in parts]
    names = lf.labels.short(ids)
    assert list(names) == ids and len(set(names.values())) == len(ids)


def test_short_names_of_nothing_and_of_an_id_without_fingerprint() -> None:
    assert lf.labels.short([]) == {} and lf.labels.short(["plain", "a::12345"]) == {"plain": "plain", "a::12345": "a·1234"}


def tree() -> lf.Frames:
    """r has the children a and c, and b is below a; s is another root."""
    parents = {"r": None, "a": "r", "b": "a", "c": "r", "s": None}
    rows = [
        {"update_id": "u", "event_id": node, "parent_event_id": parent, "node_index": index, "depth": 0 if parent is None else 1}
        for index, (node, parent) in enumerate(parents.items())
    ]
    return frames_of(tree_events=rows)


def test_trees() -> None:
    assert lf.trees.roots(tree())["event_id"].tolist() == ["r", "s"]
    assert lf.trees.children(tree(), "r")["event_id"].tolist() == ["a", "c"]
    assert lf.trees.subtree(tree(), "r")["event_id"].tolist() == ["r", "a", "b", "c"]
    assert lf.trees.subtree(tree(), "a")["event_id"].tolist() == ["a", "b"]
    assert lf.trees.children(tree(), "b").empty and lf.trees.roots(frames_of()).empty
    with pytest.raises(UsageError, match="no node 'x'"):
        lf.trees.children(tree(), "x")
    for figure, wrong in ((lf.trees.children, 5), (lf.trees.subtree, ["r"])):
        with pytest.raises(UsageError, match=f"event_id= must be the id of a node, got {re.escape(repr(wrong))}"):
            figure(tree(), wrong)  # type: ignore[operator]


def test_eras_of_times() -> None:
    times = pd.Series(
        pd.to_datetime(["2020-01-01", "2025-12-10", None, "2026-03-01T23:59:59.999999"], utc=True, format="ISO8601")
    )
    names = lf.eras.of(times)
    assert names.tolist()[:2] == ["before the first era", "migration 4"] and pd.isna(names[2]) and names[3] == "migration 4"
    with pytest.raises(UsageError, match="times= must be"):
        lf.eras.of(pd.Series(["2020-01-01"]))


def test_frames_are_split_at_a_break(tmp_path: Path) -> None:
    window = Window(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC))
    verdicts = [{"update_id": str(day), "record_time": datetime(2026, 3, day, 12, tzinfo=UTC)} for day in (1, 2, 3)]
    parts = lf.eras.split(frames_of(window=window, verdicts=verdicts))
    assert {name: len(part.verdicts) for name, part in parts.items()} == {"migration 4": 1, "free responses": 2}
    own = tmp_path / "eras.csv"
    own.write_text("at,scope,name,reason,source\n2026-03-03,app,v2,release,me\n2026-03-01,app,v1,release,me\n")
    assert list(lf.eras.split(frames_of(window=window), lf.eras.table(own))) == ["v1", "v2"]
    with pytest.raises(UsageError, match="frames of a window"):
        lf.eras.split(frames_of())
    with pytest.raises(lf.UsageError, match=r"^eras= must be a result of lf.eras.table\(\)"):
        lf.eras.split(frames_of(window=window), pd.DataFrame({"name": ["v1"]}))
    own.write_text("at,scope,name,reason,source\nsoon,app,v2,release,me\n")
    with pytest.raises(UsageError, match="Cannot read eras"):
        lf.eras.table(own)
    own.write_text("at,scope,name,reason,source\n2026-03-03,app,v2,release,me,note\n")
    with pytest.raises(UsageError, match="a line has more than 5 fields"):
        lf.eras.table(own)


def test_eras_of_any_order_split_alike(tmp_path: Path) -> None:
    """Eras are a table that users extend, so its rows can be out of order, or have one name."""
    window = Window(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC))
    verdicts = [{"update_id": str(day), "record_time": datetime(2026, 3, day, 12, tzinfo=UTC)} for day in (1, 2, 3)]
    frames = frames_of(window=window, verdicts=verdicts)
    starts = pd.to_datetime(["2026-03-03", "2026-03-02", "2026-03-01"], utc=True).as_unit("us")
    eras = pd.DataFrame({"at": starts, "name": ["v3", "v2", "v1"]})
    assert {name: len(part.verdicts) for name, part in lf.eras.split(frames, eras).items()} == {"v1": 1, "v2": 1, "v3": 1}
    assert lf.eras.of(frames.verdicts["record_time"], eras).tolist() == ["v1", "v2", "v3"]
    with pytest.raises(UsageError, match="eras= has the era 'v1' twice"):
        lf.eras.split(frames, eras.assign(name="v1"))
    with pytest.raises(UsageError, match="eras= must be a result"):
        lf.eras.split(frames, eras.assign(at=eras["at"].dt.tz_localize(None)))
    own = tmp_path / "eras.csv"
    own.write_text("at,scope,name,reason,source\n,app,v2,release,me\n")
    with pytest.raises(UsageError, match="has the era 'v2' without a time"):
        lf.eras.table(own)


def test_traffic_based_rewards_are_an_era() -> None:
    versions = ["RewardVersion_FeaturedAppMarkers", None, *["RewardVersion_TrafficBasedAppRewards"] * 2]
    opens = pd.date_range("2026-11-08", periods=4, freq="10min", tz="UTC", unit="us")
    rounds = pd.DataFrame({"round_number": [1, 2, 3, 4], "opens_at": opens, "minting_version": versions})
    eras = lf.eras.table(rounds=rounds)
    last = eras.iloc[-1]
    assert (last["name"], last["at"], last["reason"]) == ("traffic-based rewards", opens[2], "rewards by traffic from round 3")
    assert lf.eras.of(pd.Series(opens), eras).tolist() == ["free responses"] * 2 + ["traffic-based rewards"] * 2
    pd.testing.assert_frame_equal(lf.eras.table(rounds=rounds.head(2)), lf.eras.table())
    with pytest.raises(UsageError, match="rounds= must be"):
        lf.eras.table(rounds=rounds[["opens_at"]])


BY_ID = pd.DataFrame(
    {"id": ["alice", "bob", "val-b"], "name": ["Alice", "Bob", "B"], "group": ["people", "people", None]}, dtype="str"
)


def test_a_request_of_several_parties_of_one_label_counts_once(build, event):
    frames = build(
        [
            event("a", 0, 100, parties=["alice", "bob"]),
            event("b", 1, 10, parties=["carol"], participant="PAR::val-b"),
            event("c", 2, 1, parties=["alice"], participant="val-b"),
            event("d", 3, 5, parties=["carol"]),
        ]
    )
    rows = lf.cost.spend(frames, by="label", labels=BY_ID).set_index("label")
    assert rows["total_traffic_cost"].to_dict() == {"people": 101, "B": 11, rows.index[-1]: 5}
    assert pd.isna(rows.index[-1]) and rows["requests"].tolist() == [2, 2, 1]
    assert rows["share"].iloc[0] == 101 / 116
    with_prefix = BY_ID.replace({"id": {"val-b": "PAR::val-b"}})
    pd.testing.assert_frame_equal(lf.cost.spend(frames, by="label", labels=with_prefix).set_index("label"), rows)
    with pytest.raises(UsageError, match="labels= must be"):
        lf.cost.spend(frames, by="label")


def test_costs_and_latencies_split_at_an_era(build, event):
    eras = pd.DataFrame({"at": pd.to_datetime(["2026-11-08T02:00:00Z"]), "name": ["new"]})
    frames = build([event("a", 1, 100), event("b", 2, 10), event("c", 3, 1)])
    rows = lf.cost.spend(frames, by="era", eras=eras).set_index("era")
    assert rows["total_traffic_cost"].to_dict() == {"before the first era": 100, "new": 11}
    assert lf.verdict.latency(frames, by="era", eras=eras)["requests"].tolist() == [1, 2]
    assert lf.verdict.latency(frames, by="source")["source"].tolist() == ["file"]


def test_activity_of_a_label_is_that_of_its_parties(build, event):
    records = [("alice", 600), ("bob", 300), ("carol", 100)]
    frames = build([event("a", 1, 100, activity=records), event("b", 2, 100, activity=[("alice", 100)])])
    rows = lf.activity.weights(frames, by="label", every=None, labels=BY_ID).set_index("label")
    assert rows["weight"].tolist() == [1000, 100] and rows["requests"].tolist() == [2, 1]
    row = lf.activity.concentration(frames, labels=BY_ID).iloc[0]
    assert (row["parties"], row["hhi"]) == (2, (1000**2 + 100**2) / 1100**2)
    assert lf.activity.lorenz(frames, labels=BY_ID)["party"].tolist() == ["carol", "people"]


def test_one_text_is_not_a_sequence_of_ids() -> None:
    with pytest.raises(
        UsageError, match=r"^ids= must be a sequence of ids, got 'bank::1220aa'\. Pass \['bank::1220aa'\] for one\.$"
    ):
        lf.labels.short("bank::1220aa")
