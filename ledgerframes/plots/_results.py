"""Labels and notes of results, for their plots.

Text from the network is not trusted: labels cut it, show letters without a font as code points, and never
read it as mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.plots._fonts import visible_letters
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import WEEKDAYS, pluralize
from ledgerframes.texts.short_names import break_before_fingerprints, display_width, shorten_name, without_middle

MAX_LABEL = 38
MAX_KIND = 44  # letters of template and choice
MAX_ROWS = 15  # as many as a table shows, so that a picture is readable on a printed page
OTHER = "other"
NO_NAME = "(no name)"  # where a name is sent that is empty
PERIOD_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
RESULTS = {
    "VERDICT_RESULT_ACCEPTED": ("accepted", "-", 0),
    "VERDICT_RESULT_REJECTED": ("rejected", "--", 1),
    "VERDICT_RESULT_UNSPECIFIED": ("unspecified", ":", 2),
}
POPULATION_NOTES = {
    "chosen": "Of the requests chosen",
    "committed, accepted": "Committed updates, which have no rejected requests",
}
GROUP_TEXTS = {
    "participant": "by submitting participant",
    "party": "by submitting party",
    "template": "by root template and choice",
    "view": "of envelopes by view",
    "view_count": "by number of views",
    "views": "by number of views",
    "confirmers": "by number of confirmers",
    "hour": "by hour of the day",
    "weekday_hour": "by weekday and hour",
    "result": "by verdict",
    "user": "by user of the ledger API",
    "version": "by version of the package",
    "activity.weights party": "by app provider",
    "activity.rewards party": "by app provider",
}

Numbers = npt.NDArray[np.float64]


def numbers(values: pd.Series) -> Numbers:
    """Return numbers, or durations in seconds, as floats with NaN for a missing one."""
    if values.dtype.kind == "m":
        values = values.dt.total_seconds()
    floats: Numbers = values.to_numpy("float64", na_value=np.nan)
    return floats


def are_only_zero(values: pd.Series) -> bool:
    """Return whether values are known, and all of these are 0, for which no bar has a length."""
    known = values.dropna()
    return not known.empty and bool((known == 0).all())


# -- labels -------------------------------------------------------------------------------------------------------------


def label(text: object, max_length: int = MAX_LABEL) -> str:
    """Return a text of the network as a safe label, without the middle of long ids and names."""
    if not isinstance(text, str):
        return "unknown"
    if not text.strip():
        return NO_NAME
    return shorten_name(visible_letters(text), max_length).replace("$", r"\$")


def shorten(labels: Sequence[str], max_length: int) -> list[str]:
    r"""Return labels, those that are longer with the fingerprint in a new line.

    A line that is still longer loses its middle.

    >>> shorten(["alder-validator-1::1220d8…bf95", "Halcyon::12208c…9afb"], 20)
    ['alder-validator-1::\n1220d8…bf95', 'Halcyon::\n12208c…9afb']
    """
    texts = [label.replace(r"\$", "$") for label in labels]
    if any(display_width(text) > max_length for text in texts):
        texts = [break_before_fingerprints(text) for text in texts]
    return ["\n".join(without_middle(line, max_length) for line in text.split("\n")).replace("$", r"\$") for text in texts]


def join_parties(texts: object) -> str:
    """Return two lines with the first two of a list of parties, and the number of others."""
    names = texts.split(", ") if isinstance(texts, str) else []
    more = f" + {len(names) - 2}" if len(names) > 2 else ""
    return ",\n".join(map(label, names[:2])) + more


WITHOUT_TEMPLATE = {"reassignment": "reassignment", "transaction": "transaction without a tree"}
NOT_VISIBLE = "not visible (rejected or private)"


def template_label(kind: object, template_name: object, choice: object) -> str:
    """Return template and choice as one label, or the kind without a visible tree.

    If it is too long, it loses its package and module, and then its template, because the choice says what a request does.
    """
    if not isinstance(template_name, str):
        return WITHOUT_TEMPLATE.get(str(kind), NOT_VISIBLE)
    template = template_name if template_name.strip() else NO_NAME
    if not isinstance(choice, str):
        return label(_longest_end((f"{template} (create)", f"…{_entity(template)} (create)")), MAX_KIND)
    if not choice.strip():
        return label(_longest_end((template, f"…{_entity(template)}")), MAX_KIND)
    return label(_longest_end((f"{template}.{choice}", f"…{_entity(template)}.{choice}", f"…{choice}")), MAX_KIND)


def _entity(template_name: str) -> str:
    """Return the name of a template without package and module."""
    return template_name.rpartition(":")[2]


def _longest_end(texts: Sequence[str]) -> str:
    """Return the first text that fits, otherwise the last."""
    return next((text for text in texts if display_width(text) <= MAX_KIND), texts[-1])


LABELS: dict[str | None, Callable[..., str]] = {
    "template": lambda kind, package_name, *names: template_label(kind, *names),
    "version": lambda kind, package_name, *names: (
        f"{template_label(kind, *names[:2])}, {_version(names[2])} → {_version(names[3])}"
    ),
    "view": lambda kind, package_name, *names: f"{template_label(kind, *names[:2])}, view {names[2]}",
    "hour": lambda hour: f"{hour:02d}:00",
    "weekday_hour": lambda weekday, hour: f"{WEEKDAYS[weekday]} {hour:02d}:00",
    "day": lambda day: f"{day:%Y-%m-%d}",
    "result": lambda result: RESULTS[result][0] if result in RESULTS else label(result),
    "confirmers": lambda number: "unknown" if pd.isna(number) else f"{number} confirming",
    "view_count": lambda number: _view_count_label(number),
    "views": lambda number: _view_count_label(number),
    "user": lambda user_id, status: label(user_id) if isinstance(user_id, str) else f"unknown: {status}",
    None: lambda: "all requests",
}


def _version(package_id: object) -> str:
    return label(package_id)[:6] if isinstance(package_id, str) else "none"


def _view_count_label(number: Any) -> str:
    return "unknown" if pd.isna(number) else pluralize(number, "view")


def percent(share: float, decimals: int = 0) -> str:
    """Return a share as percent, which is 0 or 100 only if that is exact."""
    return printing.share(share, decimals)


def amount(value: float | Decimal, decimals: int = 2) -> str:
    """Return a known amount as text, which is 0 only if the amount is.

    >>> amount(0.0), amount(0.004), amount(12.5)
    ('0.00', '0.0040', '12.50')
    """
    return printing.amount(Decimal(str(value)), decimals)


# -- titles and notes ---------------------------------------------------------------------------------------------------


def period_length(frame: pd.DataFrame) -> str:
    """Return the length of a period as text, such as `hour` or `15 minutes`."""
    start, end = frame["period_start"].iloc[0], frame["period_end"].iloc[0]
    months = (end.year - start.year) * 12 + end.month - start.month
    if months and start.day == end.day == 1:
        return "month" if months == 1 else f"{months} months"
    seconds = int((end - start).total_seconds())
    divisor, unit = next(pair for pair in PERIOD_UNITS if seconds % pair[0] == 0)
    number = seconds // divisor
    return unit if number == 1 else f"{number} {unit}s"


def coverage_note(frame: pd.DataFrame, fact: str = "Cost", unit: str = "requests") -> str:
    """Return a note on the share of values that are known, or an empty text if all are."""
    shares = frame["coverage"].dropna()
    if shares.empty or shares.min() == 1:
        return ""
    if "requests" not in frame:  # the share of all cannot be computed from those of groups of unknown size
        text = f"{percent(shares.min(), 1)} of {unit}"
        return f"{fact} known for {text}" if shares.nunique() == 1 else f"{fact} known for at least {text} in each row"
    requests = frame["requests"].loc[shares.index]
    if not requests.sum():
        return ""
    return f"{fact} known for {percent((shares * requests).sum() / requests.sum(), 1)} of {unit}"


def lowest_coverage_note(frame: pd.DataFrame, condition: str) -> str:
    """Return a note on the lowest coverage of a row.

    It is empty if no row has less than all.
    """
    shares = frame["coverage"].dropna()
    if shares.empty or shares.min() == 1:
        return ""
    return f"Coverage: {'at least ' if shares.nunique() > 1 else ''}{percent(shares.min(), 1)} {condition}"


def few_requests_note(frame: pd.DataFrame, columns: Sequence[str]) -> str:
    """Return a note on percentiles with too few requests, or an empty text."""
    marks = frame["few_requests_for"].dropna().str.split(", ").explode()
    names = [name for name in columns if name in set(marks)]
    return f"From few requests in some rows: {', '.join(names)}" if names else ""


def population_note(frame: pd.DataFrame) -> str:
    """Return a note on the population of a rate, or an empty text for all requests."""
    populations: list[str] = frame["population"].astype("str").unique().tolist()
    return ". ".join(POPULATION_NOTES[each] for each in populations if each in POPULATION_NOTES)


def omitted_note(omitted: int, visible: int = MAX_ROWS, noun: str = "groups") -> str:
    """Return a note on the number of omitted groups, or an empty text."""
    return f"The {visible} largest {noun}, {omitted:,} more not shown" if omitted > 0 else ""


def without_value_note(table: pd.DataFrame) -> str:
    """Return a note on lines that have no point, or an empty text."""
    return unknown_note([str(name) for name, is_empty in table.isna().all().items() if is_empty])


def unknown_note(names: Sequence[str]) -> str:
    """Return a note on groups without a value, or an empty text."""
    more = f" + {len(names) - 2}" if len(names) > 2 else ""
    return f"Without a value: {', '.join(names[:2])}{more}" if names else ""


def is_other(label: str) -> bool:
    """Return whether a label is that of all others, not of a group with a similar name."""
    return bool(re.fullmatch(rf"{OTHER} \([\d,]+\)", label))


def group_remaining(labels: list[str], values: Numbers, max_rows: int = MAX_ROWS) -> tuple[list[str], Numbers]:
    """Return the first rows, and the sum of all others as one row."""
    if len(values) <= max_rows + 1:
        return labels, values
    rest = values[max_rows:]
    total = np.nan if np.isnan(rest).all() else np.nansum(rest)
    return [*labels[:max_rows], f"{OTHER} ({len(rest):,})"], np.append(values[:max_rows], total)
