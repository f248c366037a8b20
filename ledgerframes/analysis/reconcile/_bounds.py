"""Offset ranges of a participant's ledger, with the gaps and overlaps between them."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.reconcile import _answers as answers
from ledgerframes.analysis.reconcile._paid_traffic import owner_of
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

BOUNDS = declare.Figure(
    "reconcile.bounds",
    caption="Offset ranges of the ledger",
    answer=answers.of_bounds,
    main_columns=("after", "through", "is_pruned", "gap_before", "overlap_before", "status"),
    without_query="it reads the ranges of the catalog. Read them in ledger.coverage",
    rows="One row per stored range; sorted by offset.",
    columns=(
        declare.ResultColumn("after", "int64", "Offset before the range.", "offset"),
        declare.ResultColumn("through", "int64", "Last offset of the range.", "offset"),
        declare.flag("is_pruned", "Whether the range was pruned before it could be fetched."),
        declare.count("gap_before", "Offsets just before this range that no range covers.", "offsets"),
        declare.count("overlap_before", "Offsets of this range that earlier ranges also cover.", "offsets"),
        declare.label("status", "final, provisional or gap."),
        declare.text("participant_id", "Participant that the ledger belongs to. Missing without an update."),
    ),
    condition="with a known update page",
    unit="offsets of this row",
)


@BOUNDS.register
def bounds(ledger: Frames) -> pd.DataFrame:
    """Return the offset ranges of a ledger, with the gaps and overlaps between them.

    Parameters
    ----------
    ledger : Frames
        From :func:`ledgerframes.load_updates`.

    Returns
    -------
    DataFrame
        One row per stored range; sorted by offset.

        Columns:

        - ``after`` (int64, offset): Offset before the range.
        - ``through`` (int64, offset): Last offset of the range.
        - ``is_pruned`` (boolean): Whether the range was pruned before it could be fetched.
        - ``gap_before`` (int64, offsets): Offsets just before this range that no range covers.
        - ``overlap_before`` (int64, offsets): Offsets of this range that earlier ranges also cover.
        - ``status`` (category): final, provisional or gap.
        - ``participant_id`` (str): Participant that the ledger belongs to. Missing without an update.
        - ``coverage`` (float64, share of 1): Share of the offsets of this row with a known update page. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `ledger` is not Frames of one participant's updates.

    Notes
    -----
    Ranges of offsets of one participant are ``after < offset <= through`` (docs/facts.md#offsets-per-participant).

    Picture, by :func:`ledgerframes.plot`: Offsets from the first to the last: the ranges by status, those that were pruned,
    those that are not in the store, and in a second row those that are covered twice.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> int(lf.reconcile.bounds(lf.load_updates(net))["gap_before"].sum())
    0
    """
    BOUNDS.check(ledger)
    covered = ledger.coverage
    if not {"after", "through"} <= set(covered) or covered["through"].isna().any():
        raise UsageError("lf.reconcile.bounds needs frames of a participant's ledger. Pass the result of lf.load_updates(net).")
    owner = owner_of(ledger, "Load the updates of each by itself.")
    rows = covered.astype({"after": "int64", "through": "int64"}).sort_values(["after", "through"], ignore_index=True)
    reached = rows["through"].cummax().shift(fill_value=int(rows["after"].min()) if len(rows) else 0)
    is_pruned = rows["status"] == "gap"
    values = {
        "after": rows["after"],
        "through": rows["through"],
        "is_pruned": is_pruned,
        "gap_before": (rows["after"] - reached).clip(lower=0),
        "overlap_before": (reached.clip(upper=rows["through"]) - rows["after"]).clip(lower=0),
        "status": rows["status"],
        "participant_id": owner,
        "coverage": (~is_pruned).astype("float64"),
    }
    return BOUNDS.build(ledger, values)
