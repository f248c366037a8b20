"""Processes that are killed, and processes at the same time: each offer exists exactly once."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from processes import begin, end
from wallet_service import POST_FAULTS, PREFIX, TOKEN, WalletService

import ledgerframes as lf
from ledgerframes.api import host_rates
from ledgerframes.errors import OfferUnresolvedError
from ledgerframes.wallet import Journal

pytestmark = pytest.mark.loopback


class SkippingClock(host_rates.Clock):
    """A clock that does not wait."""

    skipped = 0.0

    def now(self) -> float:
        return super().now() + self.skipped

    def sleep_until(self, until: float) -> None:
        self.skipped += max(0.0, until - self.now())


def offer(url: str, count: int) -> None:
    """Make offers. Those in the journal are gone on with, and a used id with the same contents makes no second offer."""
    host_rates.clock = SkippingClock()
    net = lf.connect("sandbox", history_url="http://history.invalid", wallet_url=url, requests_per_second=0, timeout=30)
    for number in range(count):
        tracking_id = f"t-{number:03}"
        try:
            net.wallet.offer_transfer(
                receiver="bob::1220bb",
                amount=Decimal("1.5"),
                description=f"offer {number}",
                expires_at=datetime(2100, 1, 1, tzinfo=UTC),
                tracking_id=tracking_id,
            )
        except OfferUnresolvedError as error:
            assert error.tracking_id == tracking_id
    net.wallet.resume_all()


@pytest.fixture
def url(service: WalletService, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("LEDGERFRAMES_TOKEN", TOKEN)
    server = service.server()
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
    server.shutdown()
    server.server_close()
    thread.join()


def journal() -> Journal:
    return Journal(Path(os.environ["LEDGERFRAMES_STORE"]) / "sandbox")


def test_a_hundred_offers_with_failures_and_kills(service: WalletService, url: str) -> None:
    chance = random.Random(7)
    service.post_plan = [chance.choice(POST_FAULTS) for _ in range(60)]
    service.status_plan = [chance.choice(["ok", "ok", "404", "500", "drop"]) for _ in range(60)]
    service.ingest = 1
    child: ForkServerProcess | None = None
    kills: list[str] = []
    until_kill = [chance.randint(1, 25)]

    def kill_now_and_then(when: str, tracking_id: str) -> None:
        """Between journal and effect, or between effect and answer."""
        until_kill[0] -= 1
        if until_kill[0] <= 0 and len(kills) < 8:
            assert child is not None
            until_kill[0] = chance.randint(1, 25)
            kills.append(when)
            child.kill()
            wait([child.sentinel])

    service.hook = kill_now_and_then
    while True:
        child = begin(offer, url, 100)
        if len(kills) % 3 == 2:  # and at any moment at all: inside the journal, between two offers
            child.join(chance.uniform(0, 0.5))
            child.kill()
            kills.append("any")
        if (code := end(child)) == 0:
            break
        assert code == -signal.SIGKILL
    assert {"before", "after", "any"} <= set(kills)
    service.settle()
    assert sorted(offer["tracking_id"] for offer in service.made) == [f"t-{number:03}" for number in range(100)]
    offers = journal().offers()
    assert len(offers) == 100
    assert all(offer.exists for offer in offers)
    contracts = {offer["tracking_id"]: f"00{number:04}" for number, offer in enumerate(service.made, 1)}
    assert {offer.tracking_id: offer.contract_id for offer in offers} == contracts


def test_processes_at_the_same_time_make_each_offer_once(service: WalletService, url: str) -> None:
    service.post_plan = ["ok", "later", "500 after", "drop before"] * 5
    children = [begin(offer, url, 20) for _ in range(3)]
    assert [end(child) for child in children] == [0, 0, 0]
    assert sorted(offer["tracking_id"] for offer in service.made) == [f"t-{number:03}" for number in range(20)]
    assert all(offer.exists for offer in journal().offers())
