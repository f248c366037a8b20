"""Share of the requests of frames that have a verdict."""

from __future__ import annotations

from ledgerframes.analysis.groups import ratio
from ledgerframes.engine import Query, run
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.frames import Frames


def share_with_verdict(frames: Frames) -> float:
    """Return the share of all requests that have a verdict, which is missing without requests."""
    select = "SELECT count(*) AS requests, count(*) FILTER (WHERE has_verdict) AS verdicts\nFROM requests"
    counts = run(frames, Query(select, (REQUESTS,)))
    return float(ratio(counts["verdicts"], counts["requests"])[0])
