from __future__ import annotations

from typing import Any

import pytest
from wallet_service import TOKEN, URL, Connect, WalletService

import ledgerframes as lf


@pytest.fixture
def service() -> WalletService:
    return WalletService()


@pytest.fixture
def connect(service: WalletService) -> Connect:
    """Networks whose wallet is the service; each call is like another process."""

    def connect(**overrides: Any) -> lf.Network:
        settings = {
            "history_url": "http://history.invalid",
            "wallet_url": URL,
            "token": TOKEN,
            "requests_per_second": 0,
            "transport": service.transport(),
            **overrides,
        }
        return lf.connect("sandbox", **settings)

    return connect


@pytest.fixture
def net(connect: Connect) -> lf.Network:
    return connect()
