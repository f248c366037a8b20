"""Writers of a store in a bucket: whatever fails in between, and however many there are, nothing is lost or doubled."""

from __future__ import annotations

import random
import shutil
import threading
import time
from itertools import product
from typing import Any

import pytest
from cases import every_nth
from object_stores import CATALOG, Machine, commit, end_writers, left_in, replace_catalog, seen

from ledgerframes.errors import StoreError
from ledgerframes.long_waits import shown_by
from ledgerframes.store import Store, remote
from ledgerframes.store.location import Location
from ledgerframes.store.remote import CLAIM, UPLOAD, WRITERS, Lease, LocalCopy

pytestmark = pytest.mark.loopback


# -- failures between the files and the commit ----------------------------------------------------------------------


def failing(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, *, after: bool = False) -> None:
    """The next call of a method fails, before or after it has done its work."""
    method, left = getattr(owner, name), [True]

    def once(*given: Any, **named: Any) -> Any:
        broken = left and left.pop()
        if broken and not after:
            raise StoreError("injected")
        result = method(*given, **named)
        if broken:
            raise StoreError("injected")
        return result

    monkeypatch.setattr(owner, name, once)


POINTS = [
    (Lease, "_write_marker"),
    (Lease, "_try_claim"),
    (LocalCopy, "refresh"),
    (LocalCopy, "publish"),
    (Lease, "upload"),
    (Lease, "require"),
    (LocalCopy, "_live_version"),
    (Location, "copy"),
]


@pytest.mark.parametrize(("after", "point"), every_nth(product([False, True], POINTS), 3))
def test_a_commit_that_fails_never_happened(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, after: bool, point: tuple[type, str]
) -> None:
    owner, name = point
    end_writers(monkeypatch)
    store, reader = machine(), machine()
    commit(store, 0, 5, 1, final=False)
    with monkeypatch.context() as patch:
        failing(patch, owner, name, after=after)
        with pytest.raises(StoreError, match="injected"):
            commit(store, 0, 9, 2)
    # A copy whose answer was lost has happened; before it nothing has.
    happened = after and name in ("copy", "publish")
    now = dict.fromkeys(range(9), 2) if happened else dict.fromkeys(range(5), 1)
    assert seen(reader) == seen(store) == now
    commit(store, 0, 9, 2)
    assert seen(reader) == seen(store) == dict.fromkeys(range(9), 2)
    assert left_in(store) == [CATALOG]


def test_an_upload_that_breaks_off_leaves_the_catalog_that_counts(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    store = machine()
    commit(store, 0, 5, 1)

    def interrupted(source: Any, sink: Any, _: int) -> None:
        sink.write(source.read(100))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "copyfileobj", interrupted)
        commit(store, 5, 9, 2)
    assert seen(store) == seen(machine()) == dict.fromkeys(range(5), 1)
    assert left_in(store) == [CATALOG]


def test_a_commit_is_done_even_if_every_later_request_fails(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    end_writers(monkeypatch)
    store, copy = machine(), Location.copy

    def copied(location: Location, path: str, target: str) -> None:
        copy(location, path, target)
        failing(monkeypatch, LocalCopy, "_live_version")
        failing(monkeypatch, Location, "remove")

    monkeypatch.setattr(Location, "copy", copied)
    commit(store, 0, 5, 1)
    assert seen(store) == seen(machine()) == dict.fromkeys(range(5), 1)


def test_what_the_block_raises_is_raised_as_it_is(machine: Machine) -> None:
    store = machine()
    with pytest.raises(FileNotFoundError), store.catalog.write_transaction():
        raise FileNotFoundError("of the caller")
    assert not store.exists()
    assert left_in(store) == []


# -- several writers ------------------------------------------------------------------------------------------------


def test_writers_on_several_machines_and_threads_lose_and_double_nothing(machine: Machine) -> None:
    stores, failures = [machine(), machine()], []

    def write(store: Store, start: int) -> None:
        try:
            commit(store, start, start + 6, 7)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(stores[start % 2], start)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert seen(machine()) == dict.fromkeys(range(13), 7)
    assert left_in(stores[0]) == [CATALOG]


@pytest.mark.exhaustive
def test_any_turns_of_two_machines_and_failures_give_what_a_dictionary_would(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_writers(monkeypatch)
    chance = random.Random(11)
    stores, reader = [machine(), machine()], machine()
    final: dict[int, int] = {}
    provisional: dict[int, int] = {}
    for cost in range(16):
        start, is_final = chance.randrange(60), chance.random() < 0.5
        stop = start + chance.randint(1, 8)
        with monkeypatch.context() as patch:
            fails = chance.random() < 0.4
            if fails:
                owner, name = chance.choice(POINTS)
                failing(patch, owner, name)
            try:
                commit(chance.choice(stores), start, stop, cost, final=is_final)
            except StoreError:
                assert fails
            else:
                for time in set(range(start, stop)) - final.keys():
                    (final if is_final else provisional)[time] = cost
                    if is_final:
                        provisional.pop(time, None)
        if chance.random() < 0.3:
            assert seen(reader) == {**provisional, **final}
    assert seen(reader) == seen(stores[0]) == seen(stores[1]) == {**provisional, **final}


def claim_of_another(store: Store) -> None:
    for kind in (CLAIM, UPLOAD):
        with store.location.write(f"{WRITERS}/other.{kind}") as file:
            file.write(b"x")


def test_a_living_writer_is_waited_for_and_then_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    store = machine()
    commit(store, 0, 5, 1)
    claim_of_another(store)
    seconds, begun = time.monotonic, time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: begun + 300 * (seconds() - begun))  # two minutes pass in 0.4 s
    told: list[str] = []
    busy = pytest.raises(StoreError, match=r"other processes kept writing to s3://.* Run again when they have finished")
    with busy, shown_by(told.append):
        commit(store, 5, 9, 1)
    assert len(told) == 1 and "other processes write to s3://" in told[0]
    assert seen(store) == dict.fromkeys(range(5), 1)
    assert left_in(store) == [CATALOG, f"{WRITERS}/other.{CLAIM}", f"{WRITERS}/other.{UPLOAD}"]


def test_a_dead_writer_is_cleared_away(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    store = machine()
    claim_of_another(store)
    with store.location.write(f"{WRITERS}/third.{UPLOAD}") as file:  # its claim was taken away already
        file.write(b"x")
    end_writers(monkeypatch)
    commit(store, 0, 5, 1)
    assert left_in(store) == [CATALOG]


def test_renewing_keeps_a_slow_writer_alive(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "LEASE_SECONDS", 0.2)
    location = machine().location
    with Lease(location) as lease:
        while not location.exists(lease.path("renewed")):
            pass
    assert list(location.iter_files()) == []
    assert not lease._renewal.is_alive()


@pytest.mark.parametrize("moment", [(LocalCopy, "publish"), (Lease, "upload"), (Location, "copy")], ids=lambda each: each[1])
def test_a_writer_whose_lease_expired_overwrites_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, moment: tuple[type, str]
) -> None:
    """Wherever it stood still meanwhile: before it uploaded, before it looked again, and before the very last request."""
    slow, quick = machine(), machine()
    commit(quick, 0, 5, 1)
    owner, name = moment
    method, left = getattr(owner, name), [True]

    def paused(*given: Any) -> Any:
        if left and left.pop():
            with monkeypatch.context() as patch:
                end_writers(patch)
                commit(quick, 5, 9, 2)
        return method(*given)

    monkeypatch.setattr(owner, name, paused)
    with pytest.raises(StoreError, match="Run again"):
        commit(slow, 7, 12, 3)
    assert seen(slow) == {**dict.fromkeys(range(5), 1), **dict.fromkeys(range(5, 9), 2)}
    commit(slow, 7, 12, 3)
    assert seen(quick) == {**dict.fromkeys(range(5), 1), **dict.fromkeys(range(5, 9), 2), **dict.fromkeys(range(9, 12), 3)}
    assert left_in(slow) == [CATALOG]


def test_a_writer_that_paused_after_its_commit_reads_later_commits(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, quick, copy, left = machine(), machine(), Location.copy, [True]

    def paused(*given: Any) -> None:
        copy(*given)
        if left and left.pop():
            with monkeypatch.context() as patch:
                end_writers(patch)
                commit(quick, 5, 9, 2)

    monkeypatch.setattr(Location, "copy", paused)
    commit(slow, 0, 5, 1)
    now = {**dict.fromkeys(range(5), 1), **dict.fromkeys(range(5, 9), 2)}
    assert seen(slow) == seen(quick) == now
    commit(slow, 9, 10, 3)
    assert seen(slow) == seen(quick) == {**now, 9: 3}


def test_a_catalog_that_changed_without_a_claim_is_not_overwritten(machine: Machine) -> None:
    store = machine()
    commit(store, 0, 5, 1)
    with pytest.raises(StoreError, match=r"Nothing was committed.+ replaced or deleted"), store.catalog.write_transaction():
        replace_catalog(store, b"something else")
    with store.location.read(CATALOG) as file:
        assert file.read() == b"something else"
