"""Activity weights of a million records against the loop in Python that one would write from the facts.

Requests have five envelopes, of which three carry one view each, and each view has a quorum of three of thirty parties. Nine of
them are featured, some with a factor. Both read the same frames in memory and must return the same weights.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from figures import Figure, as_table
from measuring import Row, interleaved, sampled
from rounds import busy, middle, ratio

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.frames import Frames

REQUESTS = 400_000
BOUNDS = (5, 3)
PARTIES = [f"provider-{number:02}::1220{number:064x}" for number in range(30)]
FACTORS = {party: Decimal(factor) for party, factor in zip(PARTIES[::3], ["1", "2.2", "0.3333333333"] * 4, strict=False)}
SV = "sv::1220"
Weights = list[tuple[str, str, int, int]]


def activity_weights(requests: int = REQUESTS, rounds: int = 3) -> list[Row]:
    """Measure both on the same frames, after they were found equal."""
    frames, state = network(requests)
    records = lf.activity.recompute(frames, **state)
    columns = (records[name].tolist() for name in ("update_id", "party", "burn_bytes", "weight"))
    assert list(zip(*columns, strict=True)) == looped(frames, state)

    def ours() -> object:
        return lf.activity.recompute(frames, **state)

    taken = interleaved(rounds, {"loop": lambda: looped(frames, state), "recompute": ours}, warm=False)
    note = f"{len(records):,} records in {middle(taken, 'recompute'):.1f} s; {busy(taken)}"
    figure = Figure("activity weights, to a loop in Python", ratio(taken, "loop", "recompute"), *BOUNDS, note=note)
    how = "`lf.activity.recompute` of frames in memory. Against a loop over the rows of the same DataFrames, with dictionaries."
    return [Row.of(figure, how, lambda: sampled(ours))]


def network(requests: int) -> tuple[Frames, dict[str, pd.DataFrame]]:
    """Frames with so many requests, and the state that they are computed with."""
    draw = np.random.default_rng(7)
    ids = pa.array([f"1220{number:016x}" for number in range(requests)])
    times = pa.array(np.datetime64(testing.START.replace(tzinfo=None), "us") + np.arange(requests) * 50_000)
    heads = {
        "migration_id": pa.array(np.full(requests, 4)),
        "record_time": times.cast(pa.timestamp("us", "UTC")),
        "update_id": ids,
    }

    def of_each(count: int) -> dict[str, pa.Array]:
        owners = pa.array(np.repeat(np.arange(requests), count))
        return {name: values.take(owners) for name, values in heads.items()}

    costs = draw.integers(100, 5_000, (requests, 5))
    parties = draw.permuted(np.tile(np.arange(30), (requests * 3, 1)), axis=1)[:, :3].ravel()
    quorums = pa.ListArray.from_arrays(
        np.arange(0, 9 * requests + 1, 3, dtype="int32"), pa.array(PARTIES).take(pa.array(parties))
    )
    lengths = np.tile([0, 0, 1, 1, 1], requests)
    offsets = np.append(0, np.cumsum(lengths)).astype("int32")
    views = pa.ListArray.from_arrays(offsets, pa.array(np.tile([0, 1, 2], requests).astype("int32")))
    participants = pa.array([SV, *(f"validator-{number}::1220" for number in range(20))]).take(
        pa.array(draw.integers(0, 21, requests))
    )
    tables = {
        "verdicts": {
            **heads,
            "submitting_participant_uid": participants,
            "verdict_result": ["VERDICT_RESULT_ACCEPTED"] * requests,
        },
        "traffic": {**heads, "total_traffic_cost": pa.array(costs.sum(axis=1))},
        "envelopes": {
            **of_each(5),
            "envelope_index": _numbers(5, requests),
            "traffic_cost": pa.array(costs.ravel()),
            "view_ids": views,
        },
        "quorums": {
            **of_each(3),
            "view_id": _numbers(3, requests),
            "quorum_index": _numbers(1, 3 * requests),
            "parties": quorums,
        },
    }
    frames = testing.frames_of(**{name: _filled(name, columns) for name, columns in tables.items()})
    return frames, _state(requests)


def _numbers(count: int, times: int) -> pa.Array:
    return pa.array(np.tile(np.arange(count), times).astype("int32"))


def _filled(name: str, columns: dict[str, object]) -> pa.Table:
    """A table of the declared columns, those that are not written out from a sample."""
    schema = lf.table(name).schema
    rows = len(columns["update_id"])  # type: ignore[arg-type]
    sample = testing.table(name).sample_arrow(1)
    arrays = {}
    for field in schema:
        if field.name in columns:
            values = columns[field.name]
            array = values if isinstance(values, pa.Array) else pa.array(values)
            arrays[field.name] = array.dictionary_encode() if pa.types.is_dictionary(field.type) else array
        else:
            arrays[field.name] = sample[field.name].combine_chunks().take(pa.array(np.zeros(rows, dtype="int64")))
    return pa.table(arrays).cast(schema)


def _state(requests: int) -> dict[str, pd.DataFrame]:
    start = pd.Timestamp(testing.START)
    ticks = [start + timedelta(minutes=10 * number) for number in range(requests // 12_000 + 3)]
    rounds = {"round_number": range(len(ticks)), "opens_at": ticks, "from": ticks, "until": [*ticks[1:], pd.NaT]}
    rights = {"party": list(FACTORS), "weight": list(FACTORS.values()), "from": start, "until": pd.NaT}
    validators = {"participant": [SV], "from": start, "until": pd.NaT}
    return {"rounds": pd.DataFrame(rounds), "featured": pd.DataFrame(rights), "sv_participants": pd.DataFrame(validators)}


def rows_of(frame: pd.DataFrame) -> Iterator[Any]:
    """The rows as named tuples."""
    yield from frame.itertuples()


def looped(frames: Frames, state: dict[str, pd.DataFrame]) -> Weights:
    """The steps of the facts, one request after the other."""
    rights = {right.party: Decimal(right.weight) for right in rows_of(state["featured"])}
    validators = set(state["sv_participants"]["participant"])
    opens = [(row.opens_at, row.until) for row in rows_of(state["rounds"])]
    totals = dict(zip(*(frames.traffic[name].tolist() for name in ("update_id", "total_traffic_cost")), strict=True))
    confirmers: dict[tuple[str, int], set[str]] = defaultdict(set)
    for quorum in rows_of(frames.read("quorums", ["update_id", "view_id", "parties"])):
        confirmers[quorum.update_id, quorum.view_id].update(quorum.parties)
    envelopes: dict[str, list[tuple[int, list[int]]]] = defaultdict(list)
    for envelope in rows_of(frames.read("envelopes", ["update_id", "traffic_cost", "view_ids"])):
        envelopes[envelope.update_id].append((envelope.traffic_cost, envelope.view_ids))
    weights: Weights = []
    columns = ["update_id", "record_time", "verdict_result", "submitting_participant_uid"]
    position = 0
    for verdict in rows_of(frames.read("verdicts", columns)):
        while opens[position][1] <= verdict.record_time:
            position += 1
        total = totals.get(verdict.update_id)
        if verdict.verdict_result != "VERDICT_RESULT_ACCEPTED" or total is None or total > 104_857_600:
            continue
        if verdict.submitting_participant_uid not in validators:
            weights += _of_request(verdict.update_id, total, envelopes[verdict.update_id], confirmers, rights)
    return weights


def _of_request(
    update_id: str,
    total: int,
    envelopes: list[tuple[int, list[int]]],
    confirmers: dict[tuple[str, int], set[str]],
    rights: dict[str, Decimal],
) -> Weights:
    sums: dict[str, int] = defaultdict(int)
    confirmed = 0
    for cost, view_ids in envelopes:
        parties = {party for view_id in view_ids for party in confirmers[update_id, view_id] if party in rights}
        if parties:
            confirmed += cost
            for party in parties:
                sums[party] += cost * total // len(parties)
    burns = {party: sums[party] // confirmed for party in sorted(sums)} if confirmed else {}
    return [(update_id, party, burn, int(burn * rights[party])) for party, burn in burns.items()]


def main() -> None:
    """Print the figure."""
    requests = int(sys.argv[1]) if sys.argv[1:] else REQUESTS
    print(as_table([row.figure for row in activity_weights(requests)]))


if __name__ == "__main__":
    main()
