"""The declarations of network.txt: each compiles, names what exists, and is used."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from ledgerframes.sandbox import Sandbox, transactions
from ledgerframes.sandbox.transactions.declarations import CHOICES, KINDS, TEMPLATES, View
from ledgerframes.sandbox.transactions.kinds import FUNCTIONS

ENCODINGS = ("compact_json", "protobuf_json", "ledger_json")
SOURCES = "".join(
    file.read_text(encoding="utf-8") for file in files(transactions).iterdir() if file.name.endswith((".py", ".txt"))
)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_declaration_compiles(box: Sandbox, encoding: str) -> None:
    constants = box.world.constants(encoding)
    assert all(constants.payload(name) for name, spec in TEMPLATES.items() if spec.payload)
    assert all(constants.tree(name)[0].argument for name in CHOICES)
    assert all(constants.tree(kind.tree) for kind in KINDS.values() if kind.tree)


def test_every_function_exists() -> None:
    for kind in KINDS.values():
        assert all(callable(FUNCTIONS[function]) for _, function, *_ in (*kind.roles, *kind.content))
        assert not kind.stands_for or callable(FUNCTIONS[kind.stands_for])


def test_every_choice_is_exercised() -> None:
    unused = [name for name in CHOICES if len(re.findall(re.escape(name) + r"(?![\w/])", SOURCES)) == 1]
    assert not unused


def test_views_are_read_from_their_notation() -> None:
    inner = [View(["buyer", "wallet"], [], [], [], [View(["dso", "buyer"], [], [], [], [])])]
    inner.append(View(["seller", "issuer"], [], ["buyer"], [], []))
    inner.append(View(["operator", "leg"], [], ["issuer"], ["leg", "legs"], []))
    assert KINDS["settlement"].views == [View(["operator"], [], ["buyer", "seller"], [], inner)]
    assert KINDS["confirmation"].views == [View(["dso", "sv"], ["second"], [], [], [])]
    assert KINDS["app batch"].views[0].children[0].each == ["customer", "customers"]
    assert len(KINDS["name entry"].views) == 2
