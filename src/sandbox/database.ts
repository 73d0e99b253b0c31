// The sandbox's SQLite file. Calls are synchronous, and a commit returns after the data is on
// disk: a killed process loses nothing, at the cost of speed.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '#platform/folder.ts'

const SCHEMA = `
create table if not exists mails (
  seq integer primary key, id text not null unique, sender text not null, recipient text not null,
  subject text not null, text text not null, html text not null, at text not null
);
create index if not exists mails_by_recipient on mails (recipient collate nocase, seq);

-- The processor's objects as its API shows them (body) and what it keeps to itself (side), newest last.
create table if not exists stripe_objects (
  seq integer primary key, id text not null unique, object text not null, owner text not null,
  body text not null, side text not null
);
create index if not exists stripe_objects_by_owner on stripe_objects (object, owner, seq);

create index if not exists stripe_objects_by_time on stripe_objects (object, json_extract(body, '$.created'));
create index if not exists stripe_objects_by_payment on stripe_objects (json_extract(body, '$.payment_intent'))
  where json_extract(body, '$.payment_intent') is not null;

create index if not exists stripe_open_invoices on stripe_objects (owner, seq)
  where object = 'invoice' and json_extract(body, '$.status') = 'open';
create index if not exists stripe_live_subscriptions on stripe_objects (seq)
  where object = 'subscription' and json_extract(body, '$.status') not in ('canceled', 'incomplete_expired');
create index if not exists stripe_open_sessions on stripe_objects (json_extract(body, '$.expires_at'))
  where object = 'checkout.session' and json_extract(body, '$.status') = 'open';

create table if not exists stripe_deliveries (
  event_id text not null, endpoint text not null, attempts integer not null, due_ms integer not null,
  state text not null, note text not null, primary key (event_id, endpoint)
);
create index if not exists stripe_deliveries_due on stripe_deliveries (state, due_ms);

create table if not exists stripe_replies (
  key text primary key, request text not null, status integer not null, body text not null, at_ms integer not null
);

-- Payments that settle later (bank debits).
create table if not exists stripe_settlements (
  payment_intent text primary key, due_ms integer not null, outcome text not null
);

create table if not exists oauth_keys (id text primary key, private_jwk text not null);
create table if not exists oauth_people (
  provider text not null, subject text not null, email text not null, is_verified integer not null,
  name text not null, seq integer primary key, unique (provider, subject)
);
create table if not exists oauth_grants (
  code text primary key, provider text not null, kind text not null, body text not null, expires_ms integer not null
);
`

export type SandboxDatabase = DatabaseSync

/** Opens DATA_DIR/sandbox.db and creates it if needed; `:memory:` for unit tests. */
export function openDatabase(dataDir: string): SandboxDatabase {
  if (dataDir !== ':memory:') makeFolder(dataDir)
  const db = new DatabaseSync(dataDir === ':memory:' ? dataDir : join(dataDir, 'sandbox.db'))
  // An API process and a worker may share the file: wait for the other's write instead of failing.
  db.exec('pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full')
  db.exec(SCHEMA)
  return db
}

/** Runs `work` in one transaction; nested calls join the outer one. */
export function atomically<T>(db: SandboxDatabase, work: () => T): T {
  if (db.isTransaction) return work()
  db.exec('begin immediate')
  try {
    const result = work()
    db.exec('commit')
    return result
  } catch (error) {
    db.exec('rollback')
    throw error
  }
}
