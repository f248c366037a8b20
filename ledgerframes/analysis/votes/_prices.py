"""Median and spread of the votes on the coin price, and the price that the network used."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts, to_decimal
from ledgerframes.analysis.economy.network import Network, read_network, require_all_updates
from ledgerframes.analysis.groups import from_microseconds, microseconds
from ledgerframes.analysis.votes._observations import DAY, UNIT, median_deviation, median_price, newest_votes, require_stale_days
from ledgerframes.engine import Query
from ledgerframes.engine.nodes import exercises
from ledgerframes.frames import Frames
from ledgerframes.texts.representation import pluralize
from ledgerframes.values import decimals
from ledgerframes.values.decimals import EXACT
from ledgerframes.values.money import TrafficPrice, require_price

PRICE = declare.Figure(
    "votes.price",
    caption="Price of the coin by votes",
    answer=lambda result: _of_price(result),
    main_columns=("observed_at", "median", "lowest", "highest", "votes", "voters", "byte_price"),
    without_query="it reads a table of votes, not frames. Query the stored votes with lf.sql(net, 'FROM price_votes')",
    rows="One row per observation; sorted by time.",
    columns=(
        declare.time("observed_at", "Time of the observation."),
        declare.count("voters", "Super validators with a vote contract.", "voters"),
        declare.count("votes", "Voters with a price.", "votes"),
        declare.count("stale_votes", "Votes with a price that are older than stale_days=.", "votes"),
        declare.amount("median", "Median price, or for an even number the mean of the middle two. Missing without votes.", UNIT),
        declare.amount("lowest", "Lowest price. Missing without votes.", UNIT),
        declare.amount("highest", "Highest price. Missing without votes.", UNIT),
        declare.amount("spread", "Highest minus lowest price. Missing without votes.", UNIT),
        declare.amount("mad", "Median absolute deviation from the median. Missing without votes.", UNIT),
        declare.amount("byte_price", "Traffic price divided by the median price. Missing without traffic_price=.", "coin per MB"),
        declare.amount(
            "byte_price_change",
            "Byte price minus that of the observation before. Missing for the first.",
            "coin per MB",
        ),
        declare.amount("round_price", "Price of the lowest open round. Missing without frames=, or outside the frames.", UNIT),
    ),
    condition="with a known price",
    unit="voters of this row",
)


@PRICE.register
def price(
    votes: pd.DataFrame,
    *,
    stale_days: float = 30.0,
    traffic_price: TrafficPrice | None = None,
    frames: Frames | None = None,
) -> pd.DataFrame:
    """Return median and spread of the price votes at each observation.

    This is the network's own conversion rate, not a market price (docs/facts.md#two-prices).

    Parameters
    ----------
    votes : DataFrame
        From :func:`ledgerframes.load_price_votes`, of one network.
    stale_days : float, optional
        Age in days above which a vote counts as stale (default: 30).
    traffic_price : TrafficPrice, optional
        List price of traffic, for its price in coin.
    frames : Frames, optional
        With all updates of a time. Each vote in that time is an observation, with the votes known by then. Who votes later
        has a vote by then whose price is unknown. Each observation has the price that the network used.

    Returns
    -------
    DataFrame
        One row per observation; sorted by time.

        Columns:

        - ``observed_at`` (datetime64[us, UTC]): Time of the observation.
        - ``voters`` (int64, voters): Super validators with a vote contract.
        - ``votes`` (int64, votes): Voters with a price.
        - ``stale_votes`` (int64, votes): Votes with a price that are older than stale_days=.
        - ``median`` (decimal128(38, 10)[pyarrow], USD per coin): Median price, or for an even number the mean of the middle
          two. Missing without votes.
        - ``lowest`` (decimal128(38, 10)[pyarrow], USD per coin): Lowest price. Missing without votes.
        - ``highest`` (decimal128(38, 10)[pyarrow], USD per coin): Highest price. Missing without votes.
        - ``spread`` (decimal128(38, 10)[pyarrow], USD per coin): Highest minus lowest price. Missing without votes.
        - ``mad`` (decimal128(38, 10)[pyarrow], USD per coin): Median absolute deviation from the median. Missing without votes.
        - ``byte_price`` (decimal128(38, 10)[pyarrow], coin per MB): Traffic price divided by the median price. Missing without
          traffic_price=.
        - ``byte_price_change`` (decimal128(38, 10)[pyarrow], coin per MB): Byte price minus that of the observation before.
          Missing for the first.
        - ``round_price`` (decimal128(38, 10)[pyarrow], USD per coin): Price of the lowest open round. Missing without frames=,
          or outside the frames.
        - ``coverage`` (float64, share of 1): Share of the voters of this row with a known price. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If `frames` have only a part of the updates of their time.
    UsageError
        If `votes` is not a table of price votes, or has votes of two networks, or `stale_days` is not a number of days.

    Notes
    -----
    Source: docs/facts.md#name-rules-and-price-votes. The service returns only the latest votes, so the history consists of
    stored observations (docs/facts.md#latest-votes-only). Only the newest vote of each super validator counts.

    Picture, by :func:`ledgerframes.plot`: Price [USD per coin] over the time of the observations [UTC]: steps of the
    median, a band from the lowest to the highest vote, and marks for the price that the network used if it is known.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> votes = lf.load_price_votes(lf.connect("sandbox", events=400, days=1))
    >>> summary = lf.votes.price(votes, traffic_price=lf.TrafficPrice("60", "USD/MB"))
    >>> bool((summary["lowest"] <= summary["median"]).all())
    True
    """
    require_stale_days(stale_days)
    traffic_price = require_price(traffic_price, TrafficPrice, "traffic_price")
    votes, network = newest_votes(votes, "price"), None
    if frames is not None:
        PRICE.check(frames)
        require_all_updates(frames, PRICE.name)
        network = read_network(frames)
        votes = newest_votes(pd.concat([votes, _votes_of_history(votes, network)], ignore_index=True), "price")
    with_price = votes[votes["price"].notna()]
    is_stale = with_price["last_updated_at"] < with_price["observed_at"] - stale_days * DAY
    voters = votes.groupby("observed_at", sort=True).size()
    by_time = with_price.groupby("observed_at")
    vote_count = by_time.size().reindex(voters.index, fill_value=0)
    prices = [values if isinstance(values, list) else [] for values in by_time["price"].apply(list).reindex(voters.index)]
    medians = amounts([median_price(each) for each in prices])
    list_price = amounts([traffic_price.amount if traffic_price else None] * len(medians))
    byte_price = decimals.divide(list_price, medians, name="byte_price")
    values = {
        "observed_at": voters.index,
        "voters": voters.to_numpy(),
        "votes": vote_count.to_numpy(),
        "stale_votes": is_stale.groupby(with_price["observed_at"]).sum().reindex(voters.index, fill_value=0).to_numpy(),
        "median": medians,
        "lowest": amounts([min(each, default=None) for each in prices]),
        "highest": amounts([max(each, default=None) for each in prices]),
        "spread": amounts([EXACT.subtract(max(each), min(each)) if each else None for each in prices]),
        "mad": amounts([median_deviation(each) for each in prices]),
        "byte_price": byte_price,
        "byte_price_change": decimals.subtract(byte_price, byte_price.shift(), name="byte_price_change"),
        "round_price": amounts([None] * len(voters) if network is None else _round_prices(voters.index.to_series(), network)),
        "coverage": (vote_count / voters).to_numpy(),
    }
    return PRICE.build(None, values)


def _of_price(result: pd.DataFrame) -> str:
    """Return the median price of the last observation, and the price of traffic if known."""
    known = result.dropna(subset="median")
    if known.empty:
        return "No vote has a price."
    (row,) = known.tail(1).to_dict("records")
    prices = f"The median is {row['median']:.4f} USD per coin, from {row['lowest']:.4f} to {row['highest']:.4f}."
    voters = pluralize(row["voters"], "super validator")
    traffic = "" if pd.isna(row["byte_price"]) else f" A megabyte of traffic costs {row['byte_price']:,.2f} coin at the median."
    return f"At {row['observed_at']:%Y-%m-%d %H:%M} UTC, {row['votes']:,} of {voters} have a vote with a price. {prices}{traffic}"


# -- votes and rounds of the history ---------------------------------------------------------------------------------------


def _votes_of_history(votes: pd.DataFrame, network: Network) -> pd.DataFrame:
    """Return the votes that are known at each vote of the history, with earlier `votes`.

    A vote replaces an earlier one of the same super validator. If that one is not known, it has no price here.
    """
    cast = [
        (row["time"], argument["sv"], to_decimal(argument.get("coinPrice")))
        for row in network.rows(_votes_query(network))
        for argument in [network.members(row["choice_argument"])]
        if isinstance(argument.get("sv"), str)
    ]
    rest = votes.dropna(subset=["last_updated_at"])
    older = zip(microseconds(rest["last_updated_at"]).tolist(), rest["sv"], rest["price"], strict=True)
    newest: dict[str, tuple[int, Decimal | None]] = {}
    rows: list[tuple[int, int | None, str, Decimal | None]] = []
    unknown = {sv for _, sv, _ in cast}
    for time, sv, price, is_cast in sorted([*((*each, False) for each in older), *((*each, True) for each in cast)], key=_order):
        newest[sv] = (time, price)
        unknown.discard(sv)
        if is_cast:
            rows += [(time, updated, voter, value) for voter, (updated, value) in newest.items()]
            rows += [(time, None, voter, None) for voter in unknown]
    table = pd.DataFrame(rows, columns=["observed_at", "last_updated_at", "sv", "price"])
    times = {name: from_microseconds(table[name]) for name in ("observed_at", "last_updated_at")}
    return table.assign(**times, dso=network.dso or None)


def _votes_query(network: Network) -> Query:
    select = """
SELECT epoch_us(record_time) AS time, choice_argument FROM price_votes
ORDER BY migration_id, record_time, update_id, node_index"""
    return network.query(select, exercises("price_votes", "choice = 'DsoRules_UpdateCoinPriceVote'"))


def _order(vote: tuple[int, str, Any, bool]) -> tuple[int, bool, str]:
    time, sv, _, is_cast = vote
    return time, is_cast, sv


def _round_prices(times: pd.Series, network: Network) -> list[Decimal | None]:
    """Return the price of the lowest open round at each time, or None if unknown."""
    rounds, window = network.rounds, network.frames.window
    is_inside = [window is not None and window.since <= time < window.until for time in times.dt.to_pydatetime()]
    numbers = [rounds.lowest_at(time) if inside else None for time, inside in zip(microseconds(times), is_inside, strict=True)]
    return [rounds.price(number) for number in numbers]
