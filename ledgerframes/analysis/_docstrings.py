"""Docstrings of the analyses, completed from their declarations and signatures.

The source of a docstring has what is special: summary, parameters that only this analysis has, errors, notes that start with
"Source:", and an example of the loaded `day`, `frames` or `net`.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledgerframes.analysis._figures import Figure, ResultColumn

WIDTH = 124
Entries = dict[str, str]  # of a section: its entries by their first line

PARAMETERS = {
    "frames : Frames": "With the tables of :func:`ledgerframes.load_events`.",
    "accept_survivorship : bool, optional": "Continue with committed updates, which have no rejected requests (default: False).",
    "min_requests : int, optional": (
        "Least number of requests for a percentile (default: as many as it needs to be firm, 6 for a median, 36 for p90, 72 for "
        "p95 and 368 for p99). The column ``few_requests_for`` marks those that rest on fewer than that."
    ),
    "labels : DataFrame, optional": 'From :func:`ledgerframes.labels.read`, for ``by="label"``.',
    "completions : DataFrame, optional": (
        'From :func:`ledgerframes.load_completions`, for ``by="user"``. The result can have those of several participants.'
    ),
    "eras : DataFrame, optional": 'From :func:`ledgerframes.eras.table`, for ``by="era"`` (default: the main network\'s).',
    "featured : DataFrame, optional": (
        "Featured rights: ``party``, ``weight`` (missing counts as 1), ``from`` and ``until`` [UTC, missing if alive] "
        "(default: from the history, which then starts with the network)."
    ),
    "sv_participants : DataFrame, optional": (
        "Participants of super validators: ``participant`` without a prefix, ``from`` and ``until`` (default: from the history). "
        "While there is none, the state counts as unknown."
    ),
    "base : Frames or DataFrame, optional": (
        "Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts`, from which the tables "
        "above follow as far as they are not passed (default: the history then starts with the network)."
    ),
    "rounds : DataFrame, optional": (
        "Mining rounds: ``round_number``, ``opens_at``, ``from`` (or ``created_at``) and ``until`` (or ``archived_at``) "
        "(default: from the history)."
    ),
}
SHARED = {head.partition(" : ")[0]: (head, text) for head, text in PARAMETERS.items()}
BY = "Groups of the rows, by the columns below (default: {default})."
PERIOD = (
    'Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days, '
    "Mondays or months (default: {default})."
)
ROUND_OR_PERIOD = '``"round"``, or a period such as ``"1h"``, ``"1d"`` or ``"1mo"`` (default: {default}).'
WRONG_GROUPS = "If `by` is not a grouping of this figure, `every` is not a period, or there are more than a million of them."
WRONG_FRAMES = "If `frames` is not Frames."
COMMITTED = "If the frames hold committed updates, which have no rejected requests."
EXAMPLE = {
    "net": '>>> net = lf.connect("sandbox", events=400, days=1)',
    "day": '>>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")',
    "frames": '>>> frames = lf.load_events(net, since="0001-01-01")',
}
SPECIAL: dict[str, tuple[Entries, Entries]] = {}  # parameters and errors of each figure that its declaration does not tell


def completed(figure: Figure, analysis: Callable[..., object]) -> str:
    """Return the docstring of an analysis with what its declaration and signature tell."""
    sections = _sections(inspect.cleandoc(analysis.__doc__ or ""))
    parameters, errors = (_entries(sections.get(name, "")) for name in ("Parameters", "Raises"))
    if figure.like:
        parameters, errors = ({**like, **own} for like, own in zip(SPECIAL[figure.like], (parameters, errors), strict=True))
    SPECIAL[figure.name] = parameters, errors
    signature = inspect.signature(analysis)
    texts = {
        "Parameters": "\n".join(_parameters(figure, signature, parameters)),
        "Returns": f"DataFrame\n{_indented(figure.rows)}\n\n    Columns:\n\n{_listing(figure)}",
        "Raises": "\n".join([*_common_errors(figure, signature, errors), *errors.values()]),
        "Notes": sections.get("Notes", ""),
        "Examples": complete_example(sections["Examples"]),
    }
    return "\n\n".join([sections[""], *(f"{name}\n{'-' * len(name)}\n{text}" for name, text in texts.items() if text)])


def _sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by heading, that of the summary is empty."""
    sections: dict[str, str] = {}
    name = ""
    for paragraph in doc.split("\n\n"):
        heading, _, rest = paragraph.partition("\n")
        if rest.startswith("---"):
            name, paragraph = heading, rest.partition("\n")[2]
        elif paragraph.startswith(("Source:", ">>>")):
            name = "Notes" if paragraph.startswith("Source:") else "Examples"
        sections[name] = f"{sections[name]}\n\n{paragraph}" if name in sections else paragraph
    return sections


def _entries(section: str) -> Entries:
    """Return the entries of a section, parameters by their names, errors by their text."""
    entries = re.split(r"\n(?=\S)", section) if section else []
    return {entry.partition(" : ")[0]: entry for entry in entries}


def _parameters(figure: Figure, signature: inspect.Signature, special: Entries) -> Iterator[str]:
    """Yield the entries of all parameters in order."""
    own = {name: (names, entry) for names, entry in special.items() for name in names.split(", ")}
    written: set[str] = set()
    for name, parameter in signature.parameters.items():
        default = parameter.default
        if name in own:
            names, entry = own[name]
            if names not in written:
                yield entry
            written.add(names)
        elif name == "by":
            choices = ", ".join(["None", *(f'"{each}"' for each in figure.by)])
            yield f"by : {{{choices}}}, optional\n{_indented(BY.format(default=default))}"
        elif name == "every":
            text = ROUND_OR_PERIOD if figure.has_rounds else PERIOD
            yield f"every : str, optional\n{_indented(text.format(default=default))}"
        else:
            head, text = SHARED[name]
            yield f"{head}\n{_indented(text)}"


def _common_errors(figure: Figure, signature: inspect.Signature, special: Entries) -> Iterator[str]:
    if figure.by or figure.has_periods:
        yield f"UsageError\n{_indented(WRONG_GROUPS)}"
    elif "frames" in signature.parameters:
        yield f"UsageError\n{_indented(WRONG_FRAMES)}"
    if "accept_survivorship" in signature.parameters and not any(entry.startswith("CoverageError") for entry in special):
        yield f"CoverageError\n{_indented(COMMITTED)}"


def _listing(figure: Figure) -> str:
    """Return one line per column of the result, with the argument that adds it."""
    return "\n".join(_line(column, condition) for column, condition in figure.columns_with_conditions())


def _line(column: ResultColumn, condition: str) -> str:
    kind = ", ".join(part for part in (column.dtype, column.unit) if part)
    return f"    - ``{column.name}`` ({kind}): {column.description}{condition}"


def complete_example(code: str) -> str:
    """Return an example with the lines that load what it uses."""
    if "import ledgerframes" in code:
        return code
    needed = [name for name in ("day", "frames") if re.search(rf"\b{name}\b", code) and not re.search(rf">>> {name} = ", code)]
    needed = ["net", *needed] if needed or re.search(r"\bnet\b", code) else []
    return "\n".join([">>> import ledgerframes as lf", *(EXAMPLE[name] for name in needed), code])


def _indented(text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
    )
