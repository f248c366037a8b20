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


@pytest.fixture(scope="session")
def generated_pages(generate: ModuleType) -> dict[str, str]:
    pages: dict[str, str] = generate.pages()
    return pages


@pytest.fixture(scope="session")
def questions(generate: ModuleType) -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        return importlib.import_module("questions")
