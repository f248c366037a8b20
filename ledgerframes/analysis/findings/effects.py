"""The sentence on the bytes at stake in a finding."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ledgerframes.analysis.finding_names import ONE_COST, REJECTIONS
from ledgerframes.statistics import printing


def describe_effect(row: Any) -> str:
    """Return a sentence on the bytes of a finding after a space, or an empty text without any.

    The sentence of a finding ends with it, except that of a single request.
    """
    if pd.isna(row.effect_bytes) or row.effect_bytes == 0:
        return ""
    price = "" if pd.isna(row.effect_usd) else f" ({abs(row.effect_usd):,.2f} USD on {_bill(row)})"
    size = f"{printing.size(abs(row.effect_bytes))}{price}"
    if row.what == REJECTIONS:
        return f" The additional rejections cost {size}."
    usual = "" if row.what == ONE_COST else " than usual"
    return f" That is {size} {'more' if row.effect_bytes > 0 else 'less'}{usual}."


def _bill(row: Any) -> str:
    """Return on whose bill the cost of a finding is."""
    if row.what == ONE_COST:
        return "the bill of its participant"
    return "the bill of this participant" if row.subject == "participant" else "the bills of the submitting participants"
