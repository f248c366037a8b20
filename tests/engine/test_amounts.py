"""Amounts in the engine's SQL against decimals of Python."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import duckdb
import pyarrow as pa
import pytest

from ledgerframes.analysis._amounts import multiply, to_decimal
from ledgerframes.engine.amounts import amount_of, exact, product_of, whole

TEXTS = (
    "1", "1.5", "+5", "-1.5", ".5", "5.", "1.5E3", "1.5e-3", "0E-10", "0E-12", "1E-10", "1E-11", "-1.23E-8", "1.2345E-8",
    "1.230000000000E-8", "100E-12", "10E-12", "1.5E-20", "1.12345678905", "1.123456789000", "00012.5", "-0",
    "1234567890123456789.0123456789", "99999999999999999999999999999", "1e30", "1e400", "1e-400", "nan", "Infinity", "", "-",
    "0E", "0Ee1", "0E+3", "0E1.5", "0x10", "true", "e", "e5", "1e", "1.5d", '{"e":1.1}',
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_an_amount_or_unknown_and_never_rounded(text: str) -> None:
    rows = pa.table({"text": [text]})
    assert select(rows, amount_of("text")) == [to_decimal(text)]


def test_products_are_half_even_with_every_digit() -> None:
    random = Random(1)
    pairs = [(Decimal(number) * Decimal("0.5"), Decimal(number * 3).scaleb(-10)) for number in range(-50, 50)]
    for _ in range(2_000):
        left, right = (random.randrange(-(10**digits), 10**digits) for digits in (random.randrange(1, 22) for _ in range(2)))
        pairs.append((Decimal(left).scaleb(-10), Decimal(right).scaleb(-10)))
    columns = zip(*pairs, strict=True)
    rows = pa.table({name: pa.array(each, pa.decimal128(38, 10)) for name, each in zip("ab", columns, strict=True)})
    assert select(rows, product_of("a", "b")) == [multiply(*pair) for pair in pairs]


def test_a_product_that_is_too_large_is_unknown() -> None:
    rows = pa.table({name: pa.array([Decimal(10) ** 20], pa.decimal128(38, 10)) for name in "ab"})
    assert select(rows, product_of("a", "b")) == [None]


def test_whole_numbers_have_no_places() -> None:
    rows = pa.table({"text": ["7", "-7", "7.0", "1e3", "", None, "9" * 19]})
    assert select(rows, whole("text")) == [7, -7, None, None, None, None, None]


def test_decimals_of_payloads_become_texts_and_all_else_stays() -> None:
    payloads = {
        '{"a":1.50}': '{"a":"1.50"}',
        '{"a": \t-1e5,"b":{"c":2.0}}': '{"a": \t"-1e5","b":{"c":"2.0"}}',
        '{"a":15,"b":"1.5"}': '{"a":15,"b":"1.5"}',
        r'{"a":"text \":1.5"}': r'{"a":"text \":1.5"}',
        "{}": "{}",
    }
    assert select(pa.table({"payload": list(payloads)}), exact("payload")) == list(payloads.values())
    assert select(pa.table({"payload": pa.array([None], pa.string())}), exact("payload")) == [None]


def select(rows: pa.Table, expression: str) -> list[object]:
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        return [value for (value,) in connection.execute(f"SELECT {expression} FROM rows").fetchall()]
