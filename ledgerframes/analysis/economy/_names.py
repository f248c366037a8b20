"""Names that were bought, renewed or expired."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import from_scaled, sum_if_known, units
from ledgerframes.analysis._groupings import periods_of
from ledgerframes.analysis.arguments import Snapshot, snapshot_rows
from ledgerframes.analysis.coverage import incomplete_windows
from ledgerframes.analysis.economy._purchases import total_of
from ledgerframes.analysis.economy.network import Network, read_network, require_all_updates
from ledgerframes.analysis.groups import Flags, from_microseconds, is_true
from ledgerframes.engine import Query
from ledgerframes.engine.names import CHOICES_ABOVE_NAMES, FEES, NAMES_CREATED, NAMES_EXPIRED, RULES_CREATED
from ledgerframes.engine.nodes import CONTRACTS, payloads_above
from ledgerframes.frames import Frames

COLUMNS = ["time", "event", "name", "user", "expires_at", "paid"]
BOUGHT, RENEWED, EXPIRED = EVENTS = "bought", "renewed", "expired"
NAMES = declare.Figure(
    "economy.names",
    caption="Names",
    rows="One row per event or period; sorted by time.",
    columns=(
        declare.time("record_time", "Record time of the event. Missing by period."),
        declare.label("event", "bought, renewed, or expired. Missing by period."),
        declare.text("name", "The name. Missing by period, or if its contract is unknown."),
        declare.text("user", "Owner of the name. Missing by period, or if its contract is unknown."),
        declare.time("expires_at", "Time until which the name is paid. Missing by period, or if unknown."),
        declare.amount("paid", "Coin burned for the name. Missing for an expiry, or if unknown.", "coin"),
        declare.count("bought", "Names bought.", "names"),
        declare.count("renewed", "Names renewed.", "names"),
        declare.count("expired", "Names expired.", "names"),
        declare.integer(
            "active_at_end",
            "Names not archived, also past expires_at. Missing without the history before, after a gap, or in uncovered time.",
        ),
    ),
    has_periods=True,
    condition="with a known contract",
    unit="events of this row",
    queries=lambda frames, every, base: [_names_query(read_network(frames, base))],
)


@NAMES.register
def names(frames: Frames, *, every: str | None = None, base: Snapshot | None = None) -> pd.DataFrame:
    """Return the names that were bought, renewed or expired.

    Parameters
    ----------
    frames : Frames
        With all updates of a time, so load them by time and without a filter.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_bulk` with ``kind="acs"``, which
        loads all of them (default: none, so the history must start with the network).

    Returns
    -------
    DataFrame
        One row per event or period; sorted by time.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``record_time`` (datetime64[us, UTC]): Record time of the event. Missing by period.
        - ``event`` (category): bought, renewed, or expired. Missing by period.
        - ``name`` (str): The name. Missing by period, or if its contract is unknown.
        - ``user`` (str): Owner of the name. Missing by period, or if its contract is unknown.
        - ``expires_at`` (datetime64[us, UTC]): Time until which the name is paid. Missing by period, or if unknown.
        - ``paid`` (decimal128(38, 10)[pyarrow], coin): Coin burned for the name. Missing for an expiry, or if unknown.
        - ``bought`` (int64, names): Names bought.
        - ``renewed`` (int64, names): Names renewed.
        - ``expired`` (int64, names): Names expired.
        - ``active_at_end`` (Int64): Names not archived, also past expires_at. Missing without the history before, after a gap,
          or in uncovered time.
        - ``coverage`` (float64, share of 1): Share of the events of this row with a known contract. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames have only a part of the updates of their time.

    Notes
    -----
    Source: docs/facts.md#rewards-of-a-round. A renewal archives a contract and creates the next one, so it is not a new name.
    A name whose paid time is over counts until the network expires its contract.

    Picture, by :func:`ledgerframes.plot`: Steps of names that are not archived over time [UTC], or of names bought less
    expired if the frames do not have all history.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> set(lf.economy.names(frames)["event"]) <= {"bought", "renewed", "expired"}
    True
    """
    NAMES.check(frames)
    require_all_updates(frames, NAMES.name)
    network = read_network(frames, base)
    rows = pd.DataFrame(_name_events(network), columns=COLUMNS, dtype="object")
    values = _of_events(rows) if every is None else _of_periods(frames, rows, every)
    before = network.rows(_older_names_query(network))[0]["names"]
    active = pd.array(before + np.cumsum(values[BOUGHT] - values[EXPIRED]), "Int64")
    active[~(_has_all_changes(frames, values) & _has_earlier_names(network, base))] = pd.NA
    values["active_at_end"] = active
    return NAMES.build(frames, values, every=every)


def _has_all_changes(frames: Frames, values: dict[str, Any]) -> Flags:
    """Return whether the frames cover all time up to each event or end of a period.

    A period without final data is unknown.
    """
    window = frames.window
    assert window is not None
    missing, _ = incomplete_windows(frames, window)
    until = min((part.since for part in missing), default=window.until)
    if "period_end" not in values:
        return is_true(values["record_time"] <= until)
    is_before = values["period_end"].clip(upper=window.until) <= until
    return is_true(is_before & (values["coverage_time"] > 0))


def _of_events(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of one row per event."""
    return {
        "record_time": from_microseconds(rows["time"]),
        "event": rows["event"],
        "name": rows["name"],
        "user": rows["user"],
        "expires_at": _times(rows["expires_at"]),
        "paid": from_scaled(rows["paid"].where(rows["event"] != EXPIRED, None)),
        **{event: (rows["event"] == event).astype("int64") for event in EVENTS},
        "coverage": rows["name"].notna().astype("float64"),
    }


def _of_periods(frames: Frames, rows: pd.DataFrame, every: str) -> dict[str, Any]:
    """Return the columns of one row per period."""
    groups = periods_of(frames, from_microseconds(rows["time"]), every)
    members = groups.split(rows)
    missing = [None] * len(members)
    return {
        **groups.keys,
        "record_time": from_microseconds(missing),
        "event": missing,
        "name": missing,
        "user": missing,
        "expires_at": _times(missing),
        "paid": from_scaled([total_of(part.loc[part["event"] != EXPIRED, "paid"]) for part in members]),
        **{event: np.array([(part["event"] == event).sum() for part in members], "int64") for event in EVENTS},
        "coverage": [float(part["name"].notna().mean()) if len(part) else np.nan for part in members],
    }


def _times(texts: Any) -> pd.Series:
    return pd.Series(pd.to_datetime(texts, utc=True, format="ISO8601")).dt.as_unit("us")


def _older_names_query(network: Network) -> Query:
    select = """
SELECT count(*) AS names
FROM contracts
WHERE update_id IS NULL AND template = 'Splice.Ans:AnsEntry' AND is_signed"""
    return network.query(select, CONTRACTS)


def _has_earlier_names(network: Network, base: Snapshot | None) -> bool:
    """Return whether the frames begin with the history, or at the time of a snapshot."""
    if network.rows(_first_rules_query(network)):
        return True
    if base is None or network.frames.window is None:
        return False
    return bool(snapshot_rows(base, "base", ())["snapshot_time"].iloc[0] == network.frames.window.since)


def _first_rules_query(network: Network) -> Query:
    """Return the query of the network's rules that do not replace earlier rules."""
    select = """
SELECT update_id
FROM rules
ANTI JOIN payloads_above_rules USING (update_id, node_index)"""
    return network.query(select, RULES_CREATED, payloads_above(RULES_CREATED))


def _name_events(network: Network) -> list[tuple[Any, ...]]:
    """Return what happened to names, in the order of the history."""
    rows: list[tuple[Any, ...]] = []
    for row in network.rows(_names_query(network)):
        event = EXPIRED if row["is_expiry"] else _event_of(row["choices"] or [])
        if event:
            is_paid = row["payment_index"] is not None
            fees = sum_if_known([units(fee) for fee in row["fees"] or []]) if is_paid else None
            entry = network.members(row["create_arguments"])
            rows.append((row["time"], event, entry.get("name"), entry.get("user"), entry.get("expiresAt"), fees))
    return rows


def _names_query(network: Network) -> Query:
    """Return the query of the contracts of names, and of the exercises that expire them."""
    select = """
SELECT * EXCLUDE (migration_id, record_time, update_id, node_index), epoch_us(record_time) AS time
FROM (
    SELECT names.*, payment_index, choices, fees, false AS is_expiry
    FROM names
    LEFT JOIN choices_above_names USING (update_id, node_index)
    LEFT JOIN fees_of_names USING (update_id, payment_index)
    UNION ALL BY NAME
    SELECT migration_id, record_time, update_id, node_index, create_arguments, true AS is_expiry
    FROM expiries_of_names
)
ORDER BY migration_id, record_time, update_id, node_index"""
    return network.query(select, NAMES_CREATED, CHOICES_ABOVE_NAMES, FEES, NAMES_EXPIRED)


def _event_of(choices: Collection[str]) -> str:
    """Return what created the contract of a name, by the choices above it."""
    if "AnsEntry_Renew" in choices:
        return RENEWED
    return BOUGHT if "AnsRules_CollectInitialEntryPayment" in choices else ""
