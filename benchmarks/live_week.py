"""One call over a week as large as that of the live network, in a process of its own.

``python live_week.py STORE CALL`` computes one of the calls below, and prints its seconds and its peak of memory as JSON;
``one-thread`` after it has the engine use one, ``by-hand`` runs the query by hand. Instead of a call, ``report`` makes a weekly
report, and ``digests`` compares all files with the catalog, as a process does before it queries them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import by_hand
import pandas as pd
from measuring import PeakOfWorkers, peak_megabytes
from week_store import SINCE, UNTIL, network

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.engine import Query, Relation, run
from ledgerframes.frames import Frames

ALL_UPDATES = Relation("all_updates", "One row per update.", "SELECT update_id, node_count FROM updates", tables=("updates",))
NEW_COINS = Relation(
    "new_coins",
    "One row per coin that is created.",
    "SELECT package_name, signatories FROM tree_events WHERE choice IS NULL AND template_name = 'Splice.Coin:Coin'",
    tables=("tree_events",),
)
BILL: dict[str, Any] = {"price": lf.TrafficPrice("50", "USD/MB"), "accept_price": True, "min_coverage": 0}
BUDGETS = {"Splice.CoinRules:CoinRules/CoinRules_Transfer": 10_000}
ESTIMATES = pd.DataFrame({"update_id": ["of nobody"], "request_bytes": [5_000]})
APP: dict[str, Any] = {"app": {"packages": ["meadow-token"], "parties": []}, "exclude": []}
CALLS: dict[str, Callable[[Frames], object]] = {
    "activity.concentration": lambda frames: lf.activity.concentration(frames),
    "activity.lorenz": lambda frames: lf.activity.lorenz(frames),
    "activity.recompute": lambda frames: lf.activity.recompute(frames),
    "activity.reconcile": lambda frames: lf.activity.reconcile(frames),
    "activity.reconcile_totals": lambda frames: lf.activity.reconcile_totals(frames),
    "activity.rewards": lambda frames: lf.activity.rewards(frames),
    "activity.rewards by party": lambda frames: lf.activity.rewards(frames, by="party"),
    "activity.weights": lambda frames: lf.activity.weights(frames),
    "activity.what_if": lambda frames: lf.activity.what_if(frames, confirmers="informees"),
    "cost.anatomy": lambda frames: lf.cost.anatomy(frames, _largest(frames)),
    "cost.budget": lambda frames: lf.cost.budget(frames, BUDGETS, network=frames.network),
    "cost.compare": lambda frames: lf.cost.compare(*_halves(frames)),
    "cost.concentration by participant": lambda frames: lf.cost.concentration(frames, by="participant"),
    "cost.control": lambda frames: lf.cost.control(frames),
    "cost.estimate": lambda frames: lf.cost.estimate(frames, ESTIMATES),
    "cost.overhead": lambda frames: lf.cost.overhead(frames),
    "cost.overhead by template": lambda frames: lf.cost.overhead(frames, by="template"),
    "cost.journal": lambda frames: _journal(frames),
    "cost.invalid_values": lambda frames: lf.cost.invalid_values(frames),
    "cost.requests": lambda frames: lf.cost.requests(frames),
    "cost.spend": lambda frames: lf.cost.spend(frames),
    "cost.spend by participant": lambda frames: lf.cost.spend(frames, by="participant"),
    "cost.spend by party": lambda frames: lf.cost.spend(frames, by="party"),
    "cost.spend by template": lambda frames: lf.cost.spend(frames, by="template"),
    "cost.spend by view": lambda frames: lf.cost.spend(frames, by="view"),
    "cost.spend every hour": lambda frames: lf.cost.spend(frames, every="1h"),
    "cost.statement by participant": lambda frames: lf.cost.statement(frames, by="participant", **BILL),
    "cost.wasted": lambda frames: lf.cost.wasted(frames),
    "economy.balance": lambda frames: lf.economy.balance(frames, base=_base(frames)),
    "economy.burn_mint": lambda frames: lf.economy.burn_mint(frames),
    "economy.leaderboard": lambda frames: lf.economy.leaderboard(frames),
    "economy.names": lambda frames: lf.economy.names(frames),
    "economy.purchases": lambda frames: lf.economy.purchases(frames),
    "economy.reward_split": lambda frames: lf.economy.reward_split(frames),
    "economy.flows": lambda frames: lf.economy.flows(frames),
    "economy.transfers": lambda frames: lf.economy.transfers(frames),
    "findings": lambda frames: lf.findings(frames),
    "grant.evidence": lambda frames: lf.grant.evidence(frames, **APP, **_last_day(frames), min_coverage=0),
    "grant.evidence_totals": lambda frames: lf.grant.evidence_totals(frames, **APP, **_last_day(frames), min_coverage=0),
    "grant.verify": lambda frames: _verified(frames),
    "reconcile.bulk": lambda frames: lf.reconcile.bulk(frames, frames),
    "reconcile.bulk_totals": lambda frames: lf.reconcile.bulk_totals(frames, frames),
    "reconcile.contracts": lambda frames: lf.reconcile.contracts(frames, _snapshot(frames, _end(frames)), base=_base(frames)),
    "reconcile.coverage": lambda frames: lf.reconcile.coverage(frames),
    "reconcile.nodes": lambda frames: lf.reconcile.nodes(frames, frames),
    "reconcile.rewards": lambda frames: lf.reconcile.rewards(frames),
    "reconcile.supply": lambda frames: lf.reconcile.supply(frames, base=_base(frames), until=_end(frames)),
    "state.config": lambda frames: lf.state.config(frames),
    "state.featured": lambda frames: lf.state.featured(frames),
    "state.ignored_contracts": lambda frames: lf.state.ignored_contracts(frames),
    "state.rounds": lambda frames: lf.state.rounds(frames),
    "state.super_validators": lambda frames: lf.state.super_validators(frames),
    "verdict.head_of_line": lambda frames: lf.verdict.head_of_line(frames),
    "verdict.head_of_line_victims": lambda frames: lf.verdict.head_of_line_victims(frames),
    "verdict.latency by participant": lambda frames: lf.verdict.latency(frames, by="participant"),
    "verdict.latency by confirmers": lambda frames: lf.verdict.latency(frames, by="confirmers"),
    "verdict.latency every hour": lambda frames: lf.verdict.latency(frames, every="1h"),
    "verdict.outcomes by participant": lambda frames: lf.verdict.outcomes(frames, by="participant"),
    "verdict.quorums": lambda frames: lf.verdict.quorums(frames),
    "verdict.rejections": lambda frames: lf.verdict.rejections(frames),
    "verdict.waited_for": lambda frames: lf.verdict.waited_for(frames),
}


def _last_day(frames: Frames) -> dict[str, Any]:
    """Return the last day of the frames, or all of their time if it is shorter."""
    assert frames.window
    return {"since": max(frames.window.since, frames.window.until - timedelta(days=1)), "until": frames.window.until}


def _journal(frames: Frames) -> pd.DataFrame:
    """Return the entries of the bill of every participant."""
    bill = lf.cost.statement(frames, by="participant", **BILL)
    return lf.cost.journal(bill, accounts={"traffic": ("5200", "1400")}, accept_partial=True)


def _verified(frames: Frames) -> pd.DataFrame:
    """Return the checks of the evidence of the last day."""
    with TemporaryDirectory() as parent:
        directory = Path(parent) / "evidence"
        lf.grant.evidence(frames, **APP, **_last_day(frames), min_coverage=0, directory=directory)
        return lf.grant.verify(directory)


def _base(frames: Frames) -> pd.DataFrame:
    """Return a snapshot of the start of the week."""
    return _snapshot(frames, SINCE)


def _snapshot(frames: Frames, at: datetime) -> pd.DataFrame:
    """Return a snapshot with the network's rules, and one coin of nobody."""
    new = run(frames, Query("FROM new_coins LIMIT 1", (NEW_COINS,))).iloc[0]
    coin = '{"owner": "nobody", "amount": {"initialAmount": "1.0", "ratePerRound": {"rate": "0.0"}}}'
    contract = {"snapshot_time": at, "package_name": new["package_name"], "signatories": list(new["signatories"])}
    rules = {**contract, "contract_id": "rules", "template_name": "Splice.DsoRules:DsoRules", "create_arguments": "{}"}
    coins = {**contract, "contract_id": "coin", "template_name": "Splice.Coin:Coin", "create_arguments": coin}
    return testing.frames_of(active_contracts=[rules, coins]).active_contracts


def _end(frames: Frames) -> datetime:
    assert frames.window
    return frames.window.until


def _halves(frames: Frames) -> tuple[Frames, Frames]:
    assert frames.window
    middle = frames.window.since + (frames.window.until - frames.window.since) / 2
    return frames.between(frames.window.since, middle), frames.between(middle, frames.window.until)


def _largest(frames: Frames) -> str:
    """Return the id of the update with the most nodes."""
    # In the engine, so that the ids of all updates do not count as memory of the call.
    largest = Query("SELECT arg_max(update_id, node_count) AS update_id FROM all_updates", (ALL_UPDATES,))
    return str(run(frames, largest)["update_id"][0])


def compute(store: Path, call: str, threads: int | None) -> dict[str, float]:
    """Return seconds, seconds of the processor and the peak of memory of one call."""
    frames = lf.load_events(
        network(store, threads=threads, memory_limit=by_hand.MEMORY_LIMIT), since=SINCE, until=UNTIL, progress=False
    )
    CALLS[call](frames.between(SINCE, SINCE + timedelta(hours=1)))  # imports
    before, processor = time.perf_counter(), time.process_time()
    CALLS[call](frames)
    return {
        "seconds": time.perf_counter() - before,
        "processor": time.process_time() - processor,
        "megabytes": peak_megabytes(),
    }


def report(store: Path) -> dict[str, float]:
    """Return the seconds of a weekly report over the week, and the peak of memory of its processes."""
    profile = ("[week]", 'history_url = "http://127.0.0.1:9"', 'network = "week"', f'memory_limit = "{by_hand.MEMORY_LIMIT}"')
    (store / "ledgerframes.toml").write_text("\n".join(profile) + "\n", encoding="utf-8")
    window = ("--since", SINCE.isoformat(), "--until", UNTIL.isoformat())
    network = ("--profile", "week", "--store", str(store), "--offline", "--quiet")
    command = (sys.executable, "-m", "ledgerframes", "report", "run", "weekly", *window, *network)
    before = time.perf_counter()
    with PeakOfWorkers() as peaks:
        subprocess.run(command, cwd=store, check=True, stdout=subprocess.DEVNULL)
    return {"seconds": time.perf_counter() - before, "megabytes": max(peaks.megabytes.values())}


def digests(store: Path) -> dict[str, float]:
    """Return the seconds of comparing all files with their digests, and their size."""
    frames = lf.load_events(network(store), since=SINCE, until=UNTIL, progress=False)
    before = time.perf_counter()
    paths = [path for table in frames.tables if (scan := frames._file_scan(table)) for path in scan.paths]
    return {"seconds": time.perf_counter() - before, "gigabytes": sum(Path(path).stat().st_size for path in paths) / 1e9}


if __name__ == "__main__":
    directory, chosen, how = Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
    if chosen == "report":
        print(json.dumps(report(directory)))
    elif chosen == "digests":
        print(json.dumps(digests(directory)))
    elif how == "by-hand":
        print(json.dumps(by_hand.compute(directory, chosen)))
    else:
        print(json.dumps(compute(directory, chosen, 1 if how else None)))
