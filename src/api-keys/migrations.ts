import type { Migration } from '#platform/db/migrate.ts'

export const apiKeyMigrations: Migration[] = [
  {
    id: 'api-keys/001-api-keys',
    sql: `
      create table api_keys (
        user_id {id} not null,
        id {id} not null,
        name text not null,
        hash text not null,
        key_prefix text not null,
        is_active {boolean} not null,
        scopes_json {json},
        models_json {json},
        rate_requests {bigint},
        rate_seconds {bigint},
        monthly_tokens {bigint},
        budget_nanos {bigint},
        budget_period text,
        addresses_json {json},
        created_at {timestamp} not null,
        last_used_at {timestamp},
        expires_at {timestamp},
        revoked_at {timestamp},
        rotated_at {timestamp},
        previous_hash text,
        previous_until_at {timestamp},
        primary key (user_id, id),
        unique (user_id, hash),
        unique (user_id, previous_hash)
      );
      create index api_keys_revoked on api_keys (revoked_at) where revoked_at is not null;
    `,
  },
]
