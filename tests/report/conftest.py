"""One small network with a day of data, and one executed report of it, shared by all tests of this directory."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from filelock import FileLock
from first_loads import FirstLoads
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pydantic import BaseModel, SecretStr

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.network import Network
from ledgerframes.report import REPORTS, Report, ReportResult, registry, run_report
from ledgerframes.report.loads import BEGINNING
from ledgerframes.report.notebook import read_notebook
from ledgerframes.settings import Settings
from ledgerframes.values.extents import Migration, MigrationWindow, microseconds

SINCE, UNTIL = "2026-11-08", "2026-11-09"
TOKEN = "s3cret-token-of-a-profile"
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module", autouse=True)
def loads(first_loads_copied_in_module: None) -> None:
    """No test of this directory is about loads."""


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory, first_loads: FirstLoads) -> Path:
    """A store that holds the sandbox's last day, final."""
    root = tmp_path_factory.mktemp("store")
    with first_loads.copied():
        lf.load_events(connect(root), since=SINCE, until=UNTIL)
    return root


def connect(store: Path) -> Network:
    return lf.connect("sandbox", events=600, days=2, store=store, provisional_minutes=0)


@pytest.fixture
def net(store: Path) -> Network:
    """The network, having made no request yet."""
    return connect(store)


@pytest.fixture(scope="session")
def net_of_weeks(tmp_path_factory: pytest.TempPathFactory, first_loads: FirstLoads) -> Iterator[Network]:
    """A network with the weeks that findings compare with, all of whose events are loaded."""
    with lf.connect("sandbox", events=8_000, days=37, store=tmp_path_factory.mktemp("store")) as network:
        with first_loads.copied():
            lf.load_events(network, since=BEGINNING, until=UNTIL)
        yield network


@pytest.fixture(scope="session")
def evil_net(store: Path, shared_directory: Path) -> Network:
    """The same day on a network with a token, one of whose parties and validators has a script as its name."""
    settings = Settings(
        profile="evil",
        network="evil",
        store=shared_directory / "evil",
        token=SecretStr(TOKEN),
        history_url=("https://evil.invalid",),
    )
    net = Network(settings, offline=True)
    with FileLock(shared_directory / "evil.lock"):
        if not net.store.exists():
            _commit_evil_day(net, lf.load_events(connect(store), since=SINCE, until=UNTIL))
    return net


def _commit_evil_day(net: Network, frames: lf.Frames) -> None:
    assert frames.window is not None
    span = MigrationWindow(4, microseconds(frames.window.since), microseconds(frames.window.until))
    tables = {table: frames.scan(table).to_table() for table in frames.tables}
    net.store.commit(EVENTS, span, {**tables, "verdicts": _renamed(tables["verdicts"])}, final=True, source="evil.invalid")
    net.store.save_migrations([Migration(4, span.start)])


def _renamed(verdicts: pa.Table) -> pa.Table:
    """The most frequent validator, and all parties of its requests, have another name."""
    column = verdicts.column_names.index("submitting_participant_uid")
    uids = verdicts.column(column)
    frequent = uids.value_counts().to_pylist()[0]["values"]
    is_evil = pc.equal(uids, frequent)
    names = pc.if_else(is_evil, EVIL, uids)
    verdicts = verdicts.set_column(column, verdicts.schema.field(column), names)
    column = verdicts.column_names.index("submitting_parties")
    lists = [
        [EVIL] if evil else parties
        for evil, parties in zip(is_evil.to_pylist(), verdicts.column(column).to_pylist(), strict=True)
    ]
    return verdicts.set_column(column, verdicts.schema.field(column), pa.array(lists, pa.list_(pa.string())))


@pytest.fixture(scope="session")
def traffic_run(evil_net: Network, shared_directory: Path) -> ReportResult:
    """The traffic-cost report of the network with the evil party."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEDGERFRAMES_TOKEN", TOKEN)
        return run_once("traffic-cost", evil_net, shared_directory, {"every": "6h", "top": "5"})


@pytest.fixture(scope="session")
def verdicts_run(evil_net: Network, shared_directory: Path) -> ReportResult:
    """The report on verdicts of the same network."""
    return run_once("verdicts", evil_net, shared_directory, {})


def run_once(name: str, net: Network, directory: Path, parameters: dict[str, str]) -> ReportResult:
    """Run a report over the day in the first process that needs it."""
    result = directory / f"{name}.pickle"
    with FileLock(directory / f"{name}.lock"):
        if not result.exists():
            run = run_report(name, net=net, out=directory / f"of {name}", since=SINCE, until=UNTIL, parameters=parameters)
            result.write_bytes(pickle.dumps(run))
        loaded: ReportResult = pickle.loads(result.read_bytes())
        return loaded


class NoParameters(BaseModel):
    """A report without parameters of its own."""


Small = Callable[..., None]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Small]:
    """Make a report called ``small`` from the sources of its code cells."""
    directory = tmp_path / "notebooks"
    directory.mkdir()
    monkeypatch.setattr(registry, "notebooks_dir", lambda: directory)
    monkeypatch.setitem(REPORTS, "small", Report("small", "", "small.ipynb", NoParameters, needs_cost=False))

    def write(*sources: str) -> None:
        parameters = new_code_cell("since = until = during = None", metadata={"tags": ["parameters"]})
        cells = [new_markdown_cell("# Small"), parameters, *map(new_code_cell, sources)]
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"  # random by default, and the file's digest names the report
        nbformat.write(new_notebook(cells=cells), directory / "small.ipynb")

    return write  # type: ignore[return-value]


@contextmanager
def without_kernel() -> Iterator[None]:
    """No notebook is run: a process takes seconds, and nobody looks at its outputs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ledgerframes.report.execute.execute", lambda notebook, *_: read_notebook(notebook))
        yield


@pytest.fixture
def no_kernel() -> Iterator[None]:
    with without_kernel():
        yield
