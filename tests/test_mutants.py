"""The planted errors are declared as the modules are now. `make mutants` runs them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def mutants() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


def test_every_error_can_be_planted(mutants: ModuleType) -> None:
    for mutant in mutants.read_mutants():
        text = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.before) == 1, mutant.name
        assert mutant.after != mutant.before, mutant.name


def test_every_error_has_a_name_of_its_own_and_tests_that_exist(mutants: ModuleType) -> None:
    declared = mutants.read_mutants()
    assert len({mutant.name for mutant in declared}) == len(declared) >= 30
    for mutant in declared:
        assert mutant.tests, mutant.name
        for test in mutant.tests:
            path, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8"), test


def test_an_error_that_does_not_fit_its_module_is_refused(mutants: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("a = 1\nb = 1\n", encoding="utf-8")
    mutants.Mutant("m", "", "module.py", "a = 1", "a = 2", []).plant(tmp_path)
    assert (tmp_path / "module.py").read_text(encoding="utf-8") == "a = 2\nb = 1\n"
    with pytest.raises(ValueError, match=r"occurs 0 times in module\.py"):
        mutants.Mutant("m", "", "module.py", "a = 1", "a = 2", []).plant(tmp_path)
