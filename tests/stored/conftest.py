"""What the tests of reading a store share."""

from __future__ import annotations

import pytest

import ledgerframes as lf

DAY = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory, first_loads_copied_in_module: None) -> lf.Network:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path_factory.mktemp("store"))
    lf.load_events(net, **DAY)
    lf.load_updates(net)
    lf.load_price_votes(net)
    return net


@pytest.fixture(scope="module")
def frames(net: lf.Network) -> lf.Frames:
    return lf.load_events(net, **DAY)
