"""One history, one answer: no split, order, window, compaction or repair changes a row or a figure."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from campaign import examples
from equality import assert_equal, every_table
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.frames import Frames
from ledgerframes.loaders.repair import repair
from ledgerframes.sandbox import Sandbox
from ledgerframes.store.compact import compact
from ledgerframes.store.verify import verify

MICROSECOND = timedelta(microseconds=1)
START, END = datetime(2026, 11, 8, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC)
WORLD = {"events": 320, "days": 1}


def edges_of(seed: int, rng: random.Random) -> list[datetime]:
    """Times at, after and between the verdicts of each request that has two, and some others."""
    pairs = [case.times for case in Sandbox(seed=seed, **WORLD).key() if case.kind == "second verdict"]
    assert pairs
    near = [time for first, second in pairs for time in (first, first + MICROSECOND, first + (second - first) / 2, second)]
    return [*near, *(START + timedelta(seconds=rng.randrange(86_400)) for _ in range(4))]


def damage(net: lf.Network, rng: random.Random) -> None:
    """Damage one file, and repair it."""
    files = [file for segment in net.store.segments(EVENTS) for file in segment.files.values()]
    if files:
        (net.store.location.local_path / rng.choice(files).path).write_bytes(b"damaged")  # type: ignore[operator]
        repair(net, verify(net.store))


def figures(frames: Frames) -> dict[str, pd.DataFrame]:
    results = {
        "spend": lf.cost.spend(frames, by="participant"),
        "outcomes": lf.verdict.outcomes(frames),
        "problems": frames.problems,
    }
    return results | {"wasted": lf.cost.wasted(frames), "latency": lf.verdict.latency(frames)}


@pytest.mark.exhaustive
@settings(max_examples=examples(1), deadline=None)
@given(seed=st.integers(1, 10_000))
def test_any_split_order_window_compaction_and_repair_give_one_answer(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder, rng = tmp_path_factory.mktemp("store"), random.Random(seed)
    whole = lf.load_events(lf.connect("sandbox", seed=seed, store=folder / "whole", **WORLD), since=START, until=END)
    assert whole.missing_before == ()
    net, edges = lf.connect("sandbox", seed=seed, store=folder / "parts", **WORLD), edges_of(seed, rng)
    parts = list(pairwise(sorted({START, END, *rng.sample(edges, 6)})))
    rng.shuffle(parts)
    for since, until in parts:
        lf.load_events(net, since=since, until=until)
        rng.choice([lambda: None, lambda: compact(net.store), lambda: damage(net, rng)])()
    for since, until in [(START, END), *(sorted(rng.sample(edges, 2)) for _ in range(3))]:
        frames, expected = lf.load_events(net, since=since, until=until), whole.between(since, until)
        assert_equal(every_table(frames), every_table(expected))
        results = figures(frames)
        for name, figure in figures(expected).items():
            pd.testing.assert_frame_equal(results[name], figure, obj=name)
        counted = lf.sql(net, "select count(*) as n from verdicts", since=since, until=until)["n"][0]
        assert counted == frames.scan("verdicts").count_rows() == len(frames.verdicts)


@pytest.mark.exhaustive
def test_hourly_loads_add_up_to_one_load(tmp_path: Path) -> None:
    whole = lf.load_events(lf.connect("sandbox", store=tmp_path / "whole", **WORLD), since=START, until=END)
    net = lf.connect("sandbox", store=tmp_path / "hourly", **WORLD)
    hours = [START + timedelta(hours=hour) for hour in range(25)]
    loads = [lf.load_events(net, since=since, until=until) for since, until in pairwise(hours)]
    assert sum(int(lf.cost.spend(each)["requests"].sum()) for each in loads) == int(lf.cost.spend(whole)["requests"].sum())
    assert sum(len(each.verdicts) for each in loads) == len(whole.verdicts)
    assert sum(each.problems["rows"].sum() for each in loads) == whole.problems["rows"].sum() > 0
