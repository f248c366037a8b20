"""The pages of Python names: one per public module, whose docstrings Sphinx reads."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

import ledgerframes as lf

# Modules with names of their own beyond `lf`, and the clients of the three APIs.
MODULES = ("errors", "json_logs", "report", "sandbox", "testing", "api.history", "api.ledger", "api.wallet")
INTRODUCTION = """\
# Python names

What `dir()` lists of these modules is public. `help(name)` shows the same texts. `lf` is `import ledgerframes as lf`.

| module | content |
| --- | --- |
{rows}

```{{toctree}}
:hidden:

{pages}
```
"""
PAGE = """\
# {title}

```{{eval-rst}}
.. automodule:: {module}
   :members:{imported}
   :inherited-members: object, Exception
   :exclude-members: {excluded}
{more}```
"""
# Constants have no docstring, so no member of a module is one of them.
CONSTANTS = {
    "lf": {"TABLES": "All tables by name. :func:`table` returns one of them."},
    "ledgerframes.report": {
        "HEADLINE": "The figures that rules can name, and what each of them is.",
        "REPORTS": "All reports by name.",
    },
    "ledgerframes.api.history": {"ValueEncoding": "How payloads are written: `compact_json` or `protobuf_json`."},
    "ledgerframes.testing": {"START": "The time of the first row of a sample."},
}
# Types that users hold, but do not import.
RETURNED = {
    "lf": ("ledgerframes.anatomies.Anatomy",),
    "lf.reconcile": (
        "ledgerframes.analysis.reconcile._reward_tree.RewardTree",
        "ledgerframes.analysis.reconcile._reward_tree.RewardProof",
    ),
}
CONSTANT = "\n.. py:data:: {name}\n\n   {text}\n"
CALLABLES = {"lf": ("plot",)}  # instances whose call is documented
CLASS = "\n.. autoclass:: {path}\n   :members:\n"
CALLABLE = "\n.. autofunction:: {module}.{name}\n"


def public_modules() -> dict[str, ModuleType]:
    """Return the public modules by the name that users write."""
    figures = {f"lf.{name}": getattr(lf, name) for name in dir(lf) if name != "errors" and inspect.ismodule(getattr(lf, name))}
    return {"lf": lf, **figures, **{f"ledgerframes.{name}": importlib.import_module(f"ledgerframes.{name}") for name in MODULES}}


def public_names(module: ModuleType) -> list[str]:
    """Return the names of a module that no other page has."""
    return [name for name in listed(module) if name != "__version__" and not inspect.ismodule(getattr(module, name))]


def listed(module: ModuleType) -> list[str]:
    """Return the public names of a module, with those of modules."""
    return dir(lf) if module is lf else list(module.__all__)


def reference_pages() -> dict[str, str]:
    """Return the page of each public module, and their index, by file name."""
    modules = public_modules()
    pages = {f"reference/{page_of(title)}.md": page(title, module) for title, module in modules.items()}
    rows = "\n".join(f"| [`{title}`]({page_of(title)}.md) | {summary_of(module)} |" for title, module in modules.items())
    pages["reference/index.md"] = INTRODUCTION.format(rows=rows, pages="\n".join(map(page_of, modules)))
    return pages


def page(title: str, module: ModuleType) -> str:
    """Return the page of one module."""
    callables = CALLABLES.get(title, ())
    excluded = ", ".join(sorted({*listed(module)} - {*public_names(module)} | {*callables}))
    more = "".join(CONSTANT.format(name=name, text=text) for name, text in CONSTANTS.get(title, {}).items())
    more += "".join(CALLABLE.format(module=module.__name__, name=name) for name in callables)
    more += "".join(CLASS.format(path=path) for path in RETURNED.get(title, ()))
    imported = "\n   :imported-members:" if module is lf else ""  # the package alone has no __all__
    return PAGE.format(title=title, module=module.__name__, imported=imported, excluded=excluded, more=more)


def page_of(title: str) -> str:
    """Return the name of a page."""
    return title.replace(".", "-")


def summary_of(module: ModuleType) -> str:
    """Return the first sentence of a module."""
    return " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split()).replace("``", "`")
