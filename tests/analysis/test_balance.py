"""Coin of parties over time: worked examples, planted errors, and the sandbox against its own sums."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from trees_by_hand import DAY, DSO, archive, coin, create, frames_of, network_rules

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window

ANN, BOB = "ann::1220aa", "bob::1220bb"
START = pd.Timestamp("2026-11-08", tz="UTC")
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), DAY + timedelta(days=1)


def known_frames(events: pd.DataFrame, *known: tuple[datetime, datetime]) -> Frames:
    """Frames of all history, of which these times are known."""
    covered = [{"migration_id": 4, "since": since, "until": until, "status": "final", "rows": 1} for since, until in known]
    return testing.frames_of(window=Window(FIRST, LAST), coverage=covered, tree_events=events.to_dict("records"))


def whole_history(*updates: list[Any]) -> Frames:
    """A day of updates that is all there ever was."""
    return known_frames(frames_of(*updates).tree_events, (FIRST, LAST))


def amount(text: str, rate: str = "0.5") -> dict[str, Any]:
    return {"initialAmount": text, "ratePerRound": {"rate": rate}}


def owned(contract: str, owner: str, text: str, **options: Any) -> dict[str, Any]:
    return create("Splice.Coin:Coin", contract, dso=DSO, owner=owner, amount=amount(text), **options)


def locked(contract: str, owner: str, text: str) -> dict[str, Any]:
    return create("Splice.Coin:LockedCoin", contract, coin={"dso": DSO, "owner": owner, "amount": amount(text)}, lock={})


def sums(*rows: tuple[str, str, str | None, str | None]) -> pd.DataFrame:
    """Sums of the network: time, party, unlocked and locked."""
    table = lf.table("holdings_summary")
    values = [
        {
            "snapshot_time": pd.Timestamp(time, tz="UTC"),
            "party": party,
            "migration_id": 4,
            "total_unlocked_coin": unlocked and Decimal(unlocked),
            "total_locked_coin": held and Decimal(held),
            "total_coin_holdings": unlocked and held and Decimal(unlocked) + Decimal(held),
            "extra": None,
        }
        for time, party, unlocked, held in rows
    ]
    return table.to_pandas(table.from_arrays({name: [row[name] for row in values] for name in table.column_names}))


@pytest.fixture
def day() -> Frames:
    """At 0:00 coins are made, at 1:00 Ann locks hers, at 2:00 she pays Bob with it."""
    first, own, other = owned("a1", ANN, "10.0"), locked("a2", ANN, "10.0"), owned("b1", BOB, "2.0")
    return whole_history(
        [network_rules(), first, other], [archive(first), own], [archive(own), owned("a3", ANN, "6.0"), owned("b2", BOB, "4.0")]
    )


def test_a_transfer_by_hand(day: Frames) -> None:
    rows = lf.economy.balance(day, parties=[BOB, ANN], every="1h")
    ann, bob = (rows[rows["party"] == party].reset_index(drop=True) for party in (ANN, BOB))
    assert rows["party"].tolist()[:2] == [BOB, ANN]
    assert ann["unlocked"].tolist()[:4] == [10, 0, 6, 6]
    assert ann["locked"].tolist()[:4] == [0, 10, 0, 0]
    assert ann["balance"].tolist()[:4] == [10, 10, 6, 6]
    assert ann["change"].tolist()[:4] == [10, 0, -4, 0]
    assert bob["balance"].tolist()[:4] == [2, 2, 6, 6]
    assert bob["coins"].tolist()[:4] == [1, 1, 2, 2]
    assert bob["fee_per_round"].tolist()[:4] == [Decimal("0.5"), Decimal("0.5"), 1, 1]
    assert lf.economy.balance(day, every=None)[["party", "balance"]].to_numpy().tolist() == [[ANN, 6], [BOB, 6]]


def test_sums_of_the_network_tie_at_their_own_time(day: Frames) -> None:
    told = sums(
        ("2026-11-08T01:00", ANN, "0.0", "10.0"), ("2026-11-08T03:00", ANN, "6.0", "0.0"), ("2026-11-08T03:00", BOB, "6", "0")
    )
    rows = lf.economy.balance(day, every="1h", summary=told).set_index(["party", "period_end"])
    assert rows["node_sums"].sum() == 3
    assert rows["differing_sums"].sum() == 0
    assert rows.loc[(ANN, START + pd.Timedelta("1h")), ["node_balance", "difference"]].tolist() == [10, 0]
    assert rows["node_time"].dropna().dt.hour.tolist() == [1, 3, 3]


@pytest.mark.parametrize(
    ("unlocked", "held", "difference"),
    [("6.0000000001", "0", "-0.0000000001"), ("5", "1", "0"), (None, None, "6"), ("5", "0", "1")],
)
def test_a_sum_that_differs_is_found_where_it_is_and_nowhere_else(
    day: Frames, unlocked: str | None, held: str | None, difference: str
) -> None:
    right = [("2026-11-08T00:30", ANN, "10", "0"), ("2026-11-08T12:00", BOB, "6", "0")]
    told = sums(*right, ("2026-11-08T12:00", ANN, unlocked, held))
    rows = lf.economy.balance(day, every="6h", summary=told)
    wrong = rows[rows["differing_sums"] > 0]
    assert wrong[["party", "period_end"]].to_numpy().tolist() == [[ANN, START + pd.Timedelta("12h")]]
    assert wrong["difference"].tolist() == [Decimal(difference)]
    assert rows["node_sums"].sum() == 3


def test_the_worst_of_several_sums_is_shown(day: Frames) -> None:
    told = sums(*((f"2026-11-08T{hour:02}:00", BOB, text, "0") for hour, text in ((3, "6"), (4, "9"), (5, "7"))))
    (row,) = lf.economy.balance(day, BOB, every=None, summary=told).itertuples()
    assert (row.node_sums, row.differing_sums, row.difference, row.node_time.hour) == (3, 2, -3, 4)


def test_coin_that_only_the_network_knows_has_a_row(day: Frames) -> None:
    told = sums(("2026-11-08T12:00", "eve::1220ee", "5", "0"))
    rows = lf.economy.balance(day, every=None, summary=told).set_index("party")
    assert rows["difference"].dropna().to_dict() == {"eve::1220ee": -5}
    assert lf.economy.balance(day, "eve::1220ee", every=None, summary=told)["balance"].tolist() == [0]


def test_coins_that_cannot_be_read_leave_the_balance_unknown() -> None:
    nameless = create("Splice.Coin:Coin", "x", dso=DSO, amount=amount("1.0"))
    frames = whole_history([network_rules(), owned("a", ANN, "1.0"), owned("b", BOB, "1.00000000001")], [nameless])
    rows = lf.economy.balance(frames, every="1h").groupby("period_end", sort=False).head(9)
    first, second = (rows[rows["period_end"] == START + pd.Timedelta(hours=hour)].set_index("party") for hour in (1, 2))
    assert first["balance"].isna().tolist() == [False, True, False]
    assert second["coverage"].tolist()[:2] == [0.5, 0]
    assert second["coins"].tolist() == [1, 1, 1]
    assert second.index.isna().tolist() == [False, False, True]
    assert lf.economy.balance(frames, ANN, every=None)["coverage"].tolist() == [0.5]
    told = sums(("2026-11-08T12:00", BOB, "1", "0"))
    assert lf.economy.balance(frames, BOB, every=None, summary=told)["node_sums"].tolist() == [0], "there is nothing to compare"


def test_coins_that_others_sign_are_no_coin(day: Frames) -> None:
    fake = owned("f", ANN, "99.0", signed=("mallory::1220",))
    frames = whole_history([network_rules(), fake, owned("a", ANN, "1.0")])
    assert lf.economy.balance(frames, ANN, every=None)["balance"].tolist() == [1]


# -- the known time -------------------------------------------------------------------------------------------------------


def test_a_balance_needs_all_that_was_before(day: Frames) -> None:
    part = frames_of([network_rules(), coin("a", ANN, "1.0")])
    with pytest.raises(CoverageError, match="needs history that these frames do not cover"):
        lf.economy.balance(part)
    with pytest.raises(CoverageError, match="needs all updates of its time"):
        lf.economy.balance(day.where("tree_events", contract_id="a1"))


@pytest.mark.exhaustive
def test_a_contract_of_two_loads_counts_once(net: lf.Network, history: Frames) -> None:
    """All contracts, and those of owners again."""
    at = history.window.since if history.window and history.window.since.year > 1 else pd.Timestamp("2026-11-08T12:00Z")
    later = lf.load_events(net, since=at, until="2026-11-09")
    contracts = lf.load_contracts(net, at=at, templates=())
    owners = lf.economy.balance(later, base=contracts)["party"].dropna().tolist()
    both = pd.concat([contracts, lf.load_contracts(net, at=at, owners=owners)])
    assert len(both) > len(contracts)
    for figure in (lf.economy.balance, lf.economy.names, lf.economy.flows, lf.economy.burn_mint):
        pd.testing.assert_frame_equal(figure(later, base=both), figure(later, base=contracts))
    pd.testing.assert_frame_equal(lf.state.rounds(both), lf.state.rounds(contracts))


def test_contracts_of_another_network_are_refused(net: lf.Network) -> None:
    other = lf.load_contracts(lf.connect("sandbox", events=400, days=1, seed=7), at="2026-11-08T12:00Z")
    frames = lf.load_events(net, since="2026-11-08T12:00Z", until="2026-11-09")
    for figure in (lf.economy.balance, lf.economy.flows, lf.activity.recompute, lf.state.featured):
        with pytest.raises(UsageError, match=r"base= is of another network.* Pass contracts of the network of the frames\."):
            figure(frames, base=other)


def test_beyond_a_gap_balances_are_missing(day: Frames) -> None:
    gap = (DAY + timedelta(hours=2), DAY + timedelta(hours=3))
    frames = known_frames(day.tree_events, (FIRST, gap[0]), (gap[1], LAST))
    rows = lf.economy.balance(frames, BOB, every="1h")
    assert rows["balance"].isna().tolist()[:4] == [False, False, True, True]
    assert rows["coins"].isna().tolist() == rows["balance"].isna().tolist()
    with pytest.raises(UsageError, match="must have a sum of these parties"):
        lf.economy.balance(frames, BOB, summary=sums(("2026-11-08T12:00", BOB, "6", "0")))


def test_balances_of_time_without_final_data_are_missing(day: Frames) -> None:
    segments = [
        {"migration_id": 4, "since": FIRST, "until": LAST, "status": "final"},
        {"migration_id": 4, "since": LAST, "until": LAST + timedelta(hours=2), "status": "provisional", "rows": 0},
    ]
    window = Window(FIRST, LAST + timedelta(hours=2))
    frames = testing.frames_of(window=window, coverage=segments, tree_events=day.tree_events.to_dict("records"))
    rows = lf.economy.balance(frames, BOB, every="1h").dropna(subset="party")
    assert rows["balance"].isna().tolist() == (rows["period_start"] >= LAST).tolist()
    assert lf.economy.balance(frames, BOB).iloc[0]["balance"] == 6


def test_frames_without_rows_have_no_coin() -> None:
    frames = whole_history()
    rows = lf.economy.balance(frames)
    assert rows.empty
    assert rows.dtypes.map(str)["balance"] == "decimal128(38, 10)[pyarrow]"


def test_coins_without_rules_are_not_taken_for_those_of_the_network() -> None:
    with pytest.raises(CoverageError, match="rules or a round"):
        lf.economy.balance(whole_history([coin("a", ANN, "1.0")]))


# -- wrong arguments --------------------------------------------------------------------------------------------------------


def test_wrong_parties_and_sums(day: Frames) -> None:
    with pytest.raises(UsageError, match=r"Unknown party 'ann::1220ab'\. Choose from 'ann::1220aa'"):
        lf.economy.balance(day, "ann::1220ab")
    for bad in ([], "", [5]):
        with pytest.raises(UsageError, match="parties= must be a party or a list of parties"):
            lf.economy.balance(day, bad)  # type: ignore[arg-type]
    told = sums(("2026-11-08T12:00", BOB, "6", "0"))
    with pytest.raises(UsageError, match="summary= must be rows of table holdings_summary, got list"):
        lf.economy.balance(day, summary=[1])  # type: ignore[arg-type]
    for times in (told["snapshot_time"].dt.tz_localize(None), told["snapshot_time"].astype("str")):
        with pytest.raises(UsageError, match=r"got column 'snapshot_time' of .*\. Pass its times in UTC"):
            lf.economy.balance(day, summary=told.assign(snapshot_time=times))
    with pytest.raises(UsageError, match="without column 'total_locked_coin'"):
        lf.economy.balance(day, summary=told.drop(columns="total_locked_coin"))
    with pytest.raises(UsageError, match=r"got column 'total_coin_holdings' of float64\. Pass its decimals"):
        lf.economy.balance(day, summary=told.astype({"total_coin_holdings": "float64"}))
    with pytest.raises(UsageError, match="must have a sum of these parties"):
        lf.economy.balance(day, ANN, summary=told)


# -- the sandbox ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def net(sandbox_net: lf.Network) -> lf.Network:
    return sandbox_net


@pytest.fixture(scope="module")
def history(sandbox_history: Frames) -> Frames:
    return sandbox_history.between("0001-01-01", "2026-11-09")


def test_the_sandbox_ties_to_its_own_sums(net: lf.Network, history: Frames) -> None:
    told = lf.load_holdings_summary(net, at=pd.date_range("2026-11-07T12:00", "2026-11-09", freq="3h", tz="UTC").to_list())
    rows = lf.economy.balance(history, summary=told)
    assert rows["node_sums"].sum() == len(told) > 500
    assert rows["differing_sums"].sum() == 0
    assert (rows["coverage"].dropna() == 1).all()


def test_any_base_leads_to_the_same_balances(net: lf.Network, history: Frames) -> None:
    whole = lf.economy.balance(history, every="6h")
    party = whole.loc[whole["balance"].idxmax(), "party"]
    for time in ("2026-11-07T12:00Z", "2026-11-08", "2026-11-08T15:00Z"):
        part = history.between(time, "2026-11-09")
        own = lf.economy.balance(part, party, every="6h", base=lf.load_contracts(net, at=time, owners=[party]))
        every = lf.economy.balance(part, every="6h", base=lf.load_contracts(net, at=time, templates=[]))
        for rows in (own, every[every["party"] == party]):
            ends = rows.set_index("period_end")["balance"]
            assert ends.equals(whole[whole["party"] == party].set_index("period_end")["balance"][ends.index])


def test_a_base_without_the_coins_is_refused(net: lf.Network, history: Frames) -> None:
    part = history.between("2026-11-08", "2026-11-09")
    state = lf.load_contracts(net, at="2026-11-08")
    with pytest.raises(CoverageError, match="base= has no coins"):
        lf.economy.balance(part, base=state)
    owner, other = lf.economy.balance(history, every=None).nlargest(2, "coins")["party"]
    own = lf.load_contracts(net, at="2026-11-08", owners=[owner])
    with pytest.raises(CoverageError, match="Pass the parties= whose coins they are"):
        lf.economy.balance(part, base=own)
    with pytest.raises(CoverageError, match=f"no coin of {other}"):
        lf.economy.balance(part, [owner, other], base=own)


def test_a_missing_archive_is_a_difference(net: lf.Network, history: Frames) -> None:
    rows = lf.economy.balance(history, every=None)
    party = rows.loc[rows["balance"].idxmax(), "party"]
    told = lf.load_holdings_summary(net, owners=[party], at="2026-11-09")
    events = history.tree_events
    coins = events[(events["template_name"] == "Splice.Coin:Coin") & events["create_arguments"].str.contains(party, na=False)]
    gone = events["contract_id"].isin(coins["contract_id"]) & events["consuming"].fillna(False)
    first = events[gone].index[0]
    lost = coins.set_index("contract_id")["create_arguments"][events.loc[first, "contract_id"]]
    broken = known_frames(events.drop(index=first), (FIRST, LAST))
    (row,) = lf.economy.balance(broken, party, every=None, summary=told).itertuples()
    assert row.differing_sums == 1
    assert f'"{row.difference}"' in lost
