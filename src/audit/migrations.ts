import type { Migration } from '#platform/db/migrate.ts'

/** Fixed: the heads are made here. */
export const CHAINS = 64

export const auditMigrations: Migration[] = [
  {
    id: 'audit/001-log',
    sql: `
      create table audit_log (
        chain {bigint} not null,
        id {id} not null,
        position {bigint},
        at {timestamp} not null,
        actor text,
        action text not null,
        subject text,
        commitment text not null,
        salt text,
        details text,
        mark text not null,
        hash text,
        primary key (chain, id)
      );
      create unique index audit_log_by_position on audit_log (chain, position) where position is not null;
      create index audit_log_by_time on audit_log (at, id);
      create index audit_log_unlinked on audit_log (at, id) where position is null;
      create index audit_log_actor on audit_log (actor, at) where actor is not null;
      create index audit_log_subject on audit_log (subject, at) where subject is not null;
      create index audit_log_action on audit_log (action, at);
      create table audit_heads (
        chain {bigint} primary key,
        position {bigint} not null,
        hash text not null,
        start {bigint} not null,
        start_hash text not null,
        start_seal text not null
      );
      insert into audit_heads (chain, position, hash, start, start_hash, start_seal)
        values ${Array.from({ length: CHAINS }, (_, chain) => `(${chain}, 0, '', 0, '', '')`).join(', ')};
      create table audit_persons (
        user_id {id} primary key,
        pseudonym text not null
      );
      create index audit_persons_by_name on audit_persons (pseudonym);
    `,
  },
]
