from __future__ import annotations

import pytest
from campaign import Effort


@pytest.fixture(scope="session")
def effort() -> Effort:
    return Effort()
