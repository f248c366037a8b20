"""Price votes, worked out by hand."""

from __future__ import annotations

from decimal import Decimal

from ledgerframes import testing
from ledgerframes.analysis import FIGURES, votes


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two():
    table = testing.table("price_votes").sample(
        3, observed_at=testing.START, last_updated_at=testing.START, price=[Decimal("0.15"), Decimal("0.16"), None]
    )
    (row,) = votes.price(table).itertuples()
    assert (row.voters, row.votes, row.median, row.spread) == (3, 2, Decimal("0.155"), Decimal("0.01"))
    assert row.coverage == 2 / 3


def test_votes_have_the_columns_of_every_result():
    for rows in (0, 3):
        result = votes.price(testing.table("price_votes").sample(rows))
        columns = FIGURES["votes.price"].result_columns()
        assert list(result.columns) == [column.name for column in columns]
        assert [str(dtype) for dtype in result.dtypes] == [column.dtype for column in columns]
        assert result[["coverage_bytes", "coverage_time", "population", "network"]].isna().all(axis=None)
