"""Relations that ``lf.sql`` has as SQL views, next to the stored tables."""

from __future__ import annotations

from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import (
    CONFIRMERS,
    CONFIRMERS_BY_VIEW,
    DECISIONS,
    ENVELOPES_BY_REQUEST,
    ENVELOPES_BY_VIEW,
    REQUESTS,
    REQUESTS_BY_PARTY,
    REQUESTS_BY_TEMPLATE,
    REQUESTS_BY_VIEW,
    REQUESTS_WITH_PARTIES,
    ROOT_NODES,
)

# Those that need only stored tables.
RELATIONS: dict[str, Relation] = {
    each.name: each
    for each in (
        DECISIONS,
        REQUESTS,
        REQUESTS_WITH_PARTIES,
        REQUESTS_BY_PARTY,
        REQUESTS_BY_TEMPLATE,
        REQUESTS_BY_VIEW,
        ROOT_NODES,
        ENVELOPES_BY_REQUEST,
        ENVELOPES_BY_VIEW,
        CONFIRMERS,
        CONFIRMERS_BY_VIEW,
    )
}
