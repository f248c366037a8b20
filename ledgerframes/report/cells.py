"""Cells of tables as HTML and as text, each with the format and the unit of its column.

Names and texts from a network are not trusted: everything is escaped here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache, cached_property
from itertools import accumulate
from textwrap import wrap
from typing import Any

import pandas as pd

from ledgerframes.analysis.figures import SHARE
from ledgerframes.analysis.groups import is_measured
from ledgerframes.statistics import printing
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.control_characters import escape_html as escape
from ledgerframes.texts.short_names import SHORT_FINGERPRINT, SHORT_NAME, shorten_fingerprints, shorten_name, without_middle

UNITS_OF_SENTENCES = r"[kMGT]B|bytes?|weighted|µs|m?s|min|h|hours?|days?|weeks?|points?|coin|USD|participants?"
SPACE_OF_UNIT = re.compile(rf"(?<=\d) (?=%|(?:{UNITS_OF_SENTENCES})\b)")
# A time, or a short id.
UNBROKEN = re.compile(r"\b\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}(?: UTC)?)?\b|\b[0-9a-f]{6,12}…[0-9a-f]{4}\b")
KEPT_TOGETHER = r'<span class="unbroken">\g<0></span>'
# The name of a party or participant before its fingerprint, short enough for a line of a phone.
NAME_BEFORE_ID = re.compile(r'(?<![\w-])[\w-]{1,24}::(?=<span class="(?:unbroken|id)")')
LEFT = ' style="text-align: left"'  # For notebooks, which align all cells right. Pages of reports have another style.
MAX_TEXT = 56
MAX_BREAKABLE_TEXT = 400  # characters of a text in a cell that can break between words
MAX_PLAIN_TEXT = 34
MAX_UNBROKEN_TEXT = 20
SECOND = pd.Timedelta(1, "s")
DURATION_UNITS = {"days": pd.Timedelta(1, "D"), "h": pd.Timedelta(1, "h"), "min": pd.Timedelta(1, "min")}
MAX_DECIMALS = 3
LEAST_NUMBER = 0.001
LARGE_AMOUNT = 10  # an amount from which two decimals suffice
ID_NAMES = ("_id", "_number")  # columns of integers that count nothing
MIN_HEX = 40  # digits of an id or digest
HEX_ENDS = (12, 4)
ID = re.compile(rf"\b[0-9a-f]{{{MIN_HEX},}}\b")
Units = dict[tuple[str, str], str]  # of columns, by name and dtype
# The name of a count is its unit. The name of an amount is not.
UNITS_IN_HEAD = ("bytes", "weighted bytes", "UTC")
# Of columns whose name a reader of a page could take for something else.
TITLES = {
    "activity_weight": "factor",
    "slow_accepted": "accepted after 5 s",
    "top_cause": "likely cause",
    "top_1": "share of largest",
    "top_3": "share of 3 largest",
    "top_10": "share of 10 largest",
    "hhi": "HHI",
    "sv": "super validator",
}
CURRENCY = "currency"  # in units of amounts, for the code that a bill or journal has in each row
OF_MARKET = "currency of the market"
PER_MB = " per MB"


class Column:
    """One column of a table, with one format and one unit."""

    def __init__(
        self, name: Any, values: pd.Series, units: Units, missing: str = printing.MISSING, max_text: int = MAX_PLAIN_TEXT
    ) -> None:
        self.name = str(name)
        self.missing = missing
        self.max_text = max_text  # characters of a value as plain text
        self.values = values
        self.is_duration = pd.api.types.is_timedelta64_dtype(values)
        self.is_flag = pd.api.types.is_bool_dtype(values)
        self.is_number = is_measured(values)
        self.is_text = not self.is_number and not pd.api.types.is_datetime64_any_dtype(values)
        self.unit = units.get((self.name, str(values.dtype)), "")
        if self.is_duration:
            self.unit = _duration_unit(values)
        amounts = [value for value in values if isinstance(value, Decimal)]
        self.is_amount = str(values.dtype).startswith("decimal")
        is_small = all(abs(value) < LARGE_AMOUNT for value in amounts)
        self.decimals = 4 if is_small and any(value != round(value, 2) for value in amounts) else 2
        if not self.unit and all(value == round(value) for value in amounts):
            self.decimals = 0  # a sum of weights, in a column that can be of coin

    def title(self) -> str:
        """Return the name of the column in words, or words that say more."""
        if self.name in TITLES:
            return TITLES[self.name]
        return re.sub(r"\b(mb|usd)\b", lambda unit: unit[0].upper(), self.name.replace("_", " "))

    def unit_text(self) -> str:
        """Return the unit for the heading, or an empty text if the name says it."""
        if self.is_duration:
            return self.unit
        if self.unit == SHARE:
            return "points" if self.name.startswith("difference") else "%"
        is_in_head = self.unit in UNITS_IN_HEAD or (self.is_amount and CURRENCY not in self.unit)
        title = self.title()
        if not is_in_head or self.is_text or {*self.unit.split()} <= {*title.split()}:
            return ""
        return self.unit.removesuffix(PER_MB) if title.endswith(PER_MB) else self.unit

    def head(self) -> str:
        """Return the head as HTML."""
        unit = self.unit_text()
        return f'<th scope="col"{self._attributes()}>{escape(self.title())}{f" <small>{unit}</small>" if unit else ""}</th>'

    def cells(self, *, has_bars: bool = False) -> list[str]:
        """Return the values as HTML, of numbers also with bars."""
        bars = self._bars() if has_bars and self.is_number else [""] * len(self.values)
        to_html = _to_html if self.is_text else escape
        return [
            f"<td{self._attributes()}{_tooltip(value, text)}>{_with_bar(bar, to_html(text))}</td>"
            for bar, value, text in zip(bars, self.values, self._short_texts, strict=True)
        ]

    def texts(self) -> list[str]:
        """Return the head and the values as plain text."""
        unit = self.unit_text()
        head = f"{self.title()} ({unit})" if unit else self.title()
        return [escape_control(text) for text in (head, *(shorten(self._text(value), self.max_text) for value in self.values))]

    def width(self) -> int:
        """Return the width of the column as text."""
        return max(map(len, self.texts()))

    def padded(self) -> list[str]:
        """Return the head and the values as text of one width, numbers at the right."""
        width = self.width()
        return [text.rjust(width) if self.is_number else text.ljust(width) for text in self.texts()]

    def broken(self, width: int) -> list[list[str]]:
        """Return the lines of the head and of each value, which breaks between its words."""
        lines = [[text] for text in self.padded()]
        for number, value in enumerate(self.values, 1):
            whole = escape_control(shorten(self._text(value), MAX_BREAKABLE_TEXT))
            if self.is_text and " " in whole and len(whole) > self.max_text:
                lines[number] = wrap(whole, width, break_long_words=False, break_on_hyphens=False)  # of ids, which are copied
        return lines

    def _bars(self) -> list[str]:
        """Return a bar for each value, on one scale that includes 0."""
        numbers = self.numbers()
        known = [0.0, *(number for number in numbers if number is not None)]
        low, length = min(known), (max(known) - min(known)) or 1.0
        return ["" if number is None else _bar((min(number, 0) - low) / length, abs(number) / length) for number in numbers]

    def numbers(self) -> list[float | None]:
        """Return the values as numbers, durations in seconds."""
        values = self.values.dt.total_seconds() if self.is_duration else self.values
        return [None if pd.isna(value) else float(value) for value in values]

    def texts_with_unit(self) -> list[str]:
        """Return each value with its unit."""
        unit = "%" if self.unit == SHARE else self.unit
        return [f"{text} {unit}" if unit and text != self.missing else text for text in self._short_texts]

    def text(self) -> str:
        """Return the first value with its unit."""
        text = _shorten(self._text(self.values.iloc[0]))
        return f"{text} %" if self.unit == SHARE and text != printing.MISSING else text

    def _attributes(self) -> str:
        return ' class="number"' if self.is_number else f' class="{self._kind}"{LEFT}' if self.is_text else LEFT

    @cached_property
    def _short_texts(self) -> list[str]:
        """The values as cells show them."""
        return [_shorten(self._text(value)) for value in self.values]

    @cached_property
    def _kind(self) -> str:
        """The classes of texts. Parties and sentences are wider than others on a phone."""
        texts = self._short_texts
        if any(" " in text and len(text) > MAX_TEXT for text in texts):
            return "text sentence"
        return "text party" if any(map(SHORT_FINGERPRINT.search, texts)) else "text"

    def _text(self, value: Any) -> str:
        if pd.api.types.is_scalar(value) and pd.isna(value):
            return self.missing
        if self.is_duration:
            length = DURATION_UNITS.get(self.unit, SECOND)
            return printing.duration_number(value // (length // 1_000_000))
        if self.unit == SHARE:
            end = self.name.rpartition("_")[2]
            is_end = end in ("low", "high")
            return printing.interval_end(float(value), end) if is_end else printing.share_number(float(value))
        if self.is_flag:
            return "yes" if value else "no"
        if isinstance(value, pd.Timestamp):
            return value.strftime("%Y-%m-%d %H:%M")
        if isinstance(value, Decimal):
            return printing.amount(value, self.decimals)
        if self.is_number and self.name.endswith(ID_NAMES):
            return str(value)
        if self.is_number:
            return _with_minus(_number(value))
        return str(value)


def _bar(start: float, length: float) -> str:
    """Return a bar in a cell, from shares of the width of all bars.

    >>> _bar(0, 0.5)
    '<span class="cell-bar"><span style="margin-left:0.0%;width:50.0%"></span></span>'
    """
    return f'<span class="cell-bar"><span style="margin-left:{100 * start:.1f}%;width:{100 * length:.1f}%"></span></span>'


def _with_bar(bar: str, number: str) -> str:
    """Return a number to the right of its bar, and next to it even in a narrow column."""
    return f'<span class="with-bar">{bar}{number}</span>' if bar else number


def _duration_unit(values: pd.Series) -> str:
    """Return the unit of a column of durations, in which a typical value is at least 2."""
    usual = pd.Timedelta(values[values != pd.Timedelta(0)].abs().median())
    return next((unit for unit, length in DURATION_UNITS.items() if usual >= 2 * length), "s")


def _with_minus(number: str) -> str:
    """Return a number with the minus sign that shares and changes have."""
    return number.replace("-", "−")


def _number(value: float) -> str:
    """Return a number with at most 3 decimals, a large one with fewer.

    Only 0 is printed as 0.

    >>> _number(1200), _number(0.3), _number(2 / 3), _number(0.00002), _number(0.0), _number(1200.0001)
    ('1,200', '0.3', '0.667', '< 0.001', '0', '1,200')
    >>> _number(15.8749), _number(103.538), _number(-1200.54)
    ('15.87', '103.5', '-1,200.5')
    """
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) < LEAST_NUMBER:
        return f"< {LEAST_NUMBER}" if value > 0 else f"> -{LEAST_NUMBER}"
    decimals = max(1, MAX_DECIMALS + 1 - len(str(int(abs(value)))))
    return f"{value:,.{decimals}f}".rstrip("0").rstrip(".")


def _to_html(text: str) -> str:
    """Return the text of a cell as HTML that breaks where a reader expects it."""
    return UNBROKEN.sub(KEPT_TOGETHER, _allow_breaks(escape(text)))


def _allow_breaks(html: str) -> str:
    """Let names break at their separators, and between words where the style says so.

    >>> _allow_breaks("Wallet:Transfer_Accept")
    'Wallet:<wbr>Transfer_<wbr>Accept'
    >>> _allow_breaks("TransferOffer")
    'Transfer<wbr class="word">Offer'
    """
    if len(html) > MAX_UNBROKEN_TEXT:
        html = re.sub(r"(?<=[.:_…])(?<!\d\.)(?!(?<=…)[0-9a-f]{4}\b)(?=\w)", "<wbr>", html)  # but not within a number or an id
    return re.sub(r"(?<=_)(?=\w)|(?<=[a-z])(?=[A-Z])", '<wbr class="word">', html)


def _tooltip(value: Any, text: str) -> str:
    """Return the whole value of a shortened or rounded cell as its title attribute."""
    if isinstance(value, Decimal) and value != round(value, len(text.partition(".")[2])):
        return f' title="{_with_minus(f"{value:,f}".rstrip("0"))}"'
    return f' title="{escape(value)}"' if isinstance(value, str) and _shorten(value) != value else ""


def _shorten(text: str) -> str:
    """Return the text of a cell, which is longer if it can break."""
    return shorten(text, MAX_BREAKABLE_TEXT if " " in text else MAX_TEXT)


# -- texts --------------------------------------------------------------------------------------------------------------


def shorten(text: str, max_length: int = MAX_TEXT) -> str:
    """Return a text without the middle of its fingerprints.

    If it is still too long, a list of parties loses its last parties, a party loses the middle of its name, and any other
    text loses its fingerprints and then its middle. No fingerprint is cut twice.

    >>> shorten("alice::1220" + "ab" * 32), shorten("x" * 99, 20)
    ('alice::1220ab…abab', 'xxxxxxxxxx…xxxxxxxxx')
    >>> shorten("1220" + "ab" * 32)
    '1220abababab…abab'
    >>> shorten(", ".join(name + "::1220" + "ab" * 32 for name in ("alice", "bob", "carol")), 40)
    'alice::1220ab…abab, bob::1220ab…abab + 1'
    >>> shorten("a bill of 1 line, alice::1220" + "ab" * 32 + ": 1200 bytes", 30)
    'a bill of 1 lin…ce: 1200 bytes'
    """
    text = ID.sub(_short_id, shorten_fingerprints(text))
    if len(text) <= max_length:
        return text
    names = text.split(", ")
    if all(SHORT_NAME.fullmatch(name) for name in names):
        return _first_names(names, max_length)
    return without_middle(SHORT_FINGERPRINT.sub("", text), max_length)


def _short_id(match: re.Match[str]) -> str:
    return f"{match[0][: HEX_ENDS[0]]}…{match[0][-HEX_ENDS[1] :]}"


def _first_names(names: Sequence[str], max_length: int) -> str:
    """Return the first parties that fit, at least one, and the number of the others."""
    ends = accumulate(names, lambda text, name: f"{text}, {name}")
    texts = [f"{text} + {len(names) - number}" if number < len(names) else text for number, text in enumerate(ends, 1)]
    fitting = [text for text in texts if len(text) <= max_length]
    if fitting:
        return fitting[-1]
    rest = texts[0].removeprefix(names[0])
    return shorten_name(names[0], max_length - len(rest)) + rest


def keep_together(text: str) -> str:
    r"""Return a text in which no line ends between a number and its unit.

    >>> keep_together("12.5 % of 80, 776 kB, 5 bytes away").split(" ")
    ['12.5\xa0%', 'of', '80,', '776\xa0kB,', '5\xa0bytes', 'away']
    """
    return SPACE_OF_UNIT.sub("\N{NO-BREAK SPACE}", text)


def escape_unbroken(text: str) -> str:
    """Return a text as HTML.

    No line ends between a number and its unit, or within a time or a short id.

    >>> print(escape_unbroken("<b> on 2026-11-23"))
    &lt;b&gt; on <span class="unbroken">2026-11-23</span>
    """
    return keep_names(UNBROKEN.sub(KEPT_TOGETHER, escape(keep_together(text))))


def keep_names(html: str) -> str:
    """Return HTML in which no line ends within a name, but before its id.

    >>> print(keep_names('a-bank::<span class="id">'))
    <span class="unbroken">a-bank::</span><wbr><span class="id">
    """
    return NAME_BEFORE_ID.sub(rf"{KEPT_TOGETHER}<wbr>", html)


# -- units --------------------------------------------------------------------------------------------------------------


def units_of(frame: pd.DataFrame) -> Units:
    """Return the units of columns, by name and dtype.

    Results that have all columns of the table decide first. Other results can have a column of the same name in another unit:
    a difference can be in bytes or in weights.
    """
    columns = {(str(name), str(dtype)) for name, dtype in frame.dtypes.items()}
    own = [units for units in _units_of_results() if columns <= units.keys()]
    units = {**_units_of_all_results(), **_common_units(own)}
    codes = [*map(str, frame["currency_code"].dropna().unique())] if "currency_code" in frame else []
    if len(codes) != 1:
        return units
    return {column: unit if unit == OF_MARKET else unit.replace(CURRENCY, codes[0]) for column, unit in units.items()}


@cache
def _units_of_results() -> list[Units]:
    """Return the units of the columns of each figure in each grouping."""
    from ledgerframes.analysis import FIGURES  # imports all of them

    return [
        {(column.name, column.dtype): column.unit for column in figure.result_columns(by, has_periods=True)}
        for figure in FIGURES.values()
        for by in (None, *figure.by)
    ]


@cache
def _units_of_all_results() -> Units:
    return _common_units(_units_of_results())


def _common_units(results: Sequence[Units]) -> Units:
    """Return the units of the columns that have one unit in all results."""
    units: dict[tuple[str, str], set[str]] = {}
    for column, unit in (item for result in results for item in result.items()):
        units.setdefault(column, set()).add(unit)
    return {column: unit for column, (unit, *others) in units.items() if not others}
