"""Journals of plain text accounting: what the programs read is what the entries say."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from decimal import Decimal
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.errors import UsageError

ACCOUNTS = {
    "traffic": ("Expenses:Traffic", "Assets:Prepaid:Traffic"),
    "rewards": ("Assets:Coin", "Income:Rewards"),
}
PROGRAMS = ("hledger", "beancount")
POSTING = re.compile(r"^ +(\S.*?)  (-?\d+\.\d\d) (\w+)$")
CHECKS = {"hledger": ["hledger", "check", "--strict", "-f"], "beancount": ["bean-check"]}


@pytest.fixture(scope="module")
def journal(sandbox_history: lf.Frames) -> pd.DataFrame:
    price = lf.TrafficPrice("50", "USD/MB")
    bill = lf.cost.statement(sandbox_history, by="participant", every="1d", price=price, min_coverage=0, accept_price=True)
    posting = {"date": "2026-11-08T17:00Z", "party": 'a; |\n"b\\', "kind": "rewards", "quantity": Decimal("10"), "unit": "coin"}
    postings = pd.DataFrame([{**posting, "rate": Decimal("0.16"), "rate_source": "round 7", "source_id": "x"}])
    return lf.cost.journal(bill, accounts=ACCOUNTS, postings=postings, accept_partial=True)


def written(journal: pd.DataFrame, program: Any) -> str:
    file = BytesIO()
    lf.export.write_journal(journal, file, program=program)
    return file.getvalue().decode()


def balances(text: str) -> dict[tuple[str, str], Decimal]:
    """The sum of each account, and a check that each transaction balances."""
    totals: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for transaction in text.split("\n\n"):
        postings = [match.groups() for line in transaction.splitlines() if (match := POSTING.match(line))]
        assert sum(Decimal(amount) for _, amount, _ in postings) == 0
        for account, amount, currency in postings:
            totals[account, currency] += Decimal(amount)
    return dict(totals)


@pytest.mark.parametrize("file", ["november.journal", Path("november.journal"), StringIO()])
def test_what_is_no_binary_file_is_refused(journal: pd.DataFrame, file: Any) -> None:
    with pytest.raises(UsageError, match=rf'file= must be a binary file, such as open\(.*, "wb"\), got {type(file).__name__}\.'):
        lf.export.write_journal(journal, file, program="hledger")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_balances_are_those_of_the_entries(journal: pd.DataFrame, program: str) -> None:
    expected: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in journal.to_dict("records"):
        expected[row["account"], row["currency_code"]] += row["debit"] if not pd.isna(row["debit"]) else -row["credit"]
    text = written(journal, program)
    assert balances(text) == dict(expected)
    assert text.count(" * ") == journal["entry_id"].nunique() > 2
    assert all(entry_id in text for entry_id in journal["entry_id"])


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_program_itself_accepts_the_file(journal: pd.DataFrame, program: str, tmp_path: Path) -> None:
    if shutil.which(CHECKS[program][0]) is None:
        pytest.skip(f"{CHECKS[program][0]} is not installed.")
    path = tmp_path / f"month.{program}"
    path.write_text(written(journal, program))
    checked = subprocess.run([*CHECKS[program], str(path)], capture_output=True, text=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


@pytest.mark.parametrize("program", PROGRAMS)
@given(memo=st.text(max_size=60))
def test_no_text_of_the_ledger_becomes_an_entry(journal: pd.DataFrame, program: str, memo: str) -> None:
    few = journal.head(4)
    hostile, expected = written(few.assign(memo=memo), program), written(few, program)
    assert balances(hostile) == balances(expected)
    assert len(hostile.split("\n\n")) == len(expected.split("\n\n"))


def test_an_amount_has_all_its_digits(journal: pd.DataFrame) -> None:
    most = Decimal("9" * 28)
    entry = journal[journal["entry_id"] == journal["entry_id"].iloc[0]]
    largest = entry.assign(**{name: entry[name].mask(entry[name].notna(), most) for name in ("debit", "credit")})
    assert {*balances(written(largest, "hledger")).values()} == {most, -most}


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_entries_make_an_empty_file(journal: pd.DataFrame, program: str) -> None:
    assert written(journal.iloc[:0], program).strip() == ""


@pytest.mark.parametrize(
    ("program", "account"),
    [
        *(("hledger", account) for account in ("", " a", "a  b", "a;b", "(a)", "[a]", "a\nb", "* a", "! a", "a = 5")),
        *(("beancount", account) for account in ("5200", "Expenses", "expenses:Traffic", "Expenses:traffic", "Assets:A b")),
    ],
)
def test_an_account_that_the_program_cannot_read_is_refused(journal: pd.DataFrame, program: str, account: str) -> None:
    with pytest.raises(lf.UsageError, match=f"which {program} cannot read. Choose another"):
        written(journal.assign(account=account), program)


def test_a_number_is_an_account_of_hledger(journal: pd.DataFrame) -> None:
    assert ("5200", "USD") in balances(written(journal.assign(account="5200"), "hledger"))


def test_another_program_and_another_frame_are_refused(journal: pd.DataFrame) -> None:
    with pytest.raises(lf.UsageError, match="program= must be 'hledger' or 'beancount', got 'gnucash'"):
        written(journal, "gnucash")
    with pytest.raises(lf.UsageError, match=r"journal= must be the result of lf\.cost\.journal"):
        written(pd.DataFrame(), "hledger")
