"""How much the attacks and the properties try, and what they count.

The default tests run a quick cut. `make soak` sets the minutes, and reads the counts from a file of JSON lines.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MINUTES, COUNTS = "SOAK_MINUTES", "SOAK_COUNTS"
# Seconds per minute of the soak that an attack without an end of its own lasts: in all three quarters of two cores.
SHARES = {"fuzz": 16.0, "damage": 10.0, "long_run": 20.0}


class Effort:
    """The quick cut of the default tests, or a soak."""

    @property
    def minutes(self) -> float:
        """Minutes of the soak, or 0."""
        return float(os.environ.get(MINUTES, 0))

    @property
    def is_soak(self) -> bool:
        return self.minutes > 0

    def count(self, quick: int, soak: int) -> int:
        """How often something is done that has a number."""
        return soak if self.is_soak else quick

    def seconds(self, attack: str, quick: float) -> float:
        """How long something lasts that has no end."""
        return self.minutes * SHARES[attack] if self.is_soak else quick

    def rounds(self, attack: str, quick: int, parts: int = 1) -> Iterator[int]:
        """The numbers of the rounds of the default tests, or of as many as fit into a part of the time of a soak."""
        until = time.monotonic() + self.seconds(attack, 0) / parts
        number = 0
        while number < quick or time.monotonic() < until:
            yield number
            number += 1


def examples(quick: int) -> int:
    """How many examples a property gets that takes long."""
    return Effort().count(quick, 5 * quick)


def tell(attack: str, **counts: Any) -> None:
    """Add counts to those of the soak."""
    if path := os.environ.get(COUNTS):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"attack": attack, **counts}) + "\n")
