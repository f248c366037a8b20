"""One table as one file: what is read back is what the frames hold, whichever way it was written."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes import export, testing
from ledgerframes.analysis.coverage import window_share
from ledgerframes.datasets import EVENT_TABLES, TABLES, Table
from ledgerframes.datasets.events.schema import TRAFFIC, UPDATES, VERDICTS
from ledgerframes.datasets.reference.schema import PRICE_VOTES
from ledgerframes.errors import CoverageError, StoreError, UsageError
from ledgerframes.export.files import GROUP_ROWS
from ledgerframes.frames import MemoryFrameSource

DAY = {"since": "2026-11-08", "until": "2026-11-09"}


def plain(value: Any) -> Any:
    """A value as CSV and JSON show it, written down a second time."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond:06}Z".rjust(27, "0")
    if isinstance(value, Decimal):
        return format(value, "f")
    return value


def expected_rows(rows: pa.Table) -> list[dict[str, Any]]:
    return [{name: plain(value) for name, value in row.items()} for row in rows.to_pylist()]


# -- what is read back --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [table.name for table in EVENT_TABLES])
def test_parquet_read_back_is_the_same(frames: lf.Frames, tmp_path: Path, table: str) -> None:
    target = tmp_path / "x.parquet"
    assert export.write_table(frames, table, target) == len(frames.read(table))
    pd.testing.assert_frame_equal(TABLES[table].to_pandas(pq.read_table(target)), frames.read(table))
    assert pq.read_schema(target).equals(TABLES[table].schema)


@pytest.fixture(scope="module")
def many() -> MemoryFrameSource:
    """Rows for many batches and several row groups, each with another id."""
    noise, few = random.Random(1), testing.table("traffic").sample_arrow(200)
    rows = pa.concat_tables([few] * 1_000).combine_chunks()
    place = rows.schema.get_field_index("update_id")
    rows = rows.set_column(place, rows.schema.field(place), pa.array(noise.randbytes(16).hex() for _ in range(len(rows))))
    return MemoryFrameSource({"traffic": rows}, is_sorted=True)


def test_parquet_row_groups_are_worth_reading(many: MemoryFrameSource, tmp_path: Path) -> None:
    frames = lf.Frames(many, ["traffic"])
    export.write_table(frames, "traffic", tmp_path / "x.parquet", columns=["update_id"])
    written = pq.ParquetFile(tmp_path / "x.parquet").metadata
    assert written.num_rows == frames.count_rows("traffic")
    groups = [written.row_group(group).num_rows for group in range(written.num_row_groups)]
    batch = max(batch.num_rows for batch in frames.iter_batches("traffic"))
    assert len(groups) > 3
    assert batch < GROUP_ROWS and all(GROUP_ROWS <= rows < GROUP_ROWS + batch for rows in groups[:-1])


@pytest.mark.parametrize("table", ["updates", "verdicts", "traffic", "tree_events"])
def test_json_lines_parse_back(frames: lf.Frames, tmp_path: Path, table: str) -> None:
    export.write_table(frames, table, tmp_path / "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    spec = TABLES[table]
    expected = expected_rows(frames.scan(table).to_table())
    holds_json = [column.name for column in spec.columns if column.is_json]
    for row in expected:
        row.update({name: json.loads(row[name]) for name in holds_json if row[name] is not None})
    assert [json.loads(line) for line in lines] == expected
    assert [list(json.loads(line)) for line in lines[:1]] == [list(spec.column_names)]


@pytest.mark.parametrize("table", ["updates", "verdicts", "traffic", "tree_events"])
def test_csv_parses_back(frames: lf.Frames, tmp_path: Path, table: str) -> None:
    export.write_table(frames, table, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = expected_rows(frames.scan(table).to_table())
    assert rows == [{name: as_csv(value) for name, value in row.items()} for row in expected]


def as_csv(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return "" if value is None else str(value)


def test_price_votes_keep_all_digits(net: lf.Network, tmp_path: Path) -> None:
    votes = lf.load_price_votes(net)
    frames = export.from_store(net, "price_votes")
    for suffix in ("csv", "jsonl"):
        export.write_table(frames, "price_votes", tmp_path / f"x.{suffix}", columns=["price"])
    prices = [json.loads(line)["price"] for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert prices[: len(votes)] == [None if pd.isna(price) else format(price, "f") for price in votes["price"]]
    assert (tmp_path / "x.csv").read_text().splitlines()[1:] == [f'"{price or ""}"' for price in prices]


# -- odd values ---------------------------------------------------------------------------------------------------

TEXTS = st.text(st.sampled_from('a",;\n\r\t\\\x00\x1f é😀\u2028=\ufeff'), max_size=6)
TIMES = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(lambda time: time.replace(tzinfo=UTC))
AMOUNTS = st.decimals(Decimal(-(10**20)), Decimal(10**20), places=10)
INTEGERS = st.integers(-(2**63), 2**63 - 1)


def rows_of(spec: Table, names: list[str]) -> st.SearchStrategy[pa.Table]:
    """Small tables of some columns of a declaration, with odd values."""

    def values(name: str) -> st.SearchStrategy[Any]:
        kind, nullable = spec[name].type, spec[name].nullable
        if pa.types.is_list(kind):
            strategy: st.SearchStrategy[Any] = st.lists(TEXTS, max_size=2)
        else:
            by_kind = {pa.string(): TEXTS, pa.int64(): INTEGERS, pa.timestamp("us", tz="UTC"): TIMES, pa.bool_(): st.booleans()}
            strategy = by_kind.get(kind, AMOUNTS if pa.types.is_decimal(kind) else st.integers(0, 9))
        return st.none() | strategy if nullable else strategy

    def table(rows: list[tuple[Any, ...]]) -> pa.Table:
        given = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
        columns = [pa.array(given.get(column.name, [_filler(column.type)] * len(rows)), column.type) for column in spec.columns]
        return pa.table(columns, schema=spec.schema)

    by_id = (lambda row: row[0]) if names[0] == "update_id" else None  # a second event of one update is excluded
    return st.lists(st.tuples(*(values(name) for name in names)), max_size=4, unique_by=by_id).map(table)


def _filler(kind: pa.DataType) -> Any:
    if pa.types.is_timestamp(kind):
        return datetime(2026, 1, 1, tzinfo=UTC)
    if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
        return "x"
    if pa.types.is_boolean(kind):
        return False
    return [] if pa.types.is_list(kind) else 0


ODD = [
    (UPDATES, ["update_id", "workflow_id", "record_time", "effective_at", "root_event_ids", "migration_id"]),
    (PRICE_VOTES, ["sv", "price", "last_updated_at"]),
    (VERDICTS, ["update_id", "submitting_parties", "finalization_time"]),
]


@pytest.mark.parametrize(("spec", "names"), ODD, ids=lambda value: getattr(value, "name", ""))
@settings(max_examples=30)
@given(data=st.data())
def test_odd_values_come_back(
    tmp_path_factory: pytest.TempPathFactory, spec: Table, names: list[str], data: st.DataObject
) -> None:
    rows = data.draw(rows_of(spec, names))
    frames = lf.Frames(MemoryFrameSource({spec.name: rows}, is_sorted=True), [spec.name])
    folder = tmp_path_factory.mktemp("odd")
    for suffix in ("parquet", "csv", "jsonl"):
        written = export.write_table(frames, spec.name, folder / f"x.{suffix}", columns=names, escape_formulas=False)
        assert written == rows.num_rows
    asked = rows.select(names)
    expected = expected_rows(asked)
    assert pq.read_table(folder / "x.parquet").equals(asked)
    lines = (folder / "x.jsonl").read_bytes().decode().split("\n")[:-1]
    assert [json.loads(line) for line in lines] == expected
    assert missing_and_text((folder / "x.csv").read_bytes(), names) == [
        {name: None if value is None else as_csv(value) for name, value in row.items()} for row in expected
    ]


FORMULAS = ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "=HYPERLINK(1)", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20x"]
NO_FORMULAS = ["a=1", "1-1", "", "'=1", " =1", "alice::1220"]


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    texts = FORMULAS + NO_FORMULAS
    rows = testing.table("traffic").sample_arrow(len(texts), update_id=texts)
    frames = lf.Frames(MemoryFrameSource({"traffic": rows}, is_sorted=True), ["traffic"])
    names = ["update_id", "total_traffic_cost"]
    export.write_table(frames, "traffic", tmp_path / "x.csv", columns=names)
    export.write_table(frames, "traffic", tmp_path / "raw.csv", columns=names, escape_formulas=False)
    inert, raw = (read_csv_rows(tmp_path / name) for name in ("x.csv", "raw.csv"))
    assert [row[0] for row in raw[1:]] == FORMULAS + NO_FORMULAS
    assert [row[0] for row in inert[1:]] == [f"'{text}" for text in FORMULAS] + NO_FORMULAS
    assert [row[1] for row in inert] == [row[1] for row in raw]


def test_frames_are_no_dataframe() -> None:
    frames = lf.Frames(MemoryFrameSource({}, is_sorted=True), ["traffic"])
    with pytest.raises(UsageError, match=r"frame= must be a DataFrame, got Frames\. Write a table of frames with write_table\."):
        export.write_csv(frames, io.BytesIO())  # type: ignore[arg-type]


def test_no_name_of_a_column_is_a_formula() -> None:
    pivoted, file, raw = pd.DataFrame({"=party": [1], "b": [2]}), io.BytesIO(), io.BytesIO()
    export.write_csv(pivoted, file)
    export.write_csv(pivoted, raw, escape_formulas=False)
    assert (file.getvalue(), raw.getvalue()) == (b'"\'=party","b"\n1,2\n', b'"=party","b"\n1,2\n')


@pytest.mark.parametrize("values", [["x", None, "y"], pd.array([1, None, 2], "Int64"), [Decimal("1.50"), None], [None, None]])
def test_a_missing_value_of_a_single_column_is_a_row(values: Any) -> None:
    file = io.BytesIO()
    export.write_csv(pd.DataFrame({"only": values}), file)
    rows = pd.read_csv(io.BytesIO(file.getvalue()), dtype=str)["only"]
    assert rows.isna().tolist() == [value is None or value is pd.NA for value in values]
    assert pa.csv.read_csv(io.BytesIO(file.getvalue())).num_rows == len(values)


def test_objects_of_a_query_are_json_text() -> None:
    file = io.BytesIO()
    objects = pa.array([{"cost": 1, "amount": Decimal("1.50")}, None])
    export.write_csv(pd.DataFrame({"a": pd.Series(objects, dtype=pd.ArrowDtype(objects.type)), "b": [1, 2]}), file)
    assert file.getvalue() == b'"a","b"\n"{""cost"":1,""amount"":""1.50""}",1\n,2\n'


def read_csv_rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def missing_and_text(written: bytes, names: list[str]) -> list[dict[str, str | None]]:
    """CSV read by a reader that tells an empty text from a missing value."""
    options = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return pa.csv.read_csv(
        io.BytesIO(written), parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=options
    ).to_pylist()


def test_payloads_are_json_digit_for_digit_on_one_line(tmp_path: Path) -> None:
    payloads = ['{"a": 1.50,\n "b": [1e400, 0E-10, "x\\ny"]}', "not json", "", None, "[]", '"\\ud83d"']
    rows = testing.table("traffic").sample_arrow(6, total_traffic_cost=2**63 - 1, extra=payloads)
    frames = lf.Frames(MemoryFrameSource({"traffic": rows}, is_sorted=True), ["traffic"])
    export.write_table(frames, "traffic", tmp_path / "x.jsonl", columns=["extra", "total_traffic_cost"])
    assert (tmp_path / "x.jsonl").read_text().split("\n") == [
        '{"extra":{"a":1.50,"b":[1e400,0E-10,"x\\ny"]},"total_traffic_cost":9223372036854775807}',
        '{"extra":"not json","total_traffic_cost":9223372036854775807}',
        '{"extra":"","total_traffic_cost":9223372036854775807}',
        '{"extra":null,"total_traffic_cost":9223372036854775807}',
        '{"extra":[],"total_traffic_cost":9223372036854775807}',
        '{"extra":"\\"\\\\ud83d\\"","total_traffic_cost":9223372036854775807}',
        "",
    ]


# -- shape --------------------------------------------------------------------------------------------------------


def test_some_columns_in_the_order_passed(frames: lf.Frames, tmp_path: Path) -> None:
    names = ["total_traffic_cost", "update_id"]
    for suffix in ("parquet", "csv", "jsonl"):
        export.write_table(frames, "traffic", tmp_path / f"x.{suffix}", columns=names)
    assert pq.read_schema(tmp_path / "x.parquet").names == names
    assert (tmp_path / "x.csv").read_text().splitlines()[0] == '"total_traffic_cost","update_id"'
    assert list(json.loads((tmp_path / "x.jsonl").read_text().splitlines()[0])) == names


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_no_rows_make_a_file_that_can_be_read(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"x.{suffix}"
    assert export.write_table(lf.Frames(MemoryFrameSource({}), ["traffic"]), "traffic", target) == 0
    if suffix == "parquet":
        assert pq.read_table(target).schema.equals(TRAFFIC.schema)
    else:
        assert target.read_text() == (",".join(f'"{name}"' for name in TRAFFIC.column_names) + "\n" if suffix == "csv" else "")


def test_narrowed_frames_are_narrowed_in_the_file(frames: lf.Frames, tmp_path: Path) -> None:
    narrowed = frames.between("2026-11-08", "2026-11-08T12:00:00Z").where("verdicts", verdict_result="VERDICT_RESULT_REJECTED")
    assert 0 < export.write_table(narrowed, "verdicts", tmp_path / "x.parquet") == len(narrowed.verdicts) < len(frames.verdicts)


def test_rows_are_sorted_as_declared(net: lf.Network, tmp_path: Path) -> None:
    export.write_table(export.from_store(net, "tree_events"), "tree_events", tmp_path / "x.parquet")
    rows = pq.read_table(tmp_path / "x.parquet")
    assert rows.equals(rows.sort_by([(name, "ascending") for name in TABLES["tree_events"].sort]))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_batches_are_written_as_they_come(many: MemoryFrameSource, tmp_path: Path, suffix: str) -> None:
    """No more than a few batches are held: the file grows while the rest has not been read."""
    sizes: list[int] = []

    class Watched(lf.Frames):
        def iter_batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
            for batch in super().iter_batches(table, columns):
                sizes.extend(file.stat().st_size for file in tmp_path.glob(".x.*"))
                yield batch

    export.write_table(Watched(many, ["traffic"]), "traffic", tmp_path / f"x.{suffix}", columns=["update_id"])
    assert len(set(sizes)) > 5  # Python 3.14 writes 128 kB at a time, earlier versions 8 kB


# -- the file -----------------------------------------------------------------------------------------------------


def test_a_file_is_written_on_this_machine_only(frames: lf.Frames) -> None:
    with pytest.raises(
        UsageError, match=r"target= must be a path on this machine, got 's3://team/x\.csv'\. Write the file here, then copy"
    ):
        export.write_table(frames, "traffic", "s3://team/x.csv")


def test_an_existing_file_is_replaced_only_with_overwrite(frames: lf.Frames, tmp_path: Path) -> None:
    target = tmp_path / "x.csv"
    target.write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        export.write_table(frames, "traffic", target)
    assert target.read_text() == "mine"
    export.write_table(frames, "traffic", target, overwrite=True)
    assert target.read_text().startswith('"migration_id"')
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_nothing_is_left_of_a_file_that_was_not_finished(
    many: MemoryFrameSource, tmp_path: Path, error: type[BaseException]
) -> None:
    (tmp_path / "x.jsonl").write_text("mine")

    class Broken(lf.Frames):
        def iter_batches(self, table: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
            yield next(super().iter_batches(table, columns))
            raise error("no space left")

    with pytest.raises(StoreError if error is OSError else error, match="no space left"):
        export.write_table(Broken(many, ["traffic"]), "traffic", tmp_path / "x.jsonl", overwrite=True)
    assert (tmp_path / "x.jsonl").read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["x.jsonl"]


def test_a_folder_that_is_not_there(frames: lf.Frames, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("nowhere", "file"):
        with pytest.raises(UsageError, match=rf"The directory .*{name} does not exist\. Create it"):
            export.write_table(frames, "traffic", tmp_path / name / "x.csv")


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda frames, target: export.write_table(frames, "trafic", target), "Unknown table 'trafic'"),
        (lambda frames, target: export.write_table(frames, "price_votes", target), "These frames have no table"),
        (lambda frames, target: export.write_table(frames, "traffic", target, columns=["cost"]), "Unknown column 'cost'"),
        (lambda frames, target: export.write_table(frames, "traffic", target, columns=[]), "columns= must not be empty"),
        (
            lambda frames, target: export.write_table(frames, "traffic", target, columns=["update_id", "update_id"]),
            "'update_id' twice",
        ),
        (
            lambda frames, target: export.write_table(frames, "traffic", target.with_suffix(".xlsx")),
            r"Choose from \.parquet, \.csv, \.jsonl",
        ),
        (lambda frames, target: export.write_table(frames, "traffic", target.with_suffix("")), "Unknown suffix"),
    ],
)
def test_what_makes_no_sense_writes_nothing(
    frames: lf.Frames, tmp_path: Path, wrong: Callable[[lf.Frames, Path], int], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        wrong(frames, tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_the_store_s_fault(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=400, days=1, store=tmp_path / "store")
    lf.load_events(net, **DAY)
    for file in tmp_path.rglob("traffic/*.parquet"):
        content = file.read_bytes()
        file.write_bytes(content[:4] + bytes(len(content) - 1004) + content[-1000:])
    with pytest.raises(StoreError, match=r"A file of table traffic .*is damaged"):
        export.write_table(export.from_store(net, "traffic"), "traffic", tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


# -- what the store does not have -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_holes(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    """Two days of two migrations, of which the first half of the first and the second half of the second are stored."""
    net = lf.connect("sandbox", events=700, days=2, store=tmp_path_factory.mktemp("holes"))
    for since, until in (("2026-11-07", "2026-11-07T12:00:00Z"), ("2026-11-08T12:00:00Z", "2026-11-09")):
        lf.load_events(net, since=since, until=until)
    return net


def test_time_that_the_store_does_not_have_is_not_covered(with_holes: lf.Network, tmp_path: Path) -> None:
    frames = export.from_store(with_holes, "tree_events", since="2026-11-07", until="2026-11-09", allow_partial=True)
    lf.save_frames(frames, tmp_path)
    for each in (frames, lf.open_frames(tmp_path)):
        result = lf.economy.burn_mint(each, every="6h").set_index("period_start").loc["2026-11-07T12:00":"2026-11-08T06:00"]
        assert (len(result), set(result["coverage_time"])) == (4, {0.0})
        assert result["is_partial"].all()
        assert result["minted"].isna().all()


def test_time_before_the_first_segment_of_the_store_is_not_covered(with_holes: lf.Network) -> None:
    frames = export.from_store(with_holes, "traffic", since="2026-11-08", until="2026-11-09", allow_partial=True)
    assert window_share(frames) == 0.5


def test_a_window_without_a_start_has_all_rows_until_its_end(with_holes: lf.Network) -> None:
    with pytest.raises(UsageError, match=r"until= needs since=, .*\. Pass since=, or allow_partial=True\."):
        export.from_store(with_holes, "traffic", until="2026-11-08T18:00:00Z")
    part = export.from_store(with_holes, "traffic", until="2026-11-08T18:00:00Z", allow_partial=True).traffic
    whole = export.from_store(with_holes, "traffic").traffic
    assert part["update_id"].tolist() == whole["update_id"][whole["record_time"] < "2026-11-08T18:00:00Z"].tolist()


def test_a_state_is_not_computed_beyond_a_hole_in_one_migration(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=700, days=2, store=tmp_path)
    for since, until in (("0001-01-01", "2026-11-08"), ("2026-11-08T12:00:00Z", "2026-11-09")):
        lf.load_events(net, since=since, until=until)
    frames = export.from_store(net, "tree_events", since="0001-01-01", until="2026-11-09", allow_partial=True)
    with pytest.raises(CoverageError) as refused:
        lf.contracts.active_at(frames, "2026-11-09")
    assert refused.value.missing == ("2026-11-08T00:00:00Z … 2026-11-08T12:00:00Z",)


def test_a_table_of_a_window_names_the_missing_time_before_it(with_holes: lf.Network) -> None:
    window = {"since": "2026-11-08T12:00:00Z", "until": "2026-11-09"}
    missing = lf.load_events(with_holes, **window).missing_before
    assert export.from_store(with_holes, "verdicts", **window).missing_before == missing != ()


def test_a_table_of_the_store_says_which_rows_it_has(net: lf.Network, frames: lf.Frames) -> None:
    by_id = lf.load_events(net, update_ids=frames.verdicts["update_id"].head(2).tolist())
    bulk = lf.load_bulk(net, since="2026-11-08", until="2026-11-09")
    by_object = lf.load_bulk(net, object_keys=bulk.bulk_objects["object_key"].tolist())
    ranges = {export.from_store(net, "verdicts"): "all rows in the store", by_id: "by id", by_object: "by object"}
    for each, text in ranges.items():
        assert f" {text}\n" in repr(each)


# -- frames that CSV cannot have --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": [1]}, index=pd.Index(["x"], name="party")), r"no named index, got party\. Call reset_index\(\)"),
        (pd.Series([1]), "must be a DataFrame, got Series"),
        (pd.DataFrame({"a": [1, "x"]}), r"Cannot write the frame as CSV: .* Convert that column to text first"),
        (pd.DataFrame({"a": [b"\xaa\xff"]}), r"Cannot write the frame as CSV: .* Convert that column to text first"),
        (pd.DataFrame({"a": [2**70]}), r"Cannot write the frame as CSV: .* Convert that column to text first"),
    ],
    ids=["index", "series", "mixed", "bytes", "integer"],
)
def test_a_frame_that_would_lose_values_is_not_written(frame: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        export.write_csv(frame, io.BytesIO())
