"""The recorded answers, served over HTTP, load with the rows one counts by hand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pytest

import ledgerframes as lf

pytestmark = pytest.mark.loopback

# Counted by hand in the files: updates, tree_events, verdicts, views, quorums, traffic, envelopes, activity_records.
COUNTED = {
    "v0_event_accepted_private_verdict_only.json": (0, 0, 1, 2, 2, 0, 0, 0),
    "v0_event_accepted_with_subviews.json": (1, 3, 1, 2, 3, 0, 0, 0),
    "v0_event_rejected_verdict_only.json": (0, 0, 1, 1, 2, 0, 0, 0),
    "made/scan_event_with_traffic_and_activity.json": (0, 0, 1, 5, 5, 1, 5, 2),
}
TABLES = ("updates", "tree_events", "verdicts", "views", "quorums", "traffic", "envelopes", "activity_records")


def update_id(event: dict[str, Any]) -> str:
    return str((event["update"] or event["verdict"])["update_id"])


@pytest.fixture(scope="module")
def recorded(fixtures: Path) -> dict[str, bytes]:
    """Answers by update id, and the recorded page of the listing."""
    bodies = [(fixtures / name).read_bytes() for name in COUNTED]
    answers = {update_id(json.loads(body)): body for body in bodies}
    return {**answers, "page": (fixtures / "v0_events_page_genesis_null_verdict.json").read_bytes()}


@pytest.fixture
def net(recorded: dict[str, bytes], tmp_path: Path) -> Iterator[lf.Network]:
    class Recorded(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = recorded.get(unquote(self.path.partition("?")[0].rpartition("/")[2]))
            self.answer(200 if body else 404, body or b'{"error":"not found"}')

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            after = request.get("after", {"after_record_time": ""})["after_record_time"]
            events = [event for event in json.loads(recorded["page"])["events"] if event["update"]["record_time"] > after]
            self.answer(200, json.dumps({"events": events[: request["page_size"]]}).encode())

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorded)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    Path("ledgerframes.toml").write_text(
        f'[recorded]\nhistory_url = "http://127.0.0.1:{server.server_port}"\nrequests_per_second = 0\n'
    )
    with lf.connect("recorded", store=tmp_path / "store") as net:
        yield net
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", COUNTED)
def test_events_by_id(net: lf.Network, fixtures: Path, name: str) -> None:
    event = json.loads((fixtures / name).read_text())
    frames = lf.load_events(net, update_ids=[update_id(event)])
    assert tuple(len(frames.read(table)) for table in TABLES) == COUNTED[name]
    assert not frames.unknown_ids


def test_strings_as_results_are_kept(net: lf.Network, recorded: dict[str, bytes]) -> None:
    nodes = lf.load_events(net, update_ids=[key for key in recorded if key != "page"]).tree_events
    texts = nodes["exercise_result"].dropna()
    strings = [json.loads(text) for text in texts if text.startswith('"')]
    assert strings == ["ValidatorLivenessActivityRecord_DsoExpireResult"]
    assert isinstance(json.loads(texts.iloc[0]), dict)


def test_the_first_page_of_the_network_has_updates_without_verdicts(net: lf.Network) -> None:
    frames = lf.load_events(net, since="2024-06-24", until="2024-06-25")
    assert (len(frames.updates), len(frames.tree_events), len(frames.verdicts), len(frames.traffic)) == (4, 13, 0, 0)
    assert frames.updates["migration_id"].tolist() == [0] * 4
    assert frames.tree_events["created_at"].dropna().dt.year.eq(2024).all()


def test_decimal_texts_are_kept_as_written(net: lf.Network) -> None:
    frames = lf.load_events(net, update_ids=["12205555555555555555555555555555555555555555555555555555555555555555"])
    pd.testing.assert_series_equal(frames.activity_records["weight"], pd.Series([1153, 1346], name="weight"))
    assert frames.traffic["total_traffic_cost"].tolist() == [2500]
