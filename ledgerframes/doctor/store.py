"""Checks of the store and the journal of offers."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from ledgerframes.doctor.checks import Check, Result, run_check
from ledgerframes.network import Network
from ledgerframes.store import Location
from ledgerframes.store.scan import REPAIR_STEP
from ledgerframes.texts.representation import pluralize
from ledgerframes.wallet import Journal

MIN_FREE_BYTES = 1_000_000_000
PROBE = "ledgerframes-doctor-probe"


def check_store(net: Network) -> list[Check]:
    """Check catalog and journal, and that the store can be written."""
    location = net.store.location
    return [
        run_check("store", "catalog", lambda: _catalog(net)),
        run_check("store", "journal", lambda: _journal(Journal(net.local_dir))),
        run_check("store", "writable", lambda: _location(location)),
    ]


def _location(location: Location) -> Result:
    """Check that the store's root can be written."""
    return _writable(location.local_path) if location.local_path else _object_store(location)


def _catalog(net: Network) -> Result:
    """Check the catalog file, and the record of each segment."""
    if problems := net.store.catalog.problems():
        return "failed", f"The catalog is damaged: {'; '.join(problems)}.", "Run `ledgerframes store rebuild`."
    unreadable = [each for dataset in net.store.datasets.values() for each in net.store.unreadable(dataset)]
    if unreadable:
        message = f"{pluralize(len(unreadable), 'segment')} of another version, the first is {unreadable[0].name}"
        return "warning", f"Cannot read {message} ({unreadable[0].reason}).", REPAIR_STEP
    segments = net.store.all_segments()
    return "ok", f"Intact. Segments: {len(segments):,}." if segments else "The store is empty."


def _journal(journal: Journal) -> Result:
    """Check the journal of offers, which ensures that no offer is made twice."""
    problems, offers = journal.problems(), len(journal.offers())
    if problems:
        step = f"Restore {journal.path} from a backup. Without it, an offer could be made twice."
        return "failed", f"The journal of offers is damaged: {'; '.join(problems)}.", step
    return "ok", f"Intact. Offers: {offers:,}." if journal.path.exists() else "No offers were made."


def _object_store(location: Location) -> Result:
    """Check that a small object can be written and deleted."""
    with location.write(PROBE) as file:
        file.write(b"ledgerframes doctor")
    location.remove(PROBE)
    return "ok", f"{location}."


def _writable(directory: Path) -> Result:
    """Check the directory, or its nearest parent if no write has created it yet."""
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=existing, prefix=".ledgerframes-doctor-"):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        step = "Set LEDGERFRAMES_STORE, or store in the profile, to a writable directory."
        return "failed", f"Cannot write {existing}: {error.strerror or error}.", step
    message = f"{directory}, {free / 1e9:,.1f} GB free."
    if free < MIN_FREE_BYTES:
        return "warning", message, "Free disk space, or move the store with LEDGERFRAMES_STORE."
    return "ok", message
