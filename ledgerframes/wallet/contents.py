"""What an offer says, checked before anything is written or sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from ledgerframes.errors import UsageError
from ledgerframes.extents import microseconds
from ledgerframes.windows import MICROSECOND, instant

LONGEST_TEXT = 279  # characters: the ledger's own limit is "fewer than 280" (docs/facts.md#wallet-api)
PLACES = 10  # decimal places of the ledger's numbers, and of our amount columns
WHOLE_DIGITS = 28  # 38 digits in all


@dataclass(frozen=True)
class Contents:
    """What one offer says, as it goes over the wire.

    Attributes
    ----------
    receiver_party_id : str
    amount : str
        In coin: plain decimal digits, the same number that was given.
    description : str
    expires_at : int
        Microseconds since 1970.
    expires_in : int or None
        Microseconds, when the expiry was given relative to the first call: a repeated call then means the first one's expiry.
    """

    receiver_party_id: str
    amount: str
    description: str
    expires_at: int
    expires_in: int | None = None

    def differences(self, earlier: Contents) -> list[str]:
        """The names of what differs from the contents first given under the same tracking id."""
        pairs = {
            "receiver": (self.receiver_party_id, earlier.receiver_party_id),
            "amount": (Decimal(self.amount), Decimal(earlier.amount)),
            "description": (self.description, earlier.description),
            "expires_at": (self.expires_at, earlier.expires_at),
        }
        if self.expires_in is not None:
            del pairs["expires_at"]
            pairs["expires_in"] = (self.expires_in, earlier.expires_in)
        return [name for name, (here, there) in pairs.items() if here != there]


def checked_contents(
    receiver: str,
    amount: Decimal | int,
    description: str,
    expires_at: datetime | None,
    expires_in: timedelta | None,
    now: datetime,
) -> Contents:
    """Read the arguments of an offer.

    Raises
    ------
    TypeError
        If the amount is not a Decimal or an int.
    UsageError
        If one of them makes no sense.
    """
    expiry = _expiry(expires_at, expires_in, now)
    return Contents(
        _text(receiver, "receiver", "the party id of the receiver"),
        amount_text(amount),
        _text(description, "description", "what the offer is for, which the receiver reads", LONGEST_TEXT),
        microseconds(expiry),
        None if expires_in is None else expires_in // MICROSECOND,
    )


def amount_text(amount: Decimal | int) -> str:
    """An amount of coin as it goes over the wire: the same number in plain digits.

    Raises
    ------
    TypeError
        If it is a float or anything else that is not exact.
    UsageError
        If it is not a positive number of at most ten places.

    Examples
    --------
    >>> amount_text(Decimal("1E+3")), amount_text(Decimal("0.0000000001")), amount_text(5)
    ('1000', '0.0000000001', '5')
    """
    if isinstance(amount, bool) or not isinstance(amount, Decimal | int):
        raise TypeError(
            f"amount must be a Decimal, not {type(amount).__name__}. Write it as Decimal('1.5'): floats are not exact."
        )
    number = Decimal(amount)
    if not number.is_finite() or number <= 0:
        raise UsageError(f"amount={number} is not an amount to offer. Give a number above zero.")
    if -int(number.as_tuple().exponent) > PLACES:
        raise UsageError(
            f"amount={number} has more than {PLACES} decimal places, which the ledger does not keep. Round it first."
        )
    if number.adjusted() >= WHOLE_DIGITS:
        raise UsageError(f"amount={number} has more than {WHOLE_DIGITS} digits before the point, which the ledger cannot keep.")
    return format(number, "f")


def checked_tracking_id(tracking_id: str) -> str:
    """A tracking id that the wallet can keep, and whose status can be asked for.

    Raises
    ------
    UsageError
        If it is empty, 280 characters or longer, or cannot stand in the path of the status request.
    """
    text = _text(tracking_id, "tracking_id", "a new id for each offer, or leave it out", LONGEST_TEXT)
    # Proxies and servers undo or refuse %2F in paths: such an offer could be made, but never asked about.
    if text in (".", "..") or any(character in "/\\" for character in text) or not text.isprintable():
        raise UsageError(f"tracking_id={text!r} cannot stand in a path. Use letters, digits, dashes and the like.")
    return text


def require_future(contents: Contents, now: datetime) -> None:
    """Refuse a new offer that could never be accepted."""
    if contents.expires_at <= microseconds(now):
        raise UsageError(f"The offer would have expired already; it is {now.isoformat()} now. Give a later expires_at.")


def _text(text: str, argument: str, meaning: str, longest: int | None = None) -> str:
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"{argument}={text!r} is empty. Give {meaning}.")
    if longest is not None and len(text) > longest:
        raise UsageError(f"{argument} has {len(text)} characters; the ledger takes at most {longest}.")
    # Lone surrogates are not UTF-8, and the ledger's text has no U+0000.
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError(f"{argument}={text!r} has a character that cannot be sent.")
    return text


def _expiry(expires_at: datetime | None, expires_in: timedelta | None, now: datetime) -> datetime:
    if (expires_at is None) == (expires_in is None):
        raise UsageError("When does the offer expire? Give either expires_at (a time) or expires_in (a timedelta).")
    if expires_at is not None:
        return instant(expires_at, "expires_at")
    if not isinstance(expires_in, timedelta) or expires_in <= timedelta(0):
        raise UsageError(f"expires_in={expires_in!r} is not a time to come. Give a timedelta such as timedelta(days=1).")
    try:
        return now + expires_in
    except OverflowError:
        raise UsageError(f"expires_in={expires_in} lies beyond the year 9999.") from None
