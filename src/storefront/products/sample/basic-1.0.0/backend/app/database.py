"""SQLite, one connection for each call. Enough for the first thousands of users; swap this file for another database."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

SCHEMA = """
create table if not exists users (
    id integer primary key,
    email text not null unique collate nocase,
    password_hash text,
    tier text not null default 'free',
    created_at text not null default current_timestamp
);
create table if not exists processor_events (id text primary key, received_at text not null default current_timestamp);
"""


@contextmanager
def connect() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(os.environ.get("DATABASE_PATH", "./kit.db"), timeout=5)
    connection.row_factory = sqlite3.Row
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def prepare() -> None:
    with connect() as connection:
        connection.executescript("pragma journal_mode = wal;" + SCHEMA)
