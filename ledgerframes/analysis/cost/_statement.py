"""Bills of traffic, in bytes, currency and coin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts
from ledgerframes.analysis._grouped import Call, groups_of, measure
from ledgerframes.analysis.arguments import is_choice, require_one_network
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.measures import BYTES, COST, Count, Expression, Measure, Total
from ledgerframes.analysis.requests import require_rejections
from ledgerframes.analysis.state.traffic_prices import require_prices_of_rounds
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.bills import BILLED_BY_LABEL, BILLED_BY_PARTY, BILLED_REQUESTS, equal_parts, first_parts
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics import printing
from ledgerframes.statistics.rounding import largest_remainder
from ledgerframes.values import decimals, extents
from ledgerframes.values.checks import require_min_coverage
from ledgerframes.values.money import (
    MarketRate,
    NetworkRate,
    TrafficPrice,
    require_one_currency,
    require_price,
    require_traffic_prices,
)

SPLITS: dict[str, Callable[[Relation], Relation]] = {"equal": equal_parts, "first": first_parts, "whole": lambda parts: parts}
NOUNS = {"party": "parties", "label": "labels"}  # groups that can share a request
PAID_TYPES = {"participant_id": pa.string(), "number": pa.int64(), "update_id": pa.string(), "paid": pa.int64()}
MIN_COVERAGE = 0.99
PRICE_STEP = "Pass the prices of the rounds, each with its as_of=, or accept_price=True."


def _queries(
    frames: Frames,
    by: str | None,
    every: str | None,
    price: TrafficPrice | Sequence[TrafficPrice],
    split: str | None,
    ledger: Frames | None,
    labels: pd.DataFrame | None,
    **_: object,
) -> list[Query]:
    _require_split(split)
    call = _call(frames, by, every, require_traffic_prices(price), split, ledger, labels)
    return [call.query, call.parts_query(["price_number"], PRICED), call.parts_query([], DIGESTED)]


STATEMENT = declare.Figure(
    "cost.statement",
    caption="Bill of traffic",
    answer=answers.of_statement,
    answers_over_time=True,
    main_columns=("bytes", "currency", "coin", "requests"),
    added_up=("bytes", "currency", "coin"),
    rows="One row per period and line, including periods without requests; sorted by time and name.",
    by={"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "label": grouping.PARTY_LABEL_GROUP},
    columns=(
        declare.count(
            "requests", "Requests with a part in this line. A shared request can be in several lines.", measure=Count()
        ),
        declare.cost(
            "bytes",
            "Known cost of the line, which is a lower bound if the coverage is below 1.",
            "Traffic cost",
            measure=Total(COST),
        ),
        declare.cost(
            "bytes_paid", "Part of what you paid for committed requests. Missing without ledger=.", measure=Total("paid")
        ),
        declare.amount("currency_exact", "Exact price of the bytes. Missing where `bytes` is.", "currency"),
        declare.amount(
            "currency",
            "Rounded amount. The lines of a period add up to their total, which is rounded half to even.",
            "currency",
            "Amount",
        ),
        declare.amount("rounding_difference", "Rounded minus exact amount.", "currency"),
        declare.amount("coin", "Rounded amount divided by the rate. Missing without rate=.", "coin", "Amount"),
        declare.amount("market_value", "Coin at the market price. Missing without market=.", "currency of the market"),
        declare.label("currency_code", "Currency of the amounts, such as USD."),
        declare.amount("price", "Price of traffic. Missing if parts of the line have several.", "currency per MB"),
        declare.text("price_source", "Source of the price. Missing if it is unknown, or parts of the line have several prices."),
        declare.amount("rate", "The network's own rate. Missing without rate=.", "currency per coin"),
        declare.time("rate_as_of", "Time of the rate. Missing if unknown."),
        declare.text("rate_source", "Source of the rate. Missing if unknown."),
        declare.text("source_ids_sha256", "SHA-256 of the sorted update ids of the line, each followed by a line feed."),
    ),
    has_periods=True,
    others=BYTES,
    queries=_queries,
)
BILLED = {None: BILLED_REQUESTS, "participant": BILLED_REQUESTS, "party": BILLED_BY_PARTY, "label": BILLED_BY_LABEL}
PRICED: dict[str, Measure] = {"bytes": Total(COST)}
DIGESTED: dict[str, Measure] = {"digest": Expression("sha256(string_agg(update_id || chr(10), '' ORDER BY update_id))")}


@STATEMENT.register
def statement(
    frames: Frames,
    *,
    by: Literal["participant", "party", "label"] | None = "party",
    every: str | None = "1mo",
    price: TrafficPrice | Sequence[TrafficPrice],
    rate: NetworkRate | None = None,
    market: MarketRate | None = None,
    rounding: str = "0.01",
    split: Literal["equal", "first", "whole"] | None = None,
    min_coverage: float = MIN_COVERAGE,
    accept_price: bool = False,
    ledger: Frames | None = None,
    labels: pd.DataFrame | None = None,
    accept_survivorship: bool = False,
) -> pd.DataFrame:
    """Return a bill of the traffic, with lines that add up to the rounded total.

    The total of a period is rounded half to even to `rounding`. Each line is rounded down. The remaining units go to the
    lines with the largest remainders. Rejected requests cost, too, and are in the bill.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {None, "participant", "party", "label"}, optional
        Submitting party, submitting participant, label of the submitting party, or one line (default: party). Parties with
        one label share no request.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: 1mo).
    price : TrafficPrice or list of TrafficPrice
        List price of traffic. If there are several, each counts from its ``as_of``, and the first one also before.
    rate : NetworkRate, optional
        The network's own rate, for amounts in coin.
    market : MarketRate, optional
        Market price of the coin, for its value elsewhere.
    rounding : str, optional
        Smallest unit of the amounts [currency] (default: 0.01).
    split : {"equal", "first", "whole"}, optional
        How to divide a request that several parties submitted: in equal parts, all for the first party by name, or all for
        each party, so that the lines add up to more than was spent.
    min_coverage : float, optional
        Minimum share of each period's requests that have a known cost (default: 0.99).
    accept_price : bool, optional
        Accept a price that differs from that of the rounds in the window, such as a reseller's (default: False).
    ledger : Frames, optional
        From :func:`ledgerframes.load_updates` of your participant, for the cost that it paid.
    labels : DataFrame, optional
        From :func:`ledgerframes.labels.read`, for ``by="label"``.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per period and line, including periods without requests; sorted by time and name.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``submitting_participant_uid`` (str, with by="participant"): Participant that submits and pays. Missing without a
          verdict.
        - ``party`` (str, with by="party"): Submitting party. Missing without a verdict or a party.
        - ``label`` (str, with by="label"): Group of the submitting party's label, or the name of a label without a group.
          Missing without a label.
        - ``requests`` (int64, requests): Requests with a part in this line. A shared request can be in several lines.
        - ``bytes`` (Int64, bytes): Known cost of the line, which is a lower bound if the coverage is below 1.
        - ``bytes_paid`` (Int64, bytes): Part of what you paid for committed requests. Missing without ledger=.
        - ``currency_exact`` (decimal128(38, 10)[pyarrow], currency): Exact price of the bytes. Missing where `bytes` is.
        - ``currency`` (decimal128(38, 10)[pyarrow], currency): Rounded amount. The lines of a period add up to their total,
          which is rounded half to even.
        - ``rounding_difference`` (decimal128(38, 10)[pyarrow], currency): Rounded minus exact amount.
        - ``coin`` (decimal128(38, 10)[pyarrow], coin): Rounded amount divided by the rate. Missing without rate=.
        - ``market_value`` (decimal128(38, 10)[pyarrow], currency of the market): Coin at the market price. Missing without
          market=.
        - ``currency_code`` (category): Currency of the amounts, such as USD.
        - ``price`` (decimal128(38, 10)[pyarrow], currency per MB): Price of traffic. Missing if parts of the line have several.
        - ``price_source`` (str): Source of the price. Missing if it is unknown, or parts of the line have several prices.
        - ``rate`` (decimal128(38, 10)[pyarrow], currency per coin): The network's own rate. Missing without rate=.
        - ``rate_as_of`` (datetime64[us, UTC]): Time of the rate. Missing if unknown.
        - ``rate_source`` (str): Source of the rate. Missing if unknown.
        - ``source_ids_sha256`` (str): SHA-256 of the sorted update ids of the line, each followed by a line feed.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    UsageError
        If a price is of another kind or currency, or differs from that of the mining rounds in the window, the ledger is of
        another network, or several parties or labels share requests and `split` is missing.
    CoverageError
        If fewer costs of a period are known than `min_coverage`, or the frames hold committed updates, so that the rejected
        requests would not be in the bill.

    Notes
    -----
    Source: traffic summaries and verdicts of history events. The bill is at the price that you pass. Each participant has a free
    base rate, so it can have paid less (docs/facts.md#free-base-rate). The network's own rate is not a market price
    (docs/facts.md#two-prices).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> price, rate = lf.TrafficPrice("50", "USD/MB"), lf.NetworkRate("0.16", "USD/coin")
    >>> evening = day.between("2026-11-08T18:00:00Z", "2026-11-09")
    >>> bill = lf.cost.statement(evening, by="participant", every="1h", price=price, rate=rate, min_coverage=0)
    >>> bool(bill["bytes"].sum() == lf.cost.spend(evening)["total_traffic_cost"].sum())
    True
    """
    keys = STATEMENT.check(frames, by).key_names
    require_min_coverage(min_coverage)
    prices, rate, market = _check(price, rate, market, split)
    if not accept_price:
        require_prices_of_rounds(frames, prices, PRICE_STEP)
    unit = _rounding_unit(rounding)
    require_rejections(frames, accept_survivorship, "a bill")
    _require_coverage(frames, every, min_coverage)
    call = _call(frames, by, every, prices, split, ledger, labels)
    if split is None and by in NOUNS:
        _require_no_shared_requests(call, NOUNS[by])
    lines = measure(call)
    _require_labels_of_parties(call, lines.keys)
    exact, line_prices = _exact_amounts(call, len(lines), prices)
    rounded = _rounded_lines(exact, lines.keys.get("period_start", 0), unit)
    coin = rate.coins(rounded) if rate else amounts([None] * len(lines))
    values: dict[str, Any] = {
        **lines.keys,
        **lines.values,
        "currency_exact": exact,
        "currency": rounded,
        "rounding_difference": decimals.subtract(rounded, exact, name="rounding_difference"),
        "coin": coin,
        "market_value": market.value(coin) if market else amounts([None] * len(lines)),
        "price": amounts(each.amount if each else None for each in line_prices),
        "price_source": pd.Series([each.source or None if each else None for each in line_prices], dtype="str"),
        **_constant_columns(prices[0].currency, rate, len(lines)),
        "source_ids_sha256": _digests(call, len(lines)),
    }
    result = STATEMENT.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)
    return result.sort_values([*(["period_start"] if every else []), *keys], ignore_index=True) if keys else result


def _check(
    price: TrafficPrice | Sequence[TrafficPrice], rate: NetworkRate | None, market: MarketRate | None, split: str | None
) -> tuple[tuple[TrafficPrice, ...], NetworkRate | None, MarketRate | None]:
    prices = require_traffic_prices(price)
    rate, market = require_price(rate, NetworkRate, "rate"), require_price(market, MarketRate, "market")
    require_one_currency(prices[0], rate, market)
    _require_split(split)
    return prices, rate, market


def _require_split(split: object) -> None:
    if split is not None and not is_choice(split, SPLITS):
        raise UsageError(f"Unknown split {split!r}. Choose from {', '.join(map(repr, SPLITS))}.")


def _rounding_unit(rounding: str) -> Decimal:
    """Return the smallest unit of an amount."""
    if not isinstance(rounding, str) or rounding not in ("1", *(f"0.{'0' * zeros}1" for zeros in range(decimals.DECIMAL_DIGITS))):
        raise UsageError(f"rounding= must be '1', '0.1', '0.01' or a smaller power of ten, got {rounding!r}.")
    return Decimal(rounding)


def _require_coverage(frames: Frames, every: str | None, min_coverage: float) -> None:
    """Raise a CoverageError for periods with too few known costs."""
    periods = measure(Call(replace(STATEMENT, columns=(), others={}), frames, every=every))
    coverage = periods.values["coverage"].to_numpy("float64", na_value=np.nan)
    (positions_below,) = np.nonzero(coverage < min_coverage)
    if not len(positions_below):
        return
    starts = periods.keys.get("period_start")
    times = [] if starts is None else [f"{start:%Y-%m-%d %H:%M}" for start in starts.iloc[positions_below]]
    name = f"the period from {times[0]}" if times else "the window"
    lowest = printing.share(float(coverage[positions_below[0]]))
    raise CoverageError(
        f"Cannot bill {name} because the cost of only {lowest} of its requests in these frames is known. "
        "Choose another window, or pass a lower min_coverage=.",
        missing=tuple(times) or ("the window",),
    )


def _call(
    frames: Frames,
    by: str | None,
    every: str | None,
    prices: Sequence[TrafficPrice],
    split: str | None,
    ledger: Frames | None,
    labels: pd.DataFrame | None,
) -> Call:
    """Return the call for the lines of a bill.

    The lines are requests, or parts of requests by party or label.
    """
    rows = BILLED[by]
    if by in NOUNS and split in SPLITS:
        rows = SPLITS[split](rows)
    lines = replace(STATEMENT, by={"line": replace(STATEMENT.grouping(by), rows=rows)})
    starts = pa.array([[extents.microseconds(each.as_of) for each in prices[1:] if each.as_of]], pa.list_(pa.int64()))
    tables = {"price_starts": pa.table({"starts": starts}), "paid_updates": _paid_updates(frames, ledger)}
    return Call(lines, frames, "line", every, labels=labels, tables=tables)


def _paid_updates(frames: Frames, ledger: Frames | None) -> pa.Table:
    """Return the costs that the caller's own participants paid, or none without a ledger."""
    names = ["participant_id", "offset", "update_id", "paid_traffic_cost"]
    if ledger is None:
        return pa.table({name: pa.array([], kind) for name, kind in PAID_TYPES.items()})
    STATEMENT.check(ledger)
    require_one_network(STATEMENT.name, frames, ledger)
    with ledger._scanning("ledger_updates") as rows:
        return rows.to_table(columns=names).rename_columns(list(PAID_TYPES))


def _require_labels_of_parties(call: Call, lines: pd.DataFrame) -> None:
    """Raise a UsageError if labels name submitting participants and no submitting party."""
    if "label" not in lines or lines["label"].notna().any():
        return
    by_submitter = replace(STATEMENT, by={"label": grouping.LABEL_GROUP}, columns=(), others={})
    if measure(Call(by_submitter, call.frames, "label", labels=call.labels)).keys["label"].notna().any():
        raise UsageError(
            "labels= must name submitting parties, and it names participants alone. "
            "Pass by='participant', and name the lines by lf.labels.apply."
        )


def _require_no_shared_requests(call: Call, noun: str) -> None:
    """Raise a UsageError if several parties or labels share requests."""
    select = f"SELECT count(DISTINCT update_id) AS shared\nFROM {call.grouping.rows.name}\nWHERE part_count > 1"
    number = int(run(call.frames, Query(select, (call.grouping.rows,), call.parameters))["shared"].iloc[0])
    if number:
        raise UsageError(f"Several {noun} share {number:,} requests. Pass split='equal', 'first' or 'whole'.")


def _digests(call: Call, line_count: int) -> pd.Series:
    """Return the digest of the update ids of each line, missing for a line without ids."""
    rows = run(call.frames, call.parts_query([], DIGESTED))
    return rows["digest"].set_axis(groups_of(call, rows).codes).reindex(range(line_count))


def _exact_amounts(call: Call, line_count: int, prices: Sequence[TrafficPrice]) -> tuple[pd.Series, list[TrafficPrice | None]]:
    """Return the exact amount of each line, and its price unless parts have several."""
    rows = run(call.frames, call.parts_query(["price_number"], PRICED))
    rows = rows.set_index(pd.Index(groups_of(call, rows).codes))
    parts = [
        price.of_bytes(rows["bytes"][rows["price_number"] == number].reindex(range(line_count)))
        for number, price in enumerate(prices)
    ]
    exact: list[Decimal | None] = []
    line_prices: list[TrafficPrice | None] = []
    for line in zip(*parts, strict=True):
        billed = {number: amount for number, amount in enumerate(line) if not pd.isna(amount)}
        amount = decimals.total(pd.Series(list(billed.values()), dtype=decimals.DTYPE))
        exact.append(amount if isinstance(amount, Decimal) else None)
        first, *others = billed or range(len(prices))
        line_prices.append(None if others else prices[first])
    return amounts(exact), line_prices


def _rounded_lines(exact: pd.Series, periods: pd.Series | int, unit: Decimal) -> pd.Series:
    """Return amounts in whole units, which add up to the rounded total of each period."""
    rounded: list[Decimal | None] = [None] * len(exact)
    lines = pd.DataFrame({"amount": exact.to_numpy(object), "period": periods})
    for _, part in lines[exact.notna().to_numpy()].groupby("period"):
        exact_units = [Fraction(each) / Fraction(unit) for each in part["amount"]]
        for position, units in zip(part.index, largest_remainder(exact_units), strict=True):
            rounded[position] = units * unit
    return amounts(rounded)


def _constant_columns(currency: str, rate: NetworkRate | None, count: int) -> dict[str, Any]:
    """Return currency and rate, which are the same in every line."""
    return {
        "currency_code": pd.Categorical([currency] * count, categories=[currency]),
        "rate": amounts([rate.amount if rate else None] * count),
        "rate_as_of": rate.as_of if rate else None,
        "rate_source": rate.source if rate and rate.source else None,
    }
