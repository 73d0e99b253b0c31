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
  {
    id: 'mail/002-emails',
    sql: `
      create table emails (
        owner text not null,
        id text not null,
        address text not null,
        address_key text not null,
        subject text not null,
        state text not null,
        error text,
        created_at {timestamp} not null,
        sent_at {timestamp},
        primary key (owner, id)
      );
      create index emails_by_time on emails (created_at, id);
      create index emails_by_owner on emails (owner, created_at, id);
      create index emails_by_address on emails (address_key);
      create index emails_by_state on emails (state, created_at, id) where state <> 'sent';
    `,
  },
]
