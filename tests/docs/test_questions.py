"""Each question is answered by calls, plots, cells and pages that exist. The tests of pages run the examples."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

GOOD = {"question": "How much?", "page": "times-and-costs.md", "example": "costs = lf.cost.spend(frames)"}
NUMBER_OF_QUESTIONS = 41


def test_every_question_is_declared_once(questions: ModuleType) -> None:
    _, topics = questions.declaration()
    texts = [each.question for topic in topics for each in topic.questions]
    assert len(texts) == len(set(texts)) == NUMBER_OF_QUESTIONS
    assert all(text.endswith("?") for text in texts)


def test_a_good_question_passes(questions: ModuleType) -> None:
    questions.check(questions.Question(**GOOD, notebook="02_traffic_cost", heading="What is wasted?"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"example": ""}, "neither an example nor a limit"),
        ({"example": "costs = lf.cost.spendings(frames)"}, "lf.cost.spendings"),
        ({"example": "ax = lf.plot.cost_spend(costs)"}, "lf.plot.cost_spend"),
        ({"notebook": "02_traffic_cost", "heading": "Wastes"}, "the heading 'Wastes'"),
        ({"notebook": "02_traffic_cost"}, "the heading ''"),
        ({"notebook": "00_none", "heading": "What is wasted?"}, "no notebook 00_none"),
        ({"page": "none.md"}, "the page none.md"),
    ],
)
def test_an_answer_that_does_not_exist_is_an_error(questions: ModuleType, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        questions.check(questions.Question(**{**GOOD, **change}))


def test_the_page_shows_calls_notebook_and_limit(questions: ModuleType) -> None:
    question = questions.Question(
        question="Which cost?",
        page="times-and-costs.md",
        example="costs = lf.cost.spend(\n    frames\n)\nax = lf.plot(costs)",
        notebook="02_traffic_cost",
        heading="What is wasted?",
        limit="No route returns it.",
    )
    text = questions.section(question)
    assert ">>> costs = lf.cost.spend(\n...     frames\n... )\n>>> ax = lf.plot(costs)\n" in text
    assert '[02_traffic_cost](../notebooks/02_traffic_cost.ipynb), "What is wasted?"' in text
    assert "\n\nNo route returns it.\n\n" in text
    assert questions.calls_cell(question) == "`lf.cost.spend`"


def test_the_page_of_notebooks_reads_as_one_text(questions: ModuleType) -> None:
    page = questions.notebooks_page()
    assert page.count("`LEDGERFRAMES_PROFILE`") == 1
    assert "?," not in page and "What did it cost? · Who pays?" in page


def test_every_notebook_has_its_questions(questions: ModuleType) -> None:
    page = questions.notebooks_page()
    for path in questions.NOTEBOOKS.glob("*.ipynb"):
        assert f"(../notebooks/{path.name})" in page
