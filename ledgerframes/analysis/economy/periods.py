"""Parts of periods that the engine sums before periods are known."""

from __future__ import annotations

from ledgerframes.analysis.groups import FIRST_TIME, ORIGIN, SECONDS, parse_period


def period_of(every: str | None) -> str:
    """Return an expression in SQL that differs between the record times of two periods."""
    if every is None:
        return "0"
    number, unit = parse_period(every)
    if unit == "mo":
        return "date_trunc('month', record_time)"
    step = number * SECONDS[unit] * 1_000_000
    # From the first time of all on, because the engine divides negative numbers toward zero.
    first = ORIGIN - ((ORIGIN - FIRST_TIME) // step + 1) * step
    return f"(epoch_us(record_time) - ({first})) // {step}"
