"""One transaction as an object: complete, escaped, and honest about what is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window

TIME = datetime(2026, 11, 8, 12, tzinfo=UTC)
WINDOW = Window(datetime(2026, 11, 8, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC))
EVIL = "<script>alert(1)</script>|`x`"


def frames_of(
    result: str | None = "ACCEPTED", *, total: int | None = 4001, costs: Sequence[int] = (1000, 3000), visible: bool = True
) -> Frames:
    head: dict[str, Any] = {"update_id": "1220aa11", "record_time": TIME}
    rows: dict[str, list[dict[str, Any]]] = {}
    if result:
        rows["verdicts"] = [{**head, "verdict_result": f"VERDICT_RESULT_{result}", "view_count": 1}]
        rows["views"] = [{**head, "view_id": 0, "informees": ["a", "b"]}]
        rows["quorums"] = [{**head, "view_id": 0, "quorum_index": 0, "threshold": 1, "parties": [EVIL, "b::1220"]}]
    if total is not None:
        rows["traffic"] = [{**head, "total_traffic_cost": total}]
        rows["envelopes"] = [{**head, "envelope_index": n, "traffic_cost": cost, "view_ids": []} for n, cost in enumerate(costs)]
    if visible:
        node = {"event_id": "1220aa11:0", "depth": 0, "event_type": "created_event", "template_name": EVIL, "signatories": ["a"]}
        rows["updates"] = [{**head, "kind": "transaction"}]
        rows["tree_events"] = [{**head, **node}]
    return testing.frames_of(window=WINDOW, **rows)


def test_the_waterfall_adds_up_to_the_total() -> None:
    transaction = lf.anatomy(frames_of(), "1220aa11")
    costs = transaction.part("envelope")
    assert costs["part"].tolist() == ["envelope", "envelope", "unassigned"]
    assert costs["traffic_cost"].tolist() == [1000, 3000, 1]
    assert lf.anatomy(frames_of(total=4000), "1220aa11").part("envelope")["part"].tolist() == ["envelope"] * 2
    assert transaction.summary == "accepted, 2026-11-08 12:00:00 UTC, 4,001 bytes"
    assert transaction.views["confirmers"].iloc[0].startswith("1 of 2: ")


@pytest.mark.parametrize("ids", [5, None, pd.Series(["1220aa11"])])
@pytest.mark.parametrize("figure", [lf.anatomy, lf.cost.anatomy])
def test_what_is_no_text_is_no_update_id(figure: Callable[[Frames, Any], object], ids: object) -> None:
    with pytest.raises(UsageError, match=rf"^update_id= must be the text of one update id, got {type(ids).__name__}\.$"):
        figure(frames_of(), ids)


def test_one_row_is_singular() -> None:
    transaction = lf.anatomy(frames_of(), "1220aa11")
    assert repr(transaction).endswith(": 1 node row, 1 view row, 3 envelope rows, 0 activity rows")


def test_text_of_the_network_is_escaped() -> None:
    transaction = lf.anatomy(frames_of(), "1220aa11")
    for text in (transaction._repr_html_(), transaction.to_markdown()):
        assert "<script>" not in text and "&lt;script&gt;" in text
    assert r"\|\`x\`" in transaction.to_markdown()


@pytest.mark.parametrize(
    ("named", "part", "reason"),
    [
        ({"result": "REJECTED", "visible": False}, "node", "the request was rejected"),
        ({"visible": False}, "node", "the update is private"),
        ({"result": None}, "view", "no verdict of that time"),
        ({"total": None}, "envelope", "no traffic summary"),
        ({}, "activity", "the history has none of the request"),
    ],
)
def test_what_is_missing_has_a_reason(named: dict[str, Any], part: str, reason: str) -> None:
    transaction = lf.anatomy(frames_of(**named), "1220aa11")
    assert transaction.part(part).empty
    for text in (transaction.missing[part], transaction.to_markdown(), transaction._repr_html_()):
        assert reason in text
    transaction.figure().canvas.draw()


def test_an_unknown_id_names_those_that_begin_like_it() -> None:
    with pytest.raises(UsageError, match="Choose from '1220aa11'"):
        lf.anatomy(frames_of(), "1220aa12")
    with pytest.raises(UsageError, match="Load a longer window"):
        lf.anatomy(frames_of(), "1220ff")


def test_what_was_earned_is_the_published_weight_with_its_factor(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=1_000, days=3, store=tmp_path / "store")
    history = lf.load_events(net, since="0001-01-01", until="2026-11-09")
    published = history.activity_records.merge(lf.activity.recompute(history), on=["update_id", "party", "weight"])
    chosen = published[published["activity_weight"] != 1].iloc[-1]
    transaction = lf.anatomy(history, chosen["update_id"])
    row = transaction.earned.set_index("party").loc[chosen["party"]]
    assert (row["weight"], row["burn_bytes"], row["activity_weight"]) == tuple(
        chosen[["weight", "burn_bytes", "activity_weight"]]
    )
    rates = lf.activity.rewards(history).set_index("round_number")["rate_per_mb"]
    rate = rates[chosen["round_number_x"]]
    assert (row["allowance"] is None) if rate is None else row["allowance"] == Decimal(int(row["weight"])) * rate / 10**6
    path = transaction.to_png(tmp_path / "picture.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert len(transaction.figure().axes) == 4


def test_rows_of_other_times_are_not_read(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=600, days=2, store=tmp_path)
    since, middle, until = "2026-11-07", "2026-11-08", "2026-11-09"
    days = [lf.load_events(net, since=start, until=end) for start, end in ((since, middle), (middle, until))]
    transaction = days[1].updates.query("node_count > 0")["update_id"].iloc[0]
    expected = lf.cost.anatomy(days[1], transaction)
    for name in days[0].file_digests.keys() - days[1].file_digests.keys():
        if name.startswith(("tree_events/", "views/", "quorums/", "envelopes/")):
            next(tmp_path.rglob(name)).write_bytes(b"")
    both = lf.load_events(net, since=since, until=until)
    assert lf.cost.anatomy(both, transaction)[["part", "label", "traffic_cost"]].equals(
        expected[["part", "label", "traffic_cost"]]
    )
    with pytest.raises(StoreError):
        both.read("tree_events")
