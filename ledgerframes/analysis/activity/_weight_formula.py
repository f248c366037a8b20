"""Activity weights of many requests together, to the integer.

Source: docs/facts.md#activity-weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis._groups import Flags, Integers, microseconds, ratio
from ledgerframes.analysis._requests import (
    ACCEPTED,
    HEAD,
    distinct_pairs,
    has_result,
    list_items,
    positions,
    take_or_missing,
    with_requests,
)
from ledgerframes.analysis._views import VIEWS_PER_REQUEST, join, view_numbers
from ledgerframes.analysis.state._network_state import (
    Members,
    NetworkState,
    RoundLookup,
    factor_parts,
    featured_members,
    validator_members,
)
from ledgerframes.frames import Frames

MAX_TOTAL = 100 * 1024 * 1024  # bytes, the largest cost of a request that earns
SAFE = 2.0**62  # products up to here are exact in 64 bits, with a margin for the rounding of this check
STATUSES = (
    "not accepted",
    "over the bound",
    "no round",
    "no state",
    "submitted by a super validator",
    "no envelopes",
    "no featured confirmers",
    "earns",
)
NOT_ACCEPTED, OVER_BOUND, NO_ROUND, NO_STATE, BY_VALIDATOR, NO_ENVELOPES, NO_CONFIRMERS, EARNS = range(len(STATUSES))


@dataclass(frozen=True)
class Requests:
    """Requests with a verdict, their envelopes, and the confirmers of their views."""

    heads: pd.DataFrame  # migration, record time and update id of each request
    is_accepted: Flags
    submitters: pd.Series  # submitting participant of each request
    totals: Integers  # traffic cost of each request [bytes], -1 if it is unknown
    # Request and cost of each envelope [bytes]
    owners: Integers
    costs: Integers
    # Envelope and view of each pair of both. A view has one number over all requests.
    linked_envelopes: Integers
    linked_views: Integers
    confirmed_views: Integers  # view of each of the `confirmers`
    confirmers: pa.ChunkedArray  # parties

    def with_envelopes_merged(self, codes: Integers) -> Requests:
        """Return the requests with the envelopes of each code as one."""
        names, first, merged = np.unique(codes, return_index=True, return_inverse=True)
        costs = sum_by(merged, self.costs, len(names))
        return replace(self, owners=self.owners[first], costs=costs, linked_envelopes=merged[self.linked_envelopes])


def read_requests(frames: Frames, confirmers: str = "quorums") -> Requests:
    """Return the requests of the frames, with quorums or all informees as confirmers."""
    verdicts = frames.read("verdicts", [*HEAD, "verdict_result", "submitting_participant_uid"])
    traffic = frames.read("traffic", ["update_id", "total_traffic_cost"])
    envelopes = with_requests(frames.read("envelopes", ["update_id", "traffic_cost", "view_ids"]), verdicts)
    table, parties = ("quorums", "parties") if confirmers == "quorums" else ("views", "informees")
    views = with_requests(frames.read(table, ["update_id", "view_id", parties]), verdicts)
    totals = take_or_missing(traffic["total_traffic_cost"], positions(verdicts["update_id"], traffic["update_id"]))
    linked, view_ids = list_items(envelopes["view_ids"])
    items, names = list_items(views[parties])
    return Requests(
        heads=verdicts[HEAD],
        is_accepted=has_result(verdicts, ACCEPTED),
        submitters=verdicts["submitting_participant_uid"],
        totals=totals.to_numpy(dtype="int64", na_value=-1),
        owners=envelopes["request"].to_numpy("int64"),
        costs=envelopes["traffic_cost"].to_numpy("int64"),
        linked_envelopes=linked,
        linked_views=view_numbers(envelopes["request"].take(linked), pd.Series(view_ids.to_numpy())),
        confirmed_views=view_numbers(views["request"], views["view_id"])[items],
        confirmers=names,
    )


def is_unknown(statuses: Integers) -> Flags:
    """Return which requests have weights that cannot be computed."""
    return np.isin(statuses, (NO_ROUND, NO_STATE, NO_ENVELOPES))


def computable_share(statuses: Integers) -> float:
    """Return the share of accepted requests whose weights can be computed."""
    accepted = (statuses != NOT_ACCEPTED).sum()
    return float(ratio([accepted - is_unknown(statuses).sum()], [accepted])[0])


def compute(requests: Requests, state: NetworkState) -> tuple[pd.DataFrame, Integers]:
    """Return the weights, sorted by request and party, and the status of each request.

    A status is a position in `STATUSES`.
    """
    rounds, featured = RoundLookup.of(state.rounds), featured_members(state.rights)
    round_rows = rounds.at(microseconds(requests.heads["record_time"]))
    opens_at = rounds.opens_at[round_rows] if len(rounds.opens_at) else round_rows
    segments = featured.segments.at(opens_at)
    statuses = _statuses(requests, state, round_rows, opens_at, featured.is_known[segments])
    envelopes, parties, rights = _featured_confirmers(requests, featured, segments, statuses == EARNS)
    shares = np.bincount(envelopes, minlength=len(requests.owners)).astype(np.int64)
    confirmed = sum_by(requests.owners, np.where(shares > 0, requests.costs, 0), len(requests.heads))
    statuses[(statuses == EARNS) & (confirmed == 0)] = NO_CONFIRMERS
    is_used = (statuses == EARNS)[requests.owners[envelopes]]
    envelopes, parties, rights = envelopes[is_used], parties[is_used], rights[is_used]
    owners = requests.owners[envelopes]
    keys = owners * max(len(featured.names), 1) + parties
    order = np.argsort(keys, kind="stable")
    envelopes, keys = envelopes[order], keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    burns = _burns(requests, envelopes, starts, shares, confirmed)
    groups = order[starts]
    owners, parties, rights = owners[groups], parties[groups], rights[groups]
    whole, rest = (part[rights] for part in factor_parts(state.rights))
    columns = {
        "update_id": requests.heads["update_id"].take(owners).array,
        "record_time": requests.heads["record_time"].take(owners).array,
        "round_number": rounds.numbers[round_rows[owners]] if len(owners) else owners,
        "party": pd.array(featured.names, dtype="str").take(parties),
        "burn_bytes": burns,
        "activity_weight": take_or_missing(state.rights["weight"], rights),
        "weight": burns * whole + burns * rest // 10**10,
    }
    return pd.DataFrame(columns), statuses


def _statuses(requests: Requests, state: NetworkState, round_rows: Integers, opens_at: Integers, has_rights: Flags) -> Integers:
    validators = validator_members(state.validators)
    segments = validators.segments.at(opens_at)
    has_state = has_rights & validators.is_known[segments]
    is_validator = validators.lookup(segments, validators.encode(pa.array(requests.submitters, pa.string()))) >= 0
    envelope_counts = np.bincount(requests.owners, minlength=len(requests.heads))
    is_invalid = sum_by(requests.owners, (requests.costs < 0).astype(np.int64), len(requests.heads)) > 0
    conditions = [
        ~requests.is_accepted,
        requests.totals > MAX_TOTAL,
        round_rows < 0,
        ~has_state,
        is_validator,
        (requests.totals < 0) | (envelope_counts == 0) | is_invalid,
    ]
    return np.select(conditions, range(len(conditions)), EARNS).astype(np.int64)


def _featured_confirmers(
    requests: Requests, featured: Members, segments: Integers, is_used: Flags
) -> tuple[Integers, Integers, Integers]:
    """Return envelope, party and right of each featured confirmer of an envelope, once."""
    parties = featured.encode(requests.confirmers)
    candidates = np.flatnonzero(parties >= 0)
    views, parties = requests.confirmed_views[candidates], parties[candidates]
    owners = views // VIEWS_PER_REQUEST
    views, parties, owners = views[is_used[owners]], parties[is_used[owners]], owners[is_used[owners]]
    is_featured = featured.lookup(segments[owners], parties) >= 0
    pairs = join(requests.linked_envelopes, requests.linked_views, views[is_featured], parties[is_featured])
    envelopes, parties = distinct_pairs(*pairs, len(featured.names))
    return envelopes, parties, featured.lookup(segments[requests.owners[envelopes]], parties)


def _burns(requests: Requests, envelopes: Integers, starts: Integers, shares: Integers, confirmed: Integers) -> Integers:
    """Return the bytes of each run of envelopes that starts at `starts`.

    They are exact also where a sum does not fit 64 bits, which takes envelopes that cost far more than their request.
    """
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    owners = requests.owners[envelopes]
    costs, totals = requests.costs[envelopes], requests.totals[owners]
    all_costs = np.bincount(requests.owners, requests.costs.astype(np.float64), minlength=len(requests.heads))
    is_large = all_costs[owners] * totals >= SAFE
    numerators = np.where(is_large, 0, costs) * totals // shares[envelopes]
    burns: Integers = np.add.reduceat(numerators, starts) // confirmed[owners[starts]]
    for group in np.flatnonzero(is_large[starts]):
        rows = slice(starts[group], starts[group + 1] if group + 1 < len(starts) else None)
        exact = sum(
            int(cost) * int(total) // int(share)
            for cost, total, share in zip(costs[rows], totals[rows], shares[envelopes[rows]], strict=True)
        )
        burns[group] = exact // int(confirmed[owners[starts[group]]])
    return burns


def sum_by(codes: Integers, values: Integers, count: int) -> Integers:
    """Return exact sums by code."""
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, codes, values)
    return sums
