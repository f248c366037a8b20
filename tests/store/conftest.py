"""A store in a bucket on loopback, seen from several machines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from object_stores import SERVERS, Machine, ObjectStore, served

from ledgerframes.datasets.registry import DATASETS
from ledgerframes.store import Store, remote


@pytest.fixture(scope="module", params=SERVERS)
def objects(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    with served(request.param) as store:
        yield store


@pytest.fixture
def uri(objects: ObjectStore, tmp_path: Path) -> str:
    return objects.uri(tmp_path.name)


@pytest.fixture
def machine(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The same store, each time seen from a machine that shares nothing with the others."""

    def new() -> Store:
        folder = tmp_path / f"scratch{random.getrandbits(64)}"
        folder.mkdir()
        monkeypatch.setattr(remote, "scratch_dir", lambda: folder)
        remote.local_copy.cache_clear()
        return Store(uri, "net", DATASETS)

    return new
