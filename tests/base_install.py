"""Runs code as in an installation without extras: `python base_install.py CODE`.

A module that no dependency of the base installation brings cannot be imported, however deep in the extras it lies.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import metadata
from importlib.machinery import ModuleSpec
from typing import Any

from packaging.requirements import Requirement


def base_distributions() -> set[str]:
    """Return the distributions that come with the package when no extra is chosen."""
    found: set[str] = set()
    queue = ["ledgerframes"]
    while queue:
        name = queue.pop().lower().replace("_", "-")
        if name in found:
            continue
        found.add(name)
        requirements = [Requirement(text) for text in metadata.requires(name) or ()]
        queue += [each.name for each in requirements if not each.marker or each.marker.evaluate({"extra": ""})]
    return found


class Missing:
    """A finder of modules that does not find those of extras."""

    def __init__(self) -> None:
        base = base_distributions()
        owners = metadata.packages_distributions()
        self.names = {
            module for module, names in owners.items() if base.isdisjoint(name.lower().replace("_", "-") for name in names)
        }

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


if __name__ == "__main__":
    sys.meta_path.insert(0, Missing())
    exec(sys.argv[1], {})
