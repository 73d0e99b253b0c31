import type { Migration } from '#platform/db/migrate.ts'

export const switchMigrations: Migration[] = [
  {
    id: 'switches/001-switches',
    sql: `
      create table switches (
        kind text not null,
        subject text not null,
        user_id {id},
        reason text not null,
        set_at {timestamp} not null,
        primary key (kind, subject)
      );
      create index switches_by_user on switches (user_id);
    `,
  },
]
