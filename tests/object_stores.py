"""An object store on loopback for tests: moto, which answers as S3 does."""

from __future__ import annotations

import http.client
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.fs as fs
import pytest
from moto.server import ThreadedMotoServer

from ledgerframes import testing
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.extents import MigrationWindow, from_microseconds
from ledgerframes.frames import Frames
from ledgerframes.store import Store
from ledgerframes.windows import Window

KEYS = {"AWS_ACCESS_KEY_ID": "AKIATESTINGTESTING", "AWS_SECRET_ACCESS_KEY": "neverShownNeverShown"}
BUCKET = "bucket"
CATALOG = "catalog.sqlite"
ALWAYS = Window(from_microseconds(0), from_microseconds(1000))
Machine = Callable[[], Store]


@dataclass(frozen=True)
class ObjectStore:
    """Where it answers."""

    port: int

    @property
    def options(self) -> str:
        """The query of an address in it."""
        return f"endpoint_override=127.0.0.1:{self.port}&scheme=http&region=us-east-1"

    def uri(self, path: str, bucket: str = BUCKET) -> str:
        """The address of a folder in it."""
        return f"s3://{bucket}/{path}?{self.options}"

    def demand_keys(self, yes: bool) -> None:
        """From now on only known keys are let in; there are none. Or everybody is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request("POST", "/moto-api/reset-auth", b"0" if yes else b"inf")
            assert connection.getresponse().status == 200
        finally:
            connection.close()


@contextmanager
def served() -> Iterator[ObjectStore]:
    """A running one, with an empty bucket and keys in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        for name, value in {**KEYS, "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "none"}.items():
            patch.setenv(name, value)
        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        try:
            store = ObjectStore(server.get_host_and_port()[1])
            fs.S3FileSystem(
                endpoint_override=f"127.0.0.1:{store.port}", scheme="http", region="us-east-1", allow_bucket_creation=True
            ).create_dir(BUCKET)
            yield store
        finally:
            server.stop()


# -- what is committed and seen --------------------------------------------------------------------------------------


def rows(low: int, high: int, cost: int) -> dict[str, pa.Table]:
    """Two tables of one range: a row per microsecond in each."""
    both = {"record_time": from_microseconds, "update_id": lambda time: f"id{time}"}
    return {
        "traffic": testing.table("traffic").sample_arrow(range(low, high), **both, total_traffic_cost=cost),
        "envelopes": testing.table("envelopes").sample_arrow(range(low, high), **both, traffic_cost=cost),
    }


def commit(store: Store, low: int, high: int, cost: int, *, final: bool = True) -> None:
    store.commit(EVENTS, MigrationWindow(4, low, high), rows(low, high, cost), final=final, source="test")


def seen(store: Store) -> dict[int, int]:
    """Record time → cost of all that a reader sees, the same in both tables."""
    frames = Frames(store.snapshot(EVENTS, ALWAYS), ["traffic", "envelopes"])
    traffic = of_table(frames.traffic, "total_traffic_cost")
    assert of_table(frames.envelopes, "traffic_cost") == traffic
    return traffic


def of_table(frame: pd.DataFrame, column: str) -> dict[int, int]:
    assert not frame.duplicated("record_time").any()
    return dict(zip(frame["record_time"].astype("int64"), frame[column], strict=True))


def left_in(store: Store) -> list[str]:
    """What lies beside the catalog and the tables."""
    return sorted(file.path for file in store.location.iter_files() if not file.path.endswith(".parquet"))


def replace_catalog(store: Store, content: bytes) -> None:
    with store.location.write(CATALOG) as file:
        file.write(content)
