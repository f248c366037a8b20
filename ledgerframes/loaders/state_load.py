"""A list of the current state of a participant, which is never stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import pandas as pd
import pyarrow as pa

from ledgerframes.datasets import Table
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.gc_pause import pause_gc
from ledgerframes.loaders.bad_items import OnBadItem
from ledgerframes.loaders.participant_lists import ParticipantLists
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.sync import plan_frame
from ledgerframes.network import Network

T = TypeVar("T")


@dataclass(frozen=True)
class StateLoad(Generic[T]):
    """A list of a participant's state, which is one stream of pages."""

    net: Network
    table: Table
    fetch: Callable[[ParticipantLists], Iterable[T]]
    build: Callable[[list[T], str], pa.Table]  # from the items and the id of the participant
    on_bad_item: OnBadItem
    extent: Mapping[str, int | None] = field(default_factory=dict)  # in the columns of table plan

    def plan(self) -> pd.DataFrame:
        """Return the one extent that would be fetched."""
        return plan_frame(self.table.name, [self.extent])

    def load(self, progress: bool | None) -> pd.DataFrame:
        """Fetch the items, and return their table."""
        net, ledger, items = self.net, ParticipantLists(self.net, self.on_bad_item), list[T]()
        subject = f"{self.table.name.replace('_', ' ')} ({net.name})"
        with pause_gc(), Progress(subject, None, "items", progress) as bar, net.waits.session(bar.show_wait, threading.Event()):
            for item in self.fetch(ledger):
                items.append(item)
                bar.advance(1)
            participant_id = ledger.participant_id()
            with decode_boundary(ledger.last_list):
                rows = self.build(items, participant_id)
            bar.count(rows=len(rows))
        ledger.additions.note({self.table.name: rows})
        ledger.additions.log(net.name)
        return self.table.to_pandas(rows)
