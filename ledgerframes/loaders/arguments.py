"""Checks and documentation of the arguments that all loaders share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar, get_args

from ledgerframes.errors import UsageError
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.network import Network

P = ParamSpec("P")
R = TypeVar("R")

BAD_ITEM = """\
on_bad_item : {{"raise", "quarantine"}}
    What to do with {item} that cannot be decoded. ``quarantine`` keeps its bytes in a file below the store,
    logs where, and returns the others (docs/facts.md#unknown-kinds).
"""
EXECUTOR = """\
executor : concurrent.futures.Executor, optional
    Fetches the chunks, also on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
    must reach the network and the store; the caller commits. Those of one machine share the request
    rate of a host, and each has its own other limits.
    By default {default}.
"""
PLAN = """\
plan : bool, default False
    Fetch nothing, and return what a load would fetch, one row per extent, in the columns of
    table ``plan``.
"""
PROGRESS = """\
progress : bool, optional
    Show a progress bar anywhere, or nowhere; by default in terminals and notebooks.
"""


def check_arguments(*, bad_item: str = "", default_executor: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check and document the arguments that loaders share.

    Parameters
    ----------
    bad_item : str
        What ``on_bad_item=`` is about, with its article. Empty if the loader has no such argument, or documents it itself.
    default_executor : str
        Completes the sentence "By default …". Empty if the pages are one stream, so that ``executor=`` is an error.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def load(*args: P.args, **kwargs: P.kwargs) -> R:
            net = args[0] if args else kwargs.get("net")
            if not isinstance(net, Network) and (args or "net" in kwargs):
                raise UsageError(f"net must be a network, got {net!r}. Pass lf.connect(…) as the first argument.")
            if not default_executor and kwargs.get("executor") is not None:
                raise UsageError(f"{function.__name__} does not accept executor=, because its pages are one stream.")
            on_bad_item = kwargs.get("on_bad_item", "raise")
            if on_bad_item not in get_args(OnBadItem):
                raise UsageError(f"Unknown on_bad_item {on_bad_item!r}. Choose from {', '.join(get_args(OnBadItem))}.")
            return function(*args, **kwargs)

        shared = BAD_ITEM.format(item=bad_item) if bad_item else ""
        shared += EXECUTOR.format(default=default_executor) if default_executor else ""
        before, heading, after = inspect.cleandoc(function.__doc__ or "").partition("\n\nReturns\n")
        load.__doc__ = f"{before}\n{shared}{PLAN}{PROGRESS.rstrip()}{heading}{after}"
        return load

    return decorate
