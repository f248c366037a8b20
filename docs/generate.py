"""Write the pages that are made from code, which are not in the repository. The site is built from them, too."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from gallery import gallery_page
from questions import notebooks_page, questions_page
from reference import reference_pages

HERE = Path(__file__).parent
PACKAGE = "ledgerframes"
HELP_WIDTH = "100"
GENERATED = "<!-- Written by docs/generate.py; do not edit. -->"


def pages() -> dict[str, str]:
    """Every generated page: its file name and its text."""
    return {
        "tables.md": tables_page(),
        "cli.md": cli_page(),
        "operations.md": operations_page(),
        "questions.md": f"{GENERATED}\n\n{questions_page()}",
        "gallery.md": f"{GENERATED}\n\n{gallery_page()}",
        "notebooks.md": f"{GENERATED}\n\n{notebooks_page()}",
        "settings.md": settings_page(),
        "run-json.md": run_json_page(),
        **reference_pages(),
    }


def grid(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [titles, ("---",) * len(titles), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines)


# -- tables -------------------------------------------------------------------------------------------------------

TABLES_INTRODUCTION = """\
# Tables

Each table is declared once, in `ledgerframes/datasets/`. This page is made from that declaration, as are the Parquet schema,
the dtypes, the empty frame and `ledgerframes tables`.

- The same fact has the same name and the same type in every table.
- Every table of the history carries `migration_id`, `record_time` and `update_id`. Join on `update_id`.
- A column that *may be missing* has a missing value where the service gives none. Missing is never 0.
- No column has the dtype `object`, and no integer is ever turned into a float.
- `extra` keeps what the service sent and this version does not know, as JSON text.
- *Reference* links the [fact about the APIs](facts.md) or the part of the [architecture](architecture.md) that a column rests on.
  `ledgerframes` stands for a value that this library adds.
"""


def tables_page() -> str:
    """The table dictionary."""
    from ledgerframes.datasets import TABLES

    rows = [(f"[`{table.name}`](#{table.name})", table.row_description, _names(table.key)) for table in TABLES.values()]
    parts = [GENERATED, TABLES_INTRODUCTION.rstrip(), grid(("table", "one row per", "key"), rows)]
    for table in TABLES.values():
        head = (
            f"## {table.name}\n\nOne row per {table.row_description}. Key: {_names(table.key)}. Sorted by {_names(table.sort)}."
        )
        columns = [
            (
                f"`{column.name}`",
                _meaning(column),
                column.unit,
                f"`{column.pandas_dtype}`",
                "yes" if column.nullable else "",
                linked(column.reference),
            )
            for column in table.columns
        ]
        parts += [head, grid(("column", "description", "unit", "dtype", "may be missing", "reference"), columns)]
    return "\n\n".join(parts) + "\n"


def _meaning(column: Any) -> str:
    return f"{column.description} One of {_names(column.values)}." if column.values else column.description


def linked(text: str) -> str:
    """Return a text with its citations, such as ``docs/facts.md#versions``, as links between the pages."""
    return re.sub(r"(?<!\]\()\bdocs/([\w-]+\.md)#([\w-]+)", r"[\2](\1#\2)", text)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# -- command line -------------------------------------------------------------------------------------------------

CLI_INTRODUCTION = """\
# Command line

Each command calls a library function and prints its result. This page shows the output of `--help`.

- The options `--profile`, `--store`, `--offline`, `--json`, `--quiet` and `--verbose` are valid before and after the command.
  After the command they take precedence.
- `--json` writes one JSON document to stdout and nothing else. Progress and log lines go to stderr.
- An error is one line on stderr with the next step. With `--json`, stdout has a document with `error` (the class), `message`,
  `exit_code` and the attributes of the error, such as `status` and `endpoint`.
- Times are UTC. Windows are half-open: `--since` is inclusive, `--until` is exclusive.
- Durations are a number and a unit: `90m`, `36h`, `2d` or `1w`.
- Control characters from a service are escaped and never reach the terminal.
- `ledgerframes --install-completion` installs completion for your shell, and `--show-completion` prints the script.
- `python -m ledgerframes` is the same command.
- `LEDGERFRAMES_TRACEBACK=1` shows the traceback of an error.
"""


def cli_page() -> str:
    """The reference of the command line."""
    from ledgerframes.cli.exit_codes import EXIT_CODES

    codes = grid(("exit code", "meaning"), [(str(code), meaning) for code, meaning in EXIT_CODES.items()])
    parts = [GENERATED, CLI_INTRODUCTION.rstrip(), f"## Exit codes\n\n{codes}"]
    for command in commands():
        parts.append(f"## {' '.join([PACKAGE, *command])}\n\n```text\n{help_text(command)}\n```")
    return "\n\n".join(parts) + "\n"


def commands() -> Iterator[tuple[str, ...]]:
    """Every command, the root first, as the words that call it."""
    import typer

    from ledgerframes.cli.app import COMMANDS, app

    yield ()
    root: Any = typer.main.get_command(app)
    for name in COMMANDS:
        below = getattr(root.commands[name], "commands", None)
        yield from ((name, each) for each in below) if below else ((name,),)


def help_text(command: tuple[str, ...]) -> str:
    """What ``--help`` shows for a command, at a fixed width."""
    from ledgerframes.cli import main

    before, shown = os.environ.get("COLUMNS"), io.StringIO()
    os.environ["COLUMNS"] = HELP_WIDTH
    try:
        with contextlib.redirect_stdout(shown):
            main([*command, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return "\n".join(line.rstrip() for line in shown.getvalue().strip().splitlines())


# -- sentences ----------------------------------------------------------------------------------------------------


def first_sentence(value: Any) -> str:
    """The first sentence of a docstring of its own."""
    doc = inspect.cleandoc(getattr(value, "__doc__", None) or "")
    if not (inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value)):
        return ""
    paragraph = " ".join(doc.split("\n\n")[0].split())
    # Roles such as :class:`Frames` are for tools; here the name alone is enough.
    paragraph = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", paragraph).replace("``", "`")
    return linked(re.split(r"(?<=[.])\s", paragraph)[0])


# -- operations ---------------------------------------------------------------------------------------------------

OPERATIONS_INTRODUCTION = """\
# Operations

Every operation that `net.ledger`, `net.wallet` and `net.history` have as a method, and the test that calls it on a whole network.
[The facts](facts.md#history-operations) name a few that have none. `lf.operations()` is this table as a DataFrame.
`{coin}` stands for the network's own word.

The sandbox serves the operations below the first heading. The [published API descriptions](facts.md#ledger-operations) have those
below the second heading as well; the sandbox does not, and the tests check the request.
"""
PROOF = "tests/acceptance/test_every_operation.py"
SENT = "tests/api/test_ledger.py"


def operations_page() -> str:
    """Return the page of operations, each with its method and its test."""
    from ledgerframes.api.operations import OPERATIONS

    tests = (HERE.parent / PROOF).read_text(encoding="utf-8")
    specified, only_sent = [], []
    for each in OPERATIONS:
        method = f"`net.{each.api}.{each.name}`"
        is_specified = f'"{each.api}.{each.name}": lambda' in tests
        test = f"`{PROOF}::test_operation[{each.api}.{each.name}]`" if is_specified else f"`{SENT}`"
        notes = "; ".join(
            part
            for part in (
                each.since and f"since {each.since}",
                each.changed and f"changed {each.changed}",
                each.until and f"removed in {each.until}",
                each.deprecated and f"{'use' if each.until else 'deprecated'}: {each.deprecated}",
                each.internal and "internal, may change or go",
            )
            if part
        )
        row = (each.api, f"{each.method} `{each.path}`", method, each.purpose, notes, test)
        (specified if is_specified else only_sent).append(row)
    titles = ("API", "operation", "method", "purpose", "notes", "test")
    parts = [GENERATED, OPERATIONS_INTRODUCTION.rstrip(), "## Served by the sandbox", grid(titles, specified)]
    parts += ["## Not served by the sandbox", grid(titles, only_sent)]
    return "\n\n".join(parts) + "\n"


# -- settings -----------------------------------------------------------------------------------------------------

SETTINGS_INTRODUCTION = """\
# Settings

Each can be set as a keyword, in the environment or in a profile ([precedence](configuration.md#precedence)). Settings of the
groups `limits`, `engine` and `sandbox` may be written in the section itself, or in a section such as `[mainnet.limits]`. `seed`,
`events` and `days` shape the sandbox and nothing else.
"""


def settings_page() -> str:
    """Return the page of settings."""
    return f"{GENERATED}\n\n{SETTINGS_INTRODUCTION}\n{settings_grid()}\n"


def settings_grid() -> str:
    """Every setting with its environment variable, default and meaning, as the models declare them."""
    from ledgerframes.settings import ENVIRONMENT, GROUPS, Settings

    rows = []
    for model in (Settings, *GROUPS.values()):
        meanings = attribute_meanings(model)
        for name, field in model.model_fields.items():
            if name not in GROUPS:
                default = "" if field.is_required() else _default(name, field)
                meaning = linked(meanings.get(name) or first_sentence(field.annotation))
                rows.append((f"`{name}`", f"`{ENVIRONMENT}{name.upper()}`", default, meaning))
    return grid(("setting", "environment variable", "default", "meaning"), rows)


def _default(name: str, field: Any) -> str:
    if name == "store":
        return "`store` in the user's data directory"
    if name == "vocabulary":
        return "`neutral`"
    return f"`{field.default}`" if field.default not in (None, "", ()) else ""


def attribute_meanings(model: type) -> dict[str, str]:
    """The Attributes section of a numpydoc docstring, by name."""
    section = inspect.cleandoc(model.__doc__ or "").partition("Attributes\n----------\n")[2]
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        for name in names if line.startswith(" ") else ():
            meanings[name] = f"{meanings.get(name, '')} {line.strip()}".strip()
    return meanings


# -- run.json -----------------------------------------------------------------------------------------------------

RUN_JSON_INTRODUCTION = """\
# run.json

Each [report](reports.md) writes `run.json` next to its page. A program can read a figure of the latest run:

```console
jq .headline.rejection_rate reports/latest/verdicts/run.json
```

- The first table has all members. Those that hold objects link to a table of them.
- Times are in UTC, such as `2026-11-09T00:00:00Z`. Shares are from 0 to 1. Digests are SHA-256.
- Runs of some earlier versions do not have the members that *may be missing*.
"""
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", list: "array", dict: "object"}


def run_json_page() -> str:
    """Return the page of the members of ``run.json``, as their types declare them."""
    from ledgerframes.report import HEADLINE
    from ledgerframes.report.run_content import RunContent

    figures = grid(("figure", "description"), [(f"`{name}`", meaning) for name, meaning in HEADLINE.items()])
    parts = [GENERATED, RUN_JSON_INTRODUCTION.rstrip(), member_grid(RunContent)]
    parts += [f"## {path}\n\n{first_sentence(kind)}\n\n{member_grid(kind, path)}" for path, kind in nested_types(RunContent)]
    return "\n\n".join([*parts, f"## headline\n\n{figures}"]) + "\n"


def member_grid(kind: type, path: str = "") -> str:
    """Return the members of a typed dictionary with the types and meanings that it declares."""
    sections = {"headline", *(nested for nested, _ in nested_types(kind, path))}
    hints, rows = get_type_hints(kind, include_extras=True), []
    for name, meaning in attribute_meanings(kind).items():
        below = f"{path}.{name}" if path else name
        member = f"[`{name}`](#{below.replace('.', '')})" if below in sections else f"`{name}`"
        missing = "yes" if get_origin(hints[name]) is NotRequired else ""
        text = meaning.replace("``", "`").replace(". None", ". Null").replace("None", "null")
        rows.append((member, json_type(hints[name]), missing, text))
    return grid(("member", "type", "may be missing", "description"), rows)


def nested_types(kind: type, path: str = "") -> Iterator[tuple[str, type]]:
    """Each typed dictionary below another, with the names of the members that lead to it."""
    hints = get_type_hints(kind)
    for name in attribute_meanings(kind):
        below = f"{path}.{name}" if path else name
        for nested in filter(is_typeddict, parts_of(hints[name])):
            yield below, nested
            yield from nested_types(nested, below)


def parts_of(hint: Any) -> Iterator[Any]:
    """A type, and those that it has as arguments."""
    yield hint
    for part in get_args(hint):
        yield from parts_of(part)


def json_type(hint: Any) -> str:
    """Return the name of a type in JSON."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is NotRequired:
        return json_type(*arguments)
    if origin is list:
        return f"array of {json_type(*arguments).replace(' or ', 's or ')}s"
    if origin in (None, dict):
        return JSON_TYPES[dict if is_typeddict(hint) else origin or hint]
    return " or ".join(map(json_type, arguments))


def write(directory: Path = HERE) -> None:
    """Write the pages into a directory, and remove those of earlier names. Several processes may do so at once."""
    written = pages()
    for path in (directory / "reference").glob("*.md"):
        if f"reference/{path.name}" not in written:
            path.unlink(missing_ok=True)
    for name, text in written.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            new = path.with_name(f"{path.name}.{os.getpid()}")
            new.write_text(text, encoding="utf-8")
            new.replace(path)


if __name__ == "__main__":
    write()
