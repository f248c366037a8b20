"""Lifetimes of the network's contracts, from transaction trees and a snapshot.

Anybody can upload a package with the same module and template names. A contract is one of the network only if its template and
package names match and the network's own party signs it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._coverage import windows_of
from ledgerframes.analysis._requests import positions, take_or_missing
from ledgerframes.analysis._snapshots import Snapshot, snapshot_rows
from ledgerframes.datasets import table
from ledgerframes.errors import CoverageError, IntegrityError
from ledgerframes.frames import Frames
from ledgerframes.windows import Window, iso

GOVERNANCE = "splice-dso-governance"
RULES = "DsoRules"
TEMPLATES = {
    "DsoRules": "Splice.DsoRules:DsoRules",
    "OpenMiningRound": "Splice.Round:OpenMiningRound",
    "FeaturedAppRight": "Splice.{Coin}:FeaturedAppRight",
    "CoinRules": "Splice.{Coin}Rules:{Coin}Rules",
}
ANY_TEMPLATE = r"^Splice\.(DsoRules:DsoRules|Round:OpenMiningRound|\w+:FeaturedAppRight|\w+Rules:\w+Rules)$"
CREATE_COLUMNS = [
    "update_id",
    "record_time",
    "created_at",
    "contract_id",
    "template_name",
    "package_name",
    "signatories",
    "create_arguments",
]
SNAPSHOT_COLUMNS = [name for name in CREATE_COLUMNS if name not in ("update_id", "record_time")]


@dataclass(frozen=True)
class Contract:
    """One contract with its payload and the network's own word for its coin."""

    kind: str
    coin: str
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Lifetimes:
    """All contracts of the four kinds, each with the time from its create to its archival."""

    # One row per contract: ``contract_id``, ``kind``, ``coin``, ``from`` and ``until``, ``effective_from`` and
    # ``effective_until`` (ledger effective times), ``source`` and ``reason`` (empty if the contract counts).
    rows: pd.DataFrame
    payloads: list[dict[str, Any] | None]  # the payload of each row, None if it cannot be read

    def of_kind(self, kind: str) -> Iterator[tuple[int, Contract | None]]:
        """Yield row and contract of each own contract, None if its payload cannot be read."""
        for number in np.flatnonzero((self.rows["kind"] == kind) & self.is_own):
            payload, coin = self.payloads[number], str(self.rows["coin"].iloc[number])
            yield int(number), None if payload is None else Contract(kind, coin, payload)

    @cached_property
    def is_own(self) -> pd.Series:
        """Whether each contract is one of the network."""
        return self.rows["reason"].isin(["", "unreadable payload"])


def read_lifetimes(frames: Frames, base: Snapshot | None) -> Lifetimes:
    """Return the network's contracts in the frames, and those of a snapshot before them."""
    older = None if base is None else snapshot_rows(base, "base", SNAPSHOT_COLUMNS)
    created = _creates(frames) if older is None else pd.concat([_creates(frames), _from_snapshot(older)])
    created = created.drop_duplicates("contract_id", ignore_index=True)
    archived = _archivals(frames, created["contract_id"])
    indexes = positions(created["contract_id"], archived["contract_id"])
    for name in ("until", "effective_until"):
        created[name] = take_or_missing(archived[name], indexes)
    payloads = [_payload(text) for text in created["create_arguments"]]
    created["kind"], created["coin"] = _kinds(created)
    created["reason"] = _reasons(created, payloads, _own_party(created, payloads))
    _require_start(frames, created, archived, older)
    never_lived = (created["from"] == created["until"]).to_numpy()
    rows = created[~never_lived].reset_index(drop=True)
    return Lifetimes(rows, [payload for payload, is_short in zip(payloads, never_lived, strict=True) if not is_short])


# -- creates and archivals ----------------------------------------------------------------------------------------------


def _creates(frames: Frames) -> pd.DataFrame:
    is_one = pc.match_substring_regex(pc.field("template_name"), pattern=ANY_TEMPLATE)
    nodes = frames.scan("tree_events").filter((pc.field("event_type") == "created_event") & is_one)
    rows = table("tree_events").to_pandas(nodes.to_table(columns=CREATE_COLUMNS)).sort_values(["record_time", "contract_id"])
    rows = rows.rename(columns={"record_time": "from", "created_at": "effective_from"})
    return rows.assign(source="history")


def _from_snapshot(older: pd.DataFrame) -> pd.DataFrame:
    rows = older.loc[older["template_name"].str.fullmatch(ANY_TEMPLATE.strip("^$")), SNAPSHOT_COLUMNS]
    rows = rows.rename(columns={"created_at": "from"}).sort_values("contract_id")
    return rows.assign(effective_from=rows["from"], source="snapshot", update_id=pd.Series(pd.NA, rows.index, "str"))


def _archivals(frames: Frames, contract_ids: pd.Series) -> pd.DataFrame:
    """Return the first consuming exercise of each of these contracts, and of all rules."""
    is_one = pc.field("contract_id").isin(pa.array(contract_ids.tolist(), pa.string()))
    is_one = pc.field("consuming") & (is_one | (pc.field("template_name") == TEMPLATES[RULES]))
    columns = ["contract_id", "record_time", "update_id", "template_name"]
    nodes = frames.scan("tree_events").filter(is_one).to_table(columns=columns)
    rows = table("tree_events").to_pandas(nodes).rename(columns={"record_time": "until"})
    rows = rows.sort_values(["until", "update_id"]).drop_duplicates("contract_id", ignore_index=True)
    updates = frames.read("updates", ["update_id", "effective_at"])
    rows["effective_until"] = take_or_missing(updates["effective_at"], positions(rows["update_id"], updates["update_id"]))
    return rows


# -- own contracts ------------------------------------------------------------------------------------------------------


def _payload(text: object) -> dict[str, Any] | None:
    """Return the members of a payload by name, or None if it cannot be read."""
    if not isinstance(text, str):
        return None
    try:
        payload = json.loads(text, parse_float=str)
    except ValueError:
        return None
    return payload if isinstance(payload, dict) and isinstance(payload.get("dso"), str) else None


def _kinds(created: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return kind and coin word of each contract, no kind if template and package differ."""
    kinds, coins = [], []
    for template_name, package_name in zip(created["template_name"], created["package_name"], strict=True):
        package = package_name if isinstance(package_name, str) else ""
        coin = package.removeprefix("splice-") if package.startswith("splice-") and package != GOVERNANCE else ""
        names = {TEMPLATES[RULES]: RULES} if package == GOVERNANCE else _coin_templates(coin)
        kinds.append(names.get(template_name, ""))
        coins.append(coin)
    return pd.Series(kinds, created.index, "str"), pd.Series(coins, created.index, "str")


def _coin_templates(coin: str) -> dict[str, str]:
    names = {name.format(Coin=coin.capitalize()): kind for kind, name in TEMPLATES.items() if kind != RULES}
    return names if coin else {}


def _own_party(created: pd.DataFrame, payloads: list[dict[str, Any] | None]) -> str | None:
    """Return the party that alone signs the network's rules and is named in them."""
    rows = zip(created["kind"], created["signatories"], payloads, strict=True)
    parties = {
        payload["dso"] for kind, signers, payload in rows if kind == RULES and payload and [payload.get("dso")] == _list(signers)
    }
    if len(parties) > 1:
        names = ", ".join(sorted(parties))
        raise IntegrityError(
            f"Rules of the network are signed by {len(parties)} parties: {names}. Pass the network's state as frames."
        )
    return next(iter(parties), None)


def _reasons(created: pd.DataFrame, payloads: list[dict[str, Any] | None], dso: str | None) -> pd.Series:
    reasons = []
    for kind, signers, payload in zip(created["kind"], created["signatories"], payloads, strict=True):
        if not kind:
            reasons.append("other package")
        elif dso is None or dso not in _list(signers):
            reasons.append("not signed by the network")
        else:
            reasons.append("unreadable payload" if payload is None else "")
    return pd.Series(reasons, created.index, "str")


def _list(values: Any) -> list[str]:
    return [] if values is None or isinstance(values, float) else [str(value) for value in values]


# -- required history ---------------------------------------------------------------------------------------------------


def _require_start(frames: Frames, created: pd.DataFrame, archived: pd.DataFrame, older: pd.DataFrame | None) -> None:
    """Raise a CoverageError unless a full state is known, and every later change."""
    rules = created[(created["kind"] == RULES) & (created["reason"] != "not signed by the network")]
    if older is not None and (created["source"] == "snapshot").any():
        since = older["snapshot_time"].iloc[0]
    else:
        replaced_in = archived.loc[archived["template_name"] == TEMPLATES[RULES], "update_id"]
        first = rules[~rules["update_id"].isin(replaced_in)]  # no rules before them
        if first.empty:
            raise _start_error(frames)
        since = first["from"].min()
    missing = list(_holes(frames, since))
    if missing:
        raise CoverageError(
            f"The state of the network needs history that these frames do not cover: {', '.join(missing)}. "
            "Load it, or pass rounds=, featured= and sv_participants=.",
            missing=tuple(missing),
        )


def _start_error(frames: Frames) -> CoverageError:
    earliest = iso(frames.window.since) if frames.window else "the first update"
    return CoverageError(
        f"The state of the network before {earliest} is unknown, because rights live for years. "
        'Load since="0001-01-01", or pass base= of load_bulk(kind="acs"), or the state as frames.',
        missing=(f"history before {earliest}",),
    )


def _holes(frames: Frames, since: pd.Timestamp) -> Iterator[str]:
    """Yield the windows after the start that no segment covers."""
    coverage = frames.coverage
    if frames.window is None or coverage.empty or coverage["since"].isna().all():
        return
    until = min(frames.window.until, coverage["until"].max().to_pydatetime())
    if since.to_pydatetime() < until:
        needed = Window(since.to_pydatetime(), until)
        yield from (str(part) for part in needed.difference(windows_of(coverage)))
