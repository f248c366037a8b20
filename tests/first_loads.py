"""First loads of examples, most of which load the same day: a repeated one copies the store that the earlier one left."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from ledgerframes.loaders import sync as driver
from ledgerframes.loaders.event_windows import EventLoader
from ledgerframes.loaders.sync import Loader

load_and_commit = driver.sync


class FirstLoads:
    """The stores that loads of events left in an empty store, by what was loaded from which sandbox.

    Every example still begins with an empty store, and what it loads is what this version commits.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stores: dict[str, Path] = {}

    def sync(self, loader: Loader[Any], **options: Any) -> None:
        store = loader.net.store
        path = store.location.local_path
        if path is None or store.exists() or not (isinstance(loader, EventLoader) and loader.net.in_process):
            load_and_commit(loader, **options)
            return
        connection = loader.net._origin  # all that a worker needs to connect to this sandbox
        parts = (connection, loader.window, loader.on_bad_item)
        key = repr(parts).replace(str(path.parent), "")
        if key in self._stores:
            shutil.copytree(self._stores[key], path)
            return
        load_and_commit(loader, **options)
        self._stores[key] = shutil.copytree(path, self._directory / str(len(self._stores)))
