"""Findings below the key figures of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ledgerframes.analysis.finding_names import COMPARED, NOT_FINAL, NOT_IN_STORE
from ledgerframes.analysis.findings.effects import describe_effect
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.report.registry import ABOUT
from ledgerframes.report.sentences import Attention, LinkedText
from ledgerframes.report.summary.texts import listing

MAX_SENTENCES = 5
ABOUT_DATA = {NOT_IN_STORE: ABOUT, NOT_FINAL: ABOUT}  # facts about the data, which concern every page


def describe_attention(findings: pd.DataFrame, headings: Mapping[str, str]) -> Attention:
    """Return what a page says about the result of :func:`ledgerframes.findings`.

    Parameters
    ----------
    findings : DataFrame
    headings : mapping of str to str
        The heading of the page that shows a measure. The heading of a subject, such as a confirming party, comes first.
    """
    measures = {**ABOUT_DATA, **headings}
    absent = [what for what in COMPARED if what not in headings]
    is_shown = findings["what"].isin(measures).astype(bool)
    rows = [_linked(row, measures) for row in iter_rows(findings[is_shown])]
    needs_elsewhere = bool(absent) and findings.attrs["looked_at"] > 0
    return Attention(
        summary=findings.attrs["sentence"],
        findings=rows[:MAX_SENTENCES],
        others=len(rows[MAX_SENTENCES:]),
        elsewhere=_describe_elsewhere(findings[~is_shown], absent, has_others=bool(rows)) if needs_elsewhere else "",
    )


def _linked(row: Any, headings: Mapping[str, str]) -> LinkedText:
    heading = headings.get(row.subject, headings[row.what])
    effect = describe_effect(row)
    return LinkedText(text=row.sentence, what=str(row.what), effect=effect, heading=heading, next_step=row.next_step)


def _describe_elsewhere(findings: pd.DataFrame, absent: Sequence[str], *, has_others: bool) -> str:
    """Return how many findings are about measures that the page does not show."""
    if findings.empty:
        return ""
    names = listing([what for what in absent if (findings["what"] == what).any()])
    if has_others:
        return f"{len(findings):,} of them {'is' if len(findings) == 1 else 'are'} on {names}, which other pages explain."
    subject = "It is" if len(findings) == 1 else "They are"
    return f"{subject} on {names}, which other pages explain."
