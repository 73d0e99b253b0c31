import type { Migration } from '#platform/db/migrate.ts'

export const conversationMigrations: Migration[] = [
  {
    id: 'conversations/001-conversations',
    sql: `
      create table conversation_settings (
        user_id text primary key references users (id),
        is_keeping {boolean} not null,
        revision {bigint} not null
      );
      create table conversations (
        user_id text not null references users (id),
        id {id} not null,
        title_sealed {bytes} not null,
        title_by text not null,
        model text,
        settings_sealed {bytes} not null,
        collection_ids_json {json} not null,
        pinned_at {timestamp},
        archived_at {timestamp},
        leaf_id text,
        source_hash text,
        revision {bigint} not null,
        created_at {timestamp} not null,
        updated_at {timestamp} not null,
        primary key (user_id, id),
        unique (user_id, source_hash)
      );
      create index conversations_newest on conversations (user_id, updated_at, id);
      create index conversations_aged on conversations (updated_at);
      create table conversation_messages (
        user_id text not null,
        conversation_id text not null,
        id {id} not null,
        parent_id text,
        role text not null,
        model text,
        outcome text not null,
        usage_json {json},
        created_at {timestamp} not null,
        updated_at {timestamp} not null,
        parts_sealed {bytes} not null,
        primary key (user_id, conversation_id, id)
      );
      create unique index conversation_messages_running on conversation_messages (user_id, conversation_id)
        where outcome = 'running';
      create index conversation_messages_abandoned on conversation_messages (updated_at)
        where outcome = 'running';
    `,
  },
  {
    id: 'conversations/002-shares',
    sql: `
      create table conversation_shares (
        user_id text not null references users (id),
        id {id} not null,
        conversation_id text not null,
        leaf_id text not null,
        is_citing {boolean} not null,
        expires_at {timestamp},
        created_at {timestamp} not null,
        updated_at {timestamp} not null,
        content_sealed {bytes} not null,
        primary key (user_id, id)
      );
      create index conversation_shares_of_conversation on conversation_shares (user_id, conversation_id);
      create index conversation_shares_expired on conversation_shares (expires_at)
        where expires_at is not null;
    `,
  },
]
