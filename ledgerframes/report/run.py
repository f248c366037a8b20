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

from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.catalogue import Report, file_digest, find_report
from ledgerframes.report.coverage import Requirements
from ledgerframes.report.execute import execute, surroundings
from ledgerframes.report.freeze import Frozen, freeze
from ledgerframes.report.page import look_digest, render
from ledgerframes.report.publish import PAGE, RUN, Shelf
from ledgerframes.windows import Time, Window, iso, window

PACKAGES = ("ledgerframes", "pandas", "pyarrow", "matplotlib")


@dataclass(frozen=True)
class ReportResult:
    """What a run has made, or found made already.

    Attributes
    ----------
    report : str
    key : str
        Names the report's content: same key, same data, parameters and versions.
    folder : Path
        Holds the page, ``run.json`` and ``tables/``.
    index : Path
        The page.
    latest : Path
        The link that shows this report now.
    already : bool
        Whether it was there before, so that nothing was done.
    run : dict
        What ``run.json`` holds.
    """

    report: str
    key: str
    folder: Path
    index: Path
    latest: Path
    already: bool
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
    """Make a report: bring the data up to date, freeze them, run the notebook on them, publish the page.

    Parameters
    ----------
    name : str
        One of :data:`REPORTS`.
    net : Network
    out : Path
        Folder of all reports; see :mod:`ledgerframes.report.publish` for what is in it.
    since, until : str, date or datetime, optional
        Half-open range of record times, UTC.
    during : str, optional
        A date word instead, such as ``last-week``, read against ``net.now()``.
    parameters : mapping, optional
        The report's own parameters, as values or as texts.
    min_coverage : float, optional
        Least share, 0 to 1, of the window's time that is final, and for reports on costs also of the requests whose traffic
        is known. Less is a CoverageError.
    max_age : timedelta, optional
        Greatest age of the data: ``net.now()`` less the later of the newest row and the end of the final range, both inside
        the window. More is a CoverageError.
    progress : bool, optional
        Show a progress bar while data are loaded; by default in terminals and notebooks.

    Returns
    -------
    ReportResult

    Raises
    ------
    UsageError
        If there is no such report or parameter, or a value makes no sense; before anything is asked or written.
    CoverageError
        If the data are not good enough.
    ServiceError, TransportError, DecodeError
        If the service fails.
    ReportError
        If the notebook fails.
    """
    report = find_report(name)
    checked = report.checked(parameters or {})
    asked = window(net.now(), since, until, during)
    requirements = Requirements(min_coverage, max_age)
    shelf = Shelf(Path(out), name)
    shelf.prepare()
    try:
        return _Run(report, net, asked, checked, requirements, shelf, progress).go()
    except Exception as error:
        shelf.note_failure(error)
        raise


@dataclass(frozen=True)
class _Run:
    """A run whose arguments have been checked."""

    report: Report
    net: Network
    asked: Window
    parameters: dict[str, Any]
    requirements: Requirements
    shelf: Shelf
    progress: bool | None

    def go(self) -> ReportResult:
        clock, requests = _Clock(), self.net.request_count
        with self.shelf.aside() as aside:
            with clock.step("load"):
                load_events(self.net, since=self.asked.since, until=self.asked.until, progress=self.progress)
            with clock.step("freeze"):
                frozen = freeze(self.net, self.asked, aside / "catalog.sqlite")
            self.requirements.check(frozen.coverage, self.report.needs_cost, self.net.now())
            facts = self._facts(frozen)
            key = self._key(facts)
            if self.shelf.is_complete(key):
                self.shelf.show(key)
                return self._result(key, self.shelf.read_run(key), already=True)
            run = {**facts, "key": key, "requests_made": self.net.request_count - requests}
            self._make(aside / "report", frozen, run, clock)
            self.shelf.publish(aside / "report", key)
        return self._result(key, run, already=False)

    def _make(self, folder: Path, frozen: Frozen, run: dict[str, Any], clock: _Clock) -> None:
        """Fill the folder that is going to be published; `run` gets what is only known afterwards."""
        folder.mkdir()
        scratch = folder.parent / "scratch"
        scratch.mkdir()
        window = {"during": None, "since": iso(self.asked.since), "until": iso(self.asked.until)}
        with clock.step("notebook"):
            around = surroundings(self.net, frozen.catalog, folder / "tables", scratch)
            book = execute(self.report.path, {**window, **self.parameters}, around)
        run["tables"] = sorted(path.stem for path in (folder / "tables").glob("*.parquet"))
        run["made_at"] = iso(datetime.now(UTC).replace(microsecond=0))
        with clock.step("page"):
            (folder / PAGE).write_text(render(book, run), encoding="utf-8")
        run["seconds"] = clock.seconds
        (folder / RUN).write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def _facts(self, frozen: Frozen) -> dict[str, Any]:
        """What is known of a run before its notebook runs."""
        return {
            "report": self.report.name,
            "network": self.net.name,
            "window": {"since": iso(self.asked.since), "until": iso(self.asked.until)},
            "parameters": self.parameters,
            "requirements": {
                "min_coverage": self.requirements.min_coverage,
                "max_age_seconds": self.requirements.max_age.total_seconds() if self.requirements.max_age else None,
            },
            "coverage": frozen.coverage.as_dict(),
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            "inputs": {
                "snapshot": frozen.snapshot.digest,
                "notebook": file_digest(self.report.path),
                "page": look_digest(),
                "segments": frozen.inputs(),
            },
        }

    def _key(self, facts: dict[str, Any]) -> str:
        """Names the content: the window to be read, and a digest of everything that decides what the page says."""
        deciding = {name: facts[name] for name in ("report", "network", "window", "parameters", "coverage")}
        deciding |= {name: facts["inputs"][name] for name in ("snapshot", "notebook", "page")}
        deciding["version"] = facts["versions"]["ledgerframes"]
        digest = hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()
        since, until = (f"{time:%Y%m%dT%H%M%SZ}" for time in (self.asked.since, self.asked.until))
        return f"{since}_{until}_{digest[:12]}"

    def _result(self, key: str, run: dict[str, Any], *, already: bool) -> ReportResult:
        folder = self.shelf.folder / key
        return ReportResult(self.report.name, key, folder, folder / PAGE, self.shelf.latest, already, run)


class _Clock:
    """How long each step took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure one step, in seconds."""
        begun = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - begun, 3)
