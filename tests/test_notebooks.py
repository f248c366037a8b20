"""Every notebook runs from top to bottom, and is committed without outputs."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import nbformat
import pytest
from cases import only
from nbclient import NotebookClient

from ledgerframes.report import REPORTS, notebooks_dir
from ledgerframes.report.notebook import code_cells, read_notebook, tags

NOTEBOOKS = sorted(notebooks_dir().glob("*.ipynb"))
LONGEST_DEF = 5
LONGEST_CELL = 5
WORDS_PER_MINUTE = 200
WORLD = {"LEDGERFRAMES_EVENTS": "2000", "LEDGERFRAMES_DAYS": "8"}

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
# The tests of reports run theirs from top to bottom, over frozen data, and the calls of the others are those of docstrings.
TO_RUN = only(lambda path: path.name == "01_first_frames.ipynb", NOTEBOOKS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of all notebooks, as a user has one: what a notebook loaded, the next ones read."""
    return tmp_path_factory.mktemp("store")


@pytest.mark.loopback
@pytest.mark.parametrize("path", TO_RUN, ids=[path.stem for path in NOTEBOOKS])
def test_runs_from_top_to_bottom(path: Path, store: Path, tmp_path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    environment = {**os.environ, **WORLD, "LEDGERFRAMES_STORE": str(store), "IPYTHONDIR": str(tmp_path / "ipython")}
    # A kernel whose notebook is done has nothing left to do, and to end Python in order takes most of a second.
    client = NotebookClient(book, kernel_name="python3", timeout=900, shutdown_kernel="immediate")
    client.execute(env=environment, cwd=str(tmp_path))
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output.text for output in outputs if output.get("name") == "stderr"], "warnings, or progress line by line"
    progress = [text for output in outputs if (text := output.get("data", {}).get("text/plain", "")).startswith("Fetch")]
    assert all(text.startswith("Fetched ") for text in progress)


@each_notebook
def test_is_committed_without_outputs(path: Path) -> None:
    book = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(book)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    assert book.metadata.kernelspec.name == "python3"
    for cell in book.cells:
        assert cell.cell_type == "markdown" or (cell.outputs == [] and cell.execution_count is None)
        assert "execution" not in cell.metadata


@each_notebook
def test_has_no_long_functions(path: Path) -> None:
    code = "\n".join(cell["source"] for cell in code_cells(read_notebook(path)))
    long = [
        node.name
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef) and len(ast.unparse(node).splitlines()) > LONGEST_DEF
    ]
    assert long == []


@each_notebook
def test_opens_with_a_title_and_reports_have_their_parameters(path: Path) -> None:
    book = read_notebook(path)
    assert book["cells"][0]["source"].startswith("# ")
    report = next((report for report in REPORTS.values() if report.notebook == path.name), None)
    if report:
        (cell,) = [cell for cell in book["cells"] if "parameters" in tags(cell)]
        names = {target.id for node in ast.parse(cell["source"]).body for target in node.targets}  # type: ignore[attr-defined]
        assert names == {"since", "until", "during", *report.parameters.model_fields}


@each_notebook
def test_code_cells_are_short_enough_to_copy(path: Path) -> None:
    book = read_notebook(path)
    assert [cell["source"] for cell in code_cells(book) if len(cell["source"].splitlines()) > LONGEST_CELL] == []


@each_notebook
def test_the_text_is_read_in_five_minutes(path: Path) -> None:
    texts = [cell["source"] for cell in read_notebook(path)["cells"] if cell["cell_type"] == "markdown"]
    assert len(re.findall(r"\w+", " ".join(texts))) <= 5 * WORDS_PER_MINUTE


@each_notebook
def test_ends_with_the_lines_for_another_network(path: Path) -> None:
    last = read_notebook(path)["cells"][-1]["source"]
    assert last.startswith("## Now with your network")
    (code,) = re.findall(r"```python\n(.*?)\n```", last, re.DOTALL)
    ast.parse(code)
    assert len(code.splitlines()) == 3


@each_notebook
def test_runs_where_each_name_is_of_one_cell(path: Path) -> None:
    """Some notebooks find the order of cells by their names, and have no functions of IPython."""
    cells = [ast.parse(cell["source"]) for cell in code_cells(read_notebook(path))]
    names = [{node.id for node in ast.walk(cell) if isinstance(node, ast.Name)} for cell in cells]
    if path.stem in ("02_traffic_cost", "03_verdicts"):
        assert not [each for each in names if "display" in each]
        changed = [name for cell in cells for name in sorted(names_of(cell))]
        assert len(changed) == len(set(changed)), changed


def names_of(cell: ast.Module) -> set[str]:
    """The names that a cell defines, without those inside of a comprehension."""
    stores = [node for node in ast.walk(cell) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    inner = [node for each in ast.walk(cell) if isinstance(each, ast.comprehension) for node in ast.walk(each.target)]
    return {node.id for node in stores if node not in inner}
