"""The tables of the catalog, their upgrades, and what their seal covers."""

from __future__ import annotations

from ledgerframes.store.sqlite import NO_SEAL_YET, SEAL_TABLE, Schema

# Positions of events whose update id has an earlier event, and the position of that one.
SECOND_VERDICTS = """
CREATE TABLE second_verdicts (
    family TEXT NOT NULL,
    migration_id INTEGER NOT NULL,
    record_time INTEGER NOT NULL,
    update_id TEXT NOT NULL,
    first_migration_id INTEGER NOT NULL,
    first_record_time INTEGER NOT NULL,
    PRIMARY KEY (family, migration_id, record_time, update_id)
);
CREATE INDEX second_verdicts_by_update ON second_verdicts (family, update_id);
"""
TABLES = f"""
{SEAL_TABLE};
CREATE TABLE segments (
    segment_id TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    partition TEXT,
    start INTEGER,
    stop INTEGER,
    status TEXT NOT NULL CHECK (status IN ('final', 'provisional', 'gap')),
    source TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    written_by TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    checksum INTEGER,
    compared INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX segments_by_position ON segments (dataset, fingerprint, partition, start);
CREATE TABLE files (
    segment_id TEXT NOT NULL REFERENCES segments ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    path TEXT NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    footer TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (segment_id, table_name)
);
CREATE TABLE ids (
    segment_id TEXT NOT NULL REFERENCES segments ON DELETE CASCADE,
    update_id TEXT NOT NULL,
    PRIMARY KEY (segment_id, update_id)
);
CREATE INDEX ids_by_update ON ids (update_id);
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE migrations (
    migration_id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    ended INTEGER
);
{SECOND_VERDICTS}
"""
# Statements that bring a catalog of an older schema to the next one.
UPGRADES = {
    1: """
    ALTER TABLE segments RENAME COLUMN stream TO dataset;
    ALTER TABLE segments RENAME COLUMN lane TO partition;
    ALTER TABLE segments RENAME COLUMN low TO start;
    ALTER TABLE segments RENAME COLUMN high TO stop;
    DROP INDEX segments_by_place;
    CREATE INDEX segments_by_position ON segments (dataset, partition, start)
    """,
    2: """
    ALTER TABLE segments ADD COLUMN checksum INTEGER;
    ALTER TABLE files ADD COLUMN footer TEXT NOT NULL DEFAULT ''
    """,
    3: f"""
    {SEAL_TABLE};
    {NO_SEAL_YET};
    DROP INDEX segments_by_position;
    CREATE INDEX segments_by_position ON segments (dataset, fingerprint, partition, start)
    """,
    4: f"""
    ALTER TABLE segments ADD COLUMN compared INTEGER NOT NULL DEFAULT 0;
    {SECOND_VERDICTS}
    """,
}
FACTS = ("SELECT * FROM facts ORDER BY name", "SELECT * FROM migrations ORDER BY migration_id")
SCHEMA = Schema(
    5,
    TABLES,
    UPGRADES,
    # The checksum of a segment covers its files and ids, so that the seal covers every row.
    sealed={
        4: ("SELECT count(*), sum(checksum) FROM segments HAVING count(*) > 0", *FACTS),
        5: (
            "SELECT count(*), sum(checksum), sum(compared) FROM segments HAVING count(*) > 0",
            "SELECT * FROM second_verdicts ORDER BY family, migration_id, record_time, update_id",
            *FACTS,
        ),
    },
)
