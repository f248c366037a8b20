"""Content of ``run.json``, which describes a published run for programs.

Times are texts in UTC, such as ``2026-11-09T00:00:00Z``, and digests are SHA-256. Members that are not required are not in
runs of some earlier versions.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import NotRequired, TypedDict

from ledgerframes.api.names import Api
from ledgerframes.report.headline import Headline
from ledgerframes.report.key_figure import KeyFigure
from ledgerframes.report.sentences import Attention, Quality, Statement
from ledgerframes.values.windows import Bounds

Parameter = str | int | float | bool | None


# -- parts ------------------------------------------------------------------------------------------------------------------


class RequirementsContent(TypedDict):
    """Requirements on the data.

    Attributes
    ----------
    min_coverage : float or None
        Minimum coverage, as a share of 1. None without ``min_coverage=``.
    max_age_seconds : float or None
        Maximum age of the data in seconds. None without ``max_age=``.
    """

    min_coverage: float | None
    max_age_seconds: float | None


class CoverageContent(TypedDict):
    """Coverage of the window.

    Attributes
    ----------
    final : float
        Final time, as a share of the window.
    provisional : float
        Provisional time, as a share of the window.
    missing : float
        Time that is not in the store, as a share of the window.
    rows : int
        Number of rows of all tables.
    provisional_rows : int
        Number of rows that can change.
    requests : int
        Number of confirmation requests.
    requests_with_cost : int
        Number of requests with a known traffic cost.
    data_until : str or None
        The later of the time of the newest row and the end of the final window. None without both.
    sources : list of str
        Hosts that the rows came from.
    known_cost_share : float or None
        Requests with a known traffic cost, as a share of all. None without requests.
    """

    final: float
    provisional: float
    missing: float
    rows: int
    provisional_rows: int
    requests: int
    requests_with_cost: int
    data_until: str | None
    sources: list[str]
    known_cost_share: float | None


class DayTotals(TypedDict):
    """Totals of one day of the window, for usual ranges of later runs.

    Attributes
    ----------
    since : str
        Start of the day.
    requests : int
        Number of accepted and rejected requests.
    rejected : int
        Number of rejected requests.
    requests_with_cost : int
        Number of these requests with a known traffic cost.
    wasted_traffic_cost : int
        Known traffic cost of rejected requests, in bytes.
    total_traffic_cost : int
        Known traffic cost of all requests, in bytes.
    is_whole : bool
        Whether final data cover the whole day.
    """

    since: str
    requests: int
    rejected: int
    requests_with_cost: int
    wasted_traffic_cost: int
    total_traffic_cost: int
    is_whole: bool


DayRows = Sequence[DayTotals]


class Problem(TypedDict):
    """Rows or values of a table that the figures exclude.

    Attributes
    ----------
    problem : str
        Why they are excluded.
    table : str
        Name of the table.
    rows : int
        Number of rows.
    update_id : str
        Update of one of them.
    """

    problem: str
    table: str
    rows: int
    update_id: str


class Versions(TypedDict):
    """Versions of Python and of packages.

    Attributes
    ----------
    python : str
        Version of Python.
    ledgerframes : str
        Version of ledgerframes.
    duckdb : str
        Version of DuckDB.
    pandas : str
        Version of pandas.
    pyarrow : str
        Version of PyArrow.
    matplotlib : str
        Version of matplotlib.
    """

    python: str
    ledgerframes: str
    duckdb: str
    pandas: str
    pyarrow: str
    matplotlib: str


def versions_in_use() -> Versions:
    """Return the versions of this process."""
    return {
        "python": platform.python_version(),
        "ledgerframes": version("ledgerframes"),
        "duckdb": version("duckdb"),
        "pandas": version("pandas"),
        "pyarrow": version("pyarrow"),
        "matplotlib": version("matplotlib"),
    }


class SegmentContent(TypedDict):
    """One segment of the window in the store.

    Attributes
    ----------
    extent : str
        The migration and the window that it covers.
    final : bool
        Whether it cannot change any more.
    source : str
        Host that its rows came from.
    rows : int
        Number of rows of all tables.
    sha256 : dict of str to str
        Digest of the file of each table, by its name.
    """

    extent: str
    final: bool
    source: str
    rows: int
    sha256: dict[str, str]


class WindowDigests(TypedDict):
    """Members of :class:`Inputs` that are measured from the window."""

    snapshot: str
    history: str
    segments: list[SegmentContent]


class Inputs(WindowDigests):
    """Digests of the inputs of a run.

    Attributes
    ----------
    notebook : str
        Digest of the notebook.
    page : str
        Digest of the templates of the page.
    code : str
        Digest of the files of ledgerframes.
    snapshot : str
        Digest of all segments of the window.
    history : str
        Digest of the weeks before. Empty without usual ranges.
    segments : list of SegmentContent
        The segments of the window.
    """

    notebook: str
    page: str
    code: NotRequired[str]


class ServiceVersions(TypedDict):
    """Versions of one API.

    Attributes
    ----------
    met : dict of str to str
        Version that each host runs, by host. Only hosts that this run sent requests to.
    tried : list of str
        Versions that this release was tried with, in ascending order.
    """

    met: dict[str, str]
    tried: list[str]


# -- the whole content ------------------------------------------------------------------------------------------------------


class WindowFacts(TypedDict):
    """Members of :class:`RunContent` that are measured from the window."""

    headline: NotRequired[Headline]
    quality: Quality
    attention: NotRequired[Attention | None]
    days: NotRequired[list[DayTotals]]
    problems: list[Problem]
    missing_before: list[str]
    extra_members: list[str]
    new_kinds: list[str]


class RunFacts(WindowFacts):
    """Members of :class:`RunContent` that are known before the notebook runs."""

    report: str
    network: str
    window: Bounds
    parameters: dict[str, Parameter]
    requirements: RequirementsContent
    coverage: CoverageContent
    key_figures: NotRequired[list[KeyFigure]]
    summary: list[Statement]
    versions: Versions
    inputs: Inputs
    digest: NotRequired[str]


class RunContent(RunFacts):
    """Content of ``run.json``.

    Attributes
    ----------
    report : str
        Name of the report.
    network : str
        Name of the network.
    window : Bounds
        Window of record times.
    parameters : dict of str to (str or int or float or bool or None)
        Value of each parameter of the report, by name.
    requirements : RequirementsContent
        Requirements on the data.
    coverage : CoverageContent
        Coverage of the window.
    key_figures : list of KeyFigure
        Figures that the page opens with.
    summary : list of Statement
        Sentences that the page opens with.
    headline : dict of str to (int or float or None)
        Value of each headline figure, by name. None if it is unknown.
    quality : Quality
        Quality of the data, in words.
    attention : Attention or None
        Findings of the window, in words. None if the weeks before are not in the store, and without usual ranges.
    days : list of DayTotals
        Totals of each day of the window.
    problems : list of Problem
        Rows and values that the figures exclude, by problem and table.
    missing_before : list of str
        Windows before this one that are not in the store and can contain a first verdict.
    extra_members : list of str
        JSON members in rows that this version does not know, with their table.
    new_kinds : list of str
        Values in rows that this version does not know, with their table and column.
    versions : Versions
        Versions of Python and of packages.
    inputs : Inputs
        Digests of the inputs.
    digest : str
        Digest of everything that determines the page. It ends in ``-report.pdf`` if the page is printed, too.
    key : str
        Name of the directory of the run, from its window and a digest.
    request_count : int
        Number of HTTP requests that loaded the data.
    services : dict of str to ServiceVersions
        Versions of each API, by its name.
    response_members : dict of str to str
        JSON members around rows that this version does not know: the first value of each, by operation and path.
    tables : list of str
        Names of the tables in ``tables/``, in alphabetical order.
    created_at : str
        Time when the page was written.
    seconds : dict of str to float
        Duration of each step in seconds, by its name.
    """

    key: str
    request_count: int
    services: dict[Api, ServiceVersions]
    response_members: dict[str, str]
    tables: list[str]
    created_at: str
    seconds: dict[str, float]
