"""The tables of a store, as SQLite and PostgreSQL both know them."""

from __future__ import annotations

ROW_BITS = 40
"""A sample has the number (model << 40) + row."""
MIGRATIONS = (
    """
    CREATE TABLE models (
        model INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, time REAL NOT NULL,
        who TEXT NOT NULL, spec TEXT NOT NULL, erased INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE events (
        model INTEGER NOT NULL, event INTEGER NOT NULL, time REAL NOT NULL, who TEXT NOT NULL,
        what TEXT NOT NULL, first INTEGER NOT NULL, n_rows INTEGER NOT NULL,
        is_plain INTEGER NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (model, event)) WITHOUT ROWID;
    CREATE INDEX special_events ON events (model, event) WHERE is_plain = 0;
    CREATE INDEX events_by_row ON events (model, first) WHERE n_rows > 0;
    CREATE TABLE labels (
        model INTEGER NOT NULL, number INTEGER NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (model, number)) WITHOUT ROWID;
    CREATE TABLE samples (
        sample INTEGER PRIMARY KEY, model INTEGER NOT NULL, id TEXT, label INTEGER);
    CREATE INDEX sample_ids ON samples (model, id) WHERE id IS NOT NULL;
    CREATE TABLE contents (sample INTEGER PRIMARY KEY, features BLOB NOT NULL, text BLOB);
    CREATE TABLE files (
        model INTEGER NOT NULL, event INTEGER NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (model, event));
    CREATE TABLE requests (
        model INTEGER NOT NULL, key TEXT NOT NULL, event INTEGER NOT NULL, digest BLOB,
        time REAL NOT NULL, PRIMARY KEY (model, key)) WITHOUT ROWID;
    CREATE INDEX request_times ON requests (time);
    CREATE TABLE snapshots (
        model INTEGER NOT NULL, event INTEGER NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (model, event)) WITHOUT ROWID;
    CREATE TABLE snapshot_files (
        model INTEGER NOT NULL, event INTEGER NOT NULL, content BLOB NOT NULL,
        PRIMARY KEY (model, event));
    CREATE TABLE erasures (
        model INTEGER NOT NULL, event INTEGER NOT NULL, sample INTEGER NOT NULL,
        PRIMARY KEY (model, event, sample)) WITHOUT ROWID;
    CREATE TABLE servers (
        server TEXT NOT NULL, model INTEGER NOT NULL, event INTEGER NOT NULL, seen REAL NOT NULL,
        PRIMARY KEY (server, model)) WITHOUT ROWID;
    CREATE TABLE keys (
        key INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, hash BLOB NOT NULL UNIQUE,
        scopes TEXT NOT NULL, models TEXT, created REAL NOT NULL, revoked REAL);
    CREATE TABLE cleaning (is_due INTEGER NOT NULL);
    INSERT INTO cleaning (is_due) VALUES (0);
    """,
)
"""Statement by statement from an empty file to the present tables; never changed, only extended.

Plain events need no entry in the ledger, since their rows hold what they did. The tables of
snapshot files, erasures and servers are used in PostgreSQL alone.
"""

MODEL_TABLES = (
    "events",
    "labels",
    "files",
    "requests",
    "snapshots",
    "snapshot_files",
    "erasures",
    "servers",
)
"""Those with rows for each model, without samples and contents."""
TABLES = (*MODEL_TABLES, "models", "samples", "contents", "keys")


def number_of(model: int, row: int) -> int:
    """Return the number of a sample."""
    return (model << ROW_BITS) + row
