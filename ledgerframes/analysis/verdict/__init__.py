"""Outcomes, latency and rejections of verdicts, and the parties that confirm.

A request is a verdict, an update or a traffic summary, whichever of them exist. Requests without a verdict count in
``requests`` and lower the ``coverage``. They are neither accepted nor rejected here, although an update that exists was
accepted: the rejected requests of the same time are not visible, so a rate would suffer from survivorship.

Latency is ``finalization_time`` minus ``record_time``, as observed by the host that was read. Hosts differ, so compare medians
across hosts, not single rows. ``effective_at`` can be before ``record_time`` and is never used.
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
