"""Prices that super validators vote for, worked out by hand."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from trees_by_hand import DSO, archive, coin, exercise, frames_of, network_rules, open_round

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import FIGURES
from ledgerframes.errors import CoverageError, UsageError

NOON = pd.Timestamp("2026-11-08T12:00Z")


def votes(*prices, ages=None, at=NOON, svs=None):
    rows = [
        {
            "observed_at": at,
            "contract_id": f"{at}-{number}",
            "sv": svs[number] if svs else f"sv-{number}",
            "dso": "dso",
            "price": None if price is None else Decimal(price),
            "last_updated_at": (at - pd.Timedelta(days=ages[number] if ages else 1)).floor("us"),
        }
        for number, price in enumerate(prices)
    ]
    return frame_of(rows)


def frame_of(rows):
    spec = testing.table("price_votes")
    return spec.spec.to_pandas(spec.fill(rows))


def column(frame, name):
    return [None if pd.isna(value) else value for value in frame[name]]


def test_median_spread_and_byte_price():
    history = pd.concat(
        [
            votes("0.15", "0.15", at=NOON - pd.Timedelta(days=1)),
            votes("0.15", "0.16", None),
            votes("0.16", at=NOON + pd.Timedelta(days=1)),
        ]
    )
    result = lf.votes.price(history, traffic_price=lf.TrafficPrice("60", "USD/MB"))
    assert column(result, "median") == [Decimal("0.15"), Decimal("0.155"), Decimal("0.16")]
    assert column(result, "spread") == [0, Decimal("0.01"), 0]
    assert column(result, "mad") == [0, Decimal("0.005"), 0]
    assert column(result, "byte_price") == [400, Decimal("387.0967741935"), 375]
    assert column(result, "byte_price_change") == [None, Decimal("-12.9032258065"), Decimal("-12.0967741935")]
    assert column(result, "voters") == [2, 3, 1]
    assert column(result, "votes") == [2, 2, 1]
    assert column(lf.votes.price(history), "byte_price") == [None, None, None]
    assert lf.show(result).statement.endswith(" A megabyte of traffic costs 375.00 coin at the median.")
    assert "megabyte" not in lf.show(lf.votes.price(history)).statement


def test_the_median_is_rounded_half_to_even():
    assert column(lf.votes.price(votes("0.1500000001", "0.1500000002")), "median") == [Decimal("0.1500000002")]
    assert column(lf.votes.price(votes("0.1500000002", "0.1500000003")), "median") == [Decimal("0.1500000002")]
    large = Decimal("9" * 28 + ".9999999999")
    assert column(lf.votes.price(votes(large, large)), "median") == [large]


def test_the_newest_vote_of_a_super_validator_counts():
    result = lf.votes.price(votes("0.10", "0.20", "0.30", ages=[3, 1, 2], svs=["a", "a", "b"]))
    assert (column(result, "voters"), column(result, "median")) == ([2], [Decimal("0.25")])


def test_an_outlier():
    result = lf.votes.stale(votes("0.15", "0.15", "0.16", "0.16", "0.30")).set_index("sv").loc["sv-4"]
    assert result["deviation"] == Decimal("0.14")
    assert round(result["score"], 2) == 9.44
    assert result["is_outlier"]
    assert result["median_without"] == Decimal("0.155")
    others = lf.votes.stale(votes("0.15", "0.15", "0.16", "0.16", "0.30"))["is_outlier"]
    assert others.sum() == 1
    assert lf.votes.stale(votes("0.15", "0.15", "0.16", "0.16", "0.30"), outlier=9.5)["is_outlier"].sum() == 0


def test_few_votes_have_no_outlier():
    assert lf.votes.stale(votes("0.15", "0.16", "0.17", "0.30"))["is_outlier"].isna().all()


def test_a_vote_unlike_most_is_an_outlier_without_a_score():
    rows = lf.votes.stale(votes(*["0.15"] * 5, "0.30", None)).set_index("sv").sort_index()
    assert rows["score"].isna().all()
    assert column(rows, "is_outlier") == [False] * 5 + [True, None]


def test_old_votes_are_stale_but_not_at_the_limit():
    result = lf.votes.stale(votes("0.15", "0.15", "0.15", None, ages=[30, 31, 1, 90]))
    assert column(result, "sv") == ["sv-3", "sv-1", "sv-0", "sv-2"]  # oldest first
    assert column(result, "is_stale") == [None, True, False, False]
    assert [age.days for age in result["age"]] == [90, 31, 30, 1]
    assert set(result["coverage"]) == {0.75}
    assert lf.votes.price(votes("0.15", "0.15", ages=[30, 31]))["stale_votes"].tolist() == [1]
    assert column(lf.votes.stale(votes("0.15", ages=[8]), stale_days=7), "is_stale") == [True]


def test_one_vote_has_no_median_without_it():
    result = lf.votes.stale(votes("0.15", None))
    assert column(result.sort_values("sv"), "median_without") == [None, Decimal("0.15")]


def vote(sv, value):
    choice, argument = "DsoRules_UpdateCoinPriceVote", {"sv": sv, "voteCid": "c", "coinPrice": value}
    return exercise("Splice.DsoRules:DsoRules", "dso-rules", choice, package="splice-dso-governance", argument=argument)


@pytest.mark.parametrize("word", ["coin", "amulet"])
def test_each_vote_of_the_history_is_a_step(word):
    """Round 7 ends at 01:00, a and b vote at 02:00 and 03:00, and a snapshot at noon knows an older vote of c."""
    rounds = [network_rules(), coin("c1", "a", "1.0"), open_round(7, "0.15"), open_round(8, "0.16")]
    frames = frames_of(rounds, [archive(open_round(7))], [vote("a", "0.20")], [vote("b", "0.10")], word=word)
    snapshot = votes("0.20", "0.10", "0.40", ages=[0.4, 0.3, 20], svs=["a", "b", "c"]).assign(dso=DSO)
    result = lf.votes.price(snapshot, frames=frames)
    assert [each.hour for each in result["observed_at"]] == [2, 3, 12]
    assert column(result, "voters") == [3, 3, 3]  # b has a vote at 02:00, too, but its price is not known
    assert column(result, "coverage") == [2 / 3, 1, 1]
    assert column(result, "median") == [Decimal("0.3"), Decimal("0.2"), Decimal("0.2")]
    assert column(result, "round_price") == [Decimal("0.16")] * 3
    later = lf.votes.price(votes("0.20", at=NOON + pd.Timedelta(days=1)).assign(dso=DSO), frames=frames)
    assert column(later, "round_price") == [Decimal("0.16"), Decimal("0.16"), None]
    with pytest.raises(UsageError, match="votes of one network"):
        lf.votes.price(votes("0.20"), frames=frames)
    with pytest.raises(CoverageError, match="needs all updates"):
        lf.votes.price(snapshot, frames=frames.where("tree_events", choice="Archive"))


def test_votes_count_in_a_window_without_rules_and_rounds():
    result = lf.votes.price(votes("0.20", svs=["a"]).assign(dso=DSO), frames=frames_of([vote("a", "0.30")]))
    assert column(result, "median") == [Decimal("0.3"), Decimal("0.2")]


def test_an_abstention_that_is_known_by_then_is_a_voter_without_a_price():
    """At 01:00, c abstains since a day, and its older price does not count any more."""
    frames = frames_of([network_rules(), open_round(7)], [vote("a", "0.20")])
    before = votes("0.15", at=NOON - pd.Timedelta(days=5), svs=["c"])
    snapshot = pd.concat([before, votes("0.20", None, ages=[0.46, 1], svs=["a", "c"])]).assign(dso=DSO)
    result = lf.votes.price(snapshot, frames=frames)
    assert column(result, "voters") == [1, 2, 2]
    assert column(result, "votes") == [1, 1, 1]
    assert column(result, "median") == [Decimal("0.15"), Decimal("0.2"), Decimal("0.2")]


def test_a_vote_without_a_time_is_neither_stale_nor_fresh():
    table = votes("0.15", "0.16").assign(last_updated_at=[NOON - pd.Timedelta(days=31), pd.NaT])
    result = lf.votes.stale(table)
    assert column(result, "sv") == ["sv-0", "sv-1"]
    assert column(result, "is_stale") == [True, None]
    ax, empty = Figure().subplots(1, 2)
    assert lf.plot(result, ax=ax).get_xlim()[1] > 31
    lf.plot(result.iloc[1:], ax=empty)
    assert [text.get_text() for text in empty.texts] == ["No vote with a price has a time."]


def test_a_vote_without_a_time_is_older_than_one_with_a_time():
    table = votes("0.15", "0.16", svs=["a", "a"]).assign(last_updated_at=[NOON - pd.Timedelta(days=3), pd.NaT])
    assert column(lf.votes.stale(table), "price") == [Decimal("0.15")]


def test_the_oldest_vote_is_one_with_a_price():
    statement = lf.show(lf.votes.stale(votes("0.15", None, ages=[2, 300]))).statement
    assert statement.startswith("Stale votes: 0. The oldest is that of sv-0, 2 days old.")


def test_observations_in_another_time_zone_are_the_same_times():
    frames = frames_of([network_rules(), open_round(7)], [vote("a", "0.20")])
    snapshot = votes("0.20", "0.10").assign(dso=DSO)
    moved = snapshot.assign(observed_at=snapshot["observed_at"].dt.tz_convert("Asia/Tokyo"))
    pd.testing.assert_frame_equal(lf.votes.price(moved, frames=frames), lf.votes.price(snapshot, frames=frames))


def test_no_votes():
    assert lf.votes.stale(frame_of([])).empty
    assert lf.votes.price(frame_of([])).empty


def test_votes_of_two_networks_and_other_things_are_refused():
    mixed = pd.concat([votes("0.15"), votes("0.16").assign(dso="other")])
    for figure in (lf.votes.price, lf.votes.stale):
        with pytest.raises(UsageError, match="votes of one network, got those of dso and other"):
            figure(mixed)
        with pytest.raises(
            UsageError, match=r"Pass the result of lf\.load_price_votes.* got a DataFrame without column 'observed_at'"
        ):
            figure(pd.DataFrame({"price": []}))
    with pytest.raises(UsageError, match="traffic_price= must be a TrafficPrice, got NetworkRate"):
        lf.votes.price(votes("0.15"), traffic_price=lf.NetworkRate("0.16", "USD/coin"))


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two():
    table = testing.table("price_votes").sample(
        3, observed_at=testing.START, last_updated_at=testing.START, price=[Decimal("0.15"), Decimal("0.16"), None]
    )
    (row,) = lf.votes.price(table).itertuples()
    assert (row.voters, row.votes, row.median, row.spread) == (3, 2, Decimal("0.155"), Decimal("0.01"))
    assert row.coverage == 2 / 3


def test_votes_have_the_columns_of_every_result():
    for rows in (0, 3):
        result = lf.votes.price(testing.table("price_votes").sample(rows))
        columns = FIGURES["votes.price"].result_columns()
        assert list(result.columns) == [column.name for column in columns]
        assert [str(dtype) for dtype in result.dtypes] == [column.dtype for column in columns]
        assert result[["coverage_bytes", "coverage_time", "population", "network"]].isna().all(axis=None)


@pytest.mark.parametrize("days", ["30", -1, True, float("nan"), float("inf"), None])
def test_an_age_that_is_no_number_of_days_is_refused(days):
    with pytest.raises(UsageError, match=r"^stale_days= must be a number of days from 0 to 36,500, got "):
        lf.votes.price(votes("1"), stale_days=days)
    with pytest.raises(UsageError, match=r"^stale_days= must be a number of days from 0 to 36,500, got "):
        lf.votes.stale(votes("1"), stale_days=days)


def test_numbers_of_numpy_are_numbers():
    table = votes("0.15", "0.15", "0.16", "0.16", "0.30", ages=[40, 1, 1, 1, 1])
    expected = lf.votes.stale(table, stale_days=30, outlier=3)
    for days, outlier in ((np.int64(30), np.int32(3)), (np.float32(30), np.float64(3))):
        pd.testing.assert_frame_equal(lf.votes.stale(table, stale_days=days, outlier=outlier), expected)
    with pytest.raises(UsageError, match=r"got np\.True_"):
        lf.votes.stale(table, stale_days=np.True_)


@pytest.mark.parametrize("outlier", ["3", -0.1, True, float("nan"), None])
def test_a_score_that_is_no_number_is_refused(outlier):
    with pytest.raises(UsageError, match=r"^outlier= must be a number of at least 0, got "):
        lf.votes.stale(votes("1"), outlier=outlier)
