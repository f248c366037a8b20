"""Facts that many figures of the same frames need."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from ledgerframes.frames import Frames

Options = ParamSpec("Options")
Value = TypeVar("Value")


def once_per_frames(
    compute: Callable[Concatenate[Frames, Options], Value],
) -> Callable[Concatenate[Frames, Options], Value]:
    """Return a function that computes its value once for the same frames and options.

    The value lives as long as the frames, so keep it small. Callers must not modify it. An option that has no hash, such as a
    DataFrame, can change: with one, the value is computed each time.
    """
    values: WeakKeyDictionary[Frames, dict[Hashable, Value]] = WeakKeyDictionary()

    @wraps(compute)
    def computed(frames: Frames, /, *arguments: Options.args, **options: Options.kwargs) -> Value:
        if not all(isinstance(each, Hashable) for each in (*arguments, *options.values())):
            return compute(frames, *arguments, **options)
        known = values.setdefault(frames, {})
        key = arguments, tuple(options.items())
        if key not in known:
            known[key] = compute(frames, *arguments, **options)
        return known[key]

    return computed
