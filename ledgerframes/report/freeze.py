"""Frozen inputs of a run, as a copy of the catalog.

Segments never change, so the copy fixes all rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.datasets.registry import BULK_ACS, CONTRACTS, DATASETS, EVENTS, REWARD_ACCOUNTING, Dataset
from ledgerframes.installation import code_digest, installed_version
from ledgerframes.network import Network
from ledgerframes.report.loads import history_window
from ledgerframes.report.registry import Report
from ledgerframes.store.location import digest_of
from ledgerframes.store.sources import START_OF_TIME
from ledgerframes.values.windows import Window, iso


@dataclass(frozen=True)
class FrozenInputs:
    """Inputs of one run."""

    report: Report
    window: Window
    parameters: Mapping[str, Any]
    catalog: Path  # the copied one
    history: Path | None  # the days that earlier runs kept, if they stand for the weeks before
    net: Network  # offline, over the copied catalog

    @property
    def reward_links(self) -> Path:
        """Path of the links of the rewards, for a report that checks them."""
        return self.catalog.with_name("reward_links.parquet")

    def digest(self) -> str:
        """Return a digest of the data, parameters and code that decide what a page says.

        It needs only the catalog. Runs with the same digest have the same figures.
        """
        content = {
            "report": self.report.name,
            "network": self.net.name,
            "window": [iso(self.window.since), iso(self.window.until)],
            "end": iso(min(self.window.until, self.net.now())),  # data are no newer
            "parameters": self.parameters,
            "notebook": digest_of(self.report.path),
            "code": code_digest(),
            "version": installed_version(),
            "history": digest_of(self.history) if self.history else "",
            "data": self.data_digest,
            "events": self._describe(EVENTS),
            "contracts": self._describe(BULK_ACS) if self.report.needs_state else [],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @cached_property
    def data_digest(self) -> str:
        """The digest of all rows that the report can read.

        A user's notebook can read all that the store has.
        """
        store, events = self.net.store, Window(self._start, self.window.until)
        datasets = list(DATASETS.values()) if self.report.is_own else []
        datasets += [BULK_ACS, CONTRACTS] if self.report.needs_state else []
        datasets += [REWARD_ACCOUNTING] if self.report.has_rewards else []
        digests = [store.snapshot(EVENTS, events).digest, *(store.snapshot(each).digest for each in datasets)]
        return hashlib.sha256(json.dumps(digests).encode()).hexdigest()

    def _describe(self, dataset: Dataset) -> list[object]:
        """Return which rows of a dataset are final, where they are from, and what is missing."""
        snapshot = self.net.store.snapshot(dataset, Window(self._start, self.window.until))
        segments = [[str(each.extent), each.status, each.source] for each in snapshot.segments]
        return [segments, sorted(snapshot.unreadable), str(snapshot.missing_before)]

    @property
    def _start(self) -> datetime:
        """The earliest time that the report may read."""
        weeks, before = history_window(self.window), self.window.before(self.window.until - self.window.since)
        if self.report.needs_state or weeks is None or before is None:
            return START_OF_TIME
        return min(weeks.since, before.since)


def freeze_inputs(
    net: Network, window: Window, catalog: Path, report: Report, parameters: Mapping[str, Any], kept_days: pd.DataFrame | None
) -> FrozenInputs:
    """Copy the catalog to a path.

    Days of earlier runs replace the weeks before if the store does not have these weeks.
    """
    net.store.freeze(catalog)
    offline = Network(net.settings, clock=net.now, offline=True, catalog=catalog)
    history = None
    if kept_days is not None:
        history = catalog.with_name("history.parquet")
        kept_days.to_parquet(history, index=False)
    return FrozenInputs(report, window, parameters, catalog, history, offline)
