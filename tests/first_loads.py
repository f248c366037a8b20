"""First loads of tests, most of which load the same day: a repeated one copies the store that the earlier one left."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from ledgerframes.loaders import sync as driver
from ledgerframes.loaders.bulk_loader import BulkLoader, BulkSnapshotLoader, BulkWindowLoader
from ledgerframes.loaders.event_windows import EventLoader
from ledgerframes.loaders.sync import Loader
from ledgerframes.network import Network

load_and_commit = driver.sync


class FirstLoads:
    """The stores that loads of events and of bulk objects left in an empty store, by the digest of what was loaded from where.

    Every test still begins with an empty store, and what it loads is what this version commits.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextmanager
    def copied(self) -> Iterator[None]:
        """Meanwhile, a load that ran before is copied."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "sync", self.sync)
            yield

    def sync(self, loader: Loader[Any], *, executor: Executor | None = None, progress: bool | None = None) -> bool:
        """Do what the driver does, or copy what it did."""
        path, what, sandbox = loader.net.store.location.local_path, what_is_loaded(loader), sandbox_of(loader.net)
        if path is None or what is None or executor or not sandbox or loader.net.store.exists():
            return load_and_commit(loader, executor=executor, progress=progress)
        key = repr((sandbox, *what)).replace(str(path.parent), "")
        store = self._directory / sha256(key.encode()).hexdigest()
        if store.exists():
            shutil.copytree(store, path)
            return True
        was_missing = load_and_commit(loader, progress=progress)
        has_failures = isinstance(loader, BulkLoader) and loader.failures
        if was_missing and not has_failures:
            self._publish(path, store)
        return was_missing

    def _publish(self, path: Path, store: Path) -> None:
        """Copy a store for all processes of the tests, of which another one may do the same."""
        copied = shutil.copytree(path, Path(mkdtemp(dir=self._directory)) / "store")
        with suppress(OSError):
            copied.rename(store)


def what_is_loaded(loader: Loader[Any]) -> tuple[object, ...] | None:
    """Return what a load wants, if all that it leaves is in the store."""
    if isinstance(loader, EventLoader):
        return loader.window, loader.on_bad_item
    if isinstance(loader, BulkWindowLoader | BulkSnapshotLoader) and not loader.options.download_dir:
        return loader.name, loader.options
    return None


def sandbox_of(net: Network) -> list[Any]:
    """All that a worker needs to connect to the sandbox of a network, equal in each process, or nothing without a sandbox."""
    parts = net._origin.args if net._origin else []  # type: ignore[attr-defined]
    return [sorted(part) if isinstance(part, set) else part for part in parts]
