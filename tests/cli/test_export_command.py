"""`ledgerframes export` and `ledgerframes sql`: files, texts and errors."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf

Run = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("copied_first_loads")
DAY = ("--since", "2026-11-08", "--until", "2026-11-09")


@pytest.fixture
def traffic(run: Run) -> pd.DataFrame:
    """A day in the store, and its traffic."""
    assert run("sync", "events", *DAY).code == 0
    return lf.load_traffic(lf.connect(offline=True), since="2026-11-08", until="2026-11-09")


# -- export -------------------------------------------------------------------------------------------------------


def test_export_as_parquet(run: Run, traffic: pd.DataFrame, tmp_path: Path) -> None:
    shown = run("export", "traffic", "--to", tmp_path / "x.parquet")
    assert shown.code == 0
    assert f"{len(traffic):,} rows" in shown.out
    pd.testing.assert_frame_equal(lf.table("traffic").to_pandas(pq.read_table(tmp_path / "x.parquet")), traffic)


def test_export_as_text(run: Run, traffic: pd.DataFrame, tmp_path: Path) -> None:
    assert run("export", "traffic", "--to", tmp_path / "x.csv", *DAY, "--columns", "update_id, total_traffic_cost").code == 0
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["update_id", "total_traffic_cost"]
    assert [int(row["total_traffic_cost"]) for row in rows] == traffic["total_traffic_cost"].tolist()
    assert run("export", "traffic", "--to", tmp_path / "x.jsonl", "--during", "2026-11-08").code == 0
    lines = (tmp_path / "x.jsonl").read_text().splitlines()
    assert [json.loads(line)["update_id"] for line in lines] == traffic["update_id"].tolist()


def test_export_as_a_document(run: Run, traffic: pd.DataFrame, tmp_path: Path) -> None:
    document = run("export", "traffic", "--to", tmp_path / "x.csv", "--json").document
    assert document == {
        "network": lf.connect().name,
        "table": "traffic",
        "file": str(tmp_path / "x.csv"),
        "rows": len(traffic),
        "bytes": (tmp_path / "x.csv").stat().st_size,
        "provisional": False,
        "final_until": None,
        "gaps": [],
        "missing": [],
    }
    assert run("export", "traffic", "--to", tmp_path / "y.csv", "--quiet").out == ""


def test_an_export_until_a_time_says_from_when(run: Run, tmp_path: Path) -> None:
    run("sync", "events", *DAY)
    refused = run("export", "traffic", "--to", tmp_path / "x.csv", "--until", "2026-11-08T12:00:00Z")
    assert (refused.code, "--until needs --since" in refused.err) == (2, True)


def test_numbers_that_are_none_are_empty_cells(run: Run) -> None:
    query = "select 0.0 / 0 as a, 1 / 0 as b, 1 / 4 as c"
    assert run("sql", query, "--csv").out == '"a","b","c"\n,,"0.25"\n'
    assert run("sql", query, "--json").document["rows"] == [{"a": None, "b": None, "c": 0.25}]


def test_export_reports_provisional_rows(run: Run, tmp_path: Path) -> None:
    run("sync", "events", "--during", "today")
    shown = run("export", "traffic", "--to", tmp_path / "x.csv", "--during", "today")
    assert shown.code == 0
    assert "some rows may still change or follow (final until 2026-11-" in shown.out
    assert run("export", "traffic", "--to", tmp_path / "y.csv", "--during", "today", "--json").document["provisional"] is True


def test_values_inside_of_lists_are_those_of_columns(run: Run) -> None:
    query = "select [1.0 / 0, 2] as xs, {'a': 'NaN'::double, 'b': 0::decimal(38, 10)} as s, '\\xff'::blob as c"
    rows = run("sql", query, "--json").document["rows"]
    assert rows == [{"xs": [None, 2.0], "s": {"a": None, "b": "0.0000000000"}, "c": "ff"}]
    query = "select '\\xff'::blob as c, 1 as n union all select null, 2 order by n"
    assert run("sql", query, "--csv").out == '"c","n"\n"ff",1\n,2\n'


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_json_and_csv_lose_no_letter_in_another_encoding(run: Run, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    for option in ("--json", "--csv"):
        file = io.BytesIO()
        monkeypatch.setattr("sys.stdout", stream := io.TextIOWrapper(file, encoding, errors="backslashreplace"))
        run("sql", "select 'é€→😀' as t", option)
        stream.flush()
        written = file.getvalue()
        assert '"é€→😀"' in written.decode() if option == "--csv" else json.loads(written)["rows"] == [{"t": "é€→😀"}]


def test_a_text_with_a_line_break_forges_no_row(run: Run) -> None:
    lines = run("sql", "select 'x\nbob    1000000' as name, 1 as \"coin\nbob\"").out.splitlines()
    assert len(lines) == 2 and r"x\nbob    1000000" in lines[1]
    assert len(run("sql", "explain select 1").out.splitlines()) > 3, "the plan is a drawing of several lines"


def test_an_export_of_time_to_come_is_provisional_without_rows(run: Run, tmp_path: Path) -> None:
    run("sync", "events", "--since", "2026-11-08T22:00:00Z", "--until", "2026-11-30")
    later = ("--since", "2026-11-20", "--until", "2026-11-30")
    document = run("export", "traffic", "--to", tmp_path / "x.csv", *later, "--json").document
    assert (document["rows"], document["provisional"], document["final_until"]) == (0, True, None)
    all_of_it = run("export", "traffic", "--to", tmp_path / "y.csv", "--json").document
    assert "2026-11-08T22" < all_of_it["final_until"] < "2026-11-10" and all_of_it["gaps"] == []


def test_export_replaces_a_file_only_with_overwrite(run: Run, traffic: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("mine")
    refused = run("export", "traffic", "--to", tmp_path / "x.csv")
    assert refused.code == 2
    assert "--overwrite" in refused.err
    assert (tmp_path / "x.csv").read_text() == "mine"
    assert run("export", "traffic", "--to", tmp_path / "x.csv", "--overwrite").code == 0
    assert len((tmp_path / "x.csv").read_text().splitlines()) == len(traffic) + 1


def test_export_of_a_window_that_is_not_covered(run: Run, tmp_path: Path) -> None:
    run("sync", "events", "--since", "2026-11-08", "--until", "2026-11-08T12:00:00Z")
    refused = run("export", "traffic", "--to", tmp_path / "x.csv", *DAY, "--json")
    assert refused.code == 3
    assert refused.document["error"] == "CoverageError"
    assert "2026-11-08T12:00:00" in refused.document["missing"][0]
    assert "--allow-partial" in refused.err
    assert not (tmp_path / "x.csv").exists()
    part = run("export", "traffic", "--to", tmp_path / "x.csv", *DAY, "--allow-partial", "--json")
    assert part.code == 0
    assert part.document["missing"] == refused.document["missing"]
    assert part.err == f"Not in the store: {part.document['missing'][0]}. Fetch it with `ledgerframes sync events`.\n"
    assert len((tmp_path / "x.csv").read_text().splitlines()) > 1


def test_nobody_knows_what_is_missing_beside_single_updates(run: Run, traffic: pd.DataFrame, tmp_path: Path) -> None:
    lf.load_events(lf.connect(), update_ids=traffic["update_id"].head(2))
    note = "was read from events_by_id, which does not record whether 2026-11-08T00:00:00Z … 2026-11-09T00:00:00Z is complete."
    part = run("export", "events_by_id.traffic", "--to", tmp_path / "x.csv", *DAY, "--allow-partial", "--json")
    assert (part.document["rows"], part.document["missing"]) == (2, None)
    assert part.err == f"Table events_by_id.traffic {note}\n"
    assert run("sql", "select count(*) as n from events_by_id.traffic", *DAY).err == f"Table events_by_id.traffic {note}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["traffic", "--to", "x.csv"], 3, "is not in the store"),
        (["trafic", "--to", "x.csv"], 2, "Unknown table 'trafic'"),
        (["traffic"], 2, "--to"),
        (["traffic", "--to", "x.xlsx", "--allow-partial"], 2, "Choose from .parquet, .csv, .jsonl"),
        (["traffic", "--to", "x.csv", "--allow-partial", "--columns", "cost"], 2, "Unknown column 'cost'"),
        (["traffic", "--to", "x.csv", "--allow-partial", "--columns", ""], 2, "Unknown column ''"),
        (["traffic", "--to", "nowhere/x.csv", "--allow-partial"], 2, "The directory nowhere does not exist"),
        (["traffic", "--to", "x.csv", "--allow-partial", "--columns", "update_id,update_id"], 2, "'update_id' twice"),
        (["bulk.traffic", "--to", "x.csv"], 2, "Choose from events.traffic, events_by_id.traffic"),
        (["traffic", "--to", "x.csv", "--since", "2026-11-09", "--until", "2026-11-08"], 2, "must be before"),
    ],
)
def test_invalid_export(run: Run, tmp_path: Path, arguments: list[str], code: int, reason: str) -> None:
    refused = run("export", *arguments)
    assert (refused.code, refused.out) == (code, "")
    assert reason in refused.err
    assert not list(tmp_path.glob("*x.*"))


def test_export_names_other_datasets_with_rows(run: Run, traffic: pd.DataFrame, tmp_path: Path) -> None:
    assert run("export", "updates", "--to", tmp_path / "x.csv").err == ""
    run("sync", "bulk", *DAY)
    shown = run("export", "updates", "--to", tmp_path / "y.csv")
    assert shown.err == "updates was read from events; bulk also has rows (query bulk.updates).\n"
    named = run("export", "bulk.updates", "--to", tmp_path / "z.csv", *DAY)
    assert (named.code, named.err) == (0, "")
    assert len((tmp_path / "z.csv").read_text().splitlines()) > 1


# -- sql ----------------------------------------------------------------------------------------------------------


def test_sql_as_text(run: Run, traffic: pd.DataFrame) -> None:
    shown = run("sql", "select max(record_time) as last, sum(total_traffic_cost) as bytes, null as nothing from traffic")
    assert shown.code == 0
    titles, row = shown.out.splitlines()
    assert titles.split() == ["last", "bytes", "nothing"]
    assert row.split() == [
        traffic["record_time"].max().isoformat().replace("+00:00", "Z"),
        str(traffic["total_traffic_cost"].sum()),
    ]


def test_sql_as_a_document(run: Run, traffic: pd.DataFrame) -> None:
    query = (
        "select count(*) as n, 0.0000000001::decimal(38, 10) as price, ['a'] as list, null as nothing, true as yes from traffic"
    )
    assert run("sql", query, *DAY, "--json").document == {
        "columns": ["n", "price", "list", "nothing", "yes"],
        "rows": [{"n": len(traffic), "price": "0.0000000001", "list": ["a"], "nothing": None, "yes": True}],
    }
    assert run("sql", "select update_id from traffic where false", "--json").document == {"columns": ["update_id"], "rows": []}


def test_sql_reports_tables_without_rows_and_provisional_rows(run: Run) -> None:
    empty = run("sql", "select count(*) as n from traffic")
    assert empty.code == 0
    assert empty.err.count("\n") == 1
    assert "Table traffic of" in empty.err and "is not in the store. Fetch it with" in empty.err
    run("sync", "events", "--during", "today")
    for window in ((), ("--during", "today")):
        shown = run("sql", "select count(*) as n from traffic", "--json", *window)
        assert shown.err == "Rows of traffic are provisional (the next sync fetches them again).\n"
        assert shown.document["rows"][0]["n"] > 0
    outside = run("sql", "select count(*) as n from traffic", "--during", "yesterday").err
    assert outside.startswith("Not in the store: ")
    assert outside.endswith(". Fetch it with `ledgerframes sync events`.\n")
    assert run("sql", "select count(*) as n from traffic", "--until", "2020-01-01").err == ""
    assert run("sql", "select count(*) as n from traffic", "--during", "2020").err == ""  # before the network began


def test_sql_names_tables_that_a_window_does_not_limit(run: Run) -> None:
    run("sync", "price-votes")
    shown = run("sql", "select count(*) as n from price_votes", "--during", "2020", "--json")
    assert shown.document["rows"][0]["n"] > 0
    assert shown.err == "Table price_votes has no record_time, so the window does not limit its rows.\n"


def test_sql_names_other_datasets_with_rows(run: Run, traffic: pd.DataFrame) -> None:
    run("sync", "bulk", *DAY)
    assert "bulk also has rows (query bulk.updates)" in run("sql", "select count(*) as n from updates").err
    for query in ("select updates.kind from bulk.updates", "select 'updates' as x from traffic -- updates", "show tables"):
        assert run("sql", query).err == ""


def test_sql_shows_control_characters(run: Run) -> None:
    assert "\x1b" not in run("sql", "select chr(27) || '[31m' as text").out


def test_invalid_sql(run: Run) -> None:
    refused = run("sql", "select * from trafic")
    assert (refused.code, refused.out) == (2, "")
    assert "Choose from active_contracts, activity_records" in refused.err
    assert refused.err.count("\n") == 1
