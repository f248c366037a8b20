"""Writes the sample: one day of the sandbox, as `make data` does."""

from __future__ import annotations

import tempfile
from pathlib import Path

import ledgerframes as lf

WORLD = {"seed": 1, "events": 4_000, "days": 8}
DAY = "2026-11-05"
DIRECTORY = Path(__file__).parent / "sample"


def main() -> None:
    """Load the day into a store that is thrown away, and save its frames."""
    with tempfile.TemporaryDirectory() as store:
        frames = lf.load_events(lf.connect("sandbox", store=store, **WORLD), during=DAY)
        manifest = lf.save_frames(frames, DIRECTORY)
        print(f"{manifest.parent.name}: {frames!r}")


if __name__ == "__main__":
    main()
