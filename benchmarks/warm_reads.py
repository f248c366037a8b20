"""Reading two columns back out of a store: millions of rows, and one day out of thirty, against a bare read of the same files.

The store holds traffic as `load_events` leaves it: a segment for what the loaders put into one. Its values are drawn from a
sandbox's; only the traffic has files, the other tables are no more than named in the catalog.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from figures import Figure
from measuring import KEPT, Row, interleaved, sampled, say
from rounds import busy, middle, ratio

import ledgerframes as lf
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.wire import Event
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.network import Network
from ledgerframes.sandbox import Sandbox
from ledgerframes.settings.groups import Limits
from ledgerframes.store import Segment
from ledgerframes.store import catalog as records
from ledgerframes.store.compact import compact
from ledgerframes.values.extents import Migration, MigrationWindow, microseconds
from ledgerframes.values.windows import Window, instant

Asked = dict[str, datetime]

COLUMNS = ["record_time", "total_traffic_cost"]
SEGMENT_BYTES = Limits().segment_bytes
DAYS = 30
UNTIL = instant("2026-11-09")
SINCE = UNTIL - timedelta(days=DAYS)
WHOLE = {"since": SINCE, "until": UNTIL}
ONE_DAY = {"since": SINCE + timedelta(days=14), "until": SINCE + timedelta(days=15)}
MIGRATION, SEED = 4, 7
SAMPLE = 3_000  # events; those of a segment are fewer
DONE = "done"
BOUNDS = (1.2, 1.5)


def warm_reads(rows: int, rounds: int) -> list[Row]:
    """Measure the whole range and one day of a store that is made when there is none."""
    folder = _made(KEPT / f"traffic-{rows}-in-{SEGMENT_BYTES}", rows)
    scattered, compacted = _network(folder / "scattered"), _network(folder / "compacted")
    whole, whole_note = _against_bare(scattered, WHOLE, rounds)
    after, after_note = _against_bare(compacted, WHOLE, rounds)
    day, day_note = _against_bare(scattered, ONE_DAY, 3 * rounds)
    how = "`load_traffic` of two columns, warm, including the catalog lookup that shows that nothing is missing. Against "
    how += "`pyarrow.dataset` of the same files to pandas, with the same two columns and dtypes."
    return [
        Row.of(
            Figure(
                "load_traffic, two columns of a large store, to bare pyarrow",
                whole,
                *BOUNDS,
                higher_is_better=False,
                note=f"{rows:,} rows, {whole_note}",
            ),
            how,
            lambda: sampled(_reading(scattered, WHOLE)),
        ),
        Row.of(
            Figure("the same after store compact", after, *BOUNDS, higher_is_better=False, note=after_note),
            "The same store after `ledgerframes store compact`, against a bare read of its new files.",
            lambda: sampled(_repeated(_reading(compacted, WHOLE))),
        ),
        Row.of(
            Figure(
                "load_traffic, one day out of thirty, to its files alone", day, 1.5, 2.5, higher_is_better=False, note=day_note
            ),
            "`load_traffic` of one day, warm, against `pyarrow.dataset` of the files that hold that day.",
            lambda: sampled(_repeated(_reading(scattered, ONE_DAY))),
        ),
    ]


def _against_bare(net: Network, asked: Asked, rounds: int) -> tuple[float, str]:
    """How many times as long as the bare read of the same files, and what was read."""
    root = net.store.location.local_path
    assert root is not None
    files = [str(root / file.path) for file in net.store.snapshot(EVENTS, Window(**asked)).scan("traffic").get_fragments()]
    ours, bare = _reading(net, asked), _bare(files)
    if asked == WHOLE:
        pd.testing.assert_frame_equal(ours(), bare())
    assert str(ours().dtypes) == str(bare().dtypes)
    taken = interleaved(rounds, {"ours": ours, "bare": bare})
    note = f"{len(files):,} files; {middle(taken, 'ours') * 1000:,.0f} ms and {middle(taken, 'bare') * 1000:,.0f} ms; "
    note += busy(taken)
    return ratio(taken, "ours", "bare"), note


def _reading(net: Network, asked: Asked) -> Callable[[], pd.DataFrame]:
    return lambda: lf.load_traffic(net, columns=COLUMNS, progress=False, **asked)  # type: ignore[arg-type]


def _repeated(run: Callable[[], object]) -> Callable[[], object]:
    return lambda: [run() for _ in range(20)]


def _bare(files: list[str]) -> Callable[[], pd.DataFrame]:
    return lambda: ds.dataset(files, format="parquet").to_table(columns=COLUMNS).to_pandas()


# -- the store ------------------------------------------------------------------------------------------------------


def _network(store: Path) -> Network:
    """A network that is never asked, at a time when all of the range is settled."""
    settings = lf.connect("sandbox", history_url="http://127.0.0.1:9", store=store, network="warm").settings
    return Network(settings, clock=lambda: UNTIL + timedelta(days=1))


def _made(folder: Path, rows: int) -> Path:
    """The store as it is left by loading, and a compacted copy; kept for the next time."""
    if (folder / DONE).exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    say(f"making a store with {rows:,} rows of traffic")
    net, (traffic, others) = _network(folder / "scattered"), _sample()
    net.store.save_migrations([Migration(MIGRATION, microseconds(SINCE))])
    segments = list(_segments(net, traffic, rows))
    _add(net, segments)
    shutil.copytree(folder / "scattered", folder / "compacted")
    say("compacting a copy")
    compact(_network(folder / "compacted").store)
    with net.store.catalog.write_transaction() as connection:
        for segment in segments:
            records.remove_segment(connection, segment.segment_id)
    named = {
        name: segments[0].files["traffic"]._replace(table=name, path=f"{name}/none.parquet", rows=0, footer="") for name in others
    }
    for name, file in named.items():
        _write_nothing(net, name, file.path)
    _add(net, [replace(segment, files={**named, **segment.files}) for segment in segments])
    (folder / DONE).touch()
    return folder


def _write_nothing(net: Network, table: str, path: str) -> None:
    """Write a file without rows, whose size and digest nobody compares."""
    target = Path(str(net.store.location.local_path)) / path
    target.parent.mkdir(exist_ok=True)
    pq.write_table(TABLES[table].empty_arrow(), target)


def _add(net: Network, segments: list[Segment]) -> None:
    """All in one transaction: this is not what is measured."""
    with net.store.catalog.write_transaction() as connection:
        for segment in segments:
            records.add_segment(connection, segment)


def _sample() -> tuple[pa.Table, list[str]]:
    """The traffic of one segment's events, and the names of the other tables that have rows."""
    box = Sandbox(events=24_000, days=8)
    items = [msgspec.json.decode(event.item(), type=Event) for event in islice(box.world.events(), 4_000, 4_000 + SAMPLE)]
    tables = event_tables(items, "listing")
    share = SEGMENT_BYTES / sum(table.nbytes for table in tables.values())
    assert share < 1, "the sample has to fill a segment"
    traffic = tables["traffic"].slice(0, round(share * tables["traffic"].num_rows))
    return traffic, [name for name, table in tables.items() if table.num_rows and name != "traffic"]


def _segments(net: Network, traffic: pa.Table, rows: int) -> Iterator[Segment]:
    """Segments with files, one after the other in time, until there are enough rows."""
    random = np.random.default_rng(SEED)
    count = -(-rows // traffic.num_rows)
    step = (microseconds(UNTIL) - microseconds(SINCE)) // count
    for number in range(count):
        low = microseconds(SINCE) + number * step
        high = microseconds(UNTIL) if number == count - 1 else low + step
        drawn = traffic.take(random.integers(0, traffic.num_rows, min(traffic.num_rows, rows - number * traffic.num_rows)))
        table = _moved(drawn, np.sort(random.integers(low, high, drawn.num_rows)), random.bytes(32 * drawn.num_rows).hex())
        yield net.store.write_segment(
            EVENTS, MigrationWindow(MIGRATION, low, high), {"traffic": table}, final=True, source="benchmark"
        )


def _moved(traffic: pa.Table, times: np.ndarray, digits: str) -> pa.Table:
    """The same costs at other times, of other updates."""
    new = {
        "record_time": pa.array(times).cast(traffic.schema.field("record_time").type),
        "update_id": pa.array([f"1220{digits[at : at + 64]}" for at in range(0, len(digits), 64)], pa.string()),
        "migration_id": pa.array(np.full(len(times), MIGRATION)),
    }
    return pa.table([new.get(name, traffic[name]) for name in traffic.column_names], schema=traffic.schema)
