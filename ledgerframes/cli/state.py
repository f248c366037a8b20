"""``ledgerframes state`` fetches the state of a participant, which is never stored."""

from __future__ import annotations

from typing import Annotated

import typer

from ledgerframes.cli.frame_output import AsCsv, KeepFormulas, print_frame
from ledgerframes.cli.options import CommandContext, command
from ledgerframes.errors import UsageError

TABLES = ("active-contracts", "completions", "parties", "packages", "synchronizers", "transfer-offers")


@command
def state(
    context: CommandContext,
    table: Annotated[str, typer.Argument(metavar="TABLE", help=f"One of {', '.join(TABLES)}.")],
    as_csv: AsCsv = False,
    keep_formulas: KeepFormulas = False,
) -> None:
    """Fetch the current state of a participant.

    It can change at any time, so it is shown and not stored. Every row is shown.
    """
    from ledgerframes.loaders import offers
    from ledgerframes.loaders import state as loaders

    if table not in TABLES:
        raise UsageError(f"Unknown table {table!r}. Choose from {', '.join(TABLES)}.")
    module = offers if table == "transfer-offers" else loaders
    load = getattr(module, f"load_{table.replace('-', '_')}")
    frame = load(context.connect(), progress=context.progress)
    print_frame(context, frame, as_csv=as_csv, escape_formulas=not keep_formulas)
