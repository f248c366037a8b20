"""Queries that several figures share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from textwrap import dedent, indent


@dataclass(frozen=True)
class Relation:
    """A named query over stored tables, and over other relations.

    It is no frame. The engine reads it when a figure needs it, and only the columns that the figure names.

    Attributes
    ----------
    name : str
        The name by which other queries read it.
    rows : str
        What a row is.
    query : str
        A ``SELECT`` of DuckDB.
    tables : tuple of str
        Stored tables that the query names.
    relations : tuple of Relation
        Relations that the query names.
    is_kept : bool
        Whether the engine keeps its rows, which are few, because several parts of a query read them.
    is_read_anew : bool
        Whether each part of a query reads its own rows again, because all together are many. Without either, the engine decides.
    is_shared : bool
        Whether queries over the same tables share its rows, if they are few (see :mod:`ledgerframes.engine.query`).
    rows_of : tuple of str
        Stored tables that have at least as many rows, all together (default: those that it reads, which can have many more).
    """

    name: str
    rows: str
    query: str
    tables: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    is_kept: bool = False
    is_read_anew: bool = False
    is_shared: bool = False
    rows_of: tuple[str, ...] = ()

    @property
    def definition(self) -> str:
        """The relation as a part of a ``WITH``, with a comment on its rows."""
        materialized = "MATERIALIZED " if self.is_kept else "NOT MATERIALIZED " if self.is_read_anew else ""
        query = indent(dedent(self.query).strip(), "    ")
        return f"-- {self.rows}\n{self.name} AS {materialized}(\n{query}\n)"


def in_order(relations: Iterable[Relation], *, without: Collection[str] = ()) -> list[Relation]:
    """Return relations with all that they need, each once and after those that it needs.

    It omits those of `without`, and what only they need.
    """
    ordered: dict[str, Relation] = {}
    for relation in relations:
        if relation.name not in without:
            for each in [*in_order(relation.relations, without=without), relation]:
                ordered.setdefault(each.name, each)
    return list(ordered.values())


def tables_of(relations: Iterable[Relation], *, without: Collection[str] = ()) -> list[str]:
    """Return the stored tables that relations need, each once."""
    return list(dict.fromkeys(table for each in in_order(relations, without=without) for table in each.tables))
