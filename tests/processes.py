"""Scripts in processes of their own, to be killed or to go on beside others."""

from __future__ import annotations

import subprocess
import sys


def begun(script: str, *words: object) -> subprocess.Popen[str]:
    """Start a script; it has imported everything, and said so, when this returns."""
    process = subprocess.Popen([sys.executable, "-c", script, *map(str, words)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def ended(process: subprocess.Popen[str]) -> int:
    """Wait for a process and close its pipe."""
    process.communicate()
    return process.returncode
