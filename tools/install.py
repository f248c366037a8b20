"""Install the packages of the lock and this one, and say every few seconds that it goes on.

pip alone says nothing for about a minute: a bar of progress needs a terminal, and its last step has none.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

SECONDS = 5  # between two lines
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
COMMANDS = (
    (*PIP, "--require-hashes", "--requirement", "requirements.lock"),
    (*PIP, "--no-deps", "--no-build-isolation", "--editable", "."),
)


def run_all(commands: Sequence[Sequence[str]], seconds: float = SECONDS) -> int:
    """Run one command after the other, and return the exit code of the first that fails."""
    began = time.monotonic()
    for command in commands:
        with subprocess.Popen(command) as process:
            code = _wait(process, seconds, began)
        if code:
            return code
    return 0


def _wait(process: subprocess.Popen[bytes], seconds: float, began: float) -> int:
    while True:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            print(f"Installing packages, {time.monotonic() - began:.0f} s.", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(run_all(COMMANDS))
