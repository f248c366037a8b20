"""The terms of a transfer offer, checked before anything is recorded or sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from ledgerframes.datasets.offers.wire import OfferPayload
from ledgerframes.errors import UsageError
from ledgerframes.values.extents import microseconds
from ledgerframes.values.windows import MICROSECOND, instant

MAX_TEXT = 279  # characters: the ledger's own limit is "fewer than 280" (docs/facts.md#wallet-api)
MAX_DECIMALS = 10  # of the ledger's numbers, and of the amount columns
MAX_WHOLE_DIGITS = 28  # 38 digits in all
OTHER_UNITS = ("USDUnit", "ExtUnit")  # of amounts that are not coin (docs/facts.md#wallet-api)


@dataclass(frozen=True)
class OfferTerms:
    """The terms of one offer, as on the wire."""

    receiver_party_id: str
    amount: str  # in coin, as plain decimal digits of exactly the caller's number
    description: str
    expires_at: int  # microseconds since 1970
    expires_in: int | None = None  # microseconds from the first call, whose expiry a repeated call keeps

    def differences(self, earlier: OfferTerms) -> list[str]:
        """Return the names of the terms that differ from earlier ones of the same tracking id."""
        pairs = {
            "receiver": (self.receiver_party_id, earlier.receiver_party_id),
            "amount": (Decimal(self.amount), Decimal(earlier.amount)),
            "description": (self.description, earlier.description),
            "expires_at": (self.expires_at, earlier.expires_at),
        }
        if self.expires_in is not None:
            del pairs["expires_at"]
            pairs["expires_in"] = (self.expires_in, earlier.expires_in)
        return [name for name, (new, old) in pairs.items() if new != old]

    def differences_from_wallet(self, payload: OfferPayload, tracking_id: str) -> list[str]:
        """Return the names of the terms that differ in an offer of the wallet.

        Terms that the offer does not have are not compared, nor is a relative expiry, because another store counts it from
        another call.
        """
        pairs = {
            "receiver": (self.receiver_party_id, payload.receiver),
            "amount": (Decimal(self.amount), payload.amount.amount),
            "description": (self.description, payload.description),
            "tracking_id": (tracking_id, payload.tracking_id),
            "expires_at": (self.expires_at, None if self.expires_in is not None else _listed_time(payload.expires_at)),
        }
        differences = [name for name, (own, other) in pairs.items() if other is not None and own != other]
        return [*differences, *(["unit"] if payload.amount.unit in OTHER_UNITS else [])]


def _listed_time(text: str | None) -> int | None:
    """Return a time of the wallet in microseconds since 1970, or None if there is none."""
    try:
        return None if text is None else microseconds(instant(text))
    except UsageError:
        return None


def parse_terms(
    receiver: str,
    amount: Decimal | int,
    description: str,
    expires_at: datetime | None,
    expires_in: timedelta | None,
    now: datetime,
) -> OfferTerms:
    """Return the terms of an offer from its arguments, or raise UsageError or TypeError."""
    expiry = _expiry(expires_at, expires_in, now)
    return OfferTerms(
        _require_text(receiver, "receiver", "a party id"),
        format_amount(amount),
        _require_text(description, "description", "text for the receiver", MAX_TEXT),
        microseconds(expiry),
        None if expires_in is None else expires_in // MICROSECOND,
    )


def format_amount(amount: Decimal | int) -> str:
    """Return an amount of coin as on the wire, the same number in plain digits.

    >>> format_amount(Decimal("1E+3")), format_amount(Decimal("0.0000000001")), format_amount(5)
    ('1000', '0.0000000001', '5')
    """
    if isinstance(amount, bool) or not isinstance(amount, Decimal | int):
        raise TypeError(f"amount= must be an exact number such as Decimal('1.5'), got {type(amount).__name__}.")
    number = Decimal(amount)
    if not number.is_finite() or number <= 0:
        raise UsageError(f"amount= must be above zero, got {number}.")
    if -int(number.as_tuple().exponent) > MAX_DECIMALS:
        raise UsageError(f"amount= must have at most {MAX_DECIMALS} decimal places, got {number}.")
    if number.adjusted() >= MAX_WHOLE_DIGITS:
        raise UsageError(f"amount= must have at most {MAX_WHOLE_DIGITS} digits before the decimal point, got {number}.")
    return format(number, "f")


def require_tracking_id(tracking_id: str) -> str:
    """Return a tracking id that the wallet and a URL path can contain."""
    text = _require_text(tracking_id, "tracking_id", "a new id for each offer", MAX_TEXT)
    # Proxies and servers decode or reject %2F in paths: such an offer could be made, but its status never fetched.
    if text in (".", "..") or any(character in "/\\" for character in text) or not text.isprintable():
        raise UsageError(f"tracking_id= must be text that a URL path can contain, got {text!r}. Use letters, digits and dashes.")
    return text


def require_future(terms: OfferTerms, now: datetime) -> None:
    """Raise UsageError for a new offer that could never be accepted."""
    if terms.expires_at <= microseconds(now):
        raise UsageError(f"expires_at= must be later than now ({now:%Y-%m-%d %H:%M} UTC).")


def _require_text(text: str, argument: str, meaning: str, longest: int | None = None) -> str:
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"{argument}= must be {meaning}, got {text!r}.")
    if longest is not None and len(text) > longest:
        raise UsageError(f"{argument}= must have at most {longest} characters, got {len(text)}.")
    # Lone surrogates are not UTF-8, and the ledger's text has no U+0000.
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError(f"{argument}= contains a character that cannot be sent, got {text!r}.")
    return text


def _expiry(expires_at: datetime | None, expires_in: timedelta | None, now: datetime) -> datetime:
    if expires_at is not None and expires_in is not None:
        raise UsageError("expires_at= cannot be combined with expires_in=.")
    if expires_at is not None:
        return instant(expires_at, "expires_at")
    if expires_in is None:
        raise UsageError("Pass expires_at= (a time) or expires_in= (a timedelta).")
    if not isinstance(expires_in, timedelta) or expires_in <= timedelta(0):
        raise UsageError(f"expires_in= must be a positive timedelta such as timedelta(days=1), got {expires_in!r}.")
    try:
        return now + expires_in
    except OverflowError:
        raise UsageError(f"expires_in= must end before the year 9999, got {expires_in}.") from None
