import type { Migration } from '#platform/db/migrate.ts'

export const aiMigrations: Migration[] = [
  {
    id: 'ai/001-replies',
    sql: `
      create table ai_replies (
        user_id text not null references users (id),
        key text not null,
        created_at {timestamp} not null,
        expires_at {timestamp} not null,
        bytes {bigint} not null,
        vendor text not null,
        model text not null,
        sealed text not null,
        primary key (user_id, key)
      );
      create index ai_replies_oldest on ai_replies (created_at, bytes);
      create index ai_replies_expiry on ai_replies (expires_at);
    `,
  },
]
