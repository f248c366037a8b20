"""Figures that a plausible error would make wrong; `make mutants` plants these errors."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
from events_by_hand import DAY, Event, frames_of
from network_world import World

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.frames.row_filters import RowFilter
from ledgerframes.statistics import usual_ranges
from ledgerframes.values.extents import OffsetRange


def test_a_fall_is_never_above_its_usual_range() -> None:
    """Only a rise of waste matters, so limits have one side."""
    weeks = np.tile([20, 100], (6, 7, 1))
    found = usual_ranges.usual_range(weeks, [[0, 100], [20, 100], [60, 100]], "1d")
    assert found.periods.is_above.tolist() == [False, False, True]


def test_a_weight_is_no_product_of_floats() -> None:
    """In floats, 100 times 0.29 is 28.999999999999996, and rounds down to 28."""
    world = World().rules().right("A", weight="0.29").round(1, 0, 1)
    frames = world.request("r", 5, total=100, envelopes=[(100, [0])], views=[[["A"]]]).frames()
    assert int(100 * 0.29) == 28
    assert lf.activity.recompute(frames)["weight"].tolist() == [29]


def test_a_window_has_its_start_and_not_its_end() -> None:
    hours = frames_of([Event(name, at, 1) for name, at in (("a", 1), ("b", 2), ("c", 3))])
    part = hours.between("2026-11-08T01:00:00Z", "2026-11-08T03:00:00Z")
    assert part.verdicts["update_id"].tolist() == ["a", "b"]


def test_an_offset_range_has_its_end_and_not_its_start() -> None:
    rows = pa.table({"offset": [4, 5, 6, 7]})
    stored = OffsetRange("ledger", 4, 6).filter()
    of_frames = RowFilter(offsets=(4, 6)).expression(lf.table("ledger_updates"))
    assert [rows.filter(each)["offset"].to_pylist() for each in (stored, of_frames)] == [[5, 6], [5, 6]]


def test_the_event_of_the_lower_migration_counts() -> None:
    """Although the record time of the other one is earlier."""
    found = frames_of([Event("a", 2, 700), Event("a", 1, 300, "REJECTED", migration=5)])
    assert lf.cost.spend(found)["total_traffic_cost"].tolist() == [700]
    assert found.verdicts["migration_id"].tolist() == [4]


def test_the_ledger_effective_time_is_no_latency() -> None:
    found = frames_of([Event("a", 1, 1, seconds=0.5, effective=-1.5)])
    assert found.updates["effective_at"].lt(found.updates["record_time"]).all()
    assert lf.verdict.latency(found)["max"].dt.total_seconds().tolist() == [0.5]


def test_an_amount_keeps_all_its_digits() -> None:
    """A float has about 16 of them."""
    price = "1234567890.1234567891"
    rounds = lf.state.rounds(World().rules().round(1, 0, 1, extra={"coinPrice": price}).frames())
    assert rounds["coin_price"].tolist() == [Decimal(price)]


def test_negative_costs_are_no_part_of_reconciled_totals() -> None:
    paid = [{"update_id": "a", "record_time": DAY, "participant_id": "val-a", "offset": 1, "paid_traffic_cost": 1000}]
    history = frames_of([Event("a", 0, 1000), Event("b", 0, -500)])
    totals = lf.reconcile.paid_traffic_totals(testing.frames_of(network="memory", ledger_updates=paid), history)
    assert int(totals["total_traffic_cost"].sum()) == 1000


def test_requests_without_a_verdict_have_no_participant() -> None:
    """They have a row without a name, which a sentence must not count as a validator."""
    found = lf.cost.spend(frames_of([Event("a", 1, 1000), Event("b", 2, 1000, None)]), by="participant")
    assert found[["submitting_participant_uid", "requests"]].fillna("").to_numpy().tolist() == [["val-a", 1], ["", 1]]
    assert found["submitting_participant_uid"].nunique() == 1


def test_a_party_shares_an_envelope_once() -> None:
    """It confirms both views of it."""
    world = World().rules().right("A").right("B").round(1, 0, 1)
    frames = world.request("r", 5, total=1000, envelopes=[(1000, [0, 1])], views=[[["A"]], [["A", "B"]]]).frames()
    assert lf.activity.recompute(frames)[["party", "weight"]].to_numpy().tolist() == [["A", 500], ["B", 500]]


def test_percentiles_of_costs_are_by_nearest_rank() -> None:
    found = lf.cost.spend(frames_of([Event(f"{cost:03}", 1, cost) for cost in range(1, 101)]))
    assert found[["median", "p95", "max"]].to_numpy().tolist() == [[50, 95, 100]]
