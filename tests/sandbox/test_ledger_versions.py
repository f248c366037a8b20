"""Each version of the ledger API has its own routes, members and page tokens (docs/facts.md#versions)."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Sandbox

from .conftest import ANYBODY, DAYS, EVENTS, PAGE, ledger_of, read_pages, update_format, updates_of
from .test_ledger_state import ACS, active
from .test_request_checks import BODIES
from .test_served_pages import refusal

REMOVED_IN_3_6 = (
    ("POST", "/v2/updates/flats"),
    ("POST", "/v2/updates/trees"),
    ("POST", "/v2/updates/transaction-by-id"),
    ("POST", "/v2/updates/transaction-by-offset"),
    ("GET", "/v2/updates/transaction-tree-by-id/1220ab"),
    ("GET", "/v2/updates/transaction-tree-by-offset/9"),
    ("GET", "/v2/package-vetting"),
    ("POST", "/v2/package-vetting"),
    ("GET", "/v2/interactive-submission/preferred-package-version"),
)
OTHER_METHODS = (  # of removed routes
    ("GET", "/v2/updates/flats"),
    ("GET", "/v2/updates/transaction-by-id"),
    ("PUT", "/v2/package-vetting"),
)
ADDED_IN_3_6 = ("/v2/updates/update-by-hash", "/v2/commands/completion-by-hash")
UNKNOWN_ROUTE = (404, "The requested resource could not be found.")


def box_of(version: str) -> Sandbox:
    return Sandbox(1, EVENTS, DAYS, ledger_version=version)


@pytest.fixture(scope="module")
def sixth() -> Sandbox:
    return box_of("3.6")


@pytest.fixture(scope="module")
def seventh() -> Sandbox:
    return box_of("3.7")


@pytest.mark.parametrize(
    ("version", "release"),
    [("3.3", "3.3.0"), ("3.4", "3.4.11"), ("3.5", "3.5.14"), ("3.6", "3.6.2"), ("3.7", "3.7.4"), ("3.6.9", "3.6.9")],
)
def test_the_version_is_told_with_its_features(version: str, release: str) -> None:
    answer = ledger_of(box_of(version)).get("/v2/version").json()
    assert answer["version"] == release
    assert ("packageFeature" in answer["features"]) == (version >= "3.5")


@pytest.mark.parametrize("version", ["3.2", "3.8", "4.0", "", "latest", 3.5])
def test_an_unknown_version_is_refused(version: Any) -> None:
    known = r"3\.3, 3\.4, 3\.5, 3\.6, 3\.7, or a release such as 3\.5\.14"
    with pytest.raises(ValueError, match=f"ledger_version= must be {known}, got"):
        box_of(version)


def test_an_offset_with_a_fraction_is_not_pruned_through() -> None:
    with pytest.raises(ValueError, match=r"Cannot prune through 1\.5: an offset is a whole number"):
        Sandbox(1, EVENTS, DAYS, pruned_through=1.5)


@pytest.mark.parametrize("version", ["3.5", "3.6", "3.7"])
def test_routes_that_were_removed(version: str) -> None:
    client = ledger_of(box_of(version))
    for method, path in REMOVED_IN_3_6:
        answer = client.request(method, path, json=BODIES.get(path, {}) if method == "POST" else None)
        assert ((answer.status_code, answer.text) == UNKNOWN_ROUTE) == (version != "3.5"), path


@pytest.mark.parametrize(("version", "status"), [("3.5", 405), ("3.6", 404), ("3.7", 404)])
def test_a_removed_route_is_unknown_with_any_method(version: str, status: int) -> None:
    client = ledger_of(box_of(version))
    for method, path in OTHER_METHODS:
        answer = client.request(method, path)
        assert (answer.status_code, "Allow" in answer.headers) == (status, status == 405), path
        if status == 404:
            assert answer.text == UNKNOWN_ROUTE[1]
    assert client.post("/v2/version").status_code == 405


@pytest.mark.parametrize("version", ["3.3", "3.4", "3.5"])
def test_the_preferred_version_of_a_package(version: str) -> None:
    client, path = ledger_of(box_of(version)), "/v2/interactive-submission/preferred-package-version"
    vetted = client.post("/v2/package-vetting/list", json={}).json()["vettedPackages"][0]
    name = vetted["packages"][-1]["packageName"]
    versions = [package["packageVersion"] for package in vetted["packages"] if package.get("packageName") == name]
    answer = client.get(path, params={"package-name": name, "parties": ["ann::1220ab", "bob::1220cd"]}).json()
    assert len(versions) > 1
    assert answer["packagePreference"]["synchronizerId"] == vetted["synchronizerId"]
    reference = answer["packagePreference"]["packageReference"]
    assert reference["packageName"] == name
    assert int(reference["packageVersion"].split(".")[-1]) == max(int(text.split(".")[-1]) for text in versions)
    assert client.get(path, params={"package-name": "nothing"}).json() == {}
    assert (client.get(path).status_code, refusal(client.get(path, params={"package-name": name, "parties": "!"}))[:2]) == (
        400, (400, "INVALID_ARGUMENT"),
    )  # fmt: skip


@pytest.mark.parametrize("version", ["3.3", "3.4", "3.5"])
def test_routes_that_are_not_there_yet(version: str) -> None:
    client = ledger_of(box_of(version))
    for path in ADDED_IN_3_6:
        answer = client.post(path, json={"transactionHash": "ab", "updateFormat": update_format()})
        assert (answer.status_code, answer.text) == UNKNOWN_ROUTE


def hashes_of(values: list[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    return {value["transactionHash"]: value for _, value in values if value.get("transactionHash")}


def test_updates_by_hash(sixth: Sandbox, effects: Any) -> None:
    client = ledger_of(sixth)
    updates = updates_of(read_pages(client, 2000))
    without = [(kind, {k: v for k, v in value.items() if k != "transactionHash"}) for kind, value in updates]
    assert without == effects
    hashes = hashes_of(updates)
    assert len(hashes) > 5
    for name, value in list(hashes.items())[:5]:
        assert value["externalTransactionHash"] == name
        body = {"transactionHash": name, "updateFormat": update_format()}
        answer = client.post("/v2/updates/update-by-hash", json=body)
        assert answer.json() == {"update": {"Transaction": {"value": value}}}
    unknown = client.post("/v2/updates/update-by-hash", json={"transactionHash": "ab", "updateFormat": update_format()})
    assert refusal(unknown) == (404, "UPDATE_NOT_FOUND", 11)
    assert unknown.json()["resources"] == [["ErrorResource(TRANSACTION_HASH)", "ab"]]
    assert refusal(client.post("/v2/updates/update-by-hash", json={"transactionHash": ""})) == (400, "MISSING_FIELD", 8)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("own_worlds")
def test_a_hash_is_looked_up_without_the_rest_of_the_history() -> None:
    box = box_of("3.6")
    client, body = ledger_of(box), {"transactionHash": "0" * 64, "updateFormat": update_format()}
    assert refusal(client.post("/v2/updates/update-by-hash", json=body)) == (404, "UPDATE_NOT_FOUND", 11)
    assert box.world.generated == 0
    known = next(iter(hashes_of(updates_of(read_pages(ledger_of(box_of("3.6")), 2000)))))
    assert client.post("/v2/updates/update-by-hash", json={**body, "transactionHash": known}).status_code == 200
    assert box.world.generated <= 2


def completions(client: httpx.Client) -> list[dict[str, Any]]:
    path, results, begin = "/v2/commands/command-completions", [], 0
    while True:
        page = client.post(path, json={"beginExclusive": begin}, params={"limit": 200}).json()
        values = [v["value"] for item in page for k, v in item["completionResponse"].items() if k == "Completion"]
        if not values:
            return results
        results += values
        begin = values[-1]["offset"]


def test_completions_by_hash(sixth: Sandbox) -> None:
    client, path = ledger_of(sixth), "/v2/commands/completion-by-hash"
    signed = [value for value in completions(client) if value["transactionHash"]]
    assert signed
    for value in signed[:5]:
        answer = client.post(path, json={"transactionHash": value["transactionHash"]}).json()
        assert answer == {"acceptedCompletion": value, "lastRejectedCompletions": []}
    foreign = hashes_of(updates_of(read_pages(client, 2000))).keys() - {value["transactionHash"] for value in signed}
    for name in ("ab", *list(foreign)[:1]):
        assert refusal(client.post(path, json={"transactionHash": name})) == (404, "COMPLETION_NOT_FOUND", 11)


def test_completions_before_had_no_hash(ledger: httpx.Client) -> None:
    assert not any("transactionHash" in value for value in completions(ledger))


def test_a_hash_of_what_was_pruned_or_is_still_to_come(sixth: Sandbox) -> None:
    name, value = next(iter(hashes_of(updates_of(read_pages(ledger_of(sixth), 2000))).items()))
    pruned = Sandbox(1, EVENTS, DAYS, ledger_version="3.6", pruned_through=value["offset"])
    early = box_of("3.6").at(sixth.start)
    for box in (pruned, early):
        body = {"transactionHash": name, "updateFormat": update_format()}
        assert ledger_of(box).post("/v2/updates/update-by-hash", json=body).status_code == 404
        assert ledger_of(box).post("/v2/commands/completion-by-hash", json={"transactionHash": name}).status_code == 404


@pytest.mark.parametrize("version", ["3.5", "3.6"])
def test_the_ledger_end_has_the_times_of_synchronizers(version: str) -> None:
    box = box_of(version)
    answer = ledger_of(box).get("/v2/state/ledger-end").json()
    assert answer["offset"] == box.ledger.end()
    times = {entry["synchronizerId"]: entry["recordTime"] for entry in answer.get("synchronizerTimes", [])}
    names = {box.world.parties.synchronizer, box.world.parties.app_synchronizer}
    assert times.keys() == (names if version == "3.6" else set())


@pytest.mark.parametrize("version", ["3.5", "3.6"])
def test_the_right_to_act_as_any_party(version: str) -> None:
    client = ledger_of(box_of(version))
    user = client.get("/v2/authenticated-user").json()["user"]["id"]
    rights = client.get(f"/v2/users/{user}/rights").json()["rights"]
    assert ({"kind": {"CanActAsAnyParty": {"value": {}}}} in rights) == (version == "3.6")


def test_incomplete_reassignments_are_left_out_unless_they_are_included(ledger: httpx.Client, seventh: Sandbox) -> None:
    everything, client = active(ledger), ledger_of(seventh)
    complete = [entry for entry in everything if "JsActiveContract" in entry["contractEntry"]]
    assert len(complete) < len(everything)
    assert active(client) == complete
    assert active(client, eventFormat={**ANYBODY, "includeIncompleteReassignments": False}) == complete
    assert active(client, eventFormat={**ANYBODY, "includeIncompleteReassignments": True}) == everything
    assert active(ledger, eventFormat={**ANYBODY, "includeIncompleteReassignments": False}) == everything
    wrong = {"eventFormat": {**ANYBODY, "includeIncompleteReassignments": "yes"}}
    assert client.post(ACS, json=wrong).status_code == 400


def test_the_list_of_active_contracts_leaves_them_out_too(seventh: Sandbox, ledger: httpx.Client) -> None:
    half = next(entry for entry in active(ledger) if "JsIncompleteUnassigned" in entry["contractEntry"])
    created = half["contractEntry"]["JsIncompleteUnassigned"]["createdEvent"]
    selection = {"identifierFilter": {"TemplateFilter": {"value": {"templateId": created["templateId"]}}}}
    events = {"filtersForAnyParty": {"cumulative": [selection]}}
    body = {"activeAtOffset": seventh.ledger.end(), "eventFormat": events}
    kinds: list[set[str]] = []
    for event_format in (events, {**events, "includeIncompleteReassignments": True}):
        body["eventFormat"] = event_format
        answer = ledger_of(seventh).post("/v2/state/active-contracts", json=body, params={"limit": 200}).json()
        kinds.append({kind for entry in answer for kind in entry["contractEntry"]})
    assert "JsIncompleteUnassigned" not in kinds[0]


@pytest.mark.parametrize(("before", "after"), [("3.5.14", "3.6"), ("3.6", "3.7")])
def test_page_tokens_of_another_version_are_refused(before: str, after: str) -> None:
    old, new = ledger_of(box_of(before)), ledger_of(box_of(after))
    updates = {"updateFormat": update_format(), "maxPageSize": 5}
    contracts = {"eventFormat": ANYBODY, "maxPageSize": 5}
    for path, body, code in ((PAGE, updates, "INVALID_UPDATES_PAGE_TOKEN"), (ACS, contracts, "INVALID_ACS_PAGE_TOKEN")):
        token = old.post(path, json=body).json()["nextPageToken"]
        assert old.post(path, json={**body, "pageToken": token}).is_success
        assert refusal(new.post(path, json={**body, "pageToken": token})) == (400, code, 8)


def test_a_patch_release_takes_the_tokens_of_another() -> None:
    first, second = ledger_of(box_of("3.5.12")), ledger_of(box_of("3.5.14"))
    body = {"updateFormat": update_format(), "maxPageSize": 5}
    body["pageToken"] = first.post(PAGE, json=body).json()["nextPageToken"]
    assert second.post(PAGE, json=body).is_success
