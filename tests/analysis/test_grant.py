"""Use of an app by outside parties, and the directory that an auditor checks."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.analysis import FIGURES
from ledgerframes.errors import CoverageError, IntegrityError, StoreError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.store.location import digest_of

DAY = {"since": "2026-11-08", "until": "2026-11-09"}
APP: dict[str, Any] = {"packages": ["pkg"]}
SMALL: dict[str, Any] = {"since": "2026-11-07", "until": "2026-11-09", "min_coverage": 0.8}
MEADOW = {"packages": ["meadow-token"]}
OTHER_NODES = [(0, "Other:App", "Go")]


@pytest.fixture(scope="module")
def use(build: Callable[..., Frames], event: Any) -> Frames:
    """The example: 100 by x, 200 by x and own, 300 by own; a rejection by x, and a request that the app only confirms."""
    confirmed = [(["x::1220a"], [(1, ["app::1220c"])])]
    return build(
        [
            event("a", 1, 100, parties=["x::1220a"]),
            event("b", 2, 200, parties=["x::1220a", "own::1220b"]),
            event("c", 3, 300, parties=["own::1220b"]),
            event("d", 4, 50, "REJECTED", parties=["y::1220a"], views=confirmed),
            event("e", 5, 70, parties=["z::1220a"], visible=False, views=confirmed),
        ]
    )


def evidence(frames: Frames, **named: Any) -> pd.DataFrame:
    return lf.grant.evidence(frames, **{"app": APP, "exclude": ["own::1220b"], **DAY, **named})


def test_outside_requests_have_an_outside_party(use: Frames) -> None:
    row = evidence(use).iloc[0]
    assert row[["requests", "bytes", "new_parties", "parties_cumulative"]].tolist() == [2, 300, 1, 1]
    assert pd.isna(row["app_bytes"])
    totals = lf.grant.evidence_totals(use, app=APP, exclude=["own::1220b"], **DAY).iloc[0]
    assert totals[["requests", "bytes", "parties", "excluded_requests"]].tolist() == [2, 300, 1, 1]


def test_requests_of_excluded_parties_count_without_a_known_cost(build: Callable[..., Frames], event: Any) -> None:
    costs = {"a": 100, "b": 300, "c": None}
    frames = build([event(name, 1, cost, parties=["x::1" if name == "a" else "own::1220b"]) for name, cost in costs.items()])
    totals = lf.grant.evidence_totals(frames, app=APP, exclude=["own::1220b"], min_coverage=0, **DAY).iloc[0]
    assert totals["excluded_requests"] == 2


def test_requests_without_a_known_submitter_are_not_excluded(build: Callable[..., Frames], event: Any) -> None:
    frames = build([event("a", 1, 100, parties=["x::1"]), event("b", 2, 100, parties=[]), event("c", 3, 70, result=None)])
    totals = lf.grant.evidence_totals(frames, app=APP, exclude=[], min_coverage=0, **DAY).iloc[0]
    assert totals[["requests", "excluded_requests"]].tolist() == [1, 0]


def test_parties_that_nothing_names_are_not_checked(build: Callable[..., Frames], event: Any) -> None:
    """Frames of the updates alone have no quorums, so a party of the app is neither known nor unknown."""
    frames = build([event("a", 1, 100, parties=["x::1"])])
    assert evidence(frames, app={"packages": ["pkg"], "parties": ["app::1220c"]})["requests"].tolist() == [1]


def test_private_and_rejected_requests_show_by_their_confirmers(use: Frames) -> None:
    app = {"packages": ["pkg"], "parties": ["app::1220c"]}
    row = evidence(use, app=app, by_confirmer=True).iloc[0]
    assert row[["requests", "bytes", "rejected"]].tolist() == [3, 370, 1]
    assert row[["parties_cumulative", "namespaces_cumulative"]].tolist() == [2, 1]  # x and z have one key
    totals = lf.grant.evidence_totals(use, app=app, exclude=["own::1220b"], by_confirmer=True, **DAY)
    assert totals["rejected"].tolist() == [1]


@pytest.mark.parametrize("by_confirmer", [False, True])
@pytest.mark.parametrize("parties", [[], ["app::1220c"]])
def test_rejected_requests_are_missing_unless_confirmers_show_them(use: Frames, by_confirmer: bool, parties: list[str]) -> None:
    """A rejected request has no node, so without the app's parties their number would be 0 by construction."""
    named = {"app": {"packages": ["pkg"], "parties": parties}, "by_confirmer": by_confirmer}
    totals = lf.grant.evidence_totals(use, exclude=["own::1220b"], **named, **DAY)
    for rejected in (evidence(use, **named)["rejected"], totals["rejected"]):
        assert rejected.notna().all() == (by_confirmer and bool(parties))


def test_a_template_of_another_package_is_not_the_app(build: Callable[..., Frames], event: Any) -> None:
    frames = build([event("a", 1, 100, parties=["x::1"]), event("b", 2, 100, parties=["x::1"], nodes=OTHER_NODES)])
    assert evidence(frames)["requests"].tolist() == [2]
    assert evidence(frames, app={"packages": ["pkg"], "templates": ["Other:App"]})["requests"].tolist() == [1]


def test_groups_of_labels_are_excluded(use: Frames) -> None:
    labels = pd.DataFrame({"id": ["own::1220b", "x::1220a"], "name": ["Own", "X"], "group": ["us", "us"]})
    row = evidence(use, exclude=["us"], labels=labels).iloc[0]
    assert row["requests"] == 0 and pd.isna(row["bytes"])


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"exclude": ["onw"]}, "Unknown party or group 'onw'"),
        ({"exclude": "own::1220b"}, "must be a list"),
        ({"app": {"packages": ["pkk"]}}, "Choose from 'pkg'"),
        ({"app": {"package": ["pkg"]}}, "must be a dict with packages"),
        (
            {"app": {"packages": ["pkg"], "parties": ["app::1220d"]}},
            "No quorum .* the party 'app::1220d'. Choose from 'app::1220c'",
        ),
        ({"app": {"parties": ["app::1220c"]}}, "must have packages or templates, or parties with by_confirmer=True"),
        ({"app": {"packages": []}, "by_confirmer": True}, "must have packages or templates, or parties with by_confirmer=True"),
        ({"app": {"packages": "pkg"}}, "must have a list"),
        ({"labels": "labels.csv"}, "must be a result of lf.labels.read"),
    ],
)
def test_wrong_arguments(use: Frames, named: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evidence(use, **named)


def test_too_little_coverage_is_refused(build: Callable[..., Frames], event: Any) -> None:
    events = [event(f"u{number}", 1 + number / 100, 10, parties=["x::1"]) for number in range(99)]
    unknown = [event("none", 3, None, parties=["x::1"])]
    assert evidence(build([*events, *unknown]))["requests"].tolist() == [100]
    with pytest.raises(CoverageError, match=r"98\.99 % of the app's requests"):
        evidence(build([*events[1:], *unknown]))
    with pytest.raises(CoverageError, match=r"needs frames that hold all of"):
        evidence(build(events, window=None))
    with pytest.raises(CoverageError, match=r"at least 99\.90 %, but 99\.00 %"):
        evidence(build([*events, *unknown]), min_coverage=0.999)
    for least in (0, 0.999):
        with pytest.raises(CoverageError, match=r'Load since="2026-11-0.*" until="2026-11-10T00:00:00Z"'):
            evidence(build(events), until="2026-11-10", min_coverage=least)


@pytest.fixture(scope="module")
def history(sandbox_history: Frames) -> Frames:
    return sandbox_history.between("0001-01-01", "2026-11-09")


@pytest.fixture(scope="module")
def directory(history: Frames, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grant") / "evidence"
    parties = sorted(history.activity_records["party"].unique())
    own = history.verdicts["submitting_parties"].iloc[0][0]
    lf.grant.evidence(history, app={**MEADOW, "parties": parties}, exclude=[own], directory=path, **SMALL)
    return path


def test_the_evidence_of_the_sandbox_is_that_of_a_plain_loop(history: Frames, directory: Path) -> None:
    days, totals = (pd.read_parquet(directory / f"{name}.parquet", dtype_backend="pyarrow") for name in ("days", "totals"))
    part = history.between("2026-11-07", "2026-11-09")
    visible = set(part.tree_events.loc[part.tree_events["package_name"] == "meadow-token", "update_id"])
    own = json.loads((directory / "manifest.json").read_text())["parameters"]["exclude"][0]
    costs = dict(zip(part.traffic["update_id"], part.traffic["total_traffic_cost"], strict=True))
    sums, seen, firsts = defaultdict(int), set(), defaultdict(int)
    verdicts = part.verdicts.sort_values(["record_time", "update_id"])
    for row in verdicts[verdicts["update_id"].isin(visible)].itertuples():
        outside = {party for party in row.submitting_parties if party != own}
        if outside and row.verdict_result == "VERDICT_RESULT_ACCEPTED":
            sums[f"{row.record_time:%d}", "requests"] += 1
            sums[f"{row.record_time:%d}", "bytes"] += costs.get(row.update_id, 0)
            firsts[f"{row.record_time:%d}"] += len(outside - seen)
            seen |= outside
    for day in days.to_dict("records"):
        name = f"{day['day']:%d}"
        assert [day["requests"], day["bytes"], day["new_parties"]] == [sums[name, "requests"], sums[name, "bytes"], firsts[name]]
    assert totals["parties"].iloc[0] == len(seen) == days["parties_cumulative"].iloc[-1]
    assert 0 < totals["app_bytes"].iloc[0] <= totals["bytes"].iloc[0]
    earned = lf.activity.recompute(history).set_index("update_id")["burn_bytes"]
    requests = pd.read_parquet(directory / "requests.parquet")
    accepted = requests.loc[requests["is_accepted"], "update_id"]
    assert totals["app_bytes"].iloc[0] == earned[earned.index.isin(accepted)].sum()
    has_no_cost = requests["is_accepted"] & requests["total_traffic_cost"].isna()
    assert has_no_cost.any()
    assert (requests["app_bytes"].isna() == has_no_cost).all()
    columns = FIGURES["grant.evidence"].result_columns()
    assert [column.name for column in columns] == list(days.columns)


def test_a_directory_verifies_and_says_what_it_rests_on(sandbox_net: lf.Network, history: Frames, directory: Path) -> None:
    checks = lf.grant.verify(directory, net=sandbox_net)
    assert (checks["expected"] == checks["value"]).all()
    assert set(checks["check"]) == {"digest", "input", "sum"}
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["inputs"] == history.file_digests != {}
    assert manifest["parameters"]["since"] == "2026-11-07T00:00:00Z"
    again = directory.with_name("again")
    exclude = manifest["parameters"]["exclude"]
    lf.grant.evidence(history, app=manifest["parameters"]["app"], exclude=exclude, directory=again, **SMALL)
    assert (again / "manifest.json").read_bytes() == (directory / "manifest.json").read_bytes()
    with pytest.raises(UsageError, match="new or empty directory"):
        lf.grant.evidence(history, app=MEADOW, exclude=exclude, directory=again, **SMALL)


def test_every_change_of_a_directory_is_found(directory: Path, tmp_path: Path) -> None:
    original = {path.name: path.read_bytes() for path in directory.iterdir()}

    def spoiled(**contents: bytes | None) -> Path:
        path = tmp_path / str(len(list(tmp_path.iterdir())))
        path.mkdir()
        files = original | {name.replace("_", "."): content for name, content in contents.items()}
        for name, content in files.items():
            if content is not None:
                (path / name).write_bytes(content)
        return path

    for contents, name in (
        ({"days_csv": original["days.csv"].replace(b"0", b"1", 1)}, "days.csv"),
        ({"days_csv": None}, "days.csv"),
        ({"more_csv": b"x"}, "more.csv"),
    ):
        with pytest.raises(IntegrityError) as caught:
            lf.grant.verify(spoiled(**contents))
        assert list(caught.value.failures) == [name]
    with pytest.raises(StoreError, match="Cannot verify"):
        lf.grant.verify(spoiled(manifest_json=b"{}"))


def test_a_directory_among_the_files_is_found(directory: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(directory, tmp_path / "copy")
    (copy / "more").mkdir()
    (copy / "days.csv").unlink()
    (copy / "days.csv").mkdir()
    with pytest.raises(IntegrityError) as caught:
        lf.grant.verify(copy)
    assert {name: text.rpartition("got ")[2] for name, text in caught.value.failures.items()} == {
        "days.csv": "not a file",
        "more": "not a file",
    }


def test_parties_with_a_space_verify(build: Callable[..., Frames], event: Any, tmp_path: Path) -> None:
    frames = build([event("a", 1, 100, parties=["Alice Smith::1220aa", "bob::1220bb"])])
    evidence(frames, directory=tmp_path / "evidence")
    checks = lf.grant.verify(tmp_path / "evidence").set_index("subject")
    assert checks.loc["totals parties", "value"] == "2"
    nobody = evidence(frames, exclude=["Alice Smith::1220aa", "bob::1220bb"], directory=tmp_path / "nobody")
    assert nobody["requests"].tolist() == [0]
    schemas = [pq.read_schema(tmp_path / name / "requests.parquet") for name in ("evidence", "nobody")]
    assert schemas[0].equals(schemas[1])
    assert '[""Alice Smith::1220aa"",""bob::1220bb""]' in (tmp_path / "evidence" / "requests.csv").read_text()


def test_a_directory_with_parties_as_one_text_verifies(directory: Path, tmp_path: Path) -> None:
    """As earlier versions wrote them."""
    path = Path(shutil.copytree(directory, tmp_path / "older"))
    rows = pq.read_table(path / "requests.parquet").to_pylist()
    older = [{**row, "outside_parties": " ".join(row["outside_parties"])} for row in rows]
    pq.write_table(pa.Table.from_pylist(older), path / "requests.parquet")
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"]["requests.parquet"]["sha256"] = digest_of(path / "requests.parquet")
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert (lf.grant.verify(path)["subject"] == "totals parties").any()


def test_days_that_are_not_the_sums_of_the_requests_are_found(directory: Path, tmp_path: Path) -> None:
    """Also with a manifest that was written for them."""
    path = tmp_path / "forged"
    path.mkdir()
    days = pd.read_parquet(directory / "days.parquet").assign(bytes=1)
    manifest = json.loads((directory / "manifest.json").read_text())
    for each in directory.iterdir():
        (path / each.name).write_bytes(each.read_bytes())
    days.to_parquet(path / "days.parquet", index=False)
    manifest["files"]["days.parquet"]["sha256"] = digest_of(path / "days.parquet")
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(IntegrityError) as caught:
        lf.grant.verify(path)
    assert all(name.endswith(" bytes") for name in caught.value.failures)
