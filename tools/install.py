"""Install the packages of the lock and this one, and say every few seconds that it goes on.

pip alone says nothing for about a minute: a bar of progress needs a terminal, and its last step has none.
"""

from __future__ import annotations

import subprocess
import sys
import time

SECONDS = 5  # between two lines
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
STEPS = (
    ("--require-hashes", "--requirement", "requirements.lock"),
    ("--no-deps", "--no-build-isolation", "--editable", "."),
)


def main() -> int:
    """Run one step after the other, and return the exit code of the first that fails."""
    began = time.monotonic()
    for step in STEPS:
        code = _run((*PIP, *step), began)
        if code:
            return code
    return 0


def _run(command: tuple[str, ...], began: float) -> int:
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                print(f"Installing packages, {time.monotonic() - began:.0f} s.", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
