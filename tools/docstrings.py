"""Write the parts of docstrings that declarations and signatures tell, or say with ``--check`` which are not current.

Of an analysis: parameters that several analyses share, the choices of ``by=``, what a row is, the columns, errors that all
have, and what its picture has. Of a loader: parameters that all loaders share. Of an operation: its route and versions. Of a
picture: the lines that load its example. The rest is written by hand and stays. A new docstring can have its example and the
paragraph that starts with "Source:" without a heading.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import ledgerframes as lf
from ledgerframes.analysis import FIGURES, Figure, ResultColumn
from ledgerframes.analysis.figures import PERIOD, ROUND, TAIL
from ledgerframes.api.history import History
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.wallet import Wallet
from ledgerframes.plots import PICTURES

ROOT = Path(__file__).parents[1]
WIDTH = 124
SECTIONS = ("", "Parameters", "Returns", "Raises", "Warns", "Notes", "Examples")
Entries = dict[str, str]  # of a section: parameters by their names, errors by their whole text

# -- texts that several docstrings share --------------------------------------------------------------------------------

BY = "Grouping of the rows, with its columns below (default: {default})."
PERIOD_LENGTH = (
    'Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days, '
    "Mondays or months (default: {default})."
)
ROUND_OR_PERIOD = '``"round"``, or a period such as ``"1h"``, ``"1d"`` or ``"1mo"`` (default: {default}).'
BASE = (
    "Contracts active at or before the start of the frames, from {source} (default: none, so the history must start with the "
    "network)."
)
# What figures need of them, by the beginning of their names.
BASE_SOURCES = {
    ("economy.", "reconcile.contracts", "reconcile.supply"): (
        ':func:`ledgerframes.load_bulk` with ``kind="acs"``, which loads all of them'
    ),
    ("activity.", "reconcile.rewards"): (
        ":func:`ledgerframes.load_contracts`. The tables above that are not passed are computed from them"
    ),
    ("grant.", "state."): ":func:`ledgerframes.load_contracts`",
}
OF_ANALYSES = {
    "frames : Frames": "With the tables of :func:`ledgerframes.load_events`.",  # unless an analysis says more
    "accept_survivorship : bool, optional": "Continue with committed updates, which have no rejected requests (default: False).",
    "min_requests : int, optional": (
        "Smallest number of requests for which a percentile is shown (default: as many as support it, which are 6 for a median, "
        "36 for p90, 72 for p95 and 368 for p99). ``few_requests_for`` names the percentiles that rest on fewer than these."
    ),
    "labels : DataFrame, optional": 'From :func:`ledgerframes.labels.read`, for ``by="label"``.',
    "completions : DataFrame, optional": (
        'From :func:`ledgerframes.load_completions`, for ``by="user"``. It can hold the completions of several participants.'
    ),
    "eras : DataFrame, optional": 'From :func:`ledgerframes.eras.table`, for ``by="era"`` (default: the main network\'s).',
    "featured : DataFrame, optional": (
        "Featured rights: ``party``, ``weight`` (missing counts as 1), ``from`` and ``until`` [UTC, missing if alive] "
        "(default: from the history, which must start with the network)."
    ),
    "sv_participants : DataFrame, optional": (
        "Participants of super validators: ``participant`` without a prefix, ``from`` and ``until`` (default: from the "
        "history). The state is unknown at times without any."
    ),
    "rounds : DataFrame, optional": (
        "Mining rounds: ``round_number``, ``opens_at``, ``from`` (or ``created_at``) and ``until`` (or ``archived_at``) "
        "(default: from the history)."
    ),
}
OF_LOADERS = {
    'on_bad_item : {"raise", "quarantine"}': (
        "What to do with an item that cannot be decoded. ``quarantine`` writes its bytes to a file below the store, logs the "
        "path, and returns the other items (docs/facts.md#unknown-kinds)."
    ),
    "progress : bool, optional": "Whether to show a progress bar (default: only in terminals and notebooks).",
}
# Functions that describe a shared parameter in their own words, because it means something else there.
OWN = {
    "every": {"activity.concentration", "activity.what_if"},
    "labels": {"activity.concentration", "activity.lorenz", "grant.evidence", "grant.evidence_totals"},
    "completions": {"reconcile.paid_traffic_totals"},
    "eras": {"cost.compare"},
    "min_requests": {"cost.compare"},
    "rounds": {"activity.rewards"},
    "on_bad_item": {"load_bulk", "load_events", "load_updates"},
}
WRONG_GROUPS = "If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million."
WRONG_FRAMES = "If `frames` is not Frames."
COMMITTED = "If the frames hold committed updates, which have no rejected requests."
PICTURE = "Picture, by :func:`ledgerframes.plot`:"
SHARED_STARTS = ("If `by` is not a grouping of", WRONG_FRAMES, "If the frames hold committed")
EXAMPLE = {
    "net": '>>> net = lf.connect("sandbox", events=400, days=1)',
    "day": '>>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")',
    "frames": '>>> frames = lf.load_events(net, since="0001-01-01")',
}


class UndescribedError(Exception):
    """A part of a docstring that somebody has to write."""


# -- docstrings ---------------------------------------------------------------------------------------------------------


def functions() -> Iterator[tuple[str, Callable[..., Any], Callable[[], str]]]:
    """Yield the name of each analysis, picture, loader and operation, the function, and what returns its current docstring."""
    for name, figure in FIGURES.items():
        analysis = inspect.unwrap(attrgetter(name)(lf))
        yield name, analysis, partial(of_analysis, figure, analysis)
    for name, picture in PICTURES.items():
        if name not in FIGURES or not FIGURES[name].drawn:
            drawing = inspect.unwrap(picture)
            yield f"the picture {name}", drawing, partial(of_picture, drawing)
    for name in (each for each in dir(lf) if each.startswith("load_")):
        loader = inspect.unwrap(getattr(lf, name))
        yield name, loader, partial(of_loader, name, loader)
    for method in declared_methods():
        yield method.__qualname__, inspect.unwrap(method), partial(of_operation, method)


def declared_methods() -> Iterator[Callable[..., Any]]:
    """Yield the public methods that declare an operation, of each client and its bases."""
    clients = dict.fromkeys(base for client in (History, Ledger, Wallet) for base in client.__mro__)
    methods = (method for client in clients for name, method in vars(client).items() if not name.startswith("_"))
    yield from (method for method in methods if hasattr(method, "operation"))


def of_analysis(figure: Figure, analysis: Callable[..., Any]) -> str:
    """Return the docstring of an analysis with what its declaration and signature tell."""
    sections = sections_of(analysis)
    own, parameters = entries(sections["Parameters"]), inspect.signature(analysis).parameters
    described = [entry_of(figure, each, own) for each in parameters.values()]
    sections["Parameters"] = "\n".join(dict.fromkeys(described))
    sections["Returns"] = f"DataFrame\n{indented(figure.rows)}\n\n    Columns:\n\n{listing(figure)}"
    sections["Raises"] = "\n".join(errors_of(figure, [*parameters], own_errors(sections["Raises"])))
    sections["Notes"] = with_picture(figure, sections["Notes"])
    return joined(sections)


def with_picture(figure: Figure, notes: str) -> str:
    """Return the notes of an analysis with what its picture has."""
    others = [each for each in notes.split("\n\n") if each and not each.startswith(PICTURE)]
    if figure.drawn:
        described = f"One bar of ``{figure.drawn}`` per row, or one line per group over time."
    elif figure.name in PICTURES:
        described = sections_of(PICTURES[figure.name])[""].partition("\n\n")[2]
    else:
        return "\n\n".join(others)
    text = " ".join(f"{PICTURE} {described}".split())
    return "\n\n".join([*others, textwrap.fill(text, WIDTH - 4, break_on_hyphens=False, break_long_words=False)])


def of_picture(drawing: Callable[..., Any]) -> str:
    """Return the docstring of a picture with the lines that load its example."""
    return joined(sections_of(drawing))


def of_loader(name: str, loader: Callable[..., Any]) -> str:
    """Return the docstring of a loader with the parameters that all loaders share."""
    sections = sections_of(loader)
    parameters = inspect.signature(loader).parameters
    own = entries(sections["Parameters"])
    for head, text in OF_LOADERS.items():
        shared = head.partition(" : ")[0]
        if shared in parameters and name not in OWN.get(shared, ()):
            own[shared] = entry(head, text)
    sections["Parameters"] = "\n".join(dict.fromkeys(described_by(each, own) for each in parameters))
    return joined(sections)


def of_operation(method: Callable[..., Any]) -> str:
    """Return the docstring of an operation's method with its route and versions."""
    sections, declared = sections_of(method), method.operation  # type: ignore[attr-defined]
    others = [each for each in sections["Notes"].split("\n\n") if each and not each.startswith(f"``{declared.route}``")]
    facts = [f"``{declared.route}``"]
    facts += [f"since {declared.since}"] if declared.since else []
    facts += [f"removed in {declared.until}"] if declared.until else []
    facts += ["deprecated"] if declared.deprecated else []
    facts += ["internal to the network, so it may change or disappear"] if declared.internal else []
    text = textwrap.fill(f"{', '.join(facts)}.", WIDTH - 8, break_on_hyphens=False, break_long_words=False)
    sections["Notes"] = "\n\n".join([*others, text])
    return joined(sections)


def sections_of(function: Callable[..., Any]) -> dict[str, str]:
    """Return the sections of a docstring by heading, that of the summary is empty."""
    if not function.__doc__:
        raise UndescribedError("a summary")
    sections, name = dict.fromkeys(SECTIONS, ""), ""
    for paragraph in inspect.cleandoc(function.__doc__).split("\n\n"):
        heading, _, rest = paragraph.partition("\n")
        if rest.startswith("---"):
            if heading not in SECTIONS:
                raise UndescribedError(f"one of the sections {', '.join(SECTIONS[1:])} instead of {heading}")
            name, paragraph = heading, rest.partition("\n")[2]
        elif paragraph.startswith(("Source:", ">>>")):
            name = "Notes" if paragraph.startswith("Source:") else "Examples"
        sections[name] = f"{sections[name]}\n\n{paragraph}" if sections[name] else paragraph
    return sections


def joined(sections: dict[str, str]) -> str:
    """Return a docstring of sections in their order."""
    sections["Examples"] = with_loads(sections["Examples"])
    summary, *others = [(name, sections[name]) for name in SECTIONS if sections[name]]
    return "\n\n".join([summary[1], *(f"{name}\n{'-' * len(name)}\n{text}" for name, text in others)])


def with_loads(example: str) -> str:
    """Return an example with the lines that load what it uses."""
    if "import ledgerframes" in example or not example:
        return example
    needed = [name for name in ("day", "frames") if re.search(rf"\b{name}\b", example) and f">>> {name} = " not in example]
    needed = ["net", *needed] if needed or re.search(r"\bnet\b", example) else []
    return "\n".join([">>> import ledgerframes as lf", *(EXAMPLE[name] for name in needed), example])


# -- parameters ---------------------------------------------------------------------------------------------------------


def entries(section: str) -> Entries:
    """Return the entries of a section by their first lines without types, which are the names of parameters."""
    each_entry = re.split(r"\n(?=\S)", section) if section else []
    return {each.partition(" : ")[0]: each for each in each_entry}


def entry_of(figure: Figure, parameter: inspect.Parameter, own: Entries) -> str:
    """Return the entry of a parameter of an analysis: the shared one, or what stands there."""
    name, default = parameter.name, str(parameter.default)
    if name == "by":
        none = [] if figure.is_grouped or parameter.default is None else ["None"]  # which "optional" says, too
        choices = ", ".join([*none, *(f'"{each}"' for each in figure.by)])
        head, own_text = f"by : {{{choices}}}", own.get(name, "").partition("\n")[2]
        if own.get(name, "").startswith(head):
            return own[name]
        return f"{head}, optional\n{own_text or indented(BY.format(default=default))}"
    if figure.name in OWN.get(name, ()) or (name == "frames" and name in own):
        return described_by(name, own)
    if name == "every":
        text = ROUND_OR_PERIOD if figure.has_rounds else PERIOD_LENGTH
        return entry("every : str, optional", text.format(default=default))
    if name == "base":
        source = next(text for names, text in BASE_SOURCES.items() if figure.name.startswith(names))
        return entry("base : Frames or DataFrame, optional", BASE.format(source=source))
    for head, text in OF_ANALYSES.items():
        if head.startswith(f"{name} : "):
            return entry(head, text)
    return described_by(name, own)


def described_by(name: str, own: Entries) -> str:
    """Return the entry that describes a parameter, alone or together with others."""
    for names, each in own.items():
        if name in names.split(", "):
            return each
    raise UndescribedError(f"the parameter {name}")


def entry(head: str, text: str) -> str:
    """Return the entry of a parameter, with its name and type as the head, or of an error."""
    return f"{head}\n{indented(text)}"


# -- columns and errors -------------------------------------------------------------------------------------------------


def listing(figure: Figure) -> str:
    """Return one line per column of the result, with the arguments that add it."""
    arguments: dict[tuple[str, str, str], list[str]] = {}
    for column, argument in columns_of(figure):
        kind = column.dtype if column.unit in column.dtype else f"{column.dtype}, {column.unit}"
        arguments.setdefault((column.name, kind, column.description), []).append(argument)
    lines = []
    for (name, kind, text), names in arguments.items():
        condition = f", with {' or '.join(names)}" if names[0] else ""
        lines.append(indented(f"- ``{name}`` ({kind}{condition}): {text}", "  "))
    names = ", ".join(f"``{column.name}``" for column in TAIL)
    return "\n".join([*lines, indented(f"- {names}: docs/times-and-costs.md#columns-of-every-result", "  ")])


def columns_of(figure: Figure) -> Iterator[tuple[ResultColumn, str]]:
    """Yield the columns of a figure, each with the argument that adds it, without those that every result has."""
    yield from ((column, "every=") for column in PERIOD if figure.has_periods)
    yield from ((column, 'every="round"') for column in ROUND if figure.has_rounds)
    for by, grouping in figure.by.items():
        yield from ((column, f'by="{by}"') for column in (*grouping.keys, *grouping.extra))
    yield from ((column, "") for column in (*figure.columns, *figure.tail) if column.name not in {each.name for each in TAIL})


def errors_of(figure: Figure, parameters: list[str], own: list[str]) -> Iterator[str]:
    """Yield the errors of an analysis, first those that others raise, too."""
    if figure.by or figure.has_periods:
        yield entry("UsageError", WRONG_GROUPS)
    elif "frames" in parameters:
        yield entry("UsageError", WRONG_FRAMES)
    if "accept_survivorship" in parameters and not any(each.startswith("CoverageError") for each in own):
        yield entry("CoverageError", COMMITTED)
    yield from own


def own_errors(section: str) -> list[str]:
    """Return the entries of errors that start like none of the shared ones."""
    return [each for each in entries(section).values() if not each.partition("\n")[2].strip().startswith(SHARED_STARTS)]


def indented(text: str, more: str = "") -> str:
    """Return a text in lines, indented below its entry."""
    return textwrap.fill(
        text, WIDTH, initial_indent="    ", subsequent_indent=f"    {more}", break_on_hyphens=False, break_long_words=False
    )


# -- source files -------------------------------------------------------------------------------------------------------


def write(function: Callable[..., Any], docstring: str) -> None:
    """Write the docstring of a function into its source file."""
    path = Path(function.__code__.co_filename)
    source = path.read_text(encoding="utf-8")
    node: Any = ast.parse(source)
    for name in function.__qualname__.split("."):
        node = next(each for each in node.body if getattr(each, "name", "") == name)
    statement, lines = node.body[0], source.split("\n")
    quotes = 'r"""' if "\\" in docstring else '"""'
    text = textwrap.indent(f'{quotes}{docstring}\n"""', " " * statement.col_offset)
    lines[statement.lineno - 1 : statement.end_lineno] = text.split("\n")
    path.write_text("\n".join(lines), encoding="utf-8")


def main() -> int:
    """Write the docstrings, or with --check say which are not current."""
    stale, undescribed = [], []
    for name, function, current in functions():
        try:
            docstring = current()
        except UndescribedError as error:
            undescribed.append(f"of {name} {error}")
            continue
        if inspect.cleandoc(function.__doc__ or "") != docstring:
            stale.append(name)
            if "--check" not in sys.argv:
                write(function, docstring)
    if undescribed:
        print(f"Write in the docstring {', '.join(undescribed)}.", file=sys.stderr)
    if stale and "--check" in sys.argv:
        print(f"Docstrings that are not current: {', '.join(stale)}. Run: python tools/docstrings.py", file=sys.stderr)
    elif stale:
        print(f"Written: {', '.join(stale)}.")
    return 1 if undescribed or (stale and "--check" in sys.argv) else 0


if __name__ == "__main__":
    sys.exit(main())
