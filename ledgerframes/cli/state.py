"""``ledgerframes state`` fetches the state of a participant, which is never stored."""

from __future__ import annotations

from typing import Annotated

import typer

from ledgerframes.cli.frame_output import AsCsv, KeepFormulas, print_frame
from ledgerframes.cli.options import CommandContext, Quarantine
from ledgerframes.errors import UsageError

TABLES = ("active-contracts", "completions", "parties", "packages", "synchronizers", "transfer-offers")


def state(
    context: CommandContext,
    table: Annotated[str, typer.Argument(metavar="TABLE", help=f"One of {', '.join(TABLES)}.")],
    quarantine: Quarantine = False,
    as_csv: AsCsv = False,
    keep_formulas: KeepFormulas = False,
) -> None:
    """Fetch the current state of a participant.

    The state can change at any time, so it is shown but not stored. All rows are shown.
    """
    from ledgerframes.loaders import offers
    from ledgerframes.loaders import state as loaders

    if table not in TABLES:
        raise UsageError(f"Unknown table {table!r}. Choose from {', '.join(TABLES)}.")
    is_offers = table == "transfer-offers"
    if is_offers and quarantine:
        raise UsageError("--quarantine does not apply to transfer-offers. Leave it out.")
    load = getattr(offers if is_offers else loaders, f"load_{table.replace('-', '_')}")
    options = {"on_bad_item": "quarantine"} if quarantine else {}
    frame = load(context.connect(), progress=context.progress, **options)
    print_frame(context, frame, as_csv=as_csv, escape_formulas=not keep_formulas)
