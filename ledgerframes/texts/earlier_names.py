"""Names of earlier versions, which say what to write instead."""

from __future__ import annotations

from collections.abc import Mapping


def missing_name_error(module: str, name: str, successors: Mapping[str, str]) -> AttributeError:
    """Return the error for a name that a module does not have, or no longer has."""
    if name in successors:
        return AttributeError(f"{module}.{name} was removed. Write {successors[name]}.")
    return AttributeError(f"{module} has no attribute {name!r}")
