"""The installed package and its optional dependencies."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerframes.errors import UsageError

# The extra of each module.
EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "flask": "sandbox",
    "IPython": "report",
    "filelock": "report",
    "jinja2": "report",
    "jupyterlab": "lab",
    "matplotlib": "plot",
    "markupsafe": "report",
    "matplotlib_inline": "report",
    "mistune": "report",
    "nh3": "report",
    "traitlets": "report",
    "waitress": "sandbox",
    "werkzeug": "sandbox",
}


@functools.cache
def installed_version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import version  # a tenth of the time of `import ledgerframes`

    return version("ledgerframes")


def is_root() -> bool:
    """Return whether root runs this process, whom some programs refuse."""
    return hasattr(os, "geteuid") and os.geteuid() == 0  # not on Windows


@functools.cache
def code_digest(package: Path = Path(__file__).parent) -> str:
    """Return a digest of the installed files.

    In a clone the code changes between two versions. Besides modules, templates, styles and tables decide what a report says.
    """
    files = sorted(path for path in package.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


@contextmanager
def extra_for(feature: str) -> Iterator[None]:
    """Turn the missing module of an extra into an error that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = missing_extra_error(error, feature)
        if missing is None:
            raise
        raise missing from error


def missing_extra_error(error: ModuleNotFoundError, feature: str) -> UsageError | None:
    """Return the error for a missing optional dependency, or None for any other module."""
    module = (error.name or "").partition(".")[0]
    if module not in EXTRAS:
        return None
    return UsageError(f"{feature} requires {module}. Install it with: pip install 'ledgerframes[{EXTRAS[module]}]'.")
