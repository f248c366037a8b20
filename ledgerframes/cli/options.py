"""The options that every command takes, before the command or after it."""

from __future__ import annotations

import functools
import inspect
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output

if TYPE_CHECKING:
    from ledgerframes.network import Network

COMMON = {
    "profile": Annotated[
        str | None,
        typer.Option(
            "--profile", metavar="NAME", help="Section of ledgerframes.toml; by default LEDGERFRAMES_PROFILE, or the sandbox."
        ),
    ],
    "store": Annotated[
        str | None,
        typer.Option("--store", metavar="PLACE", help="Folder of the store, or s3://bucket/prefix, instead of the profile's."),
    ],
    "offline": Annotated[bool, typer.Option("--offline", help="Make no request; use what the store holds.")],
    "as_json": Annotated[bool, typer.Option("--json", help="One JSON document on stdout, also for an error.")],
    "quiet": Annotated[bool, typer.Option("--quiet", help="No progress, and nothing on stdout but what was asked for.")],
    "verbose": Annotated[bool, typer.Option("--verbose", help="Log lines on stderr.")],
}


# Ranges, as every command takes them.
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="First record time, such as 2026-11-03 or 2026-11-03T12:00:00Z.")
]
SinceStored = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="First record time; all that is stored by default.")
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="First record time that is not wanted; now by default.")
]
During = Annotated[
    str | None,
    typer.Option("--during", metavar="WORD", help="A range in one word: yesterday, last-week, 2026-11-03, 2026-10, and so on."),
]


@dataclass(frozen=True)
class Call:
    """How one command was called: the common options, and what they mean for its output."""

    profile: str | None = None
    store: str | None = None
    offline: bool = False
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    context: typer.Context | None = None

    @property
    def overrides(self) -> dict[str, Any]:
        """Settings given on the command line."""
        return {"store": self.store} if self.store else {}

    @property
    def progress(self) -> bool | None:
        """Whether to show progress: never when quiet, else in terminals."""
        return False if self.quiet else None

    def connect(self, **overrides: Any) -> Network:
        """Connect to the network that the options name; its connections close when the command ends."""
        from ledgerframes.network import connect

        net = connect(self.profile, offline=self.offline or None, **self.overrides, **overrides)
        if self.context:
            self.context.call_on_close(net.close)
        return net

    def show(self, document: object, text: str | Callable[[], str]) -> None:
        """Show a result that was asked for: as JSON, or as text."""
        if self.as_json:
            output.write_json(document)
        else:
            output.write(text if isinstance(text, str) else text())

    def tell(self, document: object, text: str) -> None:
        """Show what was done, which a quiet call does not ask for."""
        if self.as_json or not self.quiet:
            self.show(document, text)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options; it gets them as its first argument, a :class:`Call`.

    Typer reads the options of a command from its signature, so the common ones are added there.
    """

    @functools.wraps(function)
    def run(ctx: typer.Context, **given: Any) -> None:
        # An option after the command wins over the same one before it.
        common = {name: value for name in COMMON if (value := given.pop(name))}
        call = replace(ctx.obj if isinstance(ctx.obj, Call) else Call(), context=ctx, **common)
        ctx.obj = call
        _log(call)
        function(call, **given)

    _, *own = inspect.signature(function, eval_str=True).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    context = inspect.Parameter("ctx", keyword, annotation=typer.Context)
    common = [inspect.Parameter(name, keyword, default=_default(name), annotation=kind) for name, kind in COMMON.items()]
    run.__signature__ = inspect.Signature([context, *(each.replace(kind=keyword) for each in own), *common])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run


def _default(name: str) -> bool | None:
    return None if name in ("profile", "store") else False


class _Lines(logging.Handler):
    """Writes one line a record to stderr, safe for a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.name == "stamina":  # its message is a constant; the facts are beside it
            facts = vars(record)
            cause = str(facts.get("stamina.caused_by")).partition(". ")[0]  # the next step after it is for the end
            message = f"trying again in {facts.get('stamina.wait_for')} s after {cause}"
        output.write_error(f"{datetime.now(UTC):%H:%M:%S} {message}")


def _log(call: Call) -> None:
    """Show log lines when asked for; retries also on a terminal, where somebody waits for them."""
    own, retries = logging.getLogger("ledgerframes"), logging.getLogger("stamina")
    # Without any handler Python would print warnings by itself.
    own.handlers, retries.handlers = [logging.NullHandler()], [logging.NullHandler()]
    if call.verbose:
        own.setLevel(logging.INFO)
        own.addHandler(_Lines())
    if call.verbose or (sys.stderr.isatty() and not call.quiet):
        retries.addHandler(_Lines())
