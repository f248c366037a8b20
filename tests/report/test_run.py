"""A report from its parameters to its place."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.api.versions import TRIED
from ledgerframes.errors import CoverageError, ReportError, UsageError
from ledgerframes.network import Network
from ledgerframes.report import ReportResult, list_runs, run_report
from ledgerframes.report.publish import ReportDir
from ledgerframes.report.rules import parse_rule
from ledgerframes.sandbox import Faults
from ledgerframes.store import Store

from .conftest import SINCE, UNTIL, Small, without_kernel

pytestmark = pytest.mark.loopback


def test_everything_is_in_place(traffic_run: ReportResult) -> None:
    assert not traffic_run.reused
    assert traffic_run.page_path.is_file()
    assert (traffic_run.latest / "index.html").samefile(traffic_run.page_path)
    left = [path.name for path in traffic_run.directory.parent.iterdir()]
    assert left == [traffic_run.key]


def test_the_run_says_what_it_was_made_from(traffic_run: ReportResult, evil_net: Network) -> None:
    run = json.loads((traffic_run.directory / "run.json").read_text(encoding="utf-8"))
    assert run == traffic_run.run
    assert run["parameters"] == {"every": "6h", "top": 5, "price": "", "rate": ""}
    assert run["window"] == {"since": "2026-11-08T00:00:00Z", "until": "2026-11-09T00:00:00Z"}
    assert run["coverage"]["final"] == 1.0 and run["coverage"]["provisional_rows"] == 0
    assert set(run["versions"]) >= {"python", "ledgerframes", "pandas", "pyarrow"}
    assert set(run["seconds"]) == {"load", "freeze", "summary", "notebook", "page"}
    assert run["request_count"] == 0
    assert run["services"] == {api: {"met": {}, "tried": list(versions)} for api, versions in TRIED.items()}
    assert isinstance(run["extra_members"], list) and run["new_kinds"] == [] and run["response_members"] == {}
    (segment,) = run["inputs"]["segments"]
    assert segment["source"] == "evil.invalid" and len(segment["sha256"]["traffic"]) == 64
    assert str(evil_net.settings.store) not in json.dumps(run)


def test_tables_are_what_the_analyses_give(traffic_run: ReportResult, evil_net: Network) -> None:
    expected = lf.cost.spend(lf.load_events(evil_net, since=SINCE, until=UNTIL), by="participant")
    directory = traffic_run.directory / "tables"
    parquet = pq.read_table(directory / "cost_spend_by_participant.parquet").to_pandas()
    csv = pd.read_csv(directory / "cost_spend_by_participant.csv")
    texts = {"population": "str", "network": "str"}
    for frame in (parquet, csv):
        pd.testing.assert_frame_equal(expected.astype(texts), frame.astype(texts), check_dtype=False)
    assert (
        sorted(path.stem for path in directory.glob("*.csv"))
        == sorted(path.stem for path in directory.glob("*.parquet"))
        == traffic_run.run["tables"]
    )


def test_the_same_again_does_nothing(traffic_run: ReportResult, evil_net: Network) -> None:
    before = traffic_run.page_path.stat().st_mtime_ns
    again = run_report(
        "traffic-cost",
        net=evil_net,
        out=traffic_run.directory.parents[1],
        since=SINCE,
        until=UNTIL,
        parameters={"top": 5, "every": "6h"},
    )
    assert again.reused and again.key == traffic_run.key and again.run == traffic_run.run
    assert again.page_path.stat().st_mtime_ns == before


@pytest.mark.usefixtures("no_kernel")
def test_a_stored_window_needs_no_request_and_other_parameters_are_another_report(
    net: Network, tmp_path: Path, small: Small
) -> None:
    small("x = 1")
    first = run_report("small", net=net, out=tmp_path / "out", during="yesterday")
    again = run_report("small", net=net, out=tmp_path / "out", since=SINCE, until=UNTIL)
    assert (first.reused, again.reused) == (False, True)
    assert net.request_count == 0 and first.run["request_count"] == 0
    small("x = 2")
    changed = run_report("small", net=net, out=tmp_path / "out", during="yesterday")
    assert not changed.reused and changed.key != first.key
    assert changed.latest.resolve() == changed.directory
    back = run_report("small", net=net, out=tmp_path / "out", since=SINCE, until="2026-11-08T12:00Z")
    assert back.key != changed.key


def test_the_notebook_reads_the_frozen_data_and_nothing_else(
    net: Network, tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEDGERFRAMES_HISTORY_URL", "http://127.0.0.1:9")
    profiles = tmp_path / "config" / "ledgerframes" / "ledgerframes.toml"
    profiles.parent.mkdir(parents=True)
    profiles.write_text("[sandbox]\nunknown_setting = 1\n")
    small(
        "import ledgerframes as lf",
        "net = lf.connect()",
        "assert net.offline, 'online'",
        f"assert net.name == {net.name!r}, net.name",
        "frames = lf.load_events(net, since=since, until=until, during=during)",
        "assert len(frames.verdicts) > 100",
        "import os; assert not [name for name in os.environ if 'TOKEN' in name and name.startswith('LEDGERFRAMES')]",
    )
    assert run_report("small", net=net, out=tmp_path / "out", during="yesterday").is_latest


def test_queries_of_the_notebook_keep_the_limits_of_the_network_and_leave_no_file(
    store: Path, tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill_dir = tmp_path / "spill"
    net = lf.connect(
        "sandbox",
        events=600,
        days=2,
        store=store,
        provisional_minutes=0,
        threads=1,
        memory_limit="50MB",
        spill_dir=spill_dir,
    )
    monkeypatch.setenv("LEDGERFRAMES_THREADS", "7")  # the settings of the network come first
    small(
        "import ledgerframes as lf",
        "net = lf.connect()",
        "lf.cost.spend(lf.load_events(net, since=since, until=until))",  # opens a database, and its directory
        "engine = net.settings.engine",
        "assert (engine.threads, engine.memory_limit) == (1, '50MB'), engine",
        f"assert str(engine.spill_dir).startswith({str(spill_dir)!r}), engine",
        "from pathlib import Path; assert list(Path(engine.spill_dir).iterdir())",
        "import tempfile; assert Path(tempfile.mkdtemp()).parent == engine.spill_dir",
    )
    run_report("small", net=net, out=tmp_path / "out", during="yesterday")
    small("import os; os._exit(9)")  # a kernel that dies
    with pytest.raises(ReportError, match="ended unexpectedly"):
        run_report("small", net=net, out=tmp_path / "out", during="yesterday")
    (directory,) = spill_dir.iterdir()  # of the queries of this process
    assert list(directory.iterdir()) == []


def test_a_report_is_published_on_this_machine_only(net: Network, small: Small) -> None:
    small("x = 1")
    with pytest.raises(UsageError, match=r"out= must be a path on this machine, got 's3:/team/reports'\. Publish it here"):
        run_report("small", net=net, out=Path("s3://team/reports"), during="yesterday")
    assert not Path("s3:").exists()


def test_a_disk_that_cannot_be_written_is_named(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    (tmp_path / ".small.lock").mkdir()
    with pytest.raises(ReportError, match=r"Cannot write .*\.small\.lock: Is a directory\. Free space there"):
        run_report("small", net=net, out=tmp_path, during="yesterday")


def test_a_full_disk_of_the_reports_is_not_taken_for_that_of_the_store(
    net: Network, tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    small("x = 1")
    freeze = Store.freeze
    monkeypatch.setattr(Store, "freeze", lambda store, target: freeze(store, Path("/dev/full")))
    with pytest.raises(ReportError, match=r"^Cannot write /dev/full: No space left on device\. Free space there, or choose"):
        run_report("small", net=net, out=tmp_path, during="yesterday")
    reason = "Reason: Cannot write /dev/full: No space left on device. Free space there, or choose another directory with out=."
    assert reason in (tmp_path / "small" / "FAILED.txt").read_text()


@pytest.mark.usefixtures("no_kernel")
def test_a_run_is_published_also_without_an_overview(
    net: Network, tmp_path: Path, small: Small, caplog: pytest.LogCaptureFixture
) -> None:
    small("x = 1")
    (tmp_path / "index.html").mkdir()
    assert run_report("small", net=net, out=tmp_path, during="yesterday").is_latest
    assert "overview_not_written" in caplog.text


@pytest.mark.usefixtures("no_kernel")
def test_a_run_stays_published_whatever_the_overview_raises(
    net: Network, tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    small("x = 1")
    monkeypatch.setattr("ledgerframes.report.run.write_overview", lambda _: timedelta.max + timedelta.max)
    assert run_report("small", net=net, out=tmp_path, during="yesterday").is_latest
    assert "error=OverflowError" in caplog.text


def test_an_interrupted_run_is_noted(net: Network, tmp_path: Path, small: Small) -> None:
    small("import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(60)")
    with pytest.raises(KeyboardInterrupt):
        run_report("small", net=net, out=tmp_path / "out", during="yesterday")
    assert "Reason: It was interrupted." in (tmp_path / "out" / "small" / "FAILED.txt").read_text()


def test_a_full_disk_is_not_blamed_on_the_notebook(net: Network, tmp_path: Path, small: Small) -> None:
    small("raise OSError(28, 'Error writing bytes to file')")
    with pytest.raises(ReportError, match=r"Error writing bytes to file\. A disk is full: free space there, or choose another"):
        run_report("small", net=net, out=tmp_path / "out", during="yesterday")


def test_a_failing_cell(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    with without_kernel():
        good = run_report("small", net=net, out=tmp_path / "out", during="yesterday")
    small("x = 1", "raise ValueError('it is \x1b[31mbroken\x1b[0m\\nhere')", "x = 2")
    with pytest.raises(ReportError) as caught:
        run_report("small", net=net, out=tmp_path / "out", during="yesterday")
    assert str(caught.value) == "Code cell 3 of small.ipynb failed: ValueError: it is broken here"
    assert good.latest.resolve() == good.directory
    note = tmp_path / "out" / "small" / "FAILED.txt"
    assert "ValueError: it is broken here" in note.read_text() and "latest still shows" in note.read_text()
    assert sorted(path.name for path in note.parent.iterdir()) == sorted([good.key, "FAILED.txt"])
    small("x = 1")
    assert run_report("small", net=net, out=tmp_path / "out", during="yesterday").reused
    assert not note.exists()


KILLED = """
import sys
from pathlib import Path
import ledgerframes as lf
from ledgerframes.report import run_report
net = lf.connect("sandbox", events=600, days=2, store=sys.argv[1], provisional_minutes=0)
run_report("verdicts", net=net, out=Path(sys.argv[2]), during="yesterday")
"""


def test_a_killed_run_leaves_nothing_visible(store: Path, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(store), str(tmp_path)], stderr=subprocess.DEVNULL)
    directory = tmp_path / "verdicts"
    while not list(directory.glob(".tmp-*/working")):
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert all(path.name.startswith(".tmp-") for path in directory.iterdir())
    assert list((tmp_path / "latest").iterdir()) == []


def test_data_that_are_not_good_enough(net: Network, tmp_path: Path) -> None:
    with pytest.raises(CoverageError, match="min_coverage"):
        run_report("traffic-cost", net=net, out=tmp_path / "out", during="yesterday", min_coverage=1.0)
    assert "min_coverage" in (tmp_path / "out" / "traffic-cost" / "FAILED.txt").read_text()
    with pytest.raises(CoverageError, match="max_age"):
        run_report(
            "verdicts", net=net, out=tmp_path / "out", since="2026-11-08", until="2026-11-08T12:00Z", max_age=timedelta(hours=1)
        )
    assert not (tmp_path / "out" / "latest" / "verdicts").exists()


@pytest.mark.parametrize("name", ["traffic-cost", "verdicts"])
@pytest.mark.parametrize(
    ("since", "until", "words"),
    [("2020-01-01", "2020-01-02", "before the history"), ("2030-01-01", "2030-01-02", "Choose an earlier window")],
)
def test_a_window_without_requests_is_no_report(
    net: Network, tmp_path: Path, small: Small, name: str, since: str, until: str, words: str
) -> None:
    with pytest.raises(CoverageError, match=words):
        run_report(name, net=net, out=tmp_path / "out", since=since, until=until)
    assert not (tmp_path / "out" / "latest" / name).exists()
    assert words in (tmp_path / "out" / name / "FAILED.txt").read_text()


@pytest.mark.usefixtures("no_kernel")
def test_a_run_over_an_older_window_leaves_latest(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    newer = run_report("small", net=net, out=tmp_path, since="2026-11-08", until="2026-11-09")
    older = run_report("small", net=net, out=tmp_path, since="2026-11-08", until="2026-11-08T12:00Z")
    assert (newer.is_latest, older.is_latest) == (True, False)
    assert older.page_path.is_file() and newer.latest.resolve() == newer.directory
    assert not run_report("small", net=net, out=tmp_path, since="2026-11-08", until="2026-11-08T12:00Z").is_latest


@pytest.mark.usefixtures("no_kernel")
def test_only_the_newest_runs_are_kept(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    ends = ["2026-11-08T06:00Z", "2026-11-08T12:00Z", "2026-11-08T18:00Z"]
    keys = [run_report("small", net=net, out=tmp_path, since="2026-11-08", until=end).key for end in ends[:2]]
    last = run_report("small", net=net, out=tmp_path, since="2026-11-08", until=ends[2], keep=2)
    assert list_runs(tmp_path)["key"].tolist() == [keys[1], last.key]


@pytest.mark.usefixtures("no_kernel")
def test_two_runs_do_not_overlap(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    report_dir = ReportDir(tmp_path, "small")
    report_dir.prepare()
    with report_dir.lock(), pytest.raises(ReportError, match="Another run of report small is active"):
        run_report("small", net=net, out=tmp_path, during="yesterday")
    assert run_report("small", net=net, out=tmp_path, during="yesterday").is_latest


def test_a_run_that_takes_too_long(net: Network, tmp_path: Path, small: Small) -> None:
    small("import time; time.sleep(60)")
    with pytest.raises(ReportError, match=r"A cell of small.ipynb took longer than \d seconds"):
        run_report("small", net=net, out=tmp_path, during="yesterday", timeout=timedelta(seconds=9))
    with pytest.raises(
        ReportError, match=r"^The run took longer than the 0 seconds of timeout= and ended after the step load\. Raise"
    ):
        run_report("small", net=net, out=tmp_path, during="yesterday", timeout=timedelta(microseconds=1))


def test_a_value_that_cannot_be_displayed_is_a_failure(net: Network, tmp_path: Path, small: Small) -> None:
    small("class Picture:\n    def _repr_html_(self):\n        return 1 / 0\n\nPicture()")
    with pytest.raises(ReportError, match=r"^Code cell 2 of small.ipynb failed: ZeroDivisionError: division by zero"):
        run_report("small", net=net, out=tmp_path, during="yesterday")


@pytest.mark.exhaustive
def test_a_longer_timeout_raises_the_limit_of_a_cell(
    net: Network, tmp_path: Path, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerframes.report.execute.CELL_TIMEOUT_SECONDS", 1)
    small("import time; time.sleep(3)")
    assert run_report("small", net=net, out=tmp_path, during="yesterday", timeout="10m").is_latest


def test_a_broken_rule_shows_whole_numbers_in_full() -> None:
    rule = parse_rule("total_traffic_cost > 0.5")
    assert rule.explain({"total_traffic_cost": 5_123_456_789}) == "total_traffic_cost > 0.5: total_traffic_cost is 5,123,456,789"


@pytest.mark.usefixtures("no_kernel")
def test_rules(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    rules = ["rejection_rate > 0", "requests < 1"]
    result = run_report("small", net=net, out=tmp_path, during="yesterday", fail_if=rules)
    rate = result.run["headline"]["rejection_rate"]
    assert result.is_latest and result.broken_rules == (f"rejection_rate > 0: rejection_rate is {rate:.6g}",)
    for rule in ("rejections > 0", "requests", "requests > many", "requests > 1; import os"):
        with pytest.raises(UsageError, match="fail_if="):
            run_report("small", net=net, out=tmp_path, during="yesterday", fail_if=[rule])


@pytest.mark.exhaustive
def test_inside_a_running_event_loop(net: Network, tmp_path: Path, small: Small) -> None:
    async def as_in_a_notebook() -> ReportResult:
        return run_report("small", net=net, out=tmp_path / "out", during="yesterday")

    small("x = 1")
    assert asyncio.run(as_in_a_notebook()).page_path.is_file()


def test_offline_without_the_data(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=600, days=2, store=tmp_path / "empty", offline=True)
    with pytest.raises(CoverageError, match="offline"):
        run_report("verdicts", net=net, out=tmp_path / "out", during="yesterday")
    assert "offline" in (tmp_path / "out" / "verdicts" / "FAILED.txt").read_text()


@pytest.mark.usefixtures("no_kernel")
def test_the_run_has_the_new_members_around_the_rows(tmp_path: Path, small: Small) -> None:
    small("x = 1")
    net = lf.connect("sandbox", events=300, days=1, faults=Faults(unknown_members=1), store=tmp_path / "store")
    run = run_report("small", net=net, out=tmp_path / "out", since=SINCE, until=UNTIL).run
    assert "POST /v0/events.sandbox_extension" in run["response_members"]
    assert run["response_members"] == net.extra_members
