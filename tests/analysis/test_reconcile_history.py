"""Two sources of one history: nothing that only one of them has is lost, and totals are those of the sources."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
import trees_by_hand as by_hand
from campaign import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.reconcile import _bulk
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window

START = datetime(2026, 11, 8, tzinfo=UTC)
WINDOW = Window(START, START + timedelta(days=1))
EVENTS, DAYS = 1_200, 4
OUTCOMES = ("equal", "equal_value", "different", "only_listing", "only_bulk")


def history_of(payloads: Mapping[str, str], *, kind: str = "transaction", window: Window = WINDOW, **facts: Any) -> Frames:
    """Frames with one create for each update."""
    heads = [{"update_id": name, "record_time": START + timedelta(hours=1 + row)} for row, name in enumerate(sorted(payloads))]
    create = {"event_type": "created_event", "depth": 0, "template_id": "p:M:T", "template_name": "M:T", "package_name": "m"}
    nodes = [
        {**head, **create, "event_id": f"{head['update_id']}:0", "contract_id": head["update_id"], "create_arguments": payload}
        for head, payload in zip(heads, dict(sorted(payloads.items())).values(), strict=True)
    ]
    updates = [{**head, "kind": kind, **facts} for head in heads]
    return testing.frames_of(window=window, updates=updates, tree_events=nodes)


def assert_declared(result: pd.DataFrame, name: str, *, has_periods: bool = False) -> None:
    columns = FIGURES[name].result_columns(has_periods=has_periods)
    assert [(column.name, column.dtype) for column in columns] == [(k, str(v)) for k, v in result.dtypes.items()]


# -- bulk objects ---------------------------------------------------------------------------------------------------------


def test_a_number_with_other_zeros_is_an_equal_value() -> None:
    listing = history_of({"a": '{"x":"1.0"}', "b": '{"x":"2.0","y":null}', "c": '{"y":1,"x":[1,null]}'})
    bulk = history_of({"a": '{"x":"1.0000000000"}', "b": '{"x":"2.0"}', "c": '{"x":[1],"y":1}'})
    rows = lf.reconcile.bulk(listing, bulk)
    assert_declared(rows, "reconcile.bulk")
    rows = rows.set_index(["table", "update_id"])
    assert rows.loc["tree_events", "outcome"].to_dict() == {"a": "equal value", "b": "equal", "c": "equal"}
    assert rows.loc[("tree_events", "a"), "first_path"] == "create_arguments:$.x"
    totals = lf.reconcile.bulk_totals(listing, bulk)
    assert totals.loc[totals["kind"] == "transaction", ["equal", "equal_value", "different"]].values.tolist() == [[2, 1, 0]]


def test_what_only_one_source_has_stays() -> None:
    listing = history_of({"a": "{}", "b": '{"x":{"y":["1"]}}', "c": '{"x":1}'})
    bulk = history_of({"b": '{"x":{"y":["2"]}}', "c": '{"x":"1"}', "d": "{}"})
    rows = lf.reconcile.bulk(listing, bulk)
    nodes = rows[rows["table"] == "tree_events"]
    assert nodes["outcome"].astype(str).tolist() == ["only listing", "only bulk", "payload differs", "payload differs"]
    assert nodes["update_id"].tolist() == ["a", "d", "b", "c"]
    paths = ["create_arguments:$.x.y[0]", "create_arguments:$.x"]
    assert nodes["first_path"].iloc[2:].tolist() == ["record_time", "record_time"]  # hours count from the first of each source
    totals = lf.reconcile.bulk_totals(listing, bulk, every=None)
    assert totals.iloc[0][["equal", "equal_value", "different", "only_listing", "only_bulk"]].tolist() == [0, 0, 2, 1, 1]
    assert totals.loc[0, "coverage"] == 2 / 4
    same_times = history_of({"a": "{}", "b": '{"x":{"y":["2"]}}', "c": '{"x":"1"}'})
    rows = lf.reconcile.bulk(listing, same_times)
    assert rows.loc[rows["outcome"] == "payload differs", "first_path"].tolist() == paths


PAYLOADS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["1", "1.0", "2"]))


@pytest.mark.exhaustive
@settings(max_examples=examples(10))  # each compares the two sources again for every update
@given(listing=PAYLOADS, bulk=PAYLOADS)
def test_totals_by_parts_of_time_are_those_of_all_updates(listing: dict[str, str], bulk: dict[str, str]) -> None:
    """An update has another time in the other source if another number of updates is before it."""
    sources = [history_of({name: f'{{"x":"{text}"}}' for name, text in texts.items()}) for texts in (listing, bulk)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_bulk, "NODES_AT_ONCE", 1)
        totals = lf.reconcile.bulk_totals(*sources, every=None).set_index("kind").loc["transaction"]
    expected = Counter(outcome_of(name, listing, bulk) for name in {*listing, *bulk})
    assert {name: totals[name] for name in OUTCOMES} == {name: expected[name] for name in OUTCOMES}


def outcome_of(name: str, listing: dict[str, str], bulk: dict[str, str]) -> str:
    if name not in listing or name not in bulk:
        return "only_listing" if name in listing else "only_bulk"
    has_same_time = sorted(listing).index(name) == sorted(bulk).index(name)
    if not has_same_time or Decimal(listing[name]) != Decimal(bulk[name]):
        return "different"
    return "equal" if listing[name] == bulk[name] else "equal_value"


def test_imports_and_reassignments_are_apart() -> None:
    listing = history_of({"a": "{}"}, workflow_id="canton-network-acs-import-5-9")
    totals = lf.reconcile.bulk_totals(listing, history_of({}), every=None).set_index("kind")
    assert totals["only_listing"].to_dict() == {"transaction": 0, "reassignment": 0, "import": 1}
    listing = history_of({"a": "{}"}, kind="reassignment")
    assert lf.reconcile.bulk_totals(listing, listing, every=None).set_index("kind").loc["reassignment", "equal"] == 1


def test_windows_without_nodes_or_updates_are_compared() -> None:
    update = {"update_id": "a", "record_time": START, "kind": "reassignment"}
    without_nodes = testing.frames_of(window=WINDOW, updates=[update])
    rows = lf.reconcile.bulk(without_nodes, without_nodes)
    assert rows[["update_id", "outcome"]].astype(str).values.tolist() == [["a", "equal"]]
    quiet = testing.frames_of(window=WINDOW)
    assert_declared(lf.reconcile.bulk(quiet, quiet), "reconcile.bulk")
    totals = lf.reconcile.bulk_totals(quiet, quiet)
    assert_declared(totals, "reconcile.bulk_totals", has_periods=True)
    assert totals[["equal", "different", "only_listing", "only_bulk"]].sum().tolist() == [0, 0, 0, 0]


def test_a_part_of_the_window_is_refused() -> None:
    whole = history_of({"a": "{}"})
    part = testing.frames_of(window=WINDOW, coverage=[{"since": START, "until": START + timedelta(hours=9), "status": "final"}])
    young = testing.frames_of(window=WINDOW, coverage=[{"since": START, "until": WINDOW.until, "status": "provisional"}])
    for incomplete in (part, young):
        with pytest.raises(CoverageError, match="final data of the whole window"):
            lf.reconcile.bulk(whole, incomplete)
    with pytest.raises(UsageError, match="one window"):
        lf.reconcile.bulk(whole, whole.between(START, START + timedelta(hours=3)))
    with pytest.raises(UsageError, match="one window"):
        lf.reconcile.bulk_totals(whole, whole.where("updates", update_id="a"))


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    return lf.connect("sandbox", events=EVENTS, days=DAYS, store=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def history(net: lf.Network) -> Frames:
    return lf.load_events(net, since="0001-01-01", until="2026-11-09")


@pytest.mark.exhaustive
def test_the_sandbox_writes_to_bulk_objects_what_it_lists(net: lf.Network) -> None:
    window = {"since": "2026-11-07", "until": "2026-11-09"}
    listing, bulk = lf.load_events(net, **window), lf.load_bulk(net, **window)
    totals = lf.reconcile.bulk_totals(listing, bulk)
    assert_declared(totals, "reconcile.bulk_totals", has_periods=True)
    assert totals[["different", "equal_value", "only_listing", "only_bulk"]].sum().tolist() == [0, 0, 0, 0]
    assert totals["equal"].sum() == len(listing.updates) == len(bulk.updates)
    # By other code: a digest of each update without the order of members and without nulls.
    assert digests_of(listing) == digests_of(bulk)


def digests_of(frames: Frames) -> set[str]:
    columns = ["event_id", "contract_id", "choice", "create_arguments", "choice_argument", "exercise_result"]
    rows = frames.read("tree_events", columns).astype(object).where(lambda frame: frame.notna(), None)
    cells = rows[columns[3:]].map(lambda text: text and json.dumps(json.loads(text), sort_keys=True))
    texts = rows[columns[:3]].join(cells).to_dict("records")
    return {hashlib.sha256(repr(row).encode()).hexdigest() for row in texts}


# -- contracts and supply -------------------------------------------------------------------------------------------------


def test_contracts_of_a_replay_and_of_a_snapshot() -> None:
    whole = Window(datetime(1, 1, 1, tzinfo=UTC), WINDOW.until)
    create = {"event_type": "created_event", "create_arguments": "{}", "template_name": "M:T", "package_name": "m"}
    exercise = {"event_type": "exercised_event", "choice": "Archive", "consuming": True}
    nodes = [
        {"record_time": START, "update_id": "1", "event_id": "1:0", "contract_id": "a", **create},
        {"record_time": START, "update_id": "1", "event_id": "1:1", "contract_id": "b", **create},
        {"record_time": START, "update_id": "2", "event_id": "2:0", "contract_id": "a", **exercise},
    ]
    frames = testing.frames_of(window=whole, tree_events=nodes)
    replayed = lf.contracts.active_at(frames, WINDOW.until)
    snapshot = pd.concat([replayed, replayed.assign(contract_id="c")], ignore_index=True)
    rows = lf.reconcile.contracts(frames, snapshot)
    assert_declared(rows, "reconcile.contracts")
    row = rows.iloc[0]
    assert row[["equal", "different", "only_replay", "only_snapshot"]].tolist() == [1, 0, 0, 1]
    assert row[["replayed", "in_snapshot", "first_contract_id"]].tolist() == [1, 2, "c"]
    for wrong in (None, snapshot.iloc[:0]):
        with pytest.raises(UsageError, match="snapshot"):
            lf.reconcile.contracts(frames, wrong)


def test_a_contract_of_an_earlier_migration_names_no_update() -> None:
    whole = Window(datetime(1, 1, 1, tzinfo=UTC), WINDOW.until)
    create = {"event_type": "created_event", "create_arguments": "{}", "template_name": "M:T", "package_name": "m"}
    nodes = [
        {"record_time": START, "update_id": name, "event_id": f"{name}:0", "contract_id": name, **create} for name in ("1", "2")
    ]
    frames = testing.frames_of(window=whole, tree_events=nodes)
    replayed = lf.contracts.active_at(frames, WINDOW.until)
    imported = replayed.assign(created_in_update_id=replayed["created_in_update_id"].mask(replayed["contract_id"] == "1"))
    assert lf.reconcile.contracts(frames, imported)[["equal", "different"]].to_numpy().tolist() == [[2, 0]]
    other = replayed.assign(created_in_update_id="3")
    rows = lf.reconcile.contracts(frames, other)
    assert rows[["different", "first_path"]].to_numpy().tolist() == [[2, "created_in_update_id"]]


def test_unknown_members_are_compared_if_both_sources_send_them() -> None:
    listing, bulk = (history_of({"a": "{}", "b": "{}"}, extra=extra) for extra in ('{"event":{"new":1},"x":1}', '{"x":1}'))
    assert set(lf.reconcile.bulk(listing, bulk)["outcome"]) == {"equal"}
    assert set(lf.reconcile.bulk(listing, history_of({"a": "{}", "b": "{}"}))["outcome"]) == {"equal"}
    rows = lf.reconcile.bulk(listing, history_of({"a": "{}", "b": "{}"}, extra='{"x":2}')).set_index("table")
    assert rows.loc["updates", "first_path"].tolist() == ["extra:$.x"] * 2


@pytest.mark.exhaustive
def test_the_sandbox_snapshots_follow_from_its_history(net: lf.Network, history: Frames) -> None:
    first, second = (lf.load_bulk(net, kind="acs", at=time) for time in ("2026-11-07", "2026-11-08"))
    for rows in (
        lf.reconcile.contracts(history, second),
        lf.reconcile.contracts(history.between("2026-11-07", "2026-11-09"), second, base=first),
    ):
        assert (rows["equal"] == rows["in_snapshot"]).all()
        assert rows["in_snapshot"].sum() == len(second.active_contracts)
    with pytest.raises(CoverageError):
        lf.reconcile.contracts(history.between("2026-11-07", "2026-11-09"), second)
    lost = second.active_contracts.iloc[1:].assign(
        create_arguments=lambda rows: rows["create_arguments"].mask(rows.index == 5, "{}")
    )
    rows = lf.reconcile.contracts(history, lost)
    assert rows[["only_replay", "different"]].sum().tolist() == [1, 1]
    different = rows[rows["different"] == 1].iloc[0]
    assert different["first_contract_id"] == second.active_contracts["contract_id"].iloc[5]
    assert str(different["first_path"]).startswith("create_arguments:$")


def test_the_supply_of_the_example() -> None:
    """1,000 + 250 − 40.5 = 1,209.5, of which 9.5 are locked and 0.5 the network's own."""

    def transfer(*nodes: dict[str, Any], result: dict[str, Any]) -> list[dict[str, Any]]:
        return [by_hand.rules_choice("CoinRules_Transfer", *nodes, result=result)]

    def coin(contract: str, amount: str, owner: str = "app::1220aa") -> dict[str, Any]:
        return by_hand.coin(contract, owner, amount)

    locked = by_hand.create(
        "Splice.Coin:LockedCoin", "c3", dso=by_hand.DSO, coin={"owner": "app::1220aa", "amount": {"initialAmount": "9.5"}}
    )
    expiry = by_hand.exercise("Splice.Coin:Coin", "c2", "Coin_ExpireV2", consuming=True)
    frames = by_hand.frames_of(
        [by_hand.network_rules(), coin("c1", "1000.0")],
        transfer(
            coin("c2", "40.5"), coin("c4", "199.5"), locked, coin("c5", "0.5", by_hand.DSO), result=by_hand.summary(App="250.0")
        ),
        [expiry],
    )
    whole = testing.frames_of(window=Window(datetime(1, 1, 1, tzinfo=UTC), WINDOW.until), tree_events=frames.tree_events)
    opening = lf.contracts.active_at(whole, START + timedelta(minutes=1))
    row = lf.reconcile.supply(whole, base=opening, until=WINDOW.until).iloc[0]
    names = ["opening", "minted", "burned", "fees", "closing_expected", "closing_found", "unexplained", "locked", "owned_by_dso"]
    expected = ["1000", "250", "40.5", "0", "1209.5", "1209.5", "0", "9.5", "0.5"]
    assert row[names].tolist() == [Decimal(text) for text in expected]


def amounts_of(contracts: pd.DataFrame) -> Decimal:
    """The coins of a snapshot, read as plain JSON."""
    rows = zip(contracts["template_name"], contracts["create_arguments"], strict=True)
    payloads = [(name, json.loads(text)) for name, text in rows if name in ("Splice.Coin:Coin", "Splice.Coin:LockedCoin")]
    coins = [payload["coin"] if name.endswith("LockedCoin") else payload for name, payload in payloads]
    return sum((Decimal(coin["amount"]["initialAmount"]) for coin in coins), Decimal(0))


def test_the_supply_of_the_sandbox_is_explained(net: lf.Network, history: Frames) -> None:
    first, second = (lf.load_bulk(net, kind="acs", at=time) for time in ("2026-11-07", "2026-11-08"))
    result = lf.reconcile.supply(history.between("2026-11-07", "2026-11-09"), base=first, until=second)
    assert_declared(result, "reconcile.supply")
    row = result.iloc[0]
    assert row["opening"] == amounts_of(first.active_contracts)
    assert row["closing_found"] == amounts_of(second.active_contracts)
    assert row["closing_expected"] == row["opening"] + row["minted"] - row["burned"] - row["fees"]
    assert row["unexplained"] == 0 and row["minted"] > 0 and row["burned"] > 0
    by_replay = lf.reconcile.supply(history, base=None, until="2026-11-08").iloc[0]
    assert (by_replay["opening"], by_replay["closing_found"]) == (0, row["closing_found"])
    rounds = lf.economy.burn_mint(history.between("2026-11-07", "2026-11-08"), every=None, base=first).iloc[0]
    assert rounds["minted"] == row["minted"] and rounds["burned"] == row["burned"] + row["fees"]
    lost = second.active_contracts[lambda rows: rows["template_name"] != "Splice.Coin:LockedCoin"]
    row = lf.reconcile.supply(history.between("2026-11-07", "2026-11-09"), base=first, until=lost).iloc[0]
    assert row["unexplained"] < 0 or len(lost) == len(second.active_contracts)
    with pytest.raises(CoverageError):
        lf.reconcile.supply(history.between("2026-11-08", "2026-11-09"), base=first, until="2026-11-09")
    for until in (first, "2026-11-07"):
        with pytest.raises(UsageError, match="base= must be from before 2026-11-07T00:00:00Z, got a snapshot of 2026-11-08"):
            lf.reconcile.supply(history, base=second, until=until)
    with pytest.raises(UsageError, match="unfiltered"):
        lf.reconcile.supply(history.where("updates", kind="transaction"), base=None, until="2026-11-08")


# -- calendar -------------------------------------------------------------------------------------------------------------


def days_of(counts: list[int], *, costs: Mapping[int, int] | None = None, status: Mapping[int, str] | None = None) -> Frames:
    """Frames with so many requests a day, of which so many have a cost."""
    costs = costs or {}
    verdicts, traffic = [], []
    for day, count in enumerate(counts):
        heads = [
            {"update_id": f"{day}-{number}", "record_time": START + timedelta(days=day, minutes=number)}
            for number in range(count)
        ]
        verdicts += [{**head, "verdict_result": "VERDICT_RESULT_REJECTED"} for head in heads]
        traffic += [{**head, "total_traffic_cost": 1} for head in heads[: costs.get(day, count)]]
    edges = [(START + timedelta(days=day), START + timedelta(days=day + 1)) for day in range(len(counts))]
    covered = [
        {"migration_id": 4, "since": since, "until": until, "status": (status or {}).get(day, "final"), "fetched_at": until}
        for day, (since, until) in enumerate(edges)
        if (status or {}).get(day) != "missing"
    ]
    window = Window(START - timedelta(days=1), START + timedelta(days=len(counts) + 1))
    return testing.frames_of(window=window, coverage=covered, verdicts=verdicts, traffic=traffic)


def test_each_day_of_a_calendar_has_a_status() -> None:
    frames = days_of([10, 10, 10], status={1: "missing", 2: "provisional"})
    rows = lf.reconcile.coverage(frames, now=START + timedelta(days=2, hours=4))
    assert rows["status"].tolist() == ["before history", "ok", "missing", "provisional", "future"]
    assert rows["reason"].iloc[1] == "too few days before it to compare"
    assert rows["verdicts"].tolist() == [0, 10, 10, 10, 0]
    assert rows["last_fetched"].iloc[1] == pd.Timestamp(START + timedelta(days=1))
    assert_declared(rows, "reconcile.coverage", has_periods=True)
    whole = lf.reconcile.coverage(frames, every=None)
    assert_declared(whole, "reconcile.coverage")
    assert whole["status"].tolist() == ["missing"]


@pytest.mark.parametrize("damaged", [[0], [1], [2], [0, 1, 2]])
def test_a_day_whose_bulk_object_could_not_be_read_is_a_gap(damaged: list[int]) -> None:
    frames = days_of([1, 1, 1], status=dict.fromkeys(damaged, "missing"))
    folders = [f"{START + timedelta(days=day):%FT%TZ}~{START + timedelta(days=day + 1):%FT%TZ}" for day in damaged]
    frames._failed = {f"{folder}/updates_compact_json_0.zstd": "damaged" for folder in folders}
    rows = lf.reconcile.coverage(frames)
    assert rows["status"].iloc[1:4].tolist() == ["gap" if day in damaged else "ok" for day in range(3)]


@pytest.mark.parametrize(
    ("count", "cost", "reason"),
    [
        (100, 97, None),  # not more than 0.02 below the lowest
        (100, 95, "fewer known costs than before"),
        (50, 50, None),
        (49, 49, "fewer requests than before"),
        (200, 200, None),
        (201, 201, "more requests than before"),
    ],
)
def test_a_day_unlike_the_28_before_is_degraded(count: int, cost: int, reason: str | None) -> None:
    frames = days_of([100] * 28 + [count], costs={3: 99, 28: cost})
    rows = lf.reconcile.coverage(frames)
    last = rows.iloc[29]
    assert last["status"] == ("degraded" if reason else "ok")
    assert last["reason"] == reason or (pd.isna(last["reason"]) and reason is None)
    shorter = lf.reconcile.coverage(frames.between(START + timedelta(days=1), START + timedelta(days=29)))
    assert shorter["status"].tolist() == ["ok"] * 28


def test_a_calendar_of_the_sandbox(net: lf.Network) -> None:
    frames = lf.load_events(net, since="2026-11-03", until="2026-11-10")
    rows = lf.reconcile.coverage(frames, now=net.now())
    assert rows["status"].tolist() == ["before history"] * 2 + ["ok"] * 4 + ["provisional"]
    assert rows[["updates", "verdicts", "with_cost"]].sum().tolist() == [
        len(frames.updates),
        len(frames.verdicts),
        int((frames.traffic["total_traffic_cost"] >= 0).sum()),  # a negative cost is unknown
    ]
    assert rows["duplicates_dropped"].sum() == frames.problems.set_index("table").loc["verdicts", "rows"]
    bulk = lf.load_bulk(net, since="2026-11-08", until="2026-11-09")
    row = lf.reconcile.coverage(bulk).iloc[0]
    assert (row["dataset"], row["status"]) == ("bulk", "ok") and pd.isna(row["verdicts"])
    with pytest.raises(UsageError, match="loaded by time"):
        lf.reconcile.coverage(lf.load_updates(net))
