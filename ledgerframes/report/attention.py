"""Findings below the key figures of a page."""

from __future__ import annotations

from typing import TypedDict

import pandas as pd

MAX_SENTENCES = 5


class Attention(TypedDict):
    """Findings of a window for its page.

    Attributes
    ----------
    summary : str
        The sentence on all findings.
    sentences : list of str
        A sentence on each of the first findings, those with most at stake.
    others : int
        The number of all other findings.
    """

    summary: str
    sentences: list[str]
    others: int


def describe_attention(findings: pd.DataFrame) -> Attention:
    """Return what a page says about the result of :func:`ledgerframes.findings`."""
    sentences = findings["sentence"].head(MAX_SENTENCES).tolist()
    return Attention(summary=findings.attrs["sentence"], sentences=sentences, others=len(findings) - len(sentences))
