"""Keys of bulk objects: what they say, wherever they stand, and that nothing else passes for one (docs/facts.md#bulk-storage)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path, PureWindowsPath
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.errors import DecodeError, UsageError

DAY = "2026-01-29T00:00:00Z~2026-01-30T00:00:00Z"
PLAIN = f"{DAY}/updates_compact_json_0.zstd"
ADDRESS = "https://scan.invalid/api/scan/v0/history/bulk/download/"


def text_of(since: datetime, until: datetime, kind: str, encoding: str | None, number: int) -> str:
    """A key as the service writes it, by another way than the library's."""
    folder = "~".join(f"{time.replace(tzinfo=None).isoformat()}Z" for time in (since, until))
    return f"{folder}/{'_'.join([{'acs': 'ACS'}.get(kind, kind), *filter(None, [encoding]), str(number)])}.zstd"


times = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9000, 1, 1), timezones=st.just(UTC))
parts = st.tuples(
    times,
    st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=400)),
    st.sampled_from(["updates", "acs"]),
    st.sampled_from([None, "compact_json", "protobuf_json"]),
    st.integers(0, 999_999_999),
)


@given(parts)
def test_what_is_written_is_read_back_from_text_address_and_file(made: tuple[datetime, timedelta, str, str | None, int]) -> None:
    since, length, kind, encoding, number = made
    text = text_of(since, since + length, kind, encoding, number)
    key = ObjectKey.parse(text)
    assert key == ObjectKey(text, since, since + length, kind, encoding, number)
    encoded = quote(text, safe="")
    assert ObjectKey.from_url(ADDRESS + encoded) == key
    assert ObjectKey.from_path(Path("objects") / text) == key
    assert ObjectKey.from_path(Path("objects") / encoded) == key


def test_the_first_folder_begins_in_the_year_1_and_old_keys_have_no_encoding() -> None:
    key = ObjectKey.parse("0001-01-01T00:00:00Z~2026-11-08T00:00:00Z/updates_7.zstd")
    assert (key.since, key.until) == (datetime(1, 1, 1, tzinfo=UTC), datetime(2026, 11, 8, tzinfo=UTC))
    assert (key.kind, key.encoding, key.index) == ("updates", None, 7)


def test_keys_sort_by_number_not_by_text() -> None:
    names = [f"{DAY}/updates_compact_json_{number}.zstd" for number in (10, 2, 0)]
    earlier = "0001-01-01T00:00:00Z~2026-01-29T00:00:00Z/updates_11.zstd"
    ordered = sorted(map(ObjectKey.parse, [*names, earlier]), key=lambda key: key.sort_key)
    assert [key.key for key in ordered] == [earlier, *names[::-1]]


@pytest.mark.parametrize(
    "text",
    [
        "", "/", "x", DAY, f"{DAY}/", PLAIN + "\n", " " + PLAIN, "/" + PLAIN, "../" + PLAIN, PLAIN + "/", PLAIN.upper(),
        f"{DAY}/../updates_0.zstd", f"{DAY}//updates_0.zstd", f"{DAY}\\updates_0.zstd", f"{DAY}/updates_0.zst",
        f"{DAY}/updates_-1.zstd", f"{DAY}/updates_00.zstd", f"{DAY}/updates_٣.zstd", f"{DAY}/updates_.zstd",
        f"{DAY}/updates_9999999999.zstd", f"{DAY}/acs_compact_json_0.zstd", f"{DAY}/updates_yaml_0.zstd",
        f"{DAY}/holdings_compact_json_0.zstd", quote(PLAIN, safe=""), PLAIN.replace("01-29", "13-29"),
        PLAIN.replace("2026-01-30", "2026-01-29"), PLAIN.replace("2026-01-30", "2026-01-28"), PLAIN.replace("Z~", "+01:00~"),
        PLAIN.replace("~", "-"), "a" * 10_000,
    ],
)  # fmt: skip
def test_nothing_else_is_a_key(text: str) -> None:
    with pytest.raises(UsageError, match=r"[Oo]bject key|must be a time") as caught:
        ObjectKey.parse(text)
    assert len(str(caught.value)) < 400


@given(st.text())
def test_any_other_text_is_refused_in_the_library_s_own_words(text: str) -> None:
    with pytest.raises(UsageError):
        ObjectKey.parse(text)
    with pytest.raises(DecodeError):
        ObjectKey.from_url(text)
    assert ObjectKey.from_path("objects/" + text.replace("\0", "")) is None


def test_an_address_may_be_relative_and_have_a_query() -> None:
    encoded = quote(PLAIN, safe="")
    assert ObjectKey.from_url(f"/v0/history/bulk/download/{encoded}?sig=a/b#c").key == PLAIN
    assert ObjectKey.from_url(encoded.replace("%7E", "~")).key == PLAIN


@pytest.mark.parametrize(
    "url", [ADDRESS, ADDRESS + PLAIN, ADDRESS + quote(quote(PLAIN, safe=""), safe=""), ADDRESS + "%FF%00", "https://[x/y"]
)
def test_an_address_without_an_encoded_key_is_the_service_s_fault(url: str) -> None:
    with pytest.raises(DecodeError, match="A listed URL contains no object key") as caught:
        ObjectKey.from_url(url)
    assert caught.value.json_path == "$..object_refs[].url"


def test_files_on_any_system() -> None:
    key = ObjectKey.parse(PLAIN)
    encoded_folder = PureWindowsPath(f"C:\\data\\{quote(DAY, safe='')}\\updates_compact_json_0.zstd")
    assert ObjectKey.from_path(encoded_folder) == key
    assert ObjectKey.from_path("updates_compact_json_0.zstd") is None
    assert ObjectKey.from_path(f"{PLAIN}.part") is None
    assert ObjectKey.from_path(f"{DAY}/notes.txt") is None
    assert ObjectKey.from_path("") is None
