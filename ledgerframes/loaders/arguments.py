"""Checks of the arguments that all loaders share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, get_args

from ledgerframes.errors import UsageError
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.network import Network

P = ParamSpec("P")
R = TypeVar("R")


def check_arguments(*, has_executor: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the arguments that loaders share.

    Without an executor, the pages are one stream, and ``executor=`` is an error that says so.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def load(*args: P.args, **kwargs: P.kwargs) -> R:
            net = args[0] if args else kwargs.get("net")
            if not isinstance(net, Network) and (args or "net" in kwargs):
                raise UsageError(f"net must be a network, got {net!r}. Pass lf.connect(…) as the first argument.")
            if not has_executor and kwargs.get("executor") is not None:
                raise UsageError(f"{function.__name__} does not accept executor=, because its pages are one stream.")
            on_bad_item = kwargs.get("on_bad_item", "raise")
            if on_bad_item not in get_args(OnBadItem):
                raise UsageError(f"Unknown on_bad_item {on_bad_item!r}. Choose from {', '.join(get_args(OnBadItem))}.")
            return function(*args, **kwargs)

        return load

    return decorate
