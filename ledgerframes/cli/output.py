"""Text for people and JSON for programs; nothing that came from the network reaches a terminal raw."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import typer

# Control characters, and the ones that turn the direction of text around: a terminal would obey them.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NARROWEST_LAST_COLUMN = 24
GAP = "  "
PIPE_CLOSED = 141  # what a shell shows for a program that writes into a closed pipe


def plain(text: str) -> str:
    r"""Text in which control characters are shown instead of obeyed.

    >>> plain("red \x1b[31m")
    'red \\x1b[31m'
    """
    return UNSAFE.sub(lambda match: f"\\x{ord(match[0]):02x}" if ord(match[0]) < 256 else f"\\u{ord(match[0]):04x}", text)


def prepare() -> None:
    """Let a character that the terminal's encoding lacks be shown as its number instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str, stream: IO[str] | None = None) -> None:
    """Write lines to stdout, or to another stream; colours are dropped where it is not a terminal."""
    try:
        typer.echo(text, file=stream or sys.stdout)
    except BrokenPipeError:
        # The reader has gone, such as `head`; without this Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(PIPE_CLOSED)


def write_error(text: str) -> None:
    """Write a line to stderr."""
    typer.echo(plain(text), err=True)


def write_json(document: object) -> None:
    """Write one JSON document to stdout."""
    text = json.dumps(document, indent=2, ensure_ascii=False, default=_as_json)
    write(UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    return str(value)


def columns(titles: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = ()) -> str:
    """Rows as aligned columns below their titles.

    Parameters
    ----------
    titles : sequence of str
    rows : iterable of sequences
        One cell for each title.
    right : sequence of str
        Titles of the columns that are aligned to the right: numbers.
    """
    cells = [[plain(str(cell)) for cell in row] for row in rows]
    lines = _aligned([list(titles), *cells], {titles.index(title) for title in right})
    return "\n".join(lines)


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values, one pair a line."""
    return "\n".join(_aligned([[plain(name), plain(str(value))] for name, value in pairs], set()))


def _aligned(rows: list[list[str]], right: set[int]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    before_last = sum(widths[:-1]) + len(GAP) * (len(widths) - 1)
    lines = []
    for row in rows:
        padded = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        first, *rest = _wrapped(padded[-1].rstrip(), before_last)
        lines.append(GAP.join([*padded[:-1], first]).rstrip())
        lines += [" " * before_last + line for line in rest]
    return lines


def _wrapped(text: str, indent: int) -> list[str]:
    """The last cell of a line over several lines, where it would run over the edge of the terminal."""
    if not sys.stdout.isatty() or text != text.lstrip():
        return [text]
    room = shutil.get_terminal_size().columns - indent
    return textwrap.wrap(text, room, break_on_hyphens=False) or [""] if room >= NARROWEST_LAST_COLUMN else [text]


def size(count: int) -> str:
    """A number of bytes for people.

    >>> size(999), size(1_250_000)
    ('999 B', '1.2 MB')
    """
    amount, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def time(instant: datetime) -> str:
    """A UTC time to the second, for people."""
    return instant.isoformat(sep=" ", timespec="seconds")[:19]
