"""Other processes do the work: a pool of this machine and a Dask cluster, with workers killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from bulk_files import write_bulk_files
from equality import assert_equal, every_table

import ledgerframes as lf
from ledgerframes.datasets.registry import BULK_BY_KEY, EVENTS, Dataset
from ledgerframes.errors import UsageError, WorkerError
from ledgerframes.loaders.executors import processes, run
from ledgerframes.sandbox import Sandbox

WORLD = {"events": 1500, "days": 2}
WHOLE = {"since": "2026-11-07", "until": "2026-11-09"}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bulk_files(Sandbox(**WORLD), tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, objects: Path) -> dict[str, pd.DataFrame]:
    """What this process reads by itself."""
    net = lf.connect("sandbox", **WORLD, store=tmp_path_factory.mktemp("here"))
    frames = lf.load_bulk(net, paths=objects, executor=ThreadPoolExecutor(1))
    return updates_of(frames)


def updates_of(frames: lf.Frames) -> dict[str, pd.DataFrame]:
    return {name: frames.read(name) for name in ("updates", "tree_events", "reassignments")}


@pytest.fixture(scope="module")
def events_here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    frames = lf.load_events(lf.connect("sandbox", **WORLD, store=tmp_path_factory.mktemp("events")), **WHOLE)
    return every_table(frames)


def network(store: Path) -> lf.Network:
    """A network that can be sent to workers and makes no request."""
    return lf.connect("sandbox", **WORLD, store=store, offline=True)


def kill_one(net: lf.Network, stream: Dataset, victims: Callable[[], list[int]]) -> threading.Thread:
    """Kill a worker as soon as the first segment was committed, when others are certainly under way."""

    def wait_and_kill() -> None:
        limit = time.monotonic() + 60
        while not net.store.segments(stream) and time.monotonic() < limit:
            time.sleep(0.01)
        os.kill(victims()[0], signal.SIGKILL)

    thread = threading.Thread(target=wait_and_kill)
    thread.start()
    return thread


def pool_processes() -> list[int]:
    children = psutil.Process().children(recursive=True)
    return [child.pid for child in children if "LokyProcess" in " ".join(child.cmdline())]


def slowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers, whatever the machine has, so that one can die and the other go on."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


def in_processes(net: lf.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded sandbox is read in this process by default; here it is to be sent to others."""
    monkeypatch.setattr(type(net), "in_process", property(lambda _: False))


@pytest.mark.exhaustive
def test_a_pool_of_processes_reads_the_same(
    tmp_path: Path, objects: Path, here: dict[str, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    net = network(tmp_path)
    in_processes(net, monkeypatch)
    slowed(monkeypatch)
    seen: set[int] = set()
    committed = net.store.add_segment
    monkeypatch.setattr(net.store, "add_segment", lambda *given: (seen.update(pool_processes()), committed(*given))[1])
    assert_equal(updates_of(lf.load_bulk(net, paths=objects)), here)
    assert len(seen) >= 2


@pytest.mark.exhaustive
def test_a_worker_of_the_pool_is_killed_and_nothing_is_lost_or_doubled(
    tmp_path: Path, objects: Path, here: dict[str, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    net = network(tmp_path)
    in_processes(net, monkeypatch)
    slowed(monkeypatch)
    killer = kill_one(network(tmp_path), BULK_BY_KEY, pool_processes)
    frames = lf.load_bulk(net, paths=objects)
    killer.join()
    assert_equal(updates_of(frames), here)
    assert frames.bulk_objects["object_key"].is_unique


@pytest.mark.exhaustive
def test_a_given_pool_that_breaks_keeps_what_was_committed(tmp_path: Path, objects: Path, here: dict[str, pd.DataFrame]) -> None:
    import loky

    net = network(tmp_path)
    pool = loky.ProcessPoolExecutor(max_workers=2)
    killer = kill_one(network(tmp_path), BULK_BY_KEY, pool_processes)
    with pytest.raises(WorkerError, match="run again"):
        lf.load_bulk(net, paths=objects, executor=pool)
    killer.join()
    pool.shutdown(kill_workers=True)
    done = net.store.committed_keys(BULK_BY_KEY)
    assert 0 < len(done) < len(list(objects.iterdir()))
    assert_equal(updates_of(lf.load_bulk(net, paths=objects, executor=ThreadPoolExecutor(1))), here)


@pytest.mark.exhaustive
def test_the_standard_library_s_own_pool_will_do(tmp_path: Path, objects: Path, here: dict[str, pd.DataFrame]) -> None:
    import multiprocessing

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert_equal(updates_of(lf.load_bulk(network(tmp_path), paths=objects, executor=pool)), here)


@pytest.mark.exhaustive
def test_events_by_range_in_other_processes(tmp_path: Path, events_here: dict[str, pd.DataFrame]) -> None:
    import loky

    net = lf.connect("sandbox", **WORLD, store=tmp_path)
    pool = loky.ProcessPoolExecutor(max_workers=2)
    killer = kill_one(network(tmp_path), EVENTS, pool_processes)
    with pytest.raises(WorkerError):
        lf.load_events(net, **WHOLE, executor=pool)
    killer.join()
    pool.shutdown(kill_workers=True)
    pool = loky.ProcessPoolExecutor(max_workers=2)
    frames = lf.load_events(net, **WHOLE, executor=pool)
    pool.shutdown(kill_workers=True)
    assert_equal(every_table(frames), events_here)


ORPHANS = """
import sys, time
from concurrent.futures import wait
from ledgerframes.loaders.executors import processes
pool = processes(2)
running = [pool.submit(time.sleep, 300) for _ in range(2)]
time.sleep(1)
import psutil
print(*[child.pid for child in psutil.Process().children() if "LokyProcess" in " ".join(child.cmdline())], flush=True)
time.sleep(300)
"""


def test_workers_end_when_their_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert workers
    limit = time.monotonic() + 60
    while any(psutil.pid_exists(pid) for pid in workers) and time.monotonic() < limit:
        time.sleep(0.1)
    assert not any(psutil.pid_exists(pid) for pid in workers)


BLOCKED = """
import signal
from ledgerframes.loaders.executors import processes
pool = processes(1)
print(pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, []).result())
pool.shutdown(kill_workers=True)
"""


def test_workers_start_without_ctrl_c() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True)
    assert "SIGINT" in done.stdout, done.stderr


def test_a_pool_that_is_killed_with_its_tasks_writes_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    before = set(threading.enumerate())
    pool = processes(2)
    results = run(time.sleep, [0.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0], pool)
    assert next(results) == (0.0, None)
    results.close()
    pool.shutdown(wait=True, kill_workers=True)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert caplog.text == ""


def test_a_network_of_one_s_own_cannot_be_sent(tmp_path: Path) -> None:
    import pickle

    import httpx

    transport = httpx.MockTransport(lambda _: httpx.Response(500))
    net = lf.connect("sandbox", history_url="http://example.invalid", transport=transport, store=tmp_path)
    with pytest.raises(UsageError, match="executor= cannot be combined with transport="):
        pickle.dumps(net)


def test_workers_read_the_frozen_catalog_of_their_network(tmp_path: Path) -> None:
    import pickle

    live = lf.connect("sandbox", events=600, days=2, store=tmp_path)
    first = lf.load_events(live, since="2026-11-07", until="2026-11-08")
    live.store.freeze(tmp_path / "frozen.sqlite")
    lf.load_events(live, since="2026-11-08", until="2026-11-09")
    settings = {"network": live.name, "history_url": "http://example.invalid", "store": tmp_path}
    net = lf.connect("sandbox", snapshot=tmp_path / "frozen.sqlite", **settings)
    sent = pickle.loads(pickle.dumps(net))
    for each in (net, sent):
        assert lf.sql(each, "select count(*) as rows from verdicts")["rows"].tolist() == [len(first.verdicts)]


def test_no_token_is_sent_to_workers(tmp_path: Path) -> None:
    import pickle

    net = lf.connect("sandbox", history_url="http://example.invalid", token="s3cret-t0ken", store=tmp_path)
    embedded = lf.connect("sandbox", token="s3cret-t0ken", store=tmp_path)
    for each in (net, embedded):
        sent = pickle.dumps(each)
        assert b"s3cret-t0ken" not in sent
        assert pickle.loads(sent).name == each.name


# -- a cluster ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes that are there already."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1", silence_logs=50
    ) as cluster:
        yield cluster


def cluster_processes(cluster: Any) -> list[int]:
    return [nanny.pid for nanny in cluster.workers.values()]


@pytest.mark.exhaustive
@pytest.mark.loopback
@pytest.mark.filterwarnings("default")  # the cluster's own, about processes that were killed on purpose
def test_a_worker_of_the_cluster_is_killed_and_nothing_is_lost_or_doubled(
    tmp_path: Path, objects: Path, here: dict[str, pd.DataFrame], events_here: dict[str, pd.DataFrame], cluster: Any
) -> None:
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        net = network(tmp_path)
        killer = kill_one(network(tmp_path), BULK_BY_KEY, lambda: cluster_processes(cluster))
        frames = lf.load_bulk(net, paths=objects, executor=client.get_executor())
        killer.join()
        assert_equal(updates_of(frames), here)
        assert frames.bulk_objects["object_key"].is_unique
        events = lf.connect("sandbox", **WORLD, store=tmp_path)
        killer = kill_one(network(tmp_path), EVENTS, lambda: cluster_processes(cluster))
        listed = lf.load_events(events, **WHOLE, executor=client.get_executor())
        killer.join()
        assert_equal(every_table(listed), events_here)


@pytest.mark.loopback
@pytest.mark.filterwarnings("default")
def test_the_command_uses_a_cluster(tmp_path: Path, objects: Path, here: dict[str, pd.DataFrame]) -> None:
    from distributed import LocalCluster

    from ledgerframes.cli import main

    quiet: dict[str, Any] = {"dashboard_address": None, "silence_logs": 50}
    world = [f"LEDGERFRAMES_{name.upper()}" for name in WORLD]
    with (
        LocalCluster(n_workers=1, processes=False, protocol="tcp", host="127.0.0.1", **quiet) as cluster,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, value in zip(world, WORLD.values(), strict=True):
            patch.setenv(name, str(value))
        store = ["--store", str(tmp_path), "--offline"]
        code = main([*store, "sync", "bulk", "--path", str(objects), "--dask", cluster.scheduler_address, "--quiet"])
    assert code == 0
    assert_equal(updates_of(lf.load_bulk(network(tmp_path), paths=objects)), here)


# -- the seam itself ------------------------------------------------------------------------------------------------


def double(number: int) -> int:
    if number == 13:
        raise ValueError("thirteen")
    return 2 * number


def test_each_task_is_done_once_and_an_error_reaches_the_caller() -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(run(double, range(14, 200), pool))
        assert sorted(done) == [(number, 2 * number) for number in range(14, 200)]
        with pytest.raises(ValueError, match="thirteen"):
            list(run(double, range(200), pool))


def test_a_caller_that_stops_leaves_the_rest_undone() -> None:
    begun: list[int] = []

    def slow(number: int) -> None:
        begun.append(number)
        time.sleep(0.01)

    with ThreadPoolExecutor(1) as pool:
        doing = run(slow, range(1000), pool)
        next(doing)
        doing.close()
    assert len(begun) < 100


@pytest.mark.exhaustive
def test_work_that_kills_every_worker_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    with pytest.raises(WorkerError, match="memory"):
        list(run(signal.raise_signal, [signal.SIGKILL]))
    assert json.dumps({"children": [pid for pid in pool_processes() if psutil.pid_exists(pid)]}) == '{"children": []}'
