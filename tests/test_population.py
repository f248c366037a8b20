"""No chain of public calls turns committed updates into a rejection rate of the network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest
from first_loads import FirstLoads
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes import export, testing
from ledgerframes.datasets import EVENT_TABLES, TABLES
from ledgerframes.datasets.population import NEUTRAL_COLUMNS, Population
from ledgerframes.errors import CoverageError, StoreError, UsageError
from ledgerframes.frames import MemoryFrameSource

DAY = {"since": "2026-11-08", "until": "2026-11-09"}
REJECTED = "VERDICT_RESULT_REJECTED"
FROM_BEST_TO_WORST = ("all", "chosen", "committed")
WORDS = {
    "all": "all requests of the window",
    "chosen": "requests chosen",
    "committed": "committed updates only: no rejected requests",
}


def connect(store: Path, **options: Any) -> lf.Network:
    return lf.connect("sandbox", events=400, days=1, store=store, **options)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    return connect(tmp_path_factory.mktemp("listing and ledger"))


@pytest.fixture(scope="module")
def day(net: lf.Network, first_loads: FirstLoads) -> lf.Frames:
    with first_loads.copied():
        return lf.load_events(net, **DAY)


@pytest.fixture(scope="module")
def ledger_ids(net: lf.Network, day: lf.Frames) -> list[str]:
    """Ids of the day that the ledger of the participant has."""
    ids = lf.load_updates(net).ledger_updates["update_id"]
    return sorted(set(ids) & set(day.verdicts["update_id"]))


@pytest.fixture(scope="module")
def rejected_ids(day: lf.Frames) -> list[str]:
    verdicts = day.verdicts
    ids = verdicts.loc[verdicts["verdict_result"] == REJECTED, "update_id"].tolist()
    assert len(ids) > 10
    return ids


def assert_no_rejection_rate(frames: lf.Frames) -> None:
    assert frames.population == "committed"
    for figure in (lf.verdict.outcomes, lf.verdict.rejections, lf.cost.wasted):
        with pytest.raises(CoverageError) as refused:
            figure(frames)
        assert refused.value.missing == ("rejected requests",)
    spend = lf.cost.spend(frames)
    assert spend["requests"].tolist() != [0]
    assert spend[["rejected", "rejected_traffic_cost"]].isna().all(axis=None)


# -- false figures, one by one --------------------------------------------------------------------------------------------


def test_the_rate_of_a_listed_window_counts_its_rejections(day: lf.Frames, rejected_ids: list[str]) -> None:
    assert day.population == "all"
    assert lf.verdict.outcomes(day)["rejected"].tolist() == [len(rejected_ids)]
    assert lf.cost.spend(day)["rejected"].tolist() == [len(rejected_ids)]


def test_ids_of_the_ledger_give_no_rate_whatever_the_caller_says(net: lf.Network, ledger_ids: list[str]) -> None:
    assert len(ledger_ids) > 20
    assert_no_rejection_rate(lf.load_events(net, update_ids=ledger_ids))
    assert_no_rejection_rate(lf.load_events(net, update_ids=ledger_ids, id_source="user"))
    assert_no_rejection_rate(lf.load_events(net, update_ids=ledger_ids, id_source="ledger"))


@pytest.mark.usefixtures("copied_first_loads")
def test_ids_of_bulk_objects_give_no_rate(tmp_path: Path, rejected_ids: list[str]) -> None:
    net = connect(tmp_path)
    bulk = lf.load_bulk(net, **DAY)
    assert bulk.population == "committed"
    with pytest.raises(CoverageError):  # not an error about tables that bulk objects do not have
        lf.verdict.outcomes(bulk)
    ids = bulk.updates["update_id"].head(30).tolist()
    assert_no_rejection_rate(lf.load_events(net, update_ids=ids))
    assert lf.load_events(net, update_ids=rejected_ids[:5]).population == "chosen"


@pytest.mark.usefixtures("copied_first_loads")
def test_ids_of_bulk_objects_by_key_give_no_rate(tmp_path: Path, day: lf.Frames) -> None:
    keys = lf.load_bulk(connect(tmp_path / "listing"), **DAY).bulk_objects["object_key"].tolist()
    net = connect(tmp_path / "by key")
    ids = day.verdicts.loc[day.verdicts["update_visible"], "update_id"].head(5).tolist()
    assert lf.load_events(net, update_ids=ids).population == "chosen"
    assert lf.load_bulk(net, object_keys=keys).population == "committed"
    assert_no_rejection_rate(lf.load_events(net, update_ids=ids))


def test_the_first_label_in_the_store_does_not_stick(tmp_path: Path, ledger_ids: list[str]) -> None:
    net = connect(tmp_path)
    first = lf.load_events(net, update_ids=ledger_ids)
    assert first.population == "chosen", "nothing in this store knows the ids yet"
    assert set(first.verdicts["id_source"]) == {"user"}
    lf.load_updates(net)
    again = lf.load_events(net, update_ids=ledger_ids)
    assert set(again.verdicts["id_source"]) == {"user"}
    assert_no_rejection_rate(again)


def test_ids_that_were_once_of_a_ledger_stay_so_in_the_store(tmp_path: Path, ledger_ids: list[str]) -> None:
    net = connect(tmp_path)
    assert_no_rejection_rate(lf.load_events(net, update_ids=ledger_ids, id_source="ledger"))
    assert_no_rejection_rate(lf.load_events(net, update_ids=ledger_ids))


@pytest.mark.parametrize("strays", [1, 5])
def test_stray_ids_do_not_disarm_the_guard(net: lf.Network, ledger_ids: list[str], rejected_ids: list[str], strays: int) -> None:
    assert_no_rejection_rate(lf.load_events(net, update_ids=[*ledger_ids, *rejected_ids[:strays]]))
    assert_no_rejection_rate(lf.load_events(net, update_ids=[*rejected_ids[:strays], ledger_ids[0]]))


@pytest.mark.parametrize("table", ["updates", "tree_events", "activity_records"])
def test_narrowing_by_what_only_committed_updates_have(day: lf.Frames, table: str) -> None:
    assert_no_rejection_rate(day.where(table))
    assert_no_rejection_rate(day.where(table, lambda rows: rows["record_time"].notna()))
    assert_no_rejection_rate(day.where(table, lambda rows: rows["record_time"].notna(), columns=["record_time"]))


def test_narrowing_by_ids_of_the_ledger(day: lf.Frames, ledger_ids: list[str], rejected_ids: list[str]) -> None:
    assert_no_rejection_rate(day.where("verdicts", update_id=ledger_ids))
    assert_no_rejection_rate(day.where("verdicts", update_id=[*ledger_ids, rejected_ids[0]]))
    assert_no_rejection_rate(day.where("verdicts", lambda rows: rows["update_id"].isin(ledger_ids)))
    by_hand = day.where("verdicts", update_id=rejected_ids[:3])
    assert by_hand.population == "chosen"
    assert lf.verdict.outcomes(by_hand)["rejected"].tolist() == [3]


def test_survivorship_can_be_accepted(net: lf.Network, ledger_ids: list[str]) -> None:
    frames = lf.load_events(net, update_ids=ledger_ids)
    outcomes = lf.verdict.outcomes(frames, accept_survivorship=True)
    assert outcomes[["requests", "accepted", "rejected"]].to_numpy().tolist() == [[len(ledger_ids), len(ledger_ids), 0]]
    assert lf.cost.wasted(frames, every=None, accept_survivorship=True)["rejected"].tolist() == [0]
    assert lf.verdict.rejections(frames, accept_survivorship=True).empty


@pytest.mark.parametrize(("by", "every"), [("participant", None), ("party", None), (None, "1h"), ("template", "6h")])
def test_rejected_columns_of_committed_updates_are_missing_not_0(day: lf.Frames, by: str | None, every: str | None) -> None:
    spend = lf.cost.spend(day.where("updates"), by=by, every=every)
    assert len(spend) > 1
    assert spend[["rejected", "rejected_traffic_cost"]].isna().all(axis=None)
    assert spend["requests"].notna().all()
    assert lf.cost.spend(day, by=by, every=every)["rejected"].notna().all()


# -- what keeps all requests ------------------------------------------------------------------------------------------------


def assert_same_outcomes(frames: lf.Frames, verdicts: pd.DataFrame) -> None:
    outcomes = lf.verdict.outcomes(frames).iloc[0]
    assert outcomes["requests"] == len(verdicts)
    assert outcomes["rejected"] == (verdicts["verdict_result"] == REJECTED).sum()


def test_narrowing_by_participant_keeps_all_requests(day: lf.Frames) -> None:
    verdicts = day.verdicts
    for participant, rows in list(verdicts.groupby("submitting_participant_uid"))[::4]:
        narrowed = day.where("verdicts", participant=participant)
        assert narrowed.population == "all"
        assert_same_outcomes(narrowed, rows)
        assert day.where("verdicts", submitting_participant_uid=[participant]).count_rows("verdicts") == len(rows)


def test_narrowing_by_party_keeps_all_requests(day: lf.Frames) -> None:
    verdicts = day.verdicts
    lists = [set() if parties is None else set(parties) for parties in verdicts["submitting_parties"]]
    parties = sorted(set().union(*lists))
    assert len(parties) > 3
    for party in parties[::8]:
        narrowed = day.where("verdicts", party=party)
        assert narrowed.population == "all"
        assert_same_outcomes(narrowed, verdicts[[party in each for each in lists]])
    either = day.where("verdicts", party=parties[:2])
    assert_same_outcomes(either, verdicts[[bool(each & set(parties[:2])) for each in lists]])
    without = day.where("verdicts", submitting_parties=None)
    assert without.count_rows("verdicts") == verdicts["submitting_parties"].isna().sum()


def test_narrowing_by_informee_keeps_all_requests_and_by_cost_those_with_one(day: lf.Frames) -> None:
    views = day.views
    informee = views["informees"].iloc[0][0]
    seen = day.where("views", informees=informee)
    assert seen.population == "all"
    assert set(seen.verdicts["update_id"]) == {row.update_id for row in views.itertuples() if informee in row.informees}
    cost = "total_traffic_cost"
    large = day.where("traffic", lambda rows: rows[cost] > 10_000, columns=[cost])
    assert large.population == "chosen"  # the cost of some requests is unknown
    assert set(large.traffic["update_id"]) == set(day.traffic.loc[day.traffic[cost] > 10_000, "update_id"])
    hour = day.between("2026-11-08", "2026-11-08T06:00:00Z")
    assert hour.population == "all"


def test_a_predicate_gets_the_named_columns_only(day: lf.Frames) -> None:
    seen: list[list[str]] = []
    narrowed = day.where("verdicts", lambda rows: seen.append(list(rows)) or rows["view_count"] > 1, columns=["view_count"])  # type: ignore[func-returns-value]
    assert seen == [["view_count"]]
    assert narrowed.count_rows("verdicts") == (day.verdicts["view_count"] > 1).sum()
    with pytest.raises(KeyError):
        day.where("verdicts", lambda rows: rows["verdict_result"] == REJECTED, columns=["view_count"])
    with pytest.raises(UsageError, match="Pass a predicate"):
        day.where("verdicts", columns=["view_count"])
    with pytest.raises(UsageError, match="must be a list of column names"):
        day.where("verdicts", lambda rows: rows["view_count"] > 1, columns="view_count")


@pytest.mark.parametrize(
    "narrow",
    [
        lambda frames: frames.where("verdicts", verdict_result=REJECTED),
        lambda frames: frames.where("verdicts", update_visible=False),
        lambda frames: frames.where("verdicts", lambda rows: rows["finalization_time"] > rows["record_time"]),
        lambda frames: frames.where("verdicts", lambda rows: rows["view_count"] > 1),
        lambda frames: frames.where("verdicts", lambda rows: rows["view_count"] > 1, columns=["view_count", "verdict_result"]),
        lambda frames: frames.where("traffic", extra=None),
    ],
)
def test_narrowing_by_what_not_every_request_has_is_a_choice(day: lf.Frames, narrow: Callable[[lf.Frames], lf.Frames]) -> None:
    assert narrow(day).population == "chosen"


def test_every_table_and_neutral_column_is_classified() -> None:
    """A table of events that is not neutral has rows of committed updates only."""
    assert set(NEUTRAL_COLUMNS) == {"verdicts", "views", "quorums", "traffic", "envelopes"}
    committed = {table.name for table in EVENT_TABLES} - set(NEUTRAL_COLUMNS)
    assert committed == {"updates", "tree_events", "reassignments", "activity_records"}
    for table, columns in NEUTRAL_COLUMNS.items():
        assert columns <= set(TABLES[table].column_names)
        assert not columns & {"update_id", "extra", "verdict_result", "finalization_time", "update_visible", "id_source"}


NARROWINGS: dict[str, Callable[[lf.Frames], lf.Frames]] = {
    "participant": lambda frames: frames.where("verdicts", submitting_participant_uid=frames.verdicts.iloc[:, 6].unique()[:2]),
    "cost": lambda frames: frames.where("traffic", lambda rows: rows["envelope_count"] > 1, columns=["envelope_count"]),
    "time": lambda frames: frames.between("2026-11-08", "2026-11-08T18:00:00Z"),
    "predicate": lambda frames: frames.where("verdicts", lambda rows: rows["view_count"] > 0),
    "outcome": lambda frames: frames.where("verdicts", verdict_result="VERDICT_RESULT_ACCEPTED"),
    "ids": lambda frames: frames.where("verdicts", update_id=frames.verdicts["update_id"].head(9)),
    "updates": lambda frames: frames.where("updates"),
    "views": lambda frames: frames.where("views"),
    "activity": lambda frames: frames.where("activity_records"),
}


@settings(max_examples=20)
@given(st.lists(st.sampled_from(sorted(NARROWINGS)), min_size=1, max_size=5))
@example(["outcome", "participant"])  # a neutral column after one that chooses
@example(["activity", "participant"])
def test_no_chain_of_narrowings_makes_a_population_better(day: lf.Frames, names: list[str]) -> None:
    frames, ranks = day, [0]
    for name in names:
        frames = NARROWINGS[name](frames)
        ranks.append(FROM_BEST_TO_WORST.index(frames.population))
    assert ranks == sorted(ranks)
    if {"updates", "activity"} & set(names):
        assert ranks[-1] == 2
    if ranks[-1] == 2:
        with pytest.raises(CoverageError):
            lf.verdict.outcomes(frames)


# -- unknown parties --------------------------------------------------------------------------------------------------------


def test_an_unknown_party_or_participant_is_an_error_with_near_matches(day: lf.Frames) -> None:
    participant = day.verdicts["submitting_participant_uid"].iloc[0]
    party = day.verdicts["submitting_parties"].dropna().iloc[0][0]
    for column, value, noun in [
        ("participant", participant, "participant"),
        ("submitting_participant_uid", participant, "participant"),
        ("party", party, "party"),
        ("submitting_parties", party, "party"),
    ]:
        for near in (value[:-1], value.partition("::")[0]):
            with pytest.raises(UsageError, match=f"Unknown {noun} '{near}'") as refused:
                day.where("verdicts", **{column: near})
            assert repr(value) in str(refused.value)
            with pytest.raises(UsageError, match=f"Unknown {noun}"):
                day.where("verdicts", **{column: [value, near]})
    with pytest.raises(UsageError, match=r"Unknown party 'zzz'\. Choose a value of column party"):
        day.where("activity_records", party="zzz")
    with pytest.raises(UsageError, match="must be text"):
        day.where("verdicts", participant=5)
    with pytest.raises(UsageError, match="Pass each column of verdicts once"):
        day.where("verdicts", party=party, submitting_parties=party)
    with pytest.raises(UsageError, match="must be values of type int32"):
        day.where("verdicts", root_views="first")


def test_a_known_party_without_requests_in_the_window_gives_empty_tables(day: lf.Frames) -> None:
    first = day.verdicts.iloc[0]
    others = day.verdicts[day.verdicts["submitting_participant_uid"] != first["submitting_participant_uid"]]
    minute = day.between(first["record_time"].to_pydatetime(), (first["record_time"] + pd.Timedelta("1us")).to_pydatetime())
    narrowed = minute.where("verdicts", participant=others["submitting_participant_uid"].iloc[0])
    assert narrowed.count_rows("verdicts") == 0
    assert narrowed.population == "all"


# -- how frames carry it ----------------------------------------------------------------------------------------------------


def test_ledger_updates_are_committed(net: lf.Network) -> None:
    frames = lf.load_updates(net)
    assert frames.population == frames.where("ledger_updates", kind="transaction").population == "committed"
    with pytest.raises(CoverageError):
        lf.verdict.outcomes(frames)


def test_frames_say_in_words_which_requests_they_are(day: lf.Frames) -> None:
    by_population = {
        "all": day,
        "chosen": day.where("verdicts", verdict_result=REJECTED),
        "committed": day.where("updates"),
    }
    assert set(by_population) == set(get_args(Population)) == set(FROM_BEST_TO_WORST)
    for population, frames in by_population.items():
        assert f"  {'population':<18} {WORDS[population]}\n" in repr(frames)
        assert f"<td>{WORDS[population]}</td>" in frames._repr_html_()


def test_saved_frames_keep_their_population(day: lf.Frames, tmp_path: Path) -> None:
    for number, frames in enumerate([day, day.where("updates"), day.where("verdicts", verdict_result=REJECTED)]):
        lf.save_frames(frames, tmp_path / str(number))
        opened = lf.open_frames(tmp_path / str(number))
        assert opened.population == frames.population
        assert opened.where("updates").population == "committed"
    manifest = tmp_path / "0" / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({key: value for key, value in content.items() if key != "population"}))
    assert lf.open_frames(tmp_path / "0").population == "chosen", "of an older version, which did not say"
    manifest.write_text(json.dumps({**content, "population": "every"}))
    with pytest.raises(StoreError, match="unknown population 'every'"):
        lf.open_frames(tmp_path / "0")


def test_a_source_that_cannot_tell_is_chosen() -> None:
    assert lf.Frames(MemoryFrameSource({}), ["traffic"]).population == "chosen"
    assert testing.frames_of().population == "all"
    assert testing.frames_of(population="committed").population == "committed"


def test_tables_of_the_store_have_the_population_of_their_dataset(net: lf.Network, day: lf.Frames) -> None:
    lf.load_updates(net)
    assert export.from_store(net, "verdicts").population == day.population == "all"
    assert export.from_store(net, "ledger_updates").population == "committed"


def test_a_network_without_listing_says_what_cannot_be_known() -> None:
    from ledgerframes.errors import NotFoundError
    from ledgerframes.loaders.event_pages import discover_migrations

    class Unlisted:
        def events_page(self, after: object, *, page_size: int) -> list[object]:
            raise NotFoundError("no such route")

    with pytest.raises(UsageError, match="rejections are not visible"):
        discover_migrations(Unlisted(), [])  # type: ignore[arg-type]


def test_stored_ids_of_the_ledger_are_committed_however_they_are_read(tmp_path: Path, day: lf.Frames) -> None:
    net = connect(tmp_path)
    lf.load_events(net, **DAY)
    ids = sorted({*lf.load_updates(net).ledger_updates["update_id"]} & {*day.verdicts["update_id"]})[:3]
    assert lf.load_events(net, update_ids=ids).population == "committed"
    assert export.from_store(net, "events_by_id.verdicts").population == "committed"
    assert export.from_store(net, "events.verdicts", **DAY).where("verdicts", update_id=ids).population == "committed"


def test_narrowing_by_envelopes_is_a_choice_if_a_request_has_none() -> None:
    verdicts = testing.table("verdicts").sample(4)
    ids = verdicts["update_id"].tolist()
    traffic = testing.table("traffic").sample(4, update_id=ids)
    envelopes = testing.table("envelopes").sample(2, update_id=ids[:2], traffic_cost=[10, 20])
    frames = testing.frames_of(verdicts=verdicts, traffic=traffic, envelopes=envelopes)
    assert frames.where("envelopes", lambda rows: rows["traffic_cost"] >= 10, columns=["traffic_cost"]).population == "chosen"
    assert (
        frames.where("traffic", lambda rows: rows["total_traffic_cost"] >= 0, columns=["total_traffic_cost"]).population == "all"
    )
