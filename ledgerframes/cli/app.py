"""The ``ledgerframes`` command, and the one function that turns errors into exit codes."""

from __future__ import annotations

import os
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from ledgerframes.cli import doctor, export, lab, output, report, sandbox, sql, state, store, sync, tables, verify
from ledgerframes.cli.exit_codes import EXIT_CODES, FAILURE, INTERRUPTED, SUCCESS, USAGE, error_document
from ledgerframes.cli.options import CommandContext, command, option
from ledgerframes.cli.signals import SIGNALS
from ledgerframes.errors import LedgerframesError
from ledgerframes.installation import installed_version, missing_extra_error
from ledgerframes.texts.control_characters import escape_control

TRACEBACK = "LEDGERFRAMES_TRACEBACK"

# A paragraph that starts with \b keeps its line breaks.
EPILOG = "\b\nExit codes:\n" + "\n".join(f"{code:>4}  {meaning}" for code, meaning in EXIT_CODES.items())

# The commands, in the order of a typical session.
COMMANDS: dict[str, Any] = {
    "sync": sync.app,
    "state": state.state,
    "tables": tables.tables,
    "store": store.app,
    "sql": sql.sql,
    "export": export.export,
    "verify": verify.verify,
    "report": report.app,
    "sandbox": sandbox.sandbox,
    "doctor": doctor.doctor,
    "lab": lab.lab,
}


class OrderedGroup(TyperGroup):
    """Commands in their order, although Typer lists groups last."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the names of the commands in order."""
        return list(COMMANDS)


# Rich is switched off, so that help stays plain text and text from the network is never read as markup.
app = typer.Typer(
    name="ledgerframes",
    cls=OrderedGroup,
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 110},
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        output.write(f"ledgerframes {installed_version()}")
        raise typer.Exit


@app.callback()
@command
def root(
    context: CommandContext,
    version: Annotated[bool, option("--version", "Show the version and exit.", callback=_print_version, is_eager=True)] = False,
) -> None:
    """Fetch ledger network data, query it and publish reports.

    Data is cached as Parquet in the store. Final data is never fetched again.
    """


for name, each in COMMANDS.items():
    if isinstance(each, typer.Typer):
        app.add_typer(each, name=name)
    else:
        app.command(name)(command(each))


def run(arguments: list[str]) -> int:
    """Run one command, and return its exit code."""
    with warnings.catch_warnings():
        warnings.showwarning = _write_warning
        return _run(arguments)


def _write_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Write a warning without the line of code that raised it, which is not the user's code."""
    output.write_error(f"ledgerframes: {message}", "warning")


def _run(arguments: list[str]) -> int:
    output.escape_unencodable()
    as_json = "--json" in arguments  # Read here, because a command line that cannot be parsed has no options.
    try:
        code = typer.main.get_command(app).main(arguments or ["--help"], prog_name="ledgerframes", standalone_mode=False)
    except Exception as error:
        if SIGNALS.name:  # which interrupted a library at work
            return INTERRUPTED
        return _fail(_document(error), as_json)
    if code == INTERRUPTED and not SIGNALS.name:
        return _fail({"error": "Interrupted", "message": EXIT_CODES[INTERRUPTED], "exit_code": INTERRUPTED}, as_json)
    return code if isinstance(code, int) else SUCCESS


def _document(error: Exception) -> dict[str, Any]:
    """Return an error as a JSON document, after the text above its message."""
    if isinstance(error, TyperException):
        return {"error": "UsageError", "message": _usage_message(error), "exit_code": USAGE}
    _print_traceback()
    if isinstance(error, LedgerframesError):
        for name, reason in getattr(error, "failures", {}).items():
            output.write_error(f"{escape_control(name)}: {reason}")
        return error_document(error)
    usage_error = missing_extra_error(error, "This command") if isinstance(error, ModuleNotFoundError) else None
    if usage_error:
        return error_document(usage_error)
    return {"error": type(error).__name__, "message": _bug_message(error), "exit_code": FAILURE}


def _fail(document: dict[str, Any], as_json: bool) -> int:
    """Write the error to stderr, with ``--json`` also to stdout, and return its exit code."""
    output.write_error(f"ledgerframes: {document['message']}", "failed")
    if as_json:
        output.write_json(document)
    return int(document["exit_code"])


def _usage_message(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    command_path = context.command_path if context else "ledgerframes"
    text = error.format_message().replace(": Value error, ", ": ").rstrip(".")  # the words of the validation below Typer
    return f"{text}{'' if text.endswith('?') else '.'} Run `{command_path} --help` for usage."


def _bug_message(error: Exception) -> str:
    text = " ".join(str(error).split())[:300]
    return (
        f"Unexpected {type(error).__name__}{f': {text}' if text else ''}. "
        f"Set {TRACEBACK}=1 to see the traceback, and report it as a bug."
    )


def _print_traceback() -> None:
    if os.environ.get(TRACEBACK, "").lower() in ("1", "true", "yes", "on"):
        import traceback

        output.write_error(traceback.format_exc())
