"""Each extra is optional: without it a load works, and what needs it says how to install it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.extras import EXTRAS, extra_for

ROOT = Path(__file__).parents[1]
FRAMES = ROOT / "data" / "sample"
LOAD = """
import sys
sys.modules.update(dict.fromkeys({modules!r}))  # importing any of them fails
import httpx
import ledgerframes as lf
empty = httpx.MockTransport(lambda request: httpx.Response(200, json={{"events": []}}))
net = lf.connect(network="live", history_url="http://history.example", store={store!r}, transport=empty)
assert lf.load_events(net, since="2026-01-01", until="2026-01-02", progress=False).traffic.empty
assert len(lf.open_frames({frames!r}).traffic)
"""


def distribution(requirement: str) -> str:
    return requirement.partition(">=")[0].replace("-", "_")


def test_every_optional_dependency_has_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {
        distribution(requirement): extra
        for extra, requirements in project["optional-dependencies"].items()
        for requirement in requirements
        if not requirement.startswith("ledgerframes[") and extra != "all"
    }
    declared.pop("ipywidgets")  # no code imports it: progress bars find it by themselves
    assert declared == EXTRAS


def test_a_load_needs_no_extra(tmp_path: Path) -> None:
    code = LOAD.format(modules=sorted(EXTRAS), store=str(tmp_path / "store"), frames=str(FRAMES))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("module", "call", "message"),
    [
        ("duckdb", lambda: lf.sql(lf.connect(network="live"), "select 1"), "lf.sql requires duckdb"),
        ("matplotlib", lambda: lf.plot.cost_spend(lf.cost.spend(lf.open_frames(FRAMES), every="1h")), "requires matplotlib"),
        ("ledgerframes.sandbox", lf.connect, None),
        ("flask", lambda: lf.connect("sandbox", seed=3, events=40, days=1), "The sandbox requires flask"),
    ],
)
def test_what_is_missing_is_named(
    module: str, call: Callable[[], object], message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module or name.startswith("ledgerframes.sandbox")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    if message is None:
        with pytest.raises(ModuleNotFoundError, match="sandbox"):  # a module of this package is never an extra
            call()
        return
    with pytest.raises(UsageError, match=rf"{message}\. Install it with: pip install 'ledgerframes\["):
        call()


def test_other_modules_are_not_extras() -> None:
    with pytest.raises(ModuleNotFoundError), extra_for("x"):
        raise ModuleNotFoundError("No module named 'nothing'", name="nothing")
