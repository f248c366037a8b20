"""The plan of a load, which fetches nothing."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.loaders.arguments import Load, check_arguments
from ledgerframes.network import Network

__all__ = ["plan"]

P = ParamSpec("P")


def plan(loader: Callable[Concatenate[Network, P], Any], net: Network, *args: P.args, **arguments: P.kwargs) -> pd.DataFrame:
    """Return what a load would fetch, and fetch nothing.

    Parameters
    ----------
    loader : callable
        A loader, such as ``lf.load_events``.
    net : Network
    **arguments
        The other arguments of the loader, such as ``since=`` and ``until=``.

    Returns
    -------
    DataFrame
        One row per extent that the load would fetch, in the columns of table ``plan``, or no row if the store covers the
        load. Once the store has data of the dataset, windows and offset ranges have an estimate of requests, rows, bytes and
        minutes.

    Raises
    ------
    UsageError
        If `loader` is not a loader, or its arguments are invalid.

    Notes
    -----
    Source: docs/store.md#plan. Nothing is written to the store. A plan of a window of :func:`ledgerframes.load_updates` looks
    up the offsets of the window, and one of :func:`ledgerframes.load_bulk` the list of objects.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> lf.plan(lf.load_events, net, since="2026-11-08", until="2026-11-09")["dataset"].tolist()
    ['events']
    """
    make = getattr(loader, "make", None)
    if make is None:
        choices = ", ".join(f"lf.{name}" for name in _loader_names())
        what = getattr(loader, "__name__", None) or f"a value of type {type(loader).__name__}"
        raise UsageError(f"lf.plan needs a loader without a call, got {what}. Choose from {choices}.")
    check_arguments(loader, net, arguments)
    values, parameters = _values(loader, (net, *args), arguments), inspect.signature(make).parameters
    load: Load = make(**{name: value for name, value in values.items() if name in parameters})
    return load.plan()


def _values(loader: Callable[..., object], args: tuple[Any, ...], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of each argument of a call, with defaults."""
    call = inspect.signature(loader).bind(*args, **arguments)
    call.apply_defaults()
    return call.arguments


def _loader_names() -> list[str]:
    names = []
    for each in pkgutil.iter_modules([str(Path(__file__).parent)]):
        module = importlib.import_module(f"{__package__}.{each.name}")
        names += [name for name in getattr(module, "__all__", ()) if hasattr(getattr(module, name), "make")]
    return sorted(names)
