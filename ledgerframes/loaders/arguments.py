"""Checks and documentation of the arguments that all loaders share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ledgerframes.errors import UsageError
from ledgerframes.network import Network

P = ParamSpec("P")
R = TypeVar("R")

EXECUTOR = """\
executor : concurrent.futures.Executor, optional
    Fetches the chunks, also on a cluster (``dask.distributed.Client(…).get_executor()``). Its workers
    must reach the network and the store, each within its own limits; the caller commits.
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


def loader(*, default_executor: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the first argument of a loader, and document the shared ones.

    Parameters
    ----------
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
            return function(*args, **kwargs)

        load.__doc__ = _with_shared_parameters(inspect.cleandoc(function.__doc__ or ""), default_executor)
        return load

    return decorate


def _with_shared_parameters(text: str, default_executor: str) -> str:
    """Append the shared parameters to the section Parameters of a docstring."""
    shared = (EXECUTOR.format(default=default_executor) if default_executor else "") + PLAN + PROGRESS
    before, heading, after = text.partition("\n\nReturns\n")
    return f"{before}\n{shared.rstrip()}{heading}{after}"
