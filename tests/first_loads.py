"""First loads of examples, most of which load the same day: a repeated one copies the store that the earlier one left."""

from __future__ import annotations

import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from ledgerframes.loaders import sync as driver
from ledgerframes.loaders.event_windows import EventLoader
from ledgerframes.loaders.sync import Loader

load_and_commit = driver.sync


class FirstLoads:
    """The stores that loads of events left in an empty store, by the digest of what was loaded from which sandbox.

    Every example still begins with an empty store, and what it loads is what this version commits.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def sync(self, loader: Loader[Any], **options: Any) -> None:
        path = loader.net.store.location.local_path
        if path is None or loader.net.store.exists() or not (isinstance(loader, EventLoader) and loader.net.in_process):
            load_and_commit(loader, **options)
            return
        connection = loader.net._origin  # all that a worker needs to connect to this sandbox
        parts = (connection, loader.window, loader.on_bad_item)
        key = repr(parts).replace(str(path.parent), "")
        store = self._directory / sha256(key.encode()).hexdigest()
        if store.exists():
            shutil.copytree(store, path)
            return
        load_and_commit(loader, **options)
        self._publish(path, store)

    def _publish(self, path: Path, store: Path) -> None:
        """Copy a store for all processes of the tests, of which another one may do the same."""
        copied = shutil.copytree(path, Path(mkdtemp(dir=self._directory)) / "store")
        with suppress(OSError):
            copied.rename(store)
