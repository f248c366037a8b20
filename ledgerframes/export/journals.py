"""Files of hledger and beancount, from the entries of a journal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from io import TextIOBase
from typing import Any, BinaryIO, Literal

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.values.decimals import EXACT
from ledgerframes.values.money import rounded

COLUMNS = ("entry_id", "date", "account", "debit", "credit", "currency_code", "memo", "source_ids_sha256")
BEANCOUNT_ACCOUNT = re.compile(r"(Assets|Liabilities|Equity|Income|Expenses)(:[A-Z0-9][A-Za-z0-9-]*)+")
# A text that hledger reads as the name and nothing else: no comment, no virtual posting, no amount after two spaces.
HLEDGER_ACCOUNT = re.compile(r"[^\s;()\[\]*!:=@\"'][^\s;()\[\]=@\"']*( [^\s;()\[\]=@\"']+)*")
CURRENCY = re.compile(r"[A-Z][A-Z0-9]{0,22}[A-Z0-9]")


def write_journal(journal: pd.DataFrame, file: BinaryIO, *, program: Literal["hledger", "beancount"]) -> None:
    """Write the entries of a journal for a program of plain text accounting.

    Each entry becomes a transaction with its id, memo and digest, and accounts and currencies are declared, so that the program's
    strictest checks pass.

    Parameters
    ----------
    journal : DataFrame
        From :func:`ledgerframes.cost.journal`.
    file : binary file
        Opened for writing.
    program : {"hledger", "beancount"}
        Program that reads the file. An account of beancount starts with Assets, Liabilities, Equity, Income or Expenses.

    Raises
    ------
    UsageError
        If `journal` is not a journal, `file` is not a binary file, or the program cannot read the name of an account or a
        currency.

    Notes
    -----
    Source: docs/money.md#entries.

    Examples
    --------
    >>> from io import BytesIO
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> price = lf.TrafficPrice("50", "USD/MB")
    >>> bill = lf.cost.statement(frames, by="participant", every="1d", price=price, accept_price=True, min_coverage=0)
    >>> accounts = {"traffic": ("Expenses:Traffic", "Assets:Prepaid:Traffic")}
    >>> file = BytesIO()
    >>> entries = lf.cost.journal(bill, accounts=accounts, accept_partial=True)
    >>> lf.export.write_journal(entries, file, program="beancount")
    >>> b"Expenses:Traffic" in file.getvalue()
    True
    """
    if program not in WRITERS:
        raise UsageError(f"program= must be 'hledger' or 'beancount', got {program!r}.")
    if not isinstance(journal, pd.DataFrame) or not set(COLUMNS) <= set(journal.columns):
        raise UsageError("journal= must be the result of lf.cost.journal(statement, accounts=…).")
    _require_binary(file)
    pattern, declare, to_text = WRITERS[program]
    accounts, currencies = (sorted(set(journal[name].astype("str"))) for name in ("account", "currency_code"))
    _require_names(program, "account", accounts, pattern)
    _require_names(program, "currency", currencies, CURRENCY)
    first_day = f"{journal['date'].min():%Y-%m-%d}" if len(journal) else ""
    parts = ["\n".join(declare(accounts, currencies, first_day))]
    parts += [to_text(entry.to_dict("records")) for _, entry in journal.groupby("entry_id", sort=False)]
    file.write(("\n\n".join(part for part in parts if part) + "\n").encode())


def _require_binary(file: object) -> None:
    if not hasattr(file, "write") or isinstance(file, TextIOBase):
        raise UsageError(f'file= must be a binary file, such as open("november.journal", "wb"), got {type(file).__name__}.')


def _require_names(program: str, noun: str, names: Sequence[str], pattern: re.Pattern[str]) -> None:
    unreadable = [name for name in names if not pattern.fullmatch(name)]
    if unreadable:
        raise UsageError(f"journal= has the {noun} {unreadable[0]!r}, which {program} cannot read. Choose another in accounts=.")


# -- hledger --------------------------------------------------------------------------------------------------------------


def _declare_for_hledger(accounts: Sequence[str], currencies: Sequence[str], first_day: str) -> Iterator[str]:
    yield from (f"commodity 1000.00 {currency}" for currency in currencies)
    yield from (f"account {account}" for account in accounts)


def _hledger_entry(rows: Sequence[dict[Any, Any]]) -> str:
    first = rows[0]
    # A semicolon would begin a comment, and a bar separates a payee.
    memo = _one_line(first["memo"]).replace(";", ",").replace("|", "/")
    lines = [f"{first['date']:%Y-%m-%d} * ({first['entry_id']}) {memo}", f"    ; source_ids_sha256: {first['source_ids_sha256']}"]
    return "\n".join([*lines, *(f"    {row['account']}  {_signed(row)} {row['currency_code']}" for row in rows)])


# -- beancount ------------------------------------------------------------------------------------------------------------


def _declare_for_beancount(accounts: Sequence[str], currencies: Sequence[str], first_day: str) -> Iterator[str]:
    yield from (f"{first_day} open {account}" for account in accounts)


def _beancount_entry(rows: Sequence[dict[Any, Any]]) -> str:
    first = rows[0]
    memo = _one_line(first["memo"]).replace("\\", "\\\\").replace('"', '\\"')
    lines = [f'{first["date"]:%Y-%m-%d} * "{memo}"']
    lines += [f'  {name}: "{first[key]}"' for name, key in (("entry-id", "entry_id"), ("source-ids-sha256", "source_ids_sha256"))]
    return "\n".join([*lines, *(f"  {row['account']}  {_signed(row)} {row['currency_code']}" for row in rows)])


def _signed(row: dict[Any, Any]) -> Decimal:
    """Return a debit as a positive amount and a credit as a negative one, to the cent."""
    amount = EXACT.minus(row["credit"]) if pd.isna(row["debit"]) else row["debit"]
    return rounded(amount)


def _one_line(text: str) -> str:
    return escape_control(" ".join(text.split()))


Writer = tuple[re.Pattern[str], Callable[[Sequence[str], Sequence[str], str], Iterator[str]], Callable[..., str]]
WRITERS: dict[str, Writer] = {
    "hledger": (HLEDGER_ACCOUNT, _declare_for_hledger, _hledger_entry),
    "beancount": (BEANCOUNT_ACCOUNT, _declare_for_beancount, _beancount_entry),
}
