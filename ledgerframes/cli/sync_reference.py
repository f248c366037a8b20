"""Commands of ``ledgerframes sync`` that save an observation of the latest state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import ledgerframes as lf
from ledgerframes.cli.options import CommandContext
from ledgerframes.cli.sync_summary import describe_observations, format_observations

if TYPE_CHECKING:
    import pandas as pd

    Loader = Callable[[lf.Network], pd.DataFrame]

# Loader by command, imported when first used, and what it saves.
OBSERVATIONS: dict[str, tuple[Loader, str]] = {
    "price-votes": (lambda net: lf.load_price_votes(net), "the current coin price votes"),
    "name-rules": (lambda net: lf.load_name_rules(net), "the current rules of the name service"),
    "mining-rounds": (lambda net: lf.load_mining_rounds(net), "the open, issuing and closed rounds"),
    "featured-apps": (lambda net: lf.load_featured_apps(net), "the current rights of apps"),
    "name-entries": (lambda net: lf.load_name_entries(net), "the names that have not expired"),
    "network-rules": (lambda net: lf.load_network_rules(net), "the current rules of the network"),
    "scans": (lambda net: lf.load_scans(net), "the addresses of all history APIs"),
    "validator-licenses": (lambda net: lf.load_validator_licenses(net), "the licenses of validators"),
    "validator-faucets": (lambda net: lf.load_validator_faucets(net), "the activity of validators"),
    "traffic-status": (lambda net: lf.load_traffic_status(net), "the traffic balance of the participant"),
    "synchronizer-status": (lambda net: lf.load_synchronizer_status(net), "serial and next upgrade"),
    "reward-accounting": (lambda net: lf.load_reward_accounting(net), "the rewards of rounds as the node computes them"),
}


def observation_commands() -> dict[str, Callable[..., None]]:
    """Return the commands by name."""
    return {name: _command(name, *declared) for name, declared in OBSERVATIONS.items()}


def _command(name: str, load: Loader, noun: str) -> Callable[..., None]:
    def save(context: CommandContext) -> None:
        net = context.connect()
        context.print_summary(describe_observations(net, load(net)), format_observations)

    save.__name__ = name.replace("-", "_")
    save.__doc__ = f"Save {noun}.\n\nThe service returns only the latest state. Its history builds up with each run."
    return save
