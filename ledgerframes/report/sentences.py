"""Sentences at the head of a page, as ``run.json`` has them."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Quality(TypedDict):
    """Known part of a window, and the rows that its figures leave out.

    Attributes
    ----------
    text : str
        The quality in a few words.
    details : list of str
        A sentence about each part of it.
    is_whole : bool
        Whether everything is known and counted.
    """

    text: str
    details: list[str]
    is_whole: bool


class LinkedText(TypedDict):
    """A sentence about a finding.

    Attributes
    ----------
    text : str
        What the finding says.
    what : str
        Its measure.
    effect : str
        The end of the text, on the bytes at stake. Empty if it has none.
    heading : str
        The heading on the page under which it is shown.
    next_step : str
        What a reader can do about it, or whom to contact.
    """

    text: str
    what: NotRequired[str]
    effect: NotRequired[str]
    heading: str
    next_step: NotRequired[str]


class Attention(TypedDict):
    """Findings of a window for its page.

    Attributes
    ----------
    summary : str
        The sentence about all findings.
    findings : list of LinkedText
        The first findings that the page shows, with the most at stake.
    others : int
        The number of further findings that the page could show.
    elsewhere : str
        The measures that the page does not show, with the number of their findings and the report that shows them. Empty if
        there are none.
    """

    summary: str
    findings: list[LinkedText]
    others: int
    elsewhere: str


class Statement(TypedDict):
    """A statement of a summary, with its details.

    Attributes
    ----------
    term : str
        Its subject.
    text : str
        Its sentence.
    details : list of str
        Further sentences.
    key_figure : str
        Label of the key figure that says as much, if there is one. A page with this figure leaves the statement out.
    next_step : str
        The end of the sentence, on what to do, if there is something to do. A page begins with such statements.
    """

    term: str
    text: str
    details: list[str]
    key_figure: NotRequired[str]
    next_step: NotRequired[str]
