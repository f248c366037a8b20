"""Two object stores on loopback for tests: moto, and s3rver where it is installed. Both answer as S3 does."""

from __future__ import annotations

import http.client
import logging
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.fs as fs
import pytest
from moto.moto_server.werkzeug_app import MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from ledgerframes import testing
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.frames import Frames
from ledgerframes.store import Store, remote
from ledgerframes.values.extents import MigrationWindow, from_microseconds
from ledgerframes.values.windows import Window

KEYS = {"AWS_ACCESS_KEY_ID": "AKIATESTINGTESTING", "AWS_SECRET_ACCESS_KEY": "neverShownNeverShown"}
BUCKET = "bucket"
CATALOG = "catalog.sqlite"
ALWAYS = Window(from_microseconds(0), from_microseconds(1000))
Machine = Callable[[], Store]
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ObjectStore:
    """Where it answers."""

    port: int
    name: str = "moto"

    @property
    def options(self) -> str:
        """The query of an address in it."""
        return f"endpoint_override=127.0.0.1:{self.port}&scheme=http&region=us-east-1"

    def uri(self, path: str, bucket: str = BUCKET) -> str:
        """The address of a folder in it."""
        return f"s3://{bucket}/{path}?{self.options}"

    def demand_keys(self, yes: bool) -> None:
        """From now on only known keys are let in; there are none. Or everybody is."""
        if self.name != "moto":
            pytest.skip(f"{self.name} cannot change its keys")
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request("POST", "/moto-api/reset-auth", b"0" if yes else b"inf")
            assert connection.getresponse().status == 200
        finally:
            connection.close()


@contextmanager
def served(name: str = "moto") -> Iterator[ObjectStore]:
    """A running one, with an empty bucket and keys in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in [variable for variable in os.environ if variable.startswith("AWS_")]:
            patch.delenv(variable)
        keys = {**KEYS, "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "none"}
        if name == "s3rver":  # an older store, which knows neither other keys nor checksums after the body
            keys |= dict.fromkeys(KEYS, "S3RVER") | {"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required"}
        for variable, value in keys.items():
            patch.setenv(variable, value)
        with SERVERS[name]() as port:
            yield ObjectStore(port, name)


class Handler(MotoRequestHandler):
    def log_request(self, *_: object) -> None:
        """Log the verb, where a test looks. werkzeug prints a line for each request."""
        logger.debug(self.command)


def moto_server() -> BaseWSGIServer:
    """moto's own server looks through its 200 services at each request, which takes longer than the answer."""
    objects, control = create_backend_app("s3"), create_backend_app("moto_api")

    def answer(environ: dict[str, Any], start_response: Any) -> Any:
        app = control if environ["PATH_INFO"].startswith("/moto-api/") else objects
        return app(environ, start_response)

    return make_server("127.0.0.1", 0, answer, threaded=True, request_handler=Handler)


@contextmanager
def moto() -> Iterator[int]:
    server = moto_server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        address = f"127.0.0.1:{server.port}"
        fs.S3FileSystem(endpoint_override=address, scheme="http", region="us-east-1", allow_bucket_creation=True).create_dir(
            BUCKET
        )
        yield server.port
    finally:
        server.shutdown()
        thread.join()


@contextmanager
def s3rver() -> Iterator[int]:
    """The object store for Node, from ``npm install --global s3rver``."""
    program = shutil.which("s3rver")
    if program is None:
        pytest.skip("s3rver is not installed")
    with tempfile.TemporaryDirectory() as directory:
        words = [program, "--directory", directory, "--address", "127.0.0.1", "--port", "0", "--configure-bucket", BUCKET]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            assert process.stdout
            lines = iter(process.stdout.readline, "")
            port = next(int(found[1]) for line in lines if (found := re.search(r"listening on .*?:(\d+)", line)))
            threading.Thread(target=lambda: [None for _ in lines], daemon=True).start()  # or the pipe is full
            yield port
            process.terminate()


SERVERS = {"moto": moto, "s3rver": s3rver}


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


def end_writers(patch: pytest.MonkeyPatch) -> None:
    """Let what writers left behind be old at once."""
    patch.setattr(remote, "ROUNDING", -1000.0)


def replace_catalog(store: Store, content: bytes) -> None:
    with store.location.write(CATALOG) as file:
        file.write(content)
