"""Rewards of rounds as the node computes them (docs/facts.md#reward-accounting).

They follow from the activity records that the history shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .builder import NULL, decode_object
from .endpoints import Api, endpoint
from .formulas import app_rewards, thresholded, unclaimed
from .responses import HttpError, Json
from .reward_trees import Batch, root_batch
from .rounds import FIRST_ROUND
from .values import decimal_text

if TYPE_CHECKING:
    from .network import SimulatedNetwork

PREFIX = "/v0/internal/reward-accounting-process/rounds"
MAX_CACHED_ROUNDS = 200
UNDETERMINED, CANNOT_PROVIDE = {"status": "Undetermined"}, {"status": "CannotProvide"}


class Activity(NamedTuple):
    """Activity of a round."""

    weights: Counter[str]  # in bytes, by party
    record_count: int


class RewardsApi(Api):
    """Endpoints of reward accounting."""

    def __init__(self, box: SimulatedNetwork) -> None:
        super().__init__(box)
        self._activity = lru_cache(MAX_CACHED_ROUNDS)(self._activity_of)

    @endpoint("GET", f"{PREFIX}/earliest-available")
    def _earliest(self) -> Json:
        for number in range(FIRST_ROUND, self.world.rounds.first_incomplete(self.clock.now())):
            if not self._refusal(number):
                return {"earliest_round": number}
        raise HttpError(404, "No round has complete activity records")

    @endpoint("GET", f"{PREFIX}/<round_number>/activity-totals")
    def _totals(self, round_number: str) -> Json:
        number = _number(round_number)
        if refusal := self._refusal(number):
            return refusal
        terms, activity = self.world.rounds.terms(number), self._activity(number)
        rewards = app_rewards(terms, activity.weights)
        return {
            "status": "Ok",
            "round_number": number,
            "total_app_activity_weight": activity.weights.total(),
            "active_parties_count": len(activity.weights),
            "activity_records_count": activity.record_count,
            "total_app_reward_minting_allowance": _amount_text(sum(rewards.values())),
            "total_app_reward_thresholded": _amount_text(thresholded(terms, activity.weights)),
            "total_app_reward_unclaimed": _amount_text(unclaimed(terms, activity.weights.total())),
            "rewarded_app_provider_parties_count": len(rewards),
        }

    @endpoint("GET", f"{PREFIX}/<round_number>/root-hash")
    def _root_hash(self, round_number: str) -> Json:
        number = _number(round_number)
        return self._refusal(number) or {"status": "Ok", "round_number": number, "root_hash": self._root(number).hash}

    @endpoint("GET", f"{PREFIX}/<round_number>/batches/<batch_hash>")
    def _batch(self, round_number: str, batch_hash: str) -> Json:
        number = _number(round_number)
        batches = [] if self._refusal(number) else _all_batches(self._root(number))
        batch = next((each for each in batches if each.hash == batch_hash), None)
        if batch is None:
            raise HttpError(404, f"No batch {batch_hash} of round {number}")
        if batch.children:
            return {"batch_type": "BatchOfBatches", "child_hashes": [child.hash for child in batch.children]}
        allowances = [{"provider": party, "amount": _amount_text(units)} for party, units in batch.allowances]
        return {"batch_type": "BatchOfMintingAllowances", "minting_allowances": allowances}

    def _refusal(self, number: int) -> Json | None:
        """Return the status of a round without rewards yet, or without a reward configuration."""
        if number >= self.world.rounds.first_incomplete(self.clock.now()):
            return UNDETERMINED
        is_known = number >= FIRST_ROUND and self.world.rounds.terms(number).minting_version
        return None if is_known and self.world.rounds.window(number)[0] >= self.world.timeline.verdicts_since else CANNOT_PROVIDE

    def _root(self, number: int) -> Batch:
        return root_batch(app_rewards(self.world.rounds.terms(number), self._activity(number).weights))

    def _activity_of(self, number: int) -> Activity:
        """Return the activity that the records of the history have for a round."""
        begin, end = self.world.rounds.window(number)
        weights: Counter[str] = Counter()
        count = 0
        for slice_number in self.world.timeline.numbers_between(begin, end + 1):
            for event in self.world.slice(slice_number):
                if event.app_activity_records == NULL or not event.is_shown:
                    continue
                records = decode_object(event.app_activity_records)
                if records["round_number"] == number:
                    count += len(records["records"])
                    for record in records["records"]:
                        weights[record["party"]] += record["weight"]
        return Activity(weights, count)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise HttpError(404, "The requested resource could not be found.", plain=True)
    return int(text)


def _all_batches(batch: Batch) -> Iterator[Batch]:
    """Iterate over a batch and all below it."""
    yield batch
    for child in batch.children:
        yield from _all_batches(child)


def _amount_text(units: int) -> str:
    """Return an amount with ten places, without the zeros at its end but one."""
    text = decimal_text(units, zero="0.0").rstrip("0")
    return f"{text}0" if text.endswith(".") else text
