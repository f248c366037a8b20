"""The version of this library."""

from __future__ import annotations

import functools


@functools.cache
def installed_version() -> str:
    """Return the installed version of the package."""
    from importlib.metadata import version  # a tenth of the time of `import ledgerframes`, and not needed to read

    return version("ledgerframes")
