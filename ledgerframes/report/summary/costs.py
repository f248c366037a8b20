"""Costs of a period, computed once for all statements."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.frames import Frames


@dataclass(frozen=True)
class Costs:
    """Costs from :func:`ledgerframes.cost.spend` by kind of request and by participant."""

    kinds: pd.DataFrame
    participants: pd.DataFrame

    @classmethod
    def of(cls, frames: Frames) -> Costs:
        """Return the costs of frames."""
        return cls(cost.spend(frames, by="template"), cost.spend(frames, by="participant"))

    @property
    def requests(self) -> int:
        """Number of requests."""
        return int(self.kinds["requests"].sum())

    @property
    def requests_with_cost(self) -> int:
        """Number of requests with a known cost."""
        return int(self.kinds["requests_with_cost"].sum())

    @property
    def total(self) -> int:
        """Sum of the known costs [bytes]."""
        return int(self.kinds["total_traffic_cost"].sum())

    @property
    def coverage(self) -> float:
        """Share of the requests with a known cost."""
        return self.requests_with_cost / self.requests
