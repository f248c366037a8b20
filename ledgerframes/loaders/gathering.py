"""What all readers of pages share: gathering tables until they are worth a segment, and waiting for threads."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_EXCEPTION, Future, wait

import pyarrow as pa

from ledgerframes.tables import Table

SEGMENT_BYTES = 16_000_000  # Arrow bytes gathered before they are written: bounds memory, and what a kill can lose


class Gathered:
    """Tables of several pages, waiting to be written together.

    Parameters
    ----------
    tables : tuple of Table
        The tables of the stream.
    """

    def __init__(self, tables: tuple[Table, ...]) -> None:
        self._tables = tables
        self._pages: list[dict[str, pa.Table]] = []
        self.bytes = 0

    def add(self, tables: dict[str, pa.Table]) -> None:
        """Put one page's tables to the others."""
        self._pages.append(tables)
        self.bytes += sum(table.nbytes for table in tables.values())

    def take(self, *, descending: bool = False) -> dict[str, pa.Table]:
        """All that was gathered, in ascending order whichever way the pages came; nothing is left."""
        pages, self._pages, self.bytes = self._pages, [], 0
        in_order = pages[::-1] if descending else pages
        return {table.name: pa.concat_tables([page[table.name] for page in in_order]) for table in self._tables}


def wait_for(readings: list[Future[None]], stop: threading.Event) -> None:
    """Wait for all; on a failure or an interrupt the others stop at their next page, and what is committed stays."""
    try:
        wait(readings, return_when=FIRST_EXCEPTION)
        for reading in readings:
            if reading.done():
                reading.result()
    finally:
        stop.set()
        for reading in readings:
            reading.cancel()
