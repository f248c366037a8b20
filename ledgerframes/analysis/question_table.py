"""The questions of users, each with the calls that answer it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.errors import UsageError

DECLARATION = Path(__file__).with_name("questions.toml")
COLUMNS = ("topic", "question", "example", "notebook", "page", "limit")


def questions(search: str = "") -> pd.DataFrame:
    """Return the questions that users have about a network, with the calls that answer them.

    Parameters
    ----------
    search : str, optional
        Only questions that contain all of these words in the question, its topic or its calls (default: all questions).

    Returns
    -------
    DataFrame
        One row per question, in the order of the page of questions: ``topic``, ``question``, ``example`` (lines of Python),
        ``notebook`` (with the cell that answers it), ``page`` (of the documentation) and ``limit`` (what the APIs do not hold).
        ``attrs["setup"]`` has the lines that all examples start from.

    Raises
    ------
    UsageError
        If `search` is not a text.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> found = lf.questions("balance last")
    >>> found["question"].tolist()
    ['How long does our balance last, and which rule for purchases is safe?']
    >>> print(found["example"].iloc[0].splitlines()[0])
    status = lf.load_traffic_status(net, members=[participant])
    """
    if not isinstance(search, str):
        raise UsageError(f"search= must be words, such as 'balance', got {search!r}.")
    document = declaration()
    rows = [{**row, "topic": topic["title"]} for topic in document["topics"] for row in topic["questions"]]
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).fillna("").astype("str")
    frame["example"] = frame["example"].str.strip()
    searched = (frame["topic"] + " " + frame["question"] + " " + frame["example"]).str.lower()
    for word in search.lower().split():
        frame = frame[searched.loc[frame.index].str.contains(word, regex=False)]
    frame = frame.reset_index(drop=True)
    frame.attrs["setup"] = document["setup"].strip()
    return frame


def declaration() -> dict[str, Any]:
    """Return the content of ``questions.toml``."""
    return tomllib.loads(DECLARATION.read_text(encoding="utf-8"))
