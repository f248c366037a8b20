"""The Python process that runs the cells of a report.

It reads the sources of the cells as one line of JSON, and writes a line for each cell: its outputs, in the form of notebooks.
The cells run in IPython as in JupyterLab, without the server and the messages between the two, which take longer than most cells.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from base64 import b64encode
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from ledgerframes.gc_pause import collect_rarely

Output = dict[str, Any]


class OutputStream(io.TextIOBase):
    """Standard output or standard error of the cells."""

    def __init__(self, name: str, outputs: list[Output]) -> None:
        self.name, self.outputs = name, outputs

    def writable(self) -> bool:
        """Return that text can be written."""
        return True

    def write(self, text: str) -> int:
        """Append text to the outputs."""
        if self.outputs and self.outputs[-1].get("name") == self.name:
            self.outputs[-1]["text"] += text
        else:
            self.outputs.append({"output_type": "stream", "name": self.name, "text": text})
        return len(text)


class DisplayedOutputs(DisplayPublisher):
    """The outputs that cells display."""

    shell: CellShell

    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        source: object = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **_: object,
    ) -> None:
        """Append what is displayed to the outputs, or update what has the same identifier."""
        identifier = (transient or {}).get("display_id")
        output = {"output_type": "display_data", "data": data, "metadata": metadata or {}, "transient": identifier}
        if update:
            same = [each for each in self.shell.outputs if identifier and each.get("transient") == identifier]
            for each in same:
                each.update(output)
        else:
            self.shell.outputs.append(output)

    def clear_output(self, wait: bool = False) -> None:
        """Remove the outputs of this cell."""
        self.shell.outputs.clear()


class ResultOutputs(DisplayHook):
    """The values of the last lines of cells."""

    shell: CellShell

    def write_output_prompt(self) -> None:
        """Write nothing, as in a notebook."""

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        """Append a value to the outputs."""
        self.shell.outputs.append({"output_type": "execute_result", "data": format_dict, "metadata": md_dict or {}})

    def finish_displayhook(self) -> None:
        """Write no line between outputs."""


class CellShell(InteractiveShell):
    """An IPython shell that keeps the outputs of its cells."""

    displayhook_class = Type(ResultOutputs)
    display_pub_class = Type(DisplayedOutputs)
    outputs: list[Output] = []  # noqa: RUF012 (of the one shell of this process)
    error: BaseException | None = None

    def showtraceback(self, exc_tuple: Any = None, *_: object, **__: object) -> None:
        """Keep an error instead of printing it.

        If a picture cannot be drawn, IPython says why and continues without it.
        """
        self.error = self.error or (exc_tuple or sys.exc_info())[1]

    def run(self, source: str) -> list[Output]:
        """Run one cell, and return its outputs. The last one is the error, if there is one."""
        self.outputs.clear()
        self.error = None
        with redirect_stdout(OutputStream("stdout", self.outputs)), redirect_stderr(OutputStream("stderr", self.outputs)):
            result = self.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
        error = result.error_before_exec or result.error_in_exec or self.error
        if error:
            self.outputs.append({"output_type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": []})
        return self.outputs


def run_cells() -> None:
    """Run the cells that this process reads, until the first error."""
    # What a library prints below Python is no output of a cell.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sources = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    collect_rarely()
    from ledgerframes.report.pictures import register_pictures  # late: it imports matplotlib

    config = Config()
    config.HistoryManager.enabled = False
    shell = CellShell.instance(config=config, colors="nocolor")
    register_pictures(shell)
    for source in sources:
        outputs = shell.run(source)
        channel.write(json.dumps(outputs, default=_encode) + "\n")
        channel.flush()
        if outputs and outputs[-1]["output_type"] == "error":
            break
    os._exit(0)  # all files are written, and to end Python in order takes most of a second


def _end_with_parent() -> None:
    """End this process with the one that started it, whose end closes the standard input."""
    sys.stdin.read()
    os._exit(1)


def _encode(value: object) -> str:
    """Return a picture as notebooks have it."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is no output of a notebook.")


if __name__ == "__main__":
    run_cells()
