"""A published run.json has the declared members, and one of an earlier version is read without those it may lack."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NotRequired, get_origin, get_type_hints

import pytest

from ledgerframes.report import HEADLINE, ReportResult, compare_runs, list_runs
from ledgerframes.report.history import days_of_runs
from ledgerframes.report.overview import render_overview, write_overview
from ledgerframes.report.run_content import RunContent
from ledgerframes.report.runs import published_contents
from ledgerframes.report.sentences import LinkedText
from ledgerframes.values.windows import Window

from .declared import differences

pytestmark = pytest.mark.loopback
# Of a statement: no key figure says as much, and there is nothing to do.
OPTIONAL = ("key_figure is on one side only", "next_step is on one side only")


def content_of(run: ReportResult) -> Any:
    return json.loads((run.directory / "run.json").read_text(encoding="utf-8"))


def not_required(kind: type) -> set[str]:
    return {name for name, hint in get_type_hints(kind, include_extras=True).items() if get_origin(hint) is NotRequired}


@pytest.mark.parametrize("name", ["traffic_run", "verdicts_run"])
def test_a_run_has_the_declared_members(name: str, request: pytest.FixtureRequest) -> None:
    run = content_of(request.getfixturevalue(name))
    assert [each for each in differences(run, RunContent) if not each.endswith(OPTIONAL)] == []
    assert run["headline"].keys() == HEADLINE.keys()
    assert run["days"] and run["key_figures"] and run["summary"] and run["inputs"]["segments"], "nested members are there"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("mood", "calm"),
        ("coverage.mood", "calm"),
        ("coverage.rows", None),
        ("coverage.rows", True),
        ("coverage.final", "1"),
        ("inputs.segments", [{}]),
        ("headline.requests", "5"),
        ("parameters.top", [5]),
        ("services.ledger", {"met": {}}),
        ("attention", []),
    ],
)
def test_other_members_and_types_are_found(path: str, value: object, traffic_run: ReportResult) -> None:
    run = content_of(traffic_run)
    *parents, name = path.split(".")
    below = run
    for parent in parents:
        below = below[parent]
    below[name] = value
    assert any(path in each for each in differences(run, RunContent))


@pytest.fixture
def earlier_runs(traffic_run: ReportResult, tmp_path: Path) -> Path:
    """Two runs of a version whose runs have no member that is not required."""
    run = {name: value for name, value in content_of(traffic_run).items() if name not in not_required(RunContent)}
    for key, since in {"a": "2026-11-07", "b": "2026-11-08"}.items():
        directory = tmp_path / "traffic-cost" / key
        shutil.copytree(traffic_run.directory, directory)
        window = {"since": f"{since}T00:00:00Z", "until": f"{since[:-1]}{int(since[-1]) + 1}T00:00:00Z"}
        (directory / "run.json").write_text(json.dumps({**run, "key": key, "window": window}), encoding="utf-8")
    (tmp_path / "latest").mkdir()
    (tmp_path / "latest" / "traffic-cost").symlink_to("../traffic-cost/b")
    return tmp_path


def test_a_run_of_an_earlier_version_is_listed_and_compared(earlier_runs: Path) -> None:
    assert not_required(RunContent) == {"headline", "attention", "days", "key_figures", "digest"}
    runs = list_runs(earlier_runs)
    assert runs["key"].tolist() == ["a", "b"] and runs["is_latest"].tolist() == [False, True]
    assert runs[list(HEADLINE)].isna().all(axis=None)
    changes = compare_runs(earlier_runs, "traffic-cost").set_index("item")
    assert changes.loc["window since", "before"] == "2026-11-07T00:00:00Z"
    assert changes.loc["requests", ["before", "after", "change"]].tolist() == ["–", "–", ""]


def test_a_run_of_an_earlier_version_is_in_the_overview(earlier_runs: Path) -> None:
    page = write_overview(earlier_runs).read_text(encoding="utf-8")
    assert 'href="traffic-cost/b/index.html"' in page and 'href="traffic-cost/a/index.html"' in page
    assert "sparkline" not in page.partition("</style>")[2], "no figure has days"
    window = Window(datetime(2026, 11, 7, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC))
    assert days_of_runs(published_contents(earlier_runs), "evil", window).empty


def test_a_finding_of_an_earlier_version_is_in_the_overview(earlier_runs: Path) -> None:
    path = earlier_runs / "traffic-cost" / "b" / "run.json"
    finding = {"text": "<b>: much.", "heading": "What did it cost?"}
    assert finding.keys() == get_type_hints(LinkedText).keys() - not_required(LinkedText)
    attention = {"summary": "One finding.", "findings": [finding], "others": 0, "elsewhere": ""}
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "attention": attention}), encoding="utf-8")
    page = render_overview(earlier_runs, datetime(2026, 11, 10, tzinfo=UTC))
    assert "<b>&lt;b&gt;: much</b>" in page and "Next step" not in page
