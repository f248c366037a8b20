"""Unknown members of responses that belong to no row, each with its first value."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from ledgerframes.texts.control_characters import escape_control

MAX_EXTRA_MEMBERS = 1000  # more than these are data rather than new members

logger = logging.getLogger("ledgerframes")


def add_extra_members(known: dict[str, str], members: Mapping[str, str]) -> None:
    """Add members, with their values as JSON, to those known, and log the new names."""
    new = {name: text for name, text in members.items() if name not in known}
    if new and len(known) < MAX_EXTRA_MEMBERS:
        known.update(new)
        logger.warning("responses_have_new_members members=%s", escape_control(",".join(sorted(new))))
