"""Draws the pictures of README and docs, from the embedded sandbox."""

from __future__ import annotations

import tempfile
from pathlib import Path

import ledgerframes as lf

IMAGES = Path(__file__).parent / "images"
WEEK = {"since": "2026-11-02", "until": "2026-11-09"}


def main() -> None:
    """Draw what README shows."""
    import matplotlib as mpl

    mpl.use("Agg")
    with tempfile.TemporaryDirectory() as store:
        frames = lf.load_events(lf.connect("sandbox", store=store), **WEEK)
        axes = lf.plot.cost_spend(lf.cost.spend(frames, every="1h"))
        axes.figure.savefig(IMAGES / "cost_spend.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
