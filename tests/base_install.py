"""Runs code as in an installation without extras: `python base_install.py MODULES CODE`.

The modules, with commas between them, are those of `modules_of_extras`, which takes a second to find them. None of them can be
imported, however deep in the extras it lies.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Collection, Mapping, Sequence
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


@functools.cache
def owners() -> Mapping[str, list[str]]:
    """Return the distributions of each installed module."""
    return metadata.packages_distributions()


def modules_of_base() -> set[str]:
    """Return the modules that dependencies of the base installation bring."""
    base = base_distributions()
    return {module for module, names in owners().items() if not base.isdisjoint(name.lower().replace("_", "-") for name in names)}


def modules_of_extras() -> set[str]:
    """Return all other installed modules."""
    return owners().keys() - modules_of_base()


class Missing:
    """A finder of modules that does not find some."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


if __name__ == "__main__":
    sys.meta_path.insert(0, Missing(sys.argv[1].split(",")))
    exec(sys.argv[2], {})
