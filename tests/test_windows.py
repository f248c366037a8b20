from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.errors import UsageError
from ledgerframes.values.windows import Window, date_word, instant, iso, window

FRIDAY = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T12:00:00Z", datetime(2026, 11, 1, 12, tzinfo=UTC)),
        ("2026-11-01T12:00:00.5+01:00", datetime(2026, 11, 1, 11, 0, 0, 500_000, tzinfo=UTC)),
        (date(2026, 11, 1), datetime(2026, 11, 1, tzinfo=UTC)),
        (datetime(2026, 11, 1, 2, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 11, 1, tzinfo=UTC)),
    ],
)
def test_instant_reads_what_people_write(written: object, meant: datetime) -> None:
    assert instant(written) == meant  # type: ignore[arg-type]


@pytest.mark.parametrize("written", ["yesterday-ish", "2026-13-01", "2026-02-30", "", "11/01/2026", pd.NaT])
def test_unparsable_time_says_how_to_write_it(written: str) -> None:
    with pytest.raises(UsageError, match="must be a time such as 2026-11-01"):
        instant(written)


@pytest.mark.parametrize("written", ["2026-11-01T12:00:00", datetime(2026, 11, 1)])
def test_naive_time_is_refused(written: object) -> None:
    with pytest.raises(UsageError, match="no time zone"):
        instant(written, "since")  # type: ignore[arg-type]


def test_nanoseconds_are_refused_and_a_timestamp_without_them_becomes_a_datetime() -> None:
    with pytest.raises(UsageError, match=r"^since=2026-11-01T12:00:00\.000000001\+00:00 has nanoseconds\. Pass a time in micro"):
        instant(pd.Timestamp("2026-11-01T12:00:00.000000001Z"), "since")
    meant = instant(pd.Timestamp("2026-11-01T13:00:00.000001", tz="Europe/Berlin"))
    assert (type(meant), meant) == (datetime, datetime(2026, 11, 1, 12, 0, 0, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("word", "since", "until"),
    [
        ("today", "2026-11-20", "2026-11-21"),
        ("yesterday", "2026-11-19", "2026-11-20"),
        ("this-week", "2026-11-16", "2026-11-23"),
        ("last-week", "2026-11-09", "2026-11-16"),
        ("this-month", "2026-11-01", "2026-12-01"),
        ("last-month", "2026-10-01", "2026-11-01"),
        ("2026-12", "2026-12-01", "2027-01-01"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("2026-11-03", "2026-11-03", "2026-11-04"),
    ],
)
def test_date_words(word: str, since: str, until: str) -> None:
    assert date_word(word, FRIDAY) == Window(instant(since), instant(until))


@pytest.mark.parametrize("word", ["lastweek", "2026-13", "0000", "2026-11-31", 2026, ("2026-11-01", "2026-11-02"), ["today"]])
def test_unknown_date_word_lists_the_known(word: object) -> None:
    with pytest.raises(UsageError, match="last-week"):
        date_word(word, FRIDAY)  # type: ignore[arg-type]


def test_window_defaults_to_now() -> None:
    assert window(FRIDAY, "2026-11-20", None, None) == Window(instant("2026-11-20"), FRIDAY)


def test_window_needs_one_way_of_saying_it() -> None:
    with pytest.raises(UsageError, match="Pass since="):
        window(FRIDAY, None, None, None)
    with pytest.raises(UsageError, match="cannot be combined with"):
        window(FRIDAY, "2026-11-01", None, "today")


def test_since_after_until_is_refused() -> None:
    with pytest.raises(UsageError, match="must be before"):
        window(FRIDAY, "2026-11-08", "2026-11-01", None)


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_iso_and_back(time: datetime) -> None:
    assert instant(iso(time.replace(tzinfo=UTC))) == time.replace(tzinfo=UTC)
