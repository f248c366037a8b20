"""Every figure over a week as large as that of the live network, each in a process of its own.

The week is that of a sandbox, copied many times with other ids and times a few milliseconds later, and written by the store's own
writer. ``python live_week.py STORE CALL`` computes one of the calls below, and prints its seconds and its peak of memory as JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from figures import Figure
from measuring import KEPT, Row, fresh, peak_megabytes, say

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.extents import Migration, MigrationWindow
from ledgerframes.frames import Frames
from ledgerframes.network import Network
from ledgerframes.store import StoreSnapshot
from ledgerframes.windows import instant

EVENTS_OF_THE_SANDBOX, DAYS = 100_000, 7
UNTIL = instant("2026-11-09")
SINCE = UNTIL - timedelta(days=DAYS)
LATER = 1_700  # microseconds from one copy to the next
ID_COLUMNS = ("update_id", "event_id", "parent_event_id", "contract_id")
TIME_COLUMNS = ("record_time", "finalization_time")

# Calls that a weekly report makes, by the name of the figure and what groups it.
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "cost.spend": ("cost.spend", {}),
    "cost.spend by participant": ("cost.spend", {"by": "participant"}),
    "cost.spend by party": ("cost.spend", {"by": "party"}),
    "cost.spend by template": ("cost.spend", {"by": "template"}),
    "cost.spend every hour": ("cost.spend", {"every": "1h"}),
    "cost.overhead": ("cost.overhead", {}),
    "cost.wasted": ("cost.wasted", {}),
    "cost.concentration": ("cost.concentration", {"by": "participant"}),
    "cost.control": ("cost.control", {}),
    "cost.problems": ("cost.problems", {}),
    "verdict.outcomes": ("verdict.outcomes", {"by": "participant"}),
    "verdict.latency every hour": ("verdict.latency", {"every": "1h"}),
    "verdict.rejections": ("verdict.rejections", {}),
    "verdict.quorums": ("verdict.quorums", {}),
    "verdict.waited_for": ("verdict.waited_for", {}),
    "verdict.head_of_line": ("verdict.head_of_line", {}),
    "activity.weights": ("activity.weights", {}),
    "economy.rounds": ("economy.rounds", {}),
    "economy.burn_mint": ("economy.burn_mint", {}),
}


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
    for window in windows:
        copied = {table.name: _copied(frames, table.name, copies, window) for table in EVENTS.tables}
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


def _copied(frames: Frames, name: str, copies: int, window: MigrationWindow) -> pa.Table:
    """Return the rows of a window so many times, as the store has them."""
    since, until = (pa.scalar(time, pa.timestamp("us", "UTC")) for time in (window.start, window.stop))
    is_inside = (pc.field("record_time") >= since) & (pc.field("record_time") < until)
    rows = frames._source.scan(name).to_table(filter=is_inside & (pc.field("migration_id") == window.migration_id))
    copied = pa.concat_tables(_copy(rows, number, window) for number in range(copies))
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


# -- by hand ------------------------------------------------------------------------------------------------------------

REQUESTS = """
    SELECT
        coalesce(v.record_time, u.record_time, t.record_time) AS record_time,
        submitting_participant_uid, verdict_result, update_id,
        CASE WHEN total_traffic_cost >= 0 THEN total_traffic_cost END AS cost
    FROM verdicts v FULL JOIN updates u USING (update_id) FULL JOIN traffic t USING (update_id)
"""
OVERHEAD = """
    SELECT update_id, sum(traffic_cost) FILTER (len(view_ids) = 0) AS overhead
    FROM envelopes WHERE traffic_cost >= 0 GROUP BY update_id
"""
COLUMNS = """
    count(*), count(cost), sum(cost), count(*) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED'),
    sum(cost) FILTER (verdict_result = 'VERDICT_RESULT_REJECTED'), sum(overhead),
    quantile_disc(cost, 0.50), quantile_disc(cost, 0.95), max(cost)
"""
SPEND = f"WITH r AS ({REQUESTS}), o AS ({OVERHEAD}) SELECT {{key}} {COLUMNS} FROM r LEFT JOIN o USING (update_id) GROUP BY ALL"
# The same columns as one would write the query for this question alone; estimates and intervals are left out.
BY_HAND = {
    "cost.spend": SPEND.format(key=""),
    "cost.spend by participant": SPEND.format(key="submitting_participant_uid,"),
    "cost.spend every hour": SPEND.format(key="date_trunc('hour', record_time),"),
    "verdict.latency every hour": """
        SELECT date_trunc('hour', record_time), verdict_result, count(*), quantile_disc(latency, [0.5, 0.9, 0.95, 0.99])
        FROM (SELECT *, finalization_time - record_time AS latency FROM verdicts) GROUP BY ALL
    """,
    "verdict.quorums": """
        SELECT list_sort(parties), threshold, count(*), count(DISTINCT (update_id, view_id)), count(DISTINCT update_id)
        FROM quorums GROUP BY ALL
    """,
    "activity.weights": "SELECT round_number, party, sum(weight) FROM activity_records GROUP BY ALL",
}


def compute_by_hand(store: Path, call: str) -> dict[str, float]:
    """Return the seconds of the processor of a query by hand over the same files."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1, "memory_limit": "3GB"})
    for table in EVENTS.tables:
        connection.execute(f"CREATE VIEW {table.name} AS FROM read_parquet('{store}/week/{table.name}/*.parquet')")
    before = time.process_time()
    connection.sql(BY_HAND[call]).to_arrow_table()
    return {"processor": time.process_time() - before}


# -- all figures --------------------------------------------------------------------------------------------------------

MAX_SECONDS, MAX_GIGABYTES = 60, 4
GROWTH = (1, 4, 16)  # copies


def live_week(copies: int) -> list[Row]:
    """Compare each figure with its limits on a live week, and with a query by hand where there is one."""
    store = make_week(copies)
    rows = []
    for call in CALLS:
        say(f"{call} of {copies * EVENTS_OF_THE_SANDBOX:,} requests")
        used = fresh("live_week.py", store, call)
        note = f"{used['seconds']:.1f} s, {used['megabytes'] / 1000:.1f} GB"
        share = max(used["seconds"] / MAX_SECONDS, used["megabytes"] / 1000 / MAX_GIGABYTES)
        rows.append(Row(Figure(f"{call}, of 60 s and 4 GB", share, 1.0, 2.0, higher_is_better=False, note=note), HOW))
        if call in BY_HAND:
            ours, theirs = (fresh("live_week.py", store, call, how)["processor"] for how in ("one-thread", "by-hand"))
            note = f"{ours:.1f} and {theirs:.1f} s of the processor, one thread"
            rows.append(
                Row(Figure(f"{call}, to a query by hand", ours / theirs, 2.0, 3.0, higher_is_better=False, note=note), HOW)
            )
    return rows


def growth(copies: tuple[int, ...] = GROWTH) -> list[Row]:
    """Fit the exponent with which each figure grows with the requests. 1 is linear."""
    rows = []
    for call in CALLS:
        seconds = [fresh("live_week.py", make_week(each), call)["processor"] for each in copies]
        exponent = float(np.polyfit(np.log(copies), np.log(seconds), 1)[0])
        note = ", ".join(f"{each * EVENTS_OF_THE_SANDBOX:,}: {taken:.1f} s" for each, taken in zip(copies, seconds, strict=True))
        rows.append(Row(Figure(f"{call}, exponent of its growth", exponent, 1.1, 1.2, higher_is_better=False, note=note), HOW))
    return rows


HOW = (
    "A week of a sandbox, copied with other ids and times a few milliseconds later, and written by the store's own writer; each "
    "figure in a process of its own, with a limit of 3 GB for the engine. See `benchmarks/live_week.py`."
)


def compute(store: Path, call: str, threads: int | None) -> dict[str, float]:
    """Return seconds, seconds of the processor and the peak of memory of one figure."""
    name, arguments = CALLS[call]
    module, function = name.split(".")
    net = network(store, threads=threads, memory_limit="3GB")
    frames = lf.load_events(net, since=SINCE, until=UNTIL, progress=False)
    getattr(getattr(lf, module), function)(frames.between(SINCE, SINCE + timedelta(hours=1)), **arguments)  # imports
    before, processor = time.perf_counter(), time.process_time()
    getattr(getattr(lf, module), function)(frames, **arguments)
    return {
        "seconds": time.perf_counter() - before,
        "processor": time.process_time() - processor,
        "megabytes": peak_megabytes(),
    }


if __name__ == "__main__":
    folder, chosen, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
    by_hand = how == "by-hand"
    print(json.dumps(compute_by_hand(folder, chosen) if by_hand else compute(folder, chosen, 1 if how else None)))
