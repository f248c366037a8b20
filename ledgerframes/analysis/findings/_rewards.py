"""Rounds whose rewards do not follow from their records."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.finding_names import REWARDS
from ledgerframes.analysis.findings.facts import fact_row
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.errors import UsageError
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.windows import Window

OF_ONE_CHAIN = ["round_number", "kind", "is_dry_run"]
BROKEN = ("differs", "missing")  # of the column `status` of lf.reconcile.rewards
REWARDED = {"app": "app providers", "validator": "validators"}
COLUMNS = (*OF_ONE_CHAIN, "link", "status", "difference", "example")


def require_links(links: object) -> pd.DataFrame | None:
    """Return the links of rewards, or raise a UsageError if a table is none of all links."""
    if links is None:
        return None
    step = "Pass the result of lf.reconcile.rewards without by=."
    table = require_columns(links, COLUMNS, "rewards= must be links of rewards", step)
    if "party" in table:
        raise UsageError(f"rewards= must have a row per link, got one per party. {step}")
    return table


def broken_rewards(links: pd.DataFrame, window: Window) -> list[dict[str, object]]:
    """Return one row per round and kind of reward with a link that does not hold."""
    broken = links[links["status"].astype("str").isin(BROKEN)]
    chains = broken.groupby(OF_ONE_CHAIN, observed=True, dropna=False)
    return [
        fact_row("round", str(number), REWARDS, "links", len(chain), window) | {"broken": _describe(str(kind), chain)}
        for (number, kind, _), chain in chains
    ]


def _describe(kind: str, chain: pd.DataFrame) -> str:
    """Return whose rewards do not follow, by how much, and at which link first."""
    first, *others = iter_rows(chain)
    status = "is missing" if first.status == "missing" else "differs"
    amount = "" if pd.isna(first.difference) else f" ({first.difference.normalize():f} coin)"
    example = "" if pd.isna(first.example) else f", such as {escape_control(first.example)}"
    more = f", and {pluralize(len(others), 'more link')}" if others else ""
    link = f'The link "{first.link}" {status}{amount}{example}{more}.'
    return f"the rewards of {REWARDED[kind]} do not follow from the records. {link}"
