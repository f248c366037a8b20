"""Copies of databases that this user may only read.

An older file is upgraded in its copy, and the copy has what only a write could save, until the file changes.
"""

from __future__ import annotations

import logging
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from ledgerframes.errors import StoreError
from ledgerframes.store.private_files import scratch_dir
from ledgerframes.store.sqlite import Database, is_read_only_error

logger = logging.getLogger("ledgerframes")

State = tuple[int, ...]
# By the path of a file, its state when it was copied, and the copy.
_COPIES: dict[Path, tuple[State, Database]] = {}


def current(database: Database) -> Database:
    """Return the copy of a file that has not changed since, or the database itself."""
    state, copied = _COPIES.get(database.path, ((), database))
    return copied if copied is database or _state(database.path) == state else database


@contextmanager
def read_transaction(database: Database) -> Iterator[sqlite3.Connection]:
    """Open a connection that only reads, also to an older file that cannot be upgraded."""
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(current(database).read_transaction())
        except StoreError as error:
            # One that is lost, or in a directory that this user may not enter, cannot be copied either.
            if isinstance(error.__cause__, OSError) or not is_read_only_error(error):
                raise
            connection = stack.enter_context(_copy(database).read_transaction())
            logger.warning("upgrade_not_saved path=%s error=%s", database.name, error)
        yield connection


@contextmanager
def write_transaction(database: Database) -> Iterator[sqlite3.Connection]:
    """Open a connection inside one transaction on a copy, which only this process reads."""
    copied = current(database)
    with (_copy(database) if copied is database else copied).write_transaction() as connection:
        yield connection


def _copy(database: Database) -> Database:
    """Copy a file instead of its earlier copy, and return the copy."""
    state, path = _state(database.path), scratch_dir() / f"{uuid.uuid4().hex}.sqlite"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with database.connection() as connection, closing(sqlite3.connect(path)) as target:
        connection.backup(target)
    if outdated := _COPIES.get(database.path):
        outdated[1].path.unlink(missing_ok=True)
    copied = replace(database, path=path, display_name=database.name, root=None)
    _COPIES[database.path] = state, copied
    return copied


def _state(path: Path) -> State:
    """Return a value that changes with a file, or nothing if the file is gone."""
    try:
        state = path.stat()
    except OSError:
        return ()
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns
