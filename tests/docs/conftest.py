"""The modules that write the generated pages."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="session")
def generate() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        return importlib.import_module("generate")


@pytest.fixture(scope="session", autouse=True)
def written_pages(generate: ModuleType) -> None:
    """The pages that are not in the repository."""
    generate.write()


@pytest.fixture(scope="session")
def questions(generate: ModuleType) -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        return importlib.import_module("questions")


@pytest.fixture(scope="session")
def gallery() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        return importlib.import_module("gallery")
