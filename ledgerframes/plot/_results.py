"""Figure, groups, labels and notes of a result, for its plot.

Text from the network is not trusted: labels cut it, replace characters that a font cannot show, and never read it as mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.analysis import CALLS, FIGURES, Figure
from ledgerframes.errors import UsageError
from ledgerframes.statistics import printing

MAX_LINES = 5
MAX_LABEL = 38
MAX_BARS = 15
MAX_ROWS = 25
OTHER = "other"
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

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

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
}


@dataclass(frozen=True)
class ResultShape:
    """The figure that a DataFrame is a result of, and the way its rows are grouped."""

    figure: Figure
    by: str | None
    has_periods: bool
    has_rounds: bool = False

    @property
    def keys(self) -> list[str]:
        """Names of the columns that name the group."""
        return self.figure.grouping(self.by).key_names

    def title(self, column: str) -> str:
        """Return the axis label of a declared column, without its unit."""
        return self.figure.column(column).title


def check_result(frame: object, name: str) -> ResultShape:
    """Return the shape of a figure's result.

    Raises
    ------
    UsageError
        If `frame` is not a result of the figure.
    """
    figure, advice = FIGURES[name], f"Pass the result of {CALLS[name]} to lf.plot.{name.replace('.', '_')}"
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"{advice}, got {type(frame).__name__}.")
    missing = [column.name for column in (*figure.columns, *figure.tail) if column.name not in frame]
    if missing:
        raise UsageError(f"{advice}, got a DataFrame without column {missing[0]!r}.")
    networks = sorted(map(str, frame["network"].dropna().unique()))
    if len(networks) > 1:
        raise UsageError(f"{advice} for one network, got rows of {' and '.join(networks)}.")
    leading = list(frame.columns[: frame.columns.get_loc(figure.columns[0].name)])
    has_periods = leading[:1] == ["period_start"]
    has_rounds = figure.has_rounds and leading[:1] == ["round_number"]
    keys = leading[3:] if has_periods else leading[2:] if has_rounds else leading
    for by in (None, *figure.by):
        if figure.grouping(by).key_names == keys:
            return ResultShape(figure, by, has_periods, has_rounds)
    raise UsageError(f"{advice}, got a DataFrame grouped by {', '.join(map(str, keys))}.")


# -- labels and notes ---------------------------------------------------------------------------------------------------


def label(text: object, max_length: int = MAX_LABEL) -> str:
    """Return a text of the network as a safe and short label.

    The middle of long party ids and names is omitted.
    """
    if not isinstance(text, str):
        return "unknown"
    text = "".join(letter if " " <= letter <= "~" else "?" for letter in text)
    party = re.fullmatch(r"(.*)::(\w{6})\w{4,}(\w{2})", text)
    if party:
        text = f"{_cut(party[1], max_length - 12)}::{party[2]}…{party[3]}"
    return _cut(text, max_length).replace("$", r"\$")


def join_parties(texts: object) -> str:
    """Return the first two of a list of parties, and the number of others."""
    names = texts.split(", ") if isinstance(texts, str) else []
    more = f" + {len(names) - 2}" if len(names) > 2 else ""
    return ", ".join(label(name, 30) for name in names[:2]) + more


WITHOUT_TEMPLATE = {"reassignment": "reassignment", "transaction": "transaction without a tree"}
NOT_VISIBLE = "not visible (rejected or private)"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def template_label(kind: object, template_name: object, choice: object) -> str:
    """Return template and choice as one label, or the kind without a visible tree."""
    if not isinstance(template_name, str):
        return WITHOUT_TEMPLATE.get(str(kind), NOT_VISIBLE)
    return label(template_name + ("." + choice if isinstance(choice, str) else " (create)"), 44)


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
    None: lambda: "all requests",
}


def _version(package_id: object) -> str:
    return label(package_id)[:6] if isinstance(package_id, str) else "none"


def _view_count_label(number: Any) -> str:
    return "unknown" if pd.isna(number) else "1 view" if number == 1 else f"{number} views"


def percent(share: float, decimals: int = 0) -> str:
    """Return a share as percent, 0 and 100 only if that is exact."""
    return printing.share(share, decimals)


def group_labels(frame: pd.DataFrame, shape: ResultShape) -> list[str]:
    """Return the label of each row's group."""
    if not shape.keys:
        return [LABELS[None]()] * len(frame)
    to_label = LABELS.get(shape.by, label)
    return [to_label(*keys) for keys in zip(*(frame[name] for name in shape.keys), strict=True)]


def group_text(shape: ResultShape) -> str:
    """Return the grouping for the end of a title, empty without one."""
    return f" {GROUP_TEXTS.get(shape.by, f'by {shape.by}')}" if shape.by else ""


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


def coverage_note(frame: pd.DataFrame, fact: str = "Cost") -> str:
    """Return a note on unknown values and on partial periods, or an empty text without any."""
    return ". ".join(part for part in (_known_note(frame, fact), partial_note(frame)) if part)


def partial_note(frame: pd.DataFrame) -> str:
    """Return a note on partial periods, or an empty text without any."""
    is_partial = "is_partial" in frame and bool(frame["is_partial"].any())
    return "Gray: partial periods" if is_partial else ""


def _known_note(frame: pd.DataFrame, fact: str) -> str:
    shares = frame["coverage"].dropna()
    if shares.empty or shares.min() == 1:
        return ""
    if "requests" not in frame:  # the share of all cannot be computed from those of groups of unknown size
        text = f"{percent(shares.min(), 1)} of requests"
        return f"{fact} known for {text}" if shares.nunique() == 1 else f"{fact} known for at least {text} in each row"
    requests = frame["requests"].loc[shares.index]
    return f"{fact} known for {percent((shares * requests).sum() / requests.sum(), 1)} of requests"


def population_note(frame: pd.DataFrame) -> str:
    """Return a note on the population of a rate, or an empty text for all requests."""
    populations: list[str] = frame["population"].astype("str").unique().tolist()
    return ". ".join(POPULATION_NOTES[each] for each in populations if each in POPULATION_NOTES)


def omitted_note(omitted: int, visible: int = MAX_ROWS) -> str:
    """Return a note on the number of omitted groups, or an empty text."""
    return f"The {visible} largest groups, {omitted:,} more not shown" if omitted > 0 else ""


def _cut(text: str, max_length: int) -> str:
    if len(text) <= max_length:
        return text
    half = (max_length - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


# -- groups -------------------------------------------------------------------------------------------------------------


def group_remaining(labels: list[str], values: Numbers, max_rows: int = MAX_BARS) -> tuple[list[str], Numbers]:
    """Return the first rows, and the sum of all others as one row."""
    if len(values) <= max_rows + 1:
        return labels, values
    rest = len(values) - max_rows
    return [*labels[:max_rows], f"{OTHER} ({rest:,})"], np.append(values[:max_rows], np.nansum(values[max_rows:]))


def largest_groups(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the groups with the most requests, and a note on the omitted groups.

    The groups stay in the order of the frame.
    """
    largest = frame["requests"].sort_values(ascending=False, kind="stable").index[:MAX_ROWS]
    return frame.loc[frame.index.isin(largest)], omitted_note(len(frame) - MAX_ROWS)


def rows_with_counts(frame: pd.DataFrame, shape: ResultShape) -> list[str]:
    """Return the label of each row with its number of requests."""
    return [f"{text}  ({count:,})" for text, count in zip(group_labels(frame, shape), frame["requests"], strict=True)]


def by_group_over_time(
    frame: pd.DataFrame, keys: Sequence[str], labels: Sequence[str], values: pd.Series, weights: pd.Series
) -> pd.DataFrame:
    """Return values with one row per period and one column per group.

    Groups are in descending order of their total weight.
    """
    codes = frame.groupby(list(keys), dropna=False, observed=True, sort=False).ngroup().to_numpy()
    order = weights.fillna(0).groupby(codes).sum().sort_values(ascending=False, kind="stable").index
    numbers = pd.Series(values.to_numpy("float64", na_value=np.nan))
    table = numbers.groupby([frame["period_start"].to_numpy(), codes]).first().unstack()[order]
    return table.rename(columns=dict(zip(codes[::-1], labels[::-1], strict=True)))
