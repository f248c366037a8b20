"""The store of a week as large as that of the live network.

The week is that of a sandbox, copied many times with other ids and times a few milliseconds later, and written by the store's own
writer.
"""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from measuring import KEPT, say

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.frames import Frames
from ledgerframes.network import Network
from ledgerframes.store import StoreSnapshot
from ledgerframes.values.extents import Migration, MigrationWindow
from ledgerframes.values.windows import instant

EVENTS_OF_THE_SANDBOX, DAYS = 100_000, 7
UNTIL = instant("2026-11-09")
SINCE = UNTIL - timedelta(days=DAYS)
LATER = 1_700  # microseconds from one copy to the next
ID_COLUMNS = ("update_id", "event_id", "parent_event_id", "contract_id")
# A network has these once, so updates that create one are not copied.
STATE = (
    "Splice.DsoRules:DsoRules",
    "Splice.CoinRules:CoinRules",
    "Splice.Ans:AnsRules",
    "Splice.Coin:FeaturedAppRight",
    "Splice.Round:OpenMiningRound",
    "Splice.Round:SummarizingMiningRound",
    "Splice.Round:IssuingMiningRound",
    "Splice.Round:ClosedMiningRound",
)
TIME_COLUMNS = ("record_time", "finalization_time")


def make_week(copies: int) -> Path:
    """Return the store of a week of so many copies, made once."""
    folder = KEPT / f"week-{copies}"
    done = folder / "done"
    if done.exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    say(f"making a week of {copies * EVENTS_OF_THE_SANDBOX:,} requests")
    source = lf.connect("sandbox", events=EVENTS_OF_THE_SANDBOX, days=DAYS, store=KEPT / "week")
    frames = lf.load_events(source, since=SINCE, until=UNTIL)
    net = network(folder)
    windows = _windows(frames)
    starts = {each.migration_id: each.start for each in reversed(windows)}
    net.store.save_migrations([Migration(number, starts[number]) for number in sorted(starts)])
    of_state = _updates_of_state(frames)
    for window in windows:
        copied = {table.name: _copied(frames, table.name, copies, window, of_state) for table in EVENTS.tables}
        net.store.commit(EVENTS, window, copied, final=True, source="benchmark")
    done.touch()
    return folder


def network(store: Path, **limits: Any) -> Network:
    """A network that is never asked, at a time when all of the week is final."""
    settings = lf.connect("sandbox", history_url="http://127.0.0.1:9", store=store, network="week", **limits).settings
    return Network(settings, clock=lambda: UNTIL + timedelta(days=1))


def _windows(frames: Frames) -> list[MigrationWindow]:
    """Return the extents of the segments of the week, in order."""
    assert isinstance(frames._source, StoreSnapshot)
    return sorted(each.extent for each in frames._source.segments if isinstance(each.extent, MigrationWindow))


def _updates_of_state(frames: Frames) -> pa.Array:
    """Return the ids of updates that create contracts which a network has once."""
    is_created = (pc.field("event_type") == "created_event") & pc.field("template_name").isin(STATE)
    return frames._source.scan("tree_events").to_table(["update_id"], filter=is_created)["update_id"].combine_chunks().unique()


def _copied(frames: Frames, name: str, copies: int, window: MigrationWindow, of_state: pa.Array) -> pa.Table:
    """Return the rows of a window so many times, as the store has them."""
    since, until = (pa.scalar(time, pa.timestamp("us", "UTC")) for time in (window.start, window.stop))
    is_inside = (pc.field("record_time") >= since) & (pc.field("record_time") < until)
    rows = frames._source.scan(name).to_table(filter=is_inside & (pc.field("migration_id") == window.migration_id))
    others = rows.filter(pc.invert(pc.is_in(rows["update_id"], of_state)))
    copied = pa.concat_tables(_copy(others if number else rows, number, window) for number in range(copies))
    return lf.table(name).sorted(copied.unify_dictionaries())


def _copy(rows: pa.Table, number: int, window: MigrationWindow) -> pa.Table:
    """Return the rows with other ids, a little later and inside the window."""
    times = rows["record_time"].cast(pa.int64()).to_numpy()
    delays = (times - window.start + number * LATER) % (window.stop - window.start) + window.start - times
    for position, name in enumerate(rows.column_names):
        values = rows[name]
        if name in ID_COLUMNS:
            values = pc.binary_replace_slice(values.cast(pa.binary()), 4, 10, f"{number:06x}".encode()).cast(pa.string())
        elif name in TIME_COLUMNS:
            later = pa.array(delays, pa.duration("us"))
            values = pc.add(values, later)
        rows = rows.set_column(position, rows.schema.field(position), values)
    return rows
