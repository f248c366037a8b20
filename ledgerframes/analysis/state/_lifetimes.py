"""Lifetimes of the network's contracts, from transaction trees and a snapshot.

Anybody can upload a package with the same module and template names. A contract belongs to the network only if its template
and package names match and the network's party signs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pandas as pd

from ledgerframes.analysis.arguments import Snapshot, SnapshotTable, base_table, require_signer
from ledgerframes.analysis.coverage import incomplete_windows
from ledgerframes.analysis.state.payloads import GOVERNANCE, decoded, list_of
from ledgerframes.datasets.reference.build import member
from ledgerframes.datasets.templates import COIN_RULES, DSO_RULES, FEATURED_APP_RIGHT, OPEN_ROUND
from ledgerframes.engine import Query, run
from ledgerframes.engine.lifetimes import LIFETIMES
from ledgerframes.errors import CoverageError, IntegrityError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window, iso

SNAPSHOT_COLUMNS = ["created_at", "contract_id", "signatories", "template_name", "package_name", "create_arguments"]
UNSIGNED, UNREADABLE = "not signed by the network", "unreadable payload"


def read_lifetimes(frames: Frames, base: Snapshot | None) -> pd.DataFrame:
    """Return the contracts of four templates, in the frames and in an earlier snapshot.

    Each contract has ``template`` in neutral words (empty for another package), ``payload`` (None if it cannot be read),
    ``from``, ``until``, ``known_until``, ``effective_from`` and ``effective_until`` (ledger effective times), ``source``, and
    ``reason`` (empty if it counts). Contracts that ended before ``known_from`` can be absent (missing if all are known).
    """
    require_no_chosen_updates(frames)
    older = base_table(base, SNAPSHOT_COLUMNS)
    created = run(frames, lifetimes_query(older)).rename(columns={"since": "from"})
    names = ("template_name", "package_name", "create_arguments")
    facts = [template_and_payload(*row) for row in zip(*(created[name] for name in names), strict=True)]
    created[["template", "payload"]] = pd.DataFrame(facts, created.index, ["template", "payload"], dtype="object")
    created["reason"] = _reasons(created)
    if (is_older := created["source"] == "snapshot").any():
        require_rules(created[is_older])
        rounds = created[~is_older & (created["template"] == OPEN_ROUND)]
        require_signer(_parties_of_rules(created), map(list_of, rounds["signatories"]))
    created["known_from"] = pd.Series(_start_of_state(frames, created, older.time), created.index, "datetime64[us, UTC]")
    created["known_until"] = pd.Series(_end(frames), created.index, "datetime64[us, UTC]")
    return created[created["from"] != created["until"]].reset_index(drop=True)


def lifetimes_query(older: SnapshotTable) -> Query:
    """Return the query of all lifetimes, those of the history first."""
    select = "SELECT *\nFROM lifetimes\nORDER BY source, CASE WHEN source = 'history' THEN since END, contract_id"
    return Query(select, (LIFETIMES,), older.parameters, older.sources)


def of_template(lifetimes: pd.DataFrame, template: str) -> pd.DataFrame:
    """Return the lifetimes of one template that are the network's, with or without a payload."""
    return lifetimes[(lifetimes["template"] == template) & lifetimes["reason"].isin(["", UNREADABLE])]


# -- own contracts ------------------------------------------------------------------------------------------------------


def template_and_payload(template_name: str, package_name: object, text: object) -> tuple[str, dict[str, Any] | None]:
    """Return the neutral template of a contract (none for another package) and its payload."""
    package = package_name if isinstance(package_name, str) else ""
    coin = package.removeprefix("splice-") if package.startswith("splice-") and package != GOVERNANCE else ""
    names = (
        {name.replace("Coin", coin.capitalize()): name for name in (OPEN_ROUND, FEATURED_APP_RIGHT, COIN_RULES)} if coin else {}
    )
    template = ({DSO_RULES: DSO_RULES} if package == GOVERNANCE else names).get(template_name, "")
    payload = decoded(text, coin)
    return template, payload if isinstance(member(payload, "dso"), str) else None


def _parties_of_rules(created: pd.DataFrame) -> set[str]:
    """Return the parties that are the only signatories of rules and are named in them."""
    rules = created[created["template"] == DSO_RULES]
    pairs = zip(map(list_of, rules["signatories"]), rules["payload"], strict=True)
    return {payload["dso"] for signers, payload in pairs if payload and signers == [payload["dso"]]}


def _reasons(created: pd.DataFrame) -> pd.Series:
    """Return why each contract does not count, or counts only in part.

    The network's party is the only signatory of its rules, and is named in them.
    """
    contracts = list(zip(created["template"], map(list_of, created["signatories"]), created["payload"], strict=True))
    parties = _parties_of_rules(created)
    if len(parties) > 1:
        names = ", ".join(sorted(parties))
        raise IntegrityError(
            f"Rules of the network are signed by {len(parties)} parties: {names}. Pass the history of one of them."
        )
    reasons = []
    for template, signers, payload in contracts:
        if not template:
            reasons.append("other package")
        elif parties.isdisjoint(signers):
            reasons.append(UNSIGNED)
        else:
            reasons.append(UNREADABLE if payload is None else "")
    return pd.Series(reasons, created.index, "str")


def require_rules(contracts: pd.DataFrame) -> None:
    """Raise a UsageError if a snapshot has no rules, because then no contract counts."""
    has_rules = ((contracts["template"] == DSO_RULES) & (contracts["reason"] != UNSIGNED)).any()
    if not has_rules:
        raise UsageError(
            "The snapshot has no rules of the network, which name the party that signs its contracts. "
            "Pass the result of lf.load_contracts(net, at=…) without templates=."
        )


# -- required history ---------------------------------------------------------------------------------------------------


def require_no_chosen_updates(frames: Frames) -> None:
    """Raise a CoverageError for frames of chosen updates, which can miss an archival."""
    if frames._filter.has_chosen_ids:
        raise CoverageError(
            "Chosen updates do not hold the state of the network. "
            "Pass the tables of lf.state.tables(frames) from before where(), or from a load by time.",
            missing=("all updates of the window",),
        )


def _start_of_state(frames: Frames, created: pd.DataFrame, snapshot_time: datetime | None) -> pd.Timestamp | None:
    """Return the time from which all contracts are known.

    None stands for the start of the network.

    Raises
    ------
    CoverageError
        If a full state or a later change is not known.
    """
    has_snapshot = snapshot_time is not None and (created["source"] == "snapshot").any()
    starts = _starts_of_network(created)
    if starts.empty and not has_snapshot:
        raise _start_error(frames)
    known_from = None
    if snapshot_time is not None and has_snapshot and (starts.empty or any(_holes(frames, starts.min()))):
        _require_base_before(frames, snapshot_time)
        known_from = pd.Timestamp(snapshot_time)
    since = starts.min() if known_from is None else known_from
    missing = list(_holes(frames, since))
    if missing:
        raise CoverageError(
            f"The state of the network needs history that these frames do not cover: {', '.join(missing)}. "
            f'Load since="{iso(since.to_pydatetime())}", or pass base=lf.load_contracts(net, at=…) and later frames.',
            missing=tuple(missing),
        )
    return known_from


def _require_base_before(frames: Frames, snapshot_time: datetime) -> None:
    """Raise a UsageError if the frames start before the snapshot."""
    if frames.window is not None and frames.window.since < snapshot_time:
        since, time = iso(frames.window.since), iso(snapshot_time)
        raise UsageError(
            f"base= must be from {since}, the start of the frames, or before, got a snapshot of {time}. "
            "Pass an earlier one, or narrow the frames with between()."
        )


def _starts_of_network(created: pd.DataFrame) -> pd.Series:
    """Return the times of rules in the history that replace no others."""
    rules = created[(created["template"] == DSO_RULES) & (created["reason"] != UNSIGNED) & (created["source"] == "history")]
    times: pd.Series = rules.loc[~rules["replaces_rules"].fillna(value=False).astype(bool), "from"]
    return times


def _start_error(frames: Frames) -> CoverageError:
    earliest, time = "the first update", "…"
    if frames.window:
        earliest, time = iso(frames.window.since), iso(_snapshot_time(frames.window.since))
    step = "Pass" if time in (earliest, "…") else f'Load since="{time}", the time of a snapshot, and pass'
    return CoverageError(
        f"The state of the network before {earliest} is unknown, because rights live for years. "
        f'{step} base=lf.load_contracts(net, at="{time}"), or load since="0001-01-01".',
        missing=(f"history before {earliest}",),
    )


def _snapshot_time(time: datetime) -> datetime:
    """Return the latest time of a snapshot. Services take one every three hours."""
    return time.replace(hour=time.hour - time.hour % 3, minute=0, second=0, microsecond=0)


def _end(frames: Frames) -> pd.Timestamp | None:
    """Return the end of the time that the frames cover, or None if they have no times."""
    ends = frames.coverage["until"].dropna()
    if frames.window is None or ends.empty:
        return None
    return min(pd.Timestamp(frames.window.until), pd.Timestamp(ends.max()))


def _holes(frames: Frames, since: pd.Timestamp) -> Iterator[str]:
    """Yield the windows after the start that the frames do not cover."""
    until = _end(frames)
    if until is not None and since < until:
        needed = Window(since.to_pydatetime(), until.to_pydatetime())
        yield from map(str, incomplete_windows(frames, needed)[0])
