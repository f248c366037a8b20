"""Reports from notebooks of a user's own."""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, create_model

from ledgerframes.errors import UsageError
from ledgerframes.report.notebook import read_notebook, tags

WINDOW = ("during", "since", "until")
PARAMETER_TYPES = (bool, int, float, str)


def parameter_model(path: Path) -> type[BaseModel]:
    """Return the parameters that a notebook sets, as a model with their defaults."""
    defaults = _defaults(path)
    missing = [name for name in WINDOW if name not in defaults]
    if missing:
        raise _invalid_error(path, f"has no parameter {missing[0]}, but a report needs {', '.join(WINDOW)}")
    fields: dict[str, Any] = {}
    for name, value in defaults.items():
        if name in WINDOW:
            continue
        if type(value) not in PARAMETER_TYPES:
            raise _invalid_error(path, f"has the parameter {name} = {value!r}, which is neither text, number nor boolean")
        # Without the prefix, a name such as json would hide that of a method of models.
        fields[f"parameter_{name}"] = (type(value), Field(default=value, alias=name))
    model: type[BaseModel] = create_model("Parameters", **fields)
    return model


def report_name(path: Path) -> str:
    """Return the name of a notebook's report, which is a safe directory name.

    Where letters are lost, a digest keeps two notebooks apart.

    >>> report_name(Path("Weekly cost.ipynb"))
    'weekly-cost'
    >>> report_name(Path("Küche.ipynb")), report_name(Path("Kasse.ipynb"))
    ('k-che-a9ec87', 'kasse')
    """
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
    if not name or name == "latest":
        raise _invalid_error(path, "has a name without letters and digits, or the name latest")
    is_whole = path.stem.isascii()
    return name if is_whole else f"{name}-{hashlib.sha256(path.stem.encode()).hexdigest()[:6]}"


def _defaults(path: Path) -> dict[str, Any]:
    try:
        cells = read_notebook(path)["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _invalid_error(path, f"cannot be read: {error}") from None
    sources = [cell["source"] for cell in cells if "parameters" in tags(cell)]
    if len(sources) != 1:
        raise _invalid_error(path, f"has {len(sources)} cells tagged parameters, but a report needs exactly one")
    try:
        return dict(pair for statement in ast.parse(sources[0]).body for pair in _assignments(statement))
    except (SyntaxError, ValueError):
        raise _invalid_error(
            path, "must only set names to texts, numbers, booleans and None in its cell tagged parameters"
        ) from None


def _assignments(statement: ast.stmt) -> list[tuple[str, Any]]:
    """Return the names that a statement sets, each with its literal value. No code runs."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if not isinstance(statement, ast.Assign) or len(names) < len(targets):
        raise ValueError("not an assignment to names")
    return [(name, ast.literal_eval(statement.value)) for name in names]


def _invalid_error(path: Path, reason: str) -> UsageError:
    return UsageError(f"The notebook {path} {reason}. Use notebooks/02_traffic_cost.ipynb as an example.")
