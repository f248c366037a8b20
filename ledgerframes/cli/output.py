"""Text for people and JSON for programs, with control characters escaped in both."""

from __future__ import annotations

import codecs
import io
import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TextIO

import typer

from ledgerframes.cli.signals import SIGNALS
from ledgerframes.errors import StoreError
from ledgerframes.texts.control_characters import UNSAFE, escape_control
from ledgerframes.texts.hidden_tokens import hide_tokens

if TYPE_CHECKING:
    import pandas as pd

MIN_LAST_COLUMN_WIDTH = 24
GAP = "  "
COLORS = {"ok": typer.colors.GREEN, "warning": typer.colors.YELLOW, "failed": typer.colors.RED}
NO_COLOR = "NO_COLOR"  # the variable by which a user forbids colors to all programs
PIPE_CLOSED = 141  # the exit code that a shell shows for a program that writes to a closed pipe


def escape_unencodable() -> None:
    """Escape characters that the encoding of the terminal does not have, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Write a text to stdout, in color only on a terminal."""
    try:
        _write_whole(text)
        SIGNALS.has_output = True
    except OSError as error:
        # Without a new stdout, Python would report the error again when it exits.
        _discard(sys.stdout)
        if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has exited
            sys.exit(PIPE_CLOSED)
        message = f"Cannot write the output: {error.strerror}. Redirect it to a file that can be written."
        raise StoreError(message, path="stdout") from error


def _discard(stream: TextIO) -> None:
    """Let a stream that cannot be written accept what follows."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _write_whole(text: str) -> None:
    """Write all of a text, or raise an OSError.

    Without a buffer, which PYTHONUNBUFFERED removes, Python writes only as much as the system accepts at once.
    """
    binary = getattr(sys.stdout, "buffer", None)
    if not isinstance(binary, io.RawIOBase):
        typer.echo(text, color=_allow_color())
        return
    whole = io.StringIO()
    typer.echo(text, whole, color=is_terminal() if _allow_color() is None else False)
    left = memoryview(whole.getvalue().encode(sys.stdout.encoding, sys.stdout.errors or "strict"))
    while left:
        left = left[binary.write(left) or 0 :]


def is_terminal() -> bool:
    """Return whether stdout is a terminal. A process can be started without stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_error(text: str, status: str = "") -> None:
    """Write a line to stderr, in the color of its status, if any.

    The exit code says what happened even if nobody can read stderr, for example on a full disk.
    """
    try:
        typer.echo(color(escape_control(hide_tokens(text)), status), err=True, color=_allow_color())
    except OSError:
        with suppress(OSError, ValueError):  # a stream without a file
            _discard(sys.stderr)  # or Python would fail to write it again when it exits, with code 120
    except (ValueError, AttributeError):  # it is closed
        pass


def color(text: str, status: str) -> str:
    r"""Return a text in the color of a status, which only a terminal shows.

    >>> color("Broken.", "failed"), color("Fine.", "")
    ('\x1b[31mBroken.\x1b[0m', 'Fine.')
    """
    return typer.style(text, fg=COLORS[status]) if status else text


def _allow_color() -> bool | None:
    """Return False if the user wants no colors, otherwise None, which means on a terminal."""
    return False if os.environ.get(NO_COLOR) else None


def write_json(document: object) -> None:
    """Write one JSON document to stdout."""
    text = json.dumps(document, indent=2, ensure_ascii=not _is_utf8(), default=_to_json)
    write(UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def _is_utf8() -> bool:
    """Return whether stdout encodes any character.

    The escapes of a stream that does not are not those of JSON.
    """
    encoding = getattr(sys.stdout, "encoding", None)
    return encoding is None or codecs.lookup(encoding).name == "utf-8"


def write_csv(text: str) -> None:
    """Write CSV to stdout in UTF-8, or escaped on a terminal."""
    if is_terminal():
        text = "\n".join(map(escape_control, text.split("\n")))
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # because CSV has no escapes for characters
    write(text)


def _to_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    return str(value)


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain values.

    A missing value is None, an amount is text, so that no digit is lost, and bytes are hexadecimal digits. So are those inside
    of lists and structs.
    """
    columns = {str(name): _plain_values(frame[name]) for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain_values(column: pd.Series) -> list[Any]:
    return [None if missing else _plain_value(value) for value, missing in zip(column.tolist(), column.isna(), strict=True)]


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(each) for each in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    # The result of a division by 0 is no value, and not valid JSON.
    return None if isinstance(value, float) and not math.isfinite(value) else value


def format_table(
    titles: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = (), *, has_lines: bool = False
) -> str:
    """Return rows as columns below their titles, those in `right` aligned to the right.

    Only with `has_lines`, the last cell of a row can have several lines.
    """
    cells = [[_escape_cell(str(cell)) for cell in row] for row in rows]
    if has_lines:
        cells = [[*cell[:-1], escape_control(str(row[-1]))] for cell, row in zip(cells, rows, strict=True)]
    lines = _align([[*map(_escape_cell, titles)], *cells], {titles.index(title) for title in right})
    return "\n".join(lines)


def _escape_cell(text: str) -> str:
    r"""Return a text on one line, because the next line of a cell would look like another row.

    >>> _escape_cell("one\ntwo")
    'one\\ntwo'
    """
    return escape_control(text).replace("\n", "\\n").replace("\t", "\\t")


def format_pairs(pairs: Iterable[tuple[str, Any]]) -> str:
    """Return names and values, one pair per line."""
    return "\n".join(_align([[_escape_cell(name), _escape_cell(str(value))] for name, value in pairs], set()))


def _align(rows: list[list[str]], right: set[int]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    indent = sum(widths[:-1]) + len(GAP) * (len(widths) - 1)
    lines = []
    for row in rows:
        padded = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        first, *rest = wrap(padded[-1].rstrip(), indent)
        lines.append(GAP.join([*padded[:-1], first]).rstrip())
        lines += [" " * indent + line for line in rest]
    return lines


def wrap(text: str, indent: int) -> list[str]:
    """Return the last cell of a row as lines of whole words that fit the terminal."""
    if not is_terminal() or text != text.lstrip():
        return [text]
    width = shutil.get_terminal_size().columns - indent
    if width < MIN_LAST_COLUMN_WIDTH:
        return [text]
    # A path longer than a line is not broken, because people copy it.
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False) or [""]


def format_bytes(count: int) -> str:
    """Return a number of bytes with a decimal unit.

    >>> format_bytes(999), format_bytes(1_250_000)
    ('999 B', '1.2 MB')
    """
    amount, unit = float(count), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def format_time(time: datetime) -> str:
    """Return a UTC time to the second, without its zone."""
    return time.isoformat(sep=" ", timespec="seconds")[:19]


def format_gaps(gaps: Iterable[Mapping[str, int]]) -> str:
    """Return offset ranges that were pruned before they were fetched.

    >>> format_gaps([{"after": 0, "through": 300_013}])
    'offsets after 0 through 300,013 (not in the store)'
    """
    ranges = (f"after {gap['after']:,} through {gap['through']:,}" for gap in gaps)
    return f"offsets {', '.join(ranges)} (not in the store)"


def format_window(since: datetime, until: datetime) -> str:
    """Return a window of UTC times to the second."""
    return f"{format_time(since)} to {format_time(until)} UTC"
