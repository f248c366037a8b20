"""The options that commands share, and the context that carries the common ones."""

from __future__ import annotations

import functools
import inspect
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ledgerframes.cli import output
from ledgerframes.json_logs import JsonFormatter

if TYPE_CHECKING:
    from ledgerframes.network import Network

T = TypeVar("T")

# Options of every command, accepted before or after its name.
COMMON = {
    "profile": Annotated[
        str | None,
        typer.Option(
            "--profile", metavar="NAME", help="Profile in ledgerframes.toml (default: $LEDGERFRAMES_PROFILE, or sandbox)."
        ),
    ],
    "store": Annotated[
        str | None,
        typer.Option("--store", metavar="ROOT", help="Directory or s3://bucket/prefix of the store (default: the profile's)."),
    ],
    "offline": Annotated[bool, typer.Option("--offline", help="Make no HTTP requests and use only the store.")],
    "as_json": Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout, for errors too.")],
    "quiet": Annotated[bool, typer.Option("--quiet", help="Hide progress and summaries.")],
    "verbose": Annotated[bool, typer.Option("--verbose", help="Write log lines to stderr.")],
    "log_json": Annotated[
        bool,
        typer.Option("--log-json", envvar="LEDGERFRAMES_LOG_JSON", help="Write each log event to stderr as one line of JSON."),
    ],
}

Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Start of the window, such as 2026-11-03 or 2026-11-03T12:00:00Z."),
]
StoredSince = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Start of the window (default: everything in the store).")
]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="End of the window, exclusive (default: now).")]
During = Annotated[
    str | None,
    typer.Option("--during", metavar="PERIOD", help="Window by name, such as yesterday, last-week, 2026-11-03 or 2026-10."),
]
Quarantine = Annotated[
    bool, typer.Option("--quarantine", help="Save items that cannot be decoded below the store, and continue.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what the command would do, and change nothing.")]


@dataclass(frozen=True)
class CommandContext:
    """The common options of one command call, and what they mean for its output."""

    profile: str | None = None
    store: str | None = None
    offline: bool = False
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    log_json: bool = False
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

    def print_result(self, document: T, format_text: Callable[[T], str]) -> None:
        """Write the result of the command, as JSON or as text, even if the command is quiet."""
        if self.as_json:
            output.write_json(document)
        else:
            output.write(format_text(document))

    def print_summary(self, document: T, format_text: Callable[[T], str]) -> None:
        """Write a summary of the completed work, unless the command is quiet."""
        if self.as_json or not self.quiet:
            self.print_result(document, format_text)


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
        function(context, **arguments)

    _, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    ctx = inspect.Parameter("ctx", keyword, annotation=typer.Context)
    common = [inspect.Parameter(name, keyword, default=_default(name), annotation=option) for name, option in COMMON.items()]
    run.__signature__ = inspect.Signature([ctx, *(each.replace(kind=keyword) for each in parameters), *common])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def _default(name: str) -> bool | None:
    return None if name in ("profile", "store") else False


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
    """Show log lines with ``--verbose``, and retries also on a terminal."""
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
    elif sys.stderr.isatty() and not context.quiet:
        retries.setLevel(logging.INFO)
        retries.addHandler(_LineHandler())
