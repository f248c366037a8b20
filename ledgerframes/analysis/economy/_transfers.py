"""Transfers and allocations of tokens of any instrument, from the trees of the history."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import to_amounts
from ledgerframes.engine import Query, run
from ledgerframes.engine.tokens import TOKEN_TRANSFERS
from ledgerframes.frames import Frames

UNKNOWN = "Missing if the trees do not name it."
WITHOUT_START = "Missing if no tree names it, such as for a settlement whose start is not in the frames."
QUERY = Query("FROM token_transfers", (TOKEN_TRANSFERS,))
TRANSFERS = declare.Figure(
    "economy.transfers",
    caption="Transfers and settlements of tokens",
    rows="One row per exercise of a transfer or an allocation; sorted by time.",
    main_columns=("record_time", "sender", "receiver", "amount", "instrument_id", "choice", "update_id"),
    columns=(
        declare.time("record_time", "Record time of the update."),
        declare.text("update_id", "Update of the exercise."),
        declare.text("contract_id", "Contract on which the choice is exercised."),
        declare.text("package_name", "Package of the contract."),
        declare.text("template_name", "Module and entity of the contract."),
        declare.text("choice", "Choice of the token standard."),
        declare.text("sender", f"Party that sends. {UNKNOWN}"),
        declare.text("receiver", f"Party that receives. {UNKNOWN}"),
        declare.text("instrument_admin", f"Party that administers the instrument. {UNKNOWN}"),
        declare.text("instrument_id", f"Name that its administrator gives the instrument. {UNKNOWN}"),
        declare.amount("amount", f"Amount of the instrument. {WITHOUT_START}", "of the instrument"),
        declare.text(
            "output", "Whether the transfer is complete or pending, according to the registry. Missing if it does not say so."
        ),
        declare.text(
            "started_in_update_id", "Update with the start of the transfer. Missing for a start, and if it is not in the frames."
        ),
    ),
    condition="with a known amount",
    unit="rows of this result",
    queries=lambda frames: [QUERY],
)


@TRANSFERS.register
def transfers(frames: Frames) -> pd.DataFrame:
    """Return the transfers and allocations of tokens of any instrument.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.

    Returns
    -------
    DataFrame
        One row per exercise of a transfer or an allocation; sorted by time.

        Columns:

        - ``record_time`` (datetime64[us, UTC]): Record time of the update.
        - ``update_id`` (str): Update of the exercise.
        - ``contract_id`` (str): Contract on which the choice is exercised.
        - ``package_name`` (str): Package of the contract.
        - ``template_name`` (str): Module and entity of the contract.
        - ``choice`` (str): Choice of the token standard.
        - ``sender`` (str): Party that sends. Missing if the trees do not name it.
        - ``receiver`` (str): Party that receives. Missing if the trees do not name it.
        - ``instrument_admin`` (str): Party that administers the instrument. Missing if the trees do not name it.
        - ``instrument_id`` (str): Name that its administrator gives the instrument. Missing if the trees do not name it.
        - ``amount`` (decimal128(38, 10)[pyarrow], of the instrument): Amount of the instrument. Missing if no tree names it,
          such as for a settlement whose start is not in the frames.
        - ``output`` (str): Whether the transfer is complete or pending, according to the registry. Missing if it does not say
          so.
        - ``started_in_update_id`` (str): Update with the start of the transfer. Missing for a start, and if it is not in the
          frames.
        - ``coverage`` (float64, share of 1): Share of the rows of this result with a known amount. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.

    Notes
    -----
    Source: docs/facts.md#token-standard. The trees name the choices of the standard's interfaces. A transfer that starts names
    its parties and its amount. A transfer that is accepted, rejected or settled has the parties and the amount of its start,
    if the start is in the frames. Below a settlement, there are only choices of its registry, which differ between
    registries, so the settlement's own tree does not tell the amount: load from an earlier time. Choices of registries have
    no rows here.

    Picture, by :func:`ledgerframes.plot`: Above the name of an instrument stands the amount that was moved, as far as it is
    known, in its own units. Units of different instruments do not compare. Number of exercises, one row per instrument, a
    bar for each outcome.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> moved = lf.economy.transfers(frames)
    >>> "TransferFactory_Transfer" in set(moved["choice"])
    True
    """
    TRANSFERS.check(frames)
    rows = run(frames, QUERY)
    amount = to_amounts(rows["amount"])
    known = float(amount.notna().mean()) if len(rows) else None
    return TRANSFERS.build(frames, {**rows, "amount": amount, "coverage": pd.Series(known, rows.index, "float64")})
