"""Relations of activity weights, computed from requests and the state of the network.

Source: docs/facts.md#activity-weights. Times of the state are in microseconds since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledgerframes.engine.keys import key_of
from ledgerframes.engine.relation import Parameter, Relation


def open_rounds_table(name: str = "") -> Parameter:
    """Return the declaration of the lowest open rounds."""
    rows = (
        "One row per interval with one lowest open round, which can be missing: when it opened, and whether rights and super "
        "validators are known as of then."
    )
    return Parameter(f"{name}open_rounds", rows)


def rights_table(name: str = "") -> Parameter:
    """Return the declaration of the rights of app providers."""
    rows = "One row per right of an app provider, with its factor, its start and end, and its number, from 0 without gaps."
    return Parameter(f"{name}rights", rows)


def super_validators_table(name: str = "") -> Parameter:
    """Return the declaration of the super validators."""
    return Parameter(f"{name}super_validators", "One row per participant of a super validator and interval in which it is one.")


ROUND_OPENINGS = Parameter("round_openings", "One row per round, with the time at which it opened.")


def judged(name: str = "") -> Relation:
    """Return the requests with a verdict.

    DuckDB materializes a relation with several readers. A large table would not fit, so each reader gets its own relation.
    """
    query = f"""
    FROM (
        SELECT
            migration_id,
            record_time,
            update_id,
            {key_of("update_id")} AS update_key,
            verdict_result,
            submitting_participant_uid
        FROM verdicts
    )
    LEFT JOIN (SELECT {key_of("update_id")} AS update_key, total_traffic_cost FROM traffic) USING (update_key)
    """
    return Relation(f"{name}judged", "One row per request with a verdict, with its cost.", query, ("verdicts", "traffic"))


def sent_envelopes(name: str = "") -> Relation:
    """Return the envelopes with the views in them."""
    query = "SELECT update_id, envelope_index, traffic_cost, view_ids FROM envelopes"
    return Relation(f"{name}sent_envelopes", "One row per envelope, with the views in it.", query, tables=("envelopes",))


def confirmers_of_quorums(name: str = "") -> Relation:
    """Return the parties that can confirm views."""
    query = "SELECT update_id, view_id, unnest(parties) AS party FROM quorums"
    return Relation(f"{name}confirmers", "One row per party of a quorum, with its view.", query, tables=("quorums",))


def informees(name: str = "") -> Relation:
    """Return the parties that see views."""
    query = "SELECT update_id, view_id, unnest(informees) AS party FROM views"
    return Relation(f"{name}informees", "One row per party that sees a view.", query, tables=("views",))


JUDGED, ENVELOPES, CONFIRMERS = judged(), sent_envelopes(), confirmers_of_quorums()
ENVELOPE_COSTS = Relation(
    "envelope_costs",
    "One row per envelope, with its cost.",
    "SELECT update_id, traffic_cost FROM envelopes",
    tables=("envelopes",),
)
UNKNOWN = "obstacle IN ('no round', 'no state', 'no envelopes')"


@dataclass(frozen=True)
class Candidates:
    """Relations of requests in one state of the network, and of why some earn nothing.

    Attributes
    ----------
    name : str
        Prefix of the names of these relations and of the tables of the state, such as ``after_``.
    requests, envelopes : Relation
        The requests, and all envelopes with their costs.
    """

    name: str = ""
    requests: Relation = JUDGED
    envelopes: Relation = ENVELOPE_COSTS

    @property
    def rounds(self) -> Relation:
        """The lowest open rounds of each hour, so that a join finds them by the hour."""
        query = f"""
        SELECT hour, round_number, opens_at, has_state, since, until
        FROM (SELECT DISTINCT epoch_us(record_time) // 3_600_000_000 AS hour FROM verdicts)
        JOIN {self.name}open_rounds ON since < (hour + 1) * 3_600_000_000 AND until > hour * 3_600_000_000
        """
        rows = "One row per hour with verdicts and round that is the lowest open one in a part of the hour."
        parameters = (open_rounds_table(self.name),)
        return Relation(f"{self.name}rounds_by_hour", rows, query, tables=("verdicts",), parameters=parameters)

    @property
    def all(self) -> Relation:
        """All requests, each with the first reason why it earns nothing."""
        requests, rounds = self.requests.name, self.rounds.name
        query = f"""
        SELECT
            {requests}.*,
            round_number,
            opens_at,
            CASE
                WHEN verdict_result IS DISTINCT FROM 'VERDICT_RESULT_ACCEPTED' THEN 'not accepted'
                WHEN total_traffic_cost > 104_857_600 THEN 'over the bound' -- 100 MiB
                WHEN round_number IS NULL THEN 'no round'
                WHEN NOT has_state THEN 'no state'
                WHEN participant IS NOT NULL THEN 'submitted by a super validator'
                WHEN NOT coalesce(total_traffic_cost >= 0 AND least_cost >= 0, false) THEN 'no envelopes'
            END AS obstacle
        FROM {requests}
        LEFT JOIN {rounds}
            ON hour = epoch_us(record_time) // 3_600_000_000
            AND epoch_us(record_time) >= {rounds}.since AND epoch_us(record_time) < {rounds}.until
        -- The state at the opening of the round counts, not that at the time of the request.
        LEFT JOIN {self.name}super_validators AS super_validators
            ON participant = submitting_participant_uid
            AND opens_at >= super_validators.since AND opens_at < super_validators.until
        LEFT JOIN (
            SELECT {key_of("update_id")} AS update_key, min(traffic_cost) AS least_cost
            FROM {self.envelopes.name}
            GROUP BY update_key
        ) USING (update_key)
        """
        rows = "One row per request, with the lowest open round and the reason why it earns nothing, missing if it can earn."
        relations, parameters = (self.requests, self.rounds, self.envelopes), (super_validators_table(self.name),)
        return Relation(f"{self.name}candidates", rows, query, (), relations, parameters, is_materialized=True)

    @property
    def earning(self) -> Relation:
        """The requests that can earn."""
        query = f"""
        SELECT update_key, migration_id, record_time, round_number, opens_at, total_traffic_cost
        FROM {self.name}candidates
        WHERE obstacle IS NULL
        """
        return Relation(f"{self.name}earning", "One row per request that can earn.", query, relations=(self.all,))


@dataclass(frozen=True)
class Weights:
    """Relations of the weights of requests that can earn.

    Attributes
    ----------
    name : str
        Prefix of the names of these relations and of the table of rights, such as ``after_``.
    candidates : Candidates
        The requests.
    envelopes, confirmers : Relation
        Their envelopes, and the parties that can confirm views.
    """

    name: str = ""
    candidates: Candidates = Candidates()
    envelopes: Relation = ENVELOPES
    confirmers: Relation = CONFIRMERS

    @property
    def confirmers_with_rights(self) -> Relation:
        """The parties of quorums that have a right."""
        query = f"""
        SELECT {key_of("update_id")} AS update_key, view_id, right_number, rights.since, rights.until
        FROM {self.confirmers.name}
        JOIN {self.name}rights AS rights USING (party)
        """
        rows = "One row per party of a quorum and right of the party, with the view."
        return Relation(f"{self.name}confirmers_with_rights", rows, query, (), (self.confirmers,), (rights_table(self.name),))

    @property
    def empty_set(self) -> Relation:
        """The empty set of rights."""
        query = f"SELECT repeat('0', greatest(count(*), 1)::INTEGER)::BIT AS empty_set FROM {self.name}rights"
        rows = "One row: the empty set of rights. A set has one bit per right."
        return Relation(f"{self.name}empty_set", rows, query, parameters=(rights_table(self.name),))

    @property
    def providers(self) -> Relation:
        """The app providers that share each envelope."""
        earning = self.candidates.earning
        query = f"""
        SELECT
            update_key,
            traffic_cost,
            total_traffic_cost,
            -- In bits, a party that confirms several views counts once. Lists of all envelopes would not fit into memory.
            bit_or(set_bit((FROM {self.empty_set.name}), right_number, 1)) AS right_set
        FROM (
            SELECT {key_of("update_id")} AS update_key, envelope_index, traffic_cost, unnest(view_ids) AS view_id
            FROM {self.envelopes.name}
        )
        JOIN (
            SELECT update_key, view_id, right_number, total_traffic_cost
            FROM {self.confirmers_with_rights.name} AS confirmers
            JOIN {earning.name} USING (update_key)
            WHERE opens_at >= confirmers.since AND opens_at < confirmers.until
        ) USING (update_key, view_id)
        GROUP BY update_key, envelope_index, traffic_cost, total_traffic_cost
        """
        rows = "One row per envelope of a request that can earn: the rights of the parties that can confirm one of its views."
        relations = (self.envelopes, self.confirmers_with_rights, earning, self.empty_set)
        return Relation(f"{self.name}envelopes_of_providers", rows, query, relations=relations)

    @property
    def shared(self) -> Relation:
        """The envelopes of each request that the same app providers share."""
        query = f"""
        SELECT
            update_key,
            right_set,
            sum(traffic_cost) AS confirmed_cost,
            sum(CASE bit_count(right_set) WHEN 1 THEN earned ELSE earned // bit_count(right_set) END) AS part
        FROM (SELECT *, traffic_cost::HUGEINT * total_traffic_cost AS earned FROM {self.providers.name})
        GROUP BY update_key, right_set
        """
        rows = "One row per request and set of rights that share envelopes: the cost of these, and the part of each right."
        return Relation(f"{self.name}shared_envelopes", rows, query, relations=(self.providers,), is_materialized=True)

    @property
    def rights_of_sets(self) -> Relation:
        """The rights of each set, which are few."""
        query = f"""
        SELECT right_set, right_number
        FROM (SELECT DISTINCT right_set FROM {self.shared.name})
        JOIN {self.name}rights ON get_bit(right_set, right_number) = 1
        """
        rows = "One row per set of rights and right in it."
        return Relation(f"{self.name}rights_of_sets", rows, query, (), (self.shared,), (rights_table(self.name),))

    @property
    def burned(self) -> Relation:
        """The bytes of all app providers, before their factors."""
        shared = self.shared.name
        query = f"""
        SELECT
            update_key,
            right_number,
            -- Divided once for all envelopes of the party, in 128 bits.
            (sum(part) // any_value(cost))::BIGINT AS burn_bytes
        FROM {shared}
        JOIN {self.rights_of_sets.name} USING (right_set)
        JOIN (SELECT update_key, sum(confirmed_cost) AS cost FROM {shared} GROUP BY update_key) USING (update_key)
        WHERE cost > 0
        GROUP BY update_key, right_number
        """
        rows = "One row per request and right of an app provider that earns, with its bytes before the factor."
        return Relation(f"{self.name}burned", rows, query, relations=(self.shared, self.rights_of_sets))

    @property
    def weights(self) -> Relation:
        """The weights of all app providers."""
        query = f"""
        SELECT
            migration_id,
            record_time,
            update_key,
            round_number,
            party,
            factor,
            burn_bytes,
            coalesce(trunc(burn_bytes * factor), 0)::BIGINT AS weight
        FROM {self.candidates.earning.name}
        JOIN {self.name}burned USING (update_key)
        JOIN {self.name}rights USING (right_number)
        """
        rows = "One row per request and app provider that earns, with its weight."
        relations, parameters = (self.burned, self.candidates.earning), (rights_table(self.name),)
        return Relation(f"{self.name}weights", rows, query, (), relations, parameters)


CANDIDATES = Candidates()
COMPUTABLE = Relation(
    "computable",
    "One row: how many requests were accepted, and how many accepted requests have weights that cannot be computed.",
    f"""
    SELECT count(*) AS accepted, count(*) FILTER ({UNKNOWN}) AS unknown
    FROM candidates
    WHERE obstacle IS DISTINCT FROM 'not accepted'
    """,
    relations=(CANDIDATES.all,),
)
COMPUTED = Weights()
WEIGHTS_OF_UPDATES = Relation(
    "weights_of_updates",
    "One row per request and app provider that earns, with its weight and the id of the update.",
    f"""
    SELECT update_id, weights.*
    FROM (SELECT update_id, {key_of("update_id")} AS update_key FROM verdicts)
    JOIN weights USING (update_key)
    """,
    tables=("verdicts",),
    relations=(COMPUTED.weights,),
)
