"""The table of the docs says which queries of figures give the rows of DuckDB on a local Spark.

``make spark`` fetches Spark and sqlglot, and needs Java.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.analysis import FIGURES

pytest.importorskip("pyspark.sql", reason="run make spark")
pytest.importorskip("sqlglot", reason="run make spark")

ROOT = Path(__file__).parents[1]
NAMES = sorted(name for name, each in FIGURES.items() if each.queries or any(column.measure for column in each.columns))


@pytest.fixture(scope="module")
def tool() -> Any:
    spec = importlib.util.spec_from_file_location("spark_figures", ROOT / "tools" / "spark_figures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def texts(tool: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with lf.connect("sandbox", events=900, days=2, store=tmp_path_factory.mktemp("store")) as net:
        yield tool.queries(net)


@pytest.fixture(scope="module")
def spark(tool: Any) -> Iterator[Any]:
    session = tool.session()
    yield session
    session.stop()


@pytest.mark.loopback
@pytest.mark.filterwarnings("ignore")  # of Spark
@pytest.mark.parametrize("name", NAMES)
def test_the_page_says_which_figures_agree(name: str, tool: Any, spark: Any, texts: dict[str, str]) -> None:
    row = tool.table({name: tool.outcome(spark, texts[name])}).splitlines()[-1]
    assert row in (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
