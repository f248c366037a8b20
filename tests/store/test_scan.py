"""An object store that does not respond is no damaged file."""

from __future__ import annotations

import errno

import pytest

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location
from ledgerframes.store.scan import damage_as_store_error

BUCKET = Location.parse("s3://bucket/prefix?endpoint_override=127.0.0.1:9&scheme=http")


@pytest.mark.parametrize(
    ("location", "error", "words"),
    [
        (BUCKET, OSError("When reading: AWS Error NETWORK_CONNECTION during GetObject operation"), "object store"),
        (BUCKET, FileNotFoundError("no such key"), "pruned or lost"),
        (Location.parse("/somewhere"), OSError("Couldn't deserialize thrift"), "damaged"),
        (Location.parse("/somewhere"), OSError(errno.EIO, "Input/output error"), "damaged"),
        (Location.parse("/somewhere"), OSError(errno.EACCES, "Permission denied"), "Cannot access /somewhere"),
        (Location.parse("/somewhere"), OSError(errno.EMFILE, "Too many open files"), "Cannot access /somewhere"),
        (None, OSError("broken"), "damaged"),
    ],
)
def test_damage_differs_from_an_object_store_failure(location: Location | None, error: OSError, words: str) -> None:
    with pytest.raises(StoreError, match=words), damage_as_store_error("traffic", location):
        raise error
