"""Templates, choices and kinds of transactions: each compiles and is used."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import pytest

from ledgerframes.sandbox import Sandbox, payloads, transactions
from ledgerframes.sandbox.cases import PLANTED_REQUEST
from ledgerframes.sandbox.schedule import PRIVATE_KIND, Scheduled
from ledgerframes.sandbox.script import REQUEST, STATE_CHANGE
from ledgerframes.sandbox.transactions.choices import apps, coin, governance, rewards, rounds, wallet
from ledgerframes.sandbox.transactions.draft import View
from ledgerframes.sandbox.transactions.kinds import KINDS, WEIGHTS
from ledgerframes.sandbox.transactions.kinds import apps as app_kinds
from ledgerframes.sandbox.transactions.kinds import network as network_kinds
from ledgerframes.sandbox.transactions.kinds import users as user_kinds
from ledgerframes.sandbox.transactions.specs import ChoiceSpec, exercise
from ledgerframes.sandbox.transactions.templates import TEMPLATES
from ledgerframes.sandbox.transactions.templates import apps as templates

ENCODINGS = ("compact_json", "protobuf_json", "ledger_json")
CHOICES = {
    name: declared
    for module in (apps, coin, governance, rewards, rounds, wallet)
    for name, declared in vars(module).items()
    if isinstance(declared, ChoiceSpec)
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_declaration_compiles(box: Sandbox, encoding: str) -> None:
    constants = box.world.constants(encoding)
    assert all(constants.payload(template) for template in TEMPLATES)
    assert all(constants.tree((exercise(choice),))[0].argument for choice in CHOICES.values())
    assert all(constants.tree((*kind.tree,)) for kind in KINDS.values() if kind.tree)


def test_every_choice_is_exercised() -> None:
    users = [file for folder in ("", "kinds") for file in files(transactions).joinpath(folder).iterdir()]
    sources = "".join(file.read_text(encoding="utf-8") for file in users if file.name.endswith(".py"))
    assert not [name for name in CHOICES if not re.search(rf"exercise\(\s*{name}\b|choice = .*\b{name}\b", sources)]


def test_every_planned_event_has_a_kind() -> None:
    scheduled = {*Scheduled, PLANTED_REQUEST, PRIVATE_KIND, REQUEST, STATE_CHANGE}
    steps = {user_kinds.OFFER_ACCEPTANCE.name, user_kinds.OFFER_COMPLETION.name}  # of a waiting offer
    assert {*KINDS} == {*WEIGHTS, *scheduled, *steps}


def test_a_kind_draws_the_party_that_submits_it() -> None:
    by_others = {user_kinds.OFFER_STEP, user_kinds.OFFER_ACCEPTANCE, user_kinds.OFFER_COMPLETION, user_kinds.TOKEN_MINT}
    assert {kind for kind in KINDS.values() if kind.submitter not in kind.roles} == by_others


def test_the_example_of_the_guide_is_true() -> None:
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## Add a kind of transaction")
    template, choice, kind = map(dedent, re.findall(r"```python\n(.*?)```", section.partition("\n## ")[0], re.DOTALL))
    names = {**vars(payloads), **vars(templates)}
    exec(template, names)
    names |= {"apps": SimpleNamespace(STAMP=names["STAMP"]), **vars(apps)}
    exec(choice, names)
    names |= {**vars(app_kinds), "apps": names["apps"]}
    exec(kind, names)
    assert names["STAMP"].tree[0].choice is names["VENUE_STAMP"]


def test_views_say_who_confirms_and_who_is_informed() -> None:
    inner = [
        View(["buyer", "wallet"], children=[View(["dso", "buyer"])]),
        View(["seller", "issuer"], informees=["buyer"]),
        View(["operator", "leg"], informees=["issuer"], each=("leg", "legs")),
    ]
    assert app_kinds.SETTLEMENT.views == [View(["operator"], informees=["buyer", "seller"], children=inner)]
    assert network_kinds.CONFIRMATION.views == [View(["dso", "sv"], quorum=["second"])]
    assert len(user_kinds.NAME_ENTRY.views) == 2
