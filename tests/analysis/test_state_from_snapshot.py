"""The state of the network from a snapshot that the service has filtered equals that from the whole history."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.datasets.templates import COIN_RULES, DSO_RULES, FEATURED_APP_RIGHT, OPEN_ROUND
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.loaders.contracts import STATE_TEMPLATES
from ledgerframes.report import load_state
from ledgerframes.sandbox import Sandbox
from ledgerframes.values.windows import iso

FUNCTIONS = ("rounds", "featured", "super_validators", "config")
# What a snapshot cannot know: the record time of a create, every archival, and which requests there are.
OF_THE_HISTORY = [
    "from",
    "until",
    "known_from",
    "known_until",
    "effective_until",
    "source",
    "coverage",
    "coverage_time",
    "population",
    "network",
]
EVERY = timedelta(hours=3)


def facts(state: pd.DataFrame) -> pd.DataFrame:
    """The columns of a state that both sources know, in one order."""
    keys = [name for name in ("contract_id", "party") if name in state]
    return state.drop(columns=OF_THE_HISTORY).sort_values(keys, ignore_index=True)


def connect(store: Path, seed: int = 1, **settings: Any) -> lf.Network:
    return lf.connect("sandbox", **{"seed": seed, "events": 500, "days": 1, "store": store, **settings})


@pytest.mark.parametrize(
    ("seed", "days", "events", "vocabulary"),
    every_nth([(2, 1, 500, "canton"), (1, 1, 500, "neutral"), (3, 2, 3_000, "neutral"), (11, 3, 1_500, "neutral")], 4),
)
def test_a_filtered_snapshot_has_the_state_of_the_whole_history(
    tmp_path: Path, seed: int, days: int, events: int, vocabulary: str
) -> None:
    net = connect(tmp_path, seed, days=days, events=events, vocabulary=vocabulary)
    history = lf.load_events(net, since="0001-01-01")
    states = {name: getattr(lf.state, name)(history) for name in FUNCTIONS}
    time, compared = net.now(), 0
    while True:
        try:
            contracts = lf.load_contracts(net, at=time)
        except CoverageError:
            break
        taken = contracts["snapshot_time"].iloc[0]
        for name, state in states.items():
            pd.testing.assert_frame_equal(facts(getattr(lf.state, name)(contracts)), facts(lf.state.at(state, taken)))
        time, compared = (taken - pd.Timedelta(1, "us")).to_pydatetime(), compared + 1
    assert compared >= 8 * days
    changes = [state["contract_id"].nunique() for state in states.values()]
    assert min(changes) > 1 or events < 3_000, "not all of the state has changed"


def test_a_snapshot_and_the_history_after_it_have_the_state_of_the_window(tmp_path: Path) -> None:
    net, start = connect(tmp_path), "2026-11-08T15:00:00Z"
    window = lf.load_events(net, since=start)
    base = lf.load_contracts(net, at=start)
    whole = lf.load_events(net, since="0001-01-01")
    for name in FUNCTIONS:
        state = getattr(lf.state, name)(whole)
        later = state[state["until"].isna() | (state["until"] > pd.Timestamp(start))]
        found = getattr(lf.state, name)(window, base=base)
        pd.testing.assert_frame_equal(facts(found), facts(later))
        ends = [table.drop_duplicates("contract_id").set_index("contract_id")["until"] for table in (found, later)]
        pd.testing.assert_series_equal(*(each.sort_index() for each in ends))
    computed = lf.activity.reconcile(window, **lf.state.tables(window, base=base))
    expected = lf.activity.reconcile(window, **lf.state.tables(whole))
    pd.testing.assert_frame_equal(computed, expected)


def test_a_report_without_the_history_gets_its_state_from_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = Sandbox(events=500, days=1)
    net = lf.connect("sandbox", history_url=box.history_url, transport=in_process(box.app), store=tmp_path, requests_per_second=0)
    net._clock = lambda: box.now
    monkeypatch.setattr(lf.Network, "in_process", False)  # as a network that is far away
    day = lf.load_events(net, since="2026-11-08T16:00:00Z", until="2026-11-09")  # between two snapshots
    state = load_state(net, day)
    assert state is not None
    whole = lf.state.tables(lf.load_events(connect(tmp_path / "whole"), since="0001-01-01", until="2026-11-09"))
    expected = lf.activity.recompute(day, **{name: table.drop(columns="network") for name, table in whole.items()})
    pd.testing.assert_frame_equal(lf.activity.recompute(day, **state), expected)
    assert len(expected)


def test_the_loader_asks_for_what_the_state_reads() -> None:
    templates = {template.partition(":")[2].replace("{Coin}", "Coin") for template in STATE_TEMPLATES}
    assert templates == {DSO_RULES, OPEN_ROUND, FEATURED_APP_RIGHT, COIN_RULES}


def test_a_look_alike_in_a_snapshot_does_not_count(sandbox_net: lf.Network) -> None:
    for hours in range(0, 54, 3):
        contracts = lf.load_contracts(
            sandbox_net, at=pd.Timestamp("2026-11-07T03:00:00Z").to_pydatetime() + timedelta(hours=hours)
        )
        if len(lf.state.ignored_contracts(contracts)):
            assert lf.state.ignored_contracts(contracts)["reason"].tolist() == ["not signed by the network"]
            assert len(lf.state.featured(contracts)) == (contracts["template_name"] == FEATURED_APP_RIGHT).sum() - 1
            return
    pytest.fail("no look-alike was met")


def test_a_snapshot_without_rules_is_refused(tmp_path: Path) -> None:
    net = connect(tmp_path)
    rights = lf.load_contracts(net, templates=[f"splice-coin:{FEATURED_APP_RIGHT}"])
    day = lf.load_events(net, since="2026-11-09")
    for call in (
        lambda: lf.state.featured(rights),
        lambda: lf.state.featured(day, base=rights),
        lambda: lf.state.ignored_contracts(rights),
    ):
        with pytest.raises(UsageError, match=r"no rules of the network.*lf\.load_contracts\(net, at=…\)"):
            call()
    coins = lf.load_contracts(net, templates=["splice-coin:Splice.Coin:Coin"])
    with pytest.raises(UsageError, match="no rules of the network"):
        lf.state.featured(coins)
    rules = lf.load_contracts(net, templates=[f"splice-dso-governance:{DSO_RULES}", f"splice-coin:{FEATURED_APP_RIGHT}"])
    assert len(lf.state.featured(rules)) == len(rights)
    with pytest.raises(UsageError, match=r"no contract of Splice\.Round:OpenMiningRound"):
        lf.state.rounds(rules)


def test_a_snapshot_has_no_base_and_its_frames_count_as_well(tmp_path: Path) -> None:
    net = connect(tmp_path)
    contracts = lf.load_contracts(net, at="2026-11-09")
    with pytest.raises(UsageError, match="base= is for a history"):
        lf.state.rounds(contracts, base=contracts)
    bulk = lf.load_bulk(net, kind="acs", at="2026-11-09")
    pd.testing.assert_frame_equal(
        lf.state.rounds(bulk).drop(columns=OF_THE_HISTORY), lf.state.rounds(contracts).drop(columns=OF_THE_HISTORY)
    )
    assert lf.state.rounds(bulk)["network"].unique().tolist() == [net.name]


def test_an_analysis_without_the_state_says_how_to_get_it(tmp_path: Path) -> None:
    net = connect(tmp_path)
    day = lf.load_events(net, since="2026-11-08T15:00:00Z")
    with pytest.raises(CoverageError) as caught:
        lf.activity.reconcile(day)
    step = f'base=lf.load_contracts(net, at="{iso(day.window.since)}")'  # type: ignore[union-attr]
    assert step in str(caught.value)
    assert len(lf.activity.reconcile(day, **lf.state.tables(day, base=eval(step.partition("=")[2]))))
