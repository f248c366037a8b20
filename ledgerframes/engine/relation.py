"""Named queries that several figures share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from textwrap import dedent, indent


@dataclass(frozen=True)
class Parameter:
    """A small table that a caller passes with a query.

    Attributes
    ----------
    name : str
        The name by which relations read it.
    rows : str
        What a row is.
    """

    name: str
    rows: str


@dataclass(frozen=True)
class Relation:
    """A named query over stored tables, parameters and other relations.

    It is not a frame: the engine computes it on demand, and only the columns that a figure selects.

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
    parameters : tuple of Parameter
        Parameters that the query names.
    is_materialized : bool, optional
        Whether the engine computes its rows once, which must fit into memory, or again for each part of a query that reads them
        (default: the engine decides).
    is_shared : bool
        Whether queries over the same tables share its rows, if they are few (see :mod:`ledgerframes.engine.query`).
    bounded_by : tuple of str
        Stored tables that together have at least as many rows (default: all that it reads, which can have many more).
    """

    name: str
    rows: str
    query: str
    tables: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    is_materialized: bool | None = None
    is_shared: bool = False
    bounded_by: tuple[str, ...] = ()

    @property
    def definition(self) -> str:
        """The relation as a part of a ``WITH``, with a comment on its rows."""
        materialized = {True: "MATERIALIZED ", False: "NOT MATERIALIZED ", None: ""}[self.is_materialized]
        query = indent(dedent(self.query).strip(), "    ")
        return f"-- {self.rows}\n{self.name} AS {materialized}(\n{query}\n)"


def in_order(relations: Iterable[Relation], *, without: Collection[str] = ()) -> list[Relation]:
    """Return relations and all that they need, each once and after those that it needs.

    The relations in `without` are omitted, and so are those that only they need.

    Raises
    ------
    ValueError
        If two different relations have the same name, because a query could read the wrong one.
    """
    ordered: dict[str, Relation] = {}
    for relation in relations:
        if relation.name not in without:
            for each in [*in_order(relation.relations, without=without), relation]:
                if ordered.setdefault(each.name, each).query != each.query:
                    raise ValueError(f"Two relations have the name {each.name!r}.")
    return list(ordered.values())


def tables_of(relations: Iterable[Relation], *, without: Collection[str] = ()) -> list[str]:
    """Return the stored tables that relations need, each once."""
    return list(dict.fromkeys(table for each in in_order(relations, without=without) for table in each.tables))


def parameters_of(relations: Iterable[Relation]) -> dict[str, Parameter]:
    """Return the parameters that relations need, by name."""
    return {parameter.name: parameter for each in in_order(relations) for parameter in each.parameters}
