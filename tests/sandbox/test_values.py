"""Contract values in each encoding, against the rules of the side-by-side example."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.ledger import Contract, Template
from ledgerframes.sandbox.payloads import (
    NO_AMOUNT,
    UNIT,
    Each,
    Optional,
    Pairs,
    TextMap,
    Value,
    Variant,
    amount,
    compile_payload,
    constructor,
    contract,
    integer,
    party,
    text,
    time,
)
from ledgerframes.sandbox.times import SECOND
from ledgerframes.sandbox.values import ENCODINGS, LEDGER, decimal_text
from ledgerframes.sandbox.vocabulary import vocabulary_of

from .conftest import client_of, nodes_of

TIME = 1_700_000_000_123_456
PAYLOAD: Value = {
    "dso": party(),
    "amount": {"initialAmount": amount("units"), "number": 17},
    "price": Optional(Decimal("0.5")),
    "note": Optional(text(), source="memo"),
    "unit": constructor("$CoinUnit"),
    "choice": Variant("Left", "x"),
    "at": time(),
    "later": time("at", after=SECOND),
    "tags": [Each("tags", text())],
    "none": [],
    "all": ["b", Each("tags", text())],
    "m": TextMap({"k": "v"}),
    "g": Pairs("ones", integer("one"), {"x": integer()}),
    "h": Pairs("parties", party("who"), {"number": integer()}),
    "ok": True,
    "u": UNIT,
    "part": "100 %",
    "last": Optional(text(), source="memo"),
    "lock": None,
}
NAMES = {
    "dso": "DSO::1220",
    "units": 10**11,
    "memo": None,
    "at": TIME,
    "tags": ["a"],
    "ones": [{"one": 1, "x": 2}],
    "parties": [],
}


def render(encoding: str, payload: Value = PAYLOAD, **names: Any) -> Any:
    """Return a payload in an encoding, decoded."""
    by_name = {**ENCODINGS, LEDGER.name: LEDGER}
    return json.loads(compile_payload(payload, by_name[encoding], vocabulary_of("neutral"))({**NAMES, **names}))


def test_compact_values() -> None:
    assert render("compact_json") == {
        "dso": "DSO::1220",
        "amount": {"initialAmount": "10.0000000000", "number": "17"},
        "price": "0.5",
        "note": None,
        "unit": "CoinUnit",
        "choice": {"tag": "Left", "value": "x"},
        "at": "2023-11-14T22:13:20.123456Z",
        "later": "2023-11-14T22:13:21.123456Z",
        "tags": ["a"],
        "none": [],
        "all": ["b", "a"],
        "m": {"k": "v"},
        "g": [["1", {"x": "2"}]],
        "h": [],
        "ok": True,
        "u": {},
        "part": "100 %",
        "last": None,
        "lock": None,
    }


def test_typed_values() -> None:
    fields = [field["value"] for field in render("protobuf_json")["record"]["fields"]]
    assert fields == [
        {"party": "DSO::1220"},
        {"record": {"fields": [{"value": {"numeric": "10.0000000000"}}, {"value": {"int64": "17"}}]}},
        {"optional": {"value": {"numeric": "0.5"}}},
        {"optional": {}},
        {"enum": {"constructor": "CoinUnit"}},
        {"variant": {"constructor": "Left", "value": {"text": "x"}}},
        {"timestamp": str(TIME)},
        {"timestamp": str(TIME + 1_000_000)},
        {"list": {"elements": [{"text": "a"}]}},
        {"list": {}},
        {"list": {"elements": [{"text": "b"}, {"text": "a"}]}},
        {"textMap": {"entries": [{"key": "k", "value": {"text": "v"}}]}},
        {"genMap": {"entries": [{"key": {"int64": "1"}, "value": {"record": {"fields": [{"value": {"int64": "2"}}]}}}]}},
        {"genMap": {}},
        {"bool": True},
        {"unit": {}},
        {"text": "100 %"},
        {"optional": {}},
        {"optional": {}},
    ]


def test_ledger_values_have_ten_decimals_and_no_trailing_nulls() -> None:
    fields = render("ledger_json")
    assert fields["price"] == "0.5000000000"
    assert fields["note"] is None
    assert list(fields)[-1] == "part"
    assert list(render("ledger_json", memo="x"))[-1] == "last"
    memo = Optional(text(), source="memo")
    assert render("ledger_json", {"a": memo, "b": memo, "zero": NO_AMOUNT, "c": {"d": memo}}) == {
        "a": None,
        "b": None,
        "zero": "0.0000000000",
        "c": {},
    }
    each = [Each("rows", {"a": memo, "b": None})]
    assert render("ledger_json", each, rows=[{"memo": None}, {"memo": "x"}]) == [{}, {"a": "x"}]


def test_repeated_items_see_their_own_names() -> None:
    parties = [{"who": "a::1", "number": 1}, {"who": "b::1", "number": 2}]
    assert render("compact_json", Pairs("parties", party("who"), {"number": integer()}), parties=parties) == [
        ["a::1", {"number": "1"}],
        ["b::1", {"number": "2"}],
    ]


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(TypeError, match=r"0\.5"):
        render("compact_json", {"price": 0.5})  # type: ignore[dict-item]


def test_words_are_those_of_the_network() -> None:
    payload: Value = {"$coin": Variant("Input$Coin", contract("item")), "m": TextMap({"$coin.note": "in $coin"})}
    renderer = compile_payload({"rows": [Each("rows", payload)]}, ENCODINGS["compact_json"], vocabulary_of("canton"))
    row = {"amulet": {"tag": "InputAmulet", "value": "00"}, "m": {"amulet.note": "in amulet"}}
    assert json.loads(renderer({"rows": [Contract("00", Template("p:M:T", "p"), [])]})) == {"rows": [row]}


@pytest.mark.parametrize(
    ("units", "expected"), [(0, "0E-10"), (1, "0.0000000001"), (10**10, "1.0000000000"), (-5, "-0.0000000005")]
)
def test_decimals(units: int, expected: str) -> None:
    assert decimal_text(units) == expected


def untyped(value: Any) -> Any:
    """Drop the tags of a typed value, and what the compact encoding has over it: names."""
    (tag, content), *rest = value.items()
    assert not rest
    match tag:
        case "record":
            return [untyped(field["value"]) for field in content["fields"]]
        case "optional":
            return untyped(content["value"]) if content else None
        case "list":
            return [untyped(element) for element in content.get("elements", [])]
        case "textMap":
            return {entry["key"]: untyped(entry["value"]) for entry in content.get("entries", [])}
        case "genMap":
            return [[untyped(entry["key"]), untyped(entry["value"])] for entry in content.get("entries", [])]
        case "variant":
            return [content["constructor"], untyped(content["value"])]
        case "enum":
            return content["constructor"]
        case "timestamp":
            return int(content)
    assert tag in ("party", "text", "contractId", "int64", "numeric", "bool", "unit"), tag
    return content


def same(compact: Any, typed: Any) -> bool:
    """Tell whether a compact value has the shape and the leaves of an untyped one."""
    if isinstance(typed, list) and isinstance(compact, dict):
        compact = list(compact.values())
    if isinstance(typed, list):
        return len(compact) == len(typed) and all(map(same, compact, typed))
    if isinstance(typed, dict):
        return compact.keys() == typed.keys() and all(same(compact[key], typed[key]) for key in typed)
    return (isinstance(typed, int) and not isinstance(typed, bool)) or compact == typed


def test_both_encodings_of_the_history_say_the_same(box: Sandbox) -> None:
    client, compared = client_of(box), 0
    body = {"page_size": 120}
    compact = client.post("/v2/updates", json=body).json()["transactions"]
    typed = client.post("/v2/updates", json={**body, "lang_value_encoding": "protobuf_json"}).json()["transactions"]
    for plain, tagged in zip(compact, typed, strict=True):
        if "event" in plain:
            continue
        assert {**plain, "events_by_id": None} == {**tagged, "events_by_id": None}
        for left, right in zip(nodes_of(plain), nodes_of(tagged), strict=True):
            for name in ("create_arguments", "choice_argument", "exercise_result"):
                if name in left:
                    assert same(left.pop(name), untyped(right.pop(name)))
                    compared += 1
            assert left == right
    assert compared > 1000


def test_the_lossless_flag_of_the_first_version_is_the_typed_encoding(box: Sandbox) -> None:
    client = client_of(box)
    update = client.post("/v2/updates", json={"page_size": 1}).json()["transactions"][0]
    plain = client.get(f"/v0/updates/{update['update_id']}").json()
    lossless = client.get(f"/v0/updates/{update['update_id']}", params={"lossless": "true"}).json()
    assert '"record": {"fields"' in json.dumps(lossless)
    assert '"record": {"fields"' not in json.dumps(plain)
    assert client.get(f"/v0/updates/{update['update_id']}", params={"lossless": "perhaps"}).status_code == 400
