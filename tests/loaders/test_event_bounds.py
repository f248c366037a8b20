"""Windows in which a network has nothing: before its first event, after its last one, and between two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import CoverageError
from ledgerframes.loaders.event_bounds import history_bounds, require_overlap
from ledgerframes.values.extents import MigrationWindow
from ledgerframes.values.windows import Window, instant

WORLD: Any = {"events": 400, "days": 1}


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    return lf.connect("sandbox", store=tmp_path_factory.mktemp("store"), **WORLD)


@pytest.fixture(scope="module")
def times(net: lf.Network) -> pd.Series:
    """The record times of all events."""
    frames = lf.load_events(net, since="2026-11-01", until="2026-11-10")
    return pd.concat([frames.verdicts["record_time"], frames.updates["record_time"]]).sort_values()


def test_bounds_are_those_of_all_events(net: lf.Network, times: pd.Series) -> None:
    begin, end = history_bounds(net)
    assert begin == times.iloc[0]
    assert times.iloc[-1] - pd.Timedelta(seconds=1) < end <= times.iloc[-1]


def test_a_window_beside_the_history_is_refused_and_one_inside_is_not(net: lf.Network, times: pd.Series) -> None:
    first, last = map(pd.Timestamp, history_bounds(net))
    microsecond = pd.Timedelta(microseconds=1)
    for since, until in ((first - microsecond, first), (last + microsecond, last + 2 * microsecond)):
        with pytest.raises(CoverageError, match=r"its events begin at 2026-.* and end at 2026-11-09T0"):
            require_overlap(net, Window(since.to_pydatetime(), until.to_pydatetime()))
    for since, until in ((first, first + microsecond), (last, last + microsecond), (first - microsecond, last + microsecond)):
        require_overlap(net, Window(since.to_pydatetime(), until.to_pydatetime()))


def test_loading_a_window_beside_the_history_is_logged(net: lf.Network, caplog: pytest.LogCaptureFixture) -> None:
    assert lf.load_events(net, since="2020-01-01", until="2020-01-02").verdicts.empty
    assert "window_without_events network=sandbox" in caplog.text
    assert "history_begins=2026-" in caplog.text


def test_a_quiet_moment_inside_the_history_is_no_error(tmp_path: Path, times: pd.Series) -> None:
    quiet = times[times.diff().shift(-1) > pd.Timedelta(minutes=1)].iloc[0] + pd.Timedelta(seconds=1)
    since, until = (f"{time:%Y-%m-%dT%H:%M:%S.%fZ}" for time in (quiet, quiet + pd.Timedelta(seconds=1)))
    store = lf.connect("sandbox", store=tmp_path, **WORLD)
    assert lf.load_events(store, since=since, until=until).verdicts.empty
    require_overlap(store, Window(instant(since), instant(until)))


def test_a_window_after_the_last_event_is_one_extent_without_files(tmp_path: Path) -> None:
    """However many chunks it was read in, and an offline load finds it."""
    online = lf.connect("sandbox", store=tmp_path, max_concurrency=4, **WORLD)
    window = {"since": "2026-12-01", "until": "2026-12-02"}
    for _ in range(2):
        assert lf.load_events(online, **window).verdicts.empty
        [segment] = online.store.all_segments()
        assert (segment.status, segment.files) == ("provisional", {})
        assert segment.extent == MigrationWindow.of(4, Window(instant(window["since"]), instant(window["until"])))
    offline = lf.connect("sandbox", store=tmp_path, offline=True, **WORLD)
    assert lf.load_events(offline, **window).coverage["status"].tolist() == ["provisional"]
