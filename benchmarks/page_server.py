"""A history service that costs nothing: the pages of one world from memory, after as long a pause as is asked for.

`/v0/events` answers at once, `/slow/v0/events` after SERVER_SECONDS. What was asked is remembered, and listed by `/asked`.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from bisect import bisect_right
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.times import micros

SERVER_SECONDS = 0.15
DAYS = 7


class Pages:
    """The items of a world, and the pages that were made of them.

    Parameters
    ----------
    events
        How many there are.
    """

    def __init__(self, events: int) -> None:
        found = sorted(
            Sandbox(events=events, days=DAYS).world.events(), key=lambda event: (event.migration_id, event.record_time)
        )
        self._places = [(event.migration_id, event.record_time) for event in found]
        self._items = [event.item() for event in found]
        self._made: dict[bytes, bytes] = {}
        self._asked: list[bytes] = []
        self._lock = threading.Lock()

    def page(self, request: bytes) -> bytes:
        """The answer to a request for a page; rendered once."""
        with self._lock:
            self._asked.append(request)
            if request not in self._made:
                self._made[request] = self._rendered(json.loads(request))
            return self._made[request]

    def asked(self) -> bytes:
        """Every request since the last time."""
        with self._lock:
            asked, self._asked = self._asked, []
        return json.dumps([json.loads(request) for request in asked]).encode()

    def _rendered(self, request: dict[str, Any]) -> bytes:
        begin = 0
        if after := request.get("after"):
            time_after = micros(datetime.fromisoformat(after["after_record_time"]))
            begin = bisect_right(self._places, (after["after_migration_id"], time_after))
        return b'{"events":[' + b",".join(self._items[begin : begin + request["page_size"]]) + b"]}"


class Handler(BaseHTTPRequestHandler):
    """Answers from memory, over connections that stay open."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    pages: Pages

    def do_POST(self) -> None:
        """A page."""
        request = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/slow/"):
            time.sleep(SERVER_SECONDS)
        self._answer(self.pages.page(request))

    def do_GET(self) -> None:
        """What was asked."""
        self._answer(self.pages.asked())

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main(events: str) -> None:
    """Print a free port, then serve until the process ends."""
    Handler.pages = Pages(int(events))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
