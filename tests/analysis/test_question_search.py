"""`lf.questions` finds what a user asks, and returns lines to copy."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from matplotlib import pyplot

import ledgerframes as lf
from ledgerframes.errors import UsageError


def test_all_questions_have_lines_to_copy_or_say_what_no_api_holds() -> None:
    frame = lf.questions()
    assert frame["question"].is_unique
    assert ((frame["example"] != "") | (frame["limit"] != "")).all()
    for example in [frame.attrs["setup"], *frame["example"]]:
        ast.parse(example)


@pytest.mark.parametrize("words", ["rejected", "REJECTED", "lf.verdict"])
def test_words_are_looked_for_in_questions_and_calls(words: str) -> None:
    found = lf.questions(words)
    texts = found["topic"] + found["question"] + found["example"]
    assert 0 < len(found) < len(lf.questions())
    assert texts.str.lower().str.contains(words.lower(), regex=False).all()


def test_who_pays_is_a_question() -> None:
    (example,) = lf.questions("who pays")["example"]
    assert 'lf.cost.spend(frames, by="participant")' in example


def test_what_users_paid_has_failed_commands() -> None:
    (example,) = lf.questions("user of my participant")["example"]
    names: dict[str, Any] = {"lf": lf, "own": lf.connect("sandbox", events=600, days=1)}
    exec(example, names)
    pyplot.close("all")  # of the last line
    completions, paid = names["completions"], names["paid"]
    assert completions["user_id"].notna().all() and paid.sum() == completions["paid_traffic_cost"].sum()
    is_accepted = completions["status_code"] == 0
    assert 0 < completions.loc[is_accepted, "paid_traffic_cost"].sum() < paid.sum()


def test_unknown_words_find_no_row_and_keep_the_columns() -> None:
    found = lf.questions("no such words [(")
    assert found.empty
    assert list(found) == list(lf.questions())


def test_a_search_that_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match="search= must be words"):
        lf.questions(3)  # type: ignore[arg-type]
