"""``lf.plan``, ``executor=`` and ``progress=`` mean the same for every loader, as does a wrong first argument."""

from __future__ import annotations

import inspect
import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cases import every_nth
from equality import assert_equal, fetched_rows

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.api.update_format import update_format
from ledgerframes.datasets.bookkeeping import PLAN
from ledgerframes.datasets.registry import EVENTS_BY_ID, LEDGER
from ledgerframes.errors import AuthenticationError, CoverageError, ServiceUnavailableError, UsageError
from ledgerframes.loaders.ledger import LedgerLoader
from ledgerframes.loaders.ledger_filter import LedgerFilter
from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.sandbox import WORLD_VERSION
from ledgerframes.values.extents import IdSet

WORLD = {"events": 400, "days": 1}
DAY = {"since": "2026-11-08", "until": "2026-11-09"}
KEY = "0001-01-01T00:00:00Z~2026-11-09T00:00:00Z/updates_0.zstd"


def connect(store: Path, box: Sandbox | None = None, **overrides: Any) -> lf.Network:
    if box is None:
        return lf.connect("sandbox", **{**WORLD, "store": store, **overrides})
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    return lf.connect("sandbox", transport=in_process(box.app), store=store, requests_per_second=0, **{**urls, **overrides})


@pytest.fixture(scope="module")
def update_ids(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Ids of old requests with verdict and traffic, and one that the service does not know."""
    net = lf.connect("sandbox", **WORLD, store=tmp_path_factory.mktemp("ids"))
    return [*lf.load_traffic(net, **DAY)["update_id"][:40], "no such id"]


ledger = partial(lf.load_updates, page_size=20, shape="ledger_effects")


def loads(update_ids: list[str]) -> dict[str, partial[lf.Frames]]:
    """Every loader of frames, and each of its ways."""
    return {
        "events": partial(lf.load_events, **DAY),
        "events by id": partial(lf.load_events, update_ids=update_ids),
        "updates": ledger,
        "updates, descending": partial(ledger, descending=True),
        "bulk": partial(lf.load_bulk, **DAY),
        "bulk by key": partial(lf.load_bulk, object_keys=[KEY]),
        "bulk snapshot": partial(lf.load_bulk, kind="acs"),
    }


def plan_of(load: partial[lf.Frames], net: lf.Network) -> pd.DataFrame:
    return lf.plan(load.func, net, **load.keywords)


WAYS = list(loads([]))
LOADERS = sorted(name for name in dir(lf) if name.startswith("load_"))
# A service that returns only the latest state gets no executor. Transfers of tokens are made of updates.
STATE = {
    name: getattr(lf, name)
    for name in LOADERS
    if name != "load_token_transfers" and "executor" not in inspect.signature(getattr(lf, name)).parameters
}


# -- executor= ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pools() -> Iterator[dict[str, Executor]]:
    spawn = multiprocessing.get_context("spawn")
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(1, mp_context=spawn) as processes:
        yield {"threads": threads, "processes": processes}


@pytest.fixture(scope="module")
def load_here(update_ids: list[str], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], lf.Frames]:
    """What this process loads in a way."""
    return cache(lambda way: loads(update_ids)[way](connect(tmp_path_factory.mktemp("here"))))


@pytest.mark.parametrize(("way", "pool"), every_nth(product(WAYS, ["processes", "threads"]), 5))
def test_an_executor_gives_the_same_frames(
    tmp_path: Path,
    update_ids: list[str],
    pools: dict[str, Executor],
    load_here: Callable[[str], lf.Frames],
    way: str,
    pool: str,
    bars: list[Bar],
) -> None:
    expected = load_here(way)
    bars.clear()
    frames = loads(update_ids)[way](connect(tmp_path), executor=pools[pool], progress=True)
    assert_counted(bars)
    assert_equal(fetched_rows(frames), fetched_rows(expected))
    assert frames.unknown_ids == expected.unknown_ids
    assert sum(len(frame) for frame in fetched_rows(frames).values())


def test_workers_fetch_and_the_caller_commits(tmp_path: Path, pools: dict[str, Executor]) -> None:
    net = connect(tmp_path, min_merged_segments=1_000)
    requests = []
    page = net.ledger.get_updates_page
    net.ledger.get_updates_page = lambda request: (requests.append(request), page(request))[1]  # type: ignore[method-assign]
    ledger(net, executor=pools["processes"])
    assert requests == []
    assert len(net.store.segments(LEDGER)) > 2, "one chunk shows nothing about chunks"


def test_what_precedes_an_error_in_a_worker_is_committed(
    tmp_path: Path, update_ids: list[str], monkeypatch: pytest.MonkeyPatch, pools: dict[str, Executor]
) -> None:
    net = connect(tmp_path)
    fetch = net.history.event_response

    def failing(update_id: str) -> Any:
        if update_id == update_ids[3]:
            raise ServiceUnavailableError("down", status=503)
        return fetch(update_id)

    monkeypatch.setattr(net.history, "event_response", failing)
    with pytest.raises(ServiceUnavailableError):
        lf.load_events(net, update_ids=update_ids, executor=pools["threads"])
    missing = net.store.missing_parts(EVENTS_BY_ID, IdSet(frozenset(update_ids)))
    assert missing == [IdSet(frozenset({update_ids[3], "no such id"}))]


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_executor_is_refused_before_anything_is_fetched(tmp_path: Path, update_ids: list[str], way: str) -> None:
    with pytest.raises(UsageError, match=r"executor= must be a concurrent\.futures\.Executor, got 3"):
        loads(update_ids)[way](connect(tmp_path), executor=3)
    assert not (tmp_path / "sandbox").exists()


@pytest.mark.parametrize("name", STATE)
def test_one_stream_of_pages_takes_no_executor(tmp_path: Path, pools: dict[str, Executor], name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} does not accept executor=, because its pages are one stream"):
        STATE[name](connect(tmp_path), executor=pools["threads"])


def test_a_token_stays_in_this_process(tmp_path: Path, pools: dict[str, Executor]) -> None:
    net = connect(tmp_path, token="s3cret-t0ken")
    with pytest.raises(UsageError, match="Use token_file= or token_env="):
        ledger(net, executor=pools["processes"])
    assert len(ledger(net, executor=pools["threads"]).ledger_updates)


def test_a_worker_reads_the_token_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret-t0ken")
    net = connect(tmp_path, token_file=tmp_path / "token")
    ledger_filter = LedgerFilter("p", update_format())
    reader = LedgerLoader(net, ledger_filter, ledger_filter.offset_range(0, 9), explicit=False).reader
    content = pickle.dumps(reader)
    assert b"s3cret-t0ken" not in content
    assert pickle.loads(content).net.settings.token_file == tmp_path / "token"  # type: ignore[attr-defined]


def test_errors_of_the_ledger_reach_the_caller_from_workers(tmp_path: Path, pools: dict[str, Executor]) -> None:
    box = Sandbox(**WORLD, require_token=True)
    with pytest.raises(AuthenticationError):
        ledger(connect(tmp_path, box, token=box.expired_token), executor=pools["threads"])


# -- lf.plan --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_plan_fetches_nothing_and_the_load_counts_to_its_total(
    tmp_path: Path, update_ids: list[str], bars: list[Bar], way: str
) -> None:
    load = loads(update_ids)[way]
    net = connect(tmp_path)
    plan = plan_of(load, net)
    assert plan.dtypes.map(str).to_dict() == {column.name: column.pandas_dtype for column in PLAN.columns}
    assert len(plan)
    assert plan["dataset"].nunique() == 1
    assert not (tmp_path / net.name).exists()
    load(net, progress=True)
    assert_counted(bars)
    left = plan_of(load, net)
    assert left["update_id"].tolist() == ["no such id"] if way == "events by id" else left.empty


def test_a_plan_of_offsets_names_the_missing_ranges(tmp_path: Path) -> None:
    net = connect(tmp_path)
    end = net.ledger.ledger_end()
    ledger(net, after=100, through=200)
    plan = plan_of(ledger, net)
    assert plan[["after", "through"]].to_numpy().tolist() == [[0, 100], [200, end]]
    assert set(plan["dataset"]) == {"ledger"}


@pytest.mark.parametrize("name", STATE)
def test_a_plan_of_a_state_is_one_row(tmp_path: Path, name: str) -> None:
    net = connect(tmp_path)
    plan = lf.plan(STATE[name], net)
    assert tuple(plan.columns) == PLAN.column_names
    assert len(plan) == (name != "load_transfer_offers"), "there is no offer to refresh"
    assert net.request_count == 0


def test_nothing_is_planned_for_reference_data_that_is_not_refreshed(tmp_path: Path) -> None:
    for options in ({"net": connect(tmp_path), "refresh": False}, {"net": connect(tmp_path, offline=True)}):
        assert lf.plan(lf.load_price_votes, **options).empty


@pytest.mark.parametrize("name", ["load_verdicts", "load_traffic", "load_activity"])
def test_single_tables_show_the_plan_of_their_events(tmp_path: Path, name: str) -> None:
    net = connect(tmp_path)
    plan = lf.plan(getattr(lf, name), net, **DAY, columns=["update_id"])
    pd.testing.assert_frame_equal(plan, lf.plan(lf.load_events, net, **DAY))


@pytest.mark.parametrize("way", WAYS)
def test_offline_errors_are_the_same(tmp_path: Path, update_ids: list[str], way: str) -> None:
    message = r"sandbox\S* is offline and .+ not in the store \(.+\)\. Reconnect without offline=True to fetch them\."
    with pytest.raises(CoverageError, match=message) as caught:
        loads(update_ids)[way](connect(tmp_path, offline=True))
    assert caught.value.missing


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("updates")])
def test_a_plan_needs_no_network(tmp_path: Path, update_ids: list[str], way: str) -> None:
    assert len(plan_of(loads(update_ids)[way], connect(tmp_path, offline=True)))


def test_a_plan_of_a_load_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"follow=True cannot be combined with lf\.plan"):
        lf.plan(lf.load_updates, connect(tmp_path), follow=True)


@pytest.mark.parametrize("wrong", [lf.cost.spend, lf.connect, len, "load_events", None])
def test_only_loaders_have_a_plan(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(
        UsageError, match=r"lf\.plan needs a loader without a call, got .+\. Choose from lf\.load_active_contracts, "
    ) as caught:
        lf.plan(wrong, connect(tmp_path))
    assert all(f"lf.{name}" in str(caught.value) for name in LOADERS)


@pytest.mark.parametrize("name", LOADERS)
def test_the_plan_has_every_argument_that_decides_what_is_loaded(name: str) -> None:
    load = getattr(lf, name)
    parameters = inspect.signature(load).parameters
    needed = {each.name for each in inspect.signature(load.make).parameters.values() if each.default is each.empty}
    assert needed <= parameters.keys()
    assert parameters.keys() - inspect.signature(load.make).parameters.keys() <= {"executor", "progress", "columns"}


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("value", [True, False])
def test_a_loader_says_what_replaces_its_plan_argument(tmp_path: Path, name: str, value: bool) -> None:
    with pytest.raises(UsageError, match=rf"{name} does not accept plan=\. Call lf\.plan\(lf\.{name}, net, …\) instead\."):
        getattr(lf, name)(connect(tmp_path), plan=value)


def test_a_plan_checks_the_arguments_as_the_load_does(tmp_path: Path, pools: dict[str, Executor]) -> None:
    net = connect(tmp_path)
    for arguments in ({"on_bad_item": "ignore"}, {"executor": 3}, {"id_source": "guess", "update_ids": ["a"]}, {"since": 5}):
        with pytest.raises(UsageError) as of_load:
            lf.load_events(net, **arguments)  # type: ignore[arg-type]
        with pytest.raises(UsageError) as of_plan:
            lf.plan(lf.load_events, net, **arguments)  # type: ignore[arg-type]
        assert str(of_plan.value) == str(of_load.value)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sinse'"):
        lf.plan(lf.load_events, net, sinse="2026-11-08")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="its pages are one stream"):
        lf.plan(lf.load_parties, net, executor=pools["threads"])  # type: ignore[call-arg]


# -- progress= ------------------------------------------------------------------------------------------------------


class Bar:
    """Stands in for tqdm."""

    bars: list[Bar]

    def __init__(self, *, total: float | None, desc: str, disable: bool, **_: object) -> None:
        self.total, self.title, self.visible, self.count = total, desc, not disable, 0.0
        Bar.bars.append(self)

    def update(self, amount: float) -> None:
        self.count += amount

    def close(self) -> None:
        """Nothing is shown."""


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    Bar.bars = []
    monkeypatch.setenv("COLUMNS", "120")  # so that no title is shortened
    monkeypatch.setattr("tqdm.std.tqdm", Bar)
    return Bar.bars


def assert_counted(bars: list[Bar]) -> None:
    (bar,) = bars
    assert bar.visible
    assert bar.title.startswith("Fetching ")
    assert bar.title.endswith(f" (sandbox-v{WORLD_VERSION}-seed1-events400-days1)")
    assert bar.count == pytest.approx(bar.total)


def test_progress_can_be_turned_off(tmp_path: Path, update_ids: list[str], bars: list[Bar]) -> None:
    loads(update_ids)["events by id"](connect(tmp_path), progress=False)
    assert [bar.visible for bar in bars] == [False]


@pytest.mark.parametrize("name", [name for name in STATE if name != "load_transfer_offers"])
def test_progress_of_a_state_counts_its_rows(tmp_path: Path, bars: list[Bar], name: str) -> None:
    STATE[name](connect(tmp_path), progress=True)
    (bar,) = bars
    assert bar.visible
    assert bar.count > 0


# -- what all loaders have in common --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOADERS)
def test_every_loader_says_the_same_of_executor_and_progress(name: str) -> None:
    text, parameters = inspect.getdoc(getattr(lf, name)) or "", inspect.signature(getattr(lf, name)).parameters
    assert parameters["progress"].default is None
    assert text.count("\nprogress : bool, optional\n") == 1
    assert ("executor" in parameters) == ("\nexecutor : concurrent.futures.Executor, optional\n    Fetches the chunks" in text)
    assert text.index("\nprogress : bool") < text.index("\n\nReturns\n-------\n")
    assert not any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in parameters.values())


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("wrong", ["sandbox", None, 7])
def test_a_first_argument_that_is_no_network_is_refused(name: str, wrong: object) -> None:
    with pytest.raises(UsageError, match=r"net must be a network, got .*\. Pass lf\.connect\(…\) as the first argument\."):
        getattr(lf, name)(wrong)
    with pytest.raises(UsageError, match="net must be a network"):
        lf.plan(getattr(lf, name), wrong)  # type: ignore[arg-type]
