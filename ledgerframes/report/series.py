"""Links between the published pages of a directory.

They lead to the other reports of the window, and to the windows before and after.

A page cannot know the pages that follow it. So each run rewrites the links of its neighbors, but nothing else on their pages.
"""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from ledgerframes.report.links import Links, Published, render_links, render_weekly_link
from ledgerframes.report.page import LINKS_END, LINKS_START, WEEKLY_LINK_END, WEEKLY_LINK_START
from ledgerframes.report.publish import PAGE, ReportDir, replace_text
from ledgerframes.report.registry import REPORTS
from ledgerframes.report.runs import report_names
from ledgerframes.values.windows import Window

logger = logging.getLogger("ledgerframes")
HEAD_BYTES = 2**18  # of a page, which hold its links


def write_links(out: Path) -> None:
    """Write the links of each published page again that have changed.

    Parameters
    ----------
    out : Path
        Directory of all reports.
    """
    runs = list(_published(out))
    newest = NewestRuns(runs)
    for run in runs:
        page = out / run.report / run.key / PAGE
        try:
            _replace_links(page, newest.links_of(run))
        except OSError as problem:
            # The page itself is there, which matters more.
            logger.warning("links_not_written path=%s error=%s", page, problem.strerror)


class NewestRuns:
    """The newest of the runs over each window, found by window and by series."""

    def __init__(self, runs: Iterable[Published]) -> None:
        newest = {(each.series, each.window.since): each for each in sorted(runs, key=lambda each: (each.created_at, each.key))}
        self._by_window: dict[tuple[str, Window], list[Published]] = defaultdict(list)
        self._by_series: dict[tuple[str, str, object], list[Published]] = defaultdict(list)
        for each in sorted(newest.values(), key=lambda each: each.window.since):
            self._by_window[each.network, each.window].append(each)
            self._by_series[each.series].append(each)

    def links_of(self, run: Published) -> Links:
        """Return the links of the page of a run."""
        same, series = self._by_window[run.network, run.window], self._by_series[run.series]
        links = {each.report: each.link for each in same} | {run.report: None}
        before = bisect_right(series, run.window.since, key=lambda each: each.window.until)
        after = bisect_left(series, run.window.until, key=lambda each: each.window.since)
        return Links(
            tabs=[(name, links[name]) for name in sorted(links, key=position)],
            before=series[before - 1] if before else None,
            after=series[after] if after < len(series) else None,
        )


def position(report: str) -> tuple[int, str]:
    """Return the position of a report among all, with users' reports last."""
    names = ["weekly", *(name for name in REPORTS if name != "weekly")]
    return (names.index(report) if report in names else len(names)), report


def _published(out: Path) -> Iterator[Published]:
    for name in report_names(out):
        for key, run in ReportDir(out, name).published_runs().items():
            yield Published(name, key, run["network"], Window.from_dict(run["window"]), run["created_at"])


def _replace_links(page: Path, links: Links) -> None:
    """Replace the links of a page, unless it has none or they are the same."""
    parts = ((LINKS_START, render_links(links), LINKS_END), (WEEKLY_LINK_START, render_weekly_link(links), WEEKLY_LINK_END))
    with page.open("rb") as file:
        head = file.read(HEAD_BYTES).decode("utf-8", errors="ignore")
    changed = [part for part in parts if part[0] in head and part[1] not in head]
    if not changed:
        return
    text = page.read_text(encoding="utf-8")
    for start, part, end in changed:
        before, _, rest = text.partition(start)
        text = before + part + rest.partition(end)[2]
    replace_text(page, text)
