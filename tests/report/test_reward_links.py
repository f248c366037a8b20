"""The rewards of a window are checked once, for the head of its page and for the section that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.report import check_rewards, load_state, run_report
from ledgerframes.report.notebook import read_notebook
from ledgerframes.report.reward_links import REWARD_LINKS_VARIABLE, read_reward_links, write_reward_links

WEEK = {"since": "2026-11-02", "until": "2026-11-09"}


def links_of_notebook(net: lf.Network, out: Path, monkeypatch: pytest.MonkeyPatch, report: str) -> pd.DataFrame | None:
    """Run a report, and return the links that its notebook would read, None if it would check them itself."""
    links: list[pd.DataFrame] = []

    def read_links(notebook: Path, _: object, variables: dict[str, str], *rest: object) -> Any:
        if REWARD_LINKS_VARIABLE in variables:
            links.append(read_reward_links(Path(variables[REWARD_LINKS_VARIABLE])))
        return read_notebook(notebook)

    monkeypatch.setattr("ledgerframes.report.execute.execute", read_links)
    run_report(report, net=net, out=out, **WEEK)  # type: ignore[arg-type]
    return links[0] if links else None


@pytest.mark.exhaustive
def test_a_notebook_reads_the_links_that_its_findings_needed(
    net_of_weeks: lf.Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = lf.load_events(net_of_weeks, **WEEK)  # type: ignore[arg-type]
    state = load_state(net_of_weeks, frames)
    assert state is not None
    expected = lf.reconcile.rewards(frames, **state)
    found = links_of_notebook(net_of_weeks, tmp_path, monkeypatch, "activity")
    assert found is not None
    pd.testing.assert_frame_equal(expected, found)
    assert lf.show(found).statement == lf.show(expected).statement != ""
    assert links_of_notebook(net_of_weeks, tmp_path, monkeypatch, "verdicts") is None, "no page but that on activity shows them"


def test_known_links_are_not_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = lf.connect("sandbox", events=400, days=1)
    frames = lf.load_events(net, during="yesterday")
    state = load_state(net, frames)
    assert state is not None
    links = check_rewards(net, frames, state)
    assert len(links) > 0
    write_reward_links(links, tmp_path / "links.parquet")
    monkeypatch.setenv(REWARD_LINKS_VARIABLE, str(tmp_path / "links.parquet"))
    monkeypatch.setattr(lf.reconcile, "rewards", None)
    pd.testing.assert_frame_equal(links, check_rewards(net, frames, state))
