"""Bytes damaged in segments, catalog and journal: the same rows or a named error, and always a verdict."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from campaign import Effort, tell
from equality import every_table
from loads import WINDOW, network

import ledgerframes as lf
from ledgerframes.errors import LedgerframesError, StoreError
from ledgerframes.store.rebuild import rebuild
from ledgerframes.store.verify import verify
from ledgerframes.wallet import Journal
from ledgerframes.wallet.terms import OfferTerms

pytestmark = pytest.mark.usefixtures("first_loads_copied_in_module")
NOW = datetime(2026, 11, 9, tzinfo=UTC)
PARTS = 4  # of the time of a soak: three kinds of files, and the catalogs that are rebuilt
QUICK = 20  # damages of each kind of file in the default tests


@dataclass(frozen=True)
class Victim:
    """A file with what is read of it, and whether anything is wrong with it."""

    path: Path
    read: Callable[[], object]
    check: Callable[[], object]


def events_of(store: Path) -> dict[str, pd.DataFrame]:
    net = network(store)
    net.offline = True
    return every_table(lf.load_events(net, **WINDOW))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    lf.load_events(network(tmp_path / "store"), **WINDOW)
    return tmp_path / "store"


def segment(store: Path) -> Victim:
    path = max(store.rglob("traffic/*.parquet"), key=lambda each: each.stat().st_size)
    return Victim(path, lambda: events_of(store), lambda: verify(network(store).store))


def catalog(store: Path) -> Victim:
    (path,) = store.rglob("catalog.sqlite")

    def check() -> object:
        net = network(store)
        return net.store.catalog.problems() or verify(net.store)

    def read() -> object:
        network(store).store.catalog.forget_check()  # as another process would read it
        return events_of(store)

    return Victim(path, read, check)


def journal(store: Path) -> Victim:
    book = Journal(store / "offers")
    for number in range(30):
        terms = OfferTerms("bob::1220", f"{number}.5000000000", f"rent {number}", 1_800_000_000_000_000, None)
        book.add(f"t-{number:02}", terms, "http://wallet", None, NOW)
        book.record_attempt(f"t-{number:02}", NOW)

    def read() -> object:
        return [(offer, offer.terms, book.history(offer.tracking_id)) for offer in book.offers()]

    return Victim(book.path, read, book.problems)


VICTIMS = {victim.__name__: victim for victim in (segment, catalog, journal)}


def byte_classes(content: bytes) -> dict[str, list[int]]:
    """The places of each class of bytes in a file of Parquet or SQLite, by what the file itself says."""
    size = len(content)
    if content.startswith(b"PAR1"):
        footer = size - 8 - int.from_bytes(content[-8:-4], "little")
        bounds = {"magic": (0, 4), "pages": (4, footer), "footer": (footer, size - 8), "end": (size - 8, size)}
        return {name: list(range(*bound)) for name, bound in bounds.items()}
    page = int.from_bytes(content[16:18], "big")
    classes: dict[str, list[int]] = {"file header": list(range(100))}
    for start in range(0, size, page):
        header = start + (100 if start == 0 else 0)
        length = {2: 12, 5: 12, 10: 8, 13: 8}.get(content[header], 0)  # pages of trees, all others are of free space
        pointers = header + length + 2 * int.from_bytes(content[header + 3 : header + 5], "big") if length else header
        cells = start + (int.from_bytes(content[header + 5 : header + 7], "big") or page) if length else start + page
        ends = {"page headers": (header, header + length), "cell pointers": (header + length, pointers)}
        ends |= {"free space": (pointers, cells), "cells": (cells, start + page)}
        for name, bound in ends.items():
            classes.setdefault(name, []).extend(range(*bound))
    return classes


def flip(content: bytearray, chance: random.Random) -> None:
    """Flip a bit of any class of bytes, however few bytes it has."""
    place = chance.choice(chance.choice([places for places in byte_classes(bytes(content)).values() if places]))
    content[place] ^= 1 << chance.randrange(8)


def overwrite(content: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(content))
    for offset in range(place, min(place + chance.choice([2, 16, 512]), len(content))):
        content[offset] = chance.choice([0, 255, chance.randrange(256)])


def cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content)) :]


def exchange(content: bytearray, chance: random.Random) -> None:
    size = min(chance.choice([8, 64, 4096]), len(content) // 2)
    first, second = (chance.randrange(len(content) - size) for _ in range(2))
    content[first : first + size], content[second : second + size] = (
        content[second : second + size],
        content[first : first + size],
    )


DAMAGES = (flip, flip, flip, overwrite, cut, exchange)


@pytest.mark.parametrize("name", VICTIMS)
def test_every_class_of_bytes_is_flipped_in_the_default_tests(name: str, store: Path) -> None:
    content, chance, flipped = VICTIMS[name](store).path.read_bytes(), random.Random(name), set()
    classes = byte_classes(content)
    assert sorted(place for places in classes.values() for place in places) == list(range(len(content)))
    for _ in range(QUICK // 2):
        damaged = bytearray(content)
        flip(damaged, chance)
        (place,) = [place for place, byte in enumerate(content) if damaged[place] != byte]
        flipped |= {each for each, places in classes.items() if place in places}
    assert flipped == classes.keys()


def same(left: object, right: object) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(left[name].equals(right[name]) for name in left)
    return left == right


@pytest.mark.parametrize("name", VICTIMS)
def test_the_same_rows_or_a_named_error_and_a_verdict(name: str, store: Path, effort: Effort) -> None:
    victim, chance = VICTIMS[name](store), random.Random(name)
    expected, content = victim.read(), victim.path.read_bytes()
    counts = {"damages": 0, "bytes": 0, "refused": 0, "unchanged": 0}
    silent, foreign = [], []
    for number in effort.rounds("damage", QUICK, PARTS):
        damaged = bytearray(content)
        damage = chance.choice(DAMAGES)
        damage(damaged, chance)
        if damaged == content:
            continue
        victim.path.write_bytes(damaged)
        different = [place for place, (old, new) in enumerate(zip(content, damaged, strict=False)) if old != new]
        counts["damages"] += 1
        counts["bytes"] += len(different) + abs(len(content) - len(damaged))
        where = f"{damage.__name__} {number} at {different[:3]} of {len(content)}"
        for read in (victim.read, victim.check):
            try:
                result = read()
            except LedgerframesError:
                counts["refused"] += read == victim.read
            except Exception as error:
                foreign.append(f"{where}: {type(error).__name__} {error}")
            else:
                if read == victim.read:
                    counts["unchanged"] += same(result, expected)
                    if not same(result, expected):
                        silent.append(where)
        for left in victim.path.parent.glob(f"{victim.path.name}-*"):
            left.unlink()
        victim.path.write_bytes(content)
    tell("damage", file=name, silent=len(silent), foreign=len(foreign), **counts)
    assert not silent and not foreign, "\n".join([*silent[:20], *foreign[:20]])
    assert counts["refused"] and same(victim.read(), expected)


@pytest.mark.parametrize(("name", "text"), [("journal", b"rent 7"), ("journal", b"CREATE TABLE"), ("catalog", b"sandbox")])
def test_text_that_is_not_utf_8_is_damage(name: str, text: bytes, store: Path) -> None:
    """SQLite returns such bytes, and quotes them in its messages, as a UnicodeDecodeError."""
    victim = VICTIMS[name](store)
    content = victim.path.read_bytes()
    assert text in content
    victim.path.write_bytes(content.replace(text, b"\xff" * len(text)))
    with pytest.raises(StoreError):
        victim.read()
    try:
        assert victim.check()
    except StoreError as error:
        assert "UTF-8" in str(error) or "damaged" in str(error) or "Cannot read" in str(error)


def test_a_damaged_catalog_is_rebuilt_with_the_same_rows(store: Path, effort: Effort) -> None:
    victim, chance = catalog(store), random.Random("rebuild")
    expected, content = victim.read(), victim.path.read_bytes()
    counts = {"damages": 0, "bytes": 0, "refused": 0, "unchanged": 0}
    silent = []
    for number in effort.rounds("damage", 5, PARTS):
        damaged = bytearray(content)
        damage = chance.choice(DAMAGES)
        damage(damaged, chance)
        victim.path.write_bytes(damaged)
        try:
            is_needed = rebuild(network(store).store).is_needed
        except StoreError as error:
            assert "newer than" in str(error), "the version itself is damaged"
            continue
        assert not network(store).store.catalog.problems()
        rows = every_table(lf.load_events(network(store), **WINDOW))
        counts["damages"] += 1
        counts["bytes"] += abs(len(content) - len(damaged)) + sum(a != b for a, b in zip(content, damaged, strict=False))
        counts["refused" if is_needed else "unchanged"] += 1
        if not same(rows, expected):
            silent.append(f"{damage.__name__} {number}")
        victim.path.write_bytes(content)
    tell("damage", file="catalog, rebuilt", silent=len(silent), foreign=0, **counts)
    assert not silent and counts["refused"]


def test_every_file_in_the_place_of_every_other_of_its_table(store: Path) -> None:
    lf.load_events(network(store, min_merged_segments=1_000), since=WINDOW["until"], until="2026-11-08T14:00:00Z")
    net = network(store)
    net.offline = True
    whole = {"since": WINDOW["since"], "until": "2026-11-08T14:00:00Z"}
    expected = every_table(lf.load_events(net, **whole))
    swapped = 0
    for folder in {path.parent for path in store.rglob("*.parquet")} - set(store.rglob("event_positions")):  # which no load reads
        files = sorted(folder.glob("*.parquet"))
        for one, other in pairwise(files):
            content = one.read_bytes()
            shutil.copy(other, one)
            with pytest.raises(LedgerframesError):
                assert not same(every_table(lf.load_events(net, **whole)), expected)
            one.write_bytes(content)
            swapped += 1
    assert swapped >= 5
    assert same(every_table(lf.load_events(net, **whole)), expected)
    tell("damage", file="swapped", damages=swapped, bytes=0, refused=swapped, unchanged=0, silent=0, foreign=0)
