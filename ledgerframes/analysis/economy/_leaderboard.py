"""Rankings of parties."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import from_scaled, scaled, units
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.economy._purchases import bought, purchases_query
from ledgerframes.analysis.economy.network import Network, read_network, require_all_updates
from ledgerframes.analysis.economy.periods import period_of
from ledgerframes.analysis.groups import from_microseconds
from ledgerframes.engine import Query, run
from ledgerframes.engine.coupons import COUPON_FLOWS
from ledgerframes.engine.flows import SUMMARY_FLOWS
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values.checks import require_integer

KINDS = {"provider": "issued_app", "validator": "issued_validator"}
RANKINGS = ("issued", "minted", "bytes_bought", "burned")
LEADERBOARD = declare.Figure(
    "economy.leaderboard",
    caption="Parties with the largest amounts",
    rows="One row per period and party, and one for all unknown parties. A period without parties has one row; sorted by "
    "period, rank and party, missing ranks last.",
    by={"provider": declare.Grouping(), "validator": declare.Grouping()},
    is_grouped=True,
    columns=(
        declare.integer("rank", "Rank in the period, the same for equal amounts. Missing where `amount` or `party` is."),
        declare.text("party", "The party. Missing for a period without parties, and for amounts of unknown parties."),
        declare.amount(
            "amount", "Sum of the known amounts by which parties are ranked. Missing if none is known.", "coin or bytes", "Amount"
        ),
        declare.share("Share of all known amounts in the period, including those of unknown parties. Missing without an amount."),
        declare.integer("rank_before", "Rank in the period before. Missing if that period is partial or has no amount."),
        declare.integer("change", "Ranks gained since the period before. Missing where `rank` or `rank_before` is."),
    ),
    main_columns=("party", "amount", "share", "rank", "change"),
    has_periods=True,
    condition="with a known amount",
    unit="coupons, transfers or purchases of this row",
    queries=lambda frames, of, by, every, top, base: [_ranking_query(read_network(frames, base), of, by, every)],
)


@LEADERBOARD.register
def leaderboard(
    frames: Frames,
    *,
    of: Literal["issued", "minted", "bytes_bought", "burned"] = "issued",
    by: Literal["provider", "validator"] = "provider",
    every: str | None = "1mo",
    top: int = 50,
    base: Snapshot | None = None,
) -> pd.DataFrame:
    """Return the parties with the largest rewards, purchases or burned coin.

    Parameters
    ----------
    frames : Frames
        With all updates of a time, so load them by time and without a filter.
    of : {"issued", "minted", "bytes_bought", "burned"}, default "issued"
        What to rank: coupons by the party that earned them, coin by the party that collected it, or traffic by the party that
        paid for it, in bytes or coin.
    by : {"provider", "validator"}, default "provider"
        Whose coupons count, with ``of="issued"`` only.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: 1mo).
    top : int, default 50
        Number of ranks per period.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per period and party, and one for all unknown parties. A period without parties has one row; sorted by period,
        rank and party, missing ranks last.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``rank`` (Int64): Rank in the period, the same for equal amounts. Missing where `amount` or `party` is.
        - ``party`` (str): The party. Missing for a period without parties, and for amounts of unknown parties.
        - ``amount`` (decimal128(38, 10)[pyarrow], coin or bytes): Sum of the known amounts by which parties are ranked. Missing
          if none is known.
        - ``share`` (float64, share of 1): Share of all known amounts in the period, including those of unknown parties. Missing
          without an amount.
        - ``rank_before`` (Int64): Rank in the period before. Missing if that period is partial or has no amount.
        - ``change`` (Int64): Ranks gained since the period before. Missing where `rank` or `rank_before` is.
        - ``coverage`` (float64, share of 1): Share of the coupons, transfers or purchases of this row with a known amount.
          Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames have only a part of the updates of their time.
    UsageError
        If `of` or `top` is invalid.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. A coupon counts for the party that earned it, before any split.

    Picture, by :func:`ledgerframes.plot`: One bar per party with its share, and the ranks that it gained or lost. Without a
    whole period, the latest one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> lf.economy.leaderboard(frames, top=1)["rank"].tolist()
    [1]
    """
    LEADERBOARD.check(frames, by)
    if of not in RANKINGS or (of != "issued" and by != "provider"):
        raise UsageError(f"of= must be one of {', '.join(RANKINGS)}, and by= is for 'issued', got of={of!r} and by={by!r}.")
    top = require_integer("top", top, 1)
    require_all_updates(frames, LEADERBOARD.name)
    rows = _ranked(read_network(frames, base), of, by, every)
    groups = group_rows(frames, rows, [], every)
    is_partial = groups.keys.get("is_partial", pd.Series(False, groups.keys.index)).tolist()
    before: dict[str, int] = {}
    parts: list[pd.DataFrame] = []
    for code, part in enumerate(groups.split(rows)):
        ranking = _ranking(part)
        ranking["rank_before"] = pd.array([before.get(party) for party in ranking["party"]], "Int64")
        before = {} if is_partial[code] else dict(zip(ranking["party"], ranking["rank"], strict=True))
        is_unknown = ranking["party"].isna()
        leading = ranking[is_unknown | (ranking["rank"].fillna(int((~is_unknown).sum())) <= top)]
        parts.append((leading if len(leading) or every is None else ranking.reindex([0])).assign(code=code))
    result = pd.concat(parts, ignore_index=True)
    keys = groups.keys.take(result["code"].to_numpy("int64")).reset_index(drop=True)
    change, amount = result["rank_before"] - result["rank"], from_scaled(result["units"])
    ranked = LEADERBOARD.build(frames, {**keys, **result, "amount": amount, "change": change}, by, every=every)
    ranked.attrs["of"] = of  # which a picture needs for its unit
    return ranked


def _ranked(network: Network, of: str, by: str, every: str | None) -> pd.DataFrame:
    """Return sums by party and part of a period, with the time of the first amount."""
    if of in ("issued", "minted"):
        rows = run(network.frames, _rewards_query(network, of, by, every))
        return rows.assign(units=pd.Series(scaled(rows["amount"]), dtype="object"))
    name = "totalPurchased" if of == "bytes_bought" else "coinSpent"
    purchases = [(each.time, each.buyer, units(each.payload.get(name))) for each in bought(network)]
    rows = pd.DataFrame(purchases, columns=["time", "party", "units"], dtype="object")
    return rows.assign(record_time=from_microseconds(rows["time"]), amounts=1, known=rows["units"].notna().astype("int64"))


def _ranking_query(network: Network, of: str, by: str, every: str | None) -> Query:
    return _rewards_query(network, of, by, every) if of in ("issued", "minted") else purchases_query(network)


def _rewards_query(network: Network, of: str, by: str, every: str | None) -> Query:
    """Return the query of coupons by earning party, or of coin by collecting party."""
    rewards = COUPON_FLOWS if of == "issued" else SUMMARY_FLOWS
    is_counted = f"kind = '{KINDS[by]}'" if of == "issued" else "kind LIKE 'minted%' AND amount IS DISTINCT FROM 0"
    select = f"""
SELECT
    {period_of(every)} AS period,
    nullif(party, '') AS party,
    min(record_time) AS record_time,
    sum(amount) AS amount,
    count(*) AS amounts,
    count(amount) AS known
FROM {rewards.name}
WHERE {is_counted}
GROUP BY ALL"""
    return network.query(select, rewards)


def _ranking(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the parties of a period by rank, with unranked unknown amounts and parties last."""
    sums: dict[str | None, int | None] = {}
    counts: defaultdict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    parties = [None if pd.isna(party) else party for party in rows["party"]]
    for party, amount, known, amount_count in zip(parties, rows["units"], rows["known"], rows["amounts"], strict=True):
        before = sums.get(party)
        sums[party] = before if amount is None else (before or 0) + amount
        counts[party][0] += known
        counts[party][1] += amount_count
    ordered = sorted(sums.items(), key=lambda item: (item[0] is None, item[1] is None, -(item[1] or 0), item[0] or ""))
    ranks: list[int | None] = []
    for position, (party, amount) in enumerate(ordered):
        is_equal = position > 0 and amount == ordered[position - 1][1]
        ranks.append(None if party is None or amount is None else ranks[-1] if is_equal else position + 1)
    total = sum(filter(None, sums.values()))
    return pd.DataFrame(
        {
            "rank": pd.array(ranks, "Int64"),
            "party": pd.Series([party for party, _ in ordered], dtype="str"),
            "units": pd.Series([amount for _, amount in ordered], dtype="object"),
            "share": [amount / total if total and amount is not None else np.nan for _, amount in ordered],
            "coverage": [counts[party][0] / counts[party][1] for party, _ in ordered],
        }
    )
