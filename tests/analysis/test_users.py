"""Cost by user of the ledger API, and which requests have none."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import UsageError

TABLE = lf.table("completions")


def completions(*rows: tuple[str, str | None, str | None, int | None], participant: str = "val-a") -> pd.DataFrame:
    """Completions in the order of their offsets: update, user and paid cost."""
    values: list[dict[str, Any]] = [
        {"command_id": "c", "update_id": update, "user_id": user, "paid_traffic_cost": paid, "status_code": code}
        for update, user, paid, code in rows
    ]
    common = {"participant_id": [participant] * len(rows), "offset": list(range(len(rows)))}
    columns = {name: [row.get(name) for row in values] for name in TABLE.column_names} | common
    return TABLE.to_pandas(TABLE.from_arrays(columns))


def costs(frame: pd.DataFrame) -> dict[tuple[str | None, str], tuple[int, int | None, int | None, int]]:
    columns = ["user_id", "user_status", "requests", "total_traffic_cost", "paid_traffic_cost", "paid_differs"]
    rows = [[None if pd.isna(value) else value for value in row] for row in frame[columns].to_numpy(object)]
    return {(user, status): tuple(values) for user, status, *values in rows}  # type: ignore[misc]


def test_users_by_hand(build: Any, event: Any) -> None:
    frames = build(
        [
            event("a", 0, 100),
            event("b", 1, 200),
            event("c", 1, 300),
            event("d", 2, 400),
            event("e", 2, 50, "REJECTED"),
            event("f", 3, 70, participant="val-b"),
            event("g", 3, None),
        ]
    )
    done = completions(("a", "ann", 100, 0), ("b", "ann", 201, 0), ("c", "bob", 300, 0), ("c", "eve", 1, 0), ("d", None, 4, 0))
    failed = completions(("", "ann", 50, 10))
    rows = lf.cost.spend(frames, by="user", completions=pd.concat([done, failed], ignore_index=True))
    assert costs(rows) == {
        ("ann", "known"): (2, 300, 301, 1),
        ("bob", "known"): (1, 300, 300, 0),
        (None, "not sent"): (1, 400, 4, 1),
        (None, "rejected"): (1, 50, None, 0),
        (None, "other participant"): (1, 70, None, 0),
        (None, "no completion"): (1, None, None, 0),
    }
    assert rows["user_status"].cat.categories.tolist()[0] == "known"
    assert rows["requests"].sum() == 7


def test_a_prefix_of_the_participant_does_not_matter(build: Any, event: Any) -> None:
    frames = build([event("a", 0, 100), event("b", 0, 100)])
    rows = lf.cost.spend(frames, by="user", completions=completions(("a", "ann", 100, 0), participant="PAR::val-a"))
    assert {status for _, status in costs(rows)} == {"known", "no completion"}


def test_without_completions_no_user_is_known(build: Any, event: Any) -> None:
    frames = build([event("a", 0, 100)])
    assert costs(lf.cost.spend(frames, by="user", completions=TABLE.empty())) == {(None, "other participant"): (1, 100, None, 0)}
    assert lf.cost.spend(build([]), by="user", completions=TABLE.empty()).empty


@pytest.mark.parametrize("wrong", [None, [1], pd.DataFrame({"update_id": []})])
def test_wrong_completions_are_refused(build: Any, event: Any, wrong: Any) -> None:
    frames = build([event("a", 0, 100)])
    for function in (lf.cost.spend, lambda *args, **named: lf.query(lf.cost.spend, *args, **named)):
        with pytest.raises(
            UsageError, match=r"completions= must be rows of table completions .* Pass the result of lf\.load_comp"
        ):
            function(frames, by="user", completions=wrong)


def test_users_of_the_sandbox_by_a_plain_loop(tmp_path: Any) -> None:
    net = lf.connect("sandbox", events=600, days=1, store=tmp_path)
    frames, done = lf.load_events(net, since="2026-11-08", until="2026-11-09"), lf.load_completions(net)
    (own,) = done["participant_id"].unique()
    users = {row.update_id: row.user_id for row in done.itertuples() if row.update_id}
    known = dict(zip(frames.traffic["update_id"], frames.traffic["total_traffic_cost"], strict=True))
    expected: defaultdict[tuple[str | None, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in frames.verdicts.itertuples():
        if row.update_id in users:
            group = users[row.update_id], "known"
        elif row.submitting_participant_uid.removeprefix("PAR::") != own:
            group = None, "other participant"
        else:
            group = None, "rejected" if row.verdict_result == "VERDICT_RESULT_REJECTED" else "no completion"
        expected[group][0] += 1
        expected[group][1] += max(known.get(row.update_id, 0), 0)
    rows = costs(lf.cost.spend(frames, by="user", completions=done))
    found = {group: [requests, total or 0] for group, (requests, total, *_) in rows.items() if group[1] != "submitter unknown"}
    assert found == dict(expected)
    assert {"known", "rejected", "other participant"} <= {status for _, status in found}
