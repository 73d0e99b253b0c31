import type { Migration } from '#platform/db/migrate.ts'

export const mailMigrations: Migration[] = [
  {
    id: 'mail/001-operator-notices',
    sql: `
      create table operator_notices (
        subject text primary key,
        sent_at {timestamp} not null
      );
      create index operator_notices_by_time on operator_notices (sent_at);
    `,
  },
]
