"""Reference data of the network, each the state at the time of the request.

See docs/facts.md#reference-operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import flask
import msgspec

from .endpoints import Api, endpoint, require_argument
from .history_api import UPDATES_DELAY
from .identifiers import blob_of, contract_id
from .network_contracts import NetworkContract, NetworkContracts
from .parties import Party
from .responses import HttpError, Json, contract_object, parse_time
from .schedule import TICK
from .transactions.templates.governance import DSO_RULES
from .values import ENCODINGS

if TYPE_CHECKING:
    from .network import SimulatedNetwork

NAME_SUFFIX = "sand"
MAX_LICENSES = 1000
MAX_ENTRIES = 1000


class RoundsRequest(msgspec.Struct):
    """Body of the request for open and issuing rounds."""

    cached_open_mining_round_contract_ids: list[str]
    cached_issuing_round_contract_ids: list[str]


class ReferenceApi(Api):
    """Endpoints of rounds, rights, names, rules, licenses and hosts."""

    def __init__(self, box: SimulatedNetwork) -> None:
        super().__init__(box)
        self._coin = self.world.vocabulary.coin
        self._package = f"splice-{self._coin}"

    # -- rounds and rights ----------------------------------------------------------------------------------------------

    @endpoint("POST", "/v0/open-and-issuing-mining-rounds", RoundsRequest)
    def _rounds(self, request: RoundsRequest) -> Json:
        return {
            # A round that is made right after this response opens a tick later.
            "time_to_live_in_microseconds": TICK,
            "open_mining_rounds": self._unless_cached("Open", request.cached_open_mining_round_contract_ids),
            "issuing_mining_rounds": self._unless_cached("Issuing", request.cached_issuing_round_contract_ids),
        }

    def _unless_cached(self, state: str, cached: list[str]) -> dict[str, Json]:
        """Return the rounds in a state by contract id, without contracts that the caller has."""
        rounds = {}
        for contract in self._rounds_in(state):
            content = {} if contract.identifier in cached else {"contract": self._object(contract)}
            rounds[contract.identifier] = {**content, "domain_id": self.world.parties.synchronizer}
        return rounds

    @endpoint("GET", "/v0/closed-rounds")
    def _closed_rounds(self) -> Json:
        return {"rounds": [self._object(contract) for contract in self._rounds_in("Closed")]}

    def _rounds_in(self, state: str) -> list[NetworkContract]:
        """Return the rounds in a state, by number."""
        rounds = self._active(f"{self._package}:Splice.Round:{state}MiningRound")
        return sorted(rounds, key=lambda contract: int(self._payload(contract)["round"]["number"]))

    @endpoint("GET", "/v0/featured-apps")
    def _rights(self) -> Json:
        template = f"{self._package}:Splice.{self._coin.capitalize()}:FeaturedAppRight"
        # Anybody may upload a package of the same name.
        rights = (each for each in self._active(template) if self.world.parties.dso in self._node(each)["signatories"])
        return {"featured_apps": [self._object(right) for right in rights]}

    @endpoint("GET", "/v0/featured-apps/by-provider/<provider>")
    def _rights_of_provider(self, provider: str) -> Json:
        rights = self._rights()["featured_apps"]
        return {"featured_apps": [right for right in rights if right["payload"]["provider"] == provider]}

    # -- names ----------------------------------------------------------------------------------------------------------

    @endpoint("GET", "/v0/ans-entries")
    def _entries(self) -> Json:
        size, prefix = require_argument("page_size"), flask.request.args.get("name_prefix", "")
        if not size.isdecimal() or not 1 <= int(size) <= MAX_ENTRIES:
            raise HttpError(400, f"Invalid page size: {size}; it must be between 1 and {MAX_ENTRIES}")
        return {"entries": [entry for entry in self._all_entries() if entry["name"].startswith(prefix)][: int(size)]}

    @endpoint("GET", "/v0/ans-entries/by-party/<party>")
    def _entry_of_party(self, party: str) -> Json:
        entries = [entry for entry in self._all_entries() if entry["user"] == party]
        if not entries:
            raise HttpError(404, f"No ans entry found for party: {party}")
        return {"entry": min(entries, key=lambda entry: str(entry["name"]))}

    @endpoint("GET", "/v0/ans-entries/by-name/<name>")
    def _entry_of_name(self, name: str) -> Json:
        for entry in self._all_entries():
            if entry["name"] == name:
                return {"entry": entry}
        raise HttpError(404, f"No ans entry found for name: {name}")

    def _all_entries(self) -> Iterator[Json]:
        """Iterate over the entries that have not expired, then those of the network itself."""
        for contract in self._active(f"{self._package}-name-service:Splice.Ans:AnsEntry"):
            payload = self._payload(contract)
            if parse_time(payload["expiresAt"]) > self.clock.now():
                names = {name: payload[name] for name in ("user", "name", "url", "description")}
                yield {"contract_id": contract.identifier, **names, "expires_at": payload["expiresAt"]}
        yield {"user": self.world.parties.dso, "name": f"dso.{NAME_SUFFIX}", "url": "", "description": ""}
        for sv in self.world.parties.svs:
            yield {"user": sv.identifier, "name": f"{sv.name.lower()}.sv.{NAME_SUFFIX}", "url": "", "description": ""}

    # -- rules, super validators and hosts --------------------------------------------------------------------------------

    @endpoint("GET", "/v0/dso")
    def _dso(self) -> Json:
        word = self._coin.capitalize()
        rules = self._only("splice-dso-governance:Splice.DsoRules:DsoRules")
        members = {party for party, _ in rules["contract"]["payload"]["svs"]}
        server = self.world.parties.svs[0]  # the super validator whose service this is
        return {
            "sv_user": server.name.lower(),
            "sv_party_id": server.identifier,
            "dso_party_id": self.world.parties.dso,
            "voting_threshold": _voting_threshold(len(members)),
            "latest_mining_round": self._with_state(self._rounds_in("Open")[-1]),
            f"{self._coin}_rules": self._only(f"{self._package}:Splice.{word}Rules:{word}Rules"),
            "dso_rules": rules,
            "sv_node_states": [self._node_state(sv) for sv in self._members() if sv.identifier in members],
            "initial_round": "0",
        }

    def _members(self) -> list[Party]:
        return [*self.world.parties.svs, self.world.parties.member]

    def _node_state(self, sv: Party) -> Json:
        """Return the contract with the hosts of a super validator, from before the history."""
        template = self.world.constants().templates[DSO_RULES]
        identifier = contract_id(self.world.seed, "node state", sv.identifier)
        node = {"scan": {"publicUrl": _scan_url(sv)}, "sequencer": None, "mediator": None}
        payload = {
            "dso": self.world.parties.dso,
            "sv": sv.identifier,
            "svName": sv.name,
            "state": {"synchronizerNodes": [[self.world.parties.synchronizer, node]]},
        }
        template_id, created_at = f"{template.package_id}:Splice.DSO.SvState:SvNodeState", "2024-06-24T21:08:34.710124Z"
        contract = contract_object(template_id, identifier, payload, created_at, blob_of(identifier))
        return {"contract": contract, "domain_id": self.world.parties.synchronizer}

    @endpoint("GET", "/v0/scans")
    def _scans(self) -> Json:
        parties, dso = self.world.parties, self._only("splice-dso-governance:Splice.DsoRules:DsoRules")
        members = {party for party, _ in dso["contract"]["payload"]["svs"]}
        scans = [{"publicUrl": _scan_url(sv), "svName": sv.name} for sv in self._members() if sv.identifier in members]
        return {"scans": [{"domainId": parties.synchronizer, "scans": scans}]}

    # -- validators -----------------------------------------------------------------------------------------------------

    @endpoint("GET", "/v0/admin/validator/licenses")
    def _licenses(self) -> Json:
        after, limit = (flask.request.args.get(name) for name in ("after", "limit"))
        for name, text in (("after", after), ("limit", limit)):
            if text is not None and not text.isdecimal():
                raise HttpError(400, f"The query parameter '{name}' was malformed: '{text}'", plain=True)
        size, first = min(int(limit or MAX_LICENSES), MAX_LICENSES), int(after or 0)
        licenses = self._active(f"{self._package}:Splice.ValidatorLicense:ValidatorLicense")[::-1]
        page = [self._object(license_) for license_ in licenses[first : first + size]]
        more = {"next_page_token": first + size} if first + size < len(licenses) else {}
        return {"validator_licenses": page, **more}

    @endpoint("GET", "/v0/validators/validator-faucets")
    def _faucets(self) -> Json:
        require_argument("validator_ids")
        parties = flask.request.args.getlist("validator_ids")
        payloads = map(self._payload, self._active(f"{self._package}:Splice.ValidatorLicense:ValidatorLicense"))
        return {"validatorsReceivedFaucets": [_received(each) for each in payloads if each["validator"] in parties]}

    # -- history and upgrades -------------------------------------------------------------------------------------------

    @endpoint("GET", "/v2/updates/hash/<external_hash>")
    def _update_by_hash(self, external_hash: str) -> bytes:
        key = f"{self.world.vocabulary.lang}_value_encoding"
        encoding = flask.request.args.get(key, "compact_json")
        if encoding not in ENCODINGS:
            raise HttpError(400, f"{encoding!r} is not a value of {key}: use one of {', '.join(ENCODINGS)}")
        update_id = self._network.signed(external_hash)
        event = self.world.find(update_id, encoding) if update_id else None
        if event is None or event.record_time >= self.clock.now() - UPDATES_DELAY:
            raise HttpError(404, f"Transaction with hash {external_hash} not found")
        return event.update

    @endpoint("GET", "/v0/lsu")
    def _upgrade(self) -> Json:
        return {}  # no world has an upgrade ahead

    _backfilling = endpoint("GET", "/v0/backfilling/status")(lambda api: {"complete": True})

    # -- contracts ------------------------------------------------------------------------------------------------------

    @property
    def _network(self) -> NetworkContracts:
        return self.world.derived(NetworkContracts)

    def _active(self, template: str) -> list[NetworkContract]:
        """Return the contracts of a template that are active now, the oldest first."""
        return list(self._network.active_at(self.clock.now(), (template,)))

    def _only(self, template: str) -> Json:
        contracts = self._active(template)
        if not contracts:
            raise HttpError(500, f"No contract of {template} found")
        return self._with_state(contracts[-1])

    def _with_state(self, contract: NetworkContract) -> Json:
        return {"contract": self._object(contract), "domain_id": self.world.parties.synchronizer}

    def _node(self, contract: NetworkContract) -> Json:
        return self._network.node(contract)

    def _payload(self, contract: NetworkContract) -> Json:
        payload: Json = self._node(contract)["create_arguments"]
        return payload

    def _object(self, contract: NetworkContract) -> Json:
        node, identifier = self._node(contract), contract.identifier
        return contract_object(node["template_id"], identifier, node["create_arguments"], node["created_at"], blob_of(identifier))


def _voting_threshold(members: int) -> int:
    """Return the number of super validators that decide, even if a third of them fails."""
    faulty = (members - 1) // 3
    return (members + faulty + 2) // 2


def _scan_url(sv: Party) -> str:
    return f"https://scan.{sv.name.lower()}.invalid/api/scan"


def _received(payload: dict[str, Any]) -> Json:
    """Return the statistics of a license."""
    state = payload["faucetState"]
    first, last = (int(state[name]["number"]) for name in ("firstReceivedFor", "lastReceivedFor"))
    missed = min(int(state["numCouponsMissed"]), max(0, last - first - 1))
    return {
        "validator": payload["validator"],
        "numRoundsCollected": last - first + 1 - missed,
        "numRoundsMissed": missed,
        "firstCollectedInRound": first,
        "lastCollectedInRound": last,
    }
