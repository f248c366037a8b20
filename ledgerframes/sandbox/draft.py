"""A transaction before it meets the network: who submits it, its views, and how to build it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .ledger import Node
from .parties import Party


@dataclass(slots=True)
class View:
    """A transaction view and the views below it."""

    informees: Sequence[str]
    confirmers: Sequence[str]
    children: Sequence[View] = ()
    extra_quorum: Sequence[str] = ()  # a second quorum of the same view


def view(confirmers: Sequence[str], *children: View, informees: Sequence[str] = ()) -> View:
    """Return a view that its confirmers, and perhaps other informees, see.

    Parameters
    ----------
    confirmers
        Party ids; all of them must confirm.
    children
        Views directly below.
    informees
        Party ids that see the view without confirming it.
    """
    return View([*confirmers, *informees], confirmers, children)


@dataclass(slots=True)
class Draft:
    """A request as its submitter prepared it.

    Parameters
    ----------
    submitter
        The party that submits, through its participant.
    views
        Root views.
    tree
        Builds the root nodes; called only for what the history shows, because it uses contracts up.
    reassignment
        Builds the `event` of a reassignment instead of a tree.
    bytes_per_view
        Median traffic cost of one view's envelope, in bytes.
    workflow_id
        Workflow id; empty for most.
    fixed_costs
        Envelope costs in bytes, when they are not left to chance: those without views, then one per view.
    """

    submitter: Party
    views: Sequence[View]
    tree: Callable[[], list[Node]] | None = None
    reassignment: Callable[[], dict[str, Any]] | None = None
    bytes_per_view: int = 1500
    workflow_id: str = ""
    fixed_costs: Sequence[int] = ()
