import type { Migration } from '#platform/db/migrate.ts'

export const brandMigrations: Migration[] = [
  {
    id: 'brand/001-brand',
    sql: `
      create table brands (
        number {bigint} primary key,
        revision {bigint} not null,
        form_json {json} not null,
        changed_at {timestamp} not null
      );
    `,
  },
]
