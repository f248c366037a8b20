"""Kinds of transactions of apps, from settlements to the split of their rewards."""

from __future__ import annotations

from ...cases import PLANTED_REQUEST
from ...schedule import PRIVATE_KIND, Scheduled
from ..choices.apps import ALLOCATION_EXECUTE_TRANSFER, BATCH_RUNNER_RUN, TRADE_SETTLE, VENUE_SETTLE
from ..draft import DraftTransaction, Kind, View
from ..payments import allocate, app_batch, mark_activity, mark_featured, move_tokens, offer_allocation, pay_promise, promise
from ..rewards import split_rewards
from ..roles import (
    batch_operator,
    buyer,
    case_owner,
    featured_provider,
    legs,
    provider,
    recurring_provider,
    users,
    venue,
)
from ..specs import create, exercise, insert
from ..templates import apps

SETTLEMENT = Kind(
    "settlement",
    submitter="operator",
    roles={
        "allocation": lambda draft: draft.any_visible(apps.ALLOCATION),
        "buyer": buyer,
        "operator": venue,
        "seller": DraftTransaction.user,
        "wallet": provider,
        "legs": legs,
    },
    views=[
        View(
            ["operator"],
            informees=["buyer", "seller"],
            children=[
                View(["buyer", "wallet"], children=[View(["dso", "buyer"])]),
                View(["seller", "issuer"], informees=["buyer"]),
                View(["operator", "leg"], informees=["issuer"], each=("leg", "legs")),
            ],
        )
    ],
    content={
        "allocation": promise,
        "trade": lambda draft: draft.make(apps.TRADE),
        "payment": pay_promise,
        "delivery": lambda draft: move_tokens(draft, draft.names["seller"], draft.names["buyer"], limit=2),
        "activity": lambda draft: mark_featured(draft, draft.names["operator"]),
    },
    tree=[
        exercise(
            VENUE_SETTLE,
            create("trade"),
            exercise(TRADE_SETTLE, exercise(ALLOCATION_EXECUTE_TRANSFER, insert("payment")), insert("delivery")),
            insert("activity"),
        )
    ],
    bytes_per_view=1700,
    workflow_id="meadow-settlement",
)
ALLOCATION = Kind(
    "allocation",
    submitter="owner",
    roles={"owner": DraftTransaction.user, "operator": provider},
    views=[View(["owner", "operator"])],
    content={"allocation": offer_allocation},
    bytes_per_view=1800,
)
PLANTED = Kind(
    PLANTED_REQUEST,
    submitter="owner",
    roles={"owner": case_owner, "operator": provider},
    views=[View(["owner", "operator"])],
    content={"allocation": lambda draft: allocate(draft, draft.names["owner"])},
    bytes_per_view=1800,
)
APP_BATCH = Kind(
    "app batch",
    submitter="operator",
    roles={"operator": batch_operator, "customers": lambda draft: users(draft, 2, 7)},
    views=[View(["operator"], children=[View(["operator", "customer"], each=("customer", "customers"))])],
    content={"tickets": app_batch},
    tree=[exercise(BATCH_RUNNER_RUN, insert("tickets"))],
    bytes_per_view=2600,
    workflow_id="meadow-batch",
)
PRIVATE_EXCHANGE = Kind(
    PRIVATE_KIND,
    submitter="operator",
    roles={
        "operator": provider,
        "customers": lambda draft: users(draft, 2, 2),
        "sharing": lambda draft: draft.names["customers"][: draft.draws.between(0, 2)],
    },
    views=[
        View(
            ["operator"],
            informees=["customers"],
            children=[View(["operator", "customer"], each=("customer", "sharing"))],
        )
    ],
    bytes_per_view=1400,
)
ACTIVITY_MARKER = Kind(
    "activity marker",
    submitter="provider",
    roles={"provider": featured_provider, "count": lambda draft: draft.draws.between(1, 8)},
    views=[View(["provider"], informees=["dso"])],
    nodes=lambda draft: mark_activity(draft, draft.names["provider"], draft.names["count"]),
    bytes_per_view=1800,
)
REWARD_SPLIT = Kind(
    Scheduled.REWARD_SPLIT,
    submitter="provider",
    roles={"provider": recurring_provider},
    views=[View(["provider"], informees=["dso"])],
    nodes=split_rewards,
)
