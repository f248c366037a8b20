"""Who may do what on the ledger and the wallet API: users, their rights, and their bearer tokens."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from .canton import CantonError, forbidden, unauthenticated
from .randomness import digest

BEARER = "Bearer "
FAR_FUTURE, LONG_AGO = (
    4_102_444_800,
    1_577_836_800,
)  # expiry of good and of expired tokens, seconds since 1970


class User(NamedTuple):
    """A user of the ledger API, and the owner of a wallet."""

    name: str
    party: str  # whose wallet it is
    reads: frozenset[str]
    any_party: bool

    def rights(self) -> list[dict[str, Any]]:
        """Return the user's rights as the wire shows them."""
        listed = [{"kind": {"CanActAs": {"value": {"party": self.party}}}}]
        listed += [{"kind": {"CanReadAs": {"value": {"party": party}}}} for party in sorted(self.reads)]
        if self.any_party:
            listed += [{"kind": {name: {"value": {}}}} for name in ("CanReadAsAnyParty", "ParticipantAdmin")]
        return listed


class Users:
    """The users of a participant.

    Parameters
    ----------
    seed
        Seed of the world.
    parties
        Parties that the participant hosts; the first one's user may read everything.
    require_token
        Whether requests without a token are refused.
    """

    def __init__(self, seed: int, parties: list[str], require_token: bool) -> None:
        self._seed = seed
        self.require_token = require_token
        everything = frozenset(parties)
        self.main = User(_name(parties[0]), parties[0], everything, True)
        limited = parties[min(1, len(parties) - 1)]
        self.limited = User(f"{_name(limited)}-reader", limited, frozenset([limited]), False)
        others = [User(_name(party), party, frozenset([party]), False) for party in parties[1:]]
        self.all = {user.name: user for user in (self.main, self.limited, *others)}
        self._tokens = {self.token(user): user for user in self.all.values()}
        self.expired_token = self.token(self.main, LONG_AGO)

    def token(self, user: User, expires: int = FAR_FUTURE) -> str:
        """Return the token of a user, shaped like a JWT; its signature is only a hash."""
        head = _part({"alg": "RS256", "typ": "JWT"})
        body = _part({"sub": user.name, "aud": "https://ledger.invalid", "exp": expires})
        return f"{head}.{body}.{digest(self._seed, 'signature', user.name, expires)}"

    def token_of(self, party: str) -> str:
        """Return the token of the user whose party this is."""
        user = next(user for user in self.all.values() if user.party == party and user != self.limited)
        return self.token(user)

    def find(self, authorization: str | None) -> User | None:
        """Return the user of an Authorization header; None when it is missing, bad or expired."""
        if not authorization or not authorization.startswith(BEARER):
            return None
        return self._tokens.get(authorization[len(BEARER) :].strip())

    def authenticated(self, authorization: str | None) -> User:
        """Return the user of a ledger request, or refuse it."""
        user = self.find(authorization)
        if user is None and self.require_token:
            expired = authorization == BEARER + self.expired_token
            raise unauthenticated("the token has expired" if expired else "the token is missing or not valid")
        return user or self.main

    def known(self, name: str) -> User:
        """Return a user by name, or refuse."""
        if name not in self.all:
            raise CantonError(
                "USER_NOT_FOUND",
                f"there is no user {name}",
                resources=[("USER", name)],
            )
        return self.all[name]


def check_rights(user: User, parties: Iterable[str], any_party: bool) -> None:
    """Refuse what a user has no right to read."""
    if user.any_party:
        return
    if any_party or not user.reads.issuperset(parties):
        raise forbidden()


def _name(party: str) -> str:
    return party.partition("::")[0]


def _part(fields: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(fields)).decode().rstrip("=")
