"""What needs attention stands below the key figures, as the findings say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.report import load_history, run_report
from ledgerframes.report.attention import describe_attention

from .conftest import without_kernel
from .stored import text_of

WEEK = {"since": "2026-11-02", "until": "2026-11-09"}


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lf.Network]:
    with lf.connect("sandbox", events=8_000, days=37, store=tmp_path_factory.mktemp("store")) as network:
        yield network


def found_of(count: int) -> pd.DataFrame:
    found = pd.DataFrame({"sentence": [f"Finding {number}." for number in range(count)]})
    found.attrs["sentence"] = "1,200 figures were compared with the 6 weeks before."
    return found


@pytest.mark.parametrize(("count", "shown", "others"), [(0, 0, 0), (5, 5, 0), (7, 5, 2)])
def test_at_most_five_sentences_are_shown(count: int, shown: int, others: int) -> None:
    attention = describe_attention(found_of(count))
    assert attention["sentences"] == [f"Finding {number}." for number in range(shown)]
    assert (attention["others"], attention["summary"]) == (others, found_of(0).attrs["sentence"])


def test_a_page_says_what_the_findings_say(net: lf.Network, tmp_path: Path) -> None:
    with without_kernel():
        result = run_report("traffic-cost", net=net, out=tmp_path, **WEEK)
    frames = lf.load_events(net, **WEEK)
    weeks = load_history(net, frames)
    assert isinstance(weeks, lf.Frames)
    found = lf.findings(frames, history=weeks)
    assert found.attrs["weeks"] >= 4
    assert result.run["attention"] == describe_attention(found)
    assert result.run["headline"]["findings"] == len(found)
    (section,) = re.findall(r'<section class="attention">.*?</section>', result.page_path.read_text(encoding="utf-8"), re.DOTALL)
    assert [text_of(each) for each in re.findall(r"<li>(.*?)</li>", section, re.DOTALL)] == found["sentence"].head(5).tolist()
    assert found.attrs["sentence"] in text_of(section)


def test_a_report_without_usual_ranges_has_no_findings(net: lf.Network, tmp_path: Path) -> None:
    with without_kernel():
        result = run_report("verdicts", net=net, out=tmp_path, **WEEK)
    assert result.run["attention"] is None
    assert "attention" not in result.page_path.read_text(encoding="utf-8").partition("<main>")[2]
