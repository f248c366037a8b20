"""Plant errors one by one, and check that a test breaks for each.

`python tools/mutants.py` runs all of mutants.toml, and with names some of them. The working tree stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MUTANTS = ROOT / "tools" / "mutants.toml"
WORKERS = 2
MAX_SECONDS = 240  # for the tests of one error
COPIED = ("ledgerframes", "tests", "notebooks", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md")


@dataclass(frozen=True)
class Mutant:
    """One planted error.

    Attributes
    ----------
    name : str
    error : str
        What would be wrong, in words.
    file : str
        Path of the module.
    before, after : str
        A text that occurs once in the module, and its replacement.
    tests : list of str
        Arguments of pytest. At least one of these tests must break.
    """

    name: str
    error: str
    file: str
    before: str
    after: str
    tests: list[str]

    def plant(self, root: Path) -> None:
        """Change the module below `root`."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.before) != 1:
            raise ValueError(f"{self.name}: the text to replace occurs {text.count(self.before)} times in {self.file}.")
        path.write_text(text.replace(self.before, self.after), encoding="utf-8")


def read_mutants(path: Path = MUTANTS) -> list[Mutant]:
    """Return the declared errors."""
    return [Mutant(**each) for each in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]]


def run(mutant: Mutant) -> tuple[Mutant, str, float]:
    """Plant one error in a copy of the repository, and return whether its tests notice."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as directory:
        root = Path(directory)
        _copy(root)
        mutant.plant(root)
        environment = {**os.environ, "PYTHONPATH": directory, "PYTHONDONTWRITEBYTECODE": "1"}
        arguments = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *mutant.tests]
        try:
            code = subprocess.run(
                arguments, cwd=directory, env=environment, capture_output=True, timeout=MAX_SECONDS, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            return mutant, "timeout", time.monotonic() - start
    # 1: a test failed. 2: a module cannot even be imported. Anything else says nothing about the error.
    outcome = {0: "SURVIVED", 1: "caught"}.get(code, f"exit code {code}")
    return mutant, outcome, time.monotonic() - start


def _copy(root: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, root / name)


def main(names: list[str]) -> int:
    """Print one line per error, and return 1 unless all are caught."""
    mutants = [mutant for mutant in read_mutants() if not names or mutant.name in names]
    with ThreadPoolExecutor(WORKERS) as pool:
        outcomes = []
        for mutant, outcome, seconds in pool.map(run, mutants):
            print(f"{outcome:<10} {seconds:6.1f} s  {mutant.name:<32} {mutant.error}", flush=True)
            outcomes.append(outcome)
    caught = outcomes.count("caught")
    print(f"{caught} of {len(outcomes)} planted errors break a test.")
    return 0 if caught == len(outcomes) > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
