"""Typed DataFrames over the APIs of a ledger network, cached as Parquet.

``help(lf.cost.spend)`` describes a name, ``dir(lf.cost)`` lists those of a module, and ``lf.questions("balance")`` finds the call
that answers a question.

Networks
    connect, Network, operations
History of the network
    load_events, load_traffic, load_verdicts, load_activity, load_bulk, load_contracts
What a load would fetch
    plan
A participant
    load_updates, load_completions, load_active_contracts, load_parties, load_packages, load_synchronizers,
    load_transfer_offers, load_token_allocations, load_token_holdings, load_token_transfers
Reference data and the network's state
    load_featured_apps, load_holdings_summary, load_mining_rounds, load_name_entries, load_name_rules, load_network_rules,
    load_price_votes, load_reward_accounting, load_scans, load_synchronizer_status, load_traffic_status,
    load_validator_faucets, load_validator_licenses
Tables
    Frames, open_frames, save_frames, export, sql, query, table, TABLES
Figures, each a function from frames to a DataFrame
    cost, verdict, activity, economy, reconcile, state, grant, contracts, trees, votes, findings
Their arguments and amounts
    TrafficBalance, TrafficPrice, MarketRate, NetworkRate, BaseRate, TopUp, labels, eras, decimals
Pictures and answers
    plot, anatomy, show, questions
Errors
    errors

>>> import ledgerframes as lf
>>> net = lf.connect("sandbox", events=400, days=1)
>>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
>>> ax = lf.plot(lf.cost.spend(day, by="participant"))
"""

import logging
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ledgerframes import errors
from ledgerframes.texts.earlier_names import missing_name_error as _missing_name_error

# Imported on first use: a command is ready for Ctrl-C at once, and needs few of these names.
_IMPORTED_AT_FIRST_USE = {
    "BaseRate": "ledgerframes.analysis.cost.traffic_balance:BaseRate",
    "Frames": "ledgerframes.frames:Frames",
    "MarketRate": "ledgerframes.values.money:MarketRate",
    "Network": "ledgerframes.network:Network",
    "NetworkRate": "ledgerframes.values.money:NetworkRate",
    "TABLES": "ledgerframes.datasets:TABLES",
    "TopUp": "ledgerframes.statistics.runways:TopUp",
    "TrafficBalance": "ledgerframes.analysis.cost.traffic_balance:TrafficBalance",
    "TrafficPrice": "ledgerframes.values.money:TrafficPrice",
    "activity": "ledgerframes.analysis.activity:",
    "anatomy": "ledgerframes.anatomies:anatomy",
    "connect": "ledgerframes.network:connect",
    "contracts": "ledgerframes.analysis.contracts:",
    "cost": "ledgerframes.analysis.cost:",
    "decimals": "ledgerframes.values.decimals:",
    "economy": "ledgerframes.analysis.economy:",
    "eras": "ledgerframes.analysis.eras:",
    "export": "ledgerframes.export:",
    "findings": "ledgerframes.analysis.findings:findings",
    "grant": "ledgerframes.analysis.grant:",
    "labels": "ledgerframes.analysis.labels:",
    "load_active_contracts": "ledgerframes.loaders.state:load_active_contracts",
    "load_activity": "ledgerframes.loaders.events:load_activity",
    "load_bulk": "ledgerframes.loaders.bulk:load_bulk",
    "load_completions": "ledgerframes.loaders.state:load_completions",
    "load_contracts": "ledgerframes.loaders.contracts:load_contracts",
    "load_events": "ledgerframes.loaders.events:load_events",
    "load_featured_apps": "ledgerframes.loaders.network_reference:load_featured_apps",
    "load_holdings_summary": "ledgerframes.loaders.holdings:load_holdings_summary",
    "load_mining_rounds": "ledgerframes.loaders.network_reference:load_mining_rounds",
    "load_name_entries": "ledgerframes.loaders.network_reference:load_name_entries",
    "load_name_rules": "ledgerframes.loaders.reference:load_name_rules",
    "load_network_rules": "ledgerframes.loaders.network_reference:load_network_rules",
    "load_packages": "ledgerframes.loaders.state:load_packages",
    "load_parties": "ledgerframes.loaders.state:load_parties",
    "load_price_votes": "ledgerframes.loaders.reference:load_price_votes",
    "load_reward_accounting": "ledgerframes.loaders.reward_accounting:load_reward_accounting",
    "load_scans": "ledgerframes.loaders.network_reference:load_scans",
    "load_synchronizer_status": "ledgerframes.loaders.network_status:load_synchronizer_status",
    "load_synchronizers": "ledgerframes.loaders.state:load_synchronizers",
    "load_token_allocations": "ledgerframes.loaders.tokens:load_token_allocations",
    "load_token_holdings": "ledgerframes.loaders.tokens:load_token_holdings",
    "load_token_transfers": "ledgerframes.loaders.tokens:load_token_transfers",
    "load_traffic": "ledgerframes.loaders.events:load_traffic",
    "load_traffic_status": "ledgerframes.loaders.network_status:load_traffic_status",
    "load_transfer_offers": "ledgerframes.loaders.offers:load_transfer_offers",
    "load_updates": "ledgerframes.loaders.ledger:load_updates",
    "load_validator_faucets": "ledgerframes.loaders.network_status:load_validator_faucets",
    "load_validator_licenses": "ledgerframes.loaders.network_status:load_validator_licenses",
    "load_verdicts": "ledgerframes.loaders.events:load_verdicts",
    "open_frames": "ledgerframes.frames.files:open_frames",
    "operations": "ledgerframes.loaders.operations:operations",
    "plan": "ledgerframes.loaders.plan:plan",
    "plot": "ledgerframes.plots:plot",
    "query": "ledgerframes.analysis.queries:query",
    "questions": "ledgerframes.analysis.question_table:questions",
    "reconcile": "ledgerframes.analysis.reconcile:",
    "save_frames": "ledgerframes.frames.files:save_frames",
    "show": "ledgerframes.report.answers:show",
    "sql": "ledgerframes.queries:sql",
    "state": "ledgerframes.analysis.state:",
    "table": "ledgerframes.datasets:table",
    "trees": "ledgerframes.analysis.trees:",
    "verdict": "ledgerframes.analysis.verdict:",
    "votes": "ledgerframes.analysis.votes:",
}

if TYPE_CHECKING:
    from ledgerframes import export
    from ledgerframes.analysis import (
        activity,
        contracts,
        cost,
        economy,
        eras,
        grant,
        labels,
        reconcile,
        state,
        trees,
        verdict,
        votes,
    )
    from ledgerframes.analysis.cost.traffic_balance import BaseRate, TrafficBalance
    from ledgerframes.analysis.findings import findings
    from ledgerframes.analysis.queries import query
    from ledgerframes.analysis.question_table import questions
    from ledgerframes.anatomies import anatomy
    from ledgerframes.datasets import TABLES, table
    from ledgerframes.errors import *  # noqa: F403
    from ledgerframes.frames import Frames
    from ledgerframes.frames.files import open_frames, save_frames
    from ledgerframes.loaders.bulk import load_bulk
    from ledgerframes.loaders.contracts import load_contracts
    from ledgerframes.loaders.events import load_activity, load_events, load_traffic, load_verdicts
    from ledgerframes.loaders.holdings import load_holdings_summary
    from ledgerframes.loaders.ledger import load_updates
    from ledgerframes.loaders.network_reference import (
        load_featured_apps,
        load_mining_rounds,
        load_name_entries,
        load_network_rules,
        load_scans,
    )
    from ledgerframes.loaders.network_status import (
        load_synchronizer_status,
        load_traffic_status,
        load_validator_faucets,
        load_validator_licenses,
    )
    from ledgerframes.loaders.offers import load_transfer_offers
    from ledgerframes.loaders.operations import operations
    from ledgerframes.loaders.plan import plan
    from ledgerframes.loaders.reference import load_name_rules, load_price_votes
    from ledgerframes.loaders.reward_accounting import load_reward_accounting
    from ledgerframes.loaders.state import (
        load_active_contracts,
        load_completions,
        load_packages,
        load_parties,
        load_synchronizers,
    )
    from ledgerframes.loaders.tokens import load_token_allocations, load_token_holdings, load_token_transfers
    from ledgerframes.network import Network, connect
    from ledgerframes.plots import plot
    from ledgerframes.queries import sql
    from ledgerframes.report.answers import show
    from ledgerframes.statistics.runways import TopUp
    from ledgerframes.values import decimals
    from ledgerframes.values.money import MarketRate, NetworkRate, TrafficPrice

    __version__: str
    # Type checkers alone read this: with it, help(lf) would print every class and function in full.
    __all__ = [
        "TABLES",
        "BaseRate",
        "Frames",
        "MarketRate",
        "Network",
        "NetworkRate",
        "TopUp",
        "TrafficBalance",
        "TrafficPrice",
        "activity",
        "anatomy",
        "connect",
        "contracts",
        "cost",
        "decimals",
        "economy",
        "eras",
        "export",
        "findings",
        "grant",
        "labels",
        "load_active_contracts",
        "load_activity",
        "load_bulk",
        "load_completions",
        "load_contracts",
        "load_events",
        "load_featured_apps",
        "load_holdings_summary",
        "load_mining_rounds",
        "load_name_entries",
        "load_name_rules",
        "load_network_rules",
        "load_packages",
        "load_parties",
        "load_price_votes",
        "load_reward_accounting",
        "load_scans",
        "load_synchronizer_status",
        "load_synchronizers",
        "load_token_allocations",
        "load_token_holdings",
        "load_token_transfers",
        "load_traffic",
        "load_traffic_status",
        "load_transfer_offers",
        "load_updates",
        "load_validator_faucets",
        "load_validator_licenses",
        "load_verdicts",
        "open_frames",
        "operations",
        "plan",
        "plot",
        "query",
        "questions",
        "reconcile",
        "save_frames",
        "show",
        "sql",
        "state",
        "table",
        "trees",
        "verdict",
        "votes",
    ]
    __all__ += errors.__all__
else:

    def __getattr__(name: str) -> Any:
        if name == "__version__":  # read only when needed, because reading it is slow
            return resolve_name("ledgerframes.installation:installed_version")()
        if name in _IMPORTED_AT_FIRST_USE:
            globals()[name] = value = resolve_name(_IMPORTED_AT_FIRST_USE[name])
            return value
        if name.endswith("Error"):  # lf.UsageError is lf.errors.UsageError, and dir(lf) lists the latter only
            return getattr(errors, name)
        if name == "statistics":  # its own error says what to write instead
            return resolve_name("ledgerframes.statistics:")
        raise _missing_name_error("lf", name, {"Anatomy": "lf.anatomy(frames, update_id), which returns one"})


def __dir__() -> list[str]:
    return [*_IMPORTED_AT_FIRST_USE, "__version__", "errors"]


logging.getLogger("ledgerframes").addHandler(logging.NullHandler())
