"""Outcomes, latency and rejections of verdicts, and the parties that confirm.

A request has a verdict, an update or a traffic summary, or several of these. Requests without a verdict count in ``requests``
and lower the ``coverage``. Here they are neither accepted nor rejected, although an existing update was accepted: the
rejected requests of the same time are not visible, so a rate would suffer from survivorship.

Latency is ``finalization_time`` minus ``record_time``, as observed by the host that returned the rows. Hosts differ, so
compare medians between hosts, not single rows. ``effective_at`` can be before ``record_time`` and is never used.
"""

from __future__ import annotations

from ledgerframes.analysis.verdict._head_of_line import head_of_line, head_of_line_victims
from ledgerframes.analysis.verdict._latency import latency
from ledgerframes.analysis.verdict._outcomes import outcomes
from ledgerframes.analysis.verdict._quorums import quorums
from ledgerframes.analysis.verdict._rejections import rejections
from ledgerframes.analysis.verdict._waited_for import waited_for

__all__ = ["head_of_line", "head_of_line_victims", "latency", "outcomes", "quorums", "rejections", "waited_for"]


def __dir__() -> list[str]:
    return __all__
