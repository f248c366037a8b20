"""The options that commands share, and the context that carries the common ones."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ledgerframes.cli import output
from ledgerframes.cli.argument_names import name_options, options_by_argument
from ledgerframes.errors import LedgerframesError, TransportError
from ledgerframes.json_logs import JsonFormatter
from ledgerframes.long_waits import shown_by

if TYPE_CHECKING:
    from ledgerframes.network import Network

T = TypeVar("T")


def option(declaration: str, help: str, **settings: Any) -> Any:  # noqa: A002  (typer's word)
    """Declare an option as its help shows it, such as ``--store ROOT``.

    A flag has no metavar. The help says the default.
    """
    names = declaration.split()
    metavar = None if names[-1].startswith("-") else names.pop()
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, **settings)


Since = Annotated[str | None, option("--since TIME", "Start of the window, such as 2026-11-03 or 2026-11-03T12:00:00Z.")]
StoredSince = Annotated[str | None, option("--since TIME", "Start of the window (default: that of the store).")]
Until = Annotated[str | None, option("--until TIME", "End of the window, exclusive (default: now).")]
During = Annotated[str | None, option("--during WINDOW", "Window by name, such as yesterday, last-week, 2026-11-03 or 2026-10.")]
Quarantine = Annotated[bool, option("--quarantine", "Save items that cannot be decoded below the store, and continue.")]
DryRun = Annotated[bool, option("--dry-run", "Show what the command would do, and change nothing.")]


@dataclass(frozen=True)
class CommandContext:
    """The options of every command, and what they mean for its output.

    These options are accepted before and after the name of a command.
    """

    profile: Annotated[
        str | None, option("--profile NAME", "Profile in ledgerframes.toml (default: $LEDGERFRAMES_PROFILE, or sandbox).")
    ] = None
    store: Annotated[
        str | None, option("--store ROOT", "Directory or s3://bucket/prefix of the store (default: the profile's).")
    ] = None
    offline: Annotated[bool, option("--offline", "Make no HTTP requests and use only the store.")] = False
    as_json: Annotated[bool, option("--json", "Write one JSON document to stdout, for errors too.")] = False
    quiet: Annotated[bool, option("--quiet", "Hide progress and summaries.")] = False
    verbose: Annotated[bool, option("--verbose", "Write log lines to stderr.")] = False
    log_json: Annotated[
        bool, option("--log-json", "Write each log event to stderr as one line of JSON.", envvar="LEDGERFRAMES_LOG_JSON")
    ] = False
    typer_context: typer.Context | None = None

    @property
    def overrides(self) -> dict[str, Any]:
        """Settings from the command line."""
        return {"store": self.store} if self.store else {}

    @property
    def progress(self) -> bool | None:
        """False to hide progress, None to show it on a terminal."""
        return False if self.quiet else None

    def connect(self) -> Network:
        """Connect to the network of the options, and close it when the command ends."""
        from ledgerframes.network import connect

        net = connect(self.profile, offline=self.offline or None, **self.overrides)
        if self.typer_context:
            self.typer_context.call_on_close(net.close)
        return net

    def show_wait(self, text: str) -> None:
        """Write a line about a long wait to stderr, unless a log line does."""
        if not (self.quiet or self.verbose or self.log_json):
            output.write_error(text)

    def describe(self, error: Exception) -> str:
        """Return the message of an error with options of this command, not arguments."""
        if self.typer_context is None or isinstance(error, TransportError):  # a profile, whose members are settings
            return str(error)
        return name_options(str(error), options_by_argument(self.typer_context))

    def print_result(self, document: T, format_text: Callable[[T], str]) -> None:
        """Write the result of the command, as JSON or as text, even if the command is quiet."""
        if self.as_json:
            output.write_json(document)
        else:
            output.write(format_text(document))

    def print_summary(self, document: T, format_text: Callable[[T], str], *, dry_run: bool = False) -> None:
        """Write a summary of the completed work, unless the command is quiet.

        A dry run has no other result, so its summary is always written.
        """
        if self.as_json or dry_run or not self.quiet:
            self.print_result(document, format_text)


# The options of every command by name.
COMMON = dict(inspect.signature(CommandContext, eval_str=True).parameters)
del COMMON["typer_context"]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Add the common options to a command, which receives them as its first argument.

    Typer reads the options of a command from its signature, so the signature of the wrapper declares both kinds.
    """

    @functools.wraps(function)
    def run(ctx: typer.Context, **arguments: Any) -> None:
        # An option after the command overrides the same option before it.
        common = {name: value for name in COMMON if (value := arguments.pop(name))}
        context = replace(ctx.obj if isinstance(ctx.obj, CommandContext) else CommandContext(), typer_context=ctx, **common)
        ctx.obj = context
        _configure_logging(context)
        try:
            with shown_by(context.show_wait, has_bars=not context.quiet):
                function(context, **arguments)
        except LedgerframesError as error:
            error.args = (context.describe(error),)
            raise

    _, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    ctx = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*parameters, *COMMON.values())]
    run.__signature__ = inspect.Signature([ctx, *keywords])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def group(help: str, commands: Mapping[str, Callable[..., None]]) -> typer.Typer:  # noqa: A002  (typer's word)
    """Return a group of commands, each a function of a CommandContext and its own options."""
    app = typer.Typer(help=help, rich_markup_mode=None)
    for name, function in commands.items():
        app.command(name)(command(function))
    return app


RETRIES = "ledgerframes.retries"


class _LineHandler(logging.Handler):
    """A log handler that writes one escaped line per record to stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.name == RETRIES and isinstance(record.args, tuple):
            seconds, cause = record.args
            message = f"Retrying in {seconds} s: {cause}"
        output.write_error(f"{datetime.now(UTC):%H:%M:%S} {message}")


def _configure_logging(context: CommandContext) -> None:
    """Show log lines with ``--verbose`` or ``--log-json``."""
    package, retries = logging.getLogger("ledgerframes"), logging.getLogger(RETRIES)
    # Python prints the warnings of a logger that has no handler.
    package.handlers, retries.handlers = [logging.NullHandler()], [logging.NullHandler()]
    if context.log_json:
        handler = logging.StreamHandler()
        handler.setFormatter(JsonFormatter())
        package.setLevel(logging.INFO)
        retries.setLevel(logging.INFO)
        package.addHandler(handler)
    elif context.verbose:
        package.setLevel(logging.INFO)
        package.addHandler(_LineHandler())
