"""Lines of active contracts turned into rows, and the record of objects read.

See docs/facts.md#contracts-at-snapshot and docs/facts.md#bulk-storage.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ledgerframes.datasets import TABLES
from ledgerframes.datasets.bulk.build import ActiveContractTableBuilder
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS, BULK_OBJECTS
from ledgerframes.datasets.bulk.wire import ActiveContract
from ledgerframes.datasets.decode import decode
from ledgerframes.errors import DecodeError

MIDNIGHT = datetime(2026, 1, 30, tzinfo=UTC)
WHAT_WAS_READ = {
    "bytes": 1,
    "uncompressed_bytes": 2,
    "lines": 3,
    "sha256": "ab" * 32,
    "digest_status": "unknown",
    "first_record_time": MIDNIGHT,
    "last_record_time": MIDNIGHT,
    "first_migration_id": 4,
    "last_migration_id": 4,
    "source": "file",
    "fetched_at": MIDNIGHT,
}


def line(**members: Any) -> dict[str, Any]:
    base = {
        "contract_id": "00b",
        "created_at": "2026-01-29T05:52:25.76341Z",
        "create_arguments": {"round": {"number": "81307"}},
        "created_in_update_id": "1220aa",
        "observers": [],
        "package_name": "app",
        "signatories": ["bob::1220", "alice::1220"],
        "template_id": "3ca1:Mod.Sub:Entity",
    }
    return {name: value for name, value in {**base, **members}.items() if value is not ...}


def decoded(value: Any) -> ActiveContract:
    return decode(json.dumps(value).encode(), ActiveContract, "object")


def frame_of(*lines: dict[str, Any]) -> pd.DataFrame:
    rows = ActiveContractTableBuilder(MIDNIGHT)
    rows.add([decoded(one) for one in lines])
    return ACTIVE_CONTRACTS.to_pandas(rows.tables()["active_contracts"])


def test_a_line_becomes_a_row() -> None:
    row = frame_of(line()).iloc[0]
    assert row["snapshot_time"] == pd.Timestamp(MIDNIGHT)
    assert (row["contract_id"], row["template_id"]) == ("00b", "3ca1:Mod.Sub:Entity")
    assert (row["package_id"], row["template_name"], row["package_name"]) == ("3ca1", "Mod.Sub:Entity", "app")
    assert row["created_at"] == pd.Timestamp("2026-01-29T05:52:25.763410Z")
    assert list(row["signatories"]) == ["bob::1220", "alice::1220"]
    assert list(row["observers"]) == []
    assert row["create_arguments"] == '{"round": {"number": "81307"}}'
    assert row["created_in_update_id"] == "1220aa"
    assert pd.isna(row["extra"])


def test_rows_are_sorted_by_contract_whatever_the_order_of_lines() -> None:
    frame = frame_of(line(contract_id="00c"), line(contract_id="00a", created_in_update_id="1220cc"), line())
    assert frame["contract_id"].tolist() == ["00a", "00b", "00c"]
    assert frame["created_in_update_id"].tolist() == ["1220cc", "1220aa", "1220aa"]


def test_a_contract_that_occurs_twice_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"Table active_contracts: two rows have the key .*contract_id 00b, where"):
        frame_of(line(), line(contract_id="00c"), line())


@pytest.mark.parametrize("absent", [..., None, ""])
def test_an_imported_contract_has_no_update(absent: Any) -> None:
    assert frame_of(line(created_in_update_id=absent))["created_in_update_id"].isna().all()


@pytest.mark.parametrize(
    ("event_id", "update_id"), [("#1220aa:3", "1220aa"), ("1220aa:12", "1220aa"), ("#a:b:3", "a:b"), ("#:3", None), ("x", None)]
)
def test_an_older_line_says_it_in_the_event_id(event_id: str, update_id: str | None) -> None:
    frame = frame_of(line(created_in_update_id=..., event_id=event_id, event_type="created_event"))
    found = frame["created_in_update_id"].iloc[0]
    assert pd.isna(found) if update_id is None else found == update_id
    assert frame["extra"].isna().all()


def test_recorded_contracts_of_the_older_form(fixtures: Path) -> None:
    recorded = json.loads((fixtures / "v0_state_acs_trimmed.json").read_text())["created_events"]
    frame = frame_of(*recorded).set_index("contract_id")
    assert len(frame) == len(recorded) == 5
    for one in recorded:
        row = frame.loc[one["contract_id"]]
        assert row["created_in_update_id"] == one["event_id"].removeprefix("#").split(":")[0]
        assert json.loads(row["create_arguments"]) == one["create_arguments"]
        assert row["created_at"] == pd.Timestamp(one["created_at"])
        assert list(row["signatories"]) == one["signatories"]
        assert list(row["observers"]) == one["observers"]


def test_what_is_not_known_yet_is_kept() -> None:
    frame = frame_of(line(contract_key={"a": 1}), line(contract_id="00a"))
    assert json.loads(frame["extra"][1]) == {"contract_key": {"a": 1}}
    assert pd.isna(frame["extra"][0])


def test_no_lines_give_an_empty_table_of_the_same_shape() -> None:
    pd.testing.assert_frame_equal(frame_of(), ACTIVE_CONTRACTS.empty())
    pd.testing.assert_series_equal(frame_of(line()).dtypes, ACTIVE_CONTRACTS.empty().dtypes)


@pytest.mark.parametrize("member", ["contract_id", "template_id", "created_at", "signatories", "observers"])
def test_a_line_without_what_is_promised_is_refused(member: str) -> None:
    for value in (..., None, 7):
        with pytest.raises(DecodeError, match=r"at \$"):
            decoded(line(**{member: value}))


@pytest.mark.parametrize("text", ["[]", "7", "", "{", '{"contract_id":'])
def test_a_line_that_is_no_contract_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        decode(text.encode(), ActiveContract, "object")


def test_a_creation_time_that_is_none_is_refused() -> None:
    with pytest.raises(DecodeError, match="created_at is not a time"):
        frame_of(line(created_at="yesterday"))


def test_an_object_read_has_a_row() -> None:
    row = {
        "object_key": "0001-01-01T00:00:00Z~2026-01-30T00:00:00Z/updates_0.zstd",
        "kind": "updates",
        "since": datetime(1, 1, 1, tzinfo=UTC),
        "until": MIDNIGHT,
        "object_index": 0,
        "bytes": 2**40,
        "digest_status": "empty_digest",
    }
    frame = BULK_OBJECTS.from_rows([WHAT_WAS_READ | row])
    assert frame["since"][0] == pd.Timestamp("0001-01-01", tz="UTC").as_unit("us")
    assert frame["bytes"][0] == 2**40
    assert frame["encoding"].isna().all()
    pd.testing.assert_series_equal(frame.dtypes, BULK_OBJECTS.empty().dtypes)
    assert list(frame["digest_status"].cat.categories) == ["matched", "empty_digest", "unknown"]


def test_a_file_whose_name_is_no_key_says_only_what_was_read() -> None:
    frame = BULK_OBJECTS.from_rows([{"object_key": "ab" * 32, "kind": "updates", **WHAT_WAS_READ}])
    assert frame[["encoding", "since", "until", "object_index"]].isna().all(axis=None)
    pd.testing.assert_series_equal(frame.dtypes, BULK_OBJECTS.empty().dtypes)


def test_both_tables_are_registered() -> None:
    assert TABLES["active_contracts"] is ACTIVE_CONTRACTS
    assert TABLES["bulk_objects"] is BULK_OBJECTS
