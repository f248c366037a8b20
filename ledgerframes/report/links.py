"""Links of a published page to other reports, and to the windows before and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote

from ledgerframes.report.page import LINKS_END, LINKS_START, WEEKLY_LINK_END, WEEKLY_LINK_START, render_template
from ledgerframes.report.publish import PAGE
from ledgerframes.values.windows import Window


@dataclass(frozen=True)
class Published:
    """A published run, as links need it."""

    report: str
    key: str
    network: str
    window: Window
    created_at: str

    @property
    def link(self) -> str:
        """Relative address from the page of another run."""
        return f"../../{quote(self.report)}/{quote(self.key)}/{PAGE}"

    @property
    def series(self) -> tuple[str, str, object]:
        """Report, network and length, which windows that follow each other share."""
        return self.report, self.network, self.window.until - self.window.since


@dataclass
class Links:
    """Links of one page, each to the newest run of its window, None where there is none."""

    tabs: list[tuple[str, str | None]] = field(default_factory=list)  # of each report of the window, None for its own
    before: Published | None = None
    after: Published | None = None


def render_links(links: Links) -> str:
    """Return the part of a page that has its links to other pages."""
    return render_template("links.html.j2", links=links, start=LINKS_START, end=LINKS_END).strip()


def render_weekly_link(links: Links) -> str:
    """Return the part of a page that has its link to the findings of the weekly report."""
    link, start, end = dict(links.tabs).get("weekly"), WEEKLY_LINK_START, WEEKLY_LINK_END
    return render_template("weekly_link.html.j2", link=link, start=start, end=end).strip()
