"""Lists, comparisons and the page of published runs."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.network import Network
from ledgerframes.report import HEADLINE, compare_runs, list_runs, run_report
from ledgerframes.report.overview import WindowRuns, render_overview
from ledgerframes.values.windows import instant, iso

from .conftest import SINCE, UNTIL, Small, connect

pytestmark = pytest.mark.loopback
NOON = "2026-11-08T12:00Z"


@pytest.mark.parametrize(
    ("since", "until", "title"),
    [
        ("2026-11-08", "2026-11-09", "2026-11-08"),
        ("2026-11-02", "2026-11-09", "2026-11-02 to 2026-11-08"),
        ("2026-11-08", "2026-11-09T06:00Z", "2026-11-08 00:00 to 2026-11-09 06:00"),
    ],
)
def test_the_overview_names_the_last_of_whole_days(since: str, until: str, title: str) -> None:
    times = [iso(instant(each)) for each in (since, until)]
    assert WindowRuns("devnet", *times, [], date(2026, 11, 8), [], "", []).title == title


@pytest.mark.usefixtures("no_kernel")
def test_a_run_lists_its_headline(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    result = run_report("small", net=net, out=tmp_path, since=SINCE, until=UNTIL)
    runs = list_runs(tmp_path)
    frames = net  # the figures are recomputed from the tables, with other code
    import ledgerframes as lf

    tables = lf.load_events(frames, since=SINCE, until=UNTIL)
    verdicts, traffic = tables.verdicts, tables.traffic
    rejected = set(verdicts.loc[verdicts["verdict_result"] == "VERDICT_RESULT_REJECTED", "update_id"])
    costs = dict(zip(traffic["update_id"], traffic["total_traffic_cost"], strict=True))
    assert runs.loc[0, "rejected"] == len(rejected) > 0
    assert runs.loc[0, "total_traffic_cost"] == sum(costs.values())
    assert runs.loc[0, "wasted_traffic_cost"] == sum(cost for update_id, cost in costs.items() if update_id in rejected)
    assert result.run["headline"].keys() == HEADLINE.keys()
    assert runs.loc[0, "is_latest"] and runs.loc[0, "key"] == result.key


@pytest.mark.usefixtures("no_kernel")
def test_a_comparison_names_what_differs(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    run_report("small", net=net, out=tmp_path, since=SINCE, until=NOON)
    with pytest.raises(UsageError, match=r"has runs over 1 window in .* Run it over another window\."):
        compare_runs(tmp_path, "small")
    run_report("small", net=net, out=tmp_path, since=SINCE, until=UNTIL)
    changes = compare_runs(tmp_path, "small").set_index("item")
    runs = list_runs(tmp_path, "small")
    assert changes.loc["window until", ["before", "after"]].tolist() == ["2026-11-08T12:00:00Z", "2026-11-09T00:00:00Z"]
    before, after = runs["requests"]
    assert changes.loc["requests", ["before", "after"]].tolist() == [f"{before:,}", f"{after:,}"]
    per_day = (after / 24) / (before / 12) - 1
    assert changes.loc["requests", "change"] == f"{per_day * 100:+.1f} % per day"
    assert changes.loc["requests", "note"] == "windows of 12 hours and 1 day"
    assert changes.loc["rejection_rate", "note"] == ""
    assert changes.loc["final", ["before", "after"]].tolist() == ["100 %", "100 %"]
    with pytest.raises(UsageError, match="0 runs have a key that begins with 'nope'"):
        compare_runs(tmp_path, "small", "nope", runs.loc[0, "key"])


@pytest.mark.usefixtures("no_kernel")
def test_a_comparison_takes_the_newest_run_of_each_of_two_windows(net: Network, tmp_path: Path, small: Small) -> None:
    runs = []
    for number, until in enumerate((NOON, NOON, UNTIL, UNTIL)):
        small(f"x = {number}")
        result = run_report("small", net=net, out=tmp_path, since=SINCE, until=until)
        run = {**result.run, "created_at": f"2026-11-09T00:00:0{number}Z"}  # else all in one second
        (result.directory / "run.json").write_text(json.dumps(run))
        runs.append(result.key)
    assert len({*runs}) == 4
    changes = compare_runs(tmp_path, "small").set_index("item")
    assert changes.loc["key", ["before", "after"]].tolist() == [runs[1], runs[3]]


@pytest.mark.usefixtures("no_kernel")
def test_runs_of_two_networks_do_not_compare(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    runs = [run_report("small", net=net, out=tmp_path, since=SINCE, until=until) for until in ("2026-11-08T06:00Z", NOON, UNTIL)]
    path = runs[1].directory / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "network": "another"}))
    compared = compare_runs(tmp_path, "small").set_index("item")
    assert compared.loc["window until", "before"] == "2026-11-08T06:00:00Z", "the newest earlier one of the same network"
    with pytest.raises(UsageError, match=r"Runs of two networks do not compare, got another and .*Choose two of one network"):
        compare_runs(tmp_path, "small", runs[1].key, runs[2].key)
    assert list_runs(tmp_path)["network"].tolist() == [net.name, "another", net.name]
    page = render_overview(tmp_path, pd.Timestamp("2026-11-09", tz="UTC").to_pydatetime())
    assert page.count(f"<td>{net.name}</td>") == 2 and page.count("<td>another</td>") == 1
    with pytest.raises(UsageError, match=r"No run of report 'nope' is published in .*\. Choose from small\.$"):
        compare_runs(tmp_path, "nope")


def test_a_comparison_without_any_run_says_that_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"No run of report 'small' is published in .*\. Run a report first\.$"):
        compare_runs(tmp_path, "small")
    with pytest.raises(UsageError, match=r"out= must be a directory of reports, got '.*nowhere'\. Run a report first\."):
        compare_runs(tmp_path / "nowhere", "small")


@pytest.mark.usefixtures("no_kernel")
def test_a_change_of_costs_names_that_coverage_changed(net: Network, tmp_path: Path, small: Small) -> None:
    """A higher cost of which more is known is no rise."""
    small("x = 1")
    runs = [
        run_report("small", net=net, out=tmp_path, since=since, until=until) for since, until in ((SINCE, NOON), (NOON, UNTIL))
    ]
    for run, cost, requests, final in zip(runs, (1_000, 1_113), (855, 984), (0.9, 1.0), strict=True):
        path = run.directory / "run.json"
        content = json.loads(path.read_text())
        content["headline"] |= {"total_traffic_cost": cost, "requests_with_cost": requests, "cost_coverage": requests / 1_000}
        content["coverage"]["final"] = final
        path.write_text(json.dumps(content))
    changes = compare_runs(tmp_path, "small").set_index("item")
    assert changes.loc["total_traffic_cost", "change"] == "+11.3 %"
    final, costs = "final: 90.0 % before and 100 % after", "known costs: 85.5 % before and 98.4 % after"
    assert changes.loc["total_traffic_cost", "note"] == f"{final}, {costs}"
    assert changes.loc["requests", "note"] == final
    assert changes.loc["cost_coverage", ["change", "note"]].tolist() == ["+12.90 points", ""]


@pytest.mark.usefixtures("no_kernel")
def test_the_overview_shows_runs_and_failures(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    assert "No report has run yet." in render_overview(tmp_path, pd.Timestamp("2026-11-09", tz="UTC").to_pydatetime())
    result = run_report("small", net=net, out=tmp_path, since=SINCE, until=UNTIL)
    page = (tmp_path / "index.html").read_text()
    assert f'href="small/{result.key}/index.html"' in page and "latest" in page
    with pytest.raises(CoverageError):
        run_report("small", net=net, out=tmp_path, since="2030-01-01", until="2030-01-02")
    assert "The last run of small failed." in (tmp_path / "index.html").read_text()
    note = tmp_path / "small" / "FAILED.txt"
    note.write_text("<script>alert(1)</script>")
    page = render_overview(tmp_path, pd.Timestamp("2026-11-09", tz="UTC").to_pydatetime())
    assert page.count("<script") == 1 and "&lt;script&gt;alert(1)" in page


def write_notebook(path: Path, source: str, *cells: str) -> str:
    parameters = new_code_cell(source, metadata={"tags": ["parameters"]})
    nbformat.write(new_notebook(cells=[parameters, *map(new_code_cell, cells)]), path)
    return str(path)


@pytest.mark.exhaustive
def test_a_notebook_of_ones_own(net: Network, tmp_path: Path) -> None:
    source = "during = 'yesterday'\nsince = until = None\nlimit = 3\nlabel = 'x'"
    notebook = write_notebook(tmp_path / "My Own.ipynb", source, "import json", "print(json.dumps([since, limit, label]))")
    result = run_report(notebook, net=net, out=tmp_path / "out", since=SINCE, until=UNTIL, parameters={"limit": "7"})
    assert result.report == "my-own" and result.run["parameters"] == {"limit": 7, "label": "x"}
    assert json.dumps(["2026-11-08T00:00:00Z", 7, "x"]).replace('"', "&quot;") in result.page_path.read_text()
    with pytest.raises(UsageError, match="Unknown parameter 'limits' of report my-own"):
        run_report(notebook, net=net, out=tmp_path / "out", since=SINCE, until=UNTIL, parameters={"limits": 7})


def test_all_plots_and_texts_of_ones_own_notebook_are_on_its_page(net: Network, tmp_path: Path) -> None:
    cells = (
        "import matplotlib.pyplot as plt\nimport pandas as pd\nfrom IPython.display import Markdown",
        "drawn = plt.plot([1, 2])",
        "pd.DataFrame({'a': [1, 2]}).plot()",
        "figure, axes = plt.subplots()\naxes.plot([1, 2])\nfigure",
        "Markdown('# Result\\n**bold** <script>alert(1)</script>')",
    )
    notebook = write_notebook(tmp_path / "own.ipynb", "during = since = until = None", *cells)
    page = run_report(notebook, net=net, out=tmp_path / "out", since=SINCE, until=UNTIL).page_path.read_text()
    assert page.count("<picture>") == 3
    assert "Axes" not in page and "Markdown object" not in page
    assert "<p><strong>Result</strong></p>\n<p><strong>bold</strong> &lt;script&gt;alert(1)" in page


@pytest.mark.usefixtures("no_kernel")
def test_a_parameter_can_have_any_name(net: Network, tmp_path: Path) -> None:
    notebook = write_notebook(
        tmp_path / "own.ipynb", "during = since = until = None\njson = model_config = _x = 'x'\ncopy = True"
    )
    result = run_report(notebook, net=net, out=tmp_path / "out", since=SINCE, until=UNTIL, parameters={"copy": "false"})
    assert result.run["parameters"] == {"json": "x", "model_config": "x", "_x": "x", "copy": False}
    with pytest.raises(UsageError, match=r"copy= of report own must be a valid boolean"):
        run_report(notebook, net=net, out=tmp_path / "out", since=SINCE, until=UNTIL, parameters={"copy": "many"})


@pytest.mark.exhaustive
@pytest.mark.usefixtures("no_kernel")
def test_a_run_over_all_history_says_its_days(tmp_path: Path, small: Small) -> None:
    small("x = 1")
    result = run_report("small", net=connect(tmp_path / "store"), out=tmp_path / "out", since="0001-01-01", until=UNTIL)
    assert "<title>2026-11-08: " in result.page_path.read_text() and "<title>0001" not in result.page_path.read_text()
    assert "<title>2026-11-08: " in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("since = until = None", "has no parameter during"),
        ("during = since = until = None\nimport os", "must only set names"),
        ("during = since = until = None\nx = open('/etc/passwd')", "must only set names"),
        ("during = since = until = None\nx[0] = 1", "must only set names"),
        ("during = since = until = None\nx = [1]", "neither text, number nor boolean"),
        ("during = since = until = ", "must only set names"),
    ],
)
def test_a_notebook_that_is_no_report(net: Network, tmp_path: Path, source: str, words: str) -> None:
    notebook = write_notebook(tmp_path / "own.ipynb", source)
    with pytest.raises(UsageError, match=words):
        run_report(notebook, net=net, out=tmp_path / "out", since=SINCE, until=UNTIL)
    assert not (tmp_path / "out").exists() and net.request_count == 0


def test_a_notebook_that_is_not_there(net: Network, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        run_report(str(tmp_path / "none.ipynb"), net=net, out=tmp_path, since=SINCE, until=UNTIL)
    (tmp_path / "verdicts.ipynb").write_text("{}")
    with pytest.raises(UsageError, match="has the name of the report verdicts"):
        run_report(str(tmp_path / "verdicts.ipynb"), net=net, out=tmp_path, since=SINCE, until=UNTIL)


@pytest.mark.usefixtures("no_kernel")
@pytest.mark.parametrize(("subjects", "are_together"), [(("Monday", "Monday"), True), (("Monday", "Tuesday"), False)])
def test_the_overview_says_that_findings_on_one_subject_are_together(
    net: Network, tmp_path: Path, small: Small, subjects: tuple[str, str], are_together: bool
) -> None:
    small("x = 1")
    result = run_report("small", net=net, out=tmp_path, since=SINCE, until=UNTIL)
    path = result.page_path.with_name("run.json")
    findings = [{"text": f"{subject}: {number} was unusual."} for number, subject in enumerate(subjects)]
    attention = {"summary": "9 figures were compared: 2 findings.", "findings": findings, "others": 0, "elsewhere": ""}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"attention": attention}))
    page = render_overview(tmp_path, pd.Timestamp("2026-11-09", tz="UTC").to_pydatetime())
    assert "2 findings." in page
    assert ("Findings on one subject share a paragraph." in page) == are_together
