"""What a store has is for its user alone, unless its root is open on purpose."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.api.host_rates import HostRates, Waits
from ledgerframes.errors import DecodeError
from ledgerframes.loaders import bad_items
from ledgerframes.store.rate_file import RateFile

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no permissions for groups")
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.fixture(autouse=True, params=[0o022, 0o000])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """The permissions that a process takes away, which stay as they are."""
    before = os.umask(request.param)
    yield request.param
    assert os.umask(before) == request.param


def modes(directory: Path) -> tuple[set[int], set[int]]:
    """The permissions of the directories and of the files below one, and of itself."""
    paths = [directory, *directory.rglob("*")]
    permissions = [(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in paths]
    return {mode for is_dir, mode in permissions if is_dir}, {mode for is_dir, mode in permissions if not is_dir}


def fill(root: Path) -> None:
    """Commit, cut, compact and journal below a root."""
    net = lf.connect("sandbox", events=400, days=1, store=root)
    lf.load_events(net, **DAY)
    bad_items._quarantine(net, bad_items.BadItem(b"{}", DecodeError("bad"), None))
    lf.load_price_votes(net)
    lf.load_bulk(net, **DAY)
    net.wallet.offer_transfer(
        receiver="bob::1220bb", amount=Decimal(1), description="x", expires_at=datetime(2100, 1, 1, tzinfo=UTC), tracking_id="t"
    )


def test_a_new_store_is_for_its_user_alone(tmp_path: Path) -> None:
    fill(tmp_path / "new" / "store")
    assert modes(tmp_path / "new") == ({0o700}, {0o600})
    assert {path.name for path in tmp_path.rglob("*.sqlite")} >= {"catalog.sqlite", "offers.sqlite"}
    assert list(tmp_path.rglob("quarantine/*"))


@pytest.mark.parametrize("mode", [0o775, 0o2750])
def test_an_existing_root_stays_as_it_is_and_what_is_below_it_is_as_open(mode: int, tmp_path: Path, umask: int) -> None:
    root = tmp_path / "shared"
    root.mkdir()
    root.chmod(mode)
    fill(root)
    assert stat.S_IMODE(root.stat().st_mode) == mode
    directories, files = modes(root)
    assert {each & 0o777 for each in directories - {mode}} <= {mode & 0o777 & ~umask}
    assert files <= {mode & 0o666 & ~umask, mode & 0o644 & ~umask}, "SQLite lets only its user write"


def test_request_rates_are_for_their_user_alone(tmp_path: Path) -> None:
    existing = tmp_path / "existing"
    existing.mkdir(mode=0o755)
    for directory in (tmp_path / "new", existing):
        HostRates(RateFile(directory / "host_rates.sqlite").record).of("one.invalid", 5).acquire(Waits())
        assert modes(directory)[1] == {0o600}
    assert modes(tmp_path / "new")[0] == {0o700}
