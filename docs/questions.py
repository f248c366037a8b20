"""The pages of questions and of notebooks, made from questions.toml and from the notebooks."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DECLARATION = HERE.parent / "ledgerframes" / "analysis" / "questions.toml"
NOTEBOOKS = HERE.parent / "notebooks"
CALL = re.compile(r"\blf\.([\w.]+)\(")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)

QUESTIONS_INTRODUCTION = """\
# Questions

Find your question, and copy its calls. `lf.questions("balance")` finds it in a notebook. The examples run on the sandbox, one
after the other. For another network, replace the profile and the windows of the first block:
"""

NOTEBOOKS_INTRODUCTION = """\
# Notebooks

Run the notebooks as a course, each from top to bottom. `ledgerframes lab` opens JupyterLab on a copy of them. Without
configuration they read the sandbox, otherwise the profile in `LEDGERFRAMES_PROFILE`.
"""
ALONE = "Without configuration, this notebook reads the embedded sandbox, otherwise the profile in `LEDGERFRAMES_PROFILE`."


@dataclass(frozen=True)
class Question:
    """A question, and where its answer is.

    Attributes
    ----------
    question
        The question of a user.
    page
        Page that says more.
    example
        Lines of Python that answer it.
    notebook, heading
        Notebook and heading of the cell that answers it.
    limit
        One sentence on what the APIs do not hold.
    """

    question: str
    page: str
    example: str = ""
    notebook: str = ""
    heading: str = ""
    limit: str = ""

    @property
    def calls(self) -> list[str]:
        """The public functions of the example, without the call that draws, each once."""
        return [name for name in dict.fromkeys(CALL.findall(self.example)) if name != "plot"]


@dataclass(frozen=True)
class Topic:
    """A title and its questions."""

    title: str
    questions: list[Question]


@cache
def declaration() -> tuple[str, list[Topic]]:
    """Return the lines that all examples start from, and the topics. Raise ValueError for what does not exist."""
    document = tomllib.loads(DECLARATION.read_text(encoding="utf-8"))
    topics = [Topic(topic["title"], [Question(**each) for each in topic["questions"]]) for topic in document["topics"]]
    for topic in topics:
        for question in topic.questions:
            check(question)
    return document["setup"], topics


def check(question: Question) -> None:
    """Raise ValueError if a question has no answer, or names a call, a notebook, a heading or a page that does not exist."""
    import ledgerframes as lf

    text = question.question
    if not question.example and not question.limit:
        raise ValueError(f"{text!r} has neither an example nor a limit.")
    for name in question.calls:
        try:
            reduce(getattr, name.split("."), lf)
        except AttributeError:
            raise ValueError(f"{text!r} calls lf.{name}, which does not exist.") from None
    if question.notebook and question.heading not in headings(question.notebook):
        raise ValueError(f"{text!r} names the heading {question.heading!r}, which {question.notebook} does not have.")
    if not (HERE / question.page).is_file():
        raise ValueError(f"{text!r} names the page {question.page}, which does not exist.")


def markdown_cells(notebook: str) -> list[str]:
    """Return the Markdown cells of a notebook."""
    path = NOTEBOOKS / f"{notebook}.ipynb"
    if not path.is_file():
        raise ValueError(f"There is no notebook {notebook}.")
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def headings(notebook: str) -> list[str]:
    """Return the headings of a notebook, its title first."""
    return [heading.strip() for cell in markdown_cells(notebook) for heading in HEADING.findall(cell)]


def questions_page() -> str:
    """Return the page of questions."""
    setup, topics = declaration()
    parts = [QUESTIONS_INTRODUCTION.rstrip(), example_block(setup)]
    for topic in topics:
        rows = [f"| {linked_question(each)} | {calls_cell(each)} |" for each in topic.questions]
        parts.append("\n".join([f"**{topic.title}**", "", "| question | calls |", "| --- | --- |", *rows]))
    for topic in topics:
        parts += [f"## {topic.title}", *(section(each) for each in topic.questions)]
    return "\n\n".join(parts) + "\n"


def linked_question(question: Question) -> str:
    """Return a question as a link to its section."""
    return f"[{question.question}](#{slug_of(question.question)})"


def slug_of(heading: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")


def calls_cell(question: Question) -> str:
    """Return the calls of a question for the overview."""
    return ", ".join(f"`lf.{name}`" for name in question.calls) or "none"


def section(question: Question) -> str:
    """Return one question with its example, notebook, limit and page."""
    parts = [f"### {question.question}"]
    if question.example:
        parts.append(example_block(question.example))
    if question.limit:
        parts.append(question.limit)
    parts.append("\n".join(places(question)))
    return "\n\n".join(parts)


def places(question: Question) -> list[str]:
    """Return the list items that lead to the notebook and the page of a question."""
    items = []
    if question.notebook:
        items.append(f'- Notebook: {notebook_link(question.notebook)}, "{question.heading}"')
    items.append(f"- More: [{title_of(question.page)}]({question.page})")
    return items


def notebook_link(notebook: str) -> str:
    """Return the link to a notebook."""
    return f"[{notebook}](../notebooks/{notebook}.ipynb)"


def title_of(page: str) -> str:
    """Return the title of a page."""
    title = HEADING.search((HERE / page).read_text(encoding="utf-8"))
    if title is None:
        raise ValueError(f"{page} has no heading.")
    return title[1]


def example_block(code: str) -> str:
    """Return lines of Python as at the prompt, so that the tests of the pages run them."""
    lines = [f"{'...' if line[0] in ' )]}' else '>>>'} {line}" for line in code.strip().splitlines()]
    return "\n".join(["```python", *lines, "", "```"])


def notebooks_page() -> str:
    """Return the page of notebooks, each with its introduction, its headings and the questions that it answers."""
    _, topics = declaration()
    parts = [NOTEBOOKS_INTRODUCTION.rstrip()]
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        title, *sections = headings(path.stem)
        introduction = markdown_cells(path.stem)[0].partition("\n")[2].replace(ALONE, "").strip()  # the page says it once
        introduction = introduction.replace("This page", "The notebook")  # which is a page in a report
        answered = [each for topic in topics for each in topic.questions if each.notebook == path.stem]
        parts += [f"## {title}", introduction, f"Notebook: {notebook_link(path.stem)}. Sections: {' · '.join(sections)}"]
        if answered:
            parts.append("\n".join(f"- [{each.question}](questions.md#{slug_of(each.question)})" for each in answered))
    return "\n\n".join(parts) + "\n"
