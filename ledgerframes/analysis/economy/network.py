"""The coin, the party and the rounds of a network."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import pyarrow as pa

from ledgerframes.analysis._amounts import to_decimal
from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.arguments import Snapshot, require_signer, snapshot_rows
from ledgerframes.analysis.coverage import has_times, incomplete_windows, part_of_time
from ledgerframes.analysis.state.payloads import Values, decoded, whole
from ledgerframes.datasets.reference.build import member
from ledgerframes.datasets.schema import AMOUNT, INTEGER, TEXT, TEXTS, TIME
from ledgerframes.datasets.templates import DSO_RULES, ISSUING_ROUND, OPEN_ROUND
from ledgerframes.engine import Query
from ledgerframes.engine.nodes import RULES_AND_ROUNDS
from ledgerframes.engine.query import run_arrow
from ledgerframes.engine.relation import Relation
from ledgerframes.errors import CoverageError, IntegrityError
from ledgerframes.frames import Frames
from ledgerframes.values.extents import microseconds

OLDER = pa.schema(
    {"contract_id": TEXT, "template_name": TEXT, "package_name": TEXT, "signatories": TEXTS, "create_arguments": TEXT}
)
NETWORK = pa.schema({"coin": TEXT, "coin_word": TEXT, "dso": TEXT})
NAMES = pa.schema({"package_name": TEXT, "template_name": TEXT, "sent_choice": TEXT, "template": TEXT, "choice": TEXT})
ISSUANCES = pa.schema({"round_number": INTEGER, "issuance_name": TEXT, "issuance": AMOUNT})
LOWEST_ROUNDS = pa.schema({"since": TIME, "lowest_round": INTEGER})
ISSUANCE_NAMES = (
    "issuancePerValidatorRewardCoupon",
    "issuancePerSvRewardCoupon",
    "optIssuancePerValidatorFaucetCoupon",
    "issuancePerFeaturedAppRewardCoupon",
    "issuancePerUnfeaturedAppRewardCoupon",
)


@dataclass(frozen=True)
class Contract:
    """A contract of the network."""

    contract_id: str
    template: str
    time: int | None  # record time of the create [microseconds since 1970], None in a snapshot
    signatories: list[str]
    payload: Values


@dataclass(frozen=True)
class Network:
    """The network of some frames.

    Attributes
    ----------
    frames : Frames
    older : Table
        Contracts of the snapshot before the frames.
    coin : str
        The network's word for its coin.
    names : Table
        Packages, templates and choices of nodes, with their neutral names.
    dso : str
        The party that signs the network's contracts, or empty if there are none.
    """

    frames: Frames
    older: pa.Table
    coin: str
    names: pa.Table
    dso: str = ""
    rounds: Rounds = field(default_factory=lambda: Rounds([], {}))

    @property
    def parameters(self) -> Mapping[str, pa.Table]:
        """Small tables that queries about the nodes of the network need."""
        network = {"coin": self.coin, "coin_word": self.coin.capitalize(), "dso": self.dso or None}
        return {
            "network": pa.Table.from_pylist([network], NETWORK),
            "node_names": self.names,
            "older": self.older,
            "issuances": pa.Table.from_pylist(self.rounds.issuances, ISSUANCES),
            "lowest_rounds": pa.Table.from_pylist(self.rounds.lowest, LOWEST_ROUNDS),
        }

    def query(self, select: str, *relations: Relation) -> Query:
        """Return a query over nodes of the network."""
        return Query(select, relations, self.parameters)

    def rows(self, query: Query) -> list[dict[str, Any]]:
        """Return the rows of a query whose result is small."""
        rows: list[dict[str, Any]] = run_arrow(self.frames, query).to_pylist()
        return rows

    def decoded(self, text: object) -> Any:
        """Return a payload with neutral names of members, or None if it cannot be read."""
        return decoded(text, self.coin)

    def members(self, text: object) -> Values:
        """Return the members of a payload, or none if it cannot be read."""
        value = self.decoded(text)
        return value if isinstance(value, dict) else {}


class Rounds:
    """Rounds in the frames, by number and by contract.

    From the start of a hole in the frames, the lowest open round is unknown until the next round ends.
    """

    def __init__(self, contracts: list[Contract], ends: Mapping[str, int], holes: Iterable[int] = ()) -> None:
        self.opened: dict[Any, Contract] = {}
        self.issuing: dict[Any, Values] = {}
        self.ended: dict[Any, int] = {}
        for contract in contracts:
            number = round_of(contract.payload)
            if number is None:
                continue
            if contract.template == OPEN_ROUND:
                self.opened[number] = contract
                if contract.contract_id in ends:
                    self.ended[number] = ends[contract.contract_id]
            elif contract.template == ISSUING_ROUND:
                self.issuing[number] = contract.payload
        ends_in_order = sorted((time, number) for number, time in self.ended.items())
        highest = accumulate((number for _, number in ends_in_order), max)
        lowest: dict[int, int | None] = dict.fromkeys(holes)
        lowest |= {time: number + 1 for (time, _), number in zip(ends_in_order, highest, strict=True)}
        self._times = sorted(lowest)
        self._lowest = [lowest[time] for time in self._times]

    @property
    def lowest(self) -> list[dict[str, int | None]]:
        """The lowest open round after the end of each round, or None after the start of a hole."""
        return [{"since": time, "lowest_round": number} for time, number in zip(self._times, self._lowest, strict=True)]

    @property
    def issuances(self) -> list[dict[str, Any]]:
        """Coin of each round for a coupon of weight 1, by the name of the member."""
        return [
            {"round_number": number, "issuance_name": name, "issuance": to_decimal(payload.get(name))}
            for number, payload in self.issuing.items()
            for name in ISSUANCE_NAMES
        ]

    def lowest_at(self, time: int) -> int | None:
        """Return the lowest open round at a time, which follows the last round that ended."""
        index = bisect_right(self._times, time)
        return self._lowest[index - 1] if index else None

    def number_or_lowest_at(self, number: int | None, time: int) -> int | None:
        """Return the number of a round, or of the lowest open round at a time if there is none."""
        return self.lowest_at(time) if number is None else number

    def span(self, number: int | None) -> tuple[int | None, int | None]:
        """Return the start and end of the time in which a round is the lowest open one, or None."""
        if number is None:
            return None, None
        opened = self.opened.get(number)
        return self.ended.get(number - 1, opened.time if opened else None), self.ended.get(number)

    def price(self, number: int | None, name: str = "coinPrice") -> Any:
        """Return a price of a round, or None if it is unknown."""
        opened = self.opened.get(number)
        return to_decimal(opened.payload.get(name)) if opened else None


def round_of(payload: object) -> int | None:
    """Return the number of the round that a payload names."""
    return whole(member(payload, "round", "number"))


def require_all_updates(frames: Frames, name: str) -> None:
    """Raise a CoverageError unless the frames have all updates of their time."""
    if not has_times(frames) or frames.is_filtered:
        raise CoverageError(
            f"lf.{name} needs all updates of its time, and {part_of_time(frames)}.",
            missing=("all updates of the window",),
        )


def read_network(frames: Frames, base: Snapshot | None = None) -> Network:
    """Return the network of the frames.

    Older contracts come from `base`, which has the contracts that were active before.
    """
    names = _read_names(frames)
    coin = _coin_of(names)
    network = Network(frames, contracts_of(base), coin, _neutral_names(names, coin))
    nodes = _read_rules_and_rounds(network)
    contracts = [_contract(network, node) for node in nodes if not node["is_consuming"]]
    network = replace(network, dso=_network_party(contracts))
    if base is not None:
        rounds = [contract for contract in contracts if contract.template == OPEN_ROUND and contract.time is not None]
        require_signer({network.dso}, [contract.signatories for contract in rounds])
    own = [contract for contract in contracts if network.dso and network.dso in contract.signatories]
    return replace(network, rounds=Rounds(own, _ends_of_rounds(nodes), _holes(frames)))


def contracts_of(snapshot: Snapshot | None) -> pa.Table:
    """Return the contracts of a snapshot, or none, as the engine reads them."""
    if snapshot is None:
        return OLDER.empty_table()
    return pa.Table.from_pandas(snapshot_rows(snapshot, "base", OLDER.names)[OLDER.names], OLDER, preserve_index=False)


# -- reading ------------------------------------------------------------------------------------------------------------


@once_per_frames
def _read_names(frames: Frames) -> list[dict[str, Any]]:
    """Return the names of nodes in the network's packages, in order."""
    select = """
SELECT package_name, template_name, choice, count(*) AS nodes
FROM all_nodes
WHERE package_name LIKE 'splice-%'
GROUP BY ALL
ORDER BY ALL"""
    nodes = Relation("all_nodes", "One row per node.", "FROM tree_events", tables=("tree_events",))
    rows: list[dict[str, Any]] = run_arrow(frames, Query(select, (nodes,))).to_pylist()
    return rows


def _coin_of(names: list[dict[str, Any]]) -> str:
    """Return the network's word for its coin, which is the one in most nodes."""
    counts: Counter[str] = Counter()
    for row in names:
        coin = row["package_name"].removeprefix("splice-")
        word = coin.capitalize()
        if row["template_name"] in (f"Splice.{word}:{word}", f"Splice.{word}Rules:{word}Rules"):
            counts[coin] += row["nodes"]
    return counts.most_common(1)[0][0] if counts else "coin"


def _neutral_names(names: list[dict[str, Any]], coin: str) -> pa.Table:
    """Return the names without the network's word for its coin.

    Other packages have no template of the network.
    """
    packages = (f"splice-{coin}", f"splice-{coin}-name-service", "splice-dso-governance")
    rows = [
        {
            "package_name": row["package_name"],
            "template_name": row["template_name"],
            "sent_choice": row["choice"],
            "template": _neutral(row["template_name"], coin) if row["package_name"] in packages else "",
            "choice": _neutral(row["choice"], coin) or "",
        }
        for row in names
    ]
    return pa.Table.from_pylist(rows, NAMES)


def _neutral(name: str | None, coin: str) -> str | None:
    return None if name is None else name.replace(coin.capitalize(), "Coin")


def _read_rules_and_rounds(network: Network) -> list[dict[str, Any]]:
    """Return the contracts of rules and rounds in the history, and their archivals."""
    select = """
SELECT contract_id, template, epoch_us(record_time) AS time, is_consuming, signatories, create_arguments
FROM rules_and_rounds
ORDER BY migration_id NULLS FIRST, record_time, update_id, node_index"""
    return network.rows(network.query(select, RULES_AND_ROUNDS))


def _contract(network: Network, node: Mapping[str, Any]) -> Contract:
    payload = network.members(node["create_arguments"])
    return Contract(node["contract_id"], node["template"], node["time"], node["signatories"] or [], payload)


def _ends_of_rounds(nodes: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the time at which each round was archived, by contract."""
    return {node["contract_id"]: node["time"] for node in nodes if node["is_consuming"] and node["template"] == OPEN_ROUND}


def _holes(frames: Frames) -> list[int]:
    """Return the start of each part of the window that the frames miss [microseconds]."""
    missing = incomplete_windows(frames, frames.window)[0] if frames.window else []
    return [microseconds(part.since) for part in missing]


def _network_party(contracts: list[Contract]) -> str:
    """Return the party that alone signs the network's rules, or else its rounds."""
    signers: dict[str, set[str]] = {DSO_RULES: set(), OPEN_ROUND: set()}
    for contract in contracts:
        if contract.template in signers and contract.signatories == [contract.payload.get("dso")]:
            signers[contract.template].add(contract.signatories[0])
    parties = signers[DSO_RULES] or signers[OPEN_ROUND]
    if len(parties) > 1:
        raise IntegrityError(
            f"Contracts of the network are signed by {len(parties)} parties: {', '.join(sorted(parties))}. "
            'Load the history from its start with since="0001-01-01".'
        )
    return next(iter(parties), "")
