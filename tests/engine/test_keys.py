"""Keys of ids."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from ledgerframes.engine.keys import key_of


def test_each_id_has_its_own_key_and_a_missing_one_has_none() -> None:
    # Some differ at their start, some at their end, and some are short.
    ids = [f"1220{number:06x}{'ab' * 29}" for number in range(50_000)]
    ids += [f"1220{'cd' * 29}{number:06x}" for number in range(50_000)]
    ids += [str(number) for number in range(50_000)]
    rows = pa.table({"id": pa.array([*ids, *ids, None, ""], pa.string())})
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        select = f"SELECT count(DISTINCT id), count(DISTINCT {key_of('id')}), count({key_of('id')}) FROM rows"
        assert connection.execute(select).fetchone() == (150_001, 150_001, 300_001)
