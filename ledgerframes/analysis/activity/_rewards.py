"""Rewards of mining rounds, from the published weights and each round's own rules."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts
from ledgerframes.analysis.activity import _answers as answers
from ledgerframes.analysis.activity._weights import require_sum_of_weights
from ledgerframes.analysis.activity.final_rounds import lowest_open_times, round_values
from ledgerframes.analysis.activity.reward_formula import NEEDED, RoundTotals, round_totals, rules_of
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.coverage import has_times, part_of_time
from ledgerframes.analysis.groups import microseconds
from ledgerframes.analysis.state.network_state import network_state
from ledgerframes.analysis.state.payloads import is_for_traffic
from ledgerframes.engine import Query, run
from ledgerframes.engine.published_weights import RECORDS
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.conditions import near_matches

ALLOWANCE_DIGITS = 16
TRAFFIC, MARKERS = "traffic", "markers"


def _coin(name: str, description: str, title: str = "", unit: str = "coin") -> declare.ResultColumn:
    text = f"{description} Missing for partial rounds and without rules for traffic."
    return declare.amount(name, text, unit, title)


# Amounts of coin follow from these sums, step by step, with the rounding of the server.
SUMS = Query(
    "SELECT round_number, party, sum(weight) AS weight\nFROM records\nGROUP BY ALL\nORDER BY ALL",
    (RECORDS,),
)


def queries_of_rewards(frames: Frames, **_: object) -> list[Query]:
    _require_all_requests(frames)
    return [SUMS]


REWARDS = declare.Figure(
    "activity.rewards",
    caption="Rewards and activity weights of rounds",
    answer=answers.of_rewards,
    main_columns=("weight", "amount", "opens_at", "rate_per_mb", "is_partial"),
    rows="One row per round with records or within the frames' window; sorted by round and party.",
    by={
        "party": declare.Grouping(
            (declare.text("party", "App provider."),),
            (
                declare.ResultColumn(
                    "allowance",
                    f"decimal128(38, {ALLOWANCE_DIGITS})[pyarrow]",
                    "Exact amount before the threshold is applied. Missing where `amount` is.",
                    "coin",
                ),
                declare.flag("below_threshold", "Whether the allowance is too small to be paid. Missing where `amount` is."),
            ),
        )
    },
    columns=(
        declare.integer("round_number", "Mining round.", "", "Mining round"),
        declare.time("opens_at", "Time from which the round is open."),
        declare.time("closed_at", "Record time of the archival. Missing if the round is alive."),
        declare.flag("is_partial", "Whether records of the round can be missing."),
        declare.label("scheme", "traffic, or markers if the round does not reward traffic."),
        declare.integer(
            "weight", "Sum of weights. Missing for a partial round without records.", declare.WEIGHT_UNIT, "Activity weight"
        ),
        _coin("burn", "Coin for the weight at the price of traffic."),
        _coin("rate_per_mb", "Reward per MB of weight.", unit="coin per MB"),
        _coin("amount", "Reward.", "Reward"),
        _coin("threshold", "Smallest reward."),
        declare.integer(
            "threshold_bytes", "Smallest weight that is paid. Missing where `amount` is.", declare.WEIGHT_UNIT, "Threshold"
        ),
        _coin("to_issue", "Coin to issue for apps in the round."),
        _coin("unclaimed", "Part of the round's issuance beyond the cap."),
        _coin("thresholded", "Issuance for weights below the threshold, rounding included."),
    ),
    condition="with a known reward",
    unit="rounds of this result",
    queries=queries_of_rewards,
)


@REWARDS.register
def rewards(
    frames: Frames,
    *,
    by: Literal["party"] | None = None,
    party: str | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return the rewards that follow from the weights of each mining round.

    Parameters
    ----------
    frames : Frames
        With all records of the rounds, so load them by time and without a filter.
    by : {"party"}, optional
        Grouping of the rows, with its columns below (default: None).
    party : str, optional
        Only this app provider, which implies ``by="party"``.
    rounds : DataFrame, optional
        Rounds with the columns of :func:`ledgerframes.state.rounds` (default: from `base` and the frames' own history).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts`. The tables above that
        are not passed are computed from them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per round with records or within the frames' window; sorted by round and party.

        Columns:

        - ``party`` (str, with by="party"): App provider.
        - ``allowance`` (decimal128(38, 16)[pyarrow], coin, with by="party"): Exact amount before the threshold is applied.
          Missing where `amount` is.
        - ``below_threshold`` (boolean, with by="party"): Whether the allowance is too small to be paid. Missing where `amount`
          is.
        - ``round_number`` (Int64): Mining round.
        - ``opens_at`` (datetime64[us, UTC]): Time from which the round is open.
        - ``closed_at`` (datetime64[us, UTC]): Record time of the archival. Missing if the round is alive.
        - ``is_partial`` (boolean): Whether records of the round can be missing.
        - ``scheme`` (category): traffic, or markers if the round does not reward traffic.
        - ``weight`` (Int64, weighted bytes): Sum of weights. Missing for a partial round without records.
        - ``burn`` (decimal128(38, 10)[pyarrow], coin): Coin for the weight at the price of traffic. Missing for partial rounds
          and without rules for traffic.
        - ``rate_per_mb`` (decimal128(38, 10)[pyarrow], coin per MB): Reward per MB of weight. Missing for partial rounds and
          without rules for traffic.
        - ``amount`` (decimal128(38, 10)[pyarrow], coin): Reward. Missing for partial rounds and without rules for traffic.
        - ``threshold`` (decimal128(38, 10)[pyarrow], coin): Smallest reward. Missing for partial rounds and without rules for
          traffic.
        - ``threshold_bytes`` (Int64, weighted bytes): Smallest weight that is paid. Missing where `amount` is.
        - ``to_issue`` (decimal128(38, 10)[pyarrow], coin): Coin to issue for apps in the round. Missing for partial rounds and
          without rules for traffic.
        - ``unclaimed`` (decimal128(38, 10)[pyarrow], coin): Part of the round's issuance beyond the cap. Missing for partial
          rounds and without rules for traffic.
        - ``thresholded`` (decimal128(38, 10)[pyarrow], coin): Issuance for weights below the threshold, rounding included.
          Missing for partial rounds and without rules for traffic.
        - ``coverage`` (float64, share of 1): Share of the rounds of this result with a known reward. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames cover no time or only a part of the requests, or the rounds are not in the history.
    UsageError
        If `party` has no records.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. The formula and its rounding are the server's. A round whose records can be
    missing has no amounts, because the rate would be too high.

    Picture, by :func:`ledgerframes.plot`: Of several parties, the one with the largest weight is shown. More than 100
    rounds are added up in groups, which the title says. A bar of the reward [coin] per round, hollow at the allowance where
    it is below the threshold, and below it a line of the weight [weighted bytes]. Without rewards: the weight alone.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> rewards = lf.activity.rewards(frames)
    >>> bool(rewards["round_number"].is_monotonic_increasing)
    True
    """
    by = "party" if party is not None else by
    REWARDS.check(frames, by)
    _require_all_requests(frames)
    table = _round_table(frames, rounds, base)
    require_sum_of_weights(frames)
    by_party = run(frames, SUMS)
    totals = by_party.groupby("round_number")["weight"].sum()
    table = table[table["round_number"].isin(totals.index) | _is_in_window(frames, table)].reset_index(drop=True)
    weights = table["round_number"].map(totals).astype("Int64")
    table["weight"] = weights.mask(weights.isna() & ~table["is_partial"].fillna(True).astype(bool), 0)
    results = [_totals(row) for _, row in table.iterrows()]
    rows = _rows(table, results, by_party)
    if by is None:
        return REWARDS.build(frames, rows | {"weight": table["weight"]})
    return _per_party(frames, rows, table, results, _of_party(by_party, party))


def _require_all_requests(frames: Frames) -> None:
    if not has_times(frames) or frames.is_filtered:
        raise CoverageError(
            f"Rewards of a round need the records of all requests, and {part_of_time(frames)}.",
            missing=("records of all requests",),
        )


def _round_table(frames: Frames, rounds: pd.DataFrame | None, base: Snapshot | None) -> pd.DataFrame:
    """Return the rounds with their rules, and whether records can be missing."""
    nobody = pd.DataFrame({"party": [], "participant": [], "weight": [], "from": [], "until": []})
    others = None if rounds is None else nobody  # Rights and super validators do not matter here.
    table = network_state(frames, others, others, rounds, base).rounds
    table = table[table["round_number"].notna() & table["opens_at"].notna()].drop_duplicates("round_number", keep="last")
    table = table.sort_values("round_number", ignore_index=True)
    for name in (*NEEDED, "tick_duration", "development_share", "minting_version"):
        if name not in table:
            table[name] = None
    return table.assign(**round_values(frames, table, table["round_number"]))


def _is_in_window(frames: Frames, table: pd.DataFrame) -> pd.Series:
    assert frames.window is not None
    since, until = microseconds(pd.Series([frames.window.since, frames.window.until], dtype="datetime64[us, UTC]"))
    lives = lowest_open_times(table)
    return pd.Series(((lives["since"] < until) & (lives["until"] > since)).to_numpy(), table.index)


def _totals(row: pd.Series) -> RoundTotals | None:
    """Return the amounts of a round, or None unless all records and its rules are known."""
    rules = rules_of(row)
    if rules is None or row["is_partial"] or not is_for_traffic(row["minting_version"]):
        return None
    return round_totals(rules, int(row["weight"]))


def _rows(table: pd.DataFrame, results: list[RoundTotals | None], by_party: pd.DataFrame) -> dict[str, Any]:
    paid = dict.fromkeys(table["round_number"], Decimal(0))
    by_number = dict(zip(table["round_number"], results, strict=True))
    for number, weight in zip(by_party["round_number"], by_party["weight"], strict=True):
        result = by_number.get(number)
        if result is not None:
            paid[number] += result.amount(int(weight))
    values: dict[str, Any] = {name: table[name] for name in ("round_number", "opens_at", "is_partial", "coverage_time")}
    values["closed_at"] = table["until"]
    values["scheme"] = [TRAFFIC if is_for_traffic(version) else MARKERS for version in table["minting_version"]]
    for name in ("burn", "rate_per_mb", "threshold", "to_issue", "unclaimed"):
        values[name] = amounts(None if result is None else getattr(result, name) for result in results)
    sums = [None if result is None else paid[number] for number, result in by_number.items()]
    values["amount"] = amounts(sums)
    values["threshold_bytes"] = pd.array([None if result is None else result.threshold_bytes for result in results], "Int64")
    values["thresholded"] = amounts(
        None if result is None or total is None else result.to_issue - result.unclaimed - total
        for result, total in zip(results, sums, strict=True)
    )
    values["coverage"] = pd.Series(_known_share(results), table.index, "float64")
    return values


def _known_share(results: list[RoundTotals | None]) -> float | None:
    return float(np.mean([result is not None for result in results])) if results else None


def _of_party(by_party: pd.DataFrame, party: str | None) -> pd.DataFrame:
    if party is None:
        return by_party
    parties = by_party["party"].unique().tolist()
    if party not in parties:
        near = near_matches(str(party), parties)
        step = f"Choose from {', '.join(near)}." if near else f"Choose one of the {len(parties):,} with records in these frames."
        raise UsageError(f"Unknown party {party!r}. {step}")
    return by_party[by_party["party"] == party].reset_index(drop=True)


def _per_party(
    frames: Frames, rows: dict[str, Any], table: pd.DataFrame, results: list[RoundTotals | None], by_party: pd.DataFrame
) -> pd.DataFrame:
    number_of = {number: row for row, number in enumerate(table["round_number"])}
    by_party = by_party[by_party["round_number"].isin(list(number_of))].reset_index(drop=True)
    indexes = [number_of[number] for number in by_party["round_number"]]
    values = {name: pd.Series(column).take(indexes).reset_index(drop=True) for name, column in rows.items()}
    pairs = [(results[index], int(weight)) for index, weight in zip(indexes, by_party["weight"], strict=True)]
    allowances = [None if result is None else result.allowance(weight) for result, weight in pairs]
    values |= {"party": by_party["party"], "weight": by_party["weight"]}
    values["allowance"] = amounts(allowances, ALLOWANCE_DIGITS)
    values["burn"] = amounts(None if result is None else result.burn_of(weight) for result, weight in pairs)
    values["amount"] = amounts(None if result is None else result.amount(weight) for result, weight in pairs)
    below = [None if result is None else result.allowance(weight) < result.threshold for result, weight in pairs]
    values["below_threshold"] = pd.Series(below, dtype="boolean")
    known = _known_share([results[index] for index in {*indexes}])
    values["coverage"] = pd.Series(known, by_party.index, "float64")
    return REWARDS.build(frames, values, "party")
