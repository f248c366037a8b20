"""The version of the ledger API, and the members of responses that depend on it."""

from __future__ import annotations

from typing import NamedTuple

# Version that added a member of responses (docs/facts.md#versions).
MEMBERS_SINCE = {
    "externalTransactionHash": 4, "representativePackageId": 4, "acsDelta": 4,
    "contractKeyHash": 5, "paidTrafficCost": 5, "packageFeature": 5,
}  # fmt: skip


class Version(NamedTuple):
    """Version of the ledger."""

    major: int
    minor: int
    text: str

    @classmethod
    def parse(cls, text: str) -> Version:
        """Return the version of a text such as "3.5.14"."""
        major, minor, *_ = text.split(".")
        return cls(int(major), int(minor), text)

    def has(self, minor: int) -> bool:
        """Return whether the version is 3.<minor> or later."""
        return (self.major, self.minor) >= (3, minor)

    @property
    def newer_members(self) -> frozenset[str]:
        """Members of responses that the version does not have."""
        return frozenset(name for name, minor in MEMBERS_SINCE.items() if not self.has(minor))
