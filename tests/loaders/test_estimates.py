"""What a plan says of requests, rows, bytes and minutes, recomputed by hand."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import ledgerframes as lf

DAY = {"since": "2026-11-08T00:00:00Z", "until": "2026-11-08T06:00:00Z"}


def test_nothing_stored_is_no_estimate(tmp_path: Path) -> None:
    plan = lf.plan(lf.load_events, lf.connect("sandbox", events=2000, days=2, store=tmp_path), **DAY)
    assert plan[["requests", "rows", "bytes", "minutes"]].isna().all(axis=None)


def test_the_density_of_what_is_stored_is_that_of_what_is_missing(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=2000, days=2, store=tmp_path, page_size=11, requests_per_second=2)
    frames = lf.load_events(net, **DAY)
    stored = [segment for segment in net.store.all_segments() if segment.dataset == "events"]
    rows, size = sum(segment.rows for segment in stored), sum(segment.bytes for segment in stored)
    [plan] = lf.plan(lf.load_events, net, since=DAY["until"], until="2026-11-08T18:00:00Z").to_dict("records")
    assert (plan["rows"], plan["bytes"]) == (2 * rows, 2 * size)
    items = sum(max(segment.files[name].rows for name in ("verdicts", "updates")) for segment in stored if segment.rows)
    assert items >= max(len(frames.verdicts), len(frames.updates))
    requests = -(-2 * items // 10) + 1
    assert plan["requests"] == requests
    assert plan["minutes"] == -(-requests // 120)
    assert plan["request_rate"] == "the maximum of 2 requests per second"
    before = net.request_count
    lf.load_events(net, since=DAY["until"], until="2026-11-08T18:00:00Z")
    assert requests / 2 < net.request_count - before < requests * 2


def test_offsets_have_estimates_and_ids_have_none(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path)
    lf.load_updates(net, through=200)
    [plan] = lf.plan(lf.load_updates, net, through=400).to_dict("records")
    rows = sum(segment.rows for segment in net.store.all_segments())
    assert (plan["after"], plan["rows"]) == (200, rows)
    assert pd.isna(plan["minutes"]) and pd.isna(plan["request_rate"]), "the sandbox has no request rate"
    ids = lf.plan(lf.load_events, net, update_ids=["a"])
    assert ids["requests"].isna().all()


def test_a_migration_that_was_followed_by_another_is_not_counted_again(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=2200, days=10, store=tmp_path)
    lf.load_events(net, since="2026-11-08", until="2026-11-09")
    window = {"since": "2026-11-05", "until": "2026-11-08"}
    plan = lf.plan(lf.load_events, net, **window)
    assert list(plan["migration_id"]) == [3, 4]
    assert plan["rows"][0] == 0
    before = sum(segment.rows for segment in net.store.all_segments())
    lf.load_events(net, **window)
    loaded = sum(segment.rows for segment in net.store.all_segments()) - before
    assert 0.7 < plan["rows"].sum() / loaded < 1.3
