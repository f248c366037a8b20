"""The analysis that CONTRIBUTING shows works as it stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.analysis import figures as declare

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def declared() -> Iterator[None]:
    """What is declared in a test is forgotten after it."""
    registries: tuple[dict[Any, Any], ...] = (declare.FIGURES, declare.ANALYSES, declare.CALLS)
    before = [registry.copy() for registry in registries]
    yield
    for registry, entries in zip(registries, before, strict=True):
        registry.clear()
        registry.update(entries)


@pytest.mark.usefixtures("copied_first_loads", "declared")
def test_the_analysis_that_is_shown_gives_figures(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", TEXT.partition("## Add an analysis")[2], re.DOTALL)
    assert code
    names: dict[str, Any] = {"__name__": "shown"}
    exec(compile(code[1], "CONTRIBUTING.md", "exec"), names)
    day = lf.load_events(lf.connect("sandbox", events=400, days=1, store=tmp_path), since="2026-11-08", until="2026-11-09")
    shown = names["largest"](day, by="participant").set_index("submitting_participant_uid")
    requests = day.verdicts.merge(day.traffic[["update_id", "total_traffic_cost"]], how="left", on="update_id")
    requests["total_traffic_cost"] = requests["total_traffic_cost"].where(requests["total_traffic_cost"] >= 0)
    by_participant = requests.groupby("submitting_participant_uid")["total_traffic_cost"]
    known = shown.loc[by_participant.max().index]
    assert known["largest_traffic_cost"].tolist() == by_participant.max().tolist()
    assert known["coverage"].tolist() == (by_participant.count() / by_participant.size()).tolist()
    by_hour = names["largest"](day, every="1h")
    assert by_hour.loc[by_hour["requests"] == 0, "coverage"].isna().all()
