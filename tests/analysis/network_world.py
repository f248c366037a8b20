"""A small network made by hand: its contracts as tree events, its requests, and a plain computation of weights."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from ledgerframes import testing
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window

DAY = datetime(2026, 11, 8, tzinfo=UTC)
DSO = "DSO::1220dd"
WINDOW = Window(DAY, DAY + timedelta(days=1))
FINAL = [{"since": WINDOW.since, "until": WINDOW.until, "status": "final", "rows": 1}]
SV = "sv-one::1220"


def at(minutes: float) -> datetime:
    """The time so many minutes after the start of the day."""
    return DAY + timedelta(minutes=minutes)


class World:
    """Rows of tables, one contract and one request after the other."""

    def __init__(self, coin: str = "coin") -> None:
        self.coin, self.Coin = coin, coin.capitalize()
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self._nodes = 0

    # -- contracts ------------------------------------------------------------------------------------------------

    def create(
        self,
        template: str,
        payload: Mapping[str, Any] | str,
        minutes: float,
        *,
        contract: str,
        package: str | None = None,
        signatories: Iterable[str] = (DSO,),
        effective: float | None = None,
    ) -> World:
        """A create, in an update of its own; `effective` is the ledger time in minutes."""
        text = payload if isinstance(payload, str) else json.dumps({"dso": DSO, **payload})
        node = {
            "event_type": "created_event",
            "contract_id": contract,
            "template_name": template.format(Coin=self.Coin),
            "package_name": package or f"splice-{self.coin}",
            "signatories": list(signatories),
            "create_arguments": text,
            "created_at": at(minutes if effective is None else effective),
        }
        return self._node(node, minutes, effective)

    def archive(self, contract: str, minutes: float, *, choice: str = "Archive", effective: float | None = None) -> World:
        """A consuming exercise."""
        node = {"event_type": "exercised_event", "contract_id": contract, "choice": choice, "consuming": True}
        return self._node(node, minutes, effective)

    def _node(self, node: dict[str, Any], minutes: float, effective: float | None) -> World:
        self._nodes += 1
        name = f"state-{self._nodes:03}"
        head = {"migration_id": 4, "record_time": at(minutes), "update_id": name}
        ledger_time = at(minutes if effective is None else effective)
        self._add("updates", {**head, "kind": "transaction", "effective_at": ledger_time})
        self._add("tree_events", {**head, "event_id": f"{name}:0", "node_index": 0, "depth": 0, **node})
        return self

    def rules(self, minutes: float = 0, *, svs: Mapping[str, str] | None = None, contract: str = "rules", **named: Any) -> World:
        """The network's rules, with the participant of each super validator."""
        members = {"sv-one::1220": SV} if svs is None else svs
        pairs = [
            [party, {"name": party, "participantId": f"PAR::{member}", "svRewardWeight": "5"}]
            for party, member in members.items()
        ]
        named.setdefault("package", "splice-dso-governance")
        return self.create("Splice.DsoRules:DsoRules", {"svs": pairs}, minutes, contract=contract, **named)

    def right(
        self, party: str, minutes: float = 0, weight: str | None = None, *, contract: str | None = None, **named: Any
    ) -> World:
        """A featured right."""
        payload = {"provider": party, "activityWeight": weight}
        return self.create("Splice.{Coin}:FeaturedAppRight", payload, minutes, contract=contract or f"right-{party}", **named)

    def round(self, number: int, created: float, opens: float, *, extra: Mapping[str, Any] | None = None, **named: Any) -> World:
        """An open mining round."""
        payload = {
            "round": {"number": str(number)},
            "opensAt": at(opens).isoformat().replace("+00:00", "Z"),
            f"{self.coin}Price": "0.16",
            "tickDuration": {"microseconds": "600000000"},
            "issuanceConfig": {
                f"{self.coin}ToIssuePerYear": "5000000000.0",
                "appRewardPercentage": "0.6",
                "featuredAppRewardCap": "2.0",
                "optDevelopmentFundPercentage": None,
            },
            **(extra or {}),
        }
        return self.create("Splice.Round:OpenMiningRound", payload, created, contract=f"round-{number}", **named)

    # -- requests -------------------------------------------------------------------------------------------------

    def request(
        self,
        name: str,
        minutes: float,
        *,
        total: int | None = 1000,
        envelopes: Iterable[tuple[int, list[int]]] | None = None,
        views: Iterable[Iterable[Iterable[str]]] = ((("A",),),),
        result: str = "ACCEPTED",
        participant: str = "val-a",
        records: Iterable[tuple[str, int]] = (),
        round_number: int = 1,
        informees: Iterable[Iterable[str]] | None = None,
    ) -> World:
        """A request; `views` has the parties of each quorum of each view."""
        head = {"migration_id": 4, "record_time": at(minutes), "update_id": name}
        verdict = {"verdict_result": f"VERDICT_RESULT_{result}", "submitting_participant_uid": participant}
        self._add("verdicts", {**head, **verdict, "id_source": "listing", "update_visible": True})
        seen = list(informees or [])
        for view_id, quorums in enumerate(views):
            parties = [list(quorum) for quorum in quorums]
            everybody = list(seen[view_id]) if seen else sorted({party for quorum in parties for party in quorum})
            self._add("views", {**head, "view_id": view_id, "informees": everybody})
            for number, quorum in enumerate(parties):
                self._add("quorums", {**head, "view_id": view_id, "quorum_index": number, "threshold": 1, "parties": quorum})
        if total is not None:
            listed = list([(total, [0])] if envelopes is None else envelopes)
            self._add("traffic", {**head, "total_traffic_cost": total, "envelope_count": len(listed)})
            for number, (cost, view_ids) in enumerate(listed):
                self._add("envelopes", {**head, "envelope_index": number, "traffic_cost": cost, "view_ids": view_ids})
        for party, weight in records:
            self._add("activity_records", {**head, "round_number": round_number, "party": party, "weight": weight})
        return self

    def root(self, name: str, minutes: float, template: str, choice: str) -> World:
        """The root node of a request's update."""
        head = {"migration_id": 4, "record_time": at(minutes), "update_id": name}
        node = {"event_type": "exercised_event", "template_name": template, "choice": choice, "package_name": "app"}
        self._add("updates", {**head, "kind": "transaction", "effective_at": at(minutes)})
        return self._add("tree_events", {**head, "event_id": f"{name}:0", "node_index": 0, "depth": 0, **node})

    def _add(self, table: str, row: dict[str, Any]) -> World:
        self.rows.setdefault(table, []).append(row)
        return self

    def frames(self, window: Window | None = WINDOW, coverage: Any = FINAL) -> Frames:
        """The frames over these rows."""
        return testing.frames_of(window=window, coverage=coverage if window else None, network="memory", **self.rows)


def usual_world() -> World:
    """A network with one round from its first minute on, in which A and B (2.2) are featured."""
    return World().rules().right("A").right("B", weight="2.2").round(1, 0, 1)


# -- weights without this library -------------------------------------------------------------------------------------


def plain_weights(
    verdict: str,
    total: int | None,
    envelopes: Iterable[tuple[int, list[int]]],
    views: Mapping[int, Iterable[str]],
    featured: Mapping[str, str],
) -> dict[str, tuple[int, int]]:
    """Burn and weight by party, with fractions, as the facts describe them."""
    if verdict != "ACCEPTED" or total is None or total > 104_857_600:
        return {}
    sums: dict[str, int] = {}
    whole = 0
    for cost, view_ids in envelopes:
        parties = {party for view_id in view_ids for party in views.get(view_id, ()) if party in featured}
        if not parties:
            continue
        whole += cost
        for party in parties:
            sums[party] = sums.get(party, 0) + cost * total // len(parties)
    if not whole:
        return {}
    burns = {party: value // whole for party, value in sums.items()}
    return {party: (burn, int(burn * Fraction(featured[party]))) for party, burn in burns.items()}
