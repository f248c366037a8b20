"""Texts in SQL."""

from __future__ import annotations

from collections.abc import Iterable


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return "'" + text.replace("'", "''") + "'"


def one_of(texts: Iterable[str]) -> str:
    """Return texts as the right side of ``IN``."""
    return f"({', '.join(map(quoted, texts))})"


def array_of(texts: Iterable[str]) -> str:
    """Return texts as a list."""
    return f"[{', '.join(map(quoted, texts))}]"
