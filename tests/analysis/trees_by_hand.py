"""Transaction trees made by hand, as nested nodes, for figures about coin."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from ledgerframes import testing
from ledgerframes.frames import Frames
from ledgerframes.values.windows import Window

DAY = datetime(2026, 11, 8, tzinfo=UTC)
WINDOW = Window(DAY, DAY + timedelta(days=1))
FINAL = [{"since": WINDOW.since, "until": WINDOW.until, "status": "final", "rows": 1}]
DSO = "DSO::1220dd"
Json = dict[str, Any]


def create(template: str, contract: str, package: str = "splice-coin", signed: Iterable[str] = (DSO,), **payload: Any) -> Json:
    """Return a node that creates a contract of the network, or of another who signs."""
    return {"template": template, "contract": contract, "package": package, "signed": list(signed), "payload": payload}


def coin(contract: str, owner: str, amount: str, **options: Any) -> Json:
    """Return a node that creates a coin."""
    return create("Splice.Coin:Coin", contract, dso=DSO, owner=owner, amount={"initialAmount": amount}, **options)


def exercise(
    template: str,
    contract: str,
    choice: str,
    *children: Json,
    package: str = "splice-coin",
    consuming: bool = False,
    **named: Any,
) -> Json:
    """Return a node that exercises a choice, with `argument` and `result` if any."""
    head = {"template": template, "contract": contract, "package": package, "choice": choice, "consuming": consuming}
    return {**head, "children": children, **named}


def archive(node: Json) -> Json:
    """Return the node that archives what another one creates."""
    return exercise(node["template"], node["contract"], "Archive", package=node["package"], consuming=True)


def rules_choice(choice: str, *children: Json, **named: Any) -> Json:
    """Return an exercise on the coin rules."""
    return exercise("Splice.CoinRules:CoinRules", "rules", choice, *children, **named)


def summary(round_number: int = 7, **amounts: str) -> Json:
    """Return the result of a transfer, with the amounts that are not 0."""
    names = {"App": "inputAppRewardAmount", "Validator": "inputValidatorRewardAmount", "Sv": "inputSvRewardAmount"}
    full = dict.fromkeys((*names.values(), "holdingFees", "senderChangeFee"), "0E-10")
    full |= {names.get(name, name): amount for name, amount in amounts.items()}
    return {"round": {"number": str(round_number)}, "summary": {**full, "outputFees": []}}


def network_rules() -> Json:
    """Return the create of the network's rules, which name the party that signs."""
    return create("Splice.DsoRules:DsoRules", "dso-rules", "splice-dso-governance", dso=DSO, svs=[])


def open_round(number: int, price: str = "0.16", traffic_price: str = "60.0") -> Json:
    """Return the create of a mining round."""
    payload = {
        "round": {"number": str(number)},
        "coinPrice": price,
        "trafficPrice": traffic_price,
        "opensAt": "2026-11-08T00:00:00Z",
    }
    return create("Splice.Round:OpenMiningRound", f"round-{number}", dso=DSO, **payload)


def frames_of(*updates: list[Json], minutes: int = 60, is_known: bool = True, word: str = "coin") -> Frames:
    """Return frames of updates, each so many minutes after the one before, each a list of roots."""
    nodes: list[Json] = []
    for number, roots in enumerate(updates):
        time = DAY + timedelta(minutes=minutes * number)
        count = 0

        def visit(node: Json, parent: str | None, depth: int, time: datetime = time, name: str = f"u{number:03}") -> None:
            nonlocal count
            event_id = f"{name}:{count}"
            nodes.append(row_of(node, name, event_id, count, parent, depth, time, word))
            count += 1
            for child in node.get("children", ()):
                visit(child, event_id, depth + 1)

        for root in roots:
            visit(root, None, 0)
    return testing.frames_of(window=WINDOW, coverage=FINAL if is_known else [], tree_events=nodes)


def row_of(node: Json, name: str, event_id: str, index: int, parent: str | None, depth: int, time: datetime, word: str) -> Json:
    """Return the row of a node."""

    def translate(value: Any) -> Any:
        text = value if isinstance(value, str) else json.dumps(value)
        return text.replace("Coin", word.capitalize()).replace("coin", word)

    head = {"migration_id": 4, "record_time": time, "update_id": name, "event_id": event_id, "node_index": index, "depth": depth}
    head |= {"parent_event_id": parent, "contract_id": node["contract"], "template_name": translate(node["template"])}
    head["package_name"] = translate(node["package"])
    if "choice" not in node:
        return {
            **head,
            "event_type": "created_event",
            "signatories": node["signed"],
            "create_arguments": translate(node["payload"]),
        }
    payloads = {"choice_argument": translate(node.get("argument", {})), "exercise_result": translate(node.get("result", {}))}
    return {
        **head,
        "event_type": "exercised_event",
        "choice": translate(node["choice"]),
        "consuming": node["consuming"],
        **payloads,
    }
