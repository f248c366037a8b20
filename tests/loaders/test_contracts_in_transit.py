"""Contracts between two synchronizers, which ledger API 3.7 leaves out of the active contracts unless it is asked for them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.api.update_format import event_format
from ledgerframes.errors import BadRequestError
from ledgerframes.sandbox import Sandbox

MEMBER = "includeIncompleteReassignments"
BODY = {"templateId": "p:M:E", "offset": 3, "nodeId": 0, "createArgument": {}, "createdAt": "2026-11-01T00:00:00Z"}
HALF = {"reassignmentId": "r", "source": "x", "target": "y", "reassignmentCounter": 1}
ACTIVE = {"JsActiveContract": {"createdEvent": {**BODY, "contractId": "00a"}, "synchronizerId": "s", "reassignmentCounter": 0}}
ARRIVED = {"JsIncompleteAssigned": {"assignedEvent": {**HALF, "createdEvent": {**BODY, "contractId": "00b"}}}}
LEFT = {
    "JsIncompleteUnassigned": {
        "createdEvent": {**BODY, "contractId": "00c"},
        "unassignedEvent": {**HALF, "contractId": "00c", "templateId": "p:M:E"},
    }
}
Answer = Callable[[dict[str, Any]], Any]


def page(*entries: dict[str, Any], token: str | None = None) -> dict[str, Any]:
    return {"activeContracts": [{"contractEntry": entry} for entry in entries], "activeAtOffset": 9, "nextPageToken": token}


def asked_at_the_top(body: dict[str, Any]) -> bool:
    return body["eventFormat"].get(MEMBER) is True


def participant(store: Path, version: str | None, answer: Answer, bodies: list[dict[str, Any]] | None = None) -> lf.Network:
    """A participant that answers pages of active contracts as a test says."""

    def handler(request: httpx.Request) -> httpx.Response:
        name = request.url.path.rpartition("/")[2]
        if name == "version":
            return httpx.Response(200, json={"version": version}) if version else httpx.Response(500)
        if name in ("ledger-end", "participant-id"):
            return httpx.Response(200, json={"ledger-end": {"offset": 9}, "participant-id": {"participantId": "p"}}[name])
        body = json.loads(request.content)
        if bodies is not None:
            bodies.append(body)
        answered = answer(body)
        return answered if isinstance(answered, httpx.Response) else httpx.Response(200, json=answered)

    transport = httpx.MockTransport(handler)
    options = {"requests_per_second": 0, "retries": 0, "store": store}
    return lf.connect("sandbox", ledger_url="http://one.invalid", transport=transport, **options)


def since_3_7(body: dict[str, Any]) -> dict[str, Any]:
    return page(ACTIVE, ARRIVED, LEFT) if asked_at_the_top(body) else page(ACTIVE)


def states(frame: Any) -> list[str]:
    return sorted(frame["contract_state"])


ALL = ["active", "incomplete_assigned", "incomplete_unassigned"]


@pytest.mark.parametrize("version", ["3.7.0", "3.7.4", "3.10.1", "4.0.0", None])
def test_a_participant_that_leaves_them_out_is_asked_for_them(version: str | None, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = participant(tmp_path, version, since_3_7)
        assert states(lf.load_active_contracts(net)) == ALL
        assert states(lf.load_active_contracts(net, include_incomplete=False)) == ["active"]


@pytest.mark.parametrize("version", ["3.5.14", "3.6.2"])
def test_an_older_participant_includes_them_and_is_not_asked(version: str, tmp_path: Path) -> None:
    bodies: list[dict[str, Any]] = []
    net = participant(tmp_path, version, lambda body: page(ACTIVE, ARRIVED, LEFT), bodies)
    assert states(lf.load_active_contracts(net)) == ALL
    assert states(lf.load_active_contracts(net, include_incomplete=False)) == ["active"], "means the same in all versions"
    assert not any(MEMBER in json.dumps(body) for body in bodies)


REFUSALS = {
    "as text": httpx.Response(400, text=f"Invalid value for: body (unexpected field: [{MEMBER}])"),
    "with a code": httpx.Response(
        400,
        json={
            "code": "INVALID_ARGUMENT",
            "cause": f"unknown field {MEMBER}",
            "context": {},
            "errorCategory": 8,
            "grpcCodeValue": 3,
        },
    ),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_by_name_is_accepted_with_a_warning(refusal: httpx.Response, tmp_path: Path) -> None:
    net = participant(tmp_path, "3.7.4", lambda body: refusal if asked_at_the_top(body) else page(ACTIVE))
    with pytest.warns(UserWarning, match=rf"one\.invalid refuses {MEMBER}, so contracts in transit .* may be missing") as caught:
        frame = lf.load_active_contracts(net)
    assert states(frame) == ["active"]
    assert caught[0].filename == __file__


def test_another_refusal_is_an_error(tmp_path: Path) -> None:
    refusal = {"code": "INVALID_ARGUMENT", "cause": "no", "context": {}, "errorCategory": 8}
    net = participant(tmp_path, "3.7.4", lambda body: httpx.Response(400, json=refusal))
    with pytest.raises(BadRequestError, match="INVALID_ARGUMENT"):
        lf.load_active_contracts(net)


def test_a_filter_can_ask_for_them(tmp_path: Path) -> None:
    bodies: list[dict[str, Any]] = []
    net = participant(tmp_path, "3.7.4", since_3_7, bodies)
    net.ledger.active_contracts_page(event_format(incomplete=True))
    net.ledger.active_contracts_page({**event_format().as_json(), MEMBER: True})
    assert [body["eventFormat"] for body in bodies] == [event_format(incomplete=True).as_json()] * 2
    assert MEMBER not in event_format().as_json()
    assert repr(event_format(incomplete=True)).endswith("incomplete=True)")


# -- page tokens of an older version -----------------------------------------------------------------------------------

EXPIRED = {"code": "INVALID_ACS_PAGE_TOKEN", "cause": "the token is of another version", "context": {}, "errorCategory": 8}


def test_a_token_that_is_refused_after_an_upgrade_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    tokens: list[str | None] = []

    def answer(body: dict[str, Any]) -> Any:
        tokens.append(body.get("pageToken"))
        if tokens[-1] == "old":
            return httpx.Response(400, json=EXPIRED)
        return page(LEFT, ARRIVED) if tokens[-1] else page(ACTIVE, token="old" if len(tokens) == 1 else "new")

    frame = lf.load_active_contracts(participant(tmp_path, "3.7.4", answer))
    assert tokens == [None, "old", None, "new"]
    assert states(frame) == ALL
    assert frame["contract_id"].is_unique


def test_a_token_that_is_always_refused_is_an_error(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return httpx.Response(400, json=EXPIRED) if "pageToken" in body else page(ACTIVE, token="old")

    with pytest.raises(BadRequestError) as caught:
        lf.load_active_contracts(participant(tmp_path, "3.7.4", answer))
    assert caught.value.code == EXPIRED["code"]


def test_another_refusal_does_not_start_the_load_again(tmp_path: Path) -> None:
    tokens: list[str | None] = []

    def answer(body: dict[str, Any]) -> Any:
        tokens.append(body.get("pageToken"))
        return httpx.Response(400, json=EXPIRED | {"code": "INVALID_FIELD"}) if tokens[-1] else page(ACTIVE, token="new")

    with pytest.raises(BadRequestError, match="INVALID_FIELD"):
        lf.load_active_contracts(participant(tmp_path, "3.7.4", answer))
    assert tokens == [None, "new"]


# -- on the sandbox ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["3.5.14", "3.6.2", "3.7.4"])
def test_all_versions_of_the_sandbox_give_the_same_contracts(version: str, tmp_path: Path) -> None:
    def contracts(ledger_version: str, **options: Any) -> pd.DataFrame:
        box = Sandbox(events=700, days=1, ledger_version=ledger_version)
        urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
        net = lf.connect("sandbox", transport=in_process(box.app), requests_per_second=0, store=tmp_path, **urls)
        return lf.load_active_contracts(net, **options)

    frame = contracts(version)
    pd.testing.assert_frame_equal(frame, contracts("3.5.14"))
    assert set(frame["contract_state"]) > {"active"}, "none is in transit in this world: give it more events"
    assert set(contracts(version, include_incomplete=False)["contract_state"]) == {"active"}
