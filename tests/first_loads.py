"""First loads of examples, most of which load the same day: a repeated one copies the store that the earlier one left."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from ledgerframes.loaders import sync as driver
from ledgerframes.loaders.event_windows import EventLoader
from ledgerframes.loaders.sync import Loader
from ledgerframes.network import Network

load_and_commit = driver.sync


class FirstLoads:
    """The stores that loads of events left in an empty store, by the digest of what was loaded from which sandbox.

    Every example still begins with an empty store, and what it loads is what this version commits.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextmanager
    def copied(self) -> Iterator[None]:
        """Meanwhile, a load that ran before is copied."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ledgerframes.loaders.sync.sync", self.sync)
            yield

    def sync(self, loader: Loader[Any], **options: Any) -> bool:
        path = loader.net.store.location.local_path
        sandbox = sandbox_of(loader.net)
        if path is None or not sandbox or loader.net.store.exists() or not isinstance(loader, EventLoader):
            return load_and_commit(loader, **options)
        key = repr((sandbox, loader.window, loader.on_bad_item)).replace(str(path.parent), "")
        store = self._directory / sha256(key.encode()).hexdigest()
        if store.exists():
            shutil.copytree(store, path)
            return True
        is_loaded = load_and_commit(loader, **options)
        self._publish(path, store)
        return is_loaded

    def _publish(self, path: Path, store: Path) -> None:
        """Copy a store for all processes of the tests, of which another one may do the same."""
        copied = shutil.copytree(path, Path(mkdtemp(dir=self._directory)) / "store")
        with suppress(OSError):
            copied.rename(store)


def sandbox_of(net: Network) -> list[Any]:
    """All that a worker needs to connect to the sandbox of a network, equal in each process, or nothing without a sandbox."""
    parts = net._origin.args if net._origin else []  # type: ignore[attr-defined]
    return [sorted(part) if isinstance(part, set) else part for part in parts]
