"""The files of notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NotRequired, TypedDict

FORMAT = 4


class Cell(TypedDict):
    """A cell, of which only code has outputs."""

    cell_type: str
    source: str
    metadata: dict[str, Any]
    outputs: NotRequired[list[dict[str, Any]]]


class Notebook(TypedDict):
    """A notebook, of which reports need only the cells."""

    cells: list[Cell]


def read_notebook(path: Path) -> Notebook:
    """Return the notebook in a file.

    Raises
    ------
    ValueError
        If the file is not a notebook of version 4, as all programs have written since 2015.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(document, dict) or document.get("nbformat") != FORMAT:
        raise ValueError(f"it is not a notebook of version {FORMAT}. Open it in JupyterLab and save it")
    return {"cells": [_cell(each) for each in document["cells"]]}


def _cell(document: dict[str, Any]) -> Cell:
    source = document["source"]
    text = source if isinstance(source, str) else "".join(source)
    cell: Cell = {"cell_type": document["cell_type"], "source": text, "metadata": document["metadata"]}
    if cell["cell_type"] == "code":
        cell["outputs"] = document["outputs"]
    return cell


def code_cells(book: Notebook) -> list[Cell]:
    """Return the cells with code, in order."""
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def tags(cell: Cell) -> set[str]:
    """Return the tags of a cell."""
    return set(cell["metadata"].get("tags", ()))
