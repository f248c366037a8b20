"""Final rows that a release of the service changes are named, and replaced only on demand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.api.history import History
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.loaders.recheck import recheck
from ledgerframes.sandbox.builder import Event
from ledgerframes.store.compact import compact

pytestmark = pytest.mark.usefixtures("first_loads_copied_in_module")
WORLD: dict[str, Any] = {"events": 400, "days": 1}
DAY = {"since": "2026-11-08", "until": "2026-11-09"}
MORNING = {"since": "2026-11-08T06:00:00Z", "until": "2026-11-08T10:00:00Z"}
ITEM = Event.item


@pytest.fixture
def net(tmp_path: Path) -> lf.Network:
    net = lf.connect("sandbox", store=tmp_path / "store", **WORLD)
    lf.load_events(net, **MORNING)
    return net


def without_activity(event: Event) -> bytes:
    return ITEM(replace(event, app_activity_records=b"null"))


def with_other_costs(event: Event) -> bytes:
    return re.sub(rb'("total_traffic_cost":)(\d)', rb"\g<1>1\2", ITEM(event))  # one of the planted costs is negative


def with_another_finalization_time(event: Event) -> bytes:
    return re.sub(rb'("finalization_time":"[^"]*)\d(Z")', rb"\g<1>7\2", ITEM(event))


def written_otherwise(event: Event) -> bytes:
    """The same members in another order, and with spaces."""
    return json.dumps(backwards(json.loads(ITEM(event))), indent=1).encode()


def backwards(value: Any) -> Any:
    if isinstance(value, list):
        return [backwards(each) for each in value]
    return {name: backwards(value[name]) for name in reversed(value)} if isinstance(value, dict) else value


def with_another_payload(event: Event) -> bytes:
    return re.sub(rb'("create_arguments":\{)"', rb'\1"other":1,"', ITEM(event))


def upgrade(monkeypatch: pytest.MonkeyPatch, item: Any) -> None:
    """A release of the service returns other events."""
    monkeypatch.setattr(Event, "item", item)


def segment_ids(net: lf.Network) -> set[str]:
    return {segment.segment_id for segment in net.store.all_segments()}


def test_every_kind_of_extent_is_fetched_again_and_equal(net: lf.Network) -> None:
    update_ids = lf.load_events(net, **MORNING).verdicts["update_id"].head(9).tolist()
    lf.load_events(net, update_ids=update_ids)
    lf.load_updates(net)
    lf.load_bulk(net, **DAY)
    lf.load_price_votes(net)
    compact(net.store)
    before = segment_ids(net)
    result = recheck(net, sample=1000, seed=1)
    served = [each for each in net.store.all_segments() if each.status == "final" and each.rows and each.extent.refetchable]
    assert {each.dataset for each in served} == {"events", "events_by_id", "ledger", "bulk"}
    assert (result.segments, result.changes.empty, result.skipped, result.repairs) == (len(served), True, {}, [])
    assert segment_ids(net) == before


def test_activity_that_a_release_removed_is_named_and_the_store_unchanged(
    net: lf.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rows = segment_ids(net), lf.load_events(net, **MORNING).activity_records
    upgrade(monkeypatch, without_activity)
    result = recheck(net, sample=1000, seed=1)
    assert set(result.changes["table"]) == {"activity_records", "verdicts"} & set(result.changes["table"])
    removed = result.changes[result.changes["table"] == "activity_records"]
    assert set(removed["change"]) == {"rows removed"} and removed["column"].isna().all()
    assert segment_ids(net) == before
    pd.testing.assert_frame_equal(lf.load_events(net, **MORNING).activity_records, rows)


def test_values_that_differ_are_counted_by_column(net: lf.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade(monkeypatch, with_other_costs)
    changes = recheck(net, sample=1000, seed=1).changes
    assert set(zip(changes["table"], changes["change"], changes["column"], strict=True)) == {
        ("traffic", "values changed", "total_traffic_cost")
    }
    assert (changes["rows"] > 0).all()


@pytest.mark.parametrize("item", [with_another_finalization_time, written_otherwise])
def test_what_each_operator_has_of_its_own_is_no_change(item: Any, net: lf.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade(monkeypatch, item)
    assert recheck(net, sample=1000, seed=1).changes.empty


def test_another_payload_is_a_change(net: lf.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade(monkeypatch, with_another_payload)
    changes = recheck(net, sample=1000, seed=1).changes
    assert set(zip(changes["table"], changes["column"], strict=True)) == {("tree_events", "create_arguments")}


def test_segments_that_differ_are_replaced_on_demand(net: lf.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade(monkeypatch, without_activity)
    result = recheck(net, sample=1000, seed=1, replace=True)
    assert {each.outcome for each in result.repairs} == {"fetched again"}
    assert recheck(net, sample=1000, seed=1).changes.empty


def test_a_sample_is_repeated_by_its_seed(net: lf.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade(monkeypatch, without_activity)
    first, second = (recheck(net, sample=1, seed=3, datasets=["events"]) for _ in range(2))
    assert first.segments == 1 and first.changes.equals(second.changes)


def test_what_cannot_be_rechecked(net: lf.Network) -> None:
    for sample in (0, "3", 2.5):
        with pytest.raises(UsageError, match="sample= must be a whole number of at least 1, got"):
            recheck(net, sample=sample)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="Unknown dataset 'nothing'"):
        recheck(net, datasets=["nothing"])
    with pytest.raises(CoverageError, match="offline"):
        recheck(lf.connect("sandbox", store=net.settings.store, offline=True, **WORLD))


def test_objects_from_another_host_that_lists_no_digests_are_equal(net: lf.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    lf.load_bulk(net, **DAY)
    download = History.bulk_download
    monkeypatch.setattr(History, "bulk_download", lambda *given: replace(download(*given), host="other.invalid"))
    monkeypatch.setattr(History, "bulk_checksums", lambda *_: [])
    result = recheck(net, sample=1000, seed=1, datasets=["bulk"])
    assert result.segments > 0 and result.changes.empty


def test_ledger_rows_of_an_unknown_filter_are_skipped(tmp_path: Path) -> None:
    net = lf.connect("sandbox", store=tmp_path, **WORLD)
    lf.load_updates(net, through=400, include_topology=False)
    result = recheck(net, seed=1)
    (reason,) = result.skipped.values()
    assert result.segments == 0 and "filter that is unknown" in reason
    assert not net.store.segments(EVENTS)
