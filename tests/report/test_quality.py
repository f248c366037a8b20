"""The chip below the title of a page: what is known of the window, and what its figures leave out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from nbformat.v4 import new_notebook

import ledgerframes as lf
from ledgerframes.frames import Frames
from ledgerframes.network import Network
from ledgerframes.report.page import render
from ledgerframes.report.quality import describe_quality
from ledgerframes.testing import frames_of
from ledgerframes.values.windows import Window

from .conftest import SINCE, UNTIL
from .test_page import RUN

DAY = Window(datetime(2026, 11, 8, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC))
IDS = ("a", "b", "c", "d")


def frames(costs: dict[str, int], window: Window = DAY) -> Frames:
    """Four requests, some of them with a cost."""
    times = {name: window.since + number * timedelta(hours=1) for number, name in enumerate(IDS)}
    verdicts: list[dict[str, Any]] = [
        {
            "update_id": name,
            "record_time": time,
            "finalization_time": time + timedelta(seconds=1),
            "verdict_result": "VERDICT_RESULT_ACCEPTED",
        }
        for name, time in times.items()
    ]
    traffic = [{"update_id": name, "record_time": times[name], "total_traffic_cost": cost} for name, cost in costs.items()]
    return frames_of(window=window, network="memory", verdicts=verdicts, traffic=traffic)


def test_data_without_a_flaw_are_said_to_be_whole() -> None:
    assert describe_quality(frames(dict.fromkeys(IDS, 10))) == {
        "text": "all costs known · no row left out",
        "details": [
            "All of the window is final and in the history.",
            "The cost of all 4 requests is known.",
            "No row is left out.",
        ],
        "is_whole": True,
    }


def test_unknown_costs_and_values_that_do_not_count_are_counted() -> None:
    quality = describe_quality(frames({"a": 10, "b": 10, "c": -1}))
    assert quality["text"] == "50.0 % of costs known · no row left out · 1 value not counted"
    assert quality["details"][1] == "The cost of 2 of 4 requests is unknown."
    assert quality["details"][-1] == "1 value of total_traffic_cost does not count, because it is negative."
    assert not quality["is_whole"]


def test_rows_that_are_left_out_are_counted_by_table(monkeypatch: pytest.MonkeyPatch) -> None:
    excluded = pd.DataFrame({"problem": ["second verdict"] * 2, "table": ["verdicts", "traffic"], "rows": [2, 1]})
    monkeypatch.setattr(Frames, "problems", property(lambda _: excluded))
    quality = describe_quality(frames(dict.fromkeys(IDS, 10)))
    assert quality["text"] == "all costs known · 3 rows left out"
    assert quality["details"][-1] == "3 rows are left out (second verdict): 1 of traffic and 2 of verdicts."
    assert not quality["is_whole"]


def test_eras_that_the_window_mixes_are_named() -> None:
    window = Window(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC))
    quality = describe_quality(frames(dict.fromkeys(IDS, 10), window))
    assert quality["text"].endswith(" · 2 eras")
    assert quality["details"][-1].startswith("The era free responses begins on 2026-03-02, so figures of")


@pytest.mark.loopback
def test_a_window_that_is_not_final_says_how_much_is(net: Network) -> None:
    later = lf.connect("sandbox", events=600, days=2, provisional_minutes=60 * 12)
    day = lf.load_events(later, since=SINCE, until=UNTIL)
    quality = describe_quality(day)
    share = quality["text"].partition(" of the window final · ")[0]
    assert re.fullmatch(r"[\d.]+ %", share)
    assert quality["details"][0] == f"Only {share} of the window is final and in the history."


def test_the_chip_opens_by_the_keyboard_and_shows_texts_as_texts() -> None:
    page = render(new_notebook(cells=[]), RUN)
    head = page.partition("</header>")[0]
    assert (
        '<details class="quality partial"><summary>9\N{NO-BREAK SPACE}% of &lt;b&gt;costs</summary>'
        "<ul><li>1 &lt;i&gt;row.</li></ul></details>" in head
    )
    whole = render(new_notebook(cells=[]), {**RUN, "quality": {**RUN["quality"], "is_whole": True}})
    assert '<details class="quality"><summary>' in whole


def test_frames_without_a_window_have_one_era() -> None:
    assert not any("era" in each for each in describe_quality(frames_of(network="memory"))["details"])
