"""One run of a report, step by step."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ledgerframes.extras import extra_for
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.coverage import Requirements
from ledgerframes.report.execute import execute, notebook_environment
from ledgerframes.report.freeze import FrozenInputs, freeze_inputs
from ledgerframes.report.page import render, template_digest
from ledgerframes.report.publish import PAGE, RUN, ReportDir
from ledgerframes.report.registry import Report, file_digest, find_report
from ledgerframes.windows import Time, Window, iso
from ledgerframes.windows import window as parse_window

PACKAGES = ("ledgerframes", "pandas", "pyarrow", "matplotlib")


@dataclass(frozen=True)
class ReportResult:
    """A published report.

    Attributes
    ----------
    report : str
    key : str
        Identifies the content: same key, same data, parameters and versions.
    directory : Path
        Contains the page, ``run.json`` and ``tables/``.
    page_path : Path
        The page.
    latest : Path
        The link that now points to this report.
    reused : bool
        Whether the report was published before, so that nothing was run.
    run : dict
        The content of ``run.json``.
    """

    report: str
    key: str
    directory: Path
    page_path: Path
    latest: Path
    reused: bool
    run: dict[str, Any]


def run_report(
    name: str,
    *,
    net: Network,
    out: Path,
    since: Time | None = None,
    until: Time | None = None,
    during: str | None = None,
    parameters: Mapping[str, object] | None = None,
    min_coverage: float | None = None,
    max_age: timedelta | None = None,
    progress: bool | None = None,
) -> ReportResult:
    """Run a report on the data of a window, and publish its page.

    The data is loaded and frozen first.

    Parameters
    ----------
    name : str
        One of :data:`REPORTS`.
    net : Network
    out : Path
        Directory of all reports (see :mod:`ledgerframes.report.publish` for its content).
    since, until : str, date or datetime, optional
        Half-open window of record times, UTC.
    during : str, optional
        A date word instead, such as ``last-week``, relative to ``net.now()``.
    parameters : mapping, optional
        Parameters of the report, as values or as text.
    min_coverage : float, optional
        Minimum share, 0 to 1, of the window that is final, and for reports on costs of the requests with a known cost.
    max_age : timedelta, optional
        Maximum age of the data: ``net.now()`` minus the later of the newest row and the end of the final window, both inside
        the window.
    progress : bool, optional
        Whether to show a progress bar while data are loaded (default: in terminals and notebooks).

    Returns
    -------
    ReportResult

    Raises
    ------
    UsageError
        If the report or a parameter is unknown, or a value is invalid. Nothing is fetched or written then.
    CoverageError
        If the data do not meet `min_coverage` or `max_age`.
    ServiceError, TransportError, DecodeError
        If the service fails.
    ReportError
        If the notebook fails.
    """
    report = find_report(name)
    values = report.parse_parameters(parameters or {})
    window = parse_window(net.now(), since, until, during)
    requirements = Requirements(min_coverage, max_age)
    report_dir = ReportDir(Path(out), name)
    report_dir.prepare()
    try:
        with extra_for("A report"):
            return _Run(report, net, window, values, requirements, report_dir, progress).run()
    except Exception as error:
        report_dir.write_failure_note(error)
        raise


@dataclass(frozen=True)
class _Run:
    """A run with valid arguments."""

    report: Report
    net: Network
    window: Window
    parameters: dict[str, Any]
    requirements: Requirements
    report_dir: ReportDir
    progress: bool | None

    def run(self) -> ReportResult:
        timer, requests = _Timer(), self.net.request_count
        with self.report_dir.staging_dir() as staging_dir:
            with timer.step("load"):
                load_events(self.net, since=self.window.since, until=self.window.until, progress=self.progress)
            with timer.step("freeze"):
                inputs = freeze_inputs(self.net, self.window, staging_dir / "catalog.sqlite")
            self.requirements.check(inputs.coverage, self.report.needs_cost, self.net.now())
            facts = self._facts(inputs)
            key = self._key(facts)
            if self.report_dir.is_complete(key):
                self.report_dir.set_latest(key)
                return self._result(key, self.report_dir.read_run(key), reused=True)
            run = {**facts, "key": key, "request_count": self.net.request_count - requests}
            self._write(staging_dir / "report", inputs, run, timer)
            self.report_dir.publish(staging_dir / "report", key)
        return self._result(key, run, reused=False)

    def _write(self, directory: Path, inputs: FrozenInputs, run: dict[str, Any], timer: _Timer) -> None:
        """Write the files that are published, and add the rest of ``run.json`` to `run`."""
        directory.mkdir()
        working_dir = directory.parent / "working"
        working_dir.mkdir()
        window = {"during": None, "since": iso(self.window.since), "until": iso(self.window.until)}
        with timer.step("notebook"):
            environment = notebook_environment(self.net, inputs.catalog, directory / "tables", working_dir)
            book = execute(self.report.path, {**window, **self.parameters}, environment)
        run["tables"] = sorted(path.stem for path in (directory / "tables").glob("*.parquet"))
        run["created_at"] = iso(datetime.now(UTC).replace(microsecond=0))
        with timer.step("page"):
            (directory / PAGE).write_text(render(book, run), encoding="utf-8")
        run["seconds"] = timer.seconds
        (directory / RUN).write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def _facts(self, inputs: FrozenInputs) -> dict[str, Any]:
        """Return the content of ``run.json`` before the notebook runs."""
        max_age = self.requirements.max_age
        return {
            "report": self.report.name,
            "network": self.net.name,
            "window": {"since": iso(self.window.since), "until": iso(self.window.until)},
            "parameters": self.parameters,
            "requirements": {
                "min_coverage": self.requirements.min_coverage,
                "max_age_seconds": max_age.total_seconds() if max_age else None,
            },
            "coverage": inputs.coverage.as_dict(),
            "problems": inputs.problems,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            "inputs": {
                "snapshot": inputs.snapshot.digest,
                "notebook": file_digest(self.report.path),
                "page": template_digest(),
                "segments": inputs.segments(),
            },
        }

    def _key(self, facts: dict[str, Any]) -> str:
        """Return the window and a digest of all inputs that determine the page."""
        content = {name: facts[name] for name in ("report", "network", "window", "parameters", "coverage")}
        content |= {name: facts["inputs"][name] for name in ("snapshot", "notebook", "page")}
        content["version"] = facts["versions"]["ledgerframes"]
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        since, until = (f"{time:%Y%m%dT%H%M%SZ}" for time in (self.window.since, self.window.until))
        return f"{since}_{until}_{digest[:12]}"

    def _result(self, key: str, run: dict[str, Any], *, reused: bool) -> ReportResult:
        directory = self.report_dir.path / key
        return ReportResult(self.report.name, key, directory, directory / PAGE, self.report_dir.latest, reused, run)


class _Timer:
    """Duration of each step in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure one step."""
        start = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - start, 3)
