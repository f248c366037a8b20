"""Each sentence of the shipped reports, made again from the files of the store by plain loops.

A sentence that is not expected fails, as does one with another number. Nothing of the analyses is used here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta

import pytest

from ledgerframes.network import Network
from ledgerframes.report import ReportResult

from .answers_by_hand import (
    number_of_participants,
    sentence_on_groups,
    sentence_on_history,
    sentence_on_parties,
    sentence_on_payers,
    sentence_on_periods,
    sentence_on_sums,
    sentence_on_the_forecast,
    sentence_on_the_most_expensive,
    sentence_on_views,
    sentences_on_envelopes,
    sentences_on_medians,
)
from .groups_by_hand import rates_by_day, rates_by_hour, rates_by_participant
from .head_by_hand import decided_of, rejected_of, rejection_rate
from .operations_by_hand import sentence_on_delays, sentence_on_slow_parties
from .page_checks import assert_head, assert_notes, assert_prose, assert_statements, sides_of
from .stored import (
    ACCEPTED,
    REJECTED,
    SUSPECT,
    TIMEOUT,
    Row,
    Stored,
    elements,
    interval,
    latency_of,
    least_size_of,
    percent,
    seconds,
    size_of,
    stored_of,
)
from .traffic_by_hand import first_roots

pytestmark = pytest.mark.loopback


# -- sentences on cost ----------------------------------------------------------------------------------------------------


def sentences_on_cost(stored: Stored) -> list[str]:
    total, known = sum(stored.costs.values()), sum(update_id in stored.costs for update_id in stored.ids)
    lower_bound = f"at least {least_size_of(total)}. The cost of {percent(known, len(stored.ids))} of them is known."
    cost = f"{size_of(total)}." if known == len(stored.ids) else lower_bound
    return [
        f"{len(stored.ids):,} confirmation requests cost {cost}",
        sentence_on_periods(stored, timedelta(hours=6)),
        sentence_on_payers(stored, total),
        sentence_on_parties(stored, total),
        sentence_on_kinds(stored, total),
        sentence_on_the_most_expensive(stored, total),
        *sentences_on_envelopes(stored),
        sentence_on_views(stored),
        sentence_on_overhead(stored),
        sentence_on_waste(stored, total),
        sentence_on_history(stored),
        "No request before has a known cost, so nothing compares.",
        sentence_on_the_forecast(stored),
        sentence_on_sums(stored, total),
    ]


def sentence_on_kinds(stored: Stored, total: int) -> str:
    updates = {row["update_id"]: row["kind"] for row in stored.rows("updates")}
    spent: Counter[tuple[str, str, str | None]] = Counter()
    for update_id, root in first_roots(stored).items():
        if updates[update_id] == "transaction":
            spent[root["package_name"], root["template_name"], root["choice"]] += stored.costs.get(update_id, 0)
    share = percent(sum(sorted(spent.values(), reverse=True)[:3]), total)
    reassignments = sum(kind == "reassignment" for kind in updates.values())
    others = "1 is a reassignment" if reassignments == 1 else f"{reassignments:,} are reassignments"
    return (
        f"{len(spent):,} kinds of transactions. The three with the highest total cost account for {share} of the known cost. "
        f"{len(stored.ids) - len(updates):,} requests are not visible, and {others}."
    )


def sentence_on_overhead(stored: Stored) -> str:
    """Only requests with a known total and known envelopes count."""
    envelopes: defaultdict[str, list[Row]] = defaultdict(list)
    for row in stored.rows("envelopes"):
        if row["traffic_cost"] >= 0 and row["update_id"] in stored.costs:
            envelopes[row["update_id"]].append(row)
    of_envelopes = sum(row["traffic_cost"] for rows in envelopes.values() for row in rows)
    without_views = sum(row["traffic_cost"] for rows in envelopes.values() for row in rows if not row["view_ids"])
    assert percent(without_views, of_envelopes) == percent(without_views, sum(stored.costs.values())), "needs other words"
    return f"Envelopes without views account for {percent(without_views, of_envelopes)} of the cost of envelopes."


def sentence_on_waste(stored: Stored, total: int) -> str:
    rejected = [update_id for update_id in stored.ids if stored.result(update_id) == REJECTED]
    wasted = stored.cost_of(rejected)
    late = stored.cost_of(update_id for update_id in rejected if latency_of(stored.verdicts[update_id]) >= TIMEOUT)
    cause = "timed out" if late > wasted - late else "failed fast, as in contention"
    share = percent(wasted, total)
    guess = f"Judged by the latency alone, most of it {cause}."
    return f"Rejected requests have a known cost of {size_of(wasted)}, {share} of the known cost. {guess}"


# -- sentences on verdicts ------------------------------------------------------------------------------------------------


def sentences_on_verdicts(stored: Stored) -> list[str]:
    decided = decided_of(stored)
    rejected = rejected_of(decided)
    timeouts = sum(latency_of(verdict) >= TIMEOUT for verdict in rejected)
    are_timeouts = "is a timeout" if timeouts == 1 else "are timeouts"
    return [
        f"{len(rejected):,} of {len(decided):,} decided requests were rejected: {rejection_rate(decided)}.",
        sentence_on_groups(rates_by_day(decided), (stored.until - stored.since) // timedelta(days=1), "periods"),
        sentence_on_groups(rates_by_hour(decided), 24, "hours of the day"),
        sentence_on_groups(rates_by_participant(decided), number_of_participants(stored), "participants"),
        sentence_on_latency(decided),
        *sentences_on_medians(stored, decided, ends_of_the_median),
        sentence_on_slow_parties(stored),
        sentence_on_quorums(stored),
        f"By the heuristic, {len(rejected) - timeouts:,} rejections are contention and {timeouts:,} {are_timeouts}.",
        sentence_on_delays(stored),
        f"Yes, each adds up to {len(stored.ids):,} requests.",
    ]


def sentence_on_latency(decided: list[Row]) -> str:
    possible = [verdict for verdict in decided if latency_of(verdict) >= timedelta(0)]
    accepted = sorted(latency_of(verdict) for verdict in possible if verdict["verdict_result"] == ACCEPTED)
    rejected = [latency_of(verdict) for verdict in possible if verdict["verdict_result"] == REJECTED]
    timeouts = sum(latency >= TIMEOUT for latency in rejected)
    assert sum(SUSPECT <= latency < TIMEOUT for latency in rejected) <= timeouts, "a limit that is not 30 s needs other words"
    in_time = sorted(latency for latency in rejected if latency < TIMEOUT)
    impossible = len(decided) - len(possible)
    note = f" Left out: {impossible:,} with a finalization time before the record time." if impossible else ""
    rate = f"{percent(timeouts, len(possible))} ({timeouts:,} of {len(possible):,})"
    return (
        f"Accepted requests: {percentiles(accepted)}. Rejected before the limit: {percentiles(in_time)}. Timeouts: {rate}.{note}"
    )


def percentiles(ordered: list[timedelta]) -> str:
    texts = [f"{level} % within {text}" for level in (50, 95) if (text := percentile(ordered, level))]
    return ", ".join(texts) or "too few for a percentile"


def percentile(ordered: list[timedelta], level: int) -> str:
    """Nearest rank, and its interval; empty where one of them is missing."""
    ends = interval(ordered, level)
    if ends is None:
        return ""
    value, (low, high) = ordered[max(1, -(-len(ordered) * level // 100)) - 1], ends
    return f"{seconds(value)} s ({seconds(low)} to {seconds(high)} s)"


def ends_of_the_median(ordered: list[timedelta]) -> tuple[timedelta, timedelta] | None:
    return interval(ordered, 50)


def sentence_on_quorums(stored: Stored) -> str:
    counts = Counter((tuple(sorted(row["parties"])), row["threshold"]) for row in stored.rows("quorums"))
    share = percent(sum(number for _, number in counts.most_common(3)), counts.total())
    return f"{len(counts):,} different quorums. The three most frequent account for {share} of all quorums."


# -- what the page says ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["traffic-cost", "verdicts"])
def shipped(request: pytest.FixtureRequest) -> ReportResult:
    run: ReportResult = request.getfixturevalue({"traffic-cost": "traffic_run", "verdicts": "verdicts_run"}[request.param])
    return run


def test_each_sentence_is_made_of_the_data(shipped: ReportResult, evil_net: Network) -> None:
    make = {"traffic-cost": sentences_on_cost, "verdicts": sentences_on_verdicts}[shipped.report]
    assert elements(shipped.page_path.read_text(encoding="utf-8"), "statement") == make(stored_of(shipped, evil_net))


def test_each_statement_of_the_head_is_made_of_the_data(shipped: ReportResult, evil_net: Network) -> None:
    assert_statements(shipped, sides_of(shipped, evil_net, has_before=False))


def test_numbers_of_the_prose_are_settings(shipped: ReportResult) -> None:
    assert_prose(shipped)


def test_notes_count_the_rows_of_the_tables(shipped: ReportResult) -> None:
    assert_notes(shipped, least=6)


def test_the_head_counts_what_is_there_and_what_is_left_out(shipped: ReportResult, evil_net: Network) -> None:
    assert_head(shipped, stored_of(shipped, evil_net))
