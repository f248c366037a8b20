"""Requests that waited while another one timed out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import (
    MICROSECONDS_PER_HOUR,
    Flags,
    Integers,
    Rates,
    as_integers,
    durations,
    is_true,
    known,
    microseconds,
    period_length,
    ratio,
    sort_largest_first,
)
from ledgerframes.analysis._requests import ACCEPTED, encode_items, has_result, is_rejected, requests, with_requests
from ledgerframes.analysis.verdict._latency_classes import DOUBTFUL_LIMIT, SUSPECT_FROM, timeouts_of, with_latency
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames

MIN_BASELINE = 30
UNKNOWN_BASELINE = np.iinfo(np.int64).max
SHIFTS = [hours * MICROSECONDS_PER_HOUR for hours in (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)]
IN_DOUBT = "Missing where the limit may be another one."
HEAD = (
    declare.text("update_id", "Id of the request that timed out."),
    declare.time("record_time", "Sequencing time."),
    *grouping.PARTICIPANT.keys,
)
CULPRITS = declare.Figure(
    "verdict.head_of_line",
    rows="One row per request that timed out, also without victims; sorted by added time, longest first. Where the limit of the "
    "network may not be 30 s, one per request rejected from 20 s on.",
    columns=(
        *HEAD,
        declare.duration("latency", "Time until the rejection.", "Latency"),
        declare.integer("victims", f"Requests that probably waited for it. {IN_DOUBT}", "requests", "Victims"),
        declare.rate(
            "expected_victims",
            "Mean victims of the same time, 1 to 5 hours away. Missing outside the window, and if the limit may be another one.",
        ),
        declare.rate("excess", "Victims less expected ones. Missing like these."),
        declare.duration("added", f"Time that the victims waited in sum. {IN_DOUBT}", "Added latency"),
        declare.integer("parties_in_common", f"Confirming parties that it shares with victims. {IN_DOUBT}", "parties"),
        declare.text("reason", "Reason why nobody is named a victim. Missing if there is none."),
    ),
    condition="with a known verdict",
    unit="requests of these frames",
)
VICTIMS = declare.Figure(
    "verdict.head_of_line_victims",
    rows="One row per request that waited; sorted by added time, longest first.",
    like="verdict.head_of_line",
    columns=(
        declare.text("culprit_id", "Id of the request that timed out."),
        declare.text("update_id", "Id of the request that waited."),
        declare.time("record_time", "Sequencing time."),
        *grouping.PARTICIPANT.keys,
        declare.duration("latency", "Latency of the request.", "Latency"),
        declare.duration("baseline", "Median latency of requests of its size."),
        declare.duration("added", "Latency above the baseline, while the other request was open.", "Added latency"),
    ),
    condition="with a known verdict",
    unit="requests of these frames",
)


@CULPRITS.document
def head_of_line(frames: Frames, *, min_delay: str = "1s") -> pd.DataFrame:
    """Return the requests that timed out, with the requests that probably waited for them.

    **This is a heuristic.** A victim has the same submitting participant or a confirming party in common, was sequenced while
    the other request was open, and took longer than usual. The expected number of victims is that of the same intervals at
    other hours.

    Parameters
    ----------
    frames : Frames
        All requests of a window, with ``verdicts`` and ``quorums``.
    min_delay : str, optional
        Least latency above the baseline (default: 1s).

    Raises
    ------
    CoverageError
        If the frames do not hold all requests of a window.

    Source: times, submitters and quorums of the verdicts (docs/facts.md#no-rejection-reason). The baseline is the median
    latency of accepted requests of the same size class outside of all these intervals, or of all classes below 30 requests.
    A victim of several requests counts for the one whose interval it overlaps longest. If more rejections lie from 20 s to
    below 29.9 s than from there on, no request is named a timeout, and nobody a victim.

    >>> culprits = lf.verdict.head_of_line(day)
    >>> int(culprits["victims"].sum()) == len(lf.verdict.head_of_line_victims(day))
    True
    """
    CULPRITS.check(frames)
    search = _search(frames, min_delay)
    columns = search.possible_culprits() if search.is_limit_doubtful else search.culprits()
    return sort_largest_first(CULPRITS.build(frames, columns), "added", "record_time", "update_id")


@VICTIMS.document
def head_of_line_victims(frames: Frames, *, min_delay: str = "1s") -> pd.DataFrame:
    """Return the requests that probably waited while another one timed out.

    **This is a heuristic**, that of :func:`ledgerframes.verdict.head_of_line`, which says if the limit of the network is in
    doubt. Nobody is named then.

    Source: times, submitters and quorums of the verdicts (docs/facts.md#no-rejection-reason).

    >>> victims = lf.verdict.head_of_line_victims(day)
    >>> bool((victims["added"] <= victims["latency"]).all())
    True
    """
    VICTIMS.check(frames)
    search = _search(frames, min_delay)
    pairs = search.victims(0)
    victims = search.rows.iloc[pairs["row"]].reset_index(drop=True)
    values: dict[str, Any] = {
        "culprit_id": search.rows["update_id"][search.is_culprit].iloc[pairs["culprit"]].reset_index(drop=True),
        **victims[["update_id", "record_time", "submitting_participant_uid"]],
        "latency": durations(victims["latency"]),
        "baseline": durations(as_integers(search.baselines[pairs["row"]].tolist(), "baseline")),
        "added": durations(as_integers(pairs["added"].tolist(), "added")),
        "coverage": search.coverage,
    }
    return sort_largest_first(VICTIMS.build(frames, values), "added", "record_time", "update_id")


@dataclass(frozen=True)
class Search:
    """Requests with a verdict in the order of time, some of which timed out."""

    rows: pd.DataFrame
    starts: Integers
    latencies: Integers
    is_culprit: Flags  # none where the limit is doubtful
    is_limit_doubtful: bool
    baselines: Integers
    parties: pd.DataFrame
    min_delay: int
    coverage: float
    since: int
    until: int

    def culprits(self) -> dict[str, Any]:
        """Return the columns of the requests that timed out."""
        culprits, victims, expected = self.rows[self.is_culprit], self.victims(0), self.expected_victims()
        counts = np.bincount(victims["culprit"], minlength=len(culprits))
        added = np.zeros(len(culprits), dtype=np.int64)
        np.add.at(added, victims["culprit"].to_numpy(), victims["added"].to_numpy())
        return {
            **self._head(culprits),
            "victims": counts,
            "expected_victims": expected,
            "excess": counts - expected,
            "added": durations(as_integers(added.tolist(), "added")),
            "parties_in_common": self._parties_in_common(victims, len(culprits)),
            "reason": [None] * len(culprits),
        }

    def possible_culprits(self) -> dict[str, Any]:
        """Return the columns of the requests of which it is unknown whether they timed out."""
        possible = self.rows[is_rejected(self.rows) & is_true(self.rows["latency"] >= SUSPECT_FROM)]
        unknown = dict.fromkeys(("victims", "expected_victims", "excess", "added", "parties_in_common"), [None] * len(possible))
        return {**self._head(possible), **unknown, "reason": [DOUBTFUL_LIMIT] * len(possible)}

    def _head(self, rows: pd.DataFrame) -> dict[str, Any]:
        rows = rows.reset_index(drop=True)
        return {
            **rows[["update_id", "record_time", "submitting_participant_uid"]],
            "latency": durations(rows["latency"]),
            "coverage": np.full(len(rows), self.coverage),
        }

    def victims(self, shift: int) -> pd.DataFrame:
        """Return victim and culprit of each delay, with all intervals moved by some microseconds."""
        own = np.flatnonzero(self.is_culprit)
        opens = self.starts[own] + shift
        closes = opens + self.latencies[own]
        first, last = np.searchsorted(self.starts, opens, side="right"), np.searchsorted(self.starts, closes, side="left")
        counts = np.maximum(last - first, 0)
        culprit = np.repeat(np.arange(len(own)), counts)
        row = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
        added = np.minimum(self.latencies[row] - self.baselines[row], closes[culprit] - self.starts[row])
        is_late = (added >= self.min_delay) & (row != own[culprit])
        pairs = pd.DataFrame({"culprit": culprit, "row": row, "added": added, "other": own[culprit]})[is_late]
        pairs = pairs[self._are_linked(pairs)]
        overlap = np.minimum(self.latencies[pairs["row"]], closes[pairs["culprit"]] - self.starts[pairs["row"]])
        pairs = pairs.assign(overlap=overlap).sort_values(["row", "overlap", "culprit"], ascending=[True, False, True])
        victims: pd.DataFrame = pairs.drop_duplicates("row").reset_index(drop=True)
        return victims

    def expected_victims(self) -> Rates:
        """Return the mean number of victims of each interval at other hours of the window."""
        opens = self.starts[self.is_culprit]
        closes = opens + self.latencies[self.is_culprit]
        hits, trials = np.zeros((2, len(opens)), dtype=np.int64)
        for shift in SHIFTS:
            is_inside = (opens + shift >= self.since) & (closes + shift <= self.until)
            hits += np.where(is_inside, np.bincount(self.victims(shift)["culprit"], minlength=len(opens)), 0)
            trials += is_inside
        return ratio(hits, trials)

    def _are_linked(self, pairs: pd.DataFrame) -> Flags:
        """Return which pairs have the same participant or a confirming party in common."""
        names = self.rows["submitting_participant_uid"].to_numpy(object)
        is_same: Flags = (names[pairs["row"]] == names[pairs["other"]]) & known(self.rows["submitting_participant_uid"])[
            pairs["row"]
        ]
        common = self._common_parties(pairs)
        is_linked: Flags = is_same | pairs.index.isin(common["pair"])
        return is_linked

    def _common_parties(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return one row per pair and confirming party of both."""
        numbered = pd.DataFrame({"pair": pairs.index, "row": pairs["row"].to_numpy(), "other": pairs["other"].to_numpy()})
        of_victim = numbered.merge(self.parties, on="row")
        of_culprit = self.parties.rename(columns={"row": "other"})
        common: pd.DataFrame = of_victim.merge(of_culprit, on=["other", "party"])[["pair", "party"]]
        return common

    def _parties_in_common(self, victims: pd.DataFrame, count: int) -> Integers:
        """Return the number of different parties that each culprit shares with its victims."""
        common = self._common_parties(victims)
        culprit = victims["culprit"].to_numpy()[common["pair"].to_numpy(dtype=np.int64)]
        pairs = pd.DataFrame({"culprit": culprit, "party": common["party"]}).drop_duplicates()
        return np.bincount(pairs["culprit"].to_numpy(dtype=np.int64), minlength=count).astype(np.int64)


def _search(frames: Frames, min_delay: str) -> Search:
    if frames.population != "all" or frames.is_filtered:
        raise CoverageError(
            "Cannot compute delays of requests because these frames do not hold all requests of a window. "
            "Load a window with since=, and do not filter it.",
            missing=("requests of the window",),
        )
    least = period_length(min_delay, "min_delay") * 1_000_000
    rows = requests(frames, ["finalization_time", "verdict_result", "submitting_participant_uid"])
    coverage = float(known(rows["finalization_time"]).mean()) if len(rows) else float("nan")
    rows = with_latency(rows).sort_values(["record_time", "update_id"], ignore_index=True)
    starts, latencies = microseconds(rows["record_time"]), rows["latency"].to_numpy("int64")
    timeouts = timeouts_of(rows)
    is_culprit = np.zeros(len(rows), dtype=bool) if timeouts is None else timeouts
    baselines = _baselines(frames, rows, starts, latencies, is_culprit)
    rows = rows.astype({"latency": "Int64"})
    since, until = grouping.bounds_of(frames, rows["record_time"])
    parties = _parties(frames, rows)
    return Search(rows, starts, latencies, is_culprit, timeouts is None, baselines, parties, least, coverage, since, until)


def _baselines(frames: Frames, rows: pd.DataFrame, starts: Integers, latencies: Integers, is_culprit: Flags) -> Integers:
    """Return the median latency of comparable requests for each request.

    Without any, it is so long that no request counts as a victim.
    """
    opens = starts[is_culprit]
    latest = np.concatenate([[np.iinfo(np.int64).min], np.maximum.accumulate(opens + latencies[is_culprit])])
    is_outside = latest[np.searchsorted(opens, starts, side="left")] <= starts
    is_used = has_result(rows, ACCEPTED) & is_outside & ~is_culprit
    sizes = grouping.with_keys(frames, rows, ["size"])["size"].cat.codes.to_numpy()
    overall = _median(latencies[is_used])
    baselines = np.full(len(rows), overall)
    for size in np.unique(sizes):
        part = latencies[is_used & (sizes == size)]
        if len(part) >= MIN_BASELINE:
            baselines[sizes == size] = _median(part)
    return baselines


def _median(values: Integers) -> int:
    return int(np.sort(values)[(len(values) - 1) // 2]) if len(values) else UNKNOWN_BASELINE


def _parties(frames: Frames, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the different confirming parties of each request, as numbers."""
    quorums = with_requests(frames.read("quorums", ["update_id", "parties"]), rows)
    owners, codes, _ = encode_items(quorums["parties"])
    row = quorums["request"].to_numpy("int64")[owners]
    return pd.DataFrame({"row": row, "party": codes}).drop_duplicates(ignore_index=True)
