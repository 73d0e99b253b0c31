import type { Migration } from '#platform/db/migrate.ts'

export const storefrontMigrations: Migration[] = [
  {
    id: 'storefront/001-sessions',
    sql: `
      create table store_sessions (
        user_id {id} not null,
        id {id} not null,
        token_hash text not null,
        user_agent text,
        ip_address text,
        created_at {timestamp} not null,
        last_used_at {timestamp} not null,
        expires_at {timestamp} not null,
        primary key (user_id, token_hash),
        unique (user_id, id)
      );
      create index store_sessions_expired on store_sessions (expires_at);
    `,
  },
  {
    id: 'storefront/002-purchases',
    sql: `
      create table purchases (
        owner {id} not null,
        id {id} not null,
        chain_id {id} not null,
        from_id {id},
        bundle_id {id},
        user_id {id},
        claimant_id {id},
        is_claimant_proven {boolean} not null,
        tier text not null,
        status text not null,
        payment_ref text not null,
        checkout_session_id text,
        amount_cents {bigint} not null,
        currency text not null,
        license_hash text not null,
        license_sealed text not null,
        download_count {bigint} not null,
        download_version text,
        other_downloads_json {json} not null,
        max_downloads {bigint} not null,
        last_download_at {timestamp},
        entitled_until {timestamp},
        activation_count {bigint} not null default 0,
        activations_limit {bigint},
        waiver_json {json},
        withdrawn_at {timestamp},
        revoked_at {timestamp},
        created_at {timestamp} not null,
        primary key (owner, id)
      );
      create index purchases_by_owner on purchases (owner, created_at);
      create index purchases_by_license on purchases (owner, license_hash);
      create index purchases_by_chain on purchases (owner, chain_id);
      create index purchases_by_end on purchases (entitled_until);
      create index purchases_by_time on purchases (created_at, id);
      create index purchases_by_id on purchases (id);
      create index purchases_by_claimant on purchases (claimant_id);
      create index purchases_by_bundle on purchases (bundle_id);
      create index purchases_by_payment on purchases (payment_ref);
      create index purchases_by_checkout on purchases (checkout_session_id);
      create table store_checkouts (
        user_id {id} not null,
        about text not null,
        tier text not null,
        attempt {id} not null,
        session_id text,
        primary key (user_id, about)
      );
    `,
  },
  {
    id: 'storefront/003-downloads',
    sql: `
      create table downloads (
        user_id {id} not null,
        id {id} not null,
        purchase_id {id} not null,
        version text not null,
        etag text not null,
        is_plain {boolean} not null,
        resume_count {bigint} not null,
        sent_bytes {bigint} not null,
        ip_address text not null,
        user_agent text not null,
        country text,
        downloaded_at {timestamp} not null,
        primary key (user_id, id)
      );
      create index downloads_by_user on downloads (user_id, downloaded_at);
      create index downloads_by_time on downloads (downloaded_at);
      create table archive_checksums (
        etag text primary key,
        sha256 text not null,
        size_bytes {bigint} not null
      );
    `,
  },
  {
    id: 'storefront/004-contact-messages',
    sql: `
      create table contact_messages (
        id {id} primary key,
        name text not null,
        email text not null,
        email_key text not null,
        subject text not null,
        message text not null,
        locale text,
        created_at {timestamp} not null,
        notified_at {timestamp},
        assigned_to {id},
        closed_at {timestamp}
      );
      create table contact_replies (
        id {id} primary key,
        message_id {id} not null,
        author_id {id},
        text text not null,
        created_at {timestamp} not null
      );
      create index contact_replies_by_message on contact_replies (message_id, created_at);
      create index contact_messages_by_time on contact_messages (created_at, id);
      create index contact_messages_by_email on contact_messages (email_key);
    `,
  },
  {
    id: 'storefront/005-licenses',
    sql: `
      create table activations (
        owner {id} not null,
        id {id} not null,
        chain_id {id} not null,
        fingerprint_hash text not null,
        name text,
        platform text,
        version text,
        activated_at {timestamp} not null,
        last_seen_at {timestamp} not null,
        released_at {timestamp},
        primary key (owner, id)
      );
      create unique index activations_of_machine
        on activations (owner, chain_id, fingerprint_hash) where released_at is null;
      create index activations_by_chain on activations (owner, chain_id, activated_at);
      create index activations_by_release on activations (released_at);
      create table download_tokens (
        owner {id} not null,
        id {id} not null,
        chain_id {id} not null,
        token_hash text not null,
        name text not null,
        created_at {timestamp} not null,
        last_used_at {timestamp},
        expires_at {timestamp} not null,
        primary key (owner, token_hash),
        unique (owner, id)
      );
      create index download_tokens_by_chain on download_tokens (owner, chain_id, created_at);
      create index download_tokens_by_end on download_tokens (expires_at);
      create table download_days (
        owner {id} not null,
        credential_id {id} not null,
        day text not null,
        version text not null,
        requests {bigint} not null,
        sent_bytes {bigint} not null,
        primary key (owner, credential_id, day)
      );
      create index download_days_by_day on download_days (day);
      create table license_signing_keys (
        number {bigint} primary key,
        kid text not null unique,
        public_x text not null,
        private_sealed text not null,
        created_at {timestamp} not null
      );
    `,
  },
  {
    id: 'storefront/006-withdrawals',
    sql: `
      create table withdrawals (
        id {id} primary key,
        order_id text not null,
        email text not null,
        email_key text not null,
        reason text,
        created_at {timestamp} not null,
        confirmed_at {timestamp}
      );
      create index withdrawals_by_time on withdrawals (created_at);
      create index withdrawals_by_email on withdrawals (email_key);
    `,
  },
  {
    id: 'storefront/007-discounts',
    sql: `
      create table discounts (
        id {id} primary key,
        code text not null,
        code_key text not null,
        coupon_id text not null,
        promotion_id text,
        percent_off {real},
        amount_off_cents {bigint},
        currency text,
        tiers_json {json},
        owners_of text,
        redemptions_max {bigint},
        until_at {timestamp},
        created_at {timestamp} not null,
        deleted_at {timestamp}
      );
      create unique index discounts_by_code on discounts (code_key) where deleted_at is null;
    `,
  },
  {
    id: 'storefront/008-products',
    sql: `
      create table store_products (
        tier text primary key,
        position {bigint} not null,
        product_json {json} not null,
        revision {bigint} not null,
        created_at {timestamp} not null,
        updated_at {timestamp} not null,
        retired_at {timestamp}
      );
      create table store_product_list (
        number {bigint} primary key,
        revision {bigint} not null,
        is_edited {boolean} not null
      );
      create table store_releases (
        id {id} primary key,
        tier text not null,
        version text not null,
        status text not null,
        notes text not null,
        file_count {bigint},
        size_bytes {bigint},
        sha256 text,
        left_out_json {json} not null,
        created_at {timestamp} not null,
        published_at {timestamp},
        withdrawn_at {timestamp},
        unique (tier, version)
      );
    `,
  },
  {
    id: 'storefront/009-release-emails',
    sql: `
      create table release_notices (
        user_id {id} not null,
        tier text not null,
        version text not null,
        sent_at {timestamp} not null,
        primary key (user_id, tier, version)
      );
      create index release_notices_by_time on release_notices (sent_at);
      create table release_optouts (
        user_id {id} primary key,
        created_at {timestamp} not null
      );
    `,
  },
]
