"""The version of this package."""

from __future__ import annotations

import functools


@functools.cache
def installed_version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import version  # a tenth of the time of `import ledgerframes`

    return version("ledgerframes")
