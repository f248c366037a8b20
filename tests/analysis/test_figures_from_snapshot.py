"""Figures that need the state of the network: from a snapshot as from the whole history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import iso

Figure = Callable[..., pd.DataFrame]


def doubled(frames: Frames, **state: Any) -> pd.DataFrame:
    """The weights if the first provider had another factor."""
    party = lf.activity.recompute(frames, **state)["party"].iloc[0]
    return lf.activity.what_if(frames, factors={party: "100.0"}, **state)


def rounds(frames: Frames, **state: Any) -> pd.DataFrame:
    return lf.activity.rewards(frames, **{name: table for name, table in state.items() if name in ("rounds", "base")})


FIGURES: dict[str, Figure] = {
    "weights": lf.activity.weights,
    "weights of all time": lambda frames, **state: lf.activity.weights(frames, every=None, **state),
    "recompute": lf.activity.recompute,
    "reconcile": lf.activity.reconcile,
    "reconcile_totals": lf.activity.reconcile_totals,
    "concentration": lambda frames, **state: lf.activity.concentration(frames, of="burn_bytes", **state),
    "concentration of amounts": lambda frames, **state: lf.activity.concentration(frames, of="amount", **state),
    "lorenz": lambda frames, **state: lf.activity.lorenz(frames, of="burn_bytes", **state),
    "what_if": doubled,
    "rounds": rounds,
    "rewards": lf.reconcile.rewards,
}


WORLDS = [(1, 1, 500), (2, 1, 900), (5, 2, 1_500)]  # seed, days and events


@pytest.fixture(scope="module", params=every_nth([(world,) for world in WORLDS], 3), ids=["seed 1", "seed 2", "seed 5"])
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[lf.Network, Frames]:
    seed, days, events = request.param
    net = lf.connect("sandbox", seed=seed, days=days, events=events, store=tmp_path_factory.mktemp("store"))
    return net, lf.load_events(net, since="0001-01-01")


def snapshot_and_later(net: lf.Network, hours: int) -> tuple[pd.DataFrame, Frames]:
    """The contracts of a snapshot some hours ago, and the history after it."""
    contracts = lf.load_contracts(net, at=net.now() - pd.Timedelta(hours, "h"))
    return contracts, lf.load_events(net, since=contracts["snapshot_time"].iloc[0].to_pydatetime())


def facts(result: pd.DataFrame) -> pd.DataFrame:
    """A result without the covered part of a round: a snapshot has its creation by another clock than the history."""
    return result.drop(columns="coverage_time") if "round_number" in result else result


@pytest.mark.exhaustive
@pytest.mark.parametrize(("network", "hours"), [*zip(WORLDS, [3, 8, 14], strict=True)], indirect=["network"], ids=str)
def test_a_figure_from_a_snapshot_is_that_from_the_whole_history(network: tuple[lf.Network, Frames], hours: int) -> None:
    net, history = network
    contracts, part = snapshot_and_later(net, hours)
    state = lf.state.tables(history)
    for name, figure in FIGURES.items():
        expected = figure(part, **state)
        pd.testing.assert_frame_equal(facts(figure(part, base=contracts)), facts(expected), obj=name)
        assert len(expected)


def test_a_snapshot_as_frames_counts_as_well(network: tuple[lf.Network, Frames]) -> None:
    contracts, part = snapshot_and_later(network[0], 6)
    as_frames = testing.frames_of(active_contracts=contracts)
    expected = lf.activity.recompute(part, base=contracts)
    pd.testing.assert_frame_equal(lf.activity.recompute(part, base=as_frames), expected)
    assert "read_parquet" in lf.query(lf.activity.recompute, part, base=contracts)


def test_evidence_takes_a_snapshot(network: tuple[lf.Network, Frames], tmp_path: Path) -> None:
    net, history = network
    contracts, part = snapshot_and_later(net, 9)
    since = contracts["snapshot_time"].iloc[0].to_pydatetime()
    party = lf.activity.recompute(part, base=contracts)["party"].iloc[0]
    options: dict[str, Any] = {
        "app": {"parties": [party]}, "exclude": [], "since": since, "until": net.now(), "by_confirmer": True, "min_coverage": 0.5,
    }  # fmt: skip
    columns = ["requests", "bytes", "app_bytes"]
    for figure in (lf.grant.evidence, lf.grant.evidence_totals):
        assert figure(part, **options)["app_bytes"].isna().all()
        result = figure(part, **options, base=contracts)
        assert result["app_bytes"].notna().any()
        pd.testing.assert_frame_equal(result[columns], figure(history, **options)[columns])
    directory = tmp_path / "evidence"
    lf.grant.evidence(part, **options, base=contracts, directory=directory)
    assert f'"base": "{iso(since)}"' in (directory / "manifest.json").read_text()
    assert len(lf.grant.verify(directory))


def test_an_anatomy_takes_a_snapshot(network: tuple[lf.Network, Frames]) -> None:
    net, history = network
    contracts, part = snapshot_and_later(net, 9)
    records = part.activity_records
    assert len(records)
    update_id = records["update_id"].iloc[0]
    assert lf.anatomy(part, update_id).earned["activity_weight"].isna().all()
    earned, whole = lf.anatomy(part, update_id, base=contracts).earned, lf.anatomy(history, update_id).earned
    names = ["party", "weight", "burn_bytes", "activity_weight"]
    pd.testing.assert_frame_equal(earned[names], whole[names])
    assert earned["activity_weight"].notna().all()


def test_the_error_says_in_one_line_how_to_get_the_state(network: tuple[lf.Network, Frames]) -> None:
    net, _ = network
    _, part = snapshot_and_later(net, 6)
    with pytest.raises(CoverageError) as caught:
        lf.activity.recompute(part)
    step = str(caught.value).partition("Pass base=")[2].partition(", or load")[0]
    assert len(lf.activity.recompute(part, base=eval(step)))
