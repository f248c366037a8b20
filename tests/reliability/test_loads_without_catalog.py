"""A load into a store whose catalog is lost is refused before a request is sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from loads import LOADS, events, network

from ledgerframes.errors import StoreError
from ledgerframes.store.rebuild import rebuild

NOT_STORED = {
    *("load_active_contracts", "load_completions", "load_parties", "load_packages", "load_synchronizers"),
    *("load_holdings_summary", "load_token_allocations", "load_token_holdings", "load_token_transfers"),
}
IN_THE_JOURNAL = {"load_transfer_offers"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Segments without their catalog."""
    path = tmp_path_factory.mktemp("store")
    net = network(path)
    events(net)
    net.store.catalog.path.unlink()
    return path


@pytest.mark.parametrize("name", sorted(LOADS.keys() - NOT_STORED - IN_THE_JOURNAL))
def test_a_load_is_refused_before_a_request_is_sent(name: str, store: Path) -> None:
    net = network(store)
    with pytest.raises(StoreError, match=r"is lost.* `ledgerframes store rebuild`"):
        LOADS[name](net)
    assert net.request_count == 0


def test_the_load_goes_on_after_a_rebuild(tmp_path: Path) -> None:
    net = network(tmp_path)
    expected = events(net)
    net.store.catalog.path.unlink()
    assert rebuild(net.store).is_needed
    assert all(frame.equals(expected[name]) for name, frame in events(network(tmp_path)).items())
