"""``ledgerframes sql`` queries the store."""

from __future__ import annotations

from typing import Annotated

import typer

from ledgerframes.cli import output
from ledgerframes.cli.frame_output import AsCsv, KeepFormulas, print_frame
from ledgerframes.cli.options import CommandContext, During, StoredSince, Until


def sql(
    context: CommandContext,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT over the stored tables.")],
    since: StoredSince = None,
    until: Until = None,
    during: During = None,
    as_csv: AsCsv = False,
    keep_formulas: KeepFormulas = False,
) -> None:
    """Query stored tables with SQL.

    Makes no HTTP requests. All rows are shown, so use LIMIT for large results. With --json, amounts are text, so that no
    digit is lost. Bytes are hexadecimal digits. Provisional rows count, and a note says so, as it does if the store does
    not have all of the window.
    """
    from ledgerframes.queries import run_query

    result = run_query(context.connect(), query, since=since, until=until, during=during)
    print_frame(context, result.frame, as_csv=as_csv, escape_formulas=not keep_formulas)
    for note in result.notes:
        output.write_error(note)
