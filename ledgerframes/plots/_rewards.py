"""Plot of the rewards of rounds, from their records to the last hash."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis.groups import is_true
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.texts.representation import pluralize

DRY_RUN = "equal, in a dry run"
STATUSES: s.Styles = {  # from worst to best
    "differs": {"facecolor": s.BAD, "edgecolor": s.BAD, "linewidth": 0.5},
    "missing": s.MISSING,
    "unknown": s.NOTHING,
    "equal": {"color": s.FINE},
    DRY_RUN: s.LESS_FINE,
}
MAX_BINS = 240
GAP, MAX_BINS_WITH_GAPS = 0.06, 60  # between cells, of a cell


@draws("reconcile.rewards", "Proof of the rewards of rounds", empty="No round in this window.")
def reconcile_rewards(chart: Chart) -> None:
    """Draw which links from the records of each round to its coupons hold.

    With ``by="party"``, the 15 parties with the most coin are shown. More than 240 rounds are shown in groups.

    One row per link, or per party, a cell per round in the color of its status, the worst one of a group.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.reconcile.rewards(frames))
    """
    frame = chart.frame
    rows = frame["link" if chart.by is None else "party"].astype("str")
    labels = list(dict.fromkeys(rows))
    if chart.by is not None:
        coin = pd.Series(r.numbers(frame["amount"])).groupby(rows.to_numpy()).sum()
        labels = coin.sort_values(ascending=False, kind="stable").index.tolist()[: r.MAX_ROWS]
    visible = frame[rows.isin(labels).to_numpy()]
    cells = _cells(visible, rows[visible.index].map({label: row for row, label in enumerate(labels)}))
    s.cells(
        chart, [r.label(label) for label in labels], _spans(cells), cells["row"].to_numpy(), cells["status"].tolist(), STATUSES
    )
    numbers = frame["round_number"].astype("int64")
    chart.draw_round_axis(np.array([numbers.min() - 0.5, numbers.max() + 0.5]))
    chart.show_titles(*_notes(frame), r.omitted_note(rows.nunique() - len(labels), noun="parties"))


def _cells(frame: pd.DataFrame, rows: pd.Series) -> pd.DataFrame:
    """Return the worst status of each row and group of rounds."""
    numbers = frame["round_number"].to_numpy("int64")
    width = -(-(int(numbers.max() - numbers.min()) + 1) // MAX_BINS)
    status = frame["status"].astype("str").where(frame["status"].isin([*STATUSES]), "unknown")
    status = status.mask((frame["status"] == "equal") & is_true(frame["is_dry_run"]), DRY_RUN)
    rank = status.map({name: rank for rank, name in enumerate(STATUSES)})
    start = numbers.min() + (numbers - numbers.min()) // width * width
    table = pd.DataFrame({"row": rows.to_numpy("int64"), "start": start, "rank": rank.to_numpy("int64")})
    worst = table.sort_values("rank").drop_duplicates(["row", "start"])
    return worst.assign(width=width, status=np.array([*STATUSES])[worst["rank"]])


def _spans(cells: pd.DataFrame) -> tuple[r.Numbers, r.Numbers]:
    starts = cells["start"].to_numpy("float64") - 0.5
    gap = GAP if cells["start"].nunique() <= MAX_BINS_WITH_GAPS else 0
    return starts, starts + cells["width"].to_numpy("float64") * (1 - gap)


def _notes(frame: pd.DataFrame) -> list[str]:
    """Return how many rounds hold, and how many do not."""
    of_round = frame.assign(is_known=frame["status"] != "unknown", is_bad=frame["status"].isin(["differs", "missing"]))
    rounds = of_round.groupby(["round_number", "is_dry_run"])[["is_known", "is_bad"]].any()
    known, bad = int(rounds["is_known"].sum()), int(rounds["is_bad"].sum())
    if not known:
        return ["No link is known"]
    verb = "does" if bad == 1 else "do"
    return [f"{pluralize(known, 'round')} with a known link, of which {bad:,} {verb} not hold" if bad else
            f"All known links of {pluralize(known, 'round')} hold"]  # fmt: skip
