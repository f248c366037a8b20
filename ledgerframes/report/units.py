"""Values of key figures in units that people read."""

from __future__ import annotations

from ledgerframes.statistics import printing

BYTES, WEIGHTED_BYTES, SHARE, MICROSECONDS, COIN = "bytes", "weighted bytes", "share", "microseconds", "coin"


def value_text(value: float | None, unit: str) -> str:
    """Return a value of a key figure with its unit.

    >>> value_text(5_412_000, "bytes"), value_text(0.1, "share"), value_text(764_123, "microseconds"), value_text(None, "bytes")
    ('5.41 MB', '10.0 %', '0.764 s', '–')
    >>> value_text(1_234.5, "coin"), value_text(5_412_000, "weighted bytes")
    ('1,234.50 coin', '5.41 weighted MB')
    """
    if value is None:
        return printing.MISSING
    if unit == SHARE:
        return printing.share(value)
    if unit == COIN:
        return f"{value:,.2f} coin"
    if unit == WEIGHTED_BYTES:
        return printing.weight(round(value))
    return printing.duration(round(value)) if unit == MICROSECONDS else bytes_text(round(value))


def bytes_text(number: int, *, is_lower_bound: bool = False) -> str:
    """Return bytes in a unit that people read, with three digits.

    >>> bytes_text(37_290_109), bytes_text(37_290_109, is_lower_bound=True), bytes_text(1_000_499), bytes_text(12)
    ('37.3 MB', '≥ 37.2 MB', '1.00 MB', '12 bytes')
    """
    return f"≥ {printing.size(printing.at_least(number))}" if is_lower_bound else printing.size(number)
