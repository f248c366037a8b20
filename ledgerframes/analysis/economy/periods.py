"""Parts of periods, which the engine sums before the periods are known."""

from __future__ import annotations

from ledgerframes.analysis.groups import FIRST_TIME, ORIGIN, SECONDS, parse_period


def period_of(every: str | None) -> str:
    """Return an SQL expression whose value differs between record times of different periods."""
    if every is None:
        return "0"
    number, unit = parse_period(every)
    if unit == "mo":
        return "date_trunc('month', record_time)"
    step = number * SECONDS[unit] * 1_000_000
    # Counted from the earliest possible time, because the engine divides negative numbers toward zero.
    first = ORIGIN - ((ORIGIN - FIRST_TIME) // step + 1) * step
    return f"(epoch_us(record_time) - ({first})) // {step}"
