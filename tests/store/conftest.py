"""A store in a bucket on loopback, seen from several machines."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from object_stores import SERVERS, Machine, ObjectStore, served

from ledgerframes.datasets.registry import DATASETS
from ledgerframes.store import Store, remote
from ledgerframes.store.private_files import scratch_dir


@pytest.fixture(scope="module", params=SERVERS)
def objects(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    with served(request.param) as store:
        yield store


@pytest.fixture
def uri(objects: ObjectStore, tmp_path: Path) -> str:
    return objects.uri(tmp_path.name)


@pytest.fixture
def machine(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """The same store, each time seen from a machine that shares nothing with the others."""

    def new() -> Store:
        folder = tmp_path / f"scratch{random.getrandbits(64)}"
        folder.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        scratch_dir.cache_clear()
        remote.local_copy.cache_clear()
        return Store(uri, "net", DATASETS)

    yield new
    scratch_dir.cache_clear()
