"""Nodes of transaction trees that move coin, read by the names of their members."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis._amounts import SCALE, to_decimal
from ledgerframes.analysis._arguments import Snapshot, snapshot_rows
from ledgerframes.analysis._coverage import has_times
from ledgerframes.analysis._groups import microseconds
from ledgerframes.analysis.state._payloads import GOVERNANCE, OPEN_ROUND, RULES, decoded, list_of
from ledgerframes.decimals import EXACT
from ledgerframes.errors import CoverageError, IntegrityError
from ledgerframes.frames import Frames
from ledgerframes.gc_pause import pause_gc

COLUMNS = [
    "migration_id", "record_time", "update_id", "event_id", "node_index", "parent_event_id", "contract_id", "template_name",
    "package_name", "choice", "consuming", "signatories", "create_arguments", "choice_argument", "exercise_result",
]  # fmt: skip
CONTRACT_COLUMNS = ["contract_id", "template_name", "package_name", "signatories", "create_arguments"]
MAX_KEPT_NODES = 100_000  # they take about 250 MB with their payloads
ORDER = ["migration_id", "record_time", "update_id", "node_index"]


@dataclass(eq=False)
class Node:
    """A node of a tree, whose template and choice have the neutral word for the coin."""

    update_id: str
    time: int  # record time [microseconds since 1970]
    event_id: str
    contract_id: str
    template: str
    choice: str
    consuming: bool
    signatories: list[str]
    texts: tuple[object, object, object]  # of payload, argument and result
    coin: str
    is_own: bool = False  # whether the contract is one of the network
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    @cached_property
    def payload(self) -> dict[str, Any]:
        """Members of the contract's payload, none without a payload that can be read."""
        return _members(self.texts[0], self.coin)

    @cached_property
    def argument(self) -> dict[str, Any]:
        """Members of the choice's argument, none without an argument that can be read."""
        return _members(self.texts[1], self.coin)

    @cached_property
    def result(self) -> Any:
        """Result of the choice, None without one that can be read."""
        return decoded(self.texts[2], self.coin)

    def ancestors(self) -> Iterator[Node]:
        """Yield the nodes above, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def is_below(self, *choices: str) -> bool:
        """Return whether a node above exercises one of these choices of the network."""
        return any(node.choice in choices and node.is_own for node in self.ancestors())


@dataclass(frozen=True)
class Trees:
    """Trees of all updates of some frames."""

    nodes: list[Node]  # in the order of the history
    creates: dict[str, Node]  # the create of each contract that is in the frames, or in the snapshot before them
    dso: str  # the party that signs the network's contracts, empty without any
    coin: str  # the network's word for its coin

    def created(self, template: str) -> list[Node]:
        """Return the creates of one template of the network."""
        return [node for node in self.nodes if not node.choice and node.template == template and node.is_own]

    def exercised(self, *choices: str) -> list[Node]:
        """Return the exercises of choices on contracts of the network."""
        return [node for node in self.nodes if node.choice in choices and node.is_own]


_last_trees: WeakKeyDictionary[Frames, tuple[Snapshot | None, Trees]] = WeakKeyDictionary()


def require_all_updates(frames: Frames, name: str) -> None:
    """Raise a CoverageError unless the frames are those of a whole time."""
    if not has_times(frames) or frames.is_filtered:
        raise CoverageError(
            f"lf.{name} needs all updates of its time, and these frames have a part of them. "
            "Load a window with since= and pass the unfiltered frames.",
            missing=("all updates of the window",),
        )


def read_trees(frames: Frames, base: Snapshot | None = None) -> Trees:
    """Return the trees of all updates that have a node of the network's packages.

    Amounts of older coins come from `base`, the contracts that were active before. The next figure of the same frames gets the
    same trees.
    """
    last = _last_trees.get(frames)
    if last is not None and last[0] is base:
        return last[1]
    with pause_gc():
        trees = _read_trees(frames, base)
    _last_trees.clear()
    if len(trees.nodes) <= MAX_KEPT_NODES and not isinstance(base, pd.DataFrame):  # which the caller may change
        _last_trees[frames] = base, trees
    return trees


def _read_trees(frames: Frames, base: Snapshot | None) -> Trees:
    before = None if base is None else snapshot_rows(base, "base", CONTRACT_COLUMNS)
    rows = _own_rows(frames)
    coin = _coin_of(rows)
    nodes = [_node(row, coin) for row in _records(rows)]
    _link(nodes, rows["parent_event_id"].tolist(), frames)
    older = [] if before is None else _contract_nodes(before, coin)
    creates = {node.contract_id: node for node in [*older, *nodes] if not node.choice}
    dso = _network_party(creates.values())
    for node in creates.values():
        node.is_own = bool(dso) and dso in node.signatories
    for node in nodes:
        if node.choice:
            node.is_own = creates[node.contract_id].is_own if node.contract_id in creates else True
    return Trees(nodes, creates, dso, coin)


def own_contracts(snapshot: pd.DataFrame, trees: Trees) -> list[Node]:
    """Return the creates of the network's contracts in the rows of a snapshot."""
    nodes = _contract_nodes(snapshot[CONTRACT_COLUMNS], trees.coin)
    return [node for node in nodes if trees.dso and trees.dso in node.signatories]


def units(value: object) -> int | None:
    """Return an amount in units of 10^-10, None if it is none."""
    amount = to_decimal(value)
    return None if amount is None else int(EXACT.multiply(amount, Decimal(SCALE)))


# -- reading ------------------------------------------------------------------------------------------------------------


def _own_rows(frames: Frames) -> pd.DataFrame:
    """Return the nodes of the network's packages, in the order of the history."""
    is_own = pc.match_substring_regex(pc.field("package_name").cast(pa.string()), pattern="^splice-")
    with frames._scanning("tree_events") as nodes:
        table = nodes.filter(is_own).to_table(columns=COLUMNS)
    rows: pd.DataFrame = table.to_pandas().sort_values(ORDER, ignore_index=True)
    return rows.assign(time=microseconds(rows.pop("record_time")))


def _contract_nodes(rows: pd.DataFrame, coin: str) -> list[Node]:
    rows = rows[rows["package_name"].astype("str").str.startswith("splice-")]
    others = {**dict.fromkeys(COLUMNS), "time": 0, "update_id": "", "event_id": ""}
    return [_node({**others, **row}, coin) for row in _records(rows)]


def _records(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield rows as dicts. `DataFrame.to_dict` takes ten times as long for columns of texts."""
    names, columns = [str(name) for name in rows], [rows[name].to_numpy(object) for name in rows]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _coin_of(rows: pd.DataFrame) -> str:
    """Return the network's word for its coin."""
    names = zip(rows["package_name"], rows["template_name"], strict=True)
    counts = Counter(package.removeprefix("splice-") for package, template in names if _is_coin(package, template))
    return counts.most_common(1)[0][0] if counts else "coin"


def _is_coin(package: str, template: str) -> bool:
    word = package.removeprefix("splice-").capitalize()
    return template in (f"Splice.{word}:{word}", f"Splice.{word}Rules:{word}Rules")


def _node(row: Mapping[Any, Any], coin: str) -> Node:
    choice, word = row["choice"], coin.capitalize()
    packages = (f"splice-{coin}", f"splice-{coin}-name-service", GOVERNANCE)
    return Node(
        row["update_id"],
        row["time"],
        row["event_id"],
        row["contract_id"],
        row["template_name"].replace(word, "Coin") if row["package_name"] in packages else "",
        choice.replace(word, "Coin") if isinstance(choice, str) else "",
        row["consuming"] is True,
        list_of(row["signatories"]),
        (row["create_arguments"], row["choice_argument"], row["exercise_result"]),
        coin,
    )


def _members(text: object, coin: str) -> dict[str, Any]:
    value = decoded(text, coin)
    return value if isinstance(value, dict) else {}


def _link(nodes: list[Node], parents: list[Any], frames: Frames) -> None:
    """Set parents and children, over nodes of other packages in between."""
    by_id = {node.event_id: node for node in nodes}
    missing = {parent for parent in parents if isinstance(parent, str) and parent not in by_id}
    above = _parents_of_others(frames) if missing else {}
    for node, parent in zip(nodes, parents, strict=True):
        while isinstance(parent, str) and parent not in by_id:
            parent = above.get(parent)
        if isinstance(parent, str):
            node.parent = by_id[parent]
            by_id[parent].children.append(node)


def _parents_of_others(frames: Frames) -> dict[str, Any]:
    columns = ["event_id", "parent_event_id"]
    with frames._scanning("tree_events") as nodes:
        table = nodes.to_table(columns=columns, filter=pc.field("choice").is_valid())
    return dict(zip(table["event_id"].to_pylist(), table["parent_event_id"].to_pylist(), strict=True))


def _network_party(creates: Any) -> str:
    """Return the party that alone signs the network's rules, or else its rounds."""
    signers: defaultdict[str, set[str]] = defaultdict(set)
    for node in creates:
        if node.template in (RULES, OPEN_ROUND) and node.signatories == [node.payload.get("dso")]:
            signers[node.template].add(node.signatories[0])
    parties = signers[RULES] or signers[OPEN_ROUND]
    if len(parties) > 1:
        raise IntegrityError(
            f"Contracts of the network are signed by {len(parties)} parties: {', '.join(sorted(parties))}. "
            'Load the history from its start with since="0001-01-01".'
        )
    return next(iter(parties), "")
