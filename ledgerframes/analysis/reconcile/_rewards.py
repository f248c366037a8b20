"""The rewards of each round, from the published records to the last hash on the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts
from ledgerframes.analysis.arguments import Snapshot, is_choice
from ledgerframes.analysis.economy.network import Network, read_network, require_all_updates
from ledgerframes.analysis.reconcile import _answers as answers
from ledgerframes.analysis.reconcile._reward_links import LINKS, STATUSES, UNKNOWN, Link, Proof
from ledgerframes.analysis.reconcile._reward_proofs import party_proofs, path_of
from ledgerframes.analysis.reconcile._reward_rounds import APP, VALIDATOR, Coupons, RewardRound, read_reward_rounds
from ledgerframes.analysis.reconcile._reward_service import Service
from ledgerframes.analysis.reconcile._reward_tree import RewardProof
from ledgerframes.analysis.reconcile._reward_weights import WeightCheck, check_weights
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.frames.checks import require_frames
from ledgerframes.values.checks import require_integer

KINDS = (APP, VALIDATOR)
REWARDS = declare.Figure(
    "reconcile.rewards",
    caption="Proof of the rewards of rounds",
    answer=answers.of_rewards,
    main_columns=("round_number", "kind", "link", "status", "reason", "difference"),
    without_query="it hashes trees of amounts, which SQL cannot. Show the query of lf.activity.weights for the published records",
    rows="One row per round, kind and link, in the order of the links; sorted by round. With by='party', one row per rewarded "
    "party instead, sorted by position.",
    by={
        "party": declare.Grouping(
            (declare.text("party", "App provider, or validator."),),
            (
                declare.integer("weight", "Published weight. Missing if records can be missing.", declare.WEIGHT_UNIT),
                declare.amount("amount", "Amount of the party in its batch. Missing if it is in none.", "coin"),
                declare.integer("position", "Number of the party in the round, from 0. Missing where `amount` is."),
                declare.text("leaf", "Hash of the party's batch. Missing where `amount` is."),
                declare.text("path", "Hashes from that batch to the root, separated by spaces. Missing where `amount` is."),
            ),
        )
    },
    columns=(
        declare.integer("round_number", "Mining round.", "", "Mining round"),
        declare.choice("kind", KINDS, "Who is rewarded: app or validator."),
        declare.flag("is_dry_run", "Whether rewards are only calculated."),
        declare.choice(
            "link", LINKS, "Link that the row checks. With by='party', the first link that does not hold. Missing if all hold."
        ),
        declare.choice("status", STATUSES, title="Status"),
        declare.text("reason", "Why the status is unknown or missing. Missing if there is nothing to say."),
        declare.text("expected", "Value according to the link before, or to our computation. Missing if unknown."),
        declare.text("found", "Value on the ledger. Missing if unknown."),
        declare.amount("difference", "Sum of the absolute differences of all parties. Missing if there are none.", "coin"),
        declare.text("example", "Party, contract or update that shows the difference. Missing if there is none."),
    ),
    condition="with a known status",
    unit="rows of this result",
)


@REWARDS.register
def rewards(
    frames: Frames,
    *,
    by: Literal["party"] | None = None,
    featured: pd.DataFrame | None = None,
    sv_participants: pd.DataFrame | None = None,
    rounds: pd.DataFrame | None = None,
    base: Snapshot | None = None,
    service: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Check the rewards of each round, from its records to the last hash and coupon.

    Parameters
    ----------
    frames : Frames
        With all updates and records of the rounds, so load them by time and without a filter.
    by : {"party"}, optional
        Grouping of the rows, with its columns below (default: None).
    featured : DataFrame, optional
        Featured rights: ``party``, ``weight`` (missing counts as 1), ``from`` and ``until`` [UTC, missing if alive] (default:
        from the history, which must start with the network).
    sv_participants : DataFrame, optional
        Participants of super validators: ``participant`` without a prefix, ``from`` and ``until`` (default: from the history).
        The state is unknown at times without any.
    rounds : DataFrame, optional
        Mining rounds: ``round_number``, ``opens_at``, ``from`` (or ``created_at``) and ``until`` (or ``archived_at``) (default:
        from the history).
    base : Frames or DataFrame, optional
        Contracts active at or before the start of the frames, from :func:`ledgerframes.load_contracts`. The tables above that
        are not passed are computed from them (default: none, so the history must start with the network).
    service : DataFrame, optional
        From :func:`ledgerframes.load_reward_accounting`, for the link ``service`` (default: without this link).

    Returns
    -------
    DataFrame
        One row per round, kind and link, in the order of the links; sorted by round. With by='party', one row per rewarded
        party instead, sorted by position.

        Columns:

        - ``party`` (str, with by="party"): App provider, or validator.
        - ``weight`` (Int64, weighted bytes, with by="party"): Published weight. Missing if records can be missing.
        - ``amount`` (decimal128(38, 10)[pyarrow], coin, with by="party"): Amount of the party in its batch. Missing if it is in
          none.
        - ``position`` (Int64, with by="party"): Number of the party in the round, from 0. Missing where `amount` is.
        - ``leaf`` (str, with by="party"): Hash of the party's batch. Missing where `amount` is.
        - ``path`` (str, with by="party"): Hashes from that batch to the root, separated by spaces. Missing where `amount` is.
        - ``round_number`` (Int64): Mining round.
        - ``kind`` (category): Who is rewarded: app or validator.
        - ``is_dry_run`` (boolean): Whether rewards are only calculated.
        - ``link`` (category): Link that the row checks. With by='party', the first link that does not hold. Missing if all
          hold.
        - ``status`` (category): equal, differs, missing, or unknown.
        - ``reason`` (str): Why the status is unknown or missing. Missing if there is nothing to say.
        - ``expected`` (str): Value according to the link before, or to our computation. Missing if unknown.
        - ``found`` (str): Value on the ledger. Missing if unknown.
        - ``difference`` (decimal128(38, 10)[pyarrow], coin): Sum of the absolute differences of all parties. Missing if there
          are none.
        - ``example`` (str): Party, contract or update that shows the difference. Missing if there is none.
        - ``coverage`` (float64, share of 1): Share of the rows of this result with a known status. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the state is needed and its start is not in the history.
    IntegrityError
        If two contracts with the network's rules are alive at one time.
    UsageError
        If a table has no such column.
    CoverageError
        If the frames cover no time, or only a part of the updates.

    Notes
    -----
    Source: docs/facts.md#proof-of-rewards. `weights` compares published with computed weights, which needs the rights and
    super validators. If the frames do not start with the network, pass them or `base`, as for
    :func:`ledgerframes.activity.reconcile`. `amounts` compares the allowances of the batches with those that follow from the
    weights, `leaves` and `root` their hashes, `confirmations` the roots that super validators confirmed, and `coupons` the
    coupons that were created. `found` of `coupons` says what became of them. A coupon that is created again counts as the new
    one does, or as open if it is not clear which one that is. `service` compares the totals, root and batches of a node with
    those of the ledger, or with computed ones. If the frames do not tell, the status is unknown, and `reason` says why.

    Picture, by :func:`ledgerframes.plot`: With ``by="party"``, the 15 parties with the most coin are shown. More than 240
    rounds are shown in groups. One row per link, or per party, a cell per round in the color of its status, the worst one
    of a group.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> links = lf.reconcile.rewards(frames)
    >>> bool(links["status"].isin(["equal", "unknown"]).all())
    True
    """
    REWARDS.check(frames, by)
    require_all_updates(frames, REWARDS.name)
    network = read_network(frames)
    weights = check_weights(frames, featured, sv_participants, rounds, base)
    answers = None if service is None else Service(service)
    proofs = _proofs(network, weights)
    if by is None:
        rows = [row for proof in proofs for row in _rows(proof, weights, answers)]
    else:
        rows = [row for proof in proofs for row in _rows_by_party(proof, weights, answers)]
    return _build(frames, rows, by)


def reward_proof(
    frames: Frames, round_number: int, party: str, *, kind: Literal["app", "validator"] = "app", is_dry_run: bool | None = None
) -> RewardProof:
    """Return the path from the reward of one party to the root of its round on the ledger.

    Parameters
    ----------
    frames : Frames
        With all updates of the time in which the round was processed.
    round_number : int
    party : str
        A party with a reward in this round.
    kind : {"app", "validator"}, optional
        Who is rewarded (default: app).
    is_dry_run : bool, optional
        Whether rewards are only calculated (default: as in the round, or the payment if it has both).

    Returns
    -------
    RewardProof
        Its :meth:`RewardProof.verify` checks whether the reward leads to the root that the super validators confirmed.

    Raises
    ------
    CoverageError
        If the batches of the round are not in the frames.
    UsageError
        If the party has no reward in the round, or there is no such `kind`.

    Notes
    -----
    Source: docs/facts.md#proof-of-rewards.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=2000, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> row = lf.reconcile.rewards(frames, by="party").iloc[0]
    >>> lf.reconcile.reward_proof(frames, row["round_number"], row["party"]).verify()
    True
    """
    require_frames(frames, "reconcile.reward_proof")
    require_all_updates(frames, "reconcile.reward_proof")
    round_number = require_integer("round_number", round_number, 0)
    if not is_choice(kind, KINDS):
        raise UsageError(f"Unknown kind {kind!r}. Choose from {', '.join(KINDS)}.")
    candidates = [
        each
        for each in read_reward_rounds(read_network(frames))
        if (each.number, each.kind) == (round_number, kind) and is_dry_run in (None, each.is_dry_run) and each.root is not None
    ]
    if not candidates:
        raise CoverageError(
            f"The batches of round {round_number} are not in these frames. Load the time in which it was processed.",
            missing=(f"batches of round {round_number}",),
        )
    proof = path_of(candidates[0], party)
    if proof is None:
        raise UsageError(f"Party {party!r} has no reward in the batches of round {round_number}.")
    return proof


def _proofs(network: Network, weights: WeightCheck) -> Iterator[Proof]:
    """Yield the rounds, each with its computed rewards."""
    coupons = Coupons(network)
    for each in read_reward_rounds(network):
        own = weights.options(each)
        batches = [] if each.root is None else [*each.root.leaves, *each.root.nodes]
        yield Proof(each, own, [coupon for batch in batches for coupon in coupons.of(batch)])


def _links(proof: Proof, weights: WeightCheck, answers: Service | None) -> dict[str, Link]:
    return proof.links(weights.link(proof.round), answers.link if answers else None)


def _rows(proof: Proof, weights: WeightCheck, answers: Service | None) -> Iterator[dict[str, Any]]:
    for name, link in _links(proof, weights, answers).items():
        yield _row(proof.round, name, link)


def _rows_by_party(proof: Proof, weights: WeightCheck, answers: Service | None) -> Iterator[dict[str, Any]]:
    links = _links(proof, weights, answers)
    published = proof.round.weights or {}
    served = answers.allowances(proof) if answers else None
    for each in party_proofs(proof, links, weights.faulty_parties(proof.round), served):
        row = _row(proof.round, each.link, each.check)
        row |= {"party": each.party, "weight": published.get(each.party)}
        row |= {"amount": None, "position": None, "leaf": None, "path": None}
        if each.proof is not None:
            leaf, *above = each.hashes
            row |= {"amount": each.proof.amount, "position": each.proof.position, "leaf": leaf, "path": " ".join(above)}
        yield row


def _row(each: RewardRound, name: str | None, link: Link) -> dict[str, Any]:
    head = {"round_number": each.number, "kind": each.kind, "is_dry_run": each.is_dry_run, "link": name}
    values = vars(link)
    return {**head, **values, "found": values["on_ledger"]}


def _build(frames: Frames, rows: list[dict[str, Any]], by: str | None) -> pd.DataFrame:
    columns = [column.name for column in REWARDS.result_columns(by) if column not in REWARDS.tail]
    table = pd.DataFrame(rows, columns=columns, dtype="object")
    values: dict[str, Any] = {name: table[name] for name in columns}
    for name in ("difference", "amount"):
        if name in values:
            values[name] = amounts(table[name])
    for name in ("round_number", "weight", "position"):
        if name in values:
            values[name] = pd.array(table[name].tolist(), "Int64")
    known = float((table["status"] != UNKNOWN).mean()) if len(table) else None
    return REWARDS.build(frames, values | {"coverage": pd.Series(known, table.index, "float64")}, by)
