"""Entries that balance, and that a second run repeats."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from functools import cache

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.analysis import cost
from ledgerframes.errors import CoverageError, IntegrityError, UsageError

PRICE = lf.TrafficPrice("60", "USD/MB")
ACCOUNTS = {"traffic": ("5200", "1400"), "rewards": ("1500", "4100"), "purchases": ("1400", "1500")}
POSTING = {
    "date": pd.Timestamp("2026-11-08T17:00Z"),
    "party": "alice",
    "kind": "rewards",
    "quantity": Decimal("2247.125"),
    "unit": "coin",
    "rate": Decimal("0.16"),
    "rate_source": "round 7",
    "source_id": "round 7",
}


@pytest.fixture(scope="module")
def bill(build, event):
    """A function that returns a bill, which is computed once and which no test changes."""
    sizes = {"alice": 1_234_567, "bob": 2_345_678, "carol": 345_678, "dan": None}
    frames = build([event(name, 1, size, parties=[name]) for name, size in sizes.items()])

    @cache
    def make(by="party", **named):
        return cost.statement(frames, by=by, every="1d", price=PRICE, min_coverage=0, **named)

    return make


def journal(statement, **named):
    return cost.journal(statement, accounts=ACCOUNTS, accept_partial=True, **named)


def test_the_whole_bill_is_one_entry(bill):
    debit, credit = journal(bill(by=None)).to_dict("records")
    assert (debit["account"], debit["debit"], credit["account"], credit["credit"]) == (
        "5200",
        Decimal("235.56"),
        "1400",
        Decimal("235.56"),
    )
    assert pd.isna(debit["credit"])
    assert pd.isna(credit["debit"])
    assert debit["entry_id"] == credit["entry_id"]
    assert (debit["quantity"], debit["unit"], debit["rate"]) == (3_925_923, "bytes", 60)
    assert debit["date"] == pd.Timestamp("2026-11-08", tz="UTC")
    assert debit["memo"] == "traffic 2026-11-08T00:00Z/2026-11-09T00:00Z, all: 3925923 bytes"


def test_a_journal_has_the_source_of_the_price(bill, build, event):
    assert journal(bill(by=None))["rate_source"].isna().all()
    price = lf.TrafficPrice("45", "USD/MB", source="contract 17")
    named = cost.statement(build([event("a", 1, 10)]), by=None, every="1d", price=price, accept_price=True, rounding="0.0001")
    assert journal(named)["rate_source"].tolist() == ["contract 17"] * 2


@pytest.mark.parametrize("accounts", [None, [("5200", "1400")]])
def test_accounts_that_are_no_dict_are_refused(bill, accounts):
    with pytest.raises(UsageError, match="accounts= must be a dict with a pair of accounts"):
        cost.journal(bill(), accounts=accounts, accept_partial=True)


def test_lines_are_entries_that_add_up(bill):
    entries = journal(bill())
    assert len(entries) == 6  # dan's cost is unknown
    assert lf.decimals.total(entries["debit"]) == lf.decimals.total(entries["credit"]) == Decimal("235.56")
    assert set(entries["party"]) == {"alice", "bob", "carol"}
    assert entries.groupby("entry_id")["party"].nunique().eq(1).all()
    lines = bill().set_index("party")["source_ids_sha256"]
    assert (entries["source_ids_sha256"] == entries["party"].map(lines)).all()


def test_a_second_run_has_the_same_ids(bill):
    first, second = journal(bill()), journal(bill(rounding="0.1"))
    assert first["entry_id"].tolist() == second["entry_id"].tolist()
    assert first["entry_id"].nunique() == 3
    pd.testing.assert_frame_equal(first, journal(bill().iloc[::-1].reset_index(drop=True)))


def test_postings_are_entries_at_their_own_rate(bill):
    purchase = {**POSTING, "kind": "purchases", "quantity": 1_000_000, "unit": "bytes", "rate": 60, "source_id": "update 1"}
    entries = journal(bill(by=None), postings=pd.DataFrame([POSTING, purchase]))
    amounts = entries[entries["debit"].notna()].set_index("kind")["debit"]
    assert amounts.to_dict() == {"traffic": Decimal("235.56"), "rewards": Decimal("359.54"), "purchases": Decimal("60")}
    assert entries.set_index(["kind", "account"]).loc[("rewards", "4100"), "credit"] == Decimal("359.54")


def test_a_posting_without_a_party_is_an_entry(bill):
    entries = journal(bill(), postings=pd.DataFrame([POSTING, {**POSTING, "party": None, "source_id": "round 2"}]))
    without_party = entries[(entries["kind"] == "rewards") & entries["party"].isna()]
    assert without_party["memo"].str.contains("unknown party").tolist() == [True, True]


def test_one_time_is_one_entry_in_any_zone(bill):
    first, second = (
        journal(bill(), postings=pd.DataFrame([{**POSTING, "date": date}]))
        for date in ("2026-11-09T00:30+02:00", pd.Timestamp("2026-11-08T22:30Z"))
    )
    pd.testing.assert_frame_equal(first, second)
    assert first.loc[first["kind"] == "rewards", "memo"].str.startswith("rewards 2026-11-08/").all()


def test_entries_have_the_covered_share_of_their_own_period(bill):
    statement = bill(by=None)
    lines = pd.concat([statement, statement.assign(period_end=statement["period_end"] + pd.Timedelta("24h"))], ignore_index=True)
    entries = journal(lines.assign(coverage_time=[0.25, 1.0]), postings=pd.DataFrame([POSTING]))
    assert entries.loc[entries["kind"] == "traffic", "coverage_time"].tolist() == [0.25, 0.25, 1, 1]
    assert entries.loc[entries["kind"] == "rewards", "coverage_time"].isna().all()


def test_a_posting_of_less_than_half_a_cent_is_no_entry(bill):
    posting = {**POSTING, "quantity": Decimal("0.03125")}  # exactly half a cent, which rounds to the even 0
    assert "rewards" not in set(journal(bill(), postings=pd.DataFrame([posting]))["kind"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "traffic"}, "postings= must be of kind rewards, purchases, fees, got 'traffic'"),
        ({"unit": "MB"}, "must have unit 'bytes' or 'coin', got 'MB'"),
        ({"quantity": 1.5}, "must have a quantity of at least 0 as Decimal or int with at most 10 places, got 1.5"),
        ({"rate": "dear"}, "must have a rate of at least 0 as Decimal or int with at most 10 places, got 'dear'"),
        ({"rate": Decimal("0.00000000001")}, "must have a rate of at least 0 as Decimal or int with at most 10 places"),
        ({"rate": -1}, "must have a rate of at least 0"),
        ({"date": datetime(2026, 11, 8)}, "dates with a time zone"),
        ({"date": "2026-13-01"}, "dates with a time zone, such as 2026-11-08T17:00Z, got '2026-13-01'"),
        ({"date": None}, "dates with a time zone, such as 2026-11-08T17:00Z, got None"),
        ({"kind": "fees"}, "accounts= must have a pair of different accounts for 'fees', got None"),
    ],
)
def test_postings_that_are_none_are_refused(bill, change, message):
    with pytest.raises(UsageError, match=message):
        journal(bill(), postings=pd.DataFrame([{**POSTING, **change}]))


def test_postings_without_a_column_are_refused(bill):
    with pytest.raises(UsageError, match="got a DataFrame without column 'rate_source'"):
        journal(bill(), postings=pd.DataFrame([POSTING]).drop(columns="rate_source"))


def test_a_repeated_posting_is_refused(bill):
    with pytest.raises(IntegrityError, match="Entries are repeated: rewards"):
        journal(bill(), postings=pd.DataFrame([POSTING, POSTING]))


@pytest.mark.parametrize("pair", [None, ("5200",), "52", ("5200", "5200")])
def test_accounts_that_are_no_pair_are_refused(bill, pair):
    with pytest.raises(UsageError, match="accounts= must have a pair"):
        cost.journal(bill(), accounts={"traffic": pair}, accept_partial=True)


def test_a_changed_line_is_refused(bill):
    changed = bill().copy()
    changed["currency"] = lf.decimals.multiply(changed["currency"], 2)
    with pytest.raises(IntegrityError, match="Lines of the statement do not add up"):
        journal(changed)


def test_a_partial_period_is_refused(bill):
    assert len(cost.journal(bill(), accounts=ACCOUNTS)) == 6
    partial = bill().assign(is_partial=pd.array([True] * 4, dtype="boolean"))
    with pytest.raises(CoverageError, match="the period from 2026-11-08 because final data do not cover it"):
        cost.journal(partial, accounts=ACCOUNTS)
    assert len(cost.journal(partial, accounts=ACCOUNTS, accept_partial=True)) == 6


def test_other_things_than_statements_are_refused(bill, sample):
    with pytest.raises(UsageError, match=r"Pass the result of lf\.cost\.statement\(frames, price=…\) .* got Frames"):
        journal(sample)
    with pytest.raises(UsageError, match="with every=, because an entry needs a date"):
        journal(bill().drop(columns=["period_start", "period_end", "is_partial"]))


def test_a_bill_without_lines_has_no_entries(build):
    empty = journal(cost.statement(build([]), price=PRICE))
    assert empty.empty
    dated = {**POSTING, "date": datetime(2026, 11, 8, tzinfo=UTC)}
    assert len(journal(cost.statement(build([]), price=PRICE), postings=pd.DataFrame([dated]))) == 2


@pytest.mark.parametrize(("name", "other"), [("network", "elsewhere"), ("currency_code", "EUR")])
def test_lines_of_two_networks_or_currencies_are_refused(bill, name, other):
    lines = bill()
    both = pd.concat([lines, lines.assign(**{name: other})], ignore_index=True)
    with pytest.raises(UsageError, match=f"A journal has one {name}, got"):
        journal(both)
