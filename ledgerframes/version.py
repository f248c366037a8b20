"""Which version of this library is at work."""

from __future__ import annotations

import functools


@functools.cache
def installed_version() -> str:
    """The version of the package that is installed, as it says itself."""
    from importlib.metadata import version  # a tenth of `import ledgerframes`, and who only reads needs none

    return version("ledgerframes")
