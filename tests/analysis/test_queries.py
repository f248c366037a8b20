"""The SQL of figures, run by DuckDB alone over the files of a store, and compared with the figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.figures import Figure
from ledgerframes.analysis.queries import _values
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames

DECLARED = [
    name for name, figure in sorted(FIGURES.items()) if any(each.measure for each in figure.columns) and figure.queries is None
]
LABELS = pd.DataFrame({"id": ["o'hara::1220aa"], "name": ["O'Hara; DROP TABLE verdicts --"], "group": ["'quoted'"]})


def analysis(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(getattr(lf, module), function)


def run(text: str) -> list[dict[str, Any]]:
    """Run the statements of a text without this package, and return the rows of the last."""
    return results_of(text)[-1]


def all_rows(text: str) -> list[dict[str, Any]]:
    return [row for rows in results_of(text) for row in rows]


def results_of(text: str) -> list[list[dict[str, Any]]]:
    with duckdb.connect() as connection:
        results = [connection.sql(each.query) for each in connection.extract_statements(text)]
        return [each.to_arrow_table().to_pylist() for each in results if each is not None]


def required(name: str, frames: Frames) -> dict[str, Any]:
    return {"labels": LABELS} if name == "label" else {"completions": completions_of(frames)} if name == "user" else {}


def completions_of(frames: Frames) -> pd.DataFrame:
    """Completions of the first payer of the frames, every other one by another user."""
    verdicts = frames.verdicts
    own = verdicts[verdicts["submitting_participant_uid"] == verdicts["submitting_participant_uid"].iloc[0]].reset_index(
        drop=True
    )
    return pd.DataFrame(
        {
            "participant_id": own["submitting_participant_uid"],
            "offset": own.index,
            "update_id": own["update_id"],
            "user_id": pd.Series([f"user-{number % 2}" for number in own.index], dtype="str"),
            "paid_traffic_cost": pd.Series(own.index * 100, dtype="Int64"),
        }
    ).head(2_000)


def plain_rows(rows: Iterable[Mapping[Any, Any]], columns: Sequence[str]) -> list[list[str]]:
    """Return the values of some columns as texts, which are equal for equal numbers, in a fixed order."""
    return sorted([plain(row[name]) for name in columns] for row in rows)


def plain(value: Any) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, pd.Timedelta):
        return str(value // pd.Timedelta(1, "us"))
    return str(int(value)) if isinstance(value, Decimal | int) else str(value)


def assert_same(figure: Figure, by: str | None, expected: pd.DataFrame, computed: list[dict[str, Any]]) -> None:
    grouping = figure.grouping(by)
    measured = [each.name for each in (*figure.columns, *grouping.extra, *figure.tail) if each.measure or each.ratio]
    columns = [*grouping.key_names, *measured]
    groups = [row for row in computed if not row["is_part"] and row["is_overall"] != bool(grouping.keys)]
    assert plain_rows(groups, columns) == plain_rows(expected.to_dict("records"), columns)


@pytest.mark.parametrize("name", DECLARED)
def test_the_query_of_each_figure_gives_its_numbers_without_this_package(name: str, sandbox_history: Frames) -> None:
    figure, function = FIGURES[name], analysis(name)
    for by in (() if figure.is_grouped else (None,), *((each,) for each in figure.by)):
        for each in by:
            arguments = {"by": each, **required(str(each), sandbox_history)} if figure.by else {}
            arguments |= {"every": None} if figure.has_periods else {}
            text = lf.query(function, sandbox_history, **arguments)
            expected = function(sandbox_history, **arguments)
            if each in ("hour", "weekday_hour", "day"):  # the query has no group without rows
                expected = expected[expected["requests"] > 0]
            assert_same(figure, each, expected, run(text))


@pytest.mark.exhaustive
def test_the_queries_of_coin_give_its_sums_without_this_package(sandbox_history: Frames) -> None:
    for every in ("round", "1d"):
        expected = lf.economy.flows(sandbox_history, every=every)
        rows = run(lf.query(lf.economy.flows, sandbox_history, every=every))
        for kind in ("issued_app", "minted_validator", "burned_traffic", "net"):
            amounts = [row["amount"] for row in rows if row["kind"] == kind]
            assert amounts
            assert sum(amounts) == expected[kind].sum()
    minted = run(lf.query(lf.economy.burn_mint, sandbox_history, every=None))
    assert (
        sum(row["amount"] for row in minted if row["kind"].startswith("minted"))
        == lf.economy.burn_mint(sandbox_history, every=None)["minted"].sum()
    )


def test_each_figure_of_coin_has_a_query(sandbox_history: Frames) -> None:
    for function in (lf.economy.flows, lf.economy.purchases, lf.economy.names, lf.economy.reward_split):
        assert len(run(lf.query(function, sandbox_history))) > 0
    parties = {row["party"] for row in run(lf.query(lf.economy.leaderboard, sandbox_history, of="issued", every=None))}
    assert parties == set(lf.economy.leaderboard(sandbox_history, of="issued", every=None, top=1000)["party"])


BUDGETS = {"No.Such:Template/Choice": 5_000}
ESTIMATES = pd.DataFrame({"update_id": ["of nobody"], "request_bytes": [5_000]})
# Figures whose queries are not those of their measures, with a number of the last query and the same one of the figure.
OWN: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "cost.overhead": ({}, lambda rows: int(rows[0]["with_views"]), lambda shown: shown["traffic_cost"][0]),
    "cost.concentration": (
        {"by": "party"},
        lambda rows: int(sum(row["total_traffic_cost"] or 0 for row in rows)),
        lambda shown: shown["total_traffic_cost"][0],
    ),
    "cost.control": ({}, lambda rows: int(rows[0]["party"]), lambda shown: shown["sum_of_parts"][3]),
    "cost.invalid_values": (
        {},
        lambda rows: sum(row["rows_with_problem"] for row in rows),
        lambda shown: shown["rows"].sum(),
    ),
    "cost.requests": (
        {"top": 5},
        lambda rows: [row["update_id"] for row in rows],
        lambda shown: shown["update_id"].tolist(),
    ),
    "cost.budget": (
        {"budgets": BUDGETS, "network": ""},
        lambda rows: sum(row["requests"] for row in rows if row["template_name"] == "No.Such:Template"),
        lambda shown: shown["requests"].sum(),
    ),
    "cost.estimate": (
        {"estimates": ESTIMATES, "by": None},
        lambda rows: sum(row["requests"] for row in rows if not row["is_overall"]),
        lambda shown: shown["requests"].sum(),
    ),
    "cost.statement": (
        {"by": "party", "every": None, "price": lf.TrafficPrice("50", "USD/MB"), "split": "equal", "accept_price": True}
        | {"min_coverage": 0},
        lambda rows: sorted(row["digest"] for row in rows),
        lambda shown: sorted(shown["source_ids_sha256"]),
    ),
}


@pytest.fixture(scope="module")
def sources(sandbox_net: lf.Network, sandbox_history: Frames, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Frames]:
    """Frames of all kinds for one day, and from the start of the history to its end."""
    day = {"since": "2026-11-08", "until": "2026-11-09"}
    history = lf.load_events(sandbox_net, since="0001-01-01", until="2026-11-09")
    morning = lf.load_events(sandbox_net, **day).where("verdicts", lambda rows: rows["view_count"] > 1, columns=["view_count"])
    snapshots = {f"acs_{each}": lf.load_bulk(sandbox_net, kind="acs", at=f"2026-11-0{each}") for each in (8, 9)}
    return {
        "history": history,
        "day": lf.load_events(sandbox_net, **day),
        "part": morning,
        "other node": _saved_half(lf.load_events(sandbox_net, **day), tmp_path_factory.mktemp("node")),
        "bulk": lf.load_bulk(sandbox_net, **day),
        "ledger": lf.load_updates(sandbox_net),
        **snapshots,
    }


def _saved_half(frames: Frames, folder: Path) -> Frames:
    """Save what a node has that lost every other request, and return its frames."""
    tables = {name: frames.read(name) for name in frames.tables}
    ids = set(tables["verdicts"]["update_id"].iloc[::2])
    half = {name: rows[rows["update_id"].isin(ids)] for name, rows in tables.items()}
    lf.save_frames(testing.frames_of(window=frames.window, network=frames.network, **half), folder)
    return lf.open_frames(folder)


# Figures of other frames, or of several: the arguments, numbers of all queries together, and the same numbers of the figure.
COMPARISONS: dict[str, tuple[str, dict[str, Any], Any, Any]] = {
    "reconcile.nodes": (
        "day",
        {"b": "other node"},
        lambda rows: (
            {each["aspect"]: 0 for each in rows}
            | {name: sum(each["equal"] for each in rows if each["aspect"] == name) for name in {each["aspect"] for each in rows}}
        ),
        lambda shown: dict(zip(shown["aspect"], shown["equal"], strict=True)),
    ),
    "reconcile.bulk": (
        "day",
        {"bulk": "bulk"},
        lambda rows: sorted((each["update_id"], str(each["event_id"]), each["is_in_both"]) for each in rows),
        lambda shown: sorted(
            (update_id, str(None if pd.isna(event_id) else event_id), not outcome.startswith("only"))
            for update_id, event_id, outcome in shown[["update_id", "event_id", "outcome"]].itertuples(index=False)
        ),
    ),
    "reconcile.bulk_totals": (
        "day",
        {"bulk": "bulk", "every": None},
        lambda rows: len({each["update_id"] for each in rows}),
        lambda shown: shown[["equal", "equal_value", "different", "only_listing", "only_bulk"]].sum().sum(),
    ),
    "reconcile.contracts": (
        "history",
        {"snapshot": "acs_9", "base": "acs_8"},
        lambda rows: sum(each["is_in_both"] for each in rows),
        lambda shown: shown["equal"].sum() + shown["different"].sum(),
    ),
    "reconcile.coverage": (
        "history",
        {"every": None},
        lambda rows: {name: count for row in rows for name, count in row.items() if name != "first_time"},
        lambda shown: shown[["requests", "updates", "verdicts", "with_cost", "with_activity"]].iloc[0].to_dict(),
    ),
    "reconcile.paid_traffic": (
        "ledger",
        {"history": "day"},
        lambda rows: [(each["update_id"], each["outcome"], each["difference"]) for each in rows],
        lambda shown: [
            (update_id, outcome, None if pd.isna(difference) else difference)
            for update_id, outcome, difference in shown[["update_id", "outcome", "difference"]].itertuples(index=False)
        ],
    ),
    "reconcile.paid_traffic_totals": (
        "ledger",
        {"history": "day"},
        lambda rows: sorted((each["outcome"], int(each["updates"]), int(each["paid_traffic_cost"] or 0)) for each in rows),
        lambda shown: sorted(
            (outcome, updates, 0 if pd.isna(paid) else paid)
            for outcome, updates, paid in shown[["outcome", "updates", "paid_traffic_cost"]].itertuples(index=False)
        ),
    ),
    "cost.compare": (
        "day",
        {"after": "part"},
        lambda rows: sum(each["requests"] for each in rows if each["total_traffic_cost"] is not None),
        lambda shown: shown["requests_before"].sum() + shown["requests_after"].sum(),
    ),
    **{
        f"state.{name}": (
            "history",
            {},
            lambda rows: {each["contract_id"]: (each["since"], each["until"], each["source"]) for each in rows},
            lambda shown: {
                each["contract_id"]: (each["from"], each["until"] if pd.notna(each["until"]) else None, each["source"])
                for each in shown.to_dict("records")
            },
        )
        for name in ("rounds", "featured", "super_validators", "config")
    },
}


@pytest.mark.parametrize("name", every_nth(COMPARISONS, 3))
def test_figures_of_several_frames_have_queries_without_this_package(name: str, sources: dict[str, Frames]) -> None:
    first, arguments, computed, expected = COMPARISONS[name]
    arguments = {key: sources.get(value, value) if isinstance(value, str) else value for key, value in arguments.items()}
    found = computed(all_rows(lf.query(analysis(name), sources[first], **arguments)))
    shown = expected(analysis(name)(sources[first], **arguments))
    assert shown
    assert shown.items() <= found.items() if name.startswith("state.") else found == shown


def test_a_query_of_two_frames_is_refused_where_its_figure_is(sources: dict[str, Frames], sample: Frames) -> None:
    with pytest.raises(UsageError, match="one window"):
        lf.query(lf.reconcile.nodes, sources["day"], b=sources["history"])
    with pytest.raises(UsageError, match="one window"):
        lf.query(lf.reconcile.bulk, sources["history"], bulk=sources["bulk"])
    with pytest.raises(UsageError, match="Load both in the same manner"):
        lf.query(lf.cost.compare, sources["day"], after=sources["day"].where("tree_events", event_type="created_event"))
    with pytest.raises(UsageError, match="active_contracts"):
        lf.query(lf.state.rounds, sources["acs_9"])
    with pytest.raises(UsageError, match="no table 'verdicts'"):
        lf.query(lf.cost.spend, sources["bulk"])
    with pytest.raises(UsageError, match="one network"):
        lf.query(lf.reconcile.paid_traffic, sources["ledger"], history=sample)


def test_every_figure_has_a_query_or_says_why_not() -> None:
    has_query = {
        each.name for each in FIGURES.values() if each.queries is not None or any(column.measure for column in each.columns)
    }
    assert has_query | {each.name for each in FIGURES.values() if each.without_query} == FIGURES.keys()


@pytest.mark.parametrize("name", sorted(each.name for each in FIGURES.values() if each.without_query))
def test_figures_without_a_query_say_why_and_what_to_do(name: str, sandbox_history: Frames) -> None:
    with pytest.raises(UsageError, match=r"has no query, because it .+\. "):
        lf.query(analysis(name), sandbox_history)


@pytest.mark.parametrize("name", OWN)
def test_figures_with_queries_of_their_own_have_them_without_this_package(name: str, sandbox_history: Frames) -> None:
    arguments, computed, expected = OWN[name]
    if "network" in arguments:
        arguments = arguments | {"network": sandbox_history.network}
    rows = run(lf.query(analysis(name), sandbox_history, **arguments))
    assert computed(rows) == expected(analysis(name)(sandbox_history, **arguments))


# Figures of weights and apps, with columns that their last query has for every row of the result.
USE = {"app": {"packages": ["meadow-token"], "parties": []}, "exclude": [], "since": "2026-11-08", "until": "2026-11-09"}
RESULTS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "activity.weights": ({"every": "round"}, ["round_number", "party", "requests", "weight", "burn_bytes"]),
    "activity.recompute": ({}, ["update_id", "record_time", "round_number", "party", "burn_bytes", "weight"]),
    "activity.rewards": ({"by": "party"}, ["round_number", "party", "weight"]),
    "activity.reconcile": (
        {},
        ["update_id", "round_number", "party", "weight_published", "weight_computed", "outcome", "reason"],
    ),
    "activity.reconcile_totals": ({}, ["outcome", "reason", "records", "weight"]),
    "activity.what_if": ({"confirmers": "informees"}, ["party", "weight_before", "weight_after", "requests_changed"]),
    "grant.evidence": ({**USE, "min_coverage": 0}, ["day", "requests", "bytes"]),
}


@pytest.mark.parametrize("name", every_nth(RESULTS, 3))
def test_rows_of_weights_and_apps_are_those_of_a_query_without_this_package(name: str, sandbox_history: Frames) -> None:
    arguments, columns = RESULTS[name]
    expected = analysis(name)(sandbox_history, **arguments)
    rows = run(lf.query(analysis(name), sandbox_history, **arguments))
    groups = [row for row in rows if not row.get("is_overall") and row.get("totals") is None]
    if name == "grant.evidence":  # the query has no day without requests of outside parties
        expected, groups = expected[expected["requests"] > 0], [row for row in groups if row["requests"]]
    assert len(groups) > 0
    assert plain_rows(groups, columns) == plain_rows(expected.to_dict("records"), columns)


def test_what_rests_on_weights_has_their_query(sandbox_history: Frames) -> None:
    for function, total in ((lf.activity.concentration, "total"), (lf.activity.lorenz, "value")):
        rows = run(lf.query(function, sandbox_history))
        weights = {row["party"]: row["weight"] for row in rows if not row["is_overall"]}
        assert sum(weights.values()) == function(sandbox_history)[total].sum()
        sums = run(lf.query(function, sandbox_history, of="amount"))
        assert sum(row["weight"] for row in sums) == sum(weights.values())
    arguments = {**USE, "min_coverage": 0}
    rows = run(lf.query(lf.grant.evidence_totals, sandbox_history, **arguments))
    assert sum(row["requests"] for row in rows) == lf.grant.evidence_totals(sandbox_history, **arguments)["requests"][0]


def test_the_query_of_a_runway_has_its_hours(sandbox_history: Frames) -> None:
    payers = lf.cost.spend(sandbox_history, by="participant").dropna(subset="submitting_participant_uid")
    arguments = {"participant": payers["submitting_participant_uid"][0], "balance": lf.TrafficBalance(1, "2026-11-16")}
    rows = run(lf.query(lf.cost.runway_end, sandbox_history, **arguments))
    own = sandbox_history.verdicts.query("submitting_participant_uid == @arguments['participant']")
    is_before = own["record_time"] < pd.Timestamp("2026-11-16", tz="UTC")
    assert sum(row["own"] for row in rows) == is_before.sum() > 0


def test_the_query_of_latencies_says_how_percentiles_follow_from_their_lists(sandbox_history: Frames) -> None:
    lines = [line.strip() for line in lf.query(lf.verdict.latency, sandbox_history).splitlines()]
    lists = [number for number, line in enumerate(lines) if line.startswith("list(latency)")]
    assert len(lists) == 2
    assert all(re.fullmatch(r"-- Latencies of .*percentile is the value at a rank.*", lines[number - 1]) for number in lists)


def test_a_table_that_two_relations_read_is_not_kept_with_all_its_columns(sandbox_history: Frames) -> None:
    text = lf.query(lf.economy.purchases, sandbox_history)
    assert text.count("FROM tree_events") > 1
    assert "\ntree_events AS NOT MATERIALIZED (\n" in text


def test_a_query_withholds_the_medians_that_its_figure_withholds(sandbox_history: Frames) -> None:
    for figure, arguments, key, name in (
        (lf.cost.requests, {"top": 1000}, "update_id", "median_of_kind"),
        (lf.verdict.waited_for, {}, "party", "median_latency"),
    ):
        shown = figure(sandbox_history, **arguments).set_index(key)[name].isna()
        rows = pd.DataFrame(run(lf.query(figure, sandbox_history, **arguments))).set_index(key)[name].isna()
        assert shown.any() and not shown.all()
        assert rows[shown.index].tolist() == shown.tolist()


def test_periods_count_from_the_first(sandbox_history: Frames) -> None:
    expected = lf.cost.spend(sandbox_history, every="1h")
    rows = run(lf.query(lf.cost.spend, sandbox_history, every="1h"))
    requests = {row["period"]: row["requests"] for row in rows if not row["is_overall"] and not row["is_part"]}
    assert requests == expected["requests"][expected["requests"] > 0].to_dict()


def test_saved_frames_have_a_query_and_frames_in_memory_say_what_to_do(tmp_path: Path, sample: Frames) -> None:
    with pytest.raises(UsageError, match="save_frames"):
        lf.query(lf.cost.spend, sample)
    lf.save_frames(sample, tmp_path / "saved")
    saved = lf.open_frames(tmp_path / "saved")
    (row,) = (row for row in run(lf.query(lf.cost.spend, saved)) if row["is_overall"])
    assert int(row["total_traffic_cost"]) == lf.cost.spend(sample)["total_traffic_cost"][0]


def test_tables_without_a_file_have_a_query_without_rows() -> None:
    """The sandbox begins later, so the window has no event."""
    empty = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-01-01", until="2026-01-02")
    for figure in (lf.cost.spend, lf.verdict.quorums, lf.activity.weights, lf.economy.burn_mint):
        text = lf.query(figure, empty)
        assert "without rows" in text
        assert [row for row in run(text) if not row.get("is_overall", True)] == []


def test_narrowed_frames_have_the_query_of_their_rows(sandbox_history: Frames) -> None:
    rejected = sandbox_history.where("verdicts", verdict_result="VERDICT_RESULT_REJECTED")
    (row,) = (row for row in run(lf.query(lf.cost.spend, rejected)) if row["is_overall"])
    assert row["requests"] == lf.cost.spend(rejected)["requests"][0]


def test_what_is_no_figure_is_refused(sandbox_history: Frames) -> None:
    with pytest.raises(UsageError, match=r"lf\.cost\.spend"):
        lf.query(len, sandbox_history)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="Choose from"):
        lf.query(lf.cost.spend, sandbox_history, by="nobody")


def test_a_query_is_refused_where_its_figure_is(sandbox_history: Frames) -> None:
    committed = sandbox_history.where("tree_events", event_type="created_event")
    for figure in (lf.verdict.outcomes, lf.verdict.rejections, lf.verdict.waited_for, lf.cost.wasted):
        with pytest.raises(CoverageError, match="rejected requests"):
            lf.query(figure, committed)
        assert lf.query(figure, committed, accept_survivorship=True)
    for figure in (lf.cost.overhead, lf.cost.concentration, lf.verdict.quorums, lf.verdict.waited_for):
        with pytest.raises(UsageError, match="by='nobody'"):
            lf.query(figure, sandbox_history, by="nobody")
    for figure in (lf.cost.spend, lf.cost.overhead):
        with pytest.raises(UsageError, match="min_requests="):
            lf.query(figure, sandbox_history, min_requests="1 THEN 1 END; DROP TABLE verdicts --")
    price = lf.TrafficPrice("50", "USD/MB")
    for split in ("x", ["equally"]):
        with pytest.raises(UsageError, match="Unknown split"):
            lf.query(lf.cost.statement, sandbox_history, price=price, split=split)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "Pass featured_after="),
        ({"confirmers": ["informees"]}, "Unknown confirmers="),
        ({"confirmers": "all"}, "Unknown confirmers="),
        ({"confirmers": "informees", "every": "1h"}, "every= must be 'round'"),
        ({"merge_views": 5}, "merge_views= must be"),
        ({"merge_views": ["abc"]}, "merge_views= must be"),
        ({"merge_views": [("a", 1)]}, "merge_views= must be"),
        ({"merge_views": np.array([["a", "b"]])}, "merge_views= must be"),
        ({"merge_views": pd.DataFrame({"a": ["b"]})}, "merge_views= must be"),
        ({"confirmers": "informees", "every": np.array(["round"])}, "every= must be 'round'"),
        ({"merge_views": [("no", "root")]}, "must name a root"),
    ],
)
def test_the_query_of_a_change_is_refused_where_the_change_is(
    change: dict[str, Any], words: str, sandbox_history: Frames
) -> None:
    for call in (lf.activity.what_if, partial(lf.query, lf.activity.what_if)):
        with pytest.raises(UsageError, match=words):
            call(sandbox_history, **change)


def test_the_query_of_a_calendar_is_refused_for_offsets(sources: dict[str, Frames]) -> None:
    for call in (lf.reconcile.coverage, lambda frames: lf.query(lf.reconcile.coverage, frames)):
        with pytest.raises(UsageError, match="frames loaded by time"):
            call(sources["ledger"])


def test_no_text_of_saved_frames_becomes_a_statement(tmp_path: Path, sample: Frames) -> None:
    lf.save_frames(sample, tmp_path / "saved")
    manifest = next((tmp_path / "saved").glob("*.json"))
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "network": "x\nCOPY (SELECT 1) TO 'stolen.csv';"}))
    text = lf.query(lf.cost.spend, lf.open_frames(tmp_path / "saved"))
    assert text.startswith("-- lf.cost.spend over x COPY (SELECT 1) TO 'stolen.csv';")
    assert len(duckdb.extract_statements(text)) == 2


def test_lists_of_a_snapshot_keep_their_texts() -> None:
    texts = [["a", "b'c, d]", '"e"'], []]
    rows = pa.table({"parties": pa.array(texts, pa.list_(pa.string()))})
    relation = _values("given_rows", "Rows.", rows)
    assert [row["parties"] for row in run(f"WITH {relation.definition} FROM given_rows")] == texts


def test_a_state_that_is_too_long_for_a_statement_says_what_to_do() -> None:
    rows = pa.table({"round_number": range(10_001)})
    for name in ("open_rounds", "effective_open_rounds"):
        with pytest.raises(UsageError, match=r"has 10,001 rows, .* Choose a shorter window, and pass base=lf\.load_contracts"):
            _values(name, "Rows.", rows)
    with pytest.raises(UsageError, match="The table hosting that was passed has 10,001 rows"):
        _values("hosting", "Rows.", rows)
