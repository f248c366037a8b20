"""Ctrl-C and other signals, which end a command with one line and an exit code.

The first signal raises KeyboardInterrupt, so that everything cleans up as after Ctrl-C. The signal counts as the reason why
the command ended, even if an interrupted library then raises another error. A second signal ends the process at once:
committed data stay, and the processes of the command end with it.

Python loses an exception that is raised while an object is deleted, and libraries may swallow one. A timer therefore raises
KeyboardInterrupt again while no code handles it.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

STAYS = "Committed segments stay in the store."
# The exit code that a shell shows for a process that ends with the signal, and the message.
ENDINGS = {
    "SIGINT": (130, f"Interrupted from the keyboard. {STAYS}"),
    "SIGTERM": (143, f"Terminated. {STAYS}"),
    "SIGHUP": (129, f"The terminal was closed. {STAYS}"),
}
# A terminal or `timeout` can send a signal to the process and to its group.
SECONDS_OF_ONE_SIGNAL = 1.0
REPEAT_SECONDS = 0.2


class Signals:
    """The signal that this process received, if any."""

    def __init__(self) -> None:
        self.name = ""
        self.has_output = False  # a second JSON document would make the output unreadable
        self._is_running, self._repeats, self._time = False, True, 0.0

    def end_command(self, run: Callable[[], int]) -> int:
        """Run the command of this process until its end or a signal, and return the exit code."""
        try:
            self._is_running = True
            atexit.register(_leave_to_the_system)
            sys.unraisablehook = self._write_unraisable
            _handle(self._receive)
            code = run()
            with suppress(OSError, ValueError, AttributeError):  # streams that are closed
                sys.stdout.flush()  # now, because a signal while Python exits would lose unwritten output
            self._is_running = False
        except KeyboardInterrupt:
            self._is_running = False
        if not self.name:
            return code
        _stop_timer()
        # If the signal came within an exec, as of a dataclass, `python -m` would end with SIGINT instead of the exit code.
        # The next exec makes it forget.
        exec("")  # noqa: S102
        return self._report()

    def raise_only_once(self) -> None:
        """Let the command end by itself after the signal.

        A command that follows the ledger then writes a summary.
        """
        self._repeats = False

    def _receive(self, number: int, frame: FrameType | None) -> None:
        is_first, now = not self.name, time.monotonic()
        if is_first:
            self.name, self._time = signal.Signals(number).name, now
            if self._is_running:
                _call_every(REPEAT_SECONDS, self._repeat)
                raise KeyboardInterrupt
        if is_first or now - self._time > SECONDS_OF_ONE_SIGNAL:
            os._exit(self._report())

    def _repeat(self, number: int, frame: FrameType | None) -> None:
        if self._is_running and self._repeats and not _is_handled(sys.exception()):
            raise KeyboardInterrupt

    def _write_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if not (self.name and issubclass(unraisable.exc_type, KeyboardInterrupt)):  # the timer raises that again
            sys.__unraisablehook__(unraisable)

    def _report(self) -> int:
        """Write why the command ended, and return the exit code."""
        code, message = ENDINGS[self.name]
        with suppress(OSError, ValueError, AttributeError):  # streams that are closed
            if "--json" in sys.argv and not self.has_output:
                document = {"error": "Interrupted", "message": message, "exit_code": code}
                sys.stdout.write(json.dumps(document, indent=2) + "\n")
            sys.stdout.flush()
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"ledgerframes: {message}\n")
            sys.stderr.flush()
        return code


def _is_handled(error: BaseException | None) -> bool:
    """Return whether the signal's exception is this error, or an earlier one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _call_every(seconds: float, handler: Callable[[int, FrameType | None], None]) -> None:
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _stop_timer() -> None:
    """Stop the timer.

    While exiting, Python leaves signals to the system, and the timer's signal would end the process.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # one may have arrived


def _handle(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for name in ENDINGS:
        number = getattr(signal, name, None)  # Windows has fewer
        if number and signal.getsignal(number) is not signal.SIG_IGN:  # as for a command in the background
            signal.signal(number, handler)


def _leave_to_the_system() -> None:
    """Let signals end the process at once.

    Python has run all its code by then, and would not notice them.
    """
    _handle(signal.SIG_DFL)


SIGNALS = Signals()
end_on_signals = SIGNALS.end_command
