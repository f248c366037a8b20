"""The decorator of all loaders, which checks the arguments that they share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, ParamSpec, Protocol, TypeVar, get_args

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.network import Network

P = ParamSpec("P")
R = TypeVar("R")


class Load(Protocol):
    """The load that one call of a loader makes."""

    def plan(self) -> pd.DataFrame:
        """Return what the load would fetch, one row per extent, in the columns of table ``plan``."""


def loader(make: Callable[..., Load]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a loader, and check the arguments that all of them share.

    :func:`ledgerframes.plan` makes the same load from the same arguments, and returns its plan.

    Parameters
    ----------
    make : callable
        Makes the load of a call. It takes those of the loader's arguments that decide what is loaded, under the same names.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def load(*args: P.args, **kwargs: P.kwargs) -> R:
            if args or "net" in kwargs:
                check_arguments(function, args[0] if args else kwargs["net"], kwargs)
            return function(*args, **kwargs)

        load.make = make  # type: ignore[attr-defined]
        return load

    return decorate


def to_list(values: Any) -> Any:
    """Return texts as a list, for example those of a column.

    One text and what has no items stay, so that they are refused.
    """
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else values


def to_ids(values: Any, name: str, noun: str = "parties") -> list[str] | None:
    """Return the ids of a filter as a list, None for the default.

    An empty list is refused, because services take it for everything.
    """
    if values is None:
        return None
    ids = to_list(values)
    if not isinstance(ids, list) or not ids or not all(isinstance(each, str) and each.strip() for each in ids):
        raise UsageError(f"{name}= must be a list of one or more {noun}, got {ids!r}.")
    return ids


def check_arguments(function: Callable[..., object], net: object, options: Mapping[str, Any]) -> None:
    """Refuse wrong values of shared arguments, and arguments that a loader does not have."""
    name = function.__name__
    if not isinstance(net, Network):
        raise UsageError(f"net must be a network, got {net!r}. Pass lf.connect(…) as the first argument.")
    if "plan" in options:
        raise UsageError(f"{name} does not accept plan=. Call lf.plan(lf.{name}, net, …) instead.")
    executor = options.get("executor")
    if executor is not None and "executor" not in inspect.signature(function).parameters:
        raise UsageError(f"{name} does not accept executor=, because its pages are one stream.")
    if not isinstance(executor, Executor | None):
        raise UsageError(f"executor= must be a concurrent.futures.Executor, got {executor!r}.")
    on_bad_item = options.get("on_bad_item", "raise")
    if on_bad_item not in get_args(OnBadItem):
        raise UsageError(f"Unknown on_bad_item {on_bad_item!r}. Choose from {', '.join(get_args(OnBadItem))}.")
