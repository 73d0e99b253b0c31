import type { Migration } from './db/migrate.ts'

export const platformMigrations: Migration[] = [
  {
    id: 'platform/001-jobs',
    sql: `
      create table jobs (
        id {id} primary key,
        kind text not null,
        lane text,
        payload_json {json} not null,
        dedupe_key text unique,
        status text not null,
        run_at {timestamp} not null,
        leased_until {timestamp},
        lease_token text,
        attempts {bigint} not null,
        last_error text,
        trace_parent text,
        created_at {timestamp} not null
      );
      create index jobs_due on jobs (status, kind, run_at, created_at);
    `,
  },
  {
    id: 'platform/002-inbox',
    sql: `
      create table inbox (
        source text not null,
        event_id text not null,
        payload_json {json} not null,
        received_at {timestamp} not null,
        handled_at {timestamp},
        primary key (source, event_id)
      );
      create index inbox_received on inbox (received_at);
    `,
  },
  {
    id: 'platform/003-secrets',
    sql: `
      create table secrets (
        name text primary key,
        value {bytes} not null,
        created_at {timestamp} not null
      );
    `,
  },
  {
    id: 'platform/004-write-probe',
    sql: 'create table write_probe (id {bigint} primary key, written_at {timestamp} not null);',
  },
  {
    id: 'platform/005-lookups',
    sql: `
      create table lookups (
        name text not null,
        kind text not null,
        owner {id} not null,
        primary key (name, kind)
      );
      create index lookups_by_owner on lookups (owner);
    `,
  },
  {
    id: 'platform/006-backups',
    sql: 'create table backups (place text primary key, made_at {timestamp} not null);',
  },
  {
    id: 'platform/007-uptime',
    sql: `
      create table service_parts (
        part text primary key,
        seen_at {timestamp} not null,
        is_ended {boolean} not null
      );
      create table service_outages (
        part text not null,
        began_at {timestamp} not null,
        ended_at {timestamp} not null,
        primary key (part, began_at)
      );
      create index service_outages_by_end on service_outages (ended_at);
    `,
  },
]
