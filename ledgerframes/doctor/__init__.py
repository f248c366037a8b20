"""Checks of configuration, software, store and services, each with a next step."""

from ledgerframes.doctor.checks import Check
from ledgerframes.doctor.configuration import Setting, check_environment, check_software, settings_in_use
from ledgerframes.doctor.services import check_ledger_and_wallet, check_services
from ledgerframes.doctor.store import check_store

__all__ = [
    "Check",
    "Setting",
    "check_environment",
    "check_ledger_and_wallet",
    "check_services",
    "check_software",
    "check_store",
    "settings_in_use",
]
