"""Plot of transfers and settlements of tokens of any instrument."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.texts.representation import pluralize
from ledgerframes.texts.short_names import number_repeated
from ledgerframes.values import decimals

MOVED, WAITS, ENDED, UNKNOWN = "moved", "reserved or waits", "ended without a transfer", "outcome unknown"
STYLES: s.Styles = {
    MOVED: {"color": s.FINE},
    WAITS: s.LESS_FINE,
    ENDED: {"color": s.BAD},
    UNKNOWN: s.NOTHING,
}
STARTS = ("AllocationFactory_Allocate",)
ENDS = ("_Reject", "_Withdraw", "_Cancel")
MAX_INSTRUMENT = 20


@draws("economy.transfers", "Transfers and settlements of tokens", empty="No token was transferred or reserved in this window.")
def economy_transfers(chart: Chart) -> None:
    """Draw how often tokens of each instrument were moved, reserved or kept back.

    Above the name of an instrument stands the amount that was moved, as far as it is known, in its own units. Units of
    different instruments do not compare.

    Number of exercises, one row per instrument, a bar for each outcome.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.economy.transfers(frames))
    """
    frame = chart.frame
    groups = frame.groupby(["instrument_admin", "instrument_id"], dropna=False, sort=False).ngroup()
    order = groups.value_counts(sort=False).sort_values(ascending=False, kind="stable").index
    outcome = pd.Series([_outcome(*pair) for pair in zip(frame["choice"], frame["output"], strict=True)], frame.index)
    parts = [groups == number for number in order[: r.MAX_ROWS]]
    names = number_repeated([_name(frame[part].iloc[0]) for part in parts])
    labels = [f"{_moved(frame[part & (outcome == MOVED)])}\n{name}".strip() for part, name in zip(parts, names, strict=True)]
    counts = {name: np.array([(outcome[part] == name).sum() for part in parts], "float64") for name in STYLES}
    s.count_bars(chart, labels, counts, STYLES, "Exercises")
    unknown = int(frame["amount"].isna().sum())
    chart.show_titles(
        f"{pluralize(unknown, 'exercise')} without a known amount" if unknown else "",
        r.omitted_note(len(order) - len(parts), len(parts), "instruments"),
    )


def _outcome(choice: object, output: object) -> str:
    """Return what an exercise did, by its choice and the result that the registry names."""
    name, result = str(choice), str(output)
    if name.endswith(ENDS):
        return ENDED
    if name == "Allocation_ExecuteTransfer":
        return MOVED
    if name in STARTS or result.endswith("_Pending"):
        return WAITS
    return MOVED if result.endswith("_Completed") else ENDED if result.endswith("_Failed") else UNKNOWN


def _name(row: pd.Series) -> str:
    """Return the name of an instrument, and who administers it."""
    instrument, admin = row["instrument_id"], row["instrument_admin"]
    if not isinstance(instrument, str):
        return "unknown instrument"
    name = r.label(instrument, MAX_INSTRUMENT)
    return f"{name}\nof {r.label(admin)}" if isinstance(admin, str) else name


def _moved(rows: pd.DataFrame) -> str:
    """Return the sum of known amounts, or an empty text if none is known."""
    total = decimals.total(rows["amount"].dropna())
    return "" if total is None else r.amount(total)
