"""Sentences that answer with the figures of the economy."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd

from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize
from ledgerframes.values import decimals

NO_FLOW = "No coin was minted or burned in this window."
ROLES = {"app": "apps", "validator": "validators", "sv": "super validators"}


def of_purchases(result: pd.DataFrame) -> str:
    """Return how much traffic was bought, and how much of it for others."""
    rows = result[result["purchases"] > 0]
    if rows.empty:
        return "Nobody bought traffic in this window."
    purchases = pluralize(int(rows["purchases"].sum()), "purchase")
    bought = f"{purchases} of {_size(rows['bytes'])} burned {_coin(rows['coin_spent'])}."
    if rows["for_whom"].isna().any():  # the groups of both columns
        return bought
    others = rows[rows["for_whom"] == "other"]
    number = int(others["purchases"].sum())
    verb = "was" if number == 1 else "were"
    return f"{bought} {number:,} of them, with {_size(others['bytes'])}, {verb} for somebody else."


def of_flows(result: pd.DataFrame) -> str:
    """Return what rounds or periods issued for each role, and the traffic bought."""
    noun = "round" if "round_number" in result else "period"
    if result.empty:
        return f"No {noun} in this window."
    issued = ", ".join(f"{_coin(result[f'issued_{role}'])} for {name}" for role, name in ROLES.items())
    sizes = result["traffic_bought"]
    bought = _size(sizes) if sizes.notna().any() else "unknown"
    return f"{pluralize(len(result), noun)} issued {issued}. Traffic bought in them: {bought}."


def of_burn_mint(result: pd.DataFrame) -> str:
    """Return how much coin was burned per coin minted, and how much is unexplained."""
    known = result.dropna(subset=["burned", "minted", "unexplained"])
    if len(result) and known.empty:
        return "How much coin was burned for each coin minted is unknown, because some amounts are."
    burned, minted = (Decimal(decimals.total(known[name]) or 0) for name in ("burned", "minted"))
    if not minted:
        return NO_FLOW if not burned else f"{printing.amount(burned)} coin were burned, and none were minted."
    whose = "" if len(known) == len(result) else f"In the {len(known):,} of {len(result):,} periods whose amounts are known, "
    ratio = f"{printing.amount(burned / minted, 3)} burned for each coin minted"
    flows = f"{printing.amount(burned)} coin were burned and {printing.amount(minted)} minted: {ratio}."
    return f"{whose}{flows} Unexplained: {_unexplained(known['unexplained'])}."


def _unexplained(amounts: pd.Series) -> str:
    """Return the coin that no flow explains, in which amounts of two signs do not cancel out."""
    absolute = [abs(amount) for amount in amounts if amount]
    if len(amounts) == 1:
        return f"{printing.amount(amounts.iloc[0])} coin"
    where = f" in {len(absolute):,} of {len(amounts):,} periods" if absolute else ""
    return f"{printing.amount(sum(absolute, Decimal(0)))} coin{where}"


def of_balance(result: pd.DataFrame) -> str:
    """Return how much coin parties own, and how many sums of the network differ."""
    if "period_start" in result or result.empty:
        return ""
    owned = f"{pluralize(len(result), 'party')} {'owns' if len(result) == 1 else 'own'} {_coin(result['balance'])} at the end."
    sums, differing = int(result["node_sums"].sum()), int(result["differing_sums"].sum())
    verb = "differs" if differing == 1 else "differ"
    return f"{owned} Of {pluralize(sums, 'sum')} of the network, {differing:,} {verb} from the history." if sums else owned


def _coin(amounts: pd.Series) -> str:
    if len(amounts) and amounts.isna().all():
        return "an unknown amount of coin"
    return _lower_bound(amounts, f"{printing.amount(Decimal(decimals.total(amounts.dropna()) or 0))} coin")


def _size(byte_counts: pd.Series) -> str:
    if len(byte_counts) and byte_counts.isna().all():
        return "an unknown size"
    return _lower_bound(byte_counts, printing.size(int(byte_counts.sum())))


def _lower_bound(values: pd.Series, text: str) -> str:
    """Return the text of a sum, which is a lower bound if values are unknown."""
    return f"at least {text}" if values.isna().any() else text
