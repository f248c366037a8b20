"""A round whose rewards do not follow from its records is a finding."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from cases import every_nth
from reward_world import RewardWorld
from test_rewards import OF_TWO_LEVELS, PLANTED, THREE, TWO, WITHOUT_REWARD

import ledgerframes as lf
from ledgerframes.analysis.findings._rewards import BROKEN
from ledgerframes.errors import UsageError
from ledgerframes.report.attention import describe_attention
from ledgerframes.report.measurement import find_for_report
from ledgerframes.report.registry import REPORTS

ERRORS = {
    **{error: RewardWorld(THREE, **options) for error, (options, _) in PLANTED.items()},
    **{f"{error}, two levels": RewardWorld(THREE, 4, **options) for error, (options, _) in OF_TWO_LEVELS.items()},
    **{f"{error}, no reward": RewardWorld({}, **options) for error, (options, _) in WITHOUT_REWARD.items()},
}
LEFT_OUT = RewardWorld(TWO, coupons=lambda pairs: [pair for pair in pairs if pair[0] != "app-1"])


def found(world: RewardWorld) -> pd.DataFrame:
    frames = world.frames()
    return lf.findings(frames, rewards=lf.reconcile.rewards(frames))


@pytest.mark.parametrize("error", every_nth(ERRORS, 15))
def test_each_error_is_one_finding_on_its_round(error: str) -> None:
    (row,) = found(ERRORS[error]).to_dict("records")
    assert (row["subject"], row["name"], row["what"], row["unit"], row["value"]) == ("round", "1", "rewards", "links", 1)
    assert row["sentence"].startswith("Mining round 1: the rewards of app providers do not follow from the records. The link ")
    assert row["next_step"].startswith("Compare this round with the events of another host")
    assert pd.isna(row["effect_bytes"]) and pd.isna(row["p"])


@pytest.mark.parametrize("weights", [{}, TWO, THREE])
def test_rewards_that_follow_or_are_unknown_are_none(weights: dict[str, int]) -> None:
    frames = RewardWorld(weights).frames()
    links = lf.reconcile.rewards(frames)
    assert {*links["status"]} == {"equal", "unknown"}
    assert lf.findings(frames, rewards=links).empty
    assert lf.findings(frames).empty


def test_the_sentence_names_the_first_link_with_its_amount_and_an_example() -> None:
    (sentence,) = found(LEFT_OUT)["sentence"]
    assert sentence.endswith('The link "coupons" is missing (7.50075 coin), such as app-1.')
    both = RewardWorld(TWO, published={"app-1": 10_002}, root="ab" * 32)
    (row,) = found(both).to_dict("records")
    assert row["value"] == 2
    assert row["sentence"].endswith('The link "weights" differs, such as app-1, and 1 more link.')


def test_the_call_of_a_finding_shows_its_links() -> None:
    frames = LEFT_OUT.frames()
    rewards = lf.reconcile.rewards(frames)
    (call,) = lf.findings(frames, rewards=rewards)["figure"]
    shown = eval(call, {"rewards": rewards})
    assert shown["link"].tolist() == ["weights", "amounts", "leaves", "root", "confirmations", "coupons"]
    assert set(shown["status"]) == {"equal", "missing"}
    assert {*BROKEN, "equal", "unknown"} == {*lf.reconcile.rewards(frames)["status"].cat.categories}


def test_names_of_the_network_are_escaped() -> None:
    (sentence,) = found(RewardWorld({"app\x1b[31m": 9_000}, coupons=lambda _: []))["sentence"]
    assert "\x1b" not in sentence and "app\\x1b[31m" in sentence


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("rewards", "rewards= must be links of rewards, got str. Pass the result of lf.reconcile.rewards without by="),
        (pd.DataFrame({"link": ["root"]}), "got a DataFrame without column 'round_number'"),
    ],
)
def test_other_tables_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        lf.findings(LEFT_OUT.frames(), rewards=wrong)


def test_a_proof_of_each_party_is_refused() -> None:
    frames = LEFT_OUT.frames()
    with pytest.raises(UsageError, match=r"rewards= must have a row per link, got one per party\. Pass the result"):
        lf.findings(frames, rewards=lf.reconcile.rewards(frames, by="party"))


def test_the_page_on_rewards_says_it() -> None:
    frames = LEFT_OUT.frames()
    inputs: Any = SimpleNamespace(parameters={"price": ""}, window=frames.window)
    result = find_for_report(frames, frames, inputs, lf.reconcile.rewards(frames, **lf.state.tables(frames)))
    assert result["what"].tolist() == ["rewards"]
    (first,) = describe_attention(result, REPORTS["activity"].headings)["findings"]
    assert first["text"] == result["sentence"][0]
    assert f"## {first['heading']}" in REPORTS["activity"].path.read_text(encoding="utf-8")
    assert find_for_report(frames, frames, inputs).empty
