"""The history API's reference data: the rules of the name service, and the SVs' price votes.

See docs/facts.md#name-rules-and-price-votes.
"""

from __future__ import annotations

from typing import Any

import msgspec
from flask import Blueprint, Response, request

from .clock import Clock
from .identifiers import contract_id, fingerprint
from .lookup import Lookup, wire_contract
from .requests import Refusal, body_of, json_response, malformed
from .times import HOUR, instant, trimmed
from .vocabulary import Vocabulary
from .world import World

NAME_RULES_STEP, VOTES_STEP = 1, 5  # which of the first transactions makes them
NEWCOMER = "Umbra-Commons"  # an SV that has not voted yet; its vote came with the state of the second migration


def reference_api(world: World, words: Vocabulary, clock: Clock) -> Blueprint:
    """Return the routes of the reference data.

    Parameters
    ----------
    world
        The world that is shown.
    words
        The vocabulary of paths and keys.
    clock
        The present, of which the votes are.
    """
    api = Blueprint("reference", __name__)
    reference = ReferenceData(world, words)

    @api.post("/v0/ans-rules")
    def name_rules() -> Response:
        body = body_of(request)
        for key in ("cached_ans_rules_contract_id", "cached_ans_rules_domain_id"):
            if not isinstance(body.get(key, ""), str | None):
                raise malformed(f"DecodingFailure at .{key}: String")
        rules = reference.name_rules(clock.now())
        hit = body.get("cached_ans_rules_contract_id") == rules["contract_id"]
        update = {"contract": None if hit else rules, "domain_id": world.people.synchronizer}
        return _answer({"ans_rules_update": update})

    @api.get(f"/v0/{words.coin}-price/votes")
    def votes() -> Response:
        return _answer({f"{words.coin}_price_votes": reference.votes(clock.now())})

    return api


class ReferenceData:
    """Contracts of the reference data as of any time.

    Parameters
    ----------
    world
        The world.
    words
        The vocabulary of the payloads.
    """

    def __init__(self, world: World, words: Vocabulary) -> None:
        self._world = world
        self._words = words
        self._lookup = Lookup(world)

    def name_rules(self, now: int) -> dict[str, Any]:
        """Return the rules of the name service; before they are made, that is an error of the service."""
        made = self._world.schedule.genesis.time(NAME_RULES_STEP)
        if now < made:
            raise Refusal(500, "No AnsRules found")
        return self._lookup.contract(self._world.constants().lasting("name_rules"), made)

    def votes(self, now: int) -> list[dict[str, Any]]:
        """Return the latest vote of every SV."""
        world, constants = self._world, self._world.constants()
        found = []
        first = world.schedule.genesis.time(VOTES_STEP)
        for member, chain in enumerate(world.schedule.votes):
            occurrence = chain.count_before(now + 1) - 1
            made = chain.time(occurrence) if occurrence >= 0 else first
            if made <= now:
                vote = constants.lasting("price_vote", member, occurrence)
                found.append(self._lookup.contract(vote, made))
        joined = world.timeline.switch + HOUR
        return [*found, self._newcomer(joined)] if now >= joined else found

    def _newcomer(self, joined: int) -> dict[str, Any]:
        seed, people = self._world.seed, self._world.people
        created = {
            "template_id": self._world.constants().templates.price_vote.identifier,
            "contract_id": contract_id(seed, "newcomer's vote"),
            "create_arguments": {
                "dso": people.dso,
                "sv": f"{NEWCOMER}::{fingerprint(seed, NEWCOMER)}",
                f"{self._words.coin}Price": None,
                "lastUpdatedAt": instant(joined),
            },
            "created_at": trimmed(joined),
        }
        return wire_contract(created)


def _answer(value: Any) -> Response:
    return json_response(msgspec.json.encode(value))
