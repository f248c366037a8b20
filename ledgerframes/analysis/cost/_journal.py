"""Balanced entries of a bill, for a bookkeeper."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts, to_decimal
from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.cost._statement import STATEMENT
from ledgerframes.errors import CoverageError, IntegrityError, UsageError
from ledgerframes.values import decimals
from ledgerframes.values.money import rounded

TRAFFIC = "traffic"
KINDS = (TRAFFIC, "rewards", "purchases", "fees")
UNITS = ("bytes", "coin")
ID_LENGTH = 16
POSTING_COLUMNS = ("date", "party", "kind", "quantity", "unit", "rate", "rate_source", "source_id")
JOURNAL = declare.Figure(
    "cost.journal",
    caption="Journal of traffic",
    answer=answers.of_journal,
    main_columns=("date", "entry_id", "party", "account", "debit", "credit", "memo"),
    without_query="it reads a bill, not frames. Show the query of lf.cost.statement",
    rows="Two rows per entry; sorted by date, entry, and debit first.",
    columns=(
        declare.text("entry_id", "Id of the entry, which is the same for the same network, period, party and kind."),
        declare.time("date", "Last day of the period, or day of the posting."),
        declare.choice("kind", KINDS),
        declare.text("party", "Party, participant or label of the line. Missing if it is unknown."),
        declare.text("account", "Account of the mapping."),
        declare.amount("debit", "Amount debited. Missing for a credit.", "currency"),
        declare.amount("credit", "Amount credited. Missing for a debit.", "currency"),
        declare.label("currency_code", "Currency of the amounts, such as USD."),
        declare.amount("quantity", "Bytes or coin of the entry."),
        declare.choice("unit", UNITS, "Unit of the quantity, bytes or coin."),
        declare.amount("rate", "Price per megabyte or per coin. Missing if the line has several.", "currency per MB or coin"),
        declare.text("rate_source", "Source of the rate. Missing if unknown."),
        declare.text("memo", "Description of the entry."),
        declare.text("source_ids_sha256", "Digest of the ids that the entry rests on."),
    ),
    unit="requests of this entry",
)


@JOURNAL.register
def journal(
    statement: pd.DataFrame,
    *,
    accounts: Mapping[str, tuple[str, str]],
    postings: pd.DataFrame | None = None,
    accept_partial: bool = False,
) -> pd.DataFrame:
    """Return balanced double entries of a bill, and of other postings.

    Parameters
    ----------
    statement : DataFrame
        From :func:`ledgerframes.cost.statement`, with periods.
    accounts : mapping of str to (str, str)
        Account to debit and account to credit of each kind: traffic, rewards, purchases, fees.
    postings : DataFrame, optional
        Amounts in coin or bytes of other kinds: ``date``, ``party``, ``kind``, ``quantity``, ``unit`` (``coin`` or
        ``bytes``), ``rate`` (per coin or MB), ``rate_source``, ``source_id``. Rewards have the rate of their round.
        Purchases are a prepaid asset, and the traffic is the expense.
    accept_partial : bool, optional
        Include periods that final data do not fully cover (default: False).

    Returns
    -------
    DataFrame
        Two rows per entry; sorted by date, entry, and debit first.

        Columns:

        - ``entry_id`` (str): Id of the entry, which is the same for the same network, period, party and kind.
        - ``date`` (datetime64[us, UTC]): Last day of the period, or day of the posting.
        - ``kind`` (category): traffic, rewards, purchases, or fees.
        - ``party`` (str): Party, participant or label of the line. Missing if it is unknown.
        - ``account`` (str): Account of the mapping.
        - ``debit`` (decimal128(38, 10)[pyarrow], currency): Amount debited. Missing for a credit.
        - ``credit`` (decimal128(38, 10)[pyarrow], currency): Amount credited. Missing for a debit.
        - ``currency_code`` (category): Currency of the amounts, such as USD.
        - ``quantity`` (decimal128(38, 10)[pyarrow]): Bytes or coin of the entry.
        - ``unit`` (category): Unit of the quantity, bytes or coin.
        - ``rate`` (decimal128(38, 10)[pyarrow], currency per MB or coin): Price per megabyte or per coin. Missing if the line
          has several.
        - ``rate_source`` (str): Source of the rate. Missing if unknown.
        - ``memo`` (str): Description of the entry.
        - ``source_ids_sha256`` (str): Digest of the ids that the entry rests on.
        - ``coverage`` (float64, share of 1): Share of the requests of this entry with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If a kind has no accounts, a posting cannot be read, or lines belong to two networks or currencies.
    CoverageError
        If a period is partial.
    IntegrityError
        If lines of the statement were changed so that they do not add up, or two entries have one id.

    Notes
    -----
    Lines with an unknown cost or an amount of 0 have no entry. Amounts of postings with more than 2 places are rounded half
    to even.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> price = lf.TrafficPrice("50", "USD/MB")
    >>> evening = day.between("2026-11-08T18:00:00Z", "2026-11-09")
    >>> bill = lf.cost.statement(evening, by="participant", every="1d", price=price, min_coverage=0)
    >>> entries = lf.cost.journal(bill, accounts={"traffic": ("5200", "1400")}, accept_partial=True)
    >>> bool(lf.decimals.total(entries["debit"]) == lf.decimals.total(bill["currency"]))
    True
    """
    key = _check(statement)
    _require_totals(statement)
    if not accept_partial:
        _require_whole_periods(statement)
    entries = [*_bill_entries(statement, key), *_posting_entries(postings, statement)]
    _require_accounts(entries, accounts)
    _require_distinct(entries)
    entries.sort(key=lambda entry: (entry["date"], entry["entry_id"]))
    return _build(entries, accounts, statement)


def _check(statement: object) -> str | None:
    """Return the column that names the lines of a statement."""
    names = [column.name for column in (*STATEMENT.columns, *STATEMENT.tail)]
    advice = "Pass the result of lf.cost.statement(frames, price=…) to lf.cost.journal"
    statement = require_columns(statement, names, advice)
    if "period_start" not in statement:
        raise UsageError(f"{advice} with every=, because an entry needs a date.")
    for name in ("network", "currency_code"):
        if len(values := sorted(statement[name].dropna().astype("str").unique())) > 1:
            raise UsageError(f"A journal has one {name}, got {' and '.join(values)}. Call lf.cost.journal once for each.")
    return next((name for name in ("party", "submitting_participant_uid", "label") if name in statement), None)


def _require_whole_periods(statement: pd.DataFrame) -> None:
    partial = statement[statement["is_partial"].fillna(value=True).astype(bool) & statement["currency"].notna()]
    if len(partial):
        name = f"{partial['period_start'].iloc[0]:%Y-%m-%d}"
        raise CoverageError(
            f"Cannot close the period from {name} because final data do not cover it. "
            "Choose whole periods, or pass accept_partial=True.",
            missing=(name,),
        )


def _require_totals(statement: pd.DataFrame) -> None:
    """Raise an IntegrityError unless each amount is its exact value plus its rounding."""
    failures = {}
    known = statement[statement["currency"].notna()]
    with localcontext(prec=2 * decimals.PRECISION):
        for position, (amount, exact, rounding) in enumerate(
            zip(known["currency"], known["currency_exact"], known["rounding_difference"], strict=True)
        ):
            if amount != exact + rounding:
                failures[f"line {position}"] = f"{exact} and {rounding} are not {amount}"
    if failures:
        raise IntegrityError(
            f"Lines of the statement do not add up: {', '.join(failures.values())}. Compute the statement again.",
            failures=failures,
        )


def _entry(statement: pd.DataFrame, period: str, **facts: Any) -> dict[str, Any]:
    """Return an entry, whose id is the same in a second run, so that it is imported once."""
    kind, party = facts["kind"], facts["party"]
    network = str(statement["network"].iloc[0]) if len(statement) else ""
    name = "party without a name" if party == "" else party or ""  # empty if the party is unknown
    entry_id = hashlib.sha256("\n".join([network, period, name, kind]).encode()).hexdigest()[:ID_LENGTH]
    memo = f"{kind} {period}, {name or 'unknown party'}: {facts['quantity'].normalize():f} {facts['unit']}"
    return {"entry_id": entry_id, "memo": memo, **facts}


def _bill_entries(statement: pd.DataFrame, key: str | None) -> Iterator[dict[str, Any]]:
    for line in statement.to_dict("records"):
        if pd.isna(line["currency"]) or line["currency"] == 0:
            continue
        name = line[key] if key else "all"
        yield _entry(
            statement,
            f"{line['period_start']:%Y-%m-%dT%H:%MZ}/{line['period_end']:%Y-%m-%dT%H:%MZ}",
            date=(line["period_end"] - pd.Timedelta(microseconds=1)).normalize(),
            kind=TRAFFIC,
            party=None if pd.isna(name) else name,
            amount=line["currency"],
            currency_code=line["currency_code"],
            quantity=Decimal(line["bytes"]),
            unit="bytes",
            rate=line["price"],
            rate_source=line["price_source"],
            **{name: line[name] for name in ("source_ids_sha256", "coverage", "coverage_time")},
        )


def _posting_entries(postings: pd.DataFrame | None, statement: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield one entry for each posting whose amount is not 0."""
    if postings is None or (isinstance(postings, pd.DataFrame) and postings.empty):
        return
    require_columns(postings, POSTING_COLUMNS, f"postings= must be a DataFrame with the columns {', '.join(POSTING_COLUMNS)}")
    currency = str(statement["currency_code"].iloc[0]) if len(statement) else "USD"
    for posting in postings.to_dict("records"):
        quantity, rate = (_decimal(posting[name], name) for name in ("quantity", "rate"))
        _require_posting(posting)
        date = _day(posting["date"])
        with localcontext(prec=2 * decimals.PRECISION):
            amount = rounded(quantity * rate * (Decimal("1e-6") if posting["unit"] == "bytes" else 1))
        if amount:
            source_id = str(posting["source_id"])
            yield _entry(
                statement,
                f"{date:%Y-%m-%d}/{source_id}",
                date=date,
                party=None if pd.isna(posting["party"]) else posting["party"],
                amount=amount,
                currency_code=currency,
                quantity=quantity,
                rate=rate,
                source_ids_sha256=hashlib.sha256(f"{source_id}\n".encode()).hexdigest(),
                coverage=1.0,
                coverage_time=np.nan,
                **{name: posting[name] for name in ("kind", "unit", "rate_source")},
            )


def _require_posting(posting: Mapping[Any, Any]) -> None:
    if posting["kind"] not in KINDS[1:]:
        raise UsageError(f"postings= must be of kind {', '.join(KINDS[1:])}, got {posting['kind']!r}.")
    if posting["unit"] not in UNITS:
        raise UsageError(f"postings= must have unit 'bytes' or 'coin', got {posting['unit']!r}.")


def _day(value: Any) -> pd.Timestamp:
    """Return the day of a time in UTC, so that a time has the same day in every zone."""
    try:
        time: pd.Timestamp | None = pd.Timestamp(value)
    except (TypeError, ValueError):
        time = None
    if time is None or time.tzinfo is None:
        raise UsageError(f"postings= must have dates with a time zone, such as 2026-11-08T17:00Z, got {value!r}.")
    return time.tz_convert("UTC").normalize()


def _decimal(value: object, name: str) -> Decimal:
    number = to_decimal(value)
    if number is None or number < 0:
        raise UsageError(f"postings= must have a {name} of at least 0 as Decimal or int with at most 10 places, got {value!r}.")
    return number


def _require_accounts(entries: Sequence[Mapping[str, Any]], accounts: Mapping[str, tuple[str, str]]) -> None:
    if not isinstance(accounts, Mapping):
        raise UsageError(f"accounts= must be a dict with a pair of accounts for each kind of entry, got {accounts!r}.")
    for kind in dict.fromkeys(each["kind"] for each in entries):
        pair = accounts.get(kind)
        if not isinstance(pair, tuple | list) or len(pair) != 2 or pair[0] == pair[1]:
            raise UsageError(f"accounts= must have a pair of different accounts for {kind!r}, got {pair!r}.")


def _require_distinct(entries: Sequence[Mapping[str, Any]]) -> None:
    counts = Counter(each["entry_id"] for each in entries)
    repeated = {each["memo"]: "same id" for each in entries if counts[each["entry_id"]] > 1}
    if repeated:
        raise IntegrityError(f"Entries are repeated: {', '.join(repeated)}. Pass each line and posting once.", failures=repeated)


def _build(
    entries: Sequence[Mapping[str, Any]], accounts: Mapping[str, tuple[str, str]], statement: pd.DataFrame
) -> pd.DataFrame:
    """Return the debit and the credit of each entry."""
    sides = [
        {**each, "account": account, side: each["amount"]}
        for each in entries
        for side, account in zip(("debit", "credit"), accounts[each["kind"]], strict=True)
    ]
    rows = pd.DataFrame(sides, columns=[*(column.name for column in JOURNAL.columns), "coverage", "coverage_time"])
    first_line = np.full(len(rows), 0 if len(statement) else -1)
    values: dict[str, Any] = {
        **rows,
        "date": pd.Series(rows["date"], dtype=declare.TIME),
        **{name: statement[name].array.take(first_line, allow_fill=True) for name in ("population", "network")},
    }
    for name in ("debit", "credit", "quantity", "rate"):
        values[name] = amounts(None if pd.isna(value) else value for value in rows[name])
    result = JOURNAL.build(None, values)
    debit, credit = decimals.total(result["debit"]), decimals.total(result["credit"])
    if debit != credit:
        raise IntegrityError(
            f"Debits of {debit} and credits of {credit} differ.", failures={"total": "debits and credits differ"}
        )
    return result
