"""The text of a result has the columns to read first, on terminals of any width, and names all others."""

from __future__ import annotations

import copy
import pickle

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.result_frame import ResultFrame


@pytest.fixture(autouse=True)
def _terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module")
def participants(sample):
    return lf.cost.spend(sample, by="participant")


def head_of(result) -> list[str]:
    return repr(result).partition("\n")[0].split()


@pytest.mark.parametrize(
    ("call", "head"),
    [
        (lambda sample: lf.cost.spend(sample), ["total_traffic_cost", "share", "requests", "rejected", "median", "p95", "max"]),
        (
            lambda sample: lf.cost.spend(sample, by="participant"),
            ["submitting_participant_uid", "total_traffic_cost", "share", "requests", "rejected"],
        ),
        (lambda sample: lf.cost.spend(sample, by="template"), ["kind", "template_name", "choice", "total_traffic_cost"]),
        (
            lambda sample: lf.cost.spend(sample, every="1d"),
            ["period_start", "total_traffic_cost", "share", "requests", "rejected", "median"],
        ),
        (lambda sample: lf.cost.concentration(sample), ["gini", "hhi", "top_1"]),
    ],
)
def test_a_line_of_100_characters_has_the_names_of_a_row_the_main_figures_and_the_coverage(sample, call, head):
    names = head_of(call(sample))
    assert names[: len(head)] == head
    assert names[-1] == "coverage"


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_no_line_is_longer_than_the_terminal_and_all_columns_are_named(participants, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text = repr(participants)
    assert max(map(len, text.splitlines())) <= width
    assert {*participants.columns} <= {*text.replace(",", " ").replace("]", " ").split()}
    assert f"[{len(participants):,} rows x {len(participants.columns)} columns. Not shown: " in text


def test_a_wide_terminal_shows_more_of_the_main_columns(participants, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert head_of(participants)[1:] == [*FIGURES["cost.spend"].main_columns, "coverage"]


def test_columns_that_all_fit_are_all_there_without_a_note(participants, monkeypatch):
    chosen = participants[["submitting_participant_uid", "requests", "coverage"]]
    assert head_of(chosen) == list(chosen.columns)
    assert "Not shown" not in repr(chosen)
    monkeypatch.setenv("COLUMNS", "1000")
    assert head_of(participants) == list(participants.columns)


def test_values_are_those_of_the_result(participants):
    rows = [line.split() for line in repr(participants).splitlines()[1 : len(participants) + 1]]
    assert [row[2] for row in rows] == [str(cost) for cost in participants["total_traffic_cost"]]
    assert [row[4] for row in rows] == [str(number) for number in participants["requests"]]


def test_selected_and_sorted_rows_print_the_same_columns(participants):
    for rows in (
        participants.head(3),
        participants.query("requests > 1"),
        participants.sort_values("rejected"),
        participants[1:],
    ):
        assert head_of(rows) == head_of(participants)
        assert f"[{len(rows):,} rows x " in repr(rows)


def test_other_frames_print_as_pandas_does(participants):
    sums = participants.groupby("network", observed=True)[["requests", "rejected"]].sum()
    without_coverage = participants.drop(columns="coverage")
    for frame in (sums, without_coverage, participants.head(0), participants.describe()):
        assert repr(frame) == repr(pd.DataFrame(frame))


def test_a_result_without_rows_says_why(sample):
    found = lf.findings(sample)
    assert not len(found)
    for width in (60, 200):
        with pd.option_context("display.width", width):
            text = repr(found)
        assert " ".join(text.partition("\n\n")[0].split()) == found.attrs["sentence"]
        assert text.endswith(f"\n\n[0 rows x {len(found.columns)} columns]")
    assert found._repr_html_() == f"<p>{found.attrs['sentence']}</p>\n{pd.DataFrame(found)._repr_html_()}"
    with pd.option_context("display.notebook_repr_html", False):
        assert found._repr_html_() is None


def test_selected_rows_do_not_repeat_the_sentence_of_all(sample):
    found = lf.findings(sample)
    found.attrs |= {"rows": 3, "sentence": "3 findings."}
    assert repr(found) == repr(pd.DataFrame(found))
    assert found._repr_html_() == pd.DataFrame(found)._repr_html_()


def test_many_rows_print_as_few_as_pandas_prints(sample):
    result = lf.verdict.outcomes(sample, by="participant", every="1h")
    assert len(result) > 60
    assert len(repr(result).splitlines()) < 20
    with pd.option_context("display.max_rows", len(result)):
        assert len(repr(result).splitlines()) > len(result)


def test_a_result_is_a_dataframe_for_all_else(participants, tmp_path):
    assert isinstance(participants, pd.DataFrame)
    plain = pd.DataFrame(participants)
    pd.testing.assert_frame_equal(participants, plain)
    assert participants.equals(plain)
    assert participants._repr_html_() == plain._repr_html_()
    for again in (pickle.loads(pickle.dumps(participants)), copy.deepcopy(participants)):
        assert isinstance(again, ResultFrame)
        assert repr(again) == repr(participants)
    participants.to_parquet(tmp_path / "participants.parquet")
    assert pd.read_parquet(tmp_path / "participants.parquet").shape == participants.shape


def test_text_of_the_network_does_not_break_lines(sample):
    rows = lf.cost.spend(sample, by="participant").head(1)
    rows["submitting_participant_uid"] = "evil\nname\u2028\x1b[31m" + "x" * 200
    text = repr(rows)
    assert len(text.partition("\n\n")[0].splitlines()) == 2
    assert "\x1b" not in text
