"""Populations of the requests in frames, such as all of a window or committed updates.

Rejected requests leave no update (docs/facts.md#survivorship). A rejection rate is therefore right for all requests of a window,
meaningless for committed updates, and for chosen requests a statement about these requests only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

Population = Literal["all", "chosen", "committed"]

# From the best to the worst basis of a rate.
POPULATION_DESCRIPTIONS: dict[Population, str] = {
    "all": "all requests of the window",
    "chosen": "requests chosen",
    "committed": "committed updates only: no rejected requests",
}

# Every request has these values, rejected or not, unless its cost is unknown. Other tables have rows of committed updates only.
NEUTRAL_COLUMNS: dict[str, frozenset[str]] = {
    "verdicts": frozenset(
        {
            "migration_id",
            "record_time",
            "synchronizer_id",
            "submitting_participant_uid",
            "submitting_parties",
            "mediator_group",
            "view_count",
            "root_views",
        }
    ),
    "views": frozenset(
        {"migration_id", "record_time", "view_id", "parent_view_id", "informees", "quorum_count", "sub_views", "view_hash"}
    ),
    "quorums": frozenset({"migration_id", "record_time", "view_id", "quorum_index", "threshold", "parties"}),
    "traffic": frozenset({"migration_id", "record_time", "total_traffic_cost", "envelope_count"}),
    "envelopes": frozenset({"migration_id", "record_time", "envelope_index", "traffic_cost", "view_ids"}),
}


# A request without a traffic summary has no row in these tables.
COST_TABLES = frozenset({"traffic", "envelopes"})


def narrow_population(population: Population, table: str, columns: Collection[str] | None) -> Population:
    """Return the population after narrowing by columns of a table, None if they are unknown."""
    neutral = NEUTRAL_COLUMNS.get(table)
    if neutral is None or population == "committed":
        return "committed"
    return population if columns is not None and neutral.issuperset(columns) else "chosen"


def keeps_all_requests(table: str, ids_of: Callable[[str], pa.ChunkedArray]) -> bool:
    """Return whether each request has a row in a table.

    A filter on cost drops the requests whose cost is unknown, although it may be above or below any limit.
    """
    if table not in COST_TABLES:
        return True
    with_cost = ids_of(table)
    import pyarrow.compute as pc  # late, because the command line imports this module for its help

    return all(pc.all(pc.is_in(ids_of(name), value_set=with_cost)).as_py() is not False for name in ("verdicts", "updates"))
