from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.api.update_format import event_format, update_format
from ledgerframes.errors import UsageError

PACKAGE_ID = "ab" * 32
BLOB = {"includeCreatedEventBlob": False}


def identified(kind: str, **content: Any) -> dict[str, Any]:
    return {"identifierFilter": {kind: {"value": content}}}


def test_default_is_everything_of_everyone() -> None:
    events = {
        "filtersByParty": {},
        "filtersForAnyParty": {"cumulative": [identified("WildcardFilter", includeCreatedEventBlob=False)]},
        "verbose": True,
    }
    assert update_format().as_json() == {
        "includeTransactions": {"transactionShape": "TRANSACTION_SHAPE_ACS_DELTA", "eventFormat": events},
        "includeReassignments": events,
        "includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": []}},
    }
    assert update_format("any") == update_format(None) == update_format()


def test_parties_templates_interfaces_blobs_and_views() -> None:
    made = event_format(
        ["alice::1220aa", "bob::1220bb"],
        ["splice-amulet:Splice.Amulet:Amulet"],
        ["#token-standard:Api.Holding:Holding"],
        blobs=True,
        views=False,
        verbose=False,
    )
    filters = {
        "cumulative": [
            identified("TemplateFilter", templateId="#splice-amulet:Splice.Amulet:Amulet", includeCreatedEventBlob=True),
            identified(
                "InterfaceFilter",
                interfaceId="#token-standard:Api.Holding:Holding",
                includeInterfaceView=False,
                includeCreatedEventBlob=True,
            ),
        ]
    }
    assert made.as_json() == {"filtersByParty": {"alice::1220aa": filters, "bob::1220bb": filters}, "verbose": False}


def test_shape_reassignments_and_topology() -> None:
    made = update_format(shape="ledger_effects", reassignments=False, topology=False).as_json()
    assert list(made) == ["includeTransactions"]
    assert made["includeTransactions"]["transactionShape"] == "TRANSACTION_SHAPE_LEDGER_EFFECTS"


@pytest.mark.parametrize(
    ("parties", "topology", "shown"),
    [
        (None, True, []),
        (
            ["alice"],
            True,
            ["alice"],
        ),  # all parties' topology needs a right that reading one party does not (docs/facts.md#topology-rights)
        (["alice"], "any", []),
        (["alice"], ["bob"], ["bob"]),
    ],
)
def test_topology_is_of_the_parties_asked_for(parties: list[str] | None, topology: Any, shown: list[str]) -> None:
    made = update_format(parties, topology=topology).as_json()
    assert made["includeTopologyEvents"]["includeParticipantAuthorizationEvents"]["parties"] == shown


def test_one_name_and_doubled_names() -> None:
    assert event_format("alice") == event_format(["alice", "alice"])
    assert event_format(templates="p:M:E") == event_format(templates=["p:M:E", "#p:M:E"])


def test_it_prints_as_the_json_that_is_sent_and_shows_itself_in_words() -> None:
    made = update_format(["alice"], ["p:M:E"], shape="ledger_effects", blobs=True)
    assert json.loads(str(made)) == made.as_json()
    assert repr(made) == "UpdateFormat(parties=['alice'], templates=['#p:M:E'], blobs=True, shape='ledger_effects')"
    assert repr(event_format()) == "EventFormat(parties='any')"
    assert hash(made) == hash(update_format(["alice"], ["p:M:E"], shape="ledger_effects", blobs=True))


def test_package_ids_are_taken_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="package-name:Module:Entity") as caught:
        made = event_format(templates=[f"{PACKAGE_ID}:M.N:E"])
    assert made.templates == (f"{PACKAGE_ID}:M.N:E",)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"shape": "tree"}, "Choose from acs_delta, ledger_effects"),
        ({"parties": []}, "parties= must not be empty"),
        ({"parties": [""]}, "parties= must be party ids"),
        ({"parties": ["  "]}, "parties= must be party ids"),
        ({"parties": ["a\nb"]}, "parties= must be party ids"),
        ({"parties": [7]}, "parties= must be party ids"),
        ({"topology": [""]}, "topology"),
        ({"templates": ["Module:Entity"]}, "templates.*package-name:Module:Entity"),
        ({"templates": ["p:M:E:F"]}, "templates= must be names"),
        ({"templates": ["p::E"]}, "templates= must be names"),
        ({"templates": ["##p:M:E"]}, "templates= must be names"),
        ({"templates": ["p:M N:E"]}, "templates= must be names"),
        ({"templates": [None]}, "templates= must be names"),
        ({"interfaces": ["*"]}, "interfaces= must be names"),
        ({"parties": 7}, "parties= must be text or a list"),
        ({"templates": 7}, "templates= must be text or a list"),
    ],
)
def test_invalid_arguments_are_refused(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        update_format(**arguments)


@given(st.lists(st.text(max_size=12) | st.from_regex(r"#?[a-z]{1,3}:[A-Z]:[A-Z]", fullmatch=True), max_size=3))
def test_any_text_is_a_name_or_refused(names: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            made = event_format(templates=names)
        except UsageError:
            return
    assert all(name.count(":") == 2 for name in made.templates)
    json.dumps(made.as_json())
