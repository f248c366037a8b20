"""The engine under the analyses. DuckDB runs their queries over the stored tables."""

from ledgerframes.engine.connection import DEFAULT_SETTINGS
from ledgerframes.engine.query import Query, run
from ledgerframes.engine.relation import Relation

__all__ = ["DEFAULT_SETTINGS", "Query", "Relation", "run"]
