"""The commands put together, and the one place where errors become exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from ledgerframes.cli import doctor, export, lab, output, report, sandbox, sql, store, sync_bulk, tables
from ledgerframes.cli.failures import DONE, FAILED, MEANINGS, STOPPED, USAGE, as_document, not_installed
from ledgerframes.cli.options import Call, command
from ledgerframes.errors import LedgerframesError
from ledgerframes.version import installed_version

TRACEBACK = "LEDGERFRAMES_TRACEBACK"

# A paragraph that begins with \b keeps its lines.
EPILOG = "\b\nExit codes:\n" + "\n".join(f"{code:>4}  {meaning}" for code, meaning in MEANINGS.items())
ORDER = ("sync", "tables", "store", "sql", "export", "report", "sandbox", "doctor", "lab")


class Ordered(TyperGroup):
    """Commands in the order in which people meet them."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """The names, in order."""
        return list(ORDER)


# Rich is switched off: help stays plain text, and text from the network is never read as markup.
app = typer.Typer(
    name="ledgerframes",
    cls=Ordered,
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 110},
)


def _show_version(asked: bool) -> None:
    if asked:
        output.write(f"ledgerframes {installed_version()}")
        raise typer.Exit


@app.callback()
@command
def root(
    call: Call,
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Typed DataFrames over a ledger network, kept as Parquet: fetch, look, report."""


app.add_typer(sync_bulk.app, name="sync")
app.command("tables")(tables.tables)
app.add_typer(store.app, name="store")
app.command("sql")(sql.sql)
app.command("export")(export.export)
app.add_typer(report.app, name="report")
app.command("sandbox")(sandbox.sandbox)
app.command("doctor")(doctor.doctor)
app.command("lab")(lab.lab)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``ledgerframes``; by default the arguments of this process.

    Returns
    -------
    int
        The exit code; ``ledgerframes --help`` lists them.
    """
    output.prepare()
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given  # read here, because a command that cannot be parsed has no options
    try:
        code = typer.main.get_command(app).main(given or ["--help"], prog_name="ledgerframes", standalone_mode=False)
    except TyperException as error:
        return _fail({"error": "UsageError", "message": _usage(error), "exit_code": USAGE}, as_json)
    except LedgerframesError as error:
        _traceback_if_asked()
        for name, reason in getattr(error, "failures", {}).items():
            output.write_error(f"{output.plain(name)}: {reason}")
        return _fail(as_document(error), as_json)
    except Exception as error:
        _traceback_if_asked()
        missing = not_installed(error) if isinstance(error, ModuleNotFoundError) else None
        if missing:
            return _fail(as_document(missing), as_json)
        return _fail({"error": type(error).__name__, "message": _unexpected(error), "exit_code": FAILED}, as_json)
    if code == STOPPED:
        return _fail({"error": "Stopped", "message": MEANINGS[STOPPED], "exit_code": STOPPED}, as_json)
    return code if isinstance(code, int) else DONE


def _fail(document: dict[str, object], as_json: bool) -> int:
    """Say what is wrong on stderr in one sentence, and with --json on stdout as a document."""
    output.write_error(f"ledgerframes: {document['message']}")
    if as_json:
        output.write_json(document)
    return int(str(document["exit_code"]))


def _usage(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    command_path = context.command_path if context else "ledgerframes"
    return f"{error.format_message().rstrip('.')}. `{command_path} --help` shows what there is."


def _unexpected(error: Exception) -> str:
    what = " ".join(str(error).split())[:300]
    return (
        f"Unexpected {type(error).__name__}{f': {what}' if what else ''}. Set {TRACEBACK}=1 to see where, and please report it."
    )


def _traceback_if_asked() -> None:
    if os.environ.get(TRACEBACK, "").lower() in ("1", "true", "yes", "on"):
        import traceback

        output.write_error(traceback.format_exc())
