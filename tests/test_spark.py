"""The lines for Spark in the docs give pandas' own sum; ``make spark`` fetches Spark, and needs Java."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf

sql = pytest.importorskip("pyspark.sql", reason="run make spark")

ENGINES = Path(__file__).parents[1] / "docs" / "engines.md"


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A session of two workers on this machine."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


@pytest.mark.loopback
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")  # only Arrow is used here
def test_every_block_of_the_page_gives_the_sum(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    net = lf.connect("sandbox", events=900, days=2)
    Path("ledgerframes.toml").write_text(f'[mainnet]\nnetwork = "{net.name}"\nhistory_url = "https://history.invalid"\n')
    frames = lf.load_events(net, since="2026-11-07", until="2026-11-09")
    section = ENGINES.read_text().partition("## Spark\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```py\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    names = {"lf": lf, "frames": frames, "spark": spark}
    for block in blocks:
        exec(block, names)
        shown = re.findall(r"^\|\s*(\d+)\|$", capfd.readouterr().out, re.MULTILINE)
        assert shown == [str(frames.traffic["total_traffic_cost"].sum())]
