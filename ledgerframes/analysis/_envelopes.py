"""Where the bytes of requests are: in which views, and in envelopes without any."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis._columns import TEXT, ResultColumn, cost, count, coverage, shaped, share
from ledgerframes.analysis._groups import Flags, Groups, Integers, by_columns, distinct, known, shares
from ledgerframes.analysis._requests import (
    distinct_per_owner,
    first_roots,
    list_items,
    list_lengths,
    positions,
    requests,
)
from ledgerframes.frames import Frames

BY_VIEW = (
    ResultColumn("template_name", TEXT, "Module and entity of the root node's template; missing where no tree is visible."),
    ResultColumn("choice", TEXT, "Choice that the root node exercises; missing for a create."),
    ResultColumn("view_id", "int64", "Number of the view in its request, from 0."),
    count("requests", "Confirmation requests that have this view."),
    count("envelopes", "Envelopes counted for this view: those of which it is the lowest view.", "envelopes"),
    ResultColumn("confirmers", "Int64", "Median number of parties that may confirm the view.", "parties"),
    ResultColumn("informees", "Int64", "Median number of parties that learn of the view.", "parties"),
    cost("traffic_cost", "Cost of these envelopes."),
    share("Share of the cost of all envelopes that carry views."),
    coverage("cost"),
)
OVERHEAD = (
    ResultColumn(
        "kind",
        "category",
        "With views, or without: mediator and root-hash messages.",
    ),
    count("envelopes", "Envelopes of this kind.", "envelopes"),
    cost("traffic_cost", "Cost of them."),
    share("Share of the cost of all envelopes."),
    coverage("cost", "requests of these frames"),
)
OVERHEAD_KINDS = ("with views", "without views")

# A view is named by one number: its request's position and its own number side by side.
VIEWS_PER_REQUEST = 1 << 31


def overhead(frames: Frames) -> pd.DataFrame:
    """What envelopes with views cost, against those without: mediator and root-hash messages.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates``, ``traffic`` and ``envelopes``.

    Returns
    -------
    DataFrame
        Always two rows, ``with views`` and ``without views``: ``kind``, ``envelopes``, ``traffic_cost`` [bytes], ``share``,
        ``coverage``.

    Notes
    -----
    Source: the envelopes of traffic summaries. Where the history service could not match views, an envelope looks as if it
    carried none, so the overhead is an upper bound.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> lf.cost.overhead(frames)["kind"].tolist()
    ['with views', 'without views']
    """
    costs_known = known(requests(frames)["total_traffic_cost"])
    envelopes = frames.read("envelopes", ["traffic_cost", "view_ids"])
    groups = Groups(pd.DataFrame({"kind": pd.Categorical(OVERHEAD_KINDS)}), without_views(envelopes).astype(np.int64))
    total = groups.total(envelopes["traffic_cost"])
    coverage_of_all = costs_known.mean() if len(costs_known) else np.nan
    values = {"envelopes": groups.count(), "traffic_cost": total, "share": shares(total), "coverage": coverage_of_all}
    return shaped(OVERHEAD, {**groups.keys, **values})


def by_view(frames: Frames) -> pd.DataFrame:
    """What each view of each kind of transaction costs.

    An envelope that carries several views is counted once, under its lowest view id. Envelopes without views are left out:
    see :func:`overhead`.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates``, ``traffic``, ``tree_events``, ``views``, ``quorums`` and ``envelopes``.

    Returns
    -------
    DataFrame
        One row per root template, choice and view number, sorted by these, requests without a visible tree last:
        ``template_name``, ``choice``, ``view_id``, ``requests``, ``envelopes``, ``confirmers``, ``informees``,
        ``traffic_cost`` [bytes], ``share``, ``coverage``.

    Notes
    -----
    Source: views and quorums of the verdict, envelopes of the traffic summary. Numbers of parties are medians by nearest rank.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> views = lf.cost.by_view(frames)
    >>> bool((views["view_id"] >= 0).all())
    True
    """
    rows = requests(frames)
    informees = _view_informees(frames, rows)
    envelope_names, envelope_costs = _lowest_views(frames, rows)
    names = distinct(np.concatenate([informees.index.to_numpy("int64"), envelope_names]))
    owners = names // VIEWS_PER_REQUEST
    views = first_roots(frames, rows["update_id"]).iloc[owners].reset_index(drop=True)
    views["view_id"] = names % VIEWS_PER_REQUEST
    groups = by_columns(views, ["template_name", "choice", "view_id"])

    seen = informees.reindex(names)
    confirmers = _view_confirmers(frames, rows).reindex(names).fillna(0).where(known(seen))
    ((informee_median,), (confirmer_median,)) = (groups.nearest_rank(s.reset_index(drop=True), [50]) for s in (seen, confirmers))
    envelope_groups = Groups(groups.keys, groups.codes[np.searchsorted(names, envelope_names)])
    total = envelope_groups.total(envelope_costs)
    return shaped(
        BY_VIEW,
        {
            **groups.keys,
            "requests": groups.count(),
            "envelopes": envelope_groups.count(),
            "confirmers": confirmer_median,
            "informees": informee_median,
            "traffic_cost": total,
            "share": shares(total),
            "coverage": groups.share_known(known(rows["total_traffic_cost"])[owners]),
        },
    )


def costs_without_views(groups: Groups, envelopes: pd.DataFrame) -> pd.Series:
    """What the envelopes without views of each group cost."""
    return groups.part_total(envelopes["traffic_cost"], without_views(envelopes))


def without_views(envelopes: pd.DataFrame) -> Flags:
    """Which envelopes carry no view."""
    empty: Flags = list_lengths(envelopes["view_ids"]) == 0
    return empty


# -- views by name ----------------------------------------------------------------------------------------------------


def _view_informees(frames: Frames, rows: pd.DataFrame) -> pd.Series:
    views = _children(frames, "views", ["view_id", "informees"], rows)
    names = _names(views["request"], views["view_id"])
    return pd.Series(list_lengths(views["informees"]), index=names, dtype="Int64")


def _view_confirmers(frames: Frames, rows: pd.DataFrame) -> pd.Series:
    quorums = _children(frames, "quorums", ["view_id", "parties"], rows)
    return distinct_per_owner(_names(quorums["request"], quorums["view_id"]), quorums["parties"])


def _lowest_views(frames: Frames, rows: pd.DataFrame) -> tuple[Integers, pd.Series]:
    envelopes = _children(frames, "envelopes", ["traffic_cost", "view_ids"], rows)
    envelopes = envelopes[~without_views(envelopes)].reset_index(drop=True)
    which, view_ids = list_items(envelopes["view_ids"])
    lowest = pd.Series(view_ids.to_numpy()).groupby(which).min()
    return _names(envelopes["request"], lowest), envelopes["traffic_cost"]


def _children(frames: Frames, name: str, columns: list[str], rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of a linked table that belong to one of the requests, with its position as ``request``."""
    children = frames.read(name, ["update_id", *columns])
    children["request"] = positions(children["update_id"], rows["update_id"])
    return children[children["request"] >= 0].reset_index(drop=True)


def _names(requests_of: pd.Series, view_ids: pd.Series) -> Integers:
    names: Integers = requests_of.to_numpy("int64") * VIEWS_PER_REQUEST + view_ids.to_numpy("int64")
    return names
