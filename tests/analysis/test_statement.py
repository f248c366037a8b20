"""Bills whose lines add up, worked out by hand."""

from __future__ import annotations

import hashlib
from decimal import Decimal

import pandas as pd
import pytest
from campaign import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import cost
from ledgerframes.errors import CoverageError, UsageError

PRICE, RATE = lf.TrafficPrice("60", "USD/MB"), lf.NetworkRate("0.16", "USD/coin", as_of="2026-11-08", source="round 7")


def column(frame, name):
    return [None if pd.isna(value) else value for value in frame[name]]


def amounts(*texts):
    return [None if text is None else Decimal(text) for text in texts]


@pytest.fixture
def three(build, event):
    sizes = {"alice": 1_234_567, "bob": 2_345_678, "carol": 345_678}
    return build([event(name, 1, size, parties=[name]) for name, size in sizes.items()])


def test_lines_add_up_to_the_rounded_total(three):
    bill = cost.statement(three, price=PRICE, rate=RATE)
    assert column(bill, "party") == ["alice", "bob", "carol"]
    assert column(bill, "bytes") == [1_234_567, 2_345_678, 345_678]
    assert column(bill, "currency_exact") == amounts("74.07402", "140.74068", "20.74068")
    assert column(bill, "currency") == amounts("74.08", "140.74", "20.74")
    assert sum(bill["currency"]) == Decimal("235.56")
    assert column(bill, "rounding_difference") == amounts("0.00598", "-0.00068", "-0.00068")
    assert column(bill, "coin") == amounts("463", "879.625", "129.625")
    assert set(bill["price"]) == {Decimal(60)}
    assert set(bill["rate"]) == {Decimal("0.16")}
    assert set(bill["rate_as_of"]) == {pd.Timestamp("2026-11-08", tz="UTC")}
    assert set(bill["rate_source"]) == {"round 7"}
    assert set(bill["currency_code"]) == {"USD"}
    assert bill["market_value"].isna().all()
    assert bill["period_start"].dt.strftime("%m-%d").unique().tolist() == ["11-01"]


def test_one_line_is_the_rounded_total(three):
    (line,) = cost.statement(three, by=None, every=None, price=PRICE).to_dict("records")
    assert (line["currency"], line["currency_exact"]) == (Decimal("235.56"), Decimal("235.55538"))
    assert pd.isna(line["coin"])
    assert line["source_ids_sha256"] == hashlib.sha256(b"alice\nbob\ncarol\n").hexdigest()


def test_a_market_price_values_the_coin(three):
    bill = cost.statement(three, price=PRICE, rate=RATE, market=lf.MarketRate("0.15", "EUR/coin"))
    assert column(bill, "market_value") == amounts("69.45", "131.94375", "19.44375")


@settings(max_examples=examples(10))
@given(sizes=st.lists(st.integers(0, 10**9), min_size=1, max_size=8), rounding=st.sampled_from(["1", "0.1", "0.01", "0.0001"]))
def test_lines_of_any_size_add_up(build, event, sizes, rounding):
    frames = build([event(str(number), 1, size, parties=[f"p{number}"]) for number, size in enumerate(sizes)])
    bill = cost.statement(frames, every=None, price=lf.TrafficPrice("16.67", "USD/MB"), rounding=rounding)
    exact = sum(sizes) * Decimal("0.00001667")
    assert sum(bill["currency"]) == exact.quantize(Decimal(rounding), "ROUND_HALF_EVEN")
    assert all(abs(each) < Decimal(rounding) for each in bill["rounding_difference"])
    assert all(a + b == c for a, b, c in zip(bill["currency_exact"], bill["rounding_difference"], bill["currency"], strict=True))


def test_equal_remainders_go_to_the_first_by_name(build, event):
    frames = build([event(name, 1, 100, parties=[name]) for name in ("carol", "alice", "bob")])
    bill = cost.statement(frames, price=lf.TrafficPrice("1000", "USD/MB"), rounding="1", every=None)
    assert column(bill, "currency") == amounts("0", "0", "0")  # 0.3 of a dollar
    bill = cost.statement(frames, price=lf.TrafficPrice("5000", "USD/MB"), rounding="1", every=None)
    assert column(bill, "currency") == amounts("1", "1", "0")  # 1.5 of a dollar, rounded to 2


@pytest.mark.parametrize(
    ("split", "sizes"), [("equal", [104, 103, 103]), ("first", [310, None, None]), ("whole", [310, 310, 310])]
)
def test_shared_requests_are_split(build, event, split, sizes):
    frames = build([event("a", 1, 310, parties=["carol", "alice", "bob", "alice"])])
    with pytest.raises(UsageError, match=r"Several parties share 1 requests\. Pass split="):
        cost.statement(frames, price=PRICE)
    bill = cost.statement(frames, price=PRICE, split=split).set_index("party")["bytes"].reindex(["alice", "bob", "carol"])
    assert [None if pd.isna(each) else each for each in bill] == sizes


LABELS = pd.DataFrame({"id": ["alice", "bob"], "name": ["Alice", "Bob"], "group": ["us", "us"]}, dtype="str")


def test_parties_of_one_label_share_a_line(build, event):
    events = [
        event("a", 1, 310, parties=["alice", "bob"]),
        event("b", 1, 100, parties=["bob"]),
        event("c", 1, 7, parties=["eve"]),
    ]
    bill = cost.statement(build(events), by="label", labels=LABELS, price=PRICE)
    assert (column(bill, "label"), column(bill, "bytes"), column(bill, "requests")) == (["us", None], [410, 7], [2, 1])
    entries = cost.journal(bill, accounts={"traffic": ("5200", "1400")}, accept_partial=True)
    assert column(entries, "party")[:2] == ["us", "us"]
    shared = build([*events, event("d", 1, 9, parties=["eve", "alice"])])
    with pytest.raises(UsageError, match=r"Several labels share 1 requests\. Pass split="):
        cost.statement(shared, by="label", labels=LABELS, price=PRICE)
    equal = cost.statement(shared, by="label", labels=LABELS, price=PRICE, split="equal")
    assert column(equal, "bytes") == [415, 11]
    with pytest.raises(UsageError, match="labels= must be"):
        cost.statement(shared, by="label", price=PRICE)


def test_labels_of_participants_name_no_party(build, event):
    """Lines of parties without a label would be the whole bill, without a word."""
    sample = build([event("a", 1, 10, parties=["alice"], participant="PAR::val")])
    labels = pd.DataFrame({"id": ["val"], "name": ["Val"], "group": ["us"]}, dtype="str")
    with pytest.raises(UsageError, match=r"labels= must name submitting parties.* Pass by='participant'"):
        cost.statement(sample, by="label", labels=labels, price=PRICE)
    others = labels.assign(id="elsewhere")
    assert column(cost.statement(sample, by="label", labels=others, price=PRICE), "label") == [None]


def test_requests_without_a_party_have_a_line(sample):
    bill = cost.statement(sample, price=PRICE, split="first", min_coverage=0, every=None)
    assert column(bill, "party") == ["alice", "bob", None]
    assert column(bill, "bytes") == [5155 + 1000, 845, 3000]
    assert column(bill, "coverage") == [2 / 3, 1.0, 1 / 2]


def test_too_few_known_costs_are_refused(sample):
    with pytest.raises(CoverageError, match=r"Cannot bill the period from 2026-11-01 00:00 .* only 66\.7 % of") as refused:
        cost.statement(sample, price=PRICE, by="participant")
    assert refused.value.missing == ("2026-11-01 00:00",)
    with pytest.raises(CoverageError, match="Cannot bill the window"):
        cost.statement(sample, price=PRICE, by="participant", every=None)
    bill = cost.statement(sample, price=PRICE, by="participant", every=None, min_coverage=0.6)
    assert column(bill, "bytes") == [7000, 3000, None]
    assert column(bill, "currency") == amounts("0.42", "0.18", None)


def test_periods_without_requests_have_rows(three):
    bill = cost.statement(three, price=PRICE, by=None, every="1h")
    assert len(bill) == 24
    assert bill["currency"].notna().sum() == 1
    assert column(bill.head(2), "bytes") == [None, 3_925_923]


def test_the_paid_cost_of_an_own_participant(three):
    ledger = testing.frames_of(
        network="memory",
        ledger_updates=[{"update_id": "alice", "offset": 1, "paid_traffic_cost": 1_000_000}, {"update_id": "zoe", "offset": 2}],
    )
    assert column(cost.statement(three, price=PRICE, ledger=ledger), "bytes_paid") == [1_000_000, None, None]


def test_the_paid_cost_is_that_of_the_participant_that_paid(three):
    rows = [{"participant_id": name, "update_id": "alice", "offset": at} for at, name in enumerate(("A", "B"), 1)]
    ledger = testing.frames_of(network="memory", ledger_updates=[rows[0], {**rows[1], "paid_traffic_cost": 90}])
    assert column(cost.statement(three, price=PRICE, ledger=ledger), "bytes_paid") == [90, None, None]


def test_the_paid_cost_of_a_shared_request_is_divided_as_its_cost_is(build, event):
    sample = build([event("both", 1, 1001, parties=["alice", "bob"])])
    ledger = testing.frames_of(network="memory", ledger_updates=[{"update_id": "both", "offset": 1, "paid_traffic_cost": 1001}])
    for split, expected in {"equal": [501, 500], "first": [1001], "whole": [1001, 1001]}.items():
        bill = cost.statement(sample, price=PRICE, split=split, ledger=ledger)
        assert column(bill, "bytes") == column(bill, "bytes_paid") == expected


def test_a_negative_paid_cost_is_unknown(three):
    paid = [{"update_id": name, "offset": offset, "paid_traffic_cost": -5} for offset, name in enumerate(("alice", "zoe"), 1)]
    ledger = testing.frames_of(network="memory", ledger_updates=paid)
    assert cost.statement(three, price=PRICE, ledger=ledger)["bytes_paid"].isna().all()


def test_the_ledger_of_another_network_is_refused(three):
    with pytest.raises(UsageError, match="frames of one network, got memory and test"):
        cost.statement(three, price=PRICE, ledger=testing.frames_of(ledger_updates=[]))


def test_prices_are_never_exchanged(three):
    market, network = lf.MarketRate("0.16", "USD/coin"), RATE
    with pytest.raises(UsageError, match="rate= must be a NetworkRate, got MarketRate"):
        cost.statement(three, price=PRICE, rate=market)
    with pytest.raises(UsageError, match="market= must be a MarketRate, got NetworkRate"):
        cost.statement(three, price=PRICE, rate=RATE, market=network)
    with pytest.raises(UsageError, match="price= must be a TrafficPrice, got NetworkRate"):
        cost.statement(three, price=network)
    with pytest.raises(UsageError, match="price= must be a TrafficPrice, got str"):
        cost.statement(three, price="60")


@pytest.mark.parametrize("rounding", ["0.05", "2", "", "0.0", 0.01, None, "1e-2"])
def test_a_rounding_that_is_no_unit_is_refused(three, rounding):
    with pytest.raises(UsageError, match="rounding= must be"):
        cost.statement(three, price=PRICE, rounding=rounding)


def test_an_unknown_split_is_refused(three):
    with pytest.raises(UsageError, match=r"Unknown split 'half'\. Choose from 'equal', 'first', 'whole'"):
        cost.statement(three, price=PRICE, split="half")


def test_frames_without_requests(build):
    assert cost.statement(build([]), price=PRICE, every=None).empty
    assert column(cost.statement(build([]), price=PRICE), "currency") == [None]


def test_committed_updates_are_refused(build, event):
    """Rejected requests cost, too, and are not among them."""
    frames = build([event("a", 0, 1_000_000)], population="committed")
    with pytest.raises(CoverageError, match="Cannot compute a bill because committed updates have no rejected requests"):
        cost.statement(frames, price=PRICE)
    bill = cost.statement(frames, price=PRICE, accept_survivorship=True)
    assert bill["population"].tolist() == ["committed, accepted"]
