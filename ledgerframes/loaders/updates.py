"""Loading a participant's ledger: transactions, reassignments and topology transactions by offset."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from ledgerframes.api.update_format import update_format
from ledgerframes.datasets import LEDGER_TABLES
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders import by_offset
from ledgerframes.loaders.gathering import UNTIL_INTERRUPTED
from ledgerframes.network import Network

__all__ = ["load_updates"]

TABLE_NAMES = tuple(table.name for table in LEDGER_TABLES)


def load_updates(
    net: Network,
    *,
    after: int | None = None,
    through: int | None = None,
    parties: Sequence[str] | Literal["any"] | None = None,
    templates: Sequence[str] = (),
    interfaces: Sequence[str] = (),
    blobs: bool = False,
    topology: bool | Sequence[str] = True,
    shape: Literal["acs_delta", "ledger_effects"] = "acs_delta",
    descending: bool = False,
    page_size: int | None = None,
    follow: bool = False,
    poll_seconds: float = 5.0,
    progress: bool | None = None,
) -> Frames:
    """Load a participant's ledger: what the store lacks is fetched and kept, then everything is read from the store.

    Parameters
    ----------
    net : Network
    after, through : int, optional
        Offsets with ``after < offset <= through``; by default the whole ledger up to its end now.
    parties : sequence of str, or "any", optional
        Whose view; by default any party of the participant, which needs the right to read as any.
    templates, interfaces : sequence of str
        Only contracts of these, such as ``#package-name:Module:Entity``; by default all.
    blobs : bool
        Ask for created-event blobs, several kB a row.
    topology : bool or sequence of str
        Whether to show changes of permissions, or of which parties.
    shape : {"acs_delta", "ledger_effects"}
        Creates and archives that change the active contracts, or all creates and exercises with their tree.
    descending : bool
        Read from the end; the frames are the same.
    page_size : int, optional
        Updates a page; by default that of the profile.
    follow : bool
        After that, keep reading what the ledger adds, until interrupted; the next run goes on from there.
    poll_seconds : float
        Seconds to wait, when following, after a page without updates.
    progress : bool, optional
        Show a progress bar; by default in terminals and notebooks.

    Returns
    -------
    Frames
        ``ledger_updates``, ``ledger_events``, ``ledger_reassignments`` and ``ledger_topology``, sorted by offset.

    Raises
    ------
    UsageError
        If the offsets or filters make no sense.
    PrunedOffsetError
        If ``after`` lies below the pruning offset; without ``after`` the lost part is a gap in ``frames.coverage``.
    StoreError
        If another participant answers than the one in the store, or its ledger was reset.
    CoverageError
        If the network is offline and the store does not hold all of it.

    Notes
    -----
    Source: POST /v2/updates/get-updates-page, docs/facts.md#update-pages. Ledger pages hold committed updates only, so they never
    show a rejection (docs/facts.md#survivorship).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_updates(net, through=500, shape="ledger_effects")
    >>> frames.tables
    ('ledger_updates', 'ledger_events', 'ledger_reassignments', 'ledger_topology')
    """
    if follow and (through is not None or descending or poll_seconds <= 0):
        raise UsageError("Following has no end and one direction: leave out through and descending, and wait some seconds.")
    wanted = update_format(
        parties=parties, templates=templates, interfaces=interfaces, blobs=blobs, shape=shape, topology=topology
    )
    view = by_offset.open_view(net, wanted)
    start, stop = by_offset.checked_bounds(net, view, after, through)
    asked = view.span(start, stop)
    if net.offline:
        by_offset.require_stored(net, asked)
    else:
        size = net.settings.limits.page_size if page_size is None else page_size
        by_offset.sync(net, view, asked, size, explicit=after is not None, descending=descending, progress=progress)
    if follow:
        stop = _followed(net, view, stop, poll_seconds)
    return Frames(net.store.snapshot(LEDGER, view.span(start, stop)), TABLE_NAMES, offsets=(start, stop))


def _followed(net: Network, view: by_offset.LedgerView, after: int, poll_seconds: float) -> int:
    """Follow the tail in a thread until interrupted; give the offset that was reached."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(by_offset.follow, net, view, after, poll_seconds, stop)
        try:
            return following.result(UNTIL_INTERRUPTED)
        except KeyboardInterrupt:
            stop.set()
            return following.result(UNTIL_INTERRUPTED)
        finally:
            stop.set()
