"""Commands of ``ledgerframes sync`` that save an observation of the latest state."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ledgerframes.cli.options import CommandContext
from ledgerframes.cli.sync_summary import describe_observations, format_observations

# Loader by command, with the module that has it and what it saves.
OBSERVATIONS = {
    "price-votes": ("reference", "load_price_votes", "the current coin price votes"),
    "name-rules": ("reference", "load_name_rules", "the current rules of the name service"),
    "mining-rounds": ("network_reference", "load_mining_rounds", "the open, issuing and closed rounds"),
    "featured-apps": ("network_reference", "load_featured_apps", "the current rights of apps"),
    "name-entries": ("network_reference", "load_name_entries", "the names that have not expired"),
    "network-rules": ("network_reference", "load_network_rules", "the current rules of the network"),
    "scans": ("network_reference", "load_scans", "the addresses of all history APIs"),
    "validator-licenses": ("network_status", "load_validator_licenses", "the licenses of validators"),
    "validator-faucets": ("network_status", "load_validator_faucets", "the activity of validators"),
    "traffic-status": ("network_status", "load_traffic_status", "the traffic balance of the participant"),
    "synchronizer-status": ("network_status", "load_synchronizer_status", "serial and next upgrade"),
}


def observation_commands() -> dict[str, Callable[..., None]]:
    """Return the commands by name."""
    return {name: _command(*declared) for name, declared in OBSERVATIONS.items()}


def _command(module: str, loader: str, noun: str) -> Callable[..., None]:
    def save(context: CommandContext) -> None:
        load = getattr(import_module(f"ledgerframes.loaders.{module}"), loader)
        net = context.connect()
        context.print_summary(describe_observations(net, load(net)), format_observations)

    save.__name__ = loader.removeprefix("load_")
    save.__doc__ = f"Save {noun}.\n\nThe service returns only the latest state. Its history builds up with each run."
    return save
