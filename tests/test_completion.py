"""What the tab key offers in a notebook, the public names and nothing else, and what an editor shows of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import jedi
import pytest
from cases import every_nth
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager

import ledgerframes as lf
from ledgerframes import export, report, sandbox, testing

SAMPLE = Path(__file__).parents[1] / "data" / "sample"
SETUP = f"""
import ledgerframes as lf
from ledgerframes import export, report, sandbox, testing
net = lf.connect("sandbox", events=400, days=1)
frames = lf.open_frames({str(SAMPLE)!r})
day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
"""
MODULES = {
    **{f"lf.{name}": value for name in dir(lf) if isinstance(value := getattr(lf, name), ModuleType)},
    **{module.__name__.rpartition(".")[2]: module for module in (export, report, sandbox, testing)},
}
PUBLIC = [
    *(name for name in dir(lf) if not isinstance(getattr(lf, name), ModuleType)),
    *(
        f"{name.removeprefix('lf.')}.{each}"
        for name, module in MODULES.items()
        if name.startswith("lf.")
        for each in module.__all__
    ),
]
FUNCTIONS = [name for name in PUBLIC if name == "plot" or inspect.isfunction(attrgetter(name)(lf))]


class Kernel:
    """An IPython kernel, which is asked as a notebook asks it."""

    def __init__(self, directory: Path) -> None:
        self.manager = KernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[]), transport="ipc")
        self.manager.connection_file = str(directory / "kernel.json")
        self.manager.start_kernel(cwd=str(directory))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def run(self, code: str) -> dict[str, Any]:
        reply = self.client.execute_interactive(code, silent=True, store_history=False, user_expressions={}, timeout=120)
        assert reply["content"]["status"] == "ok", reply["content"]
        return dict(reply["content"])

    def value(self, expression: str) -> str:
        reply = self.client.execute(code="", silent=True, user_expressions={"value": expression}, reply=True, timeout=120)
        return str(reply["content"]["user_expressions"]["value"]["data"]["text/plain"])

    def complete(self, code: str) -> list[str]:
        reply = self.client.complete(code, reply=True, timeout=120)
        assert reply["content"]["status"] == "ok"
        return sorted(reply["content"]["matches"])

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    directory = tmp_path_factory.mktemp("kernel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(directory / "ipython"))
        patch.setenv("LEDGERFRAMES_STORE", str(directory / "store"))
        kernel = Kernel(directory)
    kernel.run(SETUP)
    yield kernel
    kernel.end()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_offers_its_public_names(kernel: Kernel, name: str) -> None:
    assert kernel.complete(f"{name}.") == sorted(MODULES[name].__all__)


def test_the_package_offers_its_public_names(kernel: Kernel) -> None:
    assert kernel.complete("lf.") == sorted(name for name in dir(lf) if name != "__version__")


@pytest.mark.parametrize("name", ["frames", "day", "net", "net.history", "net.ledger", "net.wallet", "net.store"])
def test_an_object_offers_its_public_names(kernel: Kernel, name: str) -> None:
    public = eval(kernel.value(f"sorted(name for name in dir({name}) if not name.startswith('_'))"))
    assert len(public) > 5
    assert kernel.complete(f"{name}.") == public


def test_frames_offer_their_tables_and_methods(kernel: Kernel) -> None:
    assert {"traffic", "verdicts", "population", "coverage", "where", "between"} <= set(kernel.complete("frames."))


def test_a_call_offers_its_arguments(kernel: Kernel) -> None:
    assert {"by=", "every=", "labels="} <= set(kernel.complete("lf.cost.spend(frames, "))
    assert {"since=", "until=", "after="} <= set(kernel.complete("lf.load_updates(net, "))


@pytest.mark.parametrize("name", every_nth(FUNCTIONS, 5))
def test_an_editor_shows_all_parameters_and_the_whole_docstring(name: str) -> None:
    """An editor reads the source and runs nothing."""
    function, script = attrgetter(name)(lf), jedi.Script(f"import ledgerframes as lf\nlf.{name}\nlf.{name}(\n")
    [seen] = script.infer(2, len(f"lf.{name}"))
    assert seen.docstring(raw=True) == inspect.getdoc(function)
    [signature, *others] = script.get_signatures(3, len(f"lf.{name}("))
    assert not others
    assert [each.name for each in signature.params] == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", every_nth([name for name in dir(lf) if name.startswith("load_")], 9))
def test_an_editor_sees_the_arguments_the_result_and_the_text_of_a_loader(name: str) -> None:
    """By the source alone, and in a notebook by the object."""
    loader = getattr(lf, name)
    code = f"import ledgerframes as lf\nlf.{name}("
    for script in (jedi.Script(code), jedi.Interpreter(code, [{"lf": lf}])):
        [signature] = script.get_signatures(2, len(f"lf.{name}("))
        assert [each.name for each in signature.params] == list(inspect.signature(loader).parameters)
        assert signature.docstring(raw=True).startswith((loader.__doc__ or "").partition("\n")[0])
    [shown] = jedi.Script(code).get_signatures(2, len(f"lf.{name}("))
    result = loader.__annotations__["return"]
    assert result in ("Frames", "pd.DataFrame") and shown.to_string().endswith(f" -> {result}")
