"""Each extra is optional: without it a load works, and what needs it says how to install it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from base_install import modules_of_base, modules_of_extras

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.installation import EXTRAS, extra_for

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
    assert declared == {module.lower(): extra for module, extra in EXTRAS.items()}


def test_a_load_needs_no_extra(tmp_path: Path) -> None:
    code = LOAD.format(modules=sorted(EXTRAS), store=str(tmp_path / "store"), frames=str(FRAMES))
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("module", "call", "message"),
    [
        ("matplotlib", lambda: lf.plot(lf.cost.spend(lf.open_frames(FRAMES), every="1h")), "requires matplotlib"),
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


ADVICE = re.compile(r"(?:ledgerframes: )?[\w.` ]+ requires \w+\. Install it with: pip install 'ledgerframes\[\w+\]'\.")
COMMANDS = """
import contextlib, io, json
from ledgerframes.cli import main
done = []
for command in {commands!r}:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(command.split())
    done.append([command, code, out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""
ENTRIES = """
import ledgerframes as lf
net = lf.connect(network="live", history_url="http://history.example")
frames = lf.open_frames({frames!r})
for code in {entries!r}:
    try:
        exec(code)
    except (lf.UsageError, ModuleNotFoundError) as error:
        print(error)
    else:
        print("No error:", code)
"""


def in_base_install(code: str) -> str:
    script = str(Path(__file__).with_name("base_install.py"))
    done = subprocess.run([sys.executable, script, ",".join(modules_of_extras()), code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported_modules() -> Iterator[str]:
    """Yield the top-level modules that the package imports."""
    for path in (ROOT / "ledgerframes").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield (node.module or "").partition(".")[0]


def test_every_imported_module_is_of_the_base_installation_or_has_its_extra() -> None:
    imported = set(imported_modules()) - sys.stdlib_module_names - {"ledgerframes", "_typeshed"}
    assert imported - modules_of_base() <= EXTRAS.keys()


NEED_AN_EXTRA = [
    "state parties", "export traffic --to traffic.csv", "doctor", "doctor --profile sandbox", "lab",
    "sync events --during yesterday", "sync updates", "sync bulk", "sync price-votes", "sync name-rules", "store info",
    "store compact", "store verify", "store prune --before 2026-01-01", "store recheck", "store rebuild",
    "report run traffic-cost --during last-week", "sandbox --port 5999",
]  # fmt: skip
NEED_NONE = ["--help", "tables traffic", "report list", "lab --print-dir"]


def test_every_command_names_the_extra_that_it_needs_and_the_others_work_without() -> None:
    done = json.loads(in_base_install(COMMANDS.format(commands=[*NEED_NONE, *NEED_AN_EXTRA])))
    working, refused = done[: len(NEED_NONE)], done[len(NEED_NONE) :]
    assert [(command, exit_code) for command, exit_code, *_ in working] == [(command, 0) for command in NEED_NONE]
    assert [command for command, *_ in refused] == NEED_AN_EXTRA
    for command, exit_code, out, err in refused:
        assert (exit_code, out) == (2, ""), command
        assert ADVICE.fullmatch(err.strip()), (command, err)


def test_every_public_entry_names_the_extra_that_it_needs() -> None:
    entries = [
        "lf.connect()",
        "lf.connect('sandbox', seed=3)",
        "from ledgerframes.sandbox import Faults",
        "from ledgerframes.sandbox import Sandbox, serve",
        "lf.plot(lf.cost.spend(frames, every='1h'))",
        "from ledgerframes.report import run_report; run_report('traffic-cost', net=net, out='reports', during='yesterday')",
    ]
    errors = in_base_install(ENTRIES.format(frames=str(FRAMES), entries=entries)).splitlines()
    assert len(errors) == len(entries)
    assert [error for error in errors if not ADVICE.fullmatch(error)] == []


def test_the_readme_names_the_extras_that_there_are() -> None:
    sentence = re.search(r"The extra `(\w+)` adds .*? The others are (.*?)\.", (ROOT / "README.md").read_text(), re.DOTALL)
    assert sentence
    assert {sentence[1], *re.findall(r"`(\w+)`", sentence[2])} == set(metadata.metadata("ledgerframes").get_all("Provides-Extra"))
