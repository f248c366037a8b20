"""Who may confirm, and how many of them must."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._columns import TEXT, ResultColumn, count, coverage, shaped, share
from ledgerframes.analysis._groups import by_columns, ratio
from ledgerframes.analysis._requests import list_items, list_lengths, numbered, requests
from ledgerframes.frames import Frames

QUORUMS = (
    ResultColumn("parties", TEXT, "Parties that may confirm, in alphabetical order, separated by commas."),
    ResultColumn("threshold", "int64", "Confirmations needed.", "confirmations"),
    ResultColumn("party_count", "int64", "How many parties may confirm.", "parties"),
    count("quorums", "Quorums of these parties with this threshold.", "quorums"),
    count("views", "Views that have such a quorum.", "views"),
    count("requests", "Confirmation requests that have such a quorum."),
    share("Share of all quorums."),
    coverage("verdict", "requests of these frames"),
)


def quorums(frames: Frames) -> pd.DataFrame:
    """Which parties are asked to confirm together, and how many confirmations it takes.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates``, ``traffic`` and ``quorums``.

    Returns
    -------
    DataFrame
        One row per set of parties and threshold, most quorums first: ``parties``, ``threshold``, ``party_count``, ``quorums``,
        ``views``, ``requests``, ``share``, ``coverage``.

    Notes
    -----
    Source: ``confirming_parties`` of the views of verdicts. The order in which a verdict lists the parties does not matter.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> groups = lf.verdict.quorums(frames)
    >>> bool((groups["threshold"] <= groups["party_count"]).all())
    True
    """
    rows = frames.read("quorums", ["update_id", "view_id", "threshold", "parties"])
    rows["party_count"] = list_lengths(rows["parties"])
    rows["parties"] = _in_order(rows["parties"])
    groups = by_columns(rows, ["parties", "threshold", "party_count"])
    has_verdict = requests(frames, cost=False)["has_verdict"]
    group = pd.DataFrame({"group": groups.codes, "request": pd.factorize(rows["update_id"])[0], "view": rows["view_id"]})
    result = shaped(
        QUORUMS,
        {
            **groups.keys,
            "quorums": groups.count(),
            "views": groups.count((~group.duplicated()).to_numpy()),
            "requests": groups.count((~group.duplicated(["group", "request"])).to_numpy()),
            "share": ratio(groups.count(), np.full(len(groups), len(rows))),
            "coverage": np.full(len(groups), has_verdict.mean() if len(has_verdict) else np.nan),
        },
    )
    return result.sort_values(["quorums", "parties", "threshold"], ascending=[False, True, True], ignore_index=True)


def _in_order(lists: pd.Series) -> pd.Series:
    """Each list as one text, its items in alphabetical order."""
    which, texts = list_items(lists)
    codes, names = numbered(texts)
    ordered = names.take(pa.array(codes[np.lexsort((codes, which))]))
    ends = np.concatenate([[0], np.cumsum(list_lengths(lists))])
    joined = pc.binary_join(pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), ordered), ", ")
    return pd.Series(pd.array(joined, dtype="str"))
