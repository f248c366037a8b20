"""What every test gets: no sockets, no pauses between tries, no waits for the disk, and settings of its own."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from campaign import examples
from disk_waits import skip_disk_waits
from first_loads import FirstLoads
from hypothesis import HealthCheck, settings
from virtual_clock import VirtualClock

from ledgerframes import gc_pause, network
from ledgerframes.api import host_rates
from ledgerframes.loaders import progress
from ledgerframes.sandbox import sandbox, world
from ledgerframes.texts import hidden_tokens

DATA = Path(__file__).parent / "data"
# Seconds are never asserted: machines differ.
settings.register_profile("default", deadline=None, max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")
# Tests and the processes that they start use what was compiled once, also where the environment of a container says otherwise.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A shell starts what runs in the background deaf to Ctrl-C, and the processes of tests would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
skip_disk_waits()
if "PYTEST_XDIST_WORKER" in os.environ:
    pa.set_cpu_count(1)  # several processes share the cores, and threads of each would wait for one another
# Tests look at more worlds in turn than users do.
sandbox.world_of = lru_cache(maxsize=16)(world.world_of.__wrapped__)  # type: ignore[attr-defined]
LOOPBACK = ("127.0.0.1", "::1", "localhost")
numbers = count()


def pytest_collection_finish() -> None:
    """Thousands of tests and what they import stay to the end: the collector need not look through them each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)  # worlds are many objects, without circles
    gc_pause.COLLECT_SECONDS = 3600.0  # loads of a few seconds each would look through all worlds


@pytest.fixture(autouse=True)
def no_sockets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets are blocked; a test with the loopback marker may reach this machine only."""
    allowed = LOOPBACK if request.node.get_closest_marker("loopback") else ()
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in allowed:
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


class SkippingClock(host_rates.Clock):
    """A clock that is put forward instead of waiting."""

    def __init__(self) -> None:
        self.skipped = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return super().now() + self.skipped

    def sleep_until(self, until: float) -> None:
        with self._lock:
            self.skipped += max(0.0, until - self.now())


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> SkippingClock:
    """Retries happen, without waiting."""
    clock = SkippingClock()
    monkeypatch.setattr(host_rates, "clock", clock)
    rates = host_rates.HostRates()
    monkeypatch.setattr(network, "shared_rates", lambda: rates)
    return clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> VirtualClock:
    """Waits take no time, and no time passes without one, also in the sandbox."""
    virtual = VirtualClock()
    monkeypatch.setattr(host_rates, "clock", virtual)
    monkeypatch.setattr(time, "monotonic", virtual.now)
    return virtual


@pytest.fixture(autouse=True)
def no_token_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token may be a usual word, which the errors of other tests have."""
    monkeypatch.setattr(hidden_tokens, "_tokens", ())


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of the test's own, for which pytest would look through those of all tests before."""
    directory = tmp_path_factory.getbasetemp() / f"test-{next(numbers)}"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No setting of this machine reaches a test; store and configuration lie in the test's own folder."""
    for name in [name for name in os.environ if name.startswith("LEDGERFRAMES_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LEDGERFRAMES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def shared_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of all processes of the tests."""
    base = tmp_path_factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    directory.mkdir(exist_ok=True)
    return directory


@pytest.fixture(scope="session")
def first_loads(shared_directory: Path) -> FirstLoads:
    """All processes of the tests share them."""
    directory = shared_directory / "first_loads"
    directory.mkdir(exist_ok=True)
    return FirstLoads(directory)


@pytest.fixture
def shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show progress without a delay, of loads that take no time."""
    monkeypatch.setattr(progress, "DELAY", 0)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)


@pytest.fixture
def copied_first_loads(first_loads: FirstLoads) -> Iterator[None]:
    """A load of events or bulk objects into an empty store that ran before is copied."""
    with first_loads.copied():
        yield


@pytest.fixture(scope="module")
def first_loads_copied_in_module(first_loads: FirstLoads) -> Iterator[None]:
    """The same for a module whose tests are not about loads, and for its fixtures."""
    with first_loads.copied():
        yield


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Directory of the responses that tests load (tests/data/README.md)."""
    return DATA
