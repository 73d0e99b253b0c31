import type { Migration } from '#platform/db/migrate.ts'

export const auditMigrations: Migration[] = [
  {
    id: 'audit/001-log',
    sql: `
      create table audit_log (
        position {bigint} primary key,
        at {timestamp} not null,
        actor text,
        action text not null,
        subject text,
        commitment text not null,
        salt text,
        details text,
        previous text not null,
        hash text not null
      );
      create index audit_log_actor on audit_log (actor);
      create index audit_log_subject on audit_log (subject);
      create index audit_log_action on audit_log (action, position);
      create table audit_head (
        id {bigint} primary key,
        position {bigint} not null,
        hash text not null
      );
      insert into audit_head (id, position, hash) values (1, 0, '');
      create table audit_persons (
        user_id {id} primary key,
        pseudonym text not null unique
      );
    `,
  },
]
