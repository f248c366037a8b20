"""The table of active contracts from lines of bulk objects."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa

from ledgerframes.datasets._columns import StructColumns
from ledgerframes.datasets.arrays import split_template_ids
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.bulk.schema import ACTIVE_CONTRACTS
from ledgerframes.datasets.bulk.wire import ActiveContract


class ActiveContractTableBuilder:
    """Builder of the table of active contracts at a snapshot, from batches of lines."""

    def __init__(self, snapshot_time: datetime) -> None:
        self._snapshot_time = snapshot_time
        self._batches = [ACTIVE_CONTRACTS.empty_arrow()]
        self.bytes = 0  # of the batches in Arrow

    @decode_boundary()
    def add(self, contracts: Sequence[ActiveContract]) -> None:
        """Add a batch of contracts in any order.

        Raises
        ------
        DecodeError
            If a time cannot be read, or a payload is not UTF-8.
        """
        columns = StructColumns.from_structs(ActiveContract, contracts)
        batch = columns.to_table(
            ACTIVE_CONTRACTS,
            {
                "snapshot_time": self._snapshot_time,
                **split_template_ids(columns["template_id"]),
                "created_in_update_id": [contract.created_in for contract in contracts],
            },
        )
        self._batches.append(batch)
        self.bytes += batch.nbytes

    def tables(self) -> dict[str, pa.Table]:
        """Return the table of all contracts, sorted as declared.

        Raises
        ------
        DecodeError
            If a contract occurs twice.
        """
        rows = ACTIVE_CONTRACTS.sorted(pa.concat_tables(self._batches))
        ACTIVE_CONTRACTS.require_distinct(rows)
        return {ACTIVE_CONTRACTS.name: rows}
