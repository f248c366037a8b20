"""A large history on disk into the store: rows a second, memory of every process, and how the cost grows.

Each size is loaded by a fresh process as `load_bulk(paths=…)` does by default: with a process for each core.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figure
from measuring import PeakOfWorkers, Row, empty_store, fresh, peak_megabytes, say

import ledgerframes as lf
from ledgerframes.datasets.registry import BULK_BY_KEY

SHARES = (1 / 8, 1 / 4, 1 / 2, 1)
STYLE = Path(lf.__file__).parent / "ledgerframes.mplstyle"

Facts = dict[str, Any]


def large_sync(objects: list[Path], rounds: int, picture: Path) -> Row:
    """Load four shares of the objects, the largest as large as all of them, and draw what they cost."""
    facts: list[Facts] = []
    for number in range(rounds):
        for share in SHARES:
            count = max(1, round(share * len(objects)))
            facts.append(_loaded(objects[:count]))
            say(f"round {number + 1}: {facts[-1]['bytes'] / 1e9:.2f} GB in {facts[-1]['seconds']:.1f} s")
    slope = draw(facts, picture)
    largest = [fact for fact in facts if fact["bytes"] == max(fact["bytes"] for fact in facts)]
    rows = float(np.median([fact["rows"] / fact["seconds"] for fact in largest]))
    over = max(fact["over"] for fact in facts)
    note = f"{largest[0]['bytes'] / 1e9:.3g} GB of lines, {largest[0]['rows']:,} rows, {rows:,.0f} rows/s; "
    note += f"seconds grow with the power {slope:.2f} of the size"
    return Row(
        Figure("10 GB of bulk objects synced: MB a process over bare", over, 150, 250, higher_is_better=False, note=note),
        "`load_bulk(paths=…)` with its own workers, from objects to committed segments. The largest peak (VmHWM) of any process, "
        "caller or worker, minus that of a process after all imports. See the picture for the cost.",
    )


def _loaded(paths: list[Path]) -> Facts:
    facts: Facts = fresh("large_sync.py", "load", *paths)
    return facts


def load(paths: list[str]) -> None:
    """In a process of its own: load, and say what it took."""
    with empty_store() as net:
        bare = peak_megabytes()
        began = time.perf_counter()
        with PeakOfWorkers() as workers:
            facts = lf.load_bulk(net, paths=paths, progress=False).bulk_objects
            seconds = time.perf_counter() - began
        peaks = [peak_megabytes(), *workers.megabytes.values()]
        rows = sum(segment.rows for segment in net.store.segments(BULK_BY_KEY))
    size = int(facts["uncompressed_bytes"].sum())
    print(json.dumps({"seconds": seconds, "bytes": size, "rows": rows, "over": max(peaks) - bare}))


# -- the picture ----------------------------------------------------------------------------------------------------


def draw(facts: list[Facts], picture: Path) -> float:
    """Seconds over size, both logarithmic; the exponent of the line through them."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter, NullFormatter

    sizes = np.array([fact["bytes"] / 1e9 for fact in facts])
    seconds = np.array([fact["seconds"] for fact in facts])
    slope, offset = np.polyfit(np.log(sizes), np.log(seconds), 1) if len(set(sizes)) > 1 else (0.0, float(np.log(seconds[0])))
    ends = np.array([sizes.min(), sizes.max()])
    with plt.style.context(STYLE):
        figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
        axes.plot(ends, np.exp(offset) * ends**slope, color="C0", label=f"seconds ∝ size to the power {slope:.2f}")
        axes.plot(ends, np.exp(offset) * ends[-1] ** slope * ends / ends[-1], color="C2", linestyle=":", label="proportional")
        axes.scatter(sizes, seconds, color="C1", zorder=3, label="measured, each in a fresh process")
        axes.set(xscale="log", yscale="log", xlabel="lines, expanded [GB]", ylabel="objects to committed segments [s]")
        axes.set_title("Syncing bulk objects from disk", loc="left")
        axes.set_xticks(sorted(set(sizes.round(4))))
        start, stop = np.floor(np.log2(seconds.min())), np.ceil(np.log2(seconds.max()))
        axes.set_yticks(2 ** np.arange(start, stop + 1))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:.3g}"))
            axis.set_minor_formatter(NullFormatter())
        axes.legend(loc="upper left")
        picture.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(picture, dpi=110, metadata={"Software": None})
        plt.close(figure)
    return float(slope)


if __name__ == "__main__":
    load(sys.argv[2:])
