import type { Migration } from '#platform/db/migrate.ts'

export const identityMigrations: Migration[] = [
  {
    id: 'identity/001-users',
    sql: `
      create table users (
        id {id} primary key,
        email text not null,
        email_key text not null,
        full_name text,
        search_text text not null,
        avatar_url text,
        locale text,
        password_hash text,
        oauth_provider text,
        is_active {boolean} not null,
        is_verified {boolean} not null,
        verified_apart_at {timestamp},
        is_superuser {boolean} not null,
        is_totp_on {boolean} not null,
        subscription_status text not null,
        subscription_tier text not null,
        processor_tier text not null,
        tier_override text,
        tier_override_until {timestamp},
        slices_json {json},
        processor_customer_id text,
        created_at {timestamp} not null,
        updated_at {timestamp} not null,
        last_login_at {timestamp}
      );
      create index users_newest on users (created_at, id, search_text);
      create index users_by_email on users (email_key {prefixes});
      create index users_superusers on users (id) where is_superuser;
      create index users_on_plans on users (subscription_tier) where subscription_tier <> 'free';
      create table user_counts (
        day text not null,
        slot {bigint} not null,
        users {bigint} not null,
        verified {bigint} not null,
        active {bigint} not null,
        primary key (day, slot)
      );
    `,
  },
  {
    id: 'identity/002-sessions',
    sql: `
      create table sessions (
        user_id {id} not null references users (id) on delete cascade,
        id {id} not null,
        user_agent text,
        ip_address text,
        created_at {timestamp} not null,
        authenticated_at {timestamp} not null,
        last_used_at {timestamp} not null,
        expires_at {timestamp} not null,
        revoked_at {timestamp},
        view_id {id},
        viewed_user_id {id},
        primary key (user_id, id)
      );
      create index sessions_expired on sessions (expires_at);
      create index sessions_revoked on sessions (revoked_at) where revoked_at is not null;
      create table session_tokens (
        user_id {id} not null,
        session_id {id} not null,
        jti text not null,
        issued_at {timestamp} not null,
        spent_at {timestamp},
        successor text,
        primary key (user_id, session_id, jti),
        foreign key (user_id, session_id) references sessions (user_id, id) on delete cascade
      );
      create table user_devices (
        user_id {id} not null references users (id) on delete cascade,
        kind text not null,
        mark text not null,
        first_seen_at {timestamp} not null,
        last_seen_at {timestamp} not null,
        primary key (user_id, mark)
      );
      create index user_devices_unseen on user_devices (last_seen_at);
    `,
  },
  {
    id: 'identity/003-tokens',
    sql: `
      create table one_time_tokens (
        owner {id} not null,
        hash text not null,
        user_id {id},
        purpose text not null,
        data_json {json} not null,
        created_at {timestamp} not null,
        expires_at {timestamp} not null,
        spent_at {timestamp},
        voided_at {timestamp},
        primary key (owner, hash)
      );
      create index one_time_tokens_of_user on one_time_tokens (user_id, purpose);
      create index one_time_tokens_expired on one_time_tokens (expires_at);
      create table signing_keys (
        kid text primary key,
        slot {bigint} not null unique,
        public_x text not null,
        private_sealed text not null,
        signs_from {timestamp} not null,
        verifies_until {timestamp} not null
      );
    `,
  },
  {
    id: 'identity/004-ways-in',
    sql: `
      create table oauth_links (
        user_id {id} not null references users (id) on delete cascade,
        provider text not null,
        subject text not null,
        email text,
        linked_at {timestamp} not null,
        primary key (user_id, provider)
      );
      create table totp (
        user_id {id} primary key references users (id) on delete cascade,
        secret_sealed text not null,
        last_step {bigint} not null,
        created_at {timestamp} not null,
        confirmed_at {timestamp}
      );
      create table recovery_codes (
        user_id {id} not null references users (id) on delete cascade,
        hash text not null,
        spent_at {timestamp},
        primary key (user_id, hash)
      );
      create table passkeys (
        user_id {id} not null references users (id) on delete cascade,
        id {id} not null,
        credential_id text not null,
        public_key {bytes} not null,
        counter {bigint} not null,
        transports text not null,
        name text not null,
        created_at {timestamp} not null,
        last_used_at {timestamp},
        primary key (user_id, id)
      );
    `,
  },
]
