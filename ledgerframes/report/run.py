"""One run of a report, step by step."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.api.names import Api
from ledgerframes.api.versions import TRIED
from ledgerframes.engine.connection import temporary_dir
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.installation import code_digest, extra_for
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.coverage import Coverage, Requirements, require_past, require_requests
from ledgerframes.report.freeze import FrozenInputs, freeze_inputs
from ledgerframes.report.loads import (
    HISTORY_WEEKS,
    fetch_state,
    history_window,
    load_before,
    load_history,
    require_participant,
)
from ledgerframes.report.notebook import Notebook
from ledgerframes.report.overview import write_overview
from ledgerframes.report.page import render, template_digest
from ledgerframes.report.pdf import PDF, find_chromium, print_pdf
from ledgerframes.report.prices import check_price
from ledgerframes.report.publish import PAGE, RUN, ReportDir
from ledgerframes.report.registry import Report, find_report
from ledgerframes.report.rules import Rule, parse_rule, require_judged
from ledgerframes.report.run_content import RunContent, RunFacts, ServiceVersions, versions_in_use
from ledgerframes.report.runs import published_contents
from ledgerframes.report.timer import Timer
from ledgerframes.store.location import digest_of, local_path
from ledgerframes.values.checks import require_integer
from ledgerframes.values.windows import Time, Window, iso, parse_duration
from ledgerframes.values.windows import window as parse_window

logger = logging.getLogger("ledgerframes")


@dataclass(frozen=True)
class ReportResult:
    """A published report.

    Attributes
    ----------
    report : str
    key : str
        Identifies the content: the same key means the same data, parameters, notebook and code of ledgerframes.
    directory : Path
        Contains the page, ``run.json`` and ``tables/``.
    page_path : Path
        The page.
    latest : Path
        The link to the run with the newest window, which is this report if `is_latest` is True.
    reused : bool
        Whether the report had already been published, so that nothing was run.
    run : dict
        The content of ``run.json`` (docs/reports.md#read-a-run-from-a-program).
    is_latest : bool
        Whether `latest` points to this report. It does not if an earlier run covers a newer window.
    broken_rules : tuple of str
        The rules of ``fail_if=`` that the figures break, with the figures.
    """

    report: str
    key: str
    directory: Path
    page_path: Path
    latest: Path
    reused: bool
    run: RunContent
    is_latest: bool = True
    broken_rules: tuple[str, ...] = ()


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
    max_age: timedelta | str | None = None,
    fail_if: Sequence[str] = (),
    keep: int | None = None,
    timeout: timedelta | str | None = None,
    pdf: bool = False,
    progress: bool | None = None,
) -> ReportResult:
    """Run a report on the data of a window, and publish its page.

    The data is loaded and frozen first.

    Parameters
    ----------
    name : str
        One of :data:`REPORTS`, or the path of another notebook, ending in ``.ipynb``. One of its cells is tagged
        ``parameters`` and sets ``during``, ``since`` and ``until``. Other names that it sets are parameters of the report.
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
        Minimum share (0 to 1) of the window that is final, and for reports on costs also of the requests with a known cost.
    max_age : timedelta or str, optional
        Maximum age of the data, such as ``"36h"``: ``net.now()`` minus the later of the newest row and the end of the final
        window, both inside the window.
    fail_if : sequence of str, optional
        Rules such as ``"wasted_share > 0.2"``, over the figures in :data:`HEADLINE`. The report is published in any case, and
        the result names the rules that its figures break. An unknown figure breaks a rule, so one on ``findings`` needs a
        window of at most 7 days.
    keep : int, optional
        Number of published runs to keep (default: all). This one and the one that ``latest`` shows always stay.
    timeout : timedelta or str, optional
        Maximum time for the run, such as ``"2h"``. It is checked between the steps, and limits each cell of the notebook, which
        may take 15 minutes by default.
    pdf : bool, optional
        Whether to print the page as ``report.pdf``, too, with Chromium (default: False).
    progress : bool, optional
        Whether to show a progress bar while data are loaded (default: in terminals and notebooks).

    Returns
    -------
    ReportResult

    Raises
    ------
    UsageError
        If the report or a parameter is unknown, a value is invalid, `out` is not on this machine, or `pdf` is set without
        Chromium. Nothing is fetched or written then.
    CoverageError
        If the window is in the future or has no requests, or the data do not meet `min_coverage` or `max_age`.
    ServiceError, TransportError, DecodeError
        If the service fails.
    ReportError
        If the notebook fails, the run takes longer than `timeout`, another run of the report is active in `out`, or the disk of
        `out` is full or cannot be written.
    """
    report = find_report(name)
    rules = tuple(parse_rule(text) for text in fail_if)
    age, limit = _duration("max_age=", max_age), _duration("timeout=", timeout)
    keep = None if keep is None else require_integer("keep", keep, 1)
    if pdf:
        find_chromium()
    out = local_path("out", out, "Publish it here, then copy it.")
    values = report.parse_parameters(parameters or {})
    window = parse_window(net.now(), since, until, during)
    require_judged(rules, window)
    requirements = Requirements(min_coverage, age)
    report_dir, timer = ReportDir(out, report.name), Timer(report.name, limit, progress)
    report_dir.prepare()
    with extra_for("A report"), report_dir.disk_errors(), report_dir.lock(), timer.lines():
        try:
            with extra_for("A report"), report_dir.disk_errors():  # here, too, so that the note says the same
                result = _Run(report, net, window, values, requirements, report_dir, rules, timer, pdf, progress).run()
                if keep is not None:
                    report_dir.delete_old(keep, result.key)
        except (Exception, KeyboardInterrupt) as error:
            report_dir.write_failure_note(error, window.as_dict())
            raise
        finally:
            _write_overview(out)
    return result


def _write_overview(out: Path) -> None:
    """Write the page of all runs.

    A run stays published without this page, and a failure keeps its reason.
    """
    try:
        write_overview(out)
    except Exception as error:
        logger.warning("overview_not_written path=%s error=%s", out, getattr(error, "strerror", type(error).__name__))


def _duration(name: str, value: timedelta | str | None) -> timedelta | None:
    duration = parse_duration(name, value) if isinstance(value, str) else value
    if not isinstance(duration, timedelta | None):
        raise UsageError(f"{name} must be a timedelta or a text such as 36h, got {value!r}.")
    if duration is not None and duration <= timedelta(0):
        raise UsageError(f"{name} must be longer than 0, such as 1h, got {str(value)!r}.")
    return duration


@dataclass(frozen=True)
class _Run:
    """A run with valid arguments."""

    report: Report
    net: Network
    window: Window
    parameters: dict[str, Any]
    requirements: Requirements
    report_dir: ReportDir
    rules: tuple[Rule, ...]
    timer: Timer
    pdf: bool
    progress: bool | None

    def run(self) -> ReportResult:
        requests = self.net.request_count
        require_past(self.net, self.window)
        with self.report_dir.staging_dir() as staging_dir:
            with self.timer.step("load"):
                frames, kept_days = self._load()
            with self.timer.step("freeze"):
                catalog = staging_dir / "catalog.sqlite"
                inputs = freeze_inputs(self.net, self.window, catalog, self.report, self.parameters, kept_days)
                published = self._published_key(inputs)
            if published:
                return self._reuse(published)
            if any(self._published_runs()):  # otherwise, the load has checked them
                check_price(self.parameters, frames)
                require_participant(self.net, frames, self.parameters.get("participant"))
            facts = self._facts(inputs)
            key = self._key(inputs, facts)
            if self.report_dir.is_complete(key):
                return self._reuse(key)
            run = self._write(staging_dir / "report", inputs, facts, key, self.net.request_count - requests)
            is_latest = self.report_dir.publish(staging_dir / "report", key)
        return self._result(key, run, reused=False, is_latest=is_latest)

    def _load(self) -> tuple[Frames, pd.DataFrame | None]:
        """Load everything that the report reads, and return its window and days of earlier runs."""
        frames = load_events(self.net, since=self.window.since, until=self.window.until, progress=self.progress)
        is_new = not any(self._published_runs())
        if is_new:
            check_price(self.parameters, frames)  # before all other work
        kept_days = self._load_history(frames) if self.report.needs_history else None
        if is_new:
            require_participant(self.net, frames, self.parameters.get("participant"))
        if self.report.subjects:
            load_before(self.net, frames, progress=self.progress)
        if self.report.needs_state:
            fetch_state(self.net, frames, progress=self.progress)
        return frames, kept_days

    # -- reuse --------------------------------------------------------------------------------------------------------------

    def _published_runs(self) -> Iterator[tuple[str, RunContent]]:
        """Yield the published runs over this window with these parameters, with their keys."""
        for key in self.report_dir.keys_of(_key_start(self.window)):
            run = self.report_dir.read_run(key)
            if run["parameters"] == self.parameters:
                yield key, run

    def _digest(self, inputs: FrozenInputs) -> str:
        """Return the digest of all inputs, including whether a PDF is printed."""
        return f"{inputs.digest()}-{PDF}" if self.pdf else inputs.digest()

    def _published_key(self, inputs: FrozenInputs) -> str | None:
        """Return the key of the run with these inputs, or None if there is none."""
        runs = list(self._published_runs())
        digest = self._digest(inputs) if runs else ""
        return next((key for key, run in runs if run.get("digest") == digest), None)

    def _reuse(self, key: str) -> ReportResult:
        """Return a published run, which must meet the requirements of this one."""
        run = self.report_dir.read_run(key)
        self.requirements.check(Coverage.from_dict(run["coverage"]), self.report.needs_cost, self.net.now())
        is_latest = self.report_dir.set_latest(key)
        return self._result(key, run, reused=True, is_latest=is_latest)

    # -- steps --------------------------------------------------------------------------------------------------------------

    def _load_history(self, frames: Frames) -> pd.DataFrame | None:
        """Load the weeks before the window, or return the days of earlier runs instead.

        The store comes first: its rows give every figure of these weeks, including those of groups and hours, by today's
        rules. The days that runs kept save a job without a persistent store from fetching six weeks every night.
        """
        weeks = load_history(Network(self.net.settings, clock=self.net.now, offline=True), frames)
        if isinstance(weeks, Frames):
            if not self.net.offline and (weeks.coverage["status"] != "final").any():
                load_history(self.net, frames, progress=self.progress)  # final by now
            return None
        window = history_window(self.window)
        if window is None:
            return None
        from ledgerframes.report.history import days_of_runs  # late: it needs the analyses

        days = days_of_runs(published_contents(self.report_dir.path.parent), self.net.name, window)
        if self.net.offline or len(days) == HISTORY_WEEKS * 7:
            return days
        load_history(self.net, frames, progress=self.progress)
        return None

    def _write(self, directory: Path, inputs: FrozenInputs, facts: RunFacts, key: str, request_count: int) -> RunContent:
        """Write the files that are published, and return the content of ``run.json``."""
        services, response_members = self._services(), dict(self.net.extra_members)
        directory.mkdir()
        book = self._execute(directory, inputs)
        run: RunContent = {
            **facts,
            "key": key,
            "request_count": request_count,
            "services": services,
            "response_members": response_members,
            "tables": sorted(path.stem for path in (directory / "tables").glob("*.parquet")),
            "created_at": iso(datetime.now(UTC).replace(microsecond=0)),
            "seconds": self.timer.seconds,  # to which the timer adds the steps below
        }
        with self.timer.step("page"):
            (directory / PAGE).write_text(render(book, run, is_folded=self.report.is_folded), encoding="utf-8")
        if self.pdf:
            with self.timer.step("pdf"):
                print_pdf(directory / PAGE, self.timer.remaining_seconds())
        (directory / RUN).write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return run

    def _execute(self, directory: Path, inputs: FrozenInputs) -> Notebook:
        """Run the notebook, which writes its tables into a directory."""
        from ledgerframes.report.execute import environment_variables, execute

        working_dir = directory.parent / "working"
        working_dir.mkdir()
        parameters = {"during": None, **self.window.as_dict(), **self.parameters}
        # The process of the notebook is killed at the end, and cannot remove what its queries wrote.
        with self.timer.step("notebook"), temporary_dir(self.net.settings.engine) as spill_dir:
            variables = environment_variables(self.net, inputs, directory / "tables", working_dir, Path(spill_dir))
            return execute(self.report.path, parameters, variables, working_dir, self.timer.remaining_seconds())

    def _facts(self, inputs: FrozenInputs) -> RunFacts:
        """Return the content of ``run.json`` before the notebook runs."""
        from ledgerframes.report.measurement import measure_inputs  # late: a report that is reused needs no analysis

        with self.timer.step("summary"):
            measured = measure_inputs(inputs)
            require_requests(self.net, measured.coverage, self.window)
            self.requirements.check(measured.coverage, self.report.needs_cost, self.net.now())
            key_figures, summary = measured.measure_key_figures(inputs), measured.summarize(inputs)
        return {
            "report": self.report.name,
            "network": self.net.name,
            "window": self.window.as_dict(),
            "parameters": self.parameters,
            "requirements": self.requirements.as_dict(),
            "coverage": measured.coverage.as_dict(),
            "key_figures": key_figures,
            "summary": summary,
            **measured.facts,
            "versions": versions_in_use(),
            "inputs": {
                "notebook": digest_of(self.report.path),
                "page": template_digest(),
                "code": code_digest(),
                **measured.digests,
            },
            "digest": self._digest(inputs),
        }

    def _services(self) -> dict[Api, ServiceVersions]:
        """Return the versions of each API, by host in this run, and as tried for this release."""
        met = self.net.versions()
        return {api: {"met": met.get(api, {}), "tried": list(versions)} for api, versions in TRIED.items()}

    def _key(self, inputs: FrozenInputs, facts: RunFacts) -> str:
        """Return the window and a digest of all inputs that determine the page."""
        content = {name: facts[name] for name in ("report", "network", "window", "parameters", "coverage", "quality", "summary")}
        content |= {name: facts["inputs"][name] for name in ("snapshot", "history", "notebook", "code")}
        content |= {"data": inputs.data_digest, "version": facts["versions"]["ledgerframes"]}
        if self.pdf:
            content["files"] = PDF
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return f"{_key_start(self.window)}{digest[:12]}"

    def _result(self, key: str, run: RunContent, *, reused: bool, is_latest: bool) -> ReportResult:
        directory = self.report_dir.path / key
        broken = tuple(reason for rule in self.rules if (reason := rule.explain(run["headline"])))
        latest = self.report_dir.latest
        return ReportResult(self.report.name, key, directory, directory / PAGE, latest, reused, run, is_latest, broken)


def _key_start(window: Window) -> str:
    """Return the part of a key that names the window."""
    return "".join(f"{time:%Y%m%dT%H%M%SZ}_" for time in (window.since, window.until))
