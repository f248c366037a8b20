"""Events by id: looked up one by one over a bounded pool; an id that the service does not know is never stored."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pandas as pd

from ledgerframes.api.transport import Response
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.wire import Event, header_of
from ledgerframes.errors import CoverageError, DecodeError, NotFoundError, UsageError
from ledgerframes.extents import IdSet, microseconds
from ledgerframes.loaders.gathering import UNTIL_INTERRUPTED
from ledgerframes.loaders.listing import place
from ledgerframes.loaders.progress import Progress
from ledgerframes.network import Network

logger = logging.getLogger("ledgerframes")

IDS_PER_SEGMENT = 500
UNKNOWN_ROUTE = "The requested resource could not be found"


def checked(update_ids: Iterable[str]) -> list[str]:
    """The ids once each, in the order given.

    Raises
    ------
    UsageError
        If one of them cannot be an id.
    """
    if isinstance(update_ids, str):
        raise UsageError("update_ids must be a list of ids, not one text.")
    ids = list(dict.fromkeys(update_ids))
    strange = [
        update_id for update_id in ids if not isinstance(update_id, str) or not update_id.strip() or not _is_text(update_id)
    ]
    if strange:
        raise UsageError(f"{strange[0]!r} is not an update id.")
    return ids


def _is_text(update_id: str) -> bool:
    """Whether it can be sent at all: half a surrogate pair cannot."""
    return update_id.encode("utf-8", "ignore").decode() == update_id


def plan(net: Network, update_ids: list[str]) -> pd.DataFrame:
    """What would be looked up: one row per id."""
    return pd.DataFrame({"update_id": pd.Series(net.store.missing_ids(EVENTS_BY_ID, update_ids), dtype="str")})


def require_stored(net: Network, update_ids: list[str]) -> None:
    """Offline, an id that the store lacks is an error; provisional rows are served.

    Raises
    ------
    CoverageError
        If an id is not in the store.
    """
    missing = net.store.missing_ids(EVENTS_BY_ID, update_ids, provisional=True)
    if missing:
        some = ", ".join(missing[:3])
        raise CoverageError(
            f"{net.name} is offline and the store lacks {len(missing)} of {len(update_ids)} ids ({some}). "
            "Run again without offline.",
            missing=tuple(missing),
        )


def sync(net: Network, update_ids: list[str], id_source: str = "user", progress: bool | None = None) -> list[str]:
    """Look up the ids that the store lacks, and commit them in batches.

    Returns
    -------
    list of str
        The ids that the service does not know.
    """
    missing = net.store.missing_ids(EVENTS_BY_ID, update_ids)
    unknown: list[str] = []
    with (
        Progress(f"{net.name} ids", len(missing), progress) as bar,
        ThreadPoolExecutor(net.settings.limits.max_concurrency) as pool,
    ):
        for start in range(0, len(missing), IDS_PER_SEGMENT):
            asked = missing[start : start + IDS_PER_SEGMENT]
            lookups = {update_id: pool.submit(_look_up, net, update_id) for update_id in asked}
            wait(lookups.values(), UNTIL_INTERRUPTED)
            # What was found is kept, also when another look-up failed.
            answered = {update_id: lookup.result() for update_id, lookup in lookups.items() if lookup.exception() is None}
            _commit(net, [answer for answer in answered.values() if answer is not None], id_source)
            unknown += [update_id for update_id, answer in answered.items() if answer is None]
            bar.advance(len(asked))
            for lookup in lookups.values():
                lookup.result()
    if unknown:
        logger.warning("%s does not know %d of %d ids", net.name, len(unknown), len(missing))
    return unknown


Found = tuple[Event, str]  # an event, and the host that answered


def _look_up(net: Network, update_id: str) -> Found | None:
    try:
        answer: Response = net.history.event_response(update_id)
    except NotFoundError as error:
        if UNKNOWN_ROUTE in error.detail:
            raise
        return None
    event = net.history.decode_event(answer)
    found = header_of(event)[2]
    if found != update_id:
        raise DecodeError(f"Asked for {update_id}, {answer.host} answered with {found}.", json_path="$..update_id")
    return event, answer.host


def _commit(net: Network, found: list[Found], id_source: str) -> None:
    """Commit events as final when nothing more can come, as provisional otherwise.

    A service that is still loading its history answers with a part of an event and no warning
    (docs/facts.md#history-not-ready), so only an event
    with verdict and traffic is final.
    """
    final_before = microseconds(net.now() - timedelta(minutes=net.settings.limits.provisional_minutes))
    groups: dict[tuple[bool, str], list[Event]] = {}
    for event, host in found:
        is_whole = event.verdict is not None and event.traffic_summary is not None
        groups.setdefault((is_whole and place(event)[1] < final_before, host), []).append(event)
    for (final, host), events in groups.items():
        ids = IdSet(frozenset(header_of(event)[2] for event in events))
        net.store.commit(EVENTS_BY_ID, ids, event_tables(events, id_source), final=final, source=host)
