"""Users of the ledger and the wallet API, their rights and bearer tokens."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from .randomness import digest
from .responses import SECURITY, Json, LedgerApiError

BEARER = "Bearer "
SENDABLE = re.compile(r"[\x21-\x7e]+")  # characters that a header can carry
FAR_FUTURE, LONG_AGO = 4_102_444_800, 1_577_836_800  # expiry of valid and expired tokens, seconds since 1970


class User(NamedTuple):
    """A user of the ledger API, who owns a wallet."""

    name: str
    party: str  # owner of the wallet
    reads: frozenset[str]
    any_party: bool = False
    may_act_as_any: bool = False

    def rights(self) -> list[Json]:
        """Return the user's rights in the form of the API."""
        rights = [("CanActAs", {"party": self.party}), *(("CanReadAs", {"party": party}) for party in sorted(self.reads))]
        rights += [("CanReadAsAnyParty", {}), ("ParticipantAdmin", {})] if self.any_party else []
        rights += [("CanActAsAnyParty", {})] if self.may_act_as_any else []
        return [{"kind": {kind: {"value": value}}} for kind, value in rights]

    def details(self) -> Json:
        """Return the user in the form of the API."""
        common = {"isDeactivated": False, "identityProviderId": "", "metadata": {"resourceVersion": "0", "annotations": {}}}
        return {"id": self.name, "primaryParty": self.party, **common}


class Users:
    """Users of a participant.

    With `token`, the main user has this token instead of one of the world's own, and every caller needs a token.
    """

    def __init__(
        self, seed: int, parties: list[str], require_token: bool, token: str | None = None, may_act_as_any: bool = False
    ) -> None:
        if token is not None and not (isinstance(token, str) and SENDABLE.fullmatch(token)):
            raise ValueError("token= must be text of printable ASCII characters without spaces.")
        self._seed, self._main_token = seed, token
        self.require_token = require_token or token is not None
        first, second = parties[0], parties[min(1, len(parties) - 1)]
        self.main = User(_hint(first), first, frozenset(parties), True, may_act_as_any)
        self.limited = User(f"{_hint(second)}-reader", second, frozenset([second]))
        others = [User(_hint(party), party, frozenset([party])) for party in parties[1:]]
        self.all = {user.name: user for user in (self.main, self.limited, *others)}
        self._by_token = {self.token(user): user for user in self.all.values()}
        self.expired_token = self.token(self.main, LONG_AGO)

    def token(self, user: User, expires: int = FAR_FUTURE) -> str:
        """Return the token of a user, by default a JWT with a hash as its signature."""
        if user == self.main and self._main_token is not None and expires == FAR_FUTURE:
            return self._main_token
        parts = ({"alg": "RS256", "typ": "JWT"}, {"sub": user.name, "aud": "https://ledger.invalid", "exp": expires})
        head, body = (base64.urlsafe_b64encode(msgspec.json.encode(part)).decode().rstrip("=") for part in parts)
        return f"{head}.{body}.{digest(self._seed, 'signature', user.name, expires)}"

    def token_of(self, party: str) -> str:
        """Return the token of a party's user."""
        users = {user.party: user for user in self.all.values() if user != self.limited}
        if party not in users:
            raise ValueError(f"Unknown party {party!r}. Choose from {sorted(users)}.")
        return self.token(users[party])

    def find(self, authorization: str | None) -> User | None:
        """Return the user of an Authorization header, or None.

        Unless a token is required, a header without a valid one stands for the main user.
        """
        scheme, token = (authorization or "")[: len(BEARER)], (authorization or "")[len(BEARER) :]
        user = self._by_token.get(token.strip()) if scheme == BEARER else None
        return user or (None if self.require_token else self.main)

    def authenticate(self, authorization: str | None) -> User:
        """Return the user of a ledger request, or refuse it."""
        user = self.find(authorization)
        if user is None:
            expired = authorization == BEARER + self.expired_token
            reason = "the token has expired" if expired else "the token is missing or not valid"
            raise LedgerApiError("NA", SECURITY, {"ledger_api_error": reason}, redacted=401)
        return user

    def get(self, name: str) -> User:
        """Return a user by name, or refuse an unknown one."""
        if name not in self.all:
            raise LedgerApiError("USER_NOT_FOUND", f"there is no user {name}", resources=[("USER", name)])
        return self.all[name]


def check_rights(user: User, parties: Iterable[str], any_party: bool) -> None:
    """Refuse a request for parties that the user may not read."""
    if not user.any_party and (any_party or not user.reads.issuperset(parties)):
        raise LedgerApiError("NA", SECURITY, redacted=403)


def _hint(party: str) -> str:
    return party.partition("::")[0]
