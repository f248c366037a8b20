"""Coin by kind and period: worked examples, what must not mislead, and the sandbox against plain loops."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import every_nth
from events_by_hand import SANDBOX_DAYS, SANDBOX_EVENTS
from matplotlib.figure import Figure
from sandbox.economy_reader import EconomyReader
from trees_by_hand import (
    DAY,
    DSO,
    archive,
    coin,
    create,
    exercise,
    frames_of,
    network_rules,
    open_round,
    rules_choice,
    summary,
)  # fmt: skip

import ledgerframes as lf
from ledgerframes import analysis, testing
from ledgerframes.analysis._amounts import units
from ledgerframes.errors import CoverageError, IntegrityError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.sandbox import Sandbox
from ledgerframes.values.windows import Window

FLOWS = ("minted_app", "minted_validator", "minted_sv", "burned_traffic", "burned_names", "burned_dust", "net", "unexplained")
APP = "app::1220aa"


def one(frames: Frames, **named: Any) -> pd.Series:
    """The sums of all updates."""
    return lf.economy.flows(frames, every=None, **named).iloc[0]


def amount(text: str) -> Decimal:
    return Decimal(text)


# -- rounds and control totals ------------------------------------------------------------------------------------------


def test_no_coin_moves_in_covered_time_only() -> None:
    """A window of three days: before the history, final, and not yet come."""
    times = pd.date_range("2026-11-07", periods=4, tz="UTC", unit="us")
    window = Window(times[0].to_pydatetime(), times[3].to_pydatetime())
    covered = [{"migration_id": 4, "since": times[1], "until": times[2], "status": "final", "source": "file"}]
    frames = testing.frames_of(window=window, coverage=covered)
    flows, burn_mint = lf.economy.flows(frames, every="1d"), lf.economy.burn_mint(frames, every="1d")
    for days in (flows, burn_mint):
        assert days["net"].isna().tolist() == [True, False, True]
        assert days["unexplained"][1] == 0
    assert flows["traffic_bought"].isna().tolist() == [True, False, True]


def wrapped_transfer(*, is_signed: bool = True) -> list[dict[str, Any]]:
    """A wrapper that repeats the summary of the transfer below it."""
    result = summary(App="10.0", Validator="4.0", inputValidatorFaucetAmount="3.0")
    made = coin("c1", APP, "14.0", signed=(DSO if is_signed else "other::1220",))
    transfer = rules_choice("CoinRules_Transfer", made, argument={"transfer": {"sender": APP}}, result=result)
    wrapper = {"result": result["summary"] and {"result": result}}
    return [exercise("Splice.CoinRules:TransferPreapproval", "pre", "TransferPreapproval_Send", transfer, **wrapper)]


@pytest.mark.parametrize("word", ["coin", "amulet"])
def test_a_wrapper_and_the_faucet_are_counted_once(word: str) -> None:
    row = one(frames_of([network_rules()], wrapped_transfer(), word=word))
    assert (row["minted_app"], row["minted_validator"], row["minted_other"]) == (10, 4, 0)
    assert (row["net"], row["unexplained"]) == (14, 0)


def test_rounds_are_those_of_the_summary() -> None:
    frames = frames_of([network_rules(), open_round(7), open_round(8)], wrapped_transfer(), [archive(open_round(7))])
    rows = lf.economy.flows(frames).set_index("round_number")
    assert rows["minted_app"].to_dict() == {7: 10, 8: 0}
    assert rows["is_partial"].to_dict() == {7: False, 8: True}
    assert rows.loc[7, "coin_price"] == amount("0.16")
    assert rows.loc[7, "closed_at"] == pd.Timestamp(DAY) + pd.Timedelta("2h")
    assert pd.isna(rows.loc[8, "closed_at"])


def test_after_a_hole_the_open_round_is_unknown_until_the_next_one_ends() -> None:
    def dust(name: str) -> list[dict[str, Any]]:
        return [exercise("Splice.Coin:Coin", name, "Coin_Expire", consuming=True)]

    coins = [coin(name, APP, "1.0") for name in ("a", "b", "c", "d")]
    rules = [network_rules(), *(open_round(each) for each in range(7, 11)), *coins]
    updates = [rules, [archive(open_round(7))], dust("a"), [], [], dust("b"), [archive(open_round(9))], dust("c")]
    events = frames_of(*updates).tree_events.to_dict("records")
    covered = [(0, 3), (5, 24)]
    segments = [
        {"migration_id": 4, "since": DAY + timedelta(hours=since), "until": DAY + timedelta(hours=until), "status": "final"}
        for since, until in covered
    ]
    frames = testing.frames_of(window=Window(DAY, DAY + timedelta(hours=24)), coverage=segments, tree_events=events)
    rows = lf.economy.flows(frames).set_index("round_number")["burned_dust"].dropna()
    assert {number: amount for number, amount in rows.items() if amount} == {8: 1, 10: 1, pd.NA: 1}


def test_the_first_round_is_a_round_like_any_other() -> None:
    """Round 0 is open with the rounds after it, and a coupon of it has the issuance of round 0."""
    number = {"number": "0"}
    issuing = create("Splice.Round:IssuingMiningRound", "i", dso=DSO, round=number, issuancePerUnfeaturedAppRewardCoupon="2.0")
    old = create("Splice.Coin:AppRewardCoupon", "k", dso=DSO, provider=APP, amount="3.0", round=number)
    paid = {**summary(0, App="10.0"), "coinPaid": "1.5"}
    transfer = rules_choice("CoinRules_Transfer", coin("c", APP, "10.0"), argument={"transfer": {"sender": APP}}, result=paid)
    renewal = exercise("Splice.CoinRules:TransferPreapproval", "p", "TransferPreapproval_Renew", result={"coinPaid": "1.5"})
    rules = [network_rules(), *(open_round(each) for each in range(4))]
    ends = [[archive(open_round(each))] for each in range(2)]
    rows = lf.economy.flows(frames_of(rules, [issuing, old], *ends, [transfer, renewal])).set_index("round_number")
    assert rows["issued_app"].dropna().to_dict() == {0: 6, 1: 0}
    assert rows["minted_app"].to_dict() == {0: 10, 1: 0, 2: 0, 3: 0}
    assert rows["burned_preapproval"].to_dict() == {0: amount("1.5"), 1: 0, 2: 0, 3: 0}


def test_amounts_are_exact_in_any_decimal_context() -> None:
    with localcontext(prec=9):
        assert units("1234567890123456789.0123456789") == 12345678901234567890123456789
        frames = frames_of([network_rules(), open_round(7)], [purchase("t", "30000000000", "11250000.0000000001", "1800000.0")])
        rows = lf.economy.purchases(frames)
    assert rows["coin_spent"].tolist() == [amount("11250000.0000000001")]
    assert (rows["usd_per_mb"].tolist(), rows["coin_price"].tolist()) == ([60], [amount("0.1600000000")])


def purchase(
    contract: str = "t1", byte_count: str = "2000000", spent: str = "750.0", usd: str = "120.0", buyer: str = APP
) -> dict[str, Any]:
    paid, change = coin(f"{contract}-paid", DSO, spent), coin(f"{contract}-change", buyer, "250.0")
    traffic = create(
        "Splice.DecentralizedSynchronizer:MemberTraffic", contract, dso=DSO, memberId=f"PAR::{buyer}", totalPurchased=byte_count,
        coinSpent=spent, usdSpent=usd,
    )  # fmt: skip
    old = coin(f"{contract}-old", buyer, "1000.0")
    return rules_choice(
        "CoinRules_BuyMemberTraffic", archive(old), paid, archive(paid), change, traffic,
        argument={"provider": buyer}, result={**summary(), "coinPaid": spent},
    )  # fmt: skip


def tap(contract: str, owner: str, amount: str) -> dict[str, Any]:
    mint = rules_choice("CoinRules_Mint", coin(contract, owner, amount), argument={"receiver": owner, "amount": amount})
    return rules_choice("CoinRules_DevNet_Tap", mint, argument={"receiver": owner, "amount": amount})


def test_a_purchase_burns_what_it_costs() -> None:
    frames = frames_of([network_rules(), open_round(7)], [tap("t1-old", APP, "1000.0")], [purchase()])
    row = one(frames)
    assert (row["burned_traffic"], row["traffic_bought"], row["minted_other"]) == (750, 2_000_000, 1000)
    assert (row["net"], row["unexplained"], row["to_dso"]) == (250, 0, 0)


def test_an_unknown_older_coin_leaves_the_net_missing_unless_a_snapshot_has_it() -> None:
    frames = frames_of([network_rules(), open_round(7)], [purchase()])
    row = one(frames)
    assert pd.isna(row["net"])
    assert pd.isna(row["unexplained"])
    assert row["burned_traffic"] == 750
    assert row["coverage"] < 1
    arguments = json.dumps({"dso": DSO, "owner": APP, "amount": {"initialAmount": "1000.0"}})
    older = lf.testing.table("active_contracts").sample(
        1, contract_id="t1-old", template_name="Splice.Coin:Coin", package_name="splice-coin", signatories=[DSO],
        create_arguments=arguments,
    )  # fmt: skip
    row = one(frames, base=older)
    assert (row["net"], row["unexplained"]) == (-750, 0)


def test_a_flow_that_no_choice_explains_is_shown() -> None:
    row = one(frames_of([network_rules()], [coin("c1", APP, "5.0")]))
    assert (row["net"], row["unexplained"]) == (5, 5)


def test_coins_that_another_party_signs_do_not_count() -> None:
    row = one(frames_of([network_rules()], [coin("fake", APP, "5.0", signed=("other::1220",))]))
    assert (row["net"], row["unexplained"]) == (0, 0)


def test_two_parties_that_sign_rules_are_an_error() -> None:
    other = create("Splice.DsoRules:DsoRules", "r2", "splice-dso-governance", signed=("x::1220",), dso="x::1220")
    with pytest.raises(IntegrityError, match="2 parties"):
        one(frames_of([network_rules(), other]))


def test_names_preapprovals_dust_and_fees_are_burned() -> None:
    fee, old = coin("fee", DSO, "1.0"), coin("old", APP, "40.0")
    dust = coin("dust", APP, "0.5")
    name = exercise(
        "Splice.Ans:AnsRules", "ans", "AnsRules_CollectInitialEntryPayment", archive(fee), package="splice-coin-name-service"
    )
    preapproval = rules_choice(
        "CoinRules_CreateTransferPreapproval",
        archive(old),
        result={"coinPaid": "30.0", "transferResult": summary(holdingFees="10.0")},
    )
    expiry = exercise("Splice.Coin:Coin", "dust", "Coin_ExpireV2", consuming=True)
    frames = frames_of(
        [
            network_rules(),
            open_round(7),
            *(
                tap(each["contract"], each["payload"]["owner"], each["payload"]["amount"]["initialAmount"])
                for each in (fee, old, dust)
            ),
        ],
        [name],
        [preapproval],
        [expiry],
    )
    row = one(frames)
    assert (row["burned_names"], row["burned_preapproval"], row["burned_dust"], row["fees"]) == (1, 30, amount("0.5"), 10)
    assert row["unexplained"] == 0


def coupon(contract: str, provider: str, value: str, number: int = 7, **more: Any) -> dict[str, Any]:
    return create(
        "Splice.Coin:RewardCouponV2", contract, dso=DSO, provider=provider, amount=value, round={"number": str(number)}, **more
    )


def process(*coupons: dict[str, Any], dry_run: bool = False, contract: str = "p1") -> list[dict[str, Any]]:
    template = "Splice.Coin.RewardAccountingV2:ProcessRewardsV2"
    made = create(template, contract, dso=DSO, round={"number": "7"}, dryRun=dry_run)
    return [made, exercise(template, contract, "ProcessRewardsV2_ProcessBatch", *coupons, consuming=True)]


def split(*coupons: dict[str, Any], shares: dict[str, str], parts: list[dict[str, Any]]) -> dict[str, Any]:
    argument = {
        "newBeneficiaries": [{"beneficiary": party, "percentage": share} for party, share in shares.items()],
        "additionalCoupons": [each["contract"] for each in coupons[1:]],
    }
    first = coupons[0]
    children = [*(archive(each) for each in coupons[1:]), *parts]
    return exercise(
        first["template"], first["contract"], "RewardCoupon_AssignBeneficiaries", *children, consuming=True, argument=argument
    )


def test_issue_counts_neither_parts_of_coupons_nor_dry_runs() -> None:
    whole = coupon("k1", APP, "10.0")
    parts = [coupon(f"k1-{party}", APP, "5.0", beneficiary=party) for party in ("x", "y")]
    frames = frames_of(
        [network_rules(), open_round(7)], process(whole, coupon("v1", "val", "2.0", kind="RewardKind_Validator")),
        process(coupon("dry", APP, "99.0"), dry_run=True, contract="p2"),
        [split(whole, shares={"x": "0.5", "y": "0.5"}, parts=parts)],
    )  # fmt: skip
    row = one(frames)
    assert (row["issued_app"], row["issued_validator"], row["expired"]) == (10, 2, 0)


def settlement(template: str, contract: str, **payload: Any) -> dict[str, Any]:
    """The create of a contract that settles round 7."""
    return create(template, contract, dso=DSO, round={"number": "7"}, **payload)


def test_a_round_is_whole_once_its_coupons_are_issued() -> None:
    """After its end, a round is summed up, its rewards are calculated and processed, and its coupons live for a day.

    Until then, what it issues is unknown, not 0.
    """
    calculated = settlement("Splice.Coin.RewardAccountingV2:CalculateRewardsV2", "calculated", dryRun=False)
    processed = settlement("Splice.Coin.RewardAccountingV2:ProcessRewardsV2", "processed", dryRun=False)
    stuck = settlement("Splice.Coin.RewardAccountingV2:CalculateRewardsV2", "stuck", dryRun=True)
    summed = settlement("Splice.Round:SummarizingMiningRound", "summed")
    issued, claim = coupon("k", APP, "3.0"), rules_choice("CoinRules_ClaimExpiredRewardsV2", archive(coupon("k", APP, "3.0")))
    steps = [
        [network_rules(), open_round(7)],
        [archive(open_round(7)), summed, calculated, stuck],
        [archive(calculated), processed],
        [archive(summed)],
        process(issued, contract="processed"),
        [claim],
    ]
    states = []
    for count in range(1, 7):
        row = lf.economy.flows(frames_of(*steps[:count])).iloc[0]
        values = (row[name] for name in ("issued_app", "issued_validator", "issued_sv", "expired"))
        states.append((row["is_partial"], *(None if pd.isna(value) else value for value in values)))
    assert states == [*[(True, None, None, None, None)] * 4, (False, 3, 0, 0, None), (False, 3, 0, 0, 3)]


def test_what_a_round_from_before_the_frames_issues_is_unknown() -> None:
    """Its coupons can have been issued before the frames."""
    older = snapshot_of(open_round(7), DAY)
    row = lf.economy.flows(frames_of([network_rules()], [archive(open_round(7))]), base=older).set_index("round_number").loc[7]
    assert row["issued_app":"issued_sv"].isna().all()
    assert (row["minted_app"], row["is_partial"]) == (0, True)


def test_a_living_round_without_final_time_has_no_sums() -> None:
    events = frames_of([network_rules(), open_round(7)], [archive(open_round(7)), open_round(8)]).tree_events.to_dict("records")
    times = [DAY, DAY + timedelta(hours=1), DAY + timedelta(hours=24)]
    covered = [
        {"migration_id": 4, "since": since, "until": until, "status": status}
        for since, until, status in zip(times, times[1:], ("final", "provisional"), strict=False)
    ]
    frames = testing.frames_of(window=Window(times[0], times[2]), coverage=covered, tree_events=events)
    assert lf.economy.flows(frames).set_index("round_number")["minted_app"].isna().to_dict() == {7: False, 8: True}


def test_old_coupons_can_expire_until_their_round_is_closed() -> None:
    closed = settlement("Splice.Round:ClosedMiningRound", "closed")
    old = settlement("Splice.Coin:AppRewardCoupon", "k", provider=APP, amount="1.0")
    steps = [[network_rules(), open_round(7), old], [archive(open_round(7)), closed], [archive(closed)]]
    assert pd.isna(lf.economy.flows(frames_of(*steps[:2])).loc[0, "expired"])
    assert lf.economy.flows(frames_of(*steps)).loc[0, "expired"] == 0


def test_a_node_of_another_package_in_between_changes_no_parent() -> None:
    def app(node: dict[str, Any]) -> dict[str, Any]:
        return exercise("App:App", "app", "App_Run", node, package="app")

    template = "Splice.Coin.RewardAccountingV2:ProcessRewardsV2"
    batch = exercise(template, "p", "ProcessRewardsV2_ProcessBatch", app(coupon("k", APP, "3.0")), consuming=True)
    merged = create("Splice.DecentralizedSynchronizer:MemberTraffic", "m", dso=DSO, totalPurchased="1", coinSpent="2.0")
    merge = rules_choice("CoinRules_MergeMemberTrafficContracts", app(merged))
    claim = rules_choice("CoinRules_ClaimExpiredRewards", app(archive(coupon("k", APP, "3.0"))))
    row = one(frames_of([network_rules()], [batch], [merge], [claim]))
    assert (row["issued_app"], row["expired"], row["burned_traffic"]) == (3, 3, 0)


def test_a_summary_in_another_branch_is_no_repetition() -> None:
    """Only a node above repeats a summary, whatever the depth and the order of the others."""
    transfer = rules_choice("CoinRules_Transfer", coin("c", APP, "1.0"), result=summary(App="1.0"))
    deep = exercise("App:App", "app", "App_Run", exercise("App:App", "app", "App_Run", transfer, package="app"), package="app")
    row = one(frames_of([network_rules()], [rules_choice("CoinRules_Transfer", result=summary(App="2.0")), deep]))
    assert (row["minted_app"], row["net"]) == (3, 1)


def test_an_amount_that_is_a_number_keeps_its_digits() -> None:
    """The services send texts. A number of JSON would become a float on its way."""
    payload = '{"dso":"x","owner":"a, \\"b\\":1.5","amount":{"initialAmount": 1234567890123456789.0123456789}}'
    made = {**create("Splice.Coin:Coin", "c"), "payload": payload}
    assert one(frames_of([network_rules()], [made]))["net"] == amount("1234567890123456789.0123456789")
    rounded = {**made, "payload": payload.replace("6789}}", "67891}}")}
    row = one(frames_of([network_rules()], [rounded]))
    assert pd.isna(row["net"])
    assert row["coverage"] == 0


def test_older_coupons_are_worth_what_their_round_issues() -> None:
    issuing = create(
        "Splice.Round:IssuingMiningRound",
        "i7",
        dso=DSO,
        round={"number": "7"},
        issuancePerFeaturedAppRewardCoupon="2.0",
        issuancePerUnfeaturedAppRewardCoupon="0.5",
        issuancePerSvRewardCoupon="0.0000000003",
        optIssuancePerValidatorFaucetCoupon="3.0",
    )
    number = {"number": "7"}
    coupons = [
        create("Splice.Coin:AppRewardCoupon", "a", dso=DSO, provider=APP, featured=True, amount="1.5", round=number),
        create("Splice.Coin:AppRewardCoupon", "b", dso=DSO, provider=APP, featured=False, amount="1.0", round=number),
        create("Splice.Coin:SvRewardCoupon", "s", dso=DSO, sv="sv", weight="100000", round=number),
        create("Splice.ValidatorLicense:ValidatorLivenessActivityRecord", "v", dso=DSO, validator="val", round=number),
    ]
    claim = rules_choice("CoinRules_ClaimExpiredRewards", archive(coupons[1]))
    row = one(frames_of([network_rules(), issuing], coupons, [claim]))
    assert (row["issued_app"], row["issued_sv"], row["issued_validator"]) == (amount("3.5"), amount("0.00003"), 3)
    assert row["expired"] == amount("0.5")
    assert pd.isna(one(frames_of([network_rules()], coupons))["issued_app"])


def test_the_ratio_of_burn_and_mint() -> None:
    minted = rules_choice(
        "CoinRules_Transfer", coin("m", APP, "12497.0"), result=summary(App="8997.0", Validator="1500.0", Sv="2000.0")
    )
    burns = [
        create("Splice.DecentralizedSynchronizer:MemberTraffic", "t", dso=DSO, coinSpent="750.0", totalPurchased="1"),
        rules_choice("CoinRules_CreateTransferPreapproval", result={"coinPaid": "30.0"}),
        exercise(
            "Splice.Ans:AnsRules",
            "ans",
            "AnsRules_CollectInitialEntryPayment",
            archive(coin("fee", DSO, "1.5")),
            package="splice-coin-name-service",
        ),
    ]
    row = lf.economy.burn_mint(frames_of([network_rules(), coin("fee", DSO, "1.5")], [minted, *burns]), every=None).iloc[0]
    assert (row["minted"], row["burned"]) == (12_497, amount("781.5"))
    assert row["ratio"] == amount("0.0625350084")
    assert row["traffic_part"] == amount("0.9596928983")
    nothing = lf.economy.burn_mint(frames_of([network_rules()]), every=None).iloc[0]
    assert pd.isna(nothing["ratio"])


# -- rankings, purchases, names, splits ---------------------------------------------------------------------------------


def test_rankings() -> None:
    frames = frames_of([network_rules(), open_round(7)], process(coupon("p", "P", "6750.0"), coupon("r", "R", "2247.0")))
    rows = lf.economy.leaderboard(frames, every=None)
    assert rows[["party", "rank", "amount"]].values.tolist() == [["P", 1, 6750], ["R", 2, 2247]]
    assert rows["share"].tolist() == [float(Fraction(6750, 8997)), float(Fraction(2247, 8997))]
    equal = frames_of(
        [network_rules()],
        process(*(coupon(party, party, value) for party, value in zip("dcba", ("1.0", "2.0", "2.0", "3.0"), strict=True))),
    )
    assert lf.economy.leaderboard(equal, every=None)[["rank", "party"]].values.tolist() == [
        [1, "a"],
        [2, "b"],
        [2, "c"],
        [4, "d"],
    ]
    assert lf.economy.leaderboard(equal, every=None, top=2)["party"].tolist() == ["a", "b", "c"]


def test_rankings_change_from_period_to_period() -> None:
    frames = frames_of(
        [network_rules(), *process(coupon("a", "A", "2.0"), coupon("b", "B", "1.0"))],
        process(coupon("c", "B", "5.0"), coupon("d", "A", "1.0"), contract="p2"),
    )
    rows = lf.economy.leaderboard(frames, every="1h")
    second = rows[rows["period_start"] == pd.Timestamp(DAY) + pd.Timedelta("1h")]
    assert second[["party", "rank", "rank_before", "change"]].values.tolist() == [["B", 1, 2, 1], ["A", 2, 1, -1]]
    empty = rows[rows["period_start"] == pd.Timestamp(DAY) + pd.Timedelta("2h")]
    assert len(empty) == 1 and empty[["rank", "party", "amount", "share", "change", "coverage"]].isna().all(axis=None)
    assert rows["period_start"].nunique() == 24


def test_wallets_that_collect_rank_only_by_what_they_mint() -> None:
    frames = frames_of([network_rules()], [tap("x", "tapped", "9.0")], wrapped_transfer())
    assert lf.economy.leaderboard(frames, of="minted", every=None)[["party", "amount"]].values.tolist() == [[APP, 14]]


def test_purchases_and_their_price() -> None:
    frames = frames_of([network_rules(), open_round(7)], [purchase()], [purchase("t2", spent="751.0", buyer="val::1220bb")])
    rows = lf.economy.purchases(frames)
    assert rows["buyer"].tolist() == [APP, "val::1220bb"]
    assert rows["for_whom"].tolist() == ["own", "own"]
    first = rows.iloc[0]
    assert (first["bytes"], first["usd_spent"], first["coin_spent"]) == (2_000_000, 120, 750)
    assert (first["usd_per_mb"], first["coin_price"]) == (60, amount("0.16"))
    assert rows["price_differs"].tolist() == [0, 1]
    total = lf.economy.purchases(frames, by="for_whom").iloc[0]
    assert (total["purchases"], total["bytes"], total["coin_spent"]) == (2, 4_000_000, 1501)
    hours = lf.economy.purchases(frames, every="1h")
    assert hours["purchases"].tolist()[:4] == [0, 1, 1, 0]
    assert pd.isna(hours["bytes"].iloc[0])


def test_a_group_names_what_all_its_purchases_have() -> None:
    """One of them has an unknown buyer, so the known one is not that of the group."""
    unpaid = {**purchase("t2", "1000000", "375.0", "60.0"), "argument": {}}
    frames = frames_of([network_rules(), open_round(7)], [purchase()], [unpaid])
    day = lf.economy.purchases(frames, every="1d").iloc[0]
    assert day["purchases"] == 2 and pd.isna(day["buyer"]) and pd.isna(day["for_whom"])
    known = lf.economy.purchases(frames_of([network_rules(), open_round(7)], [purchase()], [purchase("t2")]), every="1d")
    assert known.loc[0, "buyer"] == APP


def test_merges_are_no_purchases() -> None:
    merged = create(
        "Splice.DecentralizedSynchronizer:MemberTraffic",
        "m",
        dso=DSO,
        memberId="PAR::x",
        totalPurchased="4000000",
        numPurchases="2",
        coinSpent="1500.0",
        usdSpent="240.0",
    )
    merge = rules_choice("CoinRules_MergeMemberTrafficContracts", merged)
    frames = frames_of([network_rules(), open_round(7)], [merge])
    assert lf.economy.purchases(frames).empty
    row = one(frames)
    assert (row["burned_traffic"], row["traffic_bought"]) == (0, 0)


def test_a_purchase_by_transfer_has_a_buyer() -> None:
    paid = coin("paid", DSO, "750.0")
    traffic = create(
        "Splice.DecentralizedSynchronizer:MemberTraffic",
        "t",
        dso=DSO,
        memberId="PAR::other::1220",
        totalPurchased="2000000",
        coinSpent="750.0",
        usdSpent="120.0",
    )
    transfer = rules_choice("CoinRules_Transfer", paid, argument={"transfer": {"sender": APP}}, result=summary())
    root = rules_choice("TransferFactory_Transfer", transfer, archive(paid), traffic, argument={"transfer": {"sender": APP}})
    row = lf.economy.purchases(frames_of([network_rules(), open_round(7)], [root])).iloc[0]
    assert (row["buyer"], row["for_whom"]) == (APP, "other")


def entry(contract: str, name: str) -> dict[str, Any]:
    return create(
        "Splice.Ans:AnsEntry",
        contract,
        "splice-coin-name-service",
        signed=("u", DSO),
        dso=DSO,
        user="u",
        name=name,
        expiresAt="2027-01-01T00:00:00Z",
    )


def ans(choice: str, contract: str, *children: dict[str, Any], consuming: bool = False) -> dict[str, Any]:
    """An exercise on the rules of names, or on a name."""
    template = "Splice.Ans:AnsEntry" if contract != "ans" else "Splice.Ans:AnsRules"
    return exercise(template, contract, choice, *children, package="splice-coin-name-service", consuming=consuming)


def test_names() -> None:
    fees = [coin(f"f{n}", DSO, "1.0") for n in range(4)]
    bought = [
        [fees[n], ans("AnsRules_CollectInitialEntryPayment", "ans", archive(fees[n]), entry(f"e{n}", f"n{n}"))] for n in range(3)
    ]
    renewal = [
        fees[3],
        ans(
            "AnsRules_CollectEntryRenewalPayment",
            "ans",
            archive(fees[3]),
            ans("AnsEntry_Renew", "e0", entry("e0b", "n0"), consuming=True),
        ),
    ]
    frames = frames_of([network_rules()], *bought, renewal, [ans("AnsEntry_Expire", "e1", consuming=True)])
    rows = lf.economy.names(frames)
    assert rows["event"].tolist() == ["bought"] * 3 + ["renewed", "expired"]
    assert rows["name"].tolist() == ["n0", "n1", "n2", "n0", "n1"]
    assert rows["paid"].tolist()[:4] == [1, 1, 1, 1]
    assert pd.isna(rows["paid"].iloc[4])
    assert rows["active_at_end"].iloc[-1] == 2
    day = lf.economy.names(frames, every="1d").iloc[0]
    assert day[["bought", "renewed", "expired", "active_at_end"]].tolist() == [3, 1, 1, 2]
    assert day["paid"] == 4


def test_a_name_counts_until_its_contract_is_archived() -> None:
    unpaid = entry("e0", "n0")
    unpaid["payload"]["expiresAt"] = "2026-11-08T00:00:01Z"
    bought = ans("AnsRules_CollectInitialEntryPayment", "ans", archive(coin("f0", DSO, "1.0")), unpaid)
    rows = lf.economy.names(frames_of([network_rules(), coin("f0", DSO, "1.0")], [bought]), every="6h")
    assert rows["active_at_end"].iloc[-1] == 1
    description = {column.name: column.description for column in lf.analysis.FIGURES["economy.names"].columns}["active_at_end"]
    assert description.startswith("Names not archived, also past expires_at.")


def test_names_in_use_are_unknown_beyond_a_gap_and_in_uncovered_time() -> None:
    bought = ans("AnsRules_CollectInitialEntryPayment", "ans", entry("e0", "n0"), archive(coin("f0", DSO, "1.0")))
    events = frames_of([network_rules(), coin("f0", DSO, "1.0")], [bought]).tree_events.to_dict("records")

    def hours(*covered: tuple[int, int, str]) -> list[Any]:
        segments = [
            {"migration_id": 4, "since": DAY + timedelta(hours=since), "until": DAY + timedelta(hours=until), "status": status}
            for since, until, status in covered
        ]
        frames = testing.frames_of(window=Window(DAY, DAY + timedelta(hours=5)), coverage=segments, tree_events=events)
        return lf.economy.names(frames, every="1h")["active_at_end"].fillna(-1).tolist()

    assert hours((0, 5, "final")) == [0, 1, 1, 1, 1]
    assert hours((0, 3, "final"), (4, 5, "final")) == [0, 1, 1, -1, -1]
    assert hours((0, 3, "final"), (3, 5, "provisional")) == [0, 1, 1, -1, -1]


THIRDS = {"x": "0.3333333333", "y": "0.3333333333", "z": "0.3333333334"}


def assigned(shares: dict[str, str] = THIRDS, actual: dict[str, str] | None = None) -> Frames:
    whole = coupon("k1", APP, "10.0")
    actual = actual or {"x": "3.333333333", "y": "3.333333333", "z": "3.333333334"}
    parts = [coupon(f"k1-{party}", APP, value, beneficiary=party) for party, value in actual.items()]
    return frames_of([network_rules()], process(whole), [split(whole, shares=shares, parts=parts)])


def plan(**percentages: str) -> pd.DataFrame:
    rows = [
        {"provider": APP, "beneficiary": party, "percentage": share, "valid_from": "2026-01-01"}
        for party, share in percentages.items()
    ]
    return pd.DataFrame(rows)


def test_splits_with_remainders() -> None:
    rows = lf.economy.reward_split(assigned(), configured=plan(**THIRDS))
    assert rows["expected"].tolist() == [amount("3.333333333"), amount("3.333333333"), amount("3.333333334")]
    assert sum(rows["actual"]) == 10
    assert set(rows["outcome"]) == {"as configured"}
    assert set(lf.economy.reward_split(assigned())["outcome"]) == {"no configuration"}


def test_splits_that_are_not_as_configured() -> None:
    rows = lf.economy.reward_split(assigned(), configured=plan(x="0.5", y="0.3333333333", w="0.1666666667")).set_index(
        "beneficiary"
    )
    assert rows["outcome"].to_dict() == {
        "w": "missing beneficiary",
        "x": "other percentages",
        "y": "as configured",
        "z": "unknown beneficiary",
    }
    assert rows.loc["x", "difference"] == amount("-1.666666667")
    assert (rows.loc["w", "difference"], rows.loc["z", "difference"]) == (amount("-1.666666667"), amount("3.333333334"))


def test_coupons_that_were_not_split() -> None:
    kept, late = coupon("k1", APP, "10.0"), coupon("k2", APP, "4.0")
    transfer = rules_choice("CoinRules_Transfer", archive(kept), coin("c", APP, "10.0"), result=summary(App="10.0"))
    claim = rules_choice("CoinRules_ClaimExpiredRewardsV2", archive(late))
    rows = lf.economy.reward_split(
        frames_of([network_rules()], process(kept, late), [transfer], [claim]), configured=plan(x="1.0")
    )
    assert sorted(rows["outcome"]) == ["expired", "not assigned (provider keeps it)"]
    assert lf.economy.reward_split(frames_of([network_rules()], process(kept), [transfer])).empty


def test_coupons_from_before_the_frames_that_were_not_split() -> None:
    """A snapshot has them, or nothing of them is known."""
    kept, late = coupon("k1", APP, "10.0"), coupon("k2", APP, "4.0")
    transfer = rules_choice("CoinRules_Transfer", archive(kept), coin("c", APP, "10.0"), result=summary(App="10.0"))
    claim = rules_choice("CoinRules_ClaimExpiredRewardsV2", archive(late))
    older = pd.concat([snapshot_of(each, DAY) for each in (network_rules(), kept, late)], ignore_index=True)
    frames = frames_of([network_rules()], [transfer], [claim])
    rows = lf.economy.reward_split(frames, configured=plan(x="1.0"), base=older).set_index("outcome")
    assert rows["actual"].isna().to_dict() == {"expired": True, "not assigned (provider keeps it)": False}
    assert rows.loc["not assigned (provider keeps it)", "actual"] == 10
    assert set(rows["coverage"]) == {1}
    unknown = lf.economy.reward_split(frames, configured=plan(x="1.0"))
    assert len(unknown) == 2 and set(unknown["coverage"]) == {0}
    assert unknown[["provider", "beneficiary", "coupon_amount", "actual", "difference", "outcome"]].isna().all(axis=None)


def test_a_coupon_that_is_created_again_has_not_ended() -> None:
    hidden, again = coupon("k1", APP, "10.0"), coupon("k2", APP, "10.0")
    shown = rules_choice("CoinRules_UnhideRewardCouponsV2", archive(hidden), again)
    claim = rules_choice("CoinRules_ClaimExpiredRewardsV2", archive(again))
    frames = frames_of([network_rules()], process(hidden), [shown], [claim])
    assert lf.economy.reward_split(frames, configured=plan(x="1.0"))["outcome"].tolist() == ["expired"]
    row = one(frames)
    assert row["issued_app"] == row["expired"] == 10


def test_a_beneficiary_that_is_named_twice_gets_both_parts() -> None:
    whole = coupon("k1", APP, "10.0")
    parts = [coupon(f"k1-{number}", APP, value, beneficiary="x") for number, value in enumerate(("2.5", "7.5"))]
    assignment = split(whole, shares={}, parts=parts)
    assignment["argument"]["newBeneficiaries"] = [{"beneficiary": "x", "percentage": share} for share in ("0.25", "0.75")]
    frames = frames_of([network_rules()], process(whole), [assignment])
    for configured, outcome in ((None, "no configuration"), (plan(x="1.0"), "as configured")):
        row = lf.economy.reward_split(frames, configured=configured).iloc[0]
        assert (row["expected"], row["actual"], row["difference"], row["outcome"]) == (10, 10, 0, outcome)


def test_a_split_of_an_unknown_coupon_is_shown_without_its_amount() -> None:
    """The coupon was made before the window, or its payload cannot be read."""
    whole = coupon("k1", APP, "10.0")
    parts = [coupon("k1-x", APP, "10.0", beneficiary="x")]
    update = [split(whole, shares={"x": "1.0"}, parts=parts)]
    unreadable = {**whole, "payload": "no object"}
    for frames in (frames_of([network_rules()], update), frames_of([network_rules()], process(unreadable), update)):
        row = lf.economy.reward_split(frames, configured=plan(x="1.0")).iloc[0]
        assert (row["beneficiary"], row["coverage"]) == ("x", 0)
        assert row[["round_number", "provider", "coupon_amount", "expected", "difference", "outcome"]].isna().all()
        lf.plot(lf.economy.reward_split(frames), ax=Figure().subplots())


def test_a_coupon_without_an_amount_has_no_outcome() -> None:
    whole = coupon("k1", APP, "unknown")
    parts = [coupon("k1-x", APP, "10.0", beneficiary="x")]
    frames = frames_of([network_rules()], process(whole), [split(whole, shares={"x": "1.0"}, parts=parts)])
    row = lf.economy.reward_split(frames, configured=plan(x="1.0")).iloc[0]
    assert (row["provider"], row["actual"]) == (APP, 10)
    assert row[["expected", "difference", "outcome"]].isna().all()


def test_a_party_without_a_known_amount_has_no_rank() -> None:
    unknown, nobody = coupon("b", "B", "unknown"), {**coupon("c", "C", "1.0"), "payload": "no object"}
    frames = frames_of([network_rules(), *process(coupon("d", "D", "2.0"), coupon("a", "A", "0.0"), unknown, nobody)])
    rows = lf.economy.leaderboard(frames, every=None)
    assert rows["party"].fillna("unknown").tolist() == ["D", "A", "B", "unknown"]
    assert rows["rank"].tolist()[:2] == [1, 2]
    assert rows["coverage"].tolist() == [1, 1, 0, 0]
    assert rows.loc[2:, ["rank", "amount", "share"]].isna().all(axis=None)
    assert lf.economy.leaderboard(frames, every=None, top=2)["party"].fillna("unknown").tolist() == ["D", "A", "unknown"]


def test_unknown_buyers_have_no_rank_but_a_share() -> None:
    unpaid = {**purchase("t2", "1000000", "375.0", "60.0"), "argument": {}}
    frames = frames_of([network_rules(), open_round(7)], [purchase()], [unpaid])
    for of, amounts in {"bytes_bought": [2_000_000, 1_000_000], "burned": [750, 375]}.items():
        rows = lf.economy.leaderboard(frames, of=of, every=None, top=1)
        assert rows["party"].fillna("unknown").tolist() == [APP, "unknown"]
        assert rows["amount"].tolist() == amounts
        assert rows["share"].tolist() == [2 / 3, 1 / 3]
        assert rows["rank"].fillna(0).tolist() == [1, 0]
        ax = lf.plot(rows, ax=Figure().subplots())
        assert "Unknown parties: 33 %" in " ".join(text.get_text() for text in ax.texts)
    assert lf.economy.purchases(frames)["for_whom"].astype("str").fillna("unknown").tolist() == ["own", "unknown"]


def snapshot_of(node: dict[str, Any], time: Any) -> pd.DataFrame:
    return lf.testing.table("active_contracts").sample(
        1, contract_id=node["contract"], template_name=node["template"], package_name=node["package"], snapshot_time=time,
        signatories=[node["signed"]], create_arguments=json.dumps(node["payload"]),
    )  # fmt: skip


def test_rounds_of_others_alone_do_not_speak_of_a_base_that_was_not_passed() -> None:
    foreign = {**open_round(9), "signed": ["other::1220"]}
    rows = lf.economy.flows(frames_of([network_rules()], [foreign], [coin("a", APP, "1.0")]), every=None)
    assert rows.loc[0, "net"] == 1


def test_a_round_of_a_snapshot_has_no_known_start() -> None:
    older = pd.concat([snapshot_of(each, DAY) for each in (open_round(7), network_rules())], ignore_index=True)
    frames = frames_of([open_round(8)], [archive(open_round(7))], [archive(open_round(8))])
    rows = lf.economy.flows(frames, base=older).set_index("round_number")
    assert rows["is_partial"].to_dict() == {7: True, 8: False}
    assert pd.isna(rows.loc[7, "coverage_time"])
    assert rows.loc[8, "coverage_time"] == 1


def test_names_in_use_need_a_snapshot_of_the_start() -> None:
    expiry = exercise("Splice.Ans:AnsEntry", "e", "AnsEntry_Expire", package="splice-coin-name-service", consuming=True)
    frames = frames_of([open_round(7)], [expiry])

    def active(time: Any) -> Any:
        older = [snapshot_of(each, time) for each in (network_rules(), entry("e", "n"), entry("f", "m"))]
        return lf.economy.names(frames, base=pd.concat(older, ignore_index=True))["active_at_end"].iloc[0]

    assert active(DAY) == 1
    assert pd.isna(active(DAY - pd.Timedelta("1h")))
    assert pd.isna(active(DAY + pd.Timedelta("2h")))
    assert pd.isna(lf.economy.names(frames)["active_at_end"].iloc[0])


# -- arguments and coverage ---------------------------------------------------------------------------------------------

FIGURES = ("flows", "burn_mint", "leaderboard", "purchases", "names", "reward_split")


@pytest.mark.parametrize("name", FIGURES)
def test_a_part_of_the_updates_is_refused(name: str) -> None:
    figure = getattr(lf.economy, name)
    frames = frames_of([network_rules()], wrapped_transfer())
    for part in (frames.where("tree_events", choice="CoinRules_Transfer"), frames_of([network_rules()], is_known=False)):
        with pytest.raises(CoverageError, match="needs all updates"):
            figure(part)
    assert list(figure(frames_of()).columns) == list(figure(frames).columns)
    with pytest.raises(UsageError, match="Pass Frames"):
        figure(None)


def test_wrong_arguments() -> None:
    frames = frames_of([network_rules()])
    with pytest.raises(UsageError, match="of= must be"):
        lf.economy.leaderboard(frames, of="mined")
    with pytest.raises(UsageError, match=r"by=None\. Choose from 'provider', 'validator'"):
        lf.economy.leaderboard(frames, by=None)
    with pytest.raises(UsageError, match=r"by='x'\. Choose from 'provider', 'validator'"):
        lf.economy.leaderboard(frames, by="x")
    for time in ("soon", None):
        with pytest.raises(UsageError, match=f"configured= must have times in valid_from, got {time!r}"):
            lf.economy.reward_split(frames, configured=plan(x="1.0").assign(valid_from=time))
    assert lf.economy.leaderboard(frames, top=np.int64(1)).equals(lf.economy.leaderboard(frames, top=1))
    with pytest.raises(UsageError, match="top= must be"):
        lf.economy.leaderboard(frames, top=0)
    with pytest.raises(UsageError, match="by="):
        lf.economy.purchases(frames, by="party")
    with pytest.raises(UsageError, match="add up to 1"):
        lf.economy.reward_split(frames, configured=plan(x="0.5"))
    cases = {
        r"a party in each row of beneficiary, got (None|nan)": plan(**THIRDS).assign(beneficiary=[None, "y", "z"]),
        r"a party in each row of provider, got nan": plan(x="1.0").assign(provider=float("nan")),
        r"has 'x' twice": pd.concat([plan(x="0.5"), plan(x="0.3", y="0.7")]),
        r"percentages from 0 to 1 .* got '1\.5'": plan(x="1.5", y="-0.5"),
        r"percentages from 0 to 1 .* got None": plan(x="1.0").assign(percentage=None),
    }
    for words, configured in cases.items():
        with pytest.raises(UsageError, match=words):
            lf.economy.reward_split(frames, configured=configured)
    with pytest.raises(UsageError, match="columns provider"):
        lf.economy.reward_split(frames, configured=pd.DataFrame({"provider": []}))


def test_amounts_stay_exact_next_to_an_unknown_one() -> None:
    """A missing number makes a column of integers one of floats, which count exactly up to 2^53 only."""
    large, rules = "1234567890.1234567891", [network_rules(), open_round(7)]
    sold = purchase("t1", byte_count="9007199254740993", spent=large, usd=large)
    frames = frames_of(rules, [sold], [purchase("t2", byte_count="x", spent="x", usd="x")])
    assert lf.economy.purchases(frames)[["bytes", "coin_spent", "usd_spent"]].iloc[0].tolist() == [
        2**53 + 1,
        amount(large),
        amount(large),
    ]
    assert lf.economy.leaderboard(frames, of="burned", every=None)["amount"].tolist() == [amount(large)]
    issued = frames_of(rules, process(coupon("a", "A", large), coupon("b", "B", "x")))
    assert lf.economy.leaderboard(issued, every=None)["amount"].iloc[0] == amount(large)
    fee, package = coin("fee", DSO, large), "splice-coin-name-service"
    choice, children = "AnsRules_CollectInitialEntryPayment", (archive(fee), entry("e", "n"))
    paid = exercise("Splice.Ans:AnsRules", "ans", choice, *children, package=package)
    expired = exercise("Splice.Ans:AnsEntry", "e", "AnsEntry_Expire", package=package, consuming=True)
    assert lf.economy.names(frames_of(rules, [fee, paid], [expired]))["paid"].iloc[0] == amount(large)


def test_payloads_that_cannot_be_read_leave_the_sums_missing() -> None:
    broken = create("Splice.Coin:Coin", "c", record={"fields": []})
    row = one(frames_of([network_rules()], [broken]))
    assert pd.isna(row["net"])


@pytest.mark.parametrize("name", every_nth(FIGURES, 3))
def test_results_have_the_declared_columns(name: str) -> None:
    figure = analysis.FIGURES[f"economy.{name}"]
    for frames in (frames_of(), frames_of([network_rules(), open_round(7)], [purchase()], wrapped_transfer())):
        for by in (None, *figure.by) if name == "purchases" else (None,):
            for every in (None, "6h", "round") if figure.has_rounds else (None, "6h") if figure.has_periods else ("",):
                named: dict[str, Any] = {} if every == "" else {"every": every}
                result = getattr(lf.economy, name)(frames, **named, **({"by": by} if by else {}))
                columns = figure.result_columns(by, has_periods=bool(every), has_rounds=every == "round")
                assert [(column.name, column.dtype) for column in columns] == [(k, str(v)) for k, v in result.dtypes.items()]


# -- the sandbox ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def history(sandbox_history: Frames) -> Frames:
    return sandbox_history


def test_the_sandbox_is_explained(history: Frames) -> None:
    reader = EconomyReader()
    for event in Sandbox(1, SANDBOX_EVENTS, SANDBOX_DAYS).world.events():
        if b'"events_by_id"' in event.update:
            reader.read(json.loads(event.update))
    rows = lf.economy.flows(history)
    assert (rows["unexplained"] == 0).all()
    row = one(history)
    assert {name: row[name] for name in FLOWS} == {name: reader.totals[name] for name in FLOWS}
    assert row["minted_other"] == reader.totals["minted_tapped"]
    assert rows[list(FLOWS)].sum().to_dict() == {name: row[name] for name in FLOWS}
    days = lf.economy.flows(history, every="1d")
    assert days["net"].sum() == row["net"]
    assert lf.economy.burn_mint(history, every="1d")["net"].tolist() == days["net"].tolist()


def test_the_sandbox_issues_what_its_activity_mints(history: Frames) -> None:
    issued = lf.economy.flows(history).set_index("round_number")["issued_app"]
    expected = lf.activity.rewards(history)
    expected = expected[expected["scheme"].eq("traffic") & expected["amount"].notna()].set_index("round_number")["amount"]
    settled = expected[:-6]  # the last rounds are settled after the end of the world
    assert len(settled) > 50
    assert (settled > 0).any()
    assert (issued[settled.index] == settled).all()


def test_the_sandbox_sells_at_the_price_of_its_rounds(history: Frames) -> None:
    rows, row = lf.economy.purchases(history), one(history)
    assert set(rows["for_whom"]) == {"own", "other"}
    assert rows["price_differs"].sum() == 0
    assert rows["bytes"].sum() == row["traffic_bought"]
    assert rows["coin_spent"].sum() == row["burned_traffic"]


def test_a_coupon_from_before_the_frames_expires_for_an_unknown_amount(history: Frames) -> None:
    cut = history.between("2026-11-08T12:00Z", "2026-11-08T18:00Z")
    expired = lf.economy.flows(cut, every="6h").iloc[0]
    assert pd.isna(expired["expired"]) and expired["coverage"] < 1
    known = lf.economy.flows(history, every="6h").set_index("period_start").loc[expired["period_start"]]
    assert known["expired"] > 0
